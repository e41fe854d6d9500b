//! Many fits at once, one a lane, with lanes refilled as fits finish.
//!
//! Two packs of lanes are at work in turn: while the search of one waits for its divisions, the
//! processor evaluates the other. What happens in a lane depends on its own window only, so the outcome of a window
//! is the same to the last bit wherever and beside whatever it is fitted.
//!
//! Neither the type of the pixels nor that of the outcomes is known here, so that all of this is compiled once
//! for an instruction set: [`Load`] and [`Sink`] know them.

use std::ops::Range;

use fit_core::condition::{Conditioning, condition};
use fit_core::normal::{CANCELS, assemble};
use fit_core::search::Search;
use fit_core::sums::{Axes, residual_chi2, separable};
use fit_core::{Setup, Shape, Size, Start, estimate};

use super::arch::pack::Pack;
use super::load::Load;

/// Where outcomes go.
pub(super) trait Sink {
    /// Takes the outcomes of the lanes whose bits are set: the window in each lane, and the arguments of
    /// [`Fit::from_numbers`](fit_core::Fit::from_numbers), each of them for all lanes.
    fn put(&mut self, lanes: u32, windows: &[usize; 32], numbers: &[[f32; 32]; 9]);
    /// Takes note that there is nothing to fit in a window.
    fn put_invalid(&mut self, window: usize);
}

/// Packs at work in turn.
const PACKS: usize = 2;

/// Fits that must have ended before their lanes are filled again: moving pixels costs the same for one as
/// for all, and for as long lanes without a fit do no harm.
const fn enough(lanes: usize) -> u32 {
    if lanes < 10 { 1 } else { (lanes / 5) as u32 }
}

/// Windows that are ready to go into lanes, one a lane. They are made ready together: one after the other
/// they come from memory, then all of them are turned at once, so that each is in a lane of its own, and
/// conditioned and estimated side by side.
struct Pool<P: Pack> {
    /// The windows as they come, each begins a pack.
    rows: Vec<P>,
    /// The windows in lanes, conditioned.
    pixels: Vec<P>,
    shape: Shape<P>,
    data: Conditioning<P>,
    /// The window in the first lane.
    first: usize,
    /// The lanes that are still to be taken.
    ready: u32,
}

/// Fits in the lanes of one pack.
struct Slots<P: Pack> {
    pixels: Vec<P>,
    search: Search<P>,
    data: Conditioning<P>,
    window: [usize; 32],
    /// The lanes with a fit in them.
    busy: u32,
}

/// Working memory of a thread.
pub(super) struct Scratch<P: Pack> {
    size: Size,
    packs: [Slots<P>; PACKS],
    axes: Vec<P>,
    pool: Pool<P>,
}

impl<P: Pack> Scratch<P> {
    #[inline(always)]
    pub(super) fn new(setup: &Setup<P>) -> Self {
        let size = setup.size;
        let zero = P::splat(0.0);
        // Packs that a window begins and ends.
        let packs = size.pixels().div_ceil(P::LANES);
        let mut pixels = vec![zero; packs * P::LANES];
        let data = condition(&mut pixels);
        let rows = vec![zero; packs * P::LANES];
        Self {
            size,
            packs: [Slots::new(setup), Slots::new(setup)],
            axes: vec![zero; 2 * Axes::<P>::scratch_len(size)],
            pool: Pool { rows, pixels, shape: some_shape(), data, first: 0, ready: 0 },
        }
    }
}

/// For lanes without a fit.
#[inline(always)]
fn some_shape<P: Pack>() -> Shape<P> {
    let zero = P::splat(0.0);
    Shape::new(zero, zero, P::splat(1.0))
}

/// Fits `windows`.
#[inline(always)]
pub(super) fn run<P: Pack>(
    setup: &Setup<P>,
    scratch: &mut Scratch<P>,
    source: &dyn Load<P>,
    start: Start<'_>,
    windows: Range<usize>,
    sink: &mut dyn Sink,
) {
    let Scratch { size, packs, axes, pool } = scratch;
    // A panic may have left fits of an earlier batch.
    pool.ready = 0;
    for slots in packs.iter_mut() {
        slots.busy = 0;
    }
    let (these, others) = axes.split_at_mut(Axes::<P>::scratch_len(*size));
    let (Some(mut axes), Some(mut other_axes)) =
        (Axes::new(these, *size), Axes::new(others, *size))
    else {
        return;
    };
    let Range { start: next, end } = windows;
    let mut feed = Feed { source, start, size: *size, pool, next, end };
    for slots in packs.iter_mut() {
        slots.refill(setup, &mut feed, sink);
    }
    // While the search of one pack waits for its divisions, the sums of the other are on their way: what
    // hangs on the outcome of a search, and is hard to predict, comes after them.
    let [a, b] = packs;
    let (mut here, mut there) = (a, b);
    while here.busy | there.busy != 0 {
        let sums = separable(&here.pixels, here.search.trial(), &mut axes);
        let evaluation = assemble(&sums, &here.data, setup.background);
        let done = there.busy & !P::bits(there.search.running());
        if done.count_ones() >= enough(P::LANES) || (done != 0 && feed.is_empty()) {
            there.collect(done, &mut other_axes, sink);
            there.refill(setup, &mut feed, sink);
        }
        here.search.update(setup, &evaluation);
        std::mem::swap(&mut here, &mut there);
    }
}

