//! `spotfit demo`: windows that are fitted and compared with the paper; then movies, in two and three dimensions, by commands that it
//! prints.

mod depth;
mod windows;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use clap::Args;

use crate::error::CliError;
use crate::interrupt;
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

/// The results, and what is said of them.
const FILES: [(&str, &str); 19] = [
    ("spots.npy", "simulated windows"),
    ("truth.csv", "what is in them"),
    ("fits.csv", "their fits, with errors"),
    ("movie.tif", "a simulated movie"),
    ("movie-truth.csv", "its spots"),
    ("locs.csv", "its localizations, as ThunderSTORM writes them"),
    ("movie.png", "all of them in a picture"),
    ("beads.tif", "a stack of beads"),
    ("cal.yaml", "what it says of z"),
    ("cal.svg", "the same as a chart"),
    ("depth.tif", "a movie that drifts"),
    ("depth-truth.csv", "its spots"),
    ("depth.csv", "its localizations, with z"),
    ("simulated.csv", "its drift"),
    ("still.csv", "its spots without the drift"),
    ("drift.csv", "the drift that was found"),
    ("drift.svg", "the same as a chart"),
    ("straight.csv", "the localizations without it"),
    ("depth.png", "a frame, the truth, and all localizations before and after, z as colour"),
];

/// Refuses to replace what is in a folder that is not a demonstration's own: nobody named the files, and nothing in them
/// says that they are.
fn refuse_strangers(folder: &Path) -> Result<(), CliError> {
    if folder.file_name().is_some_and(|name| name == OWN_FOLDER) {
        return Ok(());
    }
    let names =
        FILES.iter().flat_map(|(name, _)| [PathBuf::from(name), Record::path(Path::new(name))]);
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

/// What came of printing; a reader such as `head` may close standard output, and the files are written all the same.
fn printed(result: Result<(), CliError>) -> Result<(), CliError> {
    result.or_else(|error| if error.is_broken_pipe() { Ok(()) } else { Err(error) })
}

/// Prints a line.
fn print(text: fmt::Arguments<'_>) -> Result<(), CliError> {
    printed(crate::say::message::print(&format!("{text}\n")))
}

macro_rules! say {
    ($($text:tt)*) => {
        $crate::verbs::demo::print(format_args!($($text)*))?
    };
}
use crate::words::written::WrittenFolder;
use say;

impl DemoArguments {
    /// Verbs that ask before they replace what somebody else wrote: in a demonstration's folder nobody has.
    const ASKING: [&'static str; 4] = ["calibrate", "drift", "fit", "localize"];

    /// Says how a command is typed, and runs it. Words that begin with @ are files in the folder of the results.
    fn command(&self, words: &str) -> Result<(), CliError> {
        interrupt::check()?;
        let file = |name: &str| {
            let path = self.out.join(name);
            // Otherwise it would be an option.
            let hyphen = path.as_os_str().as_encoded_bytes().starts_with(b"-");
            if hyphen { Path::new(".").join(path) } else { path }
        };
        let word = |word: &str| match word.strip_prefix('@') {
            Some(name) => file(name).into_os_string(),
            None => OsString::from(word),
        };
        let mut words: Vec<OsString> = words.split_whitespace().map(word).collect();
        if self.overwrite
            && words.first().is_some_and(|verb| Self::ASKING.iter().any(|asking| verb == asking))
        {
            words.push("--overwrite".into());
        }
        let quoted = |word: &OsString| {
            let word = word.display().to_string();
            let plain = !word.contains([' ', '\'']);
            if plain { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
        };
        let typed: Vec<String> = words.iter().map(quoted).collect();
        say!("\n$ spotfit {}", typed.join(" "));
        printed(crate::run_typed(&words))
    }
}

pub(crate) fn run(arguments: &DemoArguments) -> Result<(), CliError> {
    let DemoArguments { out, count, seed, .. } = arguments;
    if !arguments.overwrite {
        refuse_strangers(out)?;
    }
    fs::create_dir_all(out).map_err(CliError::write(&out.display().to_string()))?;
    windows::run(arguments)?;
    for words in [
        format!("simulate -o @spots.npy --truth @truth.csv --count {count} --size 9 --seed {seed}"),
        "fit @spots.npy -o @fits.csv --errors --baseline 0 --sensitivity 1".to_owned(),
        format!(
            "simulate movie -o @movie.tif --truth @movie-truth.csv --frames 1000 --width 96 --height 96 --spots 8 --seed {seed}"
        ),
        "localize @movie.tif -o @locs.csv --flags --pixel-size 100 --baseline 100 --sensitivity 1 --read-noise 1.5".to_owned(),
        "score @locs.csv @movie-truth.csv --pixel-size 100 --radius 150 --border 5px --width 96 --height 96".to_owned(),
        "render @locs.csv -o @movie.png".to_owned(),
    ] {
        arguments.command(&words)?;
    }
    depth::run(arguments)?;
    say!("\nWritten to {}:", out.display());
    FILES.iter().try_for_each(|(name, what)| print(format_args!("  {name:<17}{what}")))
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
