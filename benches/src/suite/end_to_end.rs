//! Whole commands, from file to table: beside programs of others, and beside reading and writing alone.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use tempfile::TempDir;

use super::SuiteError;
use super::alone;
use super::experiments::{END_TO_END, Run, keys};
use super::record::{Data, Timing};
use crate::report::timed;

/// What stands in for a fit.
pub const ALONE: &str = "read and write alone";
/// This project's command.
pub const ALL_THREADS: &str = "spotfit";
/// The same on one processor.
pub const ONE_THREAD: &str = "spotfit, one thread";
/// The same on a GPU.
pub const ON_GPU: &str = "spotfit, gpu";
/// All of those.
pub const OWN: [&str; 3] = [ALL_THREADS, ONE_THREAD, ON_GPU];
/// The programs of others, which run in Python.
pub const PEERS: [&str; 3] = ["picasso", "smappy", "sdt-python"];
/// How often each is run.
const RUNS: usize = 5;

/// What runs them.
const SCRIPT: &str = include_str!("../../scripts/end_to_end.py");

/// Spots of a frame.
pub const SPOTS: usize = 15;

/// A file that becomes a table.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What it is called in records.
    pub name: &'static str,
    /// What the command does.
    pub verb: Verb,
    /// The type of the pixels.
    pixels: &'static str,
    /// The endings of both files.
    pub files: [&'static str; 2],
    /// Who else can do it.
    peers: &'static [&'static str],
}

/// What the command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// It fits windows.
    Fit,
    /// It finds spots in a movie and fits them.
    Localize,
}

impl Verb {
    const fn word(self) -> &'static str {
        ["fit", "localize"][self as usize]
    }
}

/// All of them.
pub const CASES: [Case; 5] = [
    case("fit, f32 to NPY", Verb::Fit, "f32", ["npy", "npy"], &["picasso"]),
    case("fit, f32 to CSV", Verb::Fit, "f32", ["npy", "csv"], &[]),
    case("fit, u16 to NPY", Verb::Fit, "u16", ["npy", "npy"], &[]),
    case("localize, NPY to CSV", Verb::Localize, "u16", ["npy", "csv"], &[]),
    case("localize, TIFF to CSV", Verb::Localize, "u16", ["tif", "csv"], &PEERS),
];

const fn case(
    name: &'static str,
    verb: Verb,
    pixels: &'static str,
    files: [&'static str; 2],
    peers: &'static [&'static str],
) -> Case {
    Case { name, verb, pixels, files, peers }
}

/// The name of the cell that says how many spots were found of each window or frame.
pub fn found(case: &str) -> String {
    format!("{case}: found")
}

/// Windows and frames of a run, `scale` times as many as usual; programs of others get a tenth.
fn counts(quick: bool, scale: f64) -> [usize; 2] {
    let usual = if quick { [4000.0, 20.0] } else { [1e6, 2000.0] };
    usual.map(|usual| (usual * scale).round().max(10.0) as usize)
}

/// What is needed for it.
#[derive(Clone, Debug, clap::Args)]
pub struct Programs {
    /// The command that end-to-end runs [default: spotfit beside this program]
    #[arg(long = "spotfit", value_name = "COMMAND", value_parser = absolute)]
    pub command: Option<PathBuf>,
    /// Interpreters of Python in which end-to-end looks for Picasso, SMAPpy and sdt-python, separated by commas
    #[arg(long = "python", value_delimiter = ',', value_name = "LIST", default_value = "python3")]
    pub pythons: Vec<PathBuf>,
    /// How many times as many windows and frames end-to-end takes: 1 for a million windows and 2000 frames
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = scale)]
    pub scale: f64,
}

fn absolute(text: &str) -> std::io::Result<PathBuf> {
    std::path::absolute(text)
}

fn scale(text: &str) -> Result<f64, String> {
    within(text, "", [0.001, 1000.0])
}

/// A number of a unit in a range.
pub(super) fn within(text: &str, unit: &str, [least, most]: [f64; 2]) -> Result<f64, String> {
    let of = if unit.is_empty() { "" } else { " of" };
    let value: f64 = text.parse().map_err(|_| format!("expected a number{of}{unit}"))?;
    let right = (least..=most).contains(&value);
    if right { Ok(value) } else { Err(format!("expected {least} to {most}{unit}")) }
}

