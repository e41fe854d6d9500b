//! What a manifest asks for: the movies, their outputs and options, and what is wrong with them before any is begun.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::manifest::{Line, Wrong};
use super::words::{Known, Typed};
use super::{BatchArguments, TableChoice};
use crate::error::{CliError, words_of};
use crate::words::localize::LocalizeWords;
use crate::words::locs::written;
use serde_json::Value;
use spotfit::output::paths::{folder, resolve};
use spotfit::record::{self, Record, RecordError, State};
use spotfit::table::PicassoVersion;

/// The ends of names that only outputs have.
const ENDS: [&str; 4] = [".hdf5", ".csv", ".yaml", ".json"];

/// The option that says which Picasso tables are for.
const PICASSO: &str = "picasso";

/// A movie to localize.
#[derive(Debug)]
pub(super) struct Task {
    /// As the manifest has it.
    pub(super) movie: String,
    pub(super) path: PathBuf,
    /// The table.
    pub(super) output: PathBuf,
    pub(super) record: PathBuf,
    /// That of version 0.1.
    old: PathBuf,
    pub(super) words: Arc<LocalizeWords>,
    /// What the outcome depends on.
    method: Arc<BTreeMap<String, Value>>,
    /// The words as they were typed, by which old records go.
    typed: BTreeMap<String, Value>,
}

/// Where a movie stands before anything is done.
pub(super) enum Standing {
    /// All of it is there.
    Finished(BTreeMap<String, u64>),
    ToFit,
    /// Something is there that must not be replaced.
    Refused(String),
}

impl Task {
    /// The name of the table's file.
    pub(super) fn file(&self) -> String {
        self.output.file_name().unwrap_or_default().display().to_string()
    }

    /// All files that it is to have.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let mut files = written(&self.output);
        files.push(self.record.clone());
        files
    }

    /// A record of this movie as it is now.
    pub(super) fn now(&self) -> Record {
        let mut record = Record::new("localize", &self.output);
        record.source = Some(self.movie.clone());
        record.options = (*self.method).clone();
        record
    }

    /// Whether any file of the table is there.
    pub(super) fn has_output(&self) -> bool {
        written(&self.output).iter().any(|file| file.symlink_metadata().is_ok())
    }

    /// Whether a process that did not come to its end was about to replace what is there.
    pub(super) fn may_replace(&self) -> bool {
        matches!(self.found(), Ok(Some((Record { state: State::Begun, .. }, _))))
    }

    /// The record that is there, and whether it is one of 0.1.
    fn found(&self) -> Result<Option<(Record, bool)>, RecordError> {
        match Record::read(&self.record)? {
            Some(record) => Ok(Some((record, false))),
            None => Ok(record::old_batch(&self.old)?.map(|record| (record, true))),
        }
    }

    /// A movie that was localized again has a new record, and no old one.
    pub(super) fn forget_old(&self) {
        if matches!(record::old_batch(&self.old), Ok(Some(_))) {
            // It would tell nobody anything wrong: the new one is looked for first.
            let _ = fs::remove_file(&self.old);
        }
    }

    /// Finds out what is there.
    pub(super) fn standing(&self) -> Standing {
        let (record, old) = match self.found() {
            Err(error) => return Standing::Refused(format!("{error}: --overwrite replaces it")),
            Ok(Some(found)) => found,
            Ok(None) => return self.without_record(),
        };
        match &record.state {
            State::Begun => Standing::ToFit,
            State::Failed { .. } => self.without_record(),
            State::Done { counts } => self.of_done(&record, counts, old),
        }
    }

    fn without_record(&self) -> Standing {
        if !self.has_output() {
            return Standing::ToFit;
        }
        let file = self.file();
        let reason = "is there, or the file beside it, and no record says how it was made";
        Standing::Refused(format!("{file} {reason}: --overwrite replaces it"))
    }

    /// Compares with the record of a movie that was localized.
    fn of_done(&self, record: &Record, counts: &BTreeMap<String, u64>, old: bool) -> Standing {
        let mut now = self.now();
        now.inputs = record.inputs_now(&self.path, &self.words.files());
        if old {
            now.options = self.typed.clone();
            // It is no word of `localize`, and 0.1 had none.
            let picasso = self.method.get_key_value(PICASSO);
            now.options.extend(picasso.map(|(name, value)| (name.clone(), value.clone())));
        }
        let reason = match record.unlike(&now) {
            Some(reason) => Some(words_of(&reason)),
            None if record.source.is_some() && record.source != now.source => {
                let [then, now] =
                    [&record.source, &now.source].map(|name| name.clone().unwrap_or_default());
                Some(format!("made from another movie ({then} then, {now} now)"))
            }
            None => None,
        };
        let other = self.output.with_file_name(&record.output);
        match reason {
            Some(_) if !self.has_output() && !other.exists() => Standing::ToFit,
            Some(reason) => Standing::Refused(format!("{reason}: --overwrite fits it again")),
            None if written(&self.output).iter().all(|file| file.exists()) => {
                Standing::Finished(counts.clone())
            }
            // Somebody has removed a part of it.
            None => Standing::ToFit,
        }
    }
}

