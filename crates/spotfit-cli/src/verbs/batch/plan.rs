//! The lines of a manifest become tasks, unless anything is wrong with any.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::manifest::{Line, Wrong};
use super::words::{Known, Typed};
use crate::error::{CliError, words_of};
use spotfit::output::paths::folder;
use spotfit::steps::batch::{BatchOptions, Method, Planner, Task};

/// What is wrong, and with what.
enum Reason {
    Line(String),
    /// With the words of the command line.
    Typed(String),
    /// It was said of another line.
    Told,
}

/// The lines so far.
struct Lines<'a> {
    options: &'a BatchOptions,
    planner: Planner<'a>,
    typed: &'a Typed,
    /// The preset that some of the words are of.
    preset: Option<PathBuf>,
    /// The folder of the manifest.
    beside: &'a Path,
    known: Known,
    /// What words mean together; nothing if they are wrong.
    meanings: HashMap<Vec<OsString>, Option<Arc<Method>>>,
}

/// Makes tasks of the lines of a manifest, unless anything is wrong with any.
pub(super) fn tasks(
    manifest: &Path,
    lines: &[Line],
    (typed, preset): (&Typed, Option<PathBuf>),
    options: &BatchOptions,
) -> Result<Vec<Task>, CliError> {
    let standard = manifest == Path::new("-");
    let beside = if standard { Path::new("") } else { folder(manifest) };
    let mut wrong = Wrong::with(manifest);
    let mut all = Lines {
        options,
        planner: Planner::new(options),
        typed,
        preset,
        beside: if beside == Path::new(".") { Path::new("") } else { beside },
        known: Known::new(),
        meanings: HashMap::new(),
    };
    let mut tasks = Vec::new();
    for line in lines {
        match all.task(line) {
            Ok(task) => tasks.push((line.number, task)),
            Err(Reason::Line(reason)) => wrong.line(line.number, &reason),
            Err(Reason::Typed(reason)) => wrong.typed(reason),
            Err(Reason::Told) => {}
        }
    }
    let manifest = (!standard).then(|| (manifest.to_owned(), "the manifest".to_owned()));
    for found in all.planner.replaced(&tasks, manifest) {
        let reason = words_of(&found.reason);
        match found.task {
            Some(number) => wrong.line(number, &reason),
            None => wrong.typed(reason),
        }
    }
    wrong.tell()?;
    Ok(tasks.into_iter().map(|(_, task)| task).collect())
}

/// What the words of the command line mean for all movies.
pub(super) fn method(
    typed: &Typed,
    preset: Option<PathBuf>,
    options: &BatchOptions,
) -> Result<Arc<Method>, CliError> {
    meaning(typed, &Known::new(), preset, options).map_err(CliError::Other)
}

/// What words mean, if nothing is wrong with them.
fn meaning(
    words: &Typed,
    known: &Known,
    preset: Option<PathBuf>,
    options: &BatchOptions,
) -> Result<Arc<Method>, String> {
    let words = words.parse(known)?;
    let made = words.movie().and_then(|movie| {
        let asked = words.options()?.with_preset(preset);
        Ok(Method::new(&asked, &movie, options).map(Arc::new)?)
    });
    made.map_err(|error: CliError| error.to_string())
}

impl Lines<'_> {
    fn task(&mut self, line: &Line) -> Result<Task, Reason> {
        let path = self.beside.join(&line.movie);
        let output = self.planner.output(line.number, &path, line.output.as_deref());
        let output = output.map_err(|reason| Reason::Line(words_of(&reason)))?;
        let words = self.typed.with(&self.known, &line.cells, self.beside);
        let words = words.map_err(Reason::Line)?;
        let key = words.words(&self.known);
        let method = match self.meanings.get(&key) {
            Some(found) => found.clone().ok_or(Reason::Told)?,
            None => {
                let found = meaning(&words, &self.known, self.preset.clone(), self.options);
                self.meanings.insert(key, found.as_ref().ok().cloned());
                let own = line.cells.iter().any(|(_, cell)| !cell.is_empty());
                found.map_err(
                    |reason| {
                        if own { Reason::Line(reason) } else { Reason::Typed(reason) }
                    },
                )?
            }
        };
        Ok(Task::new(&line.movie, path, output, method))
    }
}
