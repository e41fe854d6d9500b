//! `spotfit simulate`: windows, movies and stacks of beads, with their truth.

mod beads;
mod camera;
mod frames;
mod movie;
mod objective;
mod spots;
mod window_words;
mod windows;

use std::path::Path;

use clap::{Args, Subcommand};

use crate::error::CliError;
use crate::words::paths::refuse_ending;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(
    after_help = "Examples:\n  spotfit simulate --count 1000 --size 9 -o spots.npy --truth truth.csv\n  spotfit simulate --count 1000 --size 11 --shape elliptical --photons 2000 --pixel-background 5 -o spots.npy"
)]
pub(crate) struct SimulateArguments {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    windows: Option<window_words::WindowArguments>,
    // Not among those of the windows: clap would no longer see whether any of them is given.
    #[command(flatten)]
    others: windows::Others,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Simulate a movie: blinking molecules on lines and rings, beads, an uneven background.
    Movie(movie::MovieArguments),
    /// Simulate a z stack of beads behind an astigmatic lens, for `spotfit calibrate`.
    Beads(beads::BeadArguments),
}

/// A recipe whose fields of these names have what options of the same names say.
macro_rules! said {
    ($recipe:ty, $options:ident: $($field:ident),*) => {{
        let mut recipe = <$recipe>::default();
        $(recipe.$field = $options.$field;)*
        recipe
    }};
}
use said;

/// Refuses a name for a CSV file that has another ending; it may have none.
pub(crate) fn refuse_no_csv(path: Option<&Path>, what: &str) -> Result<(), CliError> {
    let named = path.filter(|path| path.extension().is_some());
    named.map_or(Ok(()), |path| refuse_ending(path, &["csv"], what))
}

pub(crate) fn run(arguments: &SimulateArguments) -> Result<(), CliError> {
    match (&arguments.what, &arguments.windows) {
        (Some(What::Movie(movie)), _) => movie::run(movie),
        (Some(What::Beads(beads)), _) => beads::run(beads),
        (None, Some(windows)) => windows::run(windows, &arguments.others),
        (None, None) => {
            Err(CliError::file("simulate", "give --count, or the command 'movie' or 'beads'"))
        }
    }
}
