//! Windows in turn: a thread whose fit has ended takes the next window of its warp, so that no thread waits for the slowest.
//!
//! All threads of a warp visit pixels together; those without a fit visit what they had last.

use fit_core::pass::{Finish, Method, RawFit, Store};
use fit_core::search::Resumable;
use fit_core::{Number, Real};

/// The windows of a warp, as one of its threads sees them. All threads call [`PersistentThreads::is_time`], [`PersistentThreads::next`] and
/// [`PersistentThreads::is_over`] together.
pub trait PersistentThreads<R: Real, T: Store<R>, M: Method<R>> {
    /// Whether it is time to take windows: whether enough threads are `free`.
    fn is_time(&self, free: bool) -> bool;
    /// Takes the next window if this thread is `free`, and leaves it without a window if there is none.
    fn next(&mut self, free: bool);
    /// Whether this thread has a window.
    fn has(&self) -> bool;
    /// Whether no thread has one.
    fn is_over(&self) -> bool;
    /// What the fit of the window begins with, and whether there is something to fit. The tile has its pixels then.
    fn begin(&mut self, method: &M, tile: &mut T) -> (M::Seed, R::Mask);
    /// Takes the outcome of the window.
    fn end(&mut self, found: RawFit<R>);
}

/// Fits all windows of a warp.
#[inline(always)]
pub fn fit_persistently<R: Number, T: Store<R>, M: Method<R>>(
    method: &M,
    tile: &mut T,
    threads: &mut impl PersistentThreads<R, T, M>,
) {
    let mut seed = method.idle();
    let mut search = method.begin(&seed, false);
    loop {
        let free = !search.running();
        if threads.is_time(free) {
            if free && threads.has() {
                threads.end(method.end(tile, &seed, &search, true, Finish::WhereSumsCancel));
            }
            threads.next(free);
            if free && threads.has() {
                let usable;
                (seed, usable) = threads.begin(method, tile);
                search = method.begin(&seed, usable);
            }
            if threads.is_over() {
                return;
            }
        }
        let evaluation = method.evaluate(tile, &seed, &search);
        method.update(&mut search, &evaluation);
    }
}
