//! What is wrong with the tasks of a batch before any is begun.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use super::options::BatchOptions;
use super::task::Task;
use crate::movie::NDTIFF_INDEX;
use crate::output::paths::{Identity, shown};
use crate::table::TableFormat;

/// The ends of names that only outputs have.
const ENDS: [&str; 4] = [".hdf5", ".csv", ".yaml", ".json"];

/// What is wrong with a task, or with the batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The number of the task, as it was given.
    pub task: Option<usize>,
    /// Why. Names of options stand in backticks.
    pub reason: String,
}

/// Gives tasks their outputs, each another one.
#[derive(Debug)]
pub struct Planner<'a> {
    options: &'a BatchOptions,
    summary: PathBuf,
    /// The names of outputs, in small letters, and their tasks.
    names: HashMap<OsString, usize>,
}

impl<'a> Planner<'a> {
    /// Begins without any task.
    pub fn new(options: &'a BatchOptions) -> Self {
        Self { options, summary: options.summary(), names: HashMap::new() }
    }

    /// The table of a movie: of this name without its ending, or otherwise of that of the movie. The number of the task
    /// stands for it in the texts of others, as that of a line.
    ///
    /// # Errors
    /// Why it can have none.
    pub fn output(
        &mut self,
        number: usize,
        movie: &Path,
        name: Option<&str>,
    ) -> Result<PathBuf, String> {
        let name = self.name(number, movie, name)?;
        let output = self.file(&name);
        if output == self.summary {
            let file = self.summary.display();
            return Err(format!("{file} is the summary; a column 'output' gives another name"));
        }
        Ok(output)
    }

    /// The table that a movie has by its name alone, if it has a name.
    pub(super) fn usual(&self, movie: &Path) -> Option<PathBuf> {
        Some(self.file(&name_of(movie)?))
    }

    /// The table of this name.
    fn file(&self, name: &OsStr) -> PathBuf {
        let ending = match self.options.format {
            TableFormat::Picasso => ".hdf5",
            _ => ".csv",
        };
        let mut file = name.to_owned();
        file.push(ending);
        self.options.out.join(file)
    }

    /// The name of an output, which no other has.
    fn name(
        &mut self,
        number: usize,
        movie: &Path,
        given: Option<&str>,
    ) -> Result<OsString, String> {
        let name = match given {
            Some(name) => name.into(),
            None => name_of(movie).ok_or_else(|| {
                format!("'{}' has no name; a column 'output' gives it one", movie.display())
            })?,
        };
        let mut components = Path::new(&name).components();
        let first = components.next();
        let plain = matches!(first, Some(Component::Normal(own)) if own == name);
        let text = shown(&name);
        if !plain || components.next().is_some() || text.contains('\0') {
            return Err(format!("the output '{text}' is no name of a file within `out`"));
        }
        let small = name.to_str().map_or_else(|| name.clone(), |name| name.to_lowercase().into());
        let ends = |end: &&str| small.as_encoded_bytes().ends_with(end.as_bytes());
        if given.is_some() && ENDS.iter().any(ends) {
            return Err(format!("the output '{text}' is to be a name without its ending"));
        }
        // Some file systems do not tell large letters from small ones.
        match self.names.entry(small) {
            Entry::Vacant(free) => free.insert(number),
            Entry::Occupied(other) => {
                let other = other.get();
                return Err(format!(
                    "its output has the name '{text}', like that of line {other}; a column 'output' gives them names"
                ));
            }
        };
        Ok(name)
    }

    /// What the tasks, each with its number, would replace of what is read: by any of them, and `others` with what they are.
    pub fn replaced<'t>(
        &self,
        tasks: impl IntoIterator<Item = &'t (usize, Task)> + Clone,
        others: impl IntoIterator<Item = (PathBuf, String)>,
    ) -> Vec<Wrong> {
        let inputs = inputs(tasks.clone(), others);
        let replaced = |file: &Path| inputs.get(&Identity::of(file)?);
        let mut wrong = Vec::new();
        if let Some(input) = replaced(&self.summary) {
            let file = self.summary.display();
            let reason = format!("the summary {file} would replace {input}; choose another `out`");
            wrong.push(Wrong { task: None, reason });
        }
        for (number, task) in tasks {
            for file in task.files() {
                let Some(input) = replaced(&file) else { continue };
                let file = file.display();
                let reason = format!(
                    "the output {file} would replace {input}; choose another `out`, or another name in a column 'output'"
                );
                wrong.push(Wrong { task: Some(*number), reason });
            }
        }
        wrong
    }
}

/// The name of a movie: that of its folder, as of an index of NDTiff, or that of its file without `.tif`, `.ome.tif` and the like.
fn name_of(path: &Path) -> Option<OsString> {
    if path.is_dir() {
        return Some(path.file_name()?.to_owned());
    }
    if let Some(folder) = path.parent().and_then(Path::file_name)
        && path.file_name()? == NDTIFF_INDEX
    {
        return Some(folder.to_owned());
    }
    let name = Path::new(path.file_stem()?);
    let is_ome = name.extension().is_some_and(|end| end.eq_ignore_ascii_case("ome"));
    Some(if is_ome { name.file_stem()? } else { name.as_os_str() }.to_owned())
}

/// The files that are read, which no output may replace, and what they are.
fn inputs<'t>(
    tasks: impl IntoIterator<Item = &'t (usize, Task)>,
    others: impl IntoIterator<Item = (PathBuf, String)>,
) -> HashMap<Identity, String> {
    let mut inputs = HashMap::new();
    let mut add = |path: &Path, what: String| {
        if let Some(file) = Identity::of(path) {
            inputs.entry(file).or_insert(what);
        }
    };
    others.into_iter().for_each(|(path, what)| add(&path, what));
    for (number, task) in tasks {
        add(task.path(), format!("the movie of line {number}"));
        for ending in ["yaml", "inf"] {
            let file = task.path().with_extension(ending);
            add(&file, format!("what stands beside the movie of line {number}"));
        }
        for (option, file) in task.method.options.files() {
            add(&file, format!("the file of `{option}` of line {number}"));
        }
    }
    inputs
}
