//! Spots that were found twice in one frame: the brightest of them stays.

use std::fmt;

use super::words::{length, symbol};
use super::{Listener, Sink, Source, StepError};
use crate::Length;
use crate::statistics::{Duplicates, duplicates};
use crate::table::{Meaning, Table, Unit};

/// Which localizations count as one.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct MergeOptions {
    /// Localizations of one frame that are nearer to each other than this are one. It must be given.
    pub radius: Option<Length>,
}

impl MergeOptions {
    fit_core::__setters! {
        const with_radius: radius: Option<Length>,
    }
}

/// The report of merging.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct MergeReport {
    /// The localizations of the table.
    pub localizations: usize,
    /// Those that were kept.
    pub kept: usize,
    /// Those that were dropped because a brighter one is near.
    pub found_twice: usize,
    /// The radius, in `unit`.
    pub radius: f64,
    /// The unit of the table, `px` or `nm`.
    pub unit: &'static str,
}

impl fmt::Display for MergeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { localizations, kept, found_twice, radius, unit } = self;
        let unit = if *unit == "nm" { Unit::Nanometre } else { Unit::Pixel };
        let radius = length(*radius, unit);
        write!(
            f,
            "{kept} of {localizations} localizations kept; dropped: {found_twice} found twice within {radius}"
        )
    }
}

/// The columns by which it is told which localizations stay.
pub(super) const NEEDED: [&str; 4] =
    Meaning::names([Meaning::Frame, Meaning::X, Meaning::Y, Meaning::Photons]);

/// Of localizations of one frame that are nearer to each other than a radius, keeps the one with the most photons; the first where there
/// are no photons.
///
/// # Errors
/// [`StepError`].
pub fn run(
    options: &MergeOptions,
    source: &Source,
    sink: &mut dyn Sink,
    listener: &dyn Listener,
) -> Result<MergeReport, StepError> {
    let radius =
        options.radius.ok_or_else(|| StepError::Options("`radius` must be given".to_owned()))?;
    let table = source.load(Some(&NEEDED), listener)?;
    let unit = table.length_unit().map_err(source.wrong())?;
    let radius = source.length("radius", radius, unit, &table.info)?;
    let found = found_twice(source, &table, radius)?;
    drop(table);
    let mut rest = &found.keep[..];
    source.blocks(None, listener, |mut block| {
        let (keep, later) = rest.split_at_checked(block.rows()).ok_or_else(|| source.changed())?;
        rest = later;
        block.retain(keep);
        sink.write(block).map_err(StepError::Write)
    })?;
    if !rest.is_empty() {
        return Err(source.changed());
    }
    Ok(MergeReport {
        localizations: found.keep.len(),
        kept: found.keep.len() - found.count,
        found_twice: found.count,
        radius,
        unit: symbol(unit),
    })
}

/// Which rows of a table stay, of those that are nearer to each other than the radius, in the unit of the table.
pub(super) fn found_twice(
    source: &Source,
    table: &Table,
    radius: f64,
) -> Result<Duplicates, StepError> {
    let frames = table.frames().map_err(source.wrong())?;
    let (x, y) = (table.values(Meaning::X), table.values(Meaning::Y));
    let (x, y) = (x.map_err(source.wrong())?, y.map_err(source.wrong())?);
    let photons =
        table.values(Meaning::Photons).map_or_else(|_| vec![0.0; x.len()], <[f64]>::to_vec);
    duplicates(&frames, x, y, &photons, radius).map_err(source.refused())
}
