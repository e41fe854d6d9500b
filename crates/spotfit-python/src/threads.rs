//! What holds threads, and processes that are forked.

use std::mem;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::PyResult;
use pyo3::exceptions::PyRuntimeError;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Something that holds threads. They do not follow into a process that was forked, so each process makes its own.
pub(crate) struct Own<T>(Mutex<Option<(u32, Arc<T>)>>);

impl<T> Own<T> {
    /// Nothing so far.
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// That of this process, made if there is none.
    pub(crate) fn get(&self, make: impl FnOnce() -> PyResult<T>) -> PyResult<Arc<T>> {
        let mut own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*own {
            Some((process, made)) if *process == process::id() => Ok(made.clone()),
            _ => {
                let made = Arc::new(make()?);
                if let Some((_, other)) = own.replace((process::id(), made.clone())) {
                    // Its threads are in another process: nobody can wait for them.
                    mem::forget(other);
                }
                Ok(made)
            }
        }
    }
}

impl<T> Drop for Own<T> {
    fn drop(&mut self) {
        let own = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some((process, made)) = own.take()
            && process != process::id()
        {
            mem::forget(made);
        }
    }
}

/// Something that works in the process that made it only, for its threads are there.
pub(crate) struct Here<T> {
    process: u32,
    held: Option<T>,
}

impl<T> Here<T> {
    pub(crate) fn new(held: T) -> Self {
        Self { process: process::id(), held: Some(held) }
    }

    /// What is held, or the exception for a process that was forked; `what` is told.
    pub(crate) fn get(&self, what: &str) -> PyResult<&T> {
        let held = self.held.as_ref().filter(|_| self.process == process::id());
        held.ok_or_else(|| {
            PyRuntimeError::new_err(format!(
                "{what} goes on only in the process that began it, not in one that was forked"
            ))
        })
    }
}

impl<T> Drop for Here<T> {
    fn drop(&mut self) {
        if self.process != process::id() {
            // Its threads are in another process: nobody can wait for them.
            mem::forget(self.held.take());
        }
    }
}

static POOL: Own<ThreadPool> = Own::new();

/// The threads of this process for what is not fitting.
pub(crate) fn pool() -> PyResult<Arc<ThreadPool>> {
    POOL.get(|| {
        let pool = ThreadPoolBuilder::new().build();
        pool.map_err(|error| PyRuntimeError::new_err(format!("threads cannot be started: {error}")))
    })
}
