//! What was measured, on what, when and how: written as it comes, so that nothing is lost, and read again to go on
//! or to compare.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::SuiteError;

/// A run: what it ran on, and what came of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Where, when and how.
    pub about: About,
    /// What was measured, in the order in which it was.
    pub cells: Vec<Cell>,
}

/// Where, when and how a record was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// Version of this project.
    pub version: String,
    /// Day it began, as year-month-day.
    pub date: String,
    /// The command.
    pub command: String,
    /// The processor, and how many of it the process may use.
    pub processor: String,
    /// Each GPU with its driver, or why there is none.
    pub gpus: Vec<String>,
    /// The compiler that made the program.
    pub compiler: String,
    /// The operating system.
    pub system: String,
    /// Seconds of a tick of the timer.
    pub tick: f64,
    /// Seconds that a cell may take.
    pub budget: f64,
    /// The seed of all simulations.
    pub seed: u64,
    /// Whether it is a short run, for checking and not for measuring.
    pub quick: bool,
    /// What was asked for and is not there: name and reason.
    #[serde(default)]
    pub missing: Vec<(String, String)>,
}

impl About {
    /// Where, when and how, in lines.
    pub fn lines(&self) -> Vec<String> {
        let kind = if self.quick { ", a short run whose times are not to be quoted" } else { "" };
        vec![
            format!("Spotfit {}, {}{kind}", self.version, self.date),
            format!("command: {}", self.command),
            format!("processor: {}", self.processor),
            format!("GPU: {}", self.gpus.join("; ")),
            format!("compiler: {}; system: {}; seed: {}", self.compiler, self.system, self.seed),
        ]
    }
}

/// One measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The experiment it belongs to.
    pub experiment: String,
    /// What was fitted with.
    pub method: String,
    /// What was fitted.
    pub case: String,
    /// What came of it.
    pub data: Data,
}

/// What came of a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Data {
    /// How long it took.
    Time(Timing),
    /// How far fits were off, and how they ended.
    Errors(Box<Errors>),
    /// Seconds: 50th, 90th, 99th, 99.9th percentile and the longest of so many calls.
    Latency {
        /// The percentiles.
        seconds: [f64; 5],
        /// The calls.
        calls: usize,
    },
    /// A single number, in the unit that the experiment says.
    Value(f64),
    /// Nothing, and why.
    Missing(String),
}

/// How long a call took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Pixels of a side of the square window.
    pub side: usize,
    /// Fits of a call.
    pub fits: usize,
    /// Samples taken.
    pub runs: usize,
    /// Calls of a sample: more than one where a call is too short for the timer.
    pub calls: usize,
    /// Median seconds of a call.
    pub median: f64,
    /// Lower quartile of them.
    pub low: f64,
    /// Upper quartile of them.
    pub high: f64,
}

impl Timing {
    /// The quartiles of samples of so many calls; what was called is not said.
    pub fn new(mut seconds: Vec<f64>, calls: usize) -> Self {
        seconds.sort_by(f64::total_cmp);
        let at = |share: f64| seconds[((seconds.len() - 1) as f64 * share).round() as usize];
        let [low, median, high] = [0.25, 0.5, 0.75].map(at);
        Self { side: 0, fits: 0, runs: seconds.len(), calls, median, low, high }
    }

    /// Fits a second.
    pub fn rate(&self) -> f64 {
        self.fits as f64 / self.median
    }

    /// Pixels a second.
    pub fn pixels(&self) -> f64 {
        self.rate() * (self.side * self.side) as f64
    }
}

