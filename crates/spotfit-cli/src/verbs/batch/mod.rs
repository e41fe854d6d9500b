//! `spotfit batch`: many movies in, a table of localizations for each out.

mod board;
mod manifest;
mod plan;
mod words;

use std::path::PathBuf;

use clap::Args;

use crate::error::CliError;
use crate::words::choice::choice;
use crate::words::follow::IdleArguments;
use crate::words::preset::PresetArguments;
use crate::words::report::ReportArguments;
use crate::words::written::WrittenFolder;
use board::Board;
use spotfit::steps::batch::{self, BatchOptions, Shard};
use spotfit::table::{PicassoVersion, TableFormat};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit batch movies.txt --out tables --baseline 100 --sensitivity 0.46\n  spotfit batch movies.csv --out tables --jobs 4 --format csv --pixel-size 107\n  spotfit batch --follow acquisitions --out tables --format csv --baseline 100 --sensitivity 0.46 --idle 5"
)]
pub(crate) struct BatchArguments {
    /// The movies: a text file with one movie per line, or a CSV table with a column movie, an optional column output
    /// (the name of the table, without ending), and columns named like the options below, whose cells apply to that
    /// movie (true or false for options without a value; an empty cell changes nothing). Lines that begin with # are
    /// skipped. Paths are relative to the manifest's folder; - reads standard input.
    #[arg(value_name = "MANIFEST", required_unless_present = "follow", conflicts_with = "follow")]
    manifest: Option<PathBuf>,
    /// In place of a manifest: the folder to which movies come. Each is localized while it is written, and so are those that are there
    /// already: files that are called like movies, and folders with one movie in several TIFF files or in NDTiff. SIF, FITS, SPE, ND2, CZI and
    /// NDTiff are waited for until they have not changed for --idle seconds. It ends when none has come for
    /// --idle seconds. With --format csv the tables are there from their first rows on and grow; others appear at the end of each movie.
    #[arg(long, value_name = "FOLDER", conflicts_with = "shard")]
    follow: Option<PathBuf>,
    #[command(flatten)]
    idle: IdleArguments,
    /// The folder for the tables: NAME.hdf5 with its .yaml for movie NAME.tif, NAME.hdf5.spotfit.json beside it, which says how
    /// it was made, and summary.csv. It is made if it is missing. Several processes may work on one folder: each movie is localized
    /// by one of them.
    #[arg(long, value_name = "DIR")]
    out: WrittenFolder,
    /// Take the movies I, I + N, I + 2N and so on of the manifest: N processes or machines share the work.
    #[arg(long, value_name = "I/N", default_value = "1/1", hide_default_value = true)]
    shard: Shard,
    /// The number of movies to localize at a time; they share the threads.
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: u16,
    /// The format of the tables: hdf5 for Picasso, or csv.
    #[arg(long, default_value = "hdf5", value_name = "FORMAT", value_parser = choice([
        ("hdf5", TableFormat::Picasso),
        ("csv", TableFormat::Csv),
    ]))]
    format: TableFormat,
    /// Localize all movies, and replace existing files, whoever wrote them. Without this option, finished movies are
    /// skipped, and files that `spotfit batch` did not write are not changed.
    #[arg(long)]
    overwrite: bool,
    /// Which Picasso .hdf5 tables are for: 0, with lengths in pixels, which every version reads; or 1, in nanometres, for version 1.0
    /// and later.
    #[arg(long, value_name = "0|1", default_value_t)]
    picasso: PicassoVersion,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    preset: PresetArguments,
    #[command(flatten)]
    typed: words::Typed,
}

pub(crate) fn run(arguments: &BatchArguments) -> Result<(), CliError> {
    let BatchArguments { manifest, out, shard, report, overwrite, .. } = arguments;
    let options = BatchOptions::new(&**out)
        .with_format(arguments.format)
        .with_picasso(arguments.picasso)
        .with_shard(*shard)
        .with_jobs(arguments.jobs.into())
        .with_overwrite(*overwrite);
    let board = Board::new(*overwrite);
    let preset = arguments.preset.preset.clone();
    let done = match (&arguments.follow, manifest) {
        (Some(folder), _) => {
            let method = plan::method(&arguments.typed, preset, &options)?;
            batch::follow(&options, folder, &method, &arguments.idle.options()?, &board)?
        }
        (None, Some(manifest)) => {
            let lines = manifest::read(manifest)?;
            let tasks = plan::tasks(manifest, &lines, (&arguments.typed, preset), &options)?;
            let own = tasks.into_iter().enumerate().filter(|(index, _)| shard.has(*index));
            let tasks: Vec<_> = own.map(|(_, task)| task).collect();
            batch::run(&options, &tasks, &board)?
        }
        // The command line cannot be read without either.
        (None, None) => return Err(CliError::Other("there is no manifest".to_owned())),
    };
    report.tell(&done)?;
    match done.failed {
        0 => Ok(()),
        failed => Err(CliError::Other(format!("{failed} of {} movies failed", done.movies.len()))),
    }
}
