//! Localizes the movies that come to a folder.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::listener::BatchListener;
use super::options::BatchOptions;
use super::plan::Planner;
use super::report::{BatchReport, MovieOutcome, Outcome};
use super::run::{clean, prepare};
use super::shared::{Batch, ToDo, lock};
use super::task::{Method, Task};
use crate::movie::{FollowOptions, is_read_complete, last_change, movies_in};
use crate::output::paths::{same, shown};
use crate::record::Record;
use crate::steps::StepError;
use spotfit_files::private::sort_by_key;

/// How often to look for new movies.
const LOOK: Duration = Duration::from_millis(50);

/// Localizes the movies of a folder, those that are there and those that come, each while it is written, or, where it is read when it is
/// complete ([`is_read_complete`]), when it has not changed for a while, until for a while
/// ([`FollowOptions::idle`]) none has come and none is being localized, or the listener ends it. Movies are the files that are called like
/// movies, and folders with one movie in several TIFF files. Otherwise it is as [`run`](fn@super::run): finished movies are skipped, and the
/// summary is written at the end. CSV tables grow with their movies.
///
/// # Errors
/// [`StepError`]. That a movie fails is none: the report says it.
pub fn follow(
    options: &BatchOptions,
    folder: &Path,
    method: &Arc<Method>,
    follow: &FollowOptions,
    listener: &dyn BatchListener,
) -> Result<BatchReport, StepError> {
    // Whatever is wrong with the folder is said before any work is done.
    look(folder)?;
    prepare(options)?;
    let batch = Batch::new(options, listener);
    let begin = Instant::now();
    let arrivals = Mutex::new(Arrivals {
        folder,
        method,
        follow,
        planner: Planner::new(options),
        options,
        seen: HashSet::new(),
        growing: HashMap::new(),
        waiting: Vec::new(),
        tasks: Vec::new(),
        busy: 0,
        since: begin,
    });
    let failed = Mutex::new(None);
    let mut outcomes = batch.in_threads(usize::MAX, &|| {
        let error = batch.arriving(&arrivals).err();
        let mut failed = lock(&failed);
        *failed = failed.take().or(error);
    })?;
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    sort_by_key(&mut outcomes, |(index, _)| *index);
    let tasks = std::mem::take(&mut lock(&arrivals).tasks);
    let movies =
        outcomes.into_iter().map(|(index, outcome)| MovieOutcome::new(&tasks[index], outcome));
    batch.report(movies.collect(), begin)
}

/// The movies of a folder.
fn look(folder: &Path) -> Result<Vec<PathBuf>, StepError> {
    let name = folder.display().to_string();
    movies_in(folder).map_err(|source| StepError::Read { name, source })
}

/// When a movie was written to last, and how long its file is: some systems tell the time when the file is closed.
type Change = (Option<SystemTime>, Option<u64>);

/// The movies of a folder as they come.
struct Arrivals<'a> {
    folder: &'a Path,
    method: &'a Arc<Method>,
    follow: &'a FollowOptions,
    options: &'a BatchOptions,
    planner: Planner<'a>,
    seen: HashSet<PathBuf>,
    /// Those that are read when they are complete and may not be yet, their last change, and since when there was none.
    growing: HashMap<PathBuf, (Change, Instant)>,
    /// Those that nobody has begun with, the first one last.
    waiting: Vec<(usize, Arc<Task>)>,
    tasks: Vec<Arc<Task>>,
    /// How many are being localized.
    busy: usize,
    /// When the last one came or ended.
    since: Instant,
}

