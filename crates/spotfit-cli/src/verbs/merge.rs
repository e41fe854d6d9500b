//! `spotfit merge`: spots that were found twice in one frame become one.

use clap::Args;

use crate::error::CliError;
use crate::words::locs::{LocsArguments, LocsOutput};
use crate::words::output::Writing;
use crate::words::report::ReportArguments;
use crate::words::written::WrittenFile;
use spotfit::Length;
use spotfit::steps::merge::{self, MergeOptions};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit merge locs.csv --radius 50nm -o merged.csv\n  spotfit merge locs.hdf5 --radius 0.5px -o merged.hdf5 --json"
)]
pub(crate) struct MergeArguments {
    #[command(flatten)]
    locs: LocsArguments,
    /// Where to write the rows: a .csv file, or a .hdf5 file for Picasso; - for CSV on standard output.
    #[arg(help_heading = "Output", short, long, value_name = "LOCS")]
    output: WrittenFile,
    /// Localizations of one frame that are nearer to each other than this are one, in nanometres or with a unit, as in 0.5px.
    #[arg(long, value_name = "LENGTH")]
    radius: Length,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    overwrite: Writing,
}

pub(crate) fn run(arguments: &MergeArguments) -> Result<(), CliError> {
    arguments.report.check(&arguments.output)?;
    let source = arguments.locs.source_for(&arguments.output)?;
    let output = LocsOutput::of(&source, &arguments.output, arguments.overwrite)?;
    let options = MergeOptions::default().with_radius(Some(arguments.radius));
    let report = output.made(|output, listener| merge::run(&options, &source, output, listener))?;
    arguments.report.tell(&report)
}
