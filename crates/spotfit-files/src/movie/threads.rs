//! Work that the threads of a pool share, where there is a pool.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::ThreadPool;
use rayon::prelude::*;

/// Does something with each part; the result is that of the first part with which something was wrong, and its number. Parts after
/// it may be left out.
pub(super) fn try_each<T: Send, E: Send>(
    pool: Option<&ThreadPool>,
    parts: Vec<T>,
    work: impl Fn(usize, T) -> Result<(), E> + Sync,
) -> Result<(), (usize, E)> {
    let Some(pool) = pool.filter(|_| parts.len() > 1) else {
        let mut parts = parts.into_iter().enumerate();
        return parts
            .try_for_each(|(number, part)| work(number, part).map_err(|error| (number, error)));
    };
    let failed = AtomicUsize::new(usize::MAX);
    let one = |(number, part)| {
        if number > failed.load(Ordering::Relaxed) {
            return None;
        }
        let error = work(number, part).err()?;
        failed.fetch_min(number, Ordering::Relaxed);
        Some((number, error))
    };
    // Whichever is found first, the first of them is told.
    let first = |a: (usize, E), b: (usize, E)| if b.0 < a.0 { b } else { a };
    let found = pool.install(|| {
        parts.into_par_iter().enumerate().with_max_len(1).filter_map(one).reduce_with(first)
    });
    found.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that every part is worked on once, and that of several errors the first is told, for any number of threads.
    #[test]
    fn the_first_error_is_told() {
        for threads in [0, 1, 2, 7] {
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let pool = (threads > 0).then_some(&pool);
            for _ in 0..100 {
                let mut room = vec![0; 50];
                let parts: Vec<&mut usize> = room.iter_mut().collect();
                let done = try_each(pool, parts, |number, part| {
                    *part += number;
                    Ok::<(), ()>(())
                });
                assert_eq!(done, Ok(()));
                assert!(room.into_iter().eq(0..50));
                let done = try_each(pool, vec![(); 50], |number, ()| {
                    if number % 9 == 7 { Err(2 * number) } else { Ok(()) }
                });
                assert_eq!(done, Err((7, 14)), "{threads}");
            }
        }
    }
}