impl Programs {
    /// The command.
    fn command(&self) -> Result<PathBuf, String> {
        let beside = || {
            let name = format!("spotfit{}", std::env::consts::EXE_SUFFIX);
            std::env::current_exe().ok().map(|own| own.with_file_name(name))
        };
        let why = "there is no command spotfit beside this program (cargo build --release --bin spotfit), and none was given (--spotfit)";
        let there = |path: &PathBuf| path.is_file();
        self.command.clone().or_else(beside).filter(there).ok_or_else(|| why.to_owned())
    }
}

/// A folder for files, in memory where there is such a folder.
fn folder() -> Result<TempDir, SuiteError> {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.or_else(|_| tempfile::tempdir()).map_err(SuiteError::file(&std::env::temp_dir()))
}

/// Runs the command, and returns what its report says.
fn spotfit(command: &Path, words: &[&str]) -> Result<serde_json::Value, String> {
    let output = Command::new(command).args(words).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{}: {error}", command.display()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(said.lines().last().unwrap_or("it failed without a word").to_owned());
    }
    Ok(serde_json::from_slice(&output.stdout).unwrap_or_default())
}

/// An input and where its table goes.
struct Files {
    input: PathBuf,
    table: PathBuf,
}

impl Case {
    /// Makes an input of so many windows or frames.
    fn files(&self, command: &Path, folder: &Path, count: usize) -> Result<Files, String> {
        let [input, table] = self.files;
        let input = folder.join(format!("{}-{}-{count}.{input}", self.verb.word(), self.pixels));
        let table = folder.join(format!("table.{table}"));
        if !input.exists() {
            let (count, spots) = (count.to_string(), SPOTS.to_string());
            let (count, spots, path) = (&*count, &*spots, input.to_string_lossy());
            let mut words = vec!["simulate"];
            match self.verb {
                Verb::Fit => {
                    words.extend(["--count", count, "--size", "9", "--dtype", self.pixels]);
                }
                Verb::Localize => words.extend(["movie", "--frames", count, "--spots", spots]),
            }
            words.extend(["--output", &*path]);
            spotfit(command, &words)?;
        }
        Ok(Files { input, table })
    }

    /// Runs the command: seconds, and how many spots it found.
    fn own(&self, command: &Path, files: &Files, how: &[&str]) -> Result<[f64; 2], String> {
        let (input, table) = (files.input.to_string_lossy(), files.table.to_string_lossy());
        let camera: &[&str] = match self.verb {
            Verb::Fit => &[],
            Verb::Localize => &["--baseline", "100", "--sensitivity", "1"],
        };
        let words = [self.verb.word(), &*input, "--output", &*table, "--json"];
        let words = [&words[..], how, camera].concat();
        let (seconds, report) = timed(|| spotfit(command, &words))?;
        let name = if self.verb == Verb::Fit { "spots" } else { "localizations" };
        let found = report.get(name).and_then(serde_json::Value::as_f64);
        Ok([seconds, found.ok_or_else(|| format!("its report does not say {name}"))?])
    }
}

/// A program of others, which waits to be asked.
struct Peer {
    process: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts the first interpreter that has it, and lets it do all once, so that nothing is imported or compiled later.
    fn start(name: &str, case: &Case, pythons: &[PathBuf], files: &Files) -> Result<Self, String> {
        let mut why = "no interpreter of Python was given (--python)".to_owned();
        for python in pythons {
            let started = Command::new(python)
                .args(["-c", SCRIPT, name, case.verb.word()])
                .args([&files.input, &files.table])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn();
            let mut process = match started {
                Ok(process) => process,
                Err(error) => {
                    let python = python.file_name().unwrap_or_default().to_string_lossy();
                    why = format!("{python} cannot be started: {error}");
                    continue;
                }
            };
            let (Some(ask), Some(out)) = (process.stdin.take(), process.stdout.take()) else {
                continue;
            };
            let mut peer = Self { process, ask, answers: BufReader::new(out) };
            match peer.answer(&["version ", "- "]) {
                Some(line) if line.starts_with("version ") => {
                    peer.run()?;
                    return Ok(peer);
                }
                Some(line) => why = line.trim_start_matches("- ").to_owned(),
                None => why = "it ended without a word".to_owned(),
            }
        }
        Err(format!("no Python of --python has it: {why}"))
    }

    /// The next line that begins in one of these ways: what is imported may say something, too.
    fn answer(&mut self, begins: &[&str]) -> Option<String> {
        let lines = (&mut self.answers).lines().map_while(Result::ok);
        lines.map(|line| line.trim().to_owned()).find(|line| {
            let begun = |begin: &&str| line.starts_with(begin);
            begins.iter().any(begun)
        })
    }

