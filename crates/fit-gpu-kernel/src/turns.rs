//! Windows in turn: a thread whose fit has ended takes the next window of its warp, so that no thread waits for the slowest.
//!
//! All threads of a warp visit pixels together; those without a fit visit what they had last.

use fit_core::pass::{Finish, Method, RawFit, Store};
use fit_core::search::Resumable;
use fit_core::{Number, Real};

/// The windows of a warp, as one of its threads sees them. All threads call [`Turns::is_time`], [`Turns::next`] and
/// [`Turns::is_over`] together.
pub trait Turns<R: Real, T: Store<R>, M: Method<R>> {
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
pub fn fit_in_turn<R: Number, T: Store<R>, M: Method<R>>(
    method: &M,
    tile: &mut T,
    turns: &mut impl Turns<R, T, M>,
) {
    let mut seed = method.idle();
    let mut search = method.begin(&seed, false);
    loop {
        let free = !search.running();
        if turns.is_time(free) {
            if free && turns.has() {
                turns.end(method.end(tile, &seed, &search, true, Finish::WhereSumsCancel));
            }
            turns.next(free);
            if free && turns.has() {
                let usable;
                (seed, usable) = turns.begin(method, tile);
                search = method.begin(&seed, usable);
            }
            if turns.is_over() {
                return;
            }
        }
        let evaluation = method.evaluate(tile, &seed, &search);
        method.update(&mut search, &evaluation);
    }
}
