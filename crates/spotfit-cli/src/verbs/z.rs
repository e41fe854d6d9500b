//! `spotfit z`: the height of spots whose two widths are known.

use std::path::Path;

use clap::Args;

use crate::error::CliError;
use crate::words::locs::{LocsArguments, LocsOutput};
use crate::words::output::Writing;
use crate::words::report::ReportArguments;
use crate::words::written::WrittenFile;
use spotfit::Length;
use spotfit::astigmatism::file::load;
use spotfit::record;
use spotfit::steps::side;
use spotfit::steps::z::{self, ZOptions};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit z locs.csv --calibration calibration.yaml -o depth.csv\n  spotfit z locs.hdf5 --calibration calibration.yaml -o depth.hdf5 --found --box 13"
)]
pub(crate) struct ZArguments {
    #[command(flatten)]
    locs: LocsArguments,
    /// Where to write the localizations with z: a .csv file, or a .hdf5 file for Picasso; - for CSV on standard output.
    #[arg(help_heading = "Output", short, long, value_name = "LOCS")]
    output: WrittenFile,
    #[command(flatten)]
    options: ZOptions,
    /// Side of the windows in which the spots were fitted, in pixels or with a unit; odd. How much of a spot they hold says how well its widths are
    /// known [default: what the table tells by bkgstd and chi2, or else that of the calibration, or 13].
    #[arg(long = "box", value_name = "LENGTH")]
    box_size: Option<Length>,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    overwrite: Writing,
}

pub(crate) fn run(arguments: &ZArguments) -> Result<(), CliError> {
    arguments.report.check(&arguments.output)?;
    let source = arguments.locs.source_for(&arguments.output)?;
    let pixel_size = source.layout()?.info.pixel_size;
    let box_size = arguments.box_size.map(|length| side(length, pixel_size)).transpose()?;
    let options = arguments.options.clone().with_box_size(box_size);
    let mut output = LocsOutput::of(&source, &arguments.output, arguments.overwrite)?;
    let calibration = options.calibration.as_deref().unwrap_or(Path::new(""));
    output.reads("calibration", calibration)?;
    // Where it cannot be read, the operation says so.
    if let (Some(record), Ok(finder)) = (output.record_mut(), load(calibration, pixel_size)) {
        record.calibration = Some(record::calibration(&finder));
    }
    let report = output.made(|output, listener| z::run(&options, &source, output, listener))?;
    arguments.report.tell(&report)
}