impl Arrivals<'_> {
    /// Looks for new movies. The result are those that can have no table, and why.
    fn look(&mut self) -> Result<Vec<(usize, Arc<Task>, String)>, StepError> {
        let mut refused = Vec::new();
        let mut before = std::mem::take(&mut self.growing);
        for path in look(self.folder)? {
            // Tables may be in the same folder.
            if same(&path, &self.options.out) || self.seen.contains(&path) {
                continue;
            }
            let is_whole = is_read_complete(&path);
            if is_whole && let Some(change) = self.last_change(&path, before.remove(&path)) {
                self.growing.insert(path, change);
                continue;
            }
            self.seen.insert(path.clone());
            self.since = Instant::now();
            let movie = shown(path.file_name().unwrap_or_default());
            let number = self.tasks.len();
            let output = self.output(number + 1, &path, &movie);
            let table = output.as_deref().unwrap_or(Path::new(""));
            let task = Task::new(movie, &path, table, self.method.clone());
            let task = Arc::new(match is_whole {
                true => task,
                false => task.following(self.follow.clone()),
            });
            self.tasks.push(task.clone());
            match output {
                Ok(_) => {
                    clean(&self.options.out, std::slice::from_ref(&task), &self.options.summary());
                    self.waiting.insert(0, (number, task));
                }
                Err(reason) => refused.push((number, task, reason)),
            }
        }
        // Those that are gone.
        if !before.is_empty() {
            self.since = Instant::now();
        }
        Ok(refused)
    }

    /// The last change of a movie, and since when there was none; `None` if that is so long ago that it is complete.
    fn last_change(
        &self,
        path: &Path,
        before: Option<(Change, Instant)>,
    ) -> Option<(Change, Instant)> {
        let idle = self.follow.idle;
        let time = last_change(path);
        let change = (time, path.metadata().ok().map(|metadata| metadata.len()));
        let is_old = time.and_then(|time| time.elapsed().ok()).is_some_and(|age| age > idle);
        // The clock of another machine may be wrong: what changes while it is watched is not complete, and what does not is.
        let since = match before {
            None if is_old => return None,
            Some((before, since)) if before == change => since,
            _ => Instant::now(),
        };
        (since.elapsed() < idle).then_some((change, since))
    }

    /// The table of a movie: one of the same name, but of another format, may have the usual one, now or from an earlier run.
    fn output(&mut self, number: usize, path: &Path, movie: &str) -> Result<PathBuf, String> {
        let record = self.planner.usual(path).and_then(|table| Record::beside(&table));
        let source = record.and_then(|record| record.source);
        if source.is_none_or(|source| source == movie)
            && let Ok(output) = self.planner.output(number, path, None)
        {
            return Ok(output);
        }
        self.planner.output(number, path, Some(movie))
    }

    /// Whether no more will come.
    fn is_over(&self) -> bool {
        self.busy == 0
            && self.waiting.is_empty()
            && self.growing.is_empty()
            && self.since.elapsed() >= self.follow.idle
    }
}

impl Batch<'_> {
    /// Localizes movies as they come.
    fn arriving(&self, arrivals: &Mutex<Arrivals<'_>>) -> Result<(), StepError> {
        while !self.listener.is_cancelled() {
            let (next, refused, over) = {
                let mut arrivals = lock(arrivals);
                let refused = arrivals.look()?;
                let next = arrivals.waiting.pop();
                arrivals.busy += usize::from(next.is_some());
                (next, refused, arrivals.is_over())
            };
            for (index, task, reason) in refused {
                self.listener.tell(task.movie(), &reason);
                let (outcomes, progress) = &mut *lock(&self.done);
                progress.done += 1;
                outcomes.push((index, Outcome::Failed(reason)));
            }
            match next {
                Some((index, task)) => {
                    self.arrived(index, &task, arrivals);
                    let mut arrivals = lock(arrivals);
                    arrivals.busy -= 1;
                    arrivals.since = Instant::now();
                }
                None if over => return Ok(()),
                None => thread::sleep(LOOK),
            }
        }
        Ok(())
    }

    /// Localizes a movie that has come.
    fn arrived(&self, index: usize, task: &Task, arrivals: &Mutex<Arrivals<'_>>) {
        let count = || {
            let movies = lock(arrivals).tasks.len();
            let progress = &mut lock(&self.done).1;
            (progress.movies, progress.to_do) = (movies, movies);
            *progress
        };
        self.tell_progress(count());
        let to_do = ToDo { index, task, seen: task.stamp() };
        if let Ok(Some(outcome)) = self.alone(to_do, true) {
            count();
            self.ended(index, outcome);
        }
    }
}
