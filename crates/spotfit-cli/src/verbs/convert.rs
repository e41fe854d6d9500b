//! `spotfit convert`: a table in another format or another unit.

use std::path::PathBuf;

use clap::Args;

use crate::error::{CliError, step};
use crate::say::listener::Terminal;
use crate::words::locs::{LocsArguments, LocsOutput};
use crate::words::output::Writing;
use crate::words::report::ReportArguments;
use spotfit::steps::convert::{self, ConvertOptions, LengthUnit};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit convert locs.csv -o locs.hdf5 --pixel-size 107\n  spotfit convert locs.csv -o pixels.csv --unit px --pixel-size 107"
)]
pub(crate) struct ConvertArguments {
    #[command(flatten)]
    locs: LocsArguments,
    /// Where to write the table: a .csv file, or a .hdf5 file for Picasso; - for CSV on standard output.
    #[arg(help_heading = "Output", short, long, value_name = "LOCS")]
    output: PathBuf,
    /// The unit of lengths in a CSV table: nm or px; that of LOCS if not given. Heights are in nanometres in either.
    #[arg(long, value_name = "nm|px")]
    unit: Option<LengthUnit>,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    overwrite: Writing,
}

pub(crate) fn run(arguments: &ConvertArguments) -> Result<(), CliError> {
    arguments.report.check(&arguments.output)?;
    let source = arguments.locs.source_for(&arguments.output)?;
    let mut output = LocsOutput::of(&source, &arguments.output, arguments.overwrite)?;
    let options = ConvertOptions::default().with_unit(arguments.unit);
    let report = convert::run(&options, &source, &mut output, &Terminal::default());
    let report = report.map_err(step(output.name()))?;
    output.finish()?;
    arguments.report.tell(&report)
}