/// How far fits were off, and how they ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Errors {
    /// Fits.
    pub fits: usize,
    /// Seed of the simulation.
    pub seed: u64,
    /// Fits without a number, or further than 3 σ from the truth: they count in nothing below but `statuses`.
    pub lost: usize,
    /// Median, mean and standard deviation of the absolute error of the centre, in units of σ.
    pub centre: [f64; 3],
    /// The same of σ.
    pub sigma: [f64; 3],
    /// Mean error of x, y and σ, each in units of its Cramér–Rao bound.
    pub bias: [f64; 3],
    /// Root mean square error of x, y and σ, in the same units.
    pub rms: [f64; 3],
    /// Root mean square error of x in pixels.
    pub x: f64,
    /// Root mean square Cramér–Rao bound of x in pixels.
    pub bound: f64,
    /// Absolute errors of the centre by bins of [`Errors::BIN`]; the last counts all beyond.
    pub centre_bins: Vec<u32>,
    /// The same of σ.
    pub sigma_bins: Vec<u32>,
    /// Fits by the number of iterations.
    pub iterations: Vec<u32>,
    /// Share of the fits by the word for how they ended.
    pub statuses: BTreeMap<String, f64>,
    /// Share of the fits that ended at their start values.
    pub unfitted: f64,
}

impl Errors {
    /// Width of a bin of absolute errors, in units of σ.
    pub const BIN: f64 = 0.0025;
    /// Bins, the last of which is for all beyond.
    pub const BINS: usize = 101;

    /// Mean number of iterations.
    pub fn mean_iterations(&self) -> f64 {
        let sum: f64 =
            self.iterations.iter().enumerate().map(|(i, &n)| i as f64 * f64::from(n)).sum();
        sum / self.fits.max(1) as f64
    }

    /// The number of iterations that is most frequent.
    pub fn mode(&self) -> usize {
        (0..self.iterations.len()).max_by_key(|&i| self.iterations[i]).unwrap_or(0)
    }

    /// Share of the fits that ended in a way.
    pub fn share(&self, status: &str) -> f64 {
        self.statuses.get(status).copied().unwrap_or(0.0)
    }
}

impl Record {
    /// What a cell holds.
    pub fn get(&self, experiment: &str, method: &str, case: &str) -> Option<&Data> {
        let same = |cell: &&Cell| {
            cell.experiment == experiment && cell.method == method && cell.case == case
        };
        self.cells.iter().find(same).map(|cell| &cell.data)
    }

    /// The cells of an experiment.
    pub fn of<'a>(&'a self, experiment: &'a str) -> impl Iterator<Item = &'a Cell> {
        self.cells.iter().filter(move |cell| cell.experiment == experiment)
    }

    /// The methods of an experiment, in the order in which they first come.
    pub fn methods<'a>(&'a self, experiment: &str) -> Vec<&'a str> {
        let mut methods = Vec::new();
        for cell in self.cells.iter().filter(|cell| cell.experiment == experiment) {
            if !methods.contains(&cell.method.as_str()) {
                methods.push(&cell.method);
            }
        }
        methods
    }

    /// The errors of all methods in a case.
    pub fn errors_of<'a>(
        &'a self,
        experiment: &'a str,
        case: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a Errors)> {
        let methods = self.methods(experiment).into_iter();
        methods.filter_map(move |method| Some((method, self.errors(experiment, method, case)?)))
    }

    /// The timings of a method in an experiment.
    pub fn times<'a>(
        &'a self,
        experiment: &'a str,
        method: &'a str,
    ) -> impl Iterator<Item = &'a Timing> {
        self.of(experiment).filter(move |cell| cell.method == method).filter_map(|cell| {
            if let Data::Time(timing) = &cell.data { Some(timing) } else { None }
        })
    }

    /// How long a method took in a case.
    pub fn time(&self, experiment: &str, method: &str, case: &str) -> Option<&Timing> {
        let data = self.get(experiment, method, case)?;
        if let Data::Time(timing) = data { Some(timing) } else { None }
    }

    /// The errors of a method in a case.
    pub fn errors(&self, experiment: &str, method: &str, case: &str) -> Option<&Errors> {
        let data = self.get(experiment, method, case)?;
        if let Data::Errors(errors) = data { Some(errors) } else { None }
    }

    /// The number of a method in a case.
    pub fn value(&self, experiment: &str, method: &str, case: &str) -> Option<f64> {
        let data = self.get(experiment, method, case)?;
        if let Data::Value(value) = data { Some(*value) } else { None }
    }

    /// Reads `record.json` of a folder, or the file of that name.
    ///
    /// # Errors
    /// [`SuiteError`] if it cannot be read or is no record.
    pub fn load(path: &Path) -> Result<Self, SuiteError> {
        let file = if path.is_dir() { path.join("record.json") } else { path.to_path_buf() };
        let text = fs::read_to_string(&file).map_err(SuiteError::file(&file))?;
        serde_json::from_str(&text).map_err(|source| SuiteError::Record { file, source })
    }
}

