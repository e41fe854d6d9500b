//! What stands beside the output of a movie and says how it was made.
//!
//! A process may be killed at any instant, also between two files that belong together. So the record is there before the
//! first of them, with the state `begun`; then they appear; then the same record says `done`. Each step is one renaming.
//! Whoever finds `begun` knows that whatever lies beside it was made, or was allowed to be replaced, by a process that did
//! not come to its end, and fits the movie again. Outputs without a record, or beside one that says `failed`, are somebody
//! else's.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde_json::{Map, Value, json};

use crate::error::CliError;
use crate::words::output::Output;
use spotfit::localize::Counts;

/// The longest record, in bytes.
const LONGEST: u64 = 1 << 24;

/// How a movie was localized.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Record {
    /// As the manifest has it.
    pub(super) movie: String,
    /// The name of the table's file.
    pub(super) output: String,
    /// The words that matter, as they were typed.
    pub(super) options: BTreeMap<String, String>,
    /// The movie's files, and those that the options name.
    pub(super) files: Vec<Stamp>,
    pub(super) state: State,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum State {
    /// The outputs are about to appear.
    Begun,
    Done(Tally),
    Failed(String),
}

/// The counts of a movie.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Tally {
    pub(super) frames: usize,
    pub(super) candidates: usize,
    pub(super) fits: usize,
    pub(super) converged: usize,
    /// Rows of the table.
    pub(super) localizations: usize,
}

/// A file as it was.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stamp {
    /// Without its folder if it is one of the movie's, otherwise after the option that names it.
    name: String,
    bytes: u64,
    /// Seconds since 1970.
    modified: String,
}

impl Tally {
    pub(super) fn of(counts: &Counts, localizations: usize) -> Self {
        Self {
            frames: counts.frames,
            candidates: counts.candidates,
            fits: counts.by_status.total(),
            converged: counts.by_status.converged() + counts.at_end,
            localizations,
        }
    }

    /// The counts by their names, as records and summaries have them.
    pub(super) fn named(&self) -> [(&'static str, usize); 5] {
        [
            ("frames", self.frames),
            ("candidates", self.candidates),
            ("fits", self.fits),
            ("converged", self.converged),
            ("localizations", self.localizations),
        ]
    }
}

impl Stamp {
    pub(super) fn of(name: String, path: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        let modified = match metadata.modified()?.duration_since(UNIX_EPOCH) {
            Ok(since) => format!("{}.{:09}", since.as_secs(), since.subsec_nanos()),
            Err(error) => format!("-{}", error.duration().as_secs_f64()),
        };
        Ok(Self { name, bytes: metadata.len(), modified })
    }

    /// The stamps of a movie's files, by their names within its folder. The file that describes a movie without a header
    /// belongs to it.
    pub(super) fn movie(path: &Path, files: &[PathBuf]) -> io::Result<Vec<Self>> {
        let described = match path.extension().and_then(|extension| extension.to_str()) {
            Some(raw) if raw.eq_ignore_ascii_case("raw") => Some(path.with_extension("yaml")),
            Some(dax) if dax.eq_ignore_ascii_case("dax") => Some(path.with_extension("inf")),
            _ => None,
        };
        let all = files.iter().chain(&described);
        let name = |file: &Path| file.file_name().unwrap_or_default().display().to_string();
        all.map(|file| Self::of(name(file), file)).collect()
    }

