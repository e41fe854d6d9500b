//! The threads that work on a batch.

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::BatchError;

/// The most threads that a batch can use. Starting more takes seconds and gains nothing.
pub const MOST_THREADS: usize = 1024;

/// Threads for batches; `None` if the calling one is enough. 0 takes one for each processor.
pub(crate) fn pool(threads: usize) -> Result<Option<ThreadPool>, BatchError> {
    match threads {
        1 => Ok(None),
        0..=MOST_THREADS => Ok(Some(ThreadPoolBuilder::new().num_threads(threads).build()?)),
        given => Err(BatchError::TooManyThreads { given }),
    }
}