/// Makes tasks of the lines of a manifest, unless anything is wrong with any.
pub(super) fn tasks(
    lines: &[Line],
    arguments: &BatchArguments,
    summary: &Path,
) -> Result<Vec<Task>, CliError> {
    let mut wrong = Wrong::with(&arguments.manifest);
    let mut plan = Plan {
        arguments,
        summary,
        known: Known::new(),
        meanings: HashMap::new(),
        names: HashMap::new(),
    };
    let mut tasks = Vec::new();
    for line in lines {
        match plan.task(line) {
            Ok(task) => tasks.push((line.number, task)),
            Err(Reason::Line(reason)) => wrong.line(line.number, &reason),
            Err(Reason::Typed(reason)) => wrong.typed(reason),
            Err(Reason::Told) => {}
        }
    }
    let inputs = inputs(&tasks, &arguments.manifest);
    let replaced = |file: &Path| inputs.get(&resolve(file).ok()?);
    if let Some(input) = replaced(summary) {
        let file = summary.display();
        wrong.typed(format!("the summary {file} would replace {input}; choose another --out"));
    }
    for (number, task) in &tasks {
        for file in task.files() {
            let Some(input) = replaced(&file) else { continue };
            let file = file.display();
            let reason = format!(
                "the output {file} would replace {input}; choose another --out, or another name in a column 'output'"
            );
            wrong.line(*number, &reason);
        }
    }
    wrong.tell()?;
    Ok(tasks.into_iter().map(|(_, task)| task).collect())
}

/// What is wrong, and with what.
enum Reason {
    Line(String),
    /// With the words of the command line.
    Typed(String),
    /// It was said of another line.
    Told,
}

/// Words as they are meant, and what the outcome depends on of them.
type Meaning = (Arc<LocalizeWords>, Arc<BTreeMap<String, Value>>);

/// The lines so far.
struct Plan<'a> {
    arguments: &'a BatchArguments,
    summary: &'a Path,
    known: Known,
    /// What words mean together; nothing if they are wrong.
    meanings: HashMap<Vec<OsString>, Option<Meaning>>,
    /// The names of outputs, in small letters, and their lines.
    names: HashMap<String, usize>,
}

