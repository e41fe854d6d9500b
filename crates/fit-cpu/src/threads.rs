//! The threads that work on a batch.

use std::ops::Range;
use std::process;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::BatchError;

/// The most threads that a batch can use. Starting more takes seconds and gains nothing.
pub const MOST_THREADS: usize = 1024;

/// The threads of all processors and the process that has them: they do not follow into one that is forked.
static ALL: Mutex<Option<(u32, Weak<ThreadPool>)>> = Mutex::new(None);

/// Threads for batches; `None` if the calling one is enough. 0 takes one for each processor, and those are shared by
/// all who have them: more threads than processors gain nothing.
pub(crate) fn pool(threads: usize) -> Result<Option<Arc<ThreadPool>>, BatchError> {
    match threads {
        1 => Ok(None),
        0 => all().map(Some),
        2..=MOST_THREADS => {
            Ok(Some(Arc::new(ThreadPoolBuilder::new().num_threads(threads).build()?)))
        }
        given => Err(BatchError::TooManyThreads { given }),
    }
}

/// Threads of a pool that others use too; `None` if it is one, which works only while the caller waits.
pub(crate) fn of_pool(pool: Arc<ThreadPool>) -> Option<Arc<ThreadPool>> {
    (pool.current_num_threads() > 1).then_some(pool)
}

fn all() -> Result<Arc<ThreadPool>, BatchError> {
    let known = || {
        let all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let own = all.as_ref().filter(|(process, _)| *process == process::id());
        own.and_then(|(_, pool)| pool.upgrade())
    };
    if let Some(pool) = known() {
        return Ok(pool);
    }
    // Not under the lock, which a process that is forked meanwhile would find locked for ever.
    let pool = Arc::new(ThreadPoolBuilder::new().build()?);
    if let Some(other) = known() {
        return Ok(other);
    }
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    *all = Some((process::id(), Arc::downgrade(&pool)));
    Ok(pool)
}

/// Work on a part of a batch: the number of its first item, and its items. It has a thread's working memory.
pub(crate) type Work<'w, T> = Box<dyn FnMut(usize, &mut [T]) -> Result<(), BatchError> + 'w>;

/// Shares items in parts of so many among the threads of a pool, each of which makes its own [`Work`]; without one the calling thread
/// has all. Neither that nor what it needs is a type parameter: this is compiled once for each type of items.
pub(crate) fn share<'w, T: Send>(
    pool: Option<&ThreadPool>,
    items: &mut [T],
    length: usize,
    make: &(dyn Fn() -> Result<Work<'w, T>, BatchError> + Sync),
) -> Result<(), BatchError> {
    let Some(pool) = pool else { return make()?(0, items) };
    pool.install(|| {
        items.par_chunks_mut(length).enumerate().try_for_each_init(make, |work, (index, items)| {
            match work {
                Ok(work) => work(index * length, items),
                // The error cannot be taken out of what the thread keeps: ask for it again.
                Err(_) => make().map(drop),
            }
        })
    })
}

/// Shares chunks in the same way.
pub(crate) fn share_chunks<C: Send, T>(
    pool: Option<&ThreadPool>,
    chunks: Vec<C>,
    make: impl Fn() -> T + Sync + Send,
    run: impl Fn(&mut T, C) + Sync + Send,
) {
    match pool {
        Some(pool) => pool.install(|| chunks.into_par_iter().for_each_init(make, run)),
        None => {
            let mut own = make();
            chunks.into_iter().for_each(|chunk| run(&mut own, chunk));
        }
    }
}

/// What is found of all numbers below `count`, in their order. A thread that belongs to a pool has the others help; one that does not
/// has none to wake.
pub(crate) fn each<T: Send>(count: usize, of: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    if count > 1 && rayon::current_thread_index().is_some() {
        (0..count).into_par_iter().map(of).collect()
    } else {
        (0..count).map(of).collect()
    }
}

/// The same of all parts of so many items.
pub(crate) fn parts<T: Send>(
    items: usize,
    length: usize,
    of: impl Fn(Range<usize>) -> T + Sync + Send,
) -> Vec<T> {
    each(items.div_ceil(length), |part| of(part * length..items.min((part + 1) * length)))
}

/// Working memory that threads take and give back.
pub(crate) struct Idle<T>(Mutex<Vec<T>>);

impl<T> Idle<T> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Does something with one of them, or a new one.
    pub(crate) fn with<U>(&self, make: impl FnOnce() -> T, of: impl FnOnce(&mut T) -> U) -> U {
        let idle = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = idle().pop();
        let mut own = own.unwrap_or_else(make);
        let found = of(&mut own);
        idle().push(own);
        found
    }
}

/// Fewer values than this the calling thread writes.
const FEW: usize = 1 << 14;

/// A value so many times, in memory to which all threads have written. The system hands out pages when they are first written to, which is
/// slow for one thread.
pub(crate) fn filled<T: Copy + Send + Sync>(
    pool: Option<&ThreadPool>,
    value: T,
    count: usize,
) -> Vec<T> {
    match pool.filter(|_| count > FEW) {
        Some(pool) => pool.install(|| rayon::iter::repeat_n(value, count).collect()),
        None => vec![value; count],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that the threads of all processors are started once, and a number of threads as often as it is asked for.
    #[test]
    fn all_processors_are_shared() {
        let [one, two] = [0, 0].map(|threads| pool(threads).unwrap().unwrap());
        assert!(Arc::ptr_eq(&one, &two));
        let [one, two] = [2, 2].map(|threads| pool(threads).unwrap().unwrap());
        assert!(!Arc::ptr_eq(&one, &two));
        assert!(pool(1).unwrap().is_none() && pool(MOST_THREADS + 1).is_err());
    }

    /// Proves that memory is filled with as many values as are asked for, whoever writes them.
    #[test]
    fn memory_is_filled() {
        let three = pool(3).unwrap();
        for pool in [None, three.as_deref()] {
            for count in [0, 1, FEW, FEW + 1, 10 * FEW + 7] {
                let all = filled(pool, 5_u64, count);
                assert!(all.len() == count && all.iter().all(|&value| value == 5));
            }
        }
    }
}
