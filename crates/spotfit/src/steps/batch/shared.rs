//! What all movies of a batch share.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use super::listener::{BatchListener, BatchProgress};
use super::options::BatchOptions;
use super::report::{BatchReport, MovieOutcome, Outcome};
use super::summary;
use super::task::{Stamp, Task};
use crate::steps::StepError;
use crate::steps::localize::Topic;

/// A movie that this run looks at.
#[derive(Clone, Copy)]
pub(super) struct ToDo<'a> {
    pub(super) index: usize,
    pub(super) task: &'a Task,
    /// The record that was there when the run began.
    pub(super) seen: Stamp,
}

/// What all movies share.
pub(super) struct Batch<'a> {
    pub(super) options: &'a BatchOptions,
    pub(super) listener: &'a dyn BatchListener,
    /// What became of movies by their numbers, and how far the batch is.
    pub(super) done: Mutex<(Vec<(usize, Outcome)>, BatchProgress)>,
    /// What was told already.
    pub(super) told: Mutex<HashSet<(Topic, String)>>,
    pub(super) frames: AtomicU64,
    pub(super) localizations: AtomicU64,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Batch<'a> {
    pub(super) fn new(options: &'a BatchOptions, listener: &'a dyn BatchListener) -> Self {
        let (frames, localizations) = (AtomicU64::new(0), AtomicU64::new(0));
        let (done, told) = Default::default();
        Self { options, listener, done, told, frames, localizations }
    }

    pub(super) fn go_on(&self) -> Result<(), StepError> {
        if self.listener.is_cancelled() { Err(StepError::Cancelled) } else { Ok(()) }
    }

    /// Tells a failure.
    pub(super) fn told(&self, task: &Task, error: StepError) -> String {
        let reason = self.listener.words(error, task.output()).replace('\n', " ");
        self.listener.tell(task.movie(), &reason);
        reason
    }

    /// Tells how far the batch is.
    pub(super) fn tell_progress(&self, progress: BatchProgress) {
        let frames = self.frames.load(Ordering::Relaxed);
        let localizations = self.localizations.load(Ordering::Relaxed);
        self.listener.progress(&BatchProgress { frames, localizations, ..progress });
    }

    /// A movie has ended so.
    pub(super) fn ended(&self, index: usize, outcome: Outcome) {
        let (outcomes, progress) = &mut *lock(&self.done);
        progress.finished += usize::from(!matches!(outcome, Outcome::Failed(_)));
        progress.done += 1;
        self.tell_progress(*progress);
        outcomes.push((index, outcome));
    }

    /// Works in as many threads as movies are localized at a time, or in fewer. What became of movies is known then.
    pub(super) fn in_threads(
        &self,
        most: usize,
        work: &(dyn Fn() + Sync),
    ) -> Result<Vec<(usize, Outcome)>, StepError> {
        thread::scope(|scope| {
            for _ in 1..self.options.jobs.min(most) {
                // Where there can be no more threads, those that there are do the work.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        self.listener.end();
        self.go_on()?;
        Ok(std::mem::take(&mut lock(&self.done).0))
    }

    /// Writes the summary.
    pub(super) fn report(
        &self,
        movies: Vec<MovieOutcome>,
        begin: Instant,
    ) -> Result<BatchReport, StepError> {
        let go_on = &mut || !self.listener.is_cancelled();
        summary::write(&self.options.summary(), &movies, go_on)?;
        Ok(BatchReport::new(movies, begin.elapsed()))
    }
}
