//! What all movies of a batch share.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::listener::{BatchListener, BatchProgress};
use super::options::BatchOptions;
use super::report::Outcome;
use super::task::{Stamp, Task};
use crate::steps::StepError;
use crate::steps::localize::Topic;

/// What became of movies by their numbers, and how far the batch is.
pub(super) type Done = Mutex<(Vec<(usize, Outcome)>, BatchProgress)>;

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
    pub(super) movies: usize,
    /// What was told already.
    pub(super) told: Mutex<HashSet<(Topic, String)>>,
    pub(super) frames: AtomicU64,
    pub(super) localizations: AtomicU64,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Batch<'a> {
    pub(super) fn new(
        options: &'a BatchOptions,
        listener: &'a dyn BatchListener,
        movies: usize,
    ) -> Self {
        let (frames, localizations) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { options, listener, movies, told: Mutex::default(), frames, localizations }
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

    pub(super) fn counted(&self, progress: BatchProgress) -> BatchProgress {
        let frames = self.frames.load(Ordering::Relaxed);
        let localizations = self.localizations.load(Ordering::Relaxed);
        BatchProgress { frames, localizations, ..progress }
    }
}
