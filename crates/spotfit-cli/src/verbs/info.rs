//! `spotfit info`: what a file is, and how it was made.

use std::path::PathBuf;

use clap::Args;

use crate::error::CliError;
use crate::say::listener::Terminal;
use crate::say::message::print;
use spotfit::steps::info;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  spotfit info locs.hdf5\n  spotfit info movie.tif --json")]
pub(crate) struct InfoArguments {
    /// A table of localizations, a record (.spotfit.json), a movie, a calibration (.yaml) or a measured PSF (.hdf5).
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print one JSON object instead of words.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &InfoArguments) -> Result<(), CliError> {
    let report = info::run(&arguments.file, &Terminal::default())?;
    if arguments.json {
        let text = serde_json::to_string_pretty(&report);
        let text = text.map_err(|error| CliError::Other(error.to_string()))?;
        return print(&format!("{text}\n"));
    }
    print(&format!("{report}\n"))
}
