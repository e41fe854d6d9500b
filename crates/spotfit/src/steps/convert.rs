//! A table in another unit or another format.

use std::fmt;
use std::str::FromStr;

use super::words::symbol;
use super::{Listener, Sink, Source, StepError};
use crate::table::{Meaning, Unit};

fit_core::__options! {
    /// How a table is to be written.
    #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
    #[cfg_attr(feature = "clap", derive(clap::Args))]
    #[serde(default, deny_unknown_fields)]
    #[non_exhaustive]
    pub struct ConvertOptions {
        /// The unit of lengths in a CSV table: nm or px; that of LOCS if not given. Heights are in nanometres in either.
        pub unit(const with_unit)[long, value_name = "nm|px"]: Option<LengthUnit> = None,
    }
}

/// A unit of lengths in the plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum LengthUnit {
    /// Pixels of the camera.
    #[serde(rename = "px")]
    Pixels,
    /// Nanometres.
    #[serde(rename = "nm")]
    Nanometres,
}

/// A text is no unit of lengths.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not nm or px")]
pub struct LengthUnitError(String);

impl FromStr for LengthUnit {
    type Err = LengthUnitError;

    fn from_str(text: &str) -> Result<Self, LengthUnitError> {
        match text {
            "px" => Ok(Self::Pixels),
            "nm" => Ok(Self::Nanometres),
            other => Err(LengthUnitError(other.to_owned())),
        }
    }
}

impl From<LengthUnit> for Unit {
    fn from(unit: LengthUnit) -> Self {
        match unit {
            LengthUnit::Pixels => Self::Pixel,
            LengthUnit::Nanometres => Self::Nanometre,
        }
    }
}

/// The report of converting.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct ConvertReport {
    /// The localizations of the table.
    pub localizations: usize,
    /// The unit of its lengths as they were copied, `px` or `nm`; empty if there is no x.
    pub unit: &'static str,
}

impl fmt::Display for ConvertReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} localizations", self.localizations)
    }
}

/// Copies a table to a sink, in another unit if the options give one.
///
/// # Errors
/// [`StepError`]; another unit needs the size of a pixel.
pub fn run(
    options: &ConvertOptions,
    source: &Source,
    sink: &mut dyn Sink,
    listener: &dyn Listener,
) -> Result<ConvertReport, StepError> {
    let mut report = ConvertReport { localizations: 0, unit: "" };
    source.blocks(None, listener, |block| {
        let block = match options.unit {
            Some(unit) => block.in_unit(unit.into()).map_err(source.wrong())?,
            None => block,
        };
        report.localizations += block.rows();
        report.unit = block.column(Meaning::X).map_or("", |x| symbol(x.unit));
        sink.write(block).map_err(StepError::Write)
    })?;
    Ok(report)
}
