//! `spotfit demo`: simulate, fit, and compare with the paper; then movies, in two and three dimensions.

mod depth;
mod movie;
mod picture;
mod places;
mod score;
mod windows;

use std::path::{Path, PathBuf};
use std::{fmt, fs};

use clap::Args;

use crate::error::CliError;
use spotfit::record::Record;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit demo\n  spotfit demo --out results --count 10000 --seed 2"
)]
pub(crate) struct DemoArguments {
    /// The folder for the results; it is created if necessary.
    #[arg(long, default_value = OWN_FOLDER, value_name = "DIR")]
    out: WrittenFolder,
    /// Number of spots in each of the three cases, up to a million.
    #[arg(long, default_value_t = 100_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    count: u32,
    /// The seed of the simulation.
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    seed: u32,
    /// Replace files in --out that have the names of the results. Without this option nothing is written if there are
    /// such files, unless the folder is called spotfit-demo.
    #[arg(long)]
    overwrite: bool,
}

/// A folder of this name is a demonstration's, and so is what has the names of its results there.
const OWN_FOLDER: &str = "spotfit-demo";

/// The names of the results.
const FILES: [&str; 17] = [
    "fits.csv",
    "truth.csv",
    "windows.svg",
    "movie.tif",
    "movie-truth.csv",
    "locs.csv",
    "movie.png",
    "beads.tif",
    "cal.yaml",
    "cal.svg",
    "depth.tif",
    "depth-truth.csv",
    "depth.csv",
    "straight.csv",
    "drift.csv",
    "drift.svg",
    "depth.png",
];

/// Refuses to replace what is in a folder that is not a demonstration's own: nobody named the files, and nothing in them
/// says that they are.
fn refuse_strangers(folder: &Path) -> Result<(), CliError> {
    if folder.file_name().is_some_and(|name| name == OWN_FOLDER) {
        return Ok(());
    }
    let names = FILES.iter().flat_map(|name| [PathBuf::from(name), Record::path(Path::new(name))]);
    let there = names.filter(|name| folder.join(name).symlink_metadata().is_ok());
    let there: Vec<String> = there.map(|name| name.display().to_string()).collect();
    if there.is_empty() {
        return Ok(());
    }
    let (verb, them) = if there.len() == 1 { ("is", "it") } else { ("are", "them") };
    let reason = format!(
        "{} {verb} there already; --overwrite replaces {them}, and --out names another folder",
        there.join(", ")
    );
    Err(CliError::file(&folder.display().to_string(), reason))
}

/// Prints a line. A reader such as `head` may close standard output; the files are written all the same.
fn print(text: fmt::Arguments<'_>) -> Result<(), CliError> {
    match crate::say::message::print(&format!("{text}\n")) {
        Err(error) if error.is_broken_pipe() => Ok(()),
        printed => printed,
    }
}

macro_rules! say {
    ($($text:tt)*) => {
        $crate::verbs::demo::print(format_args!($($text)*))?
    };
}
use crate::words::written::WrittenFolder;
use say;

pub(crate) fn run(arguments: &DemoArguments) -> Result<(), CliError> {
    let folder = &arguments.out;
    if !arguments.overwrite {
        refuse_strangers(folder)?;
    }
    fs::create_dir_all(folder).map_err(CliError::write(&folder.display().to_string()))?;
    windows::run(arguments, folder)?;
    movie::run(arguments, folder)?;
    depth::run(arguments, folder)?;
    say!("\nWritten to {}:", folder.display());
    for (name, what) in [
        ("fits.csv", "every fit of the case 400:40"),
        ("truth.csv", "what was simulated"),
        ("windows.svg", "the first windows and their fits: open it in a browser"),
        ("movie.tif", "the simulated movie, with movie-truth.csv"),
        ("locs.csv", "its localizations, as ThunderSTORM writes them"),
        ("movie.png", "a frame and all localizations, side by side"),
        ("beads.tif", "a stack of beads, with cal.yaml and cal.svg: what it says of z"),
        ("depth.tif", "the movie that drifts, with depth-truth.csv"),
        ("depth.csv", "its localizations, with z"),
        ("straight.csv", "the same without the drift, which drift.csv has and drift.svg shows"),
        ("depth.png", "a frame, the truth, and all localizations before and after, z as colour"),
    ] {
        say!("  {name:<14}{what}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that a demonstration may run again in its own folder, and replaces nothing in another.
    #[test]
    fn only_its_own_folder_is_used_again() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, refused) in [(OWN_FOLDER, false), ("results", true)] {
            let folder = folder.path().join(name);
            fs::create_dir(&folder).expect("a folder");
            assert!(refuse_strangers(&folder).is_ok(), "{name}");
            for file in ["drift.svg", "cal.yaml.spotfit.json"] {
                fs::write(folder.join(file), "mine").expect("a file");
                assert_eq!(refuse_strangers(&folder).is_err(), refused, "{name}: {file}");
                fs::remove_file(folder.join(file)).expect("a file");
            }
        }
    }
}