impl Plan<'_> {
    fn task(&mut self, line: &Line) -> Result<Task, Reason> {
        let BatchArguments { manifest, out, format, picasso, typed, .. } = self.arguments;
        let beside = if manifest == Path::new("-") { Path::new("") } else { folder(manifest) };
        let beside = if beside == Path::new(".") { Path::new("") } else { beside };
        let path = beside.join(&line.movie);
        let name = self.name(line, &path).map_err(Reason::Line)?;
        let ending = match format {
            TableChoice::Hdf5 => "hdf5",
            TableChoice::Csv => "csv",
        };
        let output = out.join(format!("{name}.{ending}"));
        if output == self.summary {
            let file = self.summary.display();
            let reason = format!("{file} is the summary; a column 'output' gives another name");
            return Err(Reason::Line(reason));
        }
        let words = typed.with(&self.known, &line.cells, beside).map_err(Reason::Line)?;
        let key = words.words(&self.known);
        let typed = words.that_matter();
        let (words, mut method) = match self.meanings.get(&key) {
            Some(found) => found.clone().ok_or(Reason::Told)?,
            None => {
                let found = self.meaning(&words, &output);
                self.meanings.insert(key, found.as_ref().ok().cloned());
                let own = line.cells.iter().any(|(_, cell)| !cell.is_empty());
                found.map_err(
                    |reason| {
                        if own { Reason::Line(reason) } else { Reason::Typed(reason) }
                    },
                )?
            }
        };
        if *picasso != PicassoVersion::default() && matches!(format, TableChoice::Hdf5) {
            let picasso = Value::from(picasso.to_string());
            Arc::make_mut(&mut method).insert(PICASSO.to_owned(), picasso);
        }
        let (record, old) = (Record::path(&output), out.join(format!("{name}.batch.json")));
        Ok(Task { movie: line.movie.clone(), path, output, record, old, words, method, typed })
    }

    /// What words mean, if nothing is wrong with them.
    fn meaning(&self, words: &Typed, output: &Path) -> Result<Meaning, String> {
        let mut words = words.parse(&self.known)?;
        let method = words.check(output).map_err(|error| error.to_string())?;
        words.shared_by(self.arguments.jobs.into());
        Ok((Arc::new(words), Arc::new(method)))
    }

    /// The name of an output, which no other has.
    fn name(&mut self, line: &Line, path: &Path) -> Result<String, String> {
        let name = match &line.output {
            Some(name) => name.clone(),
            None => name_of(path).ok_or_else(|| {
                format!("'{}' has no name; a column 'output' gives it one", line.movie)
            })?,
        };
        let mut components = Path::new(&name).components();
        let first = components.next();
        let plain = matches!(first, Some(Component::Normal(own)) if own == name.as_str());
        if !plain || components.next().is_some() || name.contains('\0') {
            return Err(format!("the output '{name}' is no name of a file within --out"));
        }
        let small = name.to_lowercase();
        if line.output.is_some() && ENDS.iter().any(|end| small.ends_with(end)) {
            return Err(format!("the output '{name}' is to be a name without its ending"));
        }
        // Some file systems do not tell large letters from small ones.
        match self.names.entry(small) {
            Entry::Vacant(free) => free.insert(line.number),
            Entry::Occupied(other) => {
                let other = other.get();
                return Err(format!(
                    "its output has the name '{name}', like that of line {other}; a column 'output' gives them names"
                ));
            }
        };
        Ok(name)
    }
}

/// The name of a movie: that of its folder, or that of its file without `.tif`, `.ome.tif` and the like.
fn name_of(path: &Path) -> Option<String> {
    if path.is_dir() {
        return Some(path.file_name()?.to_str()?.to_owned());
    }
    let name = path.file_stem()?.to_str()?;
    let split = name.len().checked_sub(4).and_then(|at| name.split_at_checked(at));
    let name = match split {
        Some((start, end)) if !start.is_empty() && end.eq_ignore_ascii_case(".ome") => start,
        _ => name,
    };
    Some(name.to_owned())
}

/// The files that are read, which no output may replace, and what they are.
fn inputs(tasks: &[(usize, Task)], manifest: &Path) -> HashMap<PathBuf, String> {
    let mut inputs = HashMap::new();
    let mut add = |path: &Path, what: String| {
        if let Ok(path) = resolve(path)
            && fs::metadata(&path).map_or(true, |metadata| metadata.is_file())
        {
            inputs.entry(path).or_insert(what);
        }
    };
    if manifest != Path::new("-") {
        add(manifest, "the manifest".to_owned());
    }
    for (number, task) in tasks {
        add(&task.path, format!("the movie of line {number}"));
        for ending in ["yaml", "inf"] {
            let file = task.path.with_extension(ending);
            add(&file, format!("what stands beside the movie of line {number}"));
        }
        for (option, file) in task.words.files() {
            add(&file, format!("the file of --{option} of line {number}"));
        }
    }
    inputs
}
