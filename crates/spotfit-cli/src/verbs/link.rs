//! `spotfit link`: localizations of one molecule in successive frames become one.

use clap::Args;

use crate::error::CliError;
use crate::words::locs::{LocsArguments, LocsOutput};
use crate::words::output::Writing;
use crate::words::report::ReportArguments;
use crate::words::written::WrittenFile;
use spotfit::steps::link::{self, LinkOptions};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit link locs.csv -o molecules.csv\n  spotfit link locs.hdf5 -o labelled.hdf5 --radius 50nm --gap 3 --label"
)]
pub(crate) struct LinkArguments {
    #[command(flatten)]
    locs: LocsArguments,
    /// Where to write the molecules: a .csv file, or a .hdf5 file for Picasso; - for CSV on standard output.
    #[arg(short, long, value_name = "LOCS", help_heading = "Output")]
    output: WrittenFile,
    #[command(flatten)]
    options: LinkOptions,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    overwrite: Writing,
}

pub(crate) fn run(arguments: &LinkArguments) -> Result<(), CliError> {
    arguments.report.check(&arguments.output)?;
    let source = arguments.locs.source_for(&arguments.output)?;
    let output = LocsOutput::of(&source, &arguments.output, arguments.overwrite)?;
    let report =
        output.made(|output, listener| link::run(&arguments.options, &source, output, listener))?;
    arguments.report.tell(&report)
}
