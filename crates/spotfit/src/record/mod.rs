//! What stands beside a table and says how it was made: `cells.hdf5.spotfit.json` beside `cells.hdf5`.
//!
//! A record is JSON: which operation, with which options, of which files (name, size, time and hash of each), with which
//! camera and calibration, as numbers and not as names of files; where (0, 0) is, and how large a pixel. The command and
//! Python write it beside the tables that they make, and go by it: `batch` and `fit_files` know what is finished, and
//! tables are read with the origin that they were written with.
//!
//! A process may be killed at any instant, also between two files that belong together. So the record is there before the
//! first of them, with the state `begun`; then they appear; then the same record says `done`. Each step is one renaming.
//! Whoever finds `begun` knows that what lies beside it was made, or was allowed to be replaced, by a process that did
//! not come to its end.

mod input;
mod method;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;
use spotfit_files::movie::Movie;
use spotfit_files::output::paths::{folder, shown};
use spotfit_files::output::record::{FORMAT, LONGEST};
use spotfit_files::output::{Output, OutputError, refuse_stranger};

pub use input::InputFile;
pub use method::{calibration, camera, camera_of, method, positions, psf};

/// How a table was made.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// What it is, and in which version.
    format: String,
    /// The version of Spotfit.
    pub spotfit: String,
    /// The operation, such as `localize`.
    pub verb: String,
    /// How far it came.
    #[serde(flatten)]
    pub state: State,
    /// Whether the table has all its rows, if it was there before it had: that of a movie that was being written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete: Option<bool>,
    /// The name of the table's file.
    pub output: String,
    /// What it was made of, as it was named: a movie's name in a manifest, for instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The options, by their names.
    #[serde(default)]
    pub options: BTreeMap<String, Value>,
    /// The files that were read.
    #[serde(default)]
    pub inputs: Vec<InputFile>,
    /// The camera, where one matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub camera: Option<Value>,
    /// The numbers of the calibration or PSF, where one was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Value>,
    /// Where (0, 0) is; not known where one table was about to replace another with another origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The side of a pixel in nanometres, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pixel_size: Option<f64>,
    /// What was told of the movie that may make the table other than it should be, such as a sensitivity that its noise contradicts: of
    /// tables of a batch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Where (0, 0) is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// At the centre of the first pixel.
    #[default]
    Centre,
    /// At its corner, as in ThunderSTORM.
    Corner,
}

impl Origin {
    /// The corner, or else the centre.
    pub fn corner(corner: bool) -> Self {
        if corner { Self::Corner } else { Self::Centre }
    }
}

/// How far an operation came.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum State {
    /// The files are about to appear.
    Begun,
    /// They are there.
    Done {
        /// What was counted, such as `frames` and `localizations`.
        counts: BTreeMap<String, u64>,
    },
    /// There is no table.
    Failed {
        /// Why not.
        error: String,
    },
}

/// What the files of a movie are for.
const MOVIE: &str = "movie";

/// The files that a movie is read from, and those that options name, as they are now: the files with its frames, and what stands
/// beside them and describes them.
///
/// # Errors
/// A file cannot be read; it is named.
pub fn inputs(
    movie: &Path,
    frames: &[PathBuf],
    options: &[(&str, PathBuf)],
) -> Result<Vec<InputFile>, RecordError> {
    let mut files: Vec<(&str, PathBuf)> = frames.iter().map(|file| (MOVIE, file.clone())).collect();
    if files.is_empty() {
        files.push((MOVIE, movie.to_owned()));
    }
    for (ending, beside) in [("raw", "yaml"), ("dax", "inf")] {
        let has = movie.extension().is_some_and(|own| own.eq_ignore_ascii_case(ending));
        let beside = movie.with_extension(beside);
        if has && beside.is_file() {
            files.push((MOVIE, beside));
        }
    }
    let mut inputs = files.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    inputs.extend(named_inputs(options)?);
    Ok(inputs)
}

/// The files that options name, as they are now.
///
/// # Errors
/// A file cannot be read; it is named.
pub fn named_inputs(options: &[(&str, PathBuf)]) -> Result<Vec<InputFile>, RecordError> {
    // Of the files that a folder of maps may have, those that it has.
    options.iter().filter(|(_, file)| file.exists()).map(read).collect()
}

fn read((role, file): &(&str, PathBuf)) -> Result<InputFile, RecordError> {
    InputFile::new(role, file).map_err(|error| wrong(file, error.to_string()))
}

