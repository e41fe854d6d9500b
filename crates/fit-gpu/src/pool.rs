//! What threads share.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::GpuError;

/// Nothing here has a state that a panic could leave half done.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Memory that nobody uses now: nothing in a stream is at work with it. Whoever takes some gives it back when the stream has been
/// waited for; after an error it goes, and its stream is waited for then.
pub(crate) struct Pool<S>(Mutex<Vec<S>>);

impl<S> Pool<S> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    pub(crate) fn take(&self, new: impl FnOnce() -> Result<S, GpuError>) -> Result<S, GpuError> {
        let free = lock(&self.0).pop();
        free.map_or_else(new, Ok)
    }

    pub(crate) fn give_back(&self, slot: S) {
        lock(&self.0).push(slot);
    }
}
