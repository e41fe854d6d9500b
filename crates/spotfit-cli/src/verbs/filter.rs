//! `spotfit filter`: a table in, some of its rows out.

use clap::Args;

use crate::error::CliError;
use crate::say::message::print;
use crate::words::locs::{LocsArguments, LocsOutput};
use crate::words::output::Writing;
use crate::words::report::ReportArguments;
use crate::words::written::WrittenFile;
use spotfit::steps::filter::{self, FilterOptions};
use spotfit::table::Filter;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit filter locs.csv 'photons > 300 & uncertainty < 20' -o good.csv\n  spotfit filter locs.hdf5 -o clustered.hdf5 --neighbours 5 --radius 50nm"
)]
pub(crate) struct FilterArguments {
    #[command(flatten)]
    locs: LocsArguments,
    #[command(flatten)]
    options: FilterOptions,
    /// Where to write the rows: a .csv file, or a .hdf5 file for Picasso; - for CSV on standard output.
    #[arg(
        help_heading = "Output",
        short,
        long,
        value_name = "LOCS",
        required_unless_present = "columns"
    )]
    output: Option<WrittenFile>,
    /// Only list the columns that a condition may use; nothing is written.
    #[arg(long, conflicts_with_all = ["output", "merge", "neighbours"])]
    columns: bool,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    overwrite: Writing,
}

pub(crate) fn run(arguments: &FilterArguments) -> Result<(), CliError> {
    let source = match &arguments.output {
        Some(output) => {
            arguments.report.check(output)?;
            arguments.locs.source_for(output)?
        }
        None => arguments.locs.source()?,
    };
    if arguments.columns {
        let names = Filter::names(&source.layout()?);
        return print(&names.iter().map(|name| format!("{name}\n")).collect::<String>());
    }
    let Some(path) = &arguments.output else { return Ok(()) };
    let output = LocsOutput::of(&source, path, arguments.overwrite)?;
    let report = output
        .made(|output, listener| filter::run(&arguments.options, &source, output, listener))?;
    arguments.report.tell(&report)
}