/// A file is no record, or cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {reason}")]
pub struct RecordError {
    /// Its name, without its folder.
    pub name: String,
    /// What is wrong with it.
    pub reason: String,
}

impl Record {
    /// A record of an operation that makes a table of this name, with the state `begun`.
    pub fn new(verb: &str, output: &Path) -> Self {
        Self {
            format: FORMAT.to_owned(),
            spotfit: env!("CARGO_PKG_VERSION").to_owned(),
            verb: verb.to_owned(),
            state: State::Begun,
            complete: None,
            output: shown(output.file_name().unwrap_or_default()),
            source: None,
            options: BTreeMap::new(),
            inputs: Vec::new(),
            camera: None,
            calibration: None,
            origin: None,
            pixel_size: None,
            warnings: Vec::new(),
        }
    }

    /// Where the record of a table is.
    pub fn path(table: &Path) -> PathBuf {
        spotfit_files::output::record::path(table)
    }

    /// Whether a file is a record, so that it may be replaced by another.
    pub fn is_ours(file: &Path) -> bool {
        matches!(Self::read(file), Ok(Some(_)))
    }

    /// Reads a record; nothing if there is no file.
    ///
    /// # Errors
    /// [`RecordError`] for any other file, and for something other than a file.
    pub fn read(file: &Path) -> Result<Option<Self>, RecordError> {
        let Some(json) = read_json(file)? else { return Ok(None) };
        let record: Result<Self, _> = serde_json::from_value(json);
        match record {
            Ok(record) if record.format == FORMAT => Ok(Some(record)),
            Ok(record) => Err(no_record(file, &format!("its format is '{}'", record.format))),
            Err(error) => Err(no_record(file, &error.to_string())),
        }
    }

    /// The record that stands beside a table; nothing if there is none, or a file of somebody else. Both may have been renamed
    /// together.
    pub fn beside(table: &Path) -> Option<Self> {
        Self::read(&Self::path(table)).ok().flatten()
    }

    /// Where (0, 0) is in a table, by its record; the centre if it has none. Nothing if a process was killed while it
    /// replaced a table by one with another origin.
    pub fn origin_of(table: &Path) -> Option<Origin> {
        Self::beside(table).map_or(Some(Origin::Centre), |record| record.known_origin())
    }

    /// The side of a pixel in nanometres of a table that is whole, by its record.
    pub fn pixel_size_of(table: &Path) -> Option<f64> {
        let record = Self::beside(table)?;
        record.pixel_size.filter(|_| matches!(record.state, State::Done { .. }))
    }

    /// The frames of the whole movie of a table of localizations, by its record.
    pub fn frames_of(table: &Path) -> Option<usize> {
        let record = Self::beside(table)?;
        let is_whole = record.options.get("frames").is_some_and(Value::is_null);
        let State::Done { counts } = &record.state else { return None };
        counts.get("frames").filter(|_| is_whole).map(|&frames| frames as usize)
    }

    /// Nothing if it may be either.
    fn known_origin(&self) -> Option<Origin> {
        match (self.origin, &self.state) {
            (None, State::Begun) => None,
            (origin, _) => Some(origin.unwrap_or_default()),
        }
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        // Maps with text as keys, numbers and texts are always JSON.
        serde_json::to_string_pretty(self).map(|text| text + "\n").unwrap_or_default()
    }

    /// The same before its table is there. `old` is what is beside the table that it replaces.
    #[must_use]
    pub fn begun(&self, old: Option<&Self>, replaces: bool) -> Self {
        let mut begun = Self { state: State::Begun, ..self.clone() };
        let was = old.map_or(Some(Origin::Centre), Self::known_origin);
        if replaces && was != Some(self.origin.unwrap_or_default()) {
            begun.origin = None;
        }
        begun
    }

    /// The files of this record as they are now, without hashes: those of the movie where they were, those that it has got since,
    /// and the files of options that a new run would name, as far as they are there.
    pub fn inputs_now(&self, movie: &Path, options: &[(&str, PathBuf)]) -> Vec<InputFile> {
        let beside = if movie.is_dir() { movie } else { folder(movie) };
        let own = self.inputs.iter().filter(|file| file.role == MOVIE);
        let own: Vec<&str> = own.map(|file| file.name.as_str()).collect();
        // Where the movie cannot be found, its files are not there either, and that is told.
        let new = Movie::new_files(movie, &own).unwrap_or_default();
        let names = own.into_iter().chain(new.iter().map(String::as_str));
        let files = names.map(|name| (MOVIE, named(beside, name)));
        let all = files.chain(options.iter().cloned());
        all.filter_map(|(role, file)| InputFile::stamp(role, &file).ok()).collect()
    }

