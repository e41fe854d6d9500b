//! `spotfit view`: a movie and tables in the browser.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Command};

use crate::error::CliError;
use crate::view::{self, Verbs};
use crate::words::movie_options::MovieArguments;
use crate::words::written::WrittenFolder;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit view movie.tif\n  spotfit view movie.tif locs.csv --output results --no-open\n  spotfit view run.nd2 --channel 2 --position 3"
)]
pub(crate) struct ViewArguments {
    /// What is shown: a movie and tables of localizations, as `spotfit localize` and `spotfit filter` take them. Other files, such as a
    /// calibration, are those that options in the window may name.
    #[arg(value_name = "MOVIE|LOCS", required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) movie: MovieArguments,
    /// The folder for what is made in the window.
    #[arg(help_heading = "Output", long, value_name = "FOLDER", default_value = ".")]
    pub(crate) output: WrittenFolder,
    /// Open no browser, and print only the address, which holds a secret: whoever knows it may use the window.
    #[arg(long)]
    pub(crate) no_open: bool,
    /// The port of the address; a free one if it is 0. The server can be reached from this computer only.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) port: u16,
}

/// Shows the window until it is closed. The verbs of the command are given: their words, and what runs them.
pub(crate) fn run(
    arguments: &ViewArguments,
    command: fn() -> Command,
    run_typed: fn(&[OsString]) -> Result<(), CliError>,
) -> Result<(), CliError> {
    view::show(arguments, Verbs { command, run: run_typed })
}
