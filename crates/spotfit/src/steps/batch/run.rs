//! Localizes the movies of a batch, several at a time.

use std::borrow::Borrow;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use super::hearing::Hearing;
use super::listener::{BatchListener, BatchProgress};
use super::options::BatchOptions;
use super::report::{BatchReport, MovieOutcome, Outcome};
use super::shared::{Batch, ToDo, lock};
use super::summary;
use super::task::{Stamp, Standing, Task};
use crate::output::{Lock, OutputError, refuse_stranger, remove_parts};
use crate::steps::StepError;

/// Localizes movies, several at a time, until all are done or the listener ends it. Movies that are finished are skipped; with
/// [`BatchOptions::overwrite`] those that another process finished since this call began. The summary is written at the end.
///
/// # Errors
/// [`StepError`]. That a movie fails is none: the report says it.
pub fn run(
    options: &BatchOptions,
    tasks: &[Task],
    listener: &dyn BatchListener,
) -> Result<BatchReport, StepError> {
    let summary = options.summary();
    let seen: Vec<Stamp> = tasks.iter().map(Task::stamp).collect();
    prepare(options)?;
    clean(&options.out, tasks, &summary);
    let batch = Batch::new(options, listener, tasks.len());
    let standing = |task: &Task| match task.standing() {
        _ if options.overwrite => None,
        Standing::Finished(counts) => Some(Outcome::Finished(counts)),
        Standing::ToFit => None,
        Standing::Refused(reason) => {
            Some(Outcome::Failed(batch.told(task, StepError::Refused(reason))))
        }
    };
    let mut outcomes: Vec<Option<Outcome>> = tasks.iter().map(standing).collect();
    let begin = Instant::now();
    let to_do: Vec<ToDo<'_>> = (0..tasks.len())
        .filter(|&index| outcomes[index].is_none())
        .map(|index| ToDo { index, task: &tasks[index], seen: seen[index] })
        .collect();
    let finished = outcomes.iter().flatten().filter(|done| matches!(done, Outcome::Finished(_)));
    let finished = finished.count();
    for (index, outcome) in batch.all(&to_do, finished) {
        outcomes[index] = Some(outcome);
    }
    batch.go_on()?;
    let ended = tasks.iter().zip(outcomes);
    let movies: Vec<MovieOutcome> =
        ended.filter_map(|(task, outcome)| Some(MovieOutcome::new(task, outcome?))).collect();
    summary::write(&summary, &movies, &mut || !listener.is_cancelled())?;
    Ok(BatchReport::new(movies, begin.elapsed()))
}

/// Makes the folder of the tables, unless its summary is somebody else's.
///
/// # Errors
/// [`StepError::Output`].
pub(super) fn prepare(options: &BatchOptions) -> Result<(), StepError> {
    let out = &options.out;
    refuse_stranger(&options.summary(), summary::is_ours, options.overwrite)?;
    let made = fs::create_dir_all(out);
    Ok(made.map_err(|source| OutputError::Write { file: out.display().to_string(), source })?)
}

/// Removes what processes that were killed have left of our outputs.
pub(super) fn clean<T: Borrow<Task>>(out: &Path, tasks: &[T], summary: &Path) {
    let tasks = tasks.iter().map(Borrow::borrow);
    let files = tasks.clone().flat_map(Task::files).chain([summary.to_owned()]);
    remove_parts(out, &files.collect::<Vec<_>>());
    tasks.for_each(|task| Lock::clean(task.output()));
}

impl Batch<'_> {
    /// Localizes movies until all are done or the listener ends it.
    fn all(&self, to_do: &[ToDo<'_>], finished: usize) -> Vec<(usize, Outcome)> {
        let progress = BatchProgress {
            movies: self.movies,
            finished,
            to_do: to_do.len(),
            ..BatchProgress::default()
        };
        self.listener.progress(&progress);
        let next = AtomicUsize::new(0);
        let done = Mutex::new((Vec::new(), progress));
        // Those that another process is at: whoever has nothing else to do waits for one of them.
        let later = Mutex::new(Vec::new());
        let work = || loop {
            let first = to_do.get(next.fetch_add(1, Ordering::Relaxed)).copied();
            let again = first.is_none().then(|| lock(&later).pop()).flatten();
            let (wait, Some(movie)) = (first.is_none(), first.or(again)) else { return };
            if self.listener.is_cancelled() {
                return;
            }
            let hearing = Hearing::new(self, movie.task, &done);
            let outcome = match self.alone(movie, &hearing, wait) {
                Err(StepError::Cancelled | StepError::Output(OutputError::Interrupted)) => return,
                Ok(None) => {
                    lock(&later).push(movie);
                    continue;
                }
                Ok(Some(outcome)) => outcome,
                Err(error) => Outcome::Failed(self.told(movie.task, error)),
            };
            let mut done = lock(&done);
            done.1.finished += usize::from(!matches!(outcome, Outcome::Failed(_)));
            done.1.done += 1;
            self.listener.progress(&self.counted(done.1));
            done.0.push((movie.index, outcome));
        };
        thread::scope(|scope| {
            for _ in 1..self.options.jobs.min(to_do.len()) {
                // Where there can be no more threads, those that there are do the work.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        self.listener.end();
        done.into_inner().unwrap_or_else(PoisonError::into_inner).0
    }
}
