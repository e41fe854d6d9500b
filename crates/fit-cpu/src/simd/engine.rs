//! Many fits at once, one per lane, with lanes refilled as fits finish.
//!
//! Two packs of lanes take turns: while the search of one waits for its divisions, the processor evaluates the
//! other. What happens in a lane depends only on its own window, so a window gives the same bits in any lane and
//! beside any other windows.
//!
//! Neither the type of the pixels nor that of the outcomes is known here, so that all of this is compiled once
//! for an instruction set: [`Load`] and [`Sink`] know them.

use std::ops::Range;

use fit_core::pass::{self, Axes, Finish, Serial, SpotSearch};
use fit_core::spot::assembly::assemble;
use fit_core::spot::conditioning::Conditioning;
use fit_core::spot::shape::Separable;
use fit_core::{Circle, Record, Setup, Size, Start, condition};

use super::arch::pack::Pack;
use super::load::Load;

/// Where outcomes go.
pub(super) trait Sink {
    /// Takes the outcomes of the lanes whose bits are set: the window in each lane, and the circular view of the
    /// records, each number of them for all lanes.
    fn put(&mut self, lanes: u32, windows: &[usize; 32], found: &Record<[f32; 32], 3, 2>);
    /// Records that a window cannot be fitted.
    fn put_invalid(&mut self, window: usize);
}

/// Packs at work in turn.
const PACKS: usize = 2;

/// Fits that must have ended before their lanes are filled again: moving the pixels of one window costs as
/// much as moving all, and until then lanes without a fit do no harm.
const fn enough(lanes: usize) -> u32 {
    if lanes < 10 { 1 } else { (lanes / 5) as u32 }
}

/// Windows that are ready to go into lanes, one per lane. They are prepared together: they are loaded one
/// after the other, transposed all at once, so that each is in a lane of its own, and then conditioned and
/// estimated side by side.
struct Pool<P: Pack, const K: usize> {
    /// The windows as they come, each begins a pack.
    rows: Vec<P>,
    /// The windows in lanes, conditioned.
    pixels: Vec<P>,
    starts: [P; K],
    data: Conditioning<P>,
    /// The window in the first lane.
    first: usize,
    /// The lanes that are still to be taken.
    ready: u32,
}

/// Fits in the lanes of one pack.
struct Slots<P: Pack, S: Separable<K>, const K: usize> {
    pixels: Vec<P>,
    search: SpotSearch<P, S, K>,
    data: Conditioning<P>,
    window: [usize; 32],
    /// The lanes with a fit in them.
    busy: u32,
}

/// Working memory of a thread.
pub(super) struct Scratch<P: Pack, S: Separable<K>, const K: usize> {
    size: Size,
    packs: [Slots<P, S, K>; PACKS],
    axes: Vec<P>,
    pool: Pool<P, K>,
}

impl<P: Pack, S: Separable<K>, const K: usize> Scratch<P, S, K> {
    #[inline(always)]
    pub(super) fn new(setup: &Setup<P, S, K>) -> Self {
        let size = setup.size();
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
            pool: Pool { rows, pixels, starts: some_start(setup), data, first: 0, ready: 0 },
        }
    }
}

/// For lanes without a fit.
#[inline(always)]
fn some_start<P: Pack, S: Separable<K>, const K: usize>(setup: &Setup<P, S, K>) -> [P; K] {
    let zero = P::splat(0.0);
    setup.shape().parameters(Circle::new(zero, zero, P::splat(1.0)))
}

/// Fits `windows`.
#[inline(always)]
pub(super) fn run<P: Pack, S: Separable<K>, const K: usize>(
    setup: &Setup<P, S, K>,
    scratch: &mut Scratch<P, S, K>,
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
    // While the search of one pack waits for its divisions, the processor sums the other; branches on the
    // outcome of a search, which are hard to predict, come after these sums.
    let [a, b] = packs;
    let (mut here, mut there) = (a, b);
    while here.busy | there.busy != 0 {
        let mut tile = Serial::new(&here.pixels[..], *size, &mut axes);
        let sums = pass::evaluate(&mut tile, setup.shape(), here.search.trial());
        let evaluation = assemble(&sums, &here.data, setup.background());
        let done = there.busy & !P::bits(there.search.running());
        if done.count_ones() >= enough(P::LANES) || (done != 0 && feed.is_empty()) {
            there.collect(setup, done, &mut other_axes, sink);
            there.refill(setup, &mut feed, sink);
        }
        here.search.update(setup.settings(), setup.shape(), &evaluation);
        std::mem::swap(&mut here, &mut there);
    }
}

/// The windows that are still to be fitted.
struct Feed<'a, P: Pack, const K: usize> {
    source: &'a dyn Load<P>,
    start: Start<'a>,
    size: Size,
    pool: &'a mut Pool<P, K>,
    /// The next to be made ready.
    next: usize,
    /// One more than the last.
    end: usize,
}