/// The windows that are still to be fitted.
struct Feed<'a, P: Pack> {
    source: &'a dyn Load<P>,
    start: Start<'a>,
    size: Size,
    pool: &'a mut Pool<P>,
    /// The next to be made ready.
    next: usize,
    /// One more than the last.
    end: usize,
}

impl<P: Pack> Feed<'_, P> {
    /// Whether all windows have been taken.
    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.pool.ready == 0 && self.next == self.end
    }

    /// Makes the next windows ready; those with nothing to fit get their outcome.
    #[inline(always)]
    fn make_ready(&mut self, sink: &mut dyn Sink) {
        let first = self.next;
        let Self { pool, size, .. } = self;
        let pixels = size.pixels();
        let packs = pixels.div_ceil(P::LANES);
        let count = P::LANES.min(self.end - first);
        self.source.load(first..first + count, &mut pool.rows);
        // Lanes that are left over have pixels of earlier windows.
        for pack in 0..packs {
            let columns = &mut pool.pixels[pack * P::LANES..][..P::LANES];
            P::transpose(&pool.rows[pack..], packs, columns);
        }
        pool.data = condition(&mut pool.pixels[..pixels]);
        pool.shape = match self.start {
            Start::Estimate => estimate(&pool.pixels, *size),
            _ => {
                let mut numbers = [[0.0; 32]; 3];
                for lane in 0..count {
                    let shape = self.start.shape(first + lane);
                    let shape = shape.unwrap_or(Shape::new(f32::NAN, f32::NAN, f32::NAN));
                    (numbers[0][lane], numbers[1][lane], numbers[2][lane]) =
                        (shape.x, shape.y, shape.sigma);
                }
                Shape::new(P::load(&numbers[0]), P::load(&numbers[1]), P::load(&numbers[2]))
            }
        };
        let there = u32::MAX >> (32 - count);
        pool.ready = P::bits(pool.data.usable & pool.shape.is_finite()) & there;
        pool.first = first;
        let mut unusable = there & !pool.ready;
        while unusable != 0 {
            sink.put_invalid(first + unusable.trailing_zeros() as usize);
            unusable &= unusable - 1;
        }
        self.next += count;
    }
}

impl<P: Pack> Slots<P> {
    #[inline(always)]
    fn new(setup: &Setup<P>) -> Self {
        let mut pixels = vec![P::splat(0.0); setup.size.pixels()];
        let data = condition(&mut pixels);
        let search = Search::start(setup, &data, some_shape());
        Self { search, data, pixels, window: [0; 32], busy: 0 }
    }

    /// Puts new fits into the lanes that are free.
    #[inline(always)]
    fn refill(&mut self, setup: &Setup<P>, feed: &mut Feed<'_, P>, sink: &mut dyn Sink) {
        let all = u32::MAX >> (32 - P::LANES);
        while self.busy != all {
            if feed.pool.ready == 0 {
                if feed.next == feed.end {
                    break;
                }
                feed.make_ready(sink);
            }
            self.take(setup, feed.pool);
        }
    }

    /// Puts fits that are ready into lanes that are free, as many as there are of both.
    #[inline(always)]
    fn take(&mut self, setup: &Setup<P>, pool: &mut Pool<P>) {
        let all = u32::MAX >> (32 - P::LANES);
        let mut free = all & !self.busy;
        let mut fresh = 0;
        let mut from = [0; 32];
        while free != 0 && pool.ready != 0 {
            let (to, lane) = (free.trailing_zeros(), pool.ready.trailing_zeros());
            from[to as usize] = lane;
            self.window[to as usize] = pool.first + lane as usize;
            fresh |= 1 << to;
            free &= free - 1;
            pool.ready &= pool.ready - 1;
        }
        self.busy |= fresh;
        let (moves, mask) = (P::moves(&from), P::mask(fresh));
        let Self { pixels, data, .. } = self;
        P::put(pixels, mask, &pool.pixels, moves);
        let Shape { x, y, sigma } = pool.shape;
        let shape = Shape::new(x.moved(moves), y.moved(moves), sigma.moved(moves));
        data.mean = P::select(mask, pool.data.mean.moved(moves), data.mean);
        data.spread = P::select(mask, pool.data.spread.moved(moves), data.spread);
        data.zero = P::select(mask, pool.data.zero.moved(moves), data.zero);
        data.scale = P::select(mask, pool.data.scale.moved(moves), data.scale);
        data.offset = P::select(mask, pool.data.offset.moved(moves), data.offset);
        data.usable = data.usable | mask;
        let started = Search::start(setup, data, shape);
        self.search.refill(mask, &started);
    }

    /// Takes the outcomes of fits that have ended.
    #[inline(always)]
    fn collect(&mut self, done: u32, axes: &mut Axes<'_, P>, sink: &mut dyn Sink) {
        self.busy &= !done;
        let Self { search, data, pixels, window, .. } = self;
        let best = search.best();
        let at_best = search.at_best();
        let mut chi2 = at_best.chi2;
        let cancels = chi2.lt(P::splat(CANCELS * P::EPSILON) * data.spread);
        if P::bits(cancels) & done != 0 {
            let exact = residual_chi2(pixels, best, at_best.alpha, at_best.beta, axes);
            chi2 = P::select(cancels, exact, chi2);
        }
        let mut out = [[0.0; 32]; 9];
        for (numbers, pack) in out.iter_mut().zip(search.numbers(data, chi2)) {
            pack.store(numbers);
        }
        sink.put(done, window, &out);
    }
}
