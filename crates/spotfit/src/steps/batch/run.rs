//! Localizes the movies of a batch, several at a time.

use std::borrow::Borrow;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

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
    let batch = Batch::new(options, listener);
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
    let (movies, to_look_at) = (tasks.len(), to_do.len());
    let progress = BatchProgress { movies, finished, to_do: to_look_at, ..Default::default() };
    lock(&batch.done).1 = progress;
    for (index, outcome) in batch.all(&to_do)? {
        outcomes[index] = Some(outcome);
    }
    let ended = tasks.iter().zip(outcomes);
    let ended = ended.filter_map(|(task, outcome)| Some(MovieOutcome::new(task, outcome?)));
    batch.report(ended.collect(), begin)
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
    fn all(&self, to_do: &[ToDo<'_>]) -> Result<Vec<(usize, Outcome)>, StepError> {
        self.tell_progress(lock(&self.done).1);
        let next = AtomicUsize::new(0);
        // Those that another process is at: whoever has nothing else to do waits for one of them.
        let later = Mutex::new(Vec::new());
        self.in_threads(to_do.len(), &|| {
            loop {
                let first = to_do.get(next.fetch_add(1, Ordering::Relaxed)).copied();
                let again = first.is_none().then(|| lock(&later).pop()).flatten();
                let (wait, Some(movie)) = (first.is_none(), first.or(again)) else { return };
                if self.listener.is_cancelled() {
                    return;
                }
                match self.alone(movie, wait) {
                    Err(_) => return,
                    Ok(None) => lock(&later).push(movie),
                    Ok(Some(outcome)) => self.ended(movie.index, outcome),
                }
            }
        })
    }
}