impl<P: Pack, const K: usize> Feed<'_, P, K> {
    /// Whether all windows have been taken.
    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.pool.ready == 0 && self.next == self.end
    }

    /// Makes the next windows ready; those with nothing to fit get their outcome.
    #[inline(always)]
    fn make_ready<S: Separable<K>>(&mut self, setup: &Setup<P, S, K>, sink: &mut dyn Sink) {
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
        // Conditioning and the estimate have no use for samples.
        let mut axes = Axes::none();
        let mut tile = Serial::new(&mut pool.pixels[..pixels], *size, &mut axes);
        let (data, extent) = pass::condition(&mut tile);
        let circle = match self.start {
            Start::Estimate => pass::estimate(&tile, &extent),
            _ => {
                let mut numbers = [[f32::NAN; 32]; 3];
                for lane in 0..count {
                    if let Some(Circle { x, y, sigma }) = self.start.shape(first + lane) {
                        (numbers[0][lane], numbers[1][lane], numbers[2][lane]) = (x, y, sigma);
                    }
                }
                Circle::new(P::load(&numbers[0]), P::load(&numbers[1]), P::load(&numbers[2]))
            }
        };
        (pool.data, pool.starts) = (data, setup.shape().parameters(circle));
        let there = u32::MAX >> (32 - count);
        pool.ready = P::bits(pool.data.usable & circle.is_finite()) & there;
        pool.first = first;
        let mut unusable = there & !pool.ready;
        while unusable != 0 {
            sink.put_invalid(first + unusable.trailing_zeros() as usize);
            unusable &= unusable - 1;
        }
        self.next += count;
    }
}

impl<P: Pack, S: Separable<K>, const K: usize> Slots<P, S, K> {
    #[inline(always)]
    fn new(setup: &Setup<P, S, K>) -> Self {
        let mut pixels = vec![P::splat(0.0); setup.size().pixels()];
        let data = condition(&mut pixels);
        let search = pass::begin(setup, &data, some_start(setup));
        Self { search, data, pixels, window: [0; 32], busy: 0 }
    }

    /// Puts new fits into the lanes that are free.
    #[inline(always)]
    fn refill(&mut self, setup: &Setup<P, S, K>, feed: &mut Feed<'_, P, K>, sink: &mut dyn Sink) {
        let all = u32::MAX >> (32 - P::LANES);
        while self.busy != all {
            if feed.pool.ready == 0 {
                if feed.next == feed.end {
                    break;
                }
                feed.make_ready(setup, sink);
            }
            self.take(setup, feed.pool);
        }
    }

    /// Puts fits that are ready into lanes that are free, as many as there are of both.
    #[inline(always)]
    fn take(&mut self, setup: &Setup<P, S, K>, pool: &mut Pool<P, K>) {
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
        let mut start = pool.starts;
        for j in 0..K {
            start[j] = start[j].moved(moves);
        }
        data.mean = P::select(mask, pool.data.mean.moved(moves), data.mean);
        data.spread = P::select(mask, pool.data.spread.moved(moves), data.spread);
        data.zero = P::select(mask, pool.data.zero.moved(moves), data.zero);
        data.scale = P::select(mask, pool.data.scale.moved(moves), data.scale);
        data.offset = P::select(mask, pool.data.offset.moved(moves), data.offset);
        data.usable = data.usable | mask;
        let started = pass::begin(setup, data, start);
        self.search.refill(mask, &started);
    }

    /// Takes the outcomes of fits that have ended.
    #[inline(always)]
    fn collect(
        &mut self,
        setup: &Setup<P, S, K>,
        done: u32,
        axes: &mut Axes<'_, P>,
        sink: &mut dyn Sink,
    ) {
        self.busy &= !done;
        let Self { search, data, pixels, window, .. } = self;
        let mut tile = Serial::new(&pixels[..], setup.size(), axes);
        let finish = Finish::WhereSumsCancel;
        let found = pass::end(setup, &mut tile, data, search, P::mask(done), finish);
        let found = found.circular(setup.shape());
        let none = [0.0; 32];
        let mut stored = Record {
            parameters: [none; 3],
            linear: [none; 2],
            cost: none,
            iterations: none,
            evaluations: none,
            status: none,
        };
        for j in 0..3 {
            found.parameters[j].store(&mut stored.parameters[j]);
        }
        found.linear[0].store(&mut stored.linear[0]);
        found.linear[1].store(&mut stored.linear[1]);
        found.cost.store(&mut stored.cost);
        found.iterations.store(&mut stored.iterations);
        found.evaluations.store(&mut stored.evaluations);
        found.status.store(&mut stored.status);
        sink.put(done, window, &stored);
    }
}