    /// This record beside a table, about to be there.
    pub(crate) fn file(&self, table: &Path) -> Result<Output, OutputError> {
        let path = Self::path(table);
        let mut output = Output::create(&path)?;
        let written = output.write_all(self.text().as_bytes());
        written
            .map_err(|source| OutputError::Write { file: path.display().to_string(), source })?;
        Ok(output)
    }

    /// Refuses to replace what somebody else has put in the place of a table's record.
    ///
    /// # Errors
    /// [`OutputError`].
    pub fn refuse_stranger(table: &Path, overwrite: bool) -> Result<(), OutputError> {
        refuse_stranger(&Self::path(table), Self::is_ours, overwrite)
    }

    /// The files of this record that appear before and after those of its table. The first says `begun` and the last says `done`: whoever is
    /// killed between them leaves no table that is taken for what it is not.
    ///
    /// # Errors
    /// [`OutputError`].
    pub fn around(
        self,
        table: &Path,
        overwrite: bool,
        counts: BTreeMap<String, u64>,
    ) -> Result<[Output; 2], OutputError> {
        Self::refuse_stranger(table, overwrite)?;
        let begun = self.begun(Self::beside(table).as_ref(), table.exists());
        let done = Self { state: State::Done { counts }, ..self };
        Ok([begun.file(table)?, done.file(table)?])
    }

    /// A count of an operation that is done.
    pub fn count(&self, name: &str) -> Option<u64> {
        match &self.state {
            State::Done { counts } => counts.get(name).copied(),
            _ => None,
        }
    }

    /// In words, in what the table of this record was made unlike one that is made now; nothing if it is the same.
    /// Versions do not matter, nor does how a source was named. Names of options stand in backticks.
    pub fn unlike(&self, now: &Self) -> Option<String> {
        if self.output != now.output {
            return Some(format!("made as {} then, {} now", self.output, now.output));
        }
        let said = |options: &BTreeMap<String, Value>, name: &String| match options.get(name) {
            None | Some(Value::Null) => "not given".to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        };
        let names: BTreeSet<&String> = self.options.keys().chain(now.options.keys()).collect();
        let differences: Vec<String> = names
            .into_iter()
            .map(|name| (name, said(&self.options, name), said(&now.options, name)))
            .filter(|(_, then, now)| then != now)
            .map(|(name, then, now)| format!("`{name}` {then} then, {now} now"))
            .collect();
        if !differences.is_empty() {
            return Some(format!("made with other options ({})", differences.join("; ")));
        }
        let has = |files: &[InputFile], file: &InputFile| files.iter().any(|own| own.is_as(file));
        let changed = self.inputs.iter().find(|file| !has(&now.inputs, file));
        let changed = changed.or_else(|| now.inputs.iter().find(|file| !has(&self.inputs, file)));
        let is_new = |name: &String| self.inputs.iter().all(|file| file.name != *name);
        changed.map(|file| match (file.role.as_str(), &file.name) {
            (MOVIE, name) if is_new(name) => format!("made before {name} was there"),
            (MOVIE, name) => format!("made before {name} was changed"),
            (option, name) => format!("made before `{option}` {name} was changed"),
        })
    }
}

/// The file of a folder that a record calls so.
fn named(folder: &Path, name: &str) -> PathBuf {
    let plain = folder.join(name);
    // A name that is no UTF-8 is written with escapes.
    if !name.contains("\\x") || plain.exists() {
        return plain;
    }
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let found = files.map(|file| file.file_name()).find(|file| shown(file) == name);
    found.map_or(plain, |found| folder.join(found))
}

fn wrong(file: &Path, reason: String) -> RecordError {
    let name = shown(file.file_name().unwrap_or_default());
    RecordError { name, reason }
}

fn no_record(file: &Path, reason: &str) -> RecordError {
    wrong(file, format!("it is no record of Spotfit ({reason})"))
}

/// The JSON in a file; nothing if there is no file.
fn read_json(file: &Path) -> Result<Option<Value>, RecordError> {
    // Opening a pipe would wait for its other end.
    if fs::metadata(file).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(no_record(file, "it is no file"));
    }
    let opened = match fs::File::open(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|error| no_record(file, &error.to_string()))?,
    };
    let mut text = Vec::new();
    let read = opened.take(LONGEST).read_to_end(&mut text);
    read.map_err(|error| no_record(file, &error.to_string()))?;
    serde_json::from_slice(&text).map(Some).map_err(|error| no_record(file, &error.to_string()))
}
