//! `spotfit z`: the height of spots whose two widths are known.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::error::CliError;
use crate::words::lengths::side;
use crate::words::locs::{LocsArguments, LocsOutput};
use crate::words::output::Writing;
use crate::words::report::ReportArguments;
use crate::words::written::WrittenFile;
use spotfit::Length;
use spotfit::astigmatism::file::load;
use spotfit::astigmatism::find::Measure;
use spotfit::record::calibration;
use spotfit::steps::z::{self, ZOptions};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit z locs.csv --calibration calibration.yaml -o depth.csv\n  spotfit z locs.hdf5 --calibration calibration.yaml -o depth.hdf5 --found --box 13"
)]
pub(crate) struct ZArguments {
    #[command(flatten)]
    locs: LocsArguments,
    /// The calibration, of `spotfit calibrate` or Picasso.
    #[arg(long, value_name = "CALIBRATION.yaml")]
    calibration: PathBuf,
    /// Where to write the localizations with z: a .csv file, or a .hdf5 file for Picasso; - for CSV on standard output.
    #[arg(help_heading = "Output", short, long, value_name = "LOCS")]
    output: WrittenFile,
    /// What is least at the z that is found: mahalanobis, the distance of the widths in standard deviations; or roots, that
    /// of their square roots, as in Picasso.
    #[arg(long, value_enum, default_value = "mahalanobis", value_name = "MEASURE")]
    measure: MeasureChoice,
    /// Side of the windows in which the spots were fitted, in pixels or with a unit; odd. How much of a spot they hold says how well its widths are
    /// known [default: what the table tells by bkgstd and chi2, or else that of the calibration, or 13].
    #[arg(long = "box", value_name = "LENGTH")]
    box_size: Option<Length>,
    /// Drop localizations whose z was not found: beyond the range, ambiguous, or far from the calibration.
    #[arg(long)]
    found: bool,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    overwrite: Writing,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum MeasureChoice {
    Mahalanobis,
    Roots,
}

pub(crate) fn run(arguments: &ZArguments) -> Result<(), CliError> {
    arguments.report.check(&arguments.output)?;
    let source = arguments.locs.source_for(&arguments.output)?;
    let measure = match arguments.measure {
        MeasureChoice::Mahalanobis => Measure::Mahalanobis,
        MeasureChoice::Roots => Measure::SquareRoots,
    };
    let pixel_size = source.layout()?.info.pixel_size;
    let box_size = arguments.box_size.map(|length| side(length, pixel_size)).transpose()?;
    let options = ZOptions::default()
        .with_calibration(Some(arguments.calibration.clone()))
        .with_measure(measure)
        .with_box_size(box_size)
        .with_found(arguments.found);
    let mut output = LocsOutput::of(&source, &arguments.output, arguments.overwrite)?;
    output.reads("calibration", &arguments.calibration)?;
    // Where it cannot be read, the operation says so.
    if let (Some(record), Ok(finder)) =
        (output.record_mut(), load(&arguments.calibration, pixel_size))
    {
        record.calibration = Some(calibration(&finder));
    }
    let report = output.made(|output, listener| z::run(&options, &source, output, listener))?;
    arguments.report.tell(&report)
}