    /// The stamps of the files that options name.
    pub(super) fn options(files: &[(&'static str, PathBuf)]) -> Vec<Self> {
        let name = |option: &str, file: &Path| {
            format!("{option} {}", file.file_name().unwrap_or_default().display())
        };
        // Of the files that a folder may have, those that it has.
        files.iter().filter_map(|(option, file)| Self::of(name(option, file), file).ok()).collect()
    }
}

impl Record {
    /// Writes the record; the file is to be completed.
    pub(super) fn output(&self, path: &Path) -> Result<Output, CliError> {
        let mut output = Output::create(path)?;
        let text = format!("{:#}\n", self.json());
        output.write_all(text.as_bytes())?;
        Ok(output)
    }

    fn json(&self) -> Value {
        let file = |stamp: &Stamp| json!({ "name": stamp.name, "bytes": stamp.bytes, "modified": stamp.modified });
        let mut all = Map::new();
        all.insert("movie".to_owned(), json!(self.movie));
        all.insert("output".to_owned(), json!(self.output));
        all.insert("options".to_owned(), json!(self.options));
        all.insert("files".to_owned(), self.files.iter().map(file).collect());
        all.insert("spotfit".to_owned(), json!(env!("CARGO_PKG_VERSION")));
        let state = match &self.state {
            State::Begun => "begun",
            State::Failed(error) => {
                all.insert("error".to_owned(), json!(error));
                "failed"
            }
            State::Done(tally) => {
                let counts = tally.named().into_iter();
                all.extend(counts.map(|(name, count)| (name.to_owned(), json!(count))));
                "done"
            }
        };
        all.insert("state".to_owned(), json!(state));
        Value::Object(all)
    }

    fn of_json(json: &Value) -> Option<Self> {
        let text = |json: &Value, name: &str| Some(json.get(name)?.as_str()?.to_owned());
        let count = |name: &str| usize::try_from(json.get(name)?.as_u64()?).ok();
        let state = match text(json, "state")?.as_str() {
            "begun" => State::Begun,
            "failed" => State::Failed(text(json, "error")?),
            "done" => State::Done(Tally {
                frames: count("frames")?,
                candidates: count("candidates")?,
                fits: count("fits")?,
                converged: count("converged")?,
                localizations: count("localizations")?,
            }),
            _ => return None,
        };
        let stamp = |json: &Value| {
            let (name, modified) = (text(json, "name")?, text(json, "modified")?);
            Some(Stamp { name, bytes: json.get("bytes")?.as_u64()?, modified })
        };
        let options = json.get("options")?.as_object()?.iter();
        let options = options.map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
        Some(Self {
            movie: text(json, "movie")?,
            output: text(json, "output")?,
            options: options.collect::<Option<_>>()?,
            files: json.get("files")?.as_array()?.iter().map(stamp).collect::<Option<_>>()?,
            state,
        })
    }

    /// Reads a record; `None` if there is none.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, String> {
        let wrong = |reason: String| {
            let name = path.file_name().unwrap_or_default().display();
            format!("{name} is no record of spotfit batch ({reason}): --overwrite replaces it")
        };
        // Opening a pipe would wait for its other end.
        let kind = fs::metadata(path).map(|metadata| metadata.is_file());
        if matches!(kind, Ok(false)) {
            let name = path.file_name().unwrap_or_default().display();
            return Err(format!("{name} is no file, and a record is to be there; move it"));
        }
        let file = match fs::File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(|error| wrong(error.to_string()))?,
        };
        let mut text = Vec::new();
        let read = file.take(LONGEST).read_to_end(&mut text);
        read.map_err(|error| wrong(error.to_string()))?;
        let json = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
        let record = Self::of_json(&json);
        record.map(Some).ok_or_else(|| wrong("something is missing in it".to_owned()))
    }

    /// In what this record, of a movie that was localized, is unlike one of the same movie now.
    pub(super) fn unlike(&self, now: &Self) -> Option<String> {
        if self.movie != now.movie {
            return Some(format!(
                "made from another movie ({} then, {} now)",
                self.movie, now.movie
            ));
        }
        if self.output != now.output {
            return Some(format!("made as {} then, {} now", self.output, now.output));
        }
        let said = |options: &BTreeMap<String, String>, name: &String| {
            options.get(name).map_or("not given".to_owned(), Clone::clone)
        };
        let names: BTreeSet<&String> = self.options.keys().chain(now.options.keys()).collect();
        let unlike =
            names.into_iter().filter(|&name| self.options.get(name) != now.options.get(name));
        let differences: Vec<String> = unlike
            .map(|name| {
                let (then, now) = (said(&self.options, name), said(&now.options, name));
                format!("{name} {then} then, {now} now")
            })
            .collect();
        if !differences.is_empty() {
            return Some(format!("made with other options ({})", differences.join("; ")));
        }
        if self.files == now.files {
            return None;
        }
        let changed = self.files.iter().find(|file| !now.files.contains(file));
        let changed = changed.or_else(|| now.files.iter().find(|file| !self.files.contains(file)));
        let name = changed.map_or(self.movie.as_str(), |file| file.name.as_str());
        Some(format!("made before {name} was changed"))
    }

    /// The files of the movie that are now where those of this record were.
    pub(super) fn movie_files(&self, movie: &Path) -> Vec<Stamp> {
        let folder = if movie.is_dir() { movie } else { spotfit::output::paths::folder(movie) };
        // Those of options have a name with two words.
        let own = self.files.iter().filter(|file| !file.name.starts_with("--"));
        own.filter_map(|file| Stamp::of(file.name.clone(), &folder.join(&file.name)).ok()).collect()
    }
}