    /// Seconds from file to table, and how many spots it found.
    fn run(&mut self) -> Result<[f64; 2], String> {
        let asked = self.ask.write_all(b"again\n").and_then(|()| self.ask.flush());
        let line = asked.ok().and_then(|()| self.answer(&["took "]));
        let line = line.ok_or("it failed while it worked")?;
        let numbers: Vec<f64> = line.split(' ').skip(1).filter_map(|n| n.parse().ok()).collect();
        numbers.try_into().map_err(|_| format!("it said '{line}'"))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It waits for another line, or is past being asked.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// How long a method took, and how many spots it found of each window or frame.
type Measured = Result<(Timing, f64), String>;
/// What takes its turn: seconds, and how many spots it found.
type Turn<'t> = Box<dyn FnMut() -> Result<[f64; 2], String> + 't>;

impl Run {
    pub(super) fn end_to_end(&mut self) -> Result<(), SuiteError> {
        let folder = folder()?;
        for case in CASES {
            let own = OWN.into_iter().take(2 + usize::from(self.roster.gpu));
            let methods: Vec<&str> = own.chain(case.peers.iter().copied()).collect();
            let pairs = methods.iter().map(|of| keys(of, [case.name.to_owned(), found(case.name)]));
            let mut all = pairs.collect::<Vec<_>>().concat();
            all.extend(keys(ALONE, [case.name]));
            let count = counts(self.quick, self.programs.scale)[case.verb as usize];
            self.cells(END_TO_END, &all, |run| {
                let command = run.programs.command()?;
                let results = run.case(&case, &command, folder.path(), count, &methods)?;
                let data = results.into_iter().flat_map(|result| match result {
                    Ok((timing, found)) => [Data::Time(timing), Data::Value(found)],
                    Err(why) => [Data::Missing(why.clone()), Data::Missing(why)],
                });
                // Reading and writing alone, which are last, find nothing.
                Ok(data.take(all.len()).collect())
            })?;
        }
        Ok(())
    }

    /// The times of all methods and of reading and writing alone, which take turns, and how many spots they found of each window or frame.
    fn case(
        &self,
        case: &Case,
        command: &Path,
        folder: &Path,
        count: usize,
        methods: &[&str],
    ) -> Result<Vec<Measured>, String> {
        let files = case.files(command, folder, count)?;
        let few = (count / 10).max(10);
        let turns = methods.iter().chain([&ALONE]).map(|method| {
            let turn = self.turn(method, case, command, folder, &files, few);
            (if PEERS.contains(method) { few } else { count }, turn.map(|turn| (turn, Vec::new())))
        });
        let mut turns: Vec<_> = turns.collect();
        for _ in 0..RUNS {
            for (_, state) in &mut turns {
                if let Ok((turn, samples)) = state {
                    match turn() {
                        Ok(sample) => samples.push(sample),
                        Err(why) => *state = Err(why),
                    }
                }
            }
        }
        let side = [9, 256][case.verb as usize];
        let summaries = turns.into_iter().map(|(fits, state)| {
            state.map(|(_, samples)| {
                let timing = Timing::new(samples.iter().map(|sample| sample[0]).collect(), 1);
                let found = samples.last().map_or(0.0, |sample| sample[1] / fits as f64);
                (Timing { side, fits, ..timing }, found)
            })
        });
        let summaries = summaries.collect();
        // The next case may have another input.
        for file in [&files.input, &files.table] {
            drop(fs::remove_file(file));
        }
        Ok(summaries)
    }

    /// How a method takes its turn, after it did all once.
    fn turn<'t>(
        &self,
        method: &str,
        case: &'t Case,
        command: &'t Path,
        folder: &Path,
        files: &'t Files,
        few: usize,
    ) -> Result<Turn<'t>, String> {
        let how: &[&str] = match method {
            ALL_THREADS => &["--backend", "cpu"],
            ONE_THREAD => &["--backend", "cpu", "--threads", "1"],
            ON_GPU => &["--backend", "gpu"],
            ALONE => {
                let threads = std::thread::available_parallelism().map_or(1, usize::from);
                return Ok(Box::new(move || {
                    let copied = alone::copy(&files.input, &files.table, threads);
                    copied.map(|(read, written)| [read + written, 0.0]).map_err(|e| e.to_string())
                }));
            }
            _ if self.quick => return Err("not asked in a short run".to_owned()),
            peer => {
                let files = case.files(command, folder, few)?;
                let mut peer = Peer::start(peer, case, &self.programs.pythons, &files)?;
                return Ok(Box::new(move || peer.run()));
            }
        };
        case.own(command, files, how)?;
        Ok(Box::new(move || case.own(command, files, how)))
    }
}