/// The record of a run under way: a line for each cell, written when it is there.
pub struct Journal {
    path: PathBuf,
    file: File,
    /// What there is so far.
    pub record: Record,
}

impl Journal {
    /// Begins a journal in a folder, or goes on with the one that is there.
    ///
    /// # Errors
    /// [`SuiteError`] if files cannot be written or read; if there is a journal already and `resume` is not
    /// asked for; if it was made by another version, on another machine, or with other settings.
    pub fn open(folder: &Path, about: About, resume: bool) -> Result<Self, SuiteError> {
        fs::create_dir_all(folder).map_err(SuiteError::file(folder))?;
        let path = folder.join("journal.jsonl");
        let mut record = Record { about, cells: Vec::new() };
        if path.exists() {
            if !resume {
                return Err(SuiteError::Exists(path));
            }
            record = Self::read(&path, record.about)?;
        }
        // Anew, so that a line that was cut off does not spoil what follows.
        let mut lines = line(&path, &record.about)?;
        for cell in &record.cells {
            lines.extend(line(&path, cell)?);
        }
        write(&path, &lines)?;
        let file = OpenOptions::new().append(true).open(&path).map_err(SuiteError::file(&path))?;
        Ok(Self { path, file, record })
    }

    fn read(path: &Path, about: About) -> Result<Record, SuiteError> {
        let file = File::open(path).map_err(SuiteError::file(path))?;
        let mut lines = BufReader::new(file).lines();
        let first = lines.next().and_then(Result::ok).unwrap_or_default();
        let before: About = serde_json::from_str(&first)
            .map_err(|source| SuiteError::Record { file: path.to_path_buf(), source })?;
        let same =
            |a: &About| (a.version.clone(), a.processor.clone(), a.gpus.clone(), a.quick, a.seed);
        if same(&before) != same(&about) {
            return Err(SuiteError::Other(path.to_path_buf()));
        }
        // The last line may have been cut off when the run before was stopped: it is measured again.
        let cells = lines.map_while(Result::ok).filter_map(|l| serde_json::from_str(&l).ok());
        // What was missing may be there now.
        let there = |cell: &Cell| !matches!(cell.data, Data::Missing(_));
        Ok(Record { about: before, cells: cells.filter(there).collect() })
    }

    /// Adds a cell.
    ///
    /// # Errors
    /// [`SuiteError`] if it cannot be written.
    pub fn add(&mut self, cell: Cell) -> Result<(), SuiteError> {
        let line = line(&self.path, &cell)?;
        self.file.write_all(&line).map_err(SuiteError::file(&self.path))?;
        self.record.cells.push(cell);
        Ok(())
    }
}

/// A line of a journal.
fn line(path: &Path, value: &impl Serialize) -> Result<Vec<u8>, SuiteError> {
    let mut line = serde_json::to_vec(value)
        .map_err(|source| SuiteError::Record { file: path.to_path_buf(), source })?;
    line.push(b'\n');
    Ok(line)
}

/// Writes a file under its final name when all of it is there.
///
/// # Errors
/// [`SuiteError`] if it cannot be written.
pub fn write(path: &Path, contents: &[u8]) -> Result<(), SuiteError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(SuiteError::file(folder))?;
    }
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    fs::write(&part, contents).map_err(SuiteError::file(&part))?;
    fs::rename(&part, path).map_err(SuiteError::file(path))
}
