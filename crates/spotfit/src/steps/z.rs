//! Heights of localizations from their two widths.

use std::fmt;
use std::path::PathBuf;

use super::words::counted_or_none;
use super::{Listener, Sink, Source, StepError};
#[cfg(feature = "clap")]
use crate::arguments::choice;
use crate::astigmatism::file::{CalibrationFileError, load};
use crate::astigmatism::find::{Depth, DepthStatus, FindOptions, Finder, Measure};
use crate::astigmatism::table::{TableDepthError, TableFinder, set_depths};
use crate::table::{Column, Kind, Meaning, Table, Unit};
use crate::yaml::YamlError;

fit_core::__options! {
    /// How heights are found.
    #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    #[cfg_attr(feature = "clap", derive(clap::Args))]
    #[serde(default, deny_unknown_fields)]
    #[non_exhaustive]
    pub struct ZOptions {
        /// The calibration, of `spotfit calibrate` or Picasso.
        ///
        /// It is a file, and must be given.
        pub calibration(with_calibration)[long, value_name = "CALIBRATION.yaml", required = true]: Option<PathBuf> = None,
        /// What is least at the z that is found: mahalanobis, the distance of the widths in standard deviations; or roots, that
        /// of their square roots, as in Picasso.
        pub measure(const with_measure)[long, value_name = "MEASURE", value_parser = choice::<Measure>(), default_value = "mahalanobis"]: Measure = Measure::default(),
        /// Side of the windows in which the spots were fitted, in pixels: odd, 5 to 63. The errors of the widths depend on it. If not
        /// given, it follows from `background_std` and `chi2` of the table; otherwise it is that of the calibration, or 13.
        #[serde(rename = "box")]
        pub box_size(const with_box_size)[skip]: Option<usize> = None,
        /// Drop localizations whose z was not found: beyond the range, ambiguous, or far from the calibration.
        pub found(const with_found)[long]: bool = false,
    }
}

/// The report of finding heights: how many localizations have each [`DepthStatus`].
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct ZReport {
    /// The localizations of the table.
    pub localizations: usize,
    /// Those whose height was found.
    pub found: usize,
    /// Those at the lower end of the range or below.
    pub below: usize,
    /// Those at the upper end of the range or above.
    pub above: usize,
    /// Those for which another height is nearly as likely.
    pub ambiguous: usize,
    /// Those whose widths belong to no height.
    pub far: usize,
    /// Those with a number that makes no sense.
    pub invalid: usize,
    /// The side of the windows, in pixels, for which the errors of the widths were estimated; not there if the table has them.
    pub estimated_for: Option<usize>,
}

impl ZReport {
    fn of(counts: [usize; DepthStatus::ALL.len()], estimated_for: Option<usize>) -> Self {
        let of = |status: DepthStatus| counts[status as usize];
        Self {
            localizations: counts.iter().sum(),
            found: of(DepthStatus::Found),
            below: of(DepthStatus::Below),
            above: of(DepthStatus::Above),
            ambiguous: of(DepthStatus::Ambiguous),
            far: of(DepthStatus::Far),
            invalid: of(DepthStatus::Invalid),
            estimated_for,
        }
    }
}

impl fmt::Display for ZReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let others = [
            (self.below, DepthStatus::Below),
            (self.above, DepthStatus::Above),
            (self.ambiguous, DepthStatus::Ambiguous),
            (self.far, DepthStatus::Far),
            (self.invalid, DepthStatus::Invalid),
        ];
        let others = counted_or_none(others.map(|(count, status)| (count, status.name())));
        write!(f, "z of {} of {} localizations; others: {others}", self.found, self.localizations)?;
        if let Some(side) = self.estimated_for {
            write!(
                f,
                "\nthe table has no errors of the widths; they were estimated from photons, background and uncertainties, for windows \
                 of {side}×{side} pixels"
            )?;
        }
        Ok(())
    }
}

/// Sets `z`, `uncertainty_z`, `z_distance` and `z_status`.
///
/// # Errors
/// [`StepError`]; the table needs two widths, and their errors or `photons` and `background`.
pub fn run(
    options: &ZOptions,
    source: &Source,
    sink: &mut dyn Sink,
    listener: &dyn Listener,
) -> Result<ZReport, StepError> {
    let finder = finder(options, source)?;
    let wrong = wrong(source);
    let mut counts = [0; DepthStatus::ALL.len()];
    let mut estimated_for = None;
    source.blocks(None, listener, |mut block| {
        let moved = (source.origin() != 0.0).then(|| centred(&block, source.origin()));
        let (depths, estimated) = finder.find(moved.as_ref().unwrap_or(&block)).map_err(&wrong)?;
        if estimated {
            estimated_for = Some(finder.box_size(&block));
        }
        depths.iter().for_each(|depth| counts[depth.status as usize] += 1);
        set_depths(&mut block, &depths);
        if options.found {
            let is_found = |depth: &Depth| depth.status == DepthStatus::Found;
            block.retain(&depths.iter().map(is_found).collect::<Vec<bool>>());
        }
        sink.write(block).map_err(StepError::Write)
    })?;
    Ok(ZReport::of(counts, estimated_for))
}

/// Finds heights by the calibration of these options.
fn finder(options: &ZOptions, source: &Source) -> Result<TableFinder, StepError> {
    let path = options
        .calibration
        .as_deref()
        .ok_or_else(|| StepError::Options("`calibration` must be given".to_owned()))?;
    let name = path.display().to_string();
    let loaded = load(path, source.layout()?.info.pixel_size);
    let loaded = loaded.map_err(|error| match error {
        CalibrationFileError::Yaml(YamlError::Io(source)) => {
            StepError::Read { name: name.clone(), source }
        }
        CalibrationFileError::PixelSize => {
            StepError::input(&name, format!("{error}; give `pixel_size`"))
        }
        other => StepError::input(&name, other.to_string()),
    })?;
    let measured = FindOptions { measure: options.measure, ..*loaded.options() };
    let finder = Finder::new(loaded.curve(), measured)
        .map_err(|error| StepError::input(&name, error.to_string()))?;
    TableFinder::new(finder.with_box_size(loaded.box_size()), options.box_size)
        .map_err(wrong(source))
}

/// What is wrong with a table whose heights are asked for.
fn wrong(source: &Source) -> impl Fn(TableDepthError) -> StepError + use<> {
    let (of_table, refused) = (source.wrong(), source.refused());
    move |error| match error {
        TableDepthError::Table(error) => of_table(error),
        TableDepthError::Option(error) => StepError::Option(error),
        other => refused(other),
    }
}

/// The same with (0, 0) at the centre of the first pixel: errors of widths depend on where in its pixel a spot is.
fn centred(block: &Table, origin: f64) -> Table {
    let mut moved = block.clone();
    for meaning in [Meaning::X, Meaning::Y] {
        // Where the size of a pixel is not known, widths are refused.
        if let Ok(places) = block.lengths(meaning, Unit::Pixel) {
            let places = places.iter().map(|place| place - origin).collect();
            moved.set(Column::new(meaning, Unit::Pixel, Kind::Double, places));
        }
    }
    moved
}
