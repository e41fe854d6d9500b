//! `spotfit score`: how well the spots of a movie were found, beside the truth.

use std::path::PathBuf;

use clap::Args;

use crate::error::CliError;
use crate::say::listener::Terminal;
use crate::words::locs::LocsArguments;
use crate::words::report::ReportArguments;
use spotfit::arguments::choice;
use spotfit::record::Origin;
use spotfit::steps::score::{self, ScoreOptions};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit score locs.csv truth.csv --radius 200nm\n  spotfit score locs.hdf5 truth.csv --radius 2px --border 4px --json"
)]
pub(crate) struct ScoreArguments {
    #[command(flatten)]
    locs: LocsArguments,
    /// The spots that were there: a table as `spotfit simulate movie --truth` writes it, or any table with frame, x and y.
    #[arg(value_name = "TRUTH")]
    truth: PathBuf,
    #[command(flatten)]
    options: ScoreOptions,
    /// Where (0, 0) is in the truth, if it is a table in nanometres or a CSV table: at the centre of the first pixel, or at its corner:
    /// see --origin.
    #[arg(help_heading = "Tables", long, value_parser = choice::<Origin>(), value_name = "ORIGIN")]
    truth_origin: Option<Origin>,
    /// The number of the first frame in the truth: see --first-frame.
    #[arg(help_heading = "Tables", long, value_name = "0|1", value_parser = clap::value_parser!(u32).range(..=1))]
    truth_first_frame: Option<u32>,
    #[command(flatten)]
    report: ReportArguments,
}

pub(crate) fn run(arguments: &ScoreArguments) -> Result<(), CliError> {
    let localizations = arguments.locs.source()?;
    let truth = arguments.locs.truth(
        &arguments.truth,
        arguments.truth_origin,
        arguments.truth_first_frame,
    )?;
    let report = score::run(&arguments.options, &localizations, &truth, &Terminal::default())?;
    arguments.report.print(&report)
}
