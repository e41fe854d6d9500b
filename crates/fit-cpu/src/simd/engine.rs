//! Many fits at once, one a lane, with lanes refilled as fits finish.
//!
//! Two packs of lanes are at work in turn: while the search of one waits for its divisions, the
//! processor evaluates the other. What happens in a lane depends on its own window only, so the outcome of a window
//! is the same to the last bit wherever and beside whatever it is fitted.

use fit_core::pass::{self, Axes, Finish, Serial, SpotSearch};
use fit_core::spot::assembly::assemble;
use fit_core::spot::conditioning::Conditioning;
use fit_core::spot::shape::{Circular, Separable};
use fit_core::{Fit, Record, Scalar, Setup, Shape, Size, Start, Status, condition};

use super::pack::Pack;

/// Where windows come from.
pub(super) trait Windows {
    /// Puts the pixels of a window, row after row, into the lanes of `packs`; what the lanes that are
    /// left over in the last one hold does not matter.
    fn load<P: Pack>(&self, window: usize, count: usize, packs: &mut [P]);
    /// Asks for the pixels of some windows, which will be loaded soon.
    fn prefetch(&self, windows: std::ops::Range<usize>, count: usize);
}

/// Packs at work in turn.
const PACKS: usize = 2;

/// Fits that must have ended before their lanes are filled again: moving pixels costs the same for one as
/// for all, and for as long lanes without a fit do no harm.
const fn enough(lanes: usize) -> u32 {
    (lanes / 5) as u32
}

/// Windows that are ready to go into lanes, one a lane. They are made ready together: one after the other
/// they come from memory, then all of them are turned at once, so that each is in a lane of its own, and
/// conditioned and estimated side by side.
struct Pool<P: Pack> {
    /// The windows as they come, each begins a pack.
    rows: Vec<P>,
    /// The windows in lanes, conditioned.
    pixels: Vec<P>,
    starts: [P; 3],
    data: Conditioning<P>,
    /// The window in the first lane.
    first: usize,
    /// The lanes that are still to be taken.
    ready: u32,
}

/// Fits in the lanes of one pack.
struct Lanes<P: Pack> {
    pixels: Vec<P>,
    search: SpotSearch<P, Circular, 3>,
    data: Conditioning<P>,
    window: [u32; 32],
    /// The lanes with a fit in them.
    busy: u32,
}

/// Working memory of a thread.
pub(super) struct Scratch<P: Pack> {
    size: Size,
    packs: [Lanes<P>; PACKS],
    axes: Vec<P>,
    pool: Pool<P>,
}

impl<P: Pack> Scratch<P> {
    #[inline(always)]
    pub(super) fn new(setup: &Setup<P>) -> Self {
        let size = setup.size();
        let zero = P::splat(0.0);
        let starts = [zero, zero, P::splat(1.0)];
        let lanes = || {
            let mut pixels = vec![zero; size.pixels()];
            let data = condition(&mut pixels);
            let search = pass::begin(setup, &data, starts);
            Lanes { search, data, pixels, window: [0; 32], busy: 0 }
        };
        // Packs that a window begins and ends.
        let packs = size.pixels().div_ceil(P::LANES);
        let mut pixels = vec![zero; packs * P::LANES];
        let data = condition(&mut pixels);
        let rows = vec![zero; packs * P::LANES];
        Self {
            size,
            packs: [lanes(), lanes()],
            axes: vec![zero; 2 * Axes::<P>::scratch_len(size)],
            pool: Pool { rows, pixels, starts, data, first: 0, ready: 0 },
        }
    }
}

/// Fits `fits.len()` windows; the number of the first is `first`.
#[inline(always)]
pub(super) fn run<P: Pack, T: Scalar>(
    setup: &Setup<P>,
    scratch: &mut Scratch<P>,
    windows: &impl Windows,
    start: Start<'_>,
    first: usize,
    fits: &mut [Fit<T>],
) {
    let Scratch { size, packs, axes, pool } = scratch;
    pool.ready = 0;
    let (these, others) = axes.split_at_mut(Axes::<P>::scratch_len(*size));
    let (Some(mut axes), Some(mut other_axes)) =
        (Axes::new(these, *size), Axes::new(others, *size))
    else {
        return;
    };
    let mut feed = Feed { windows, start, first, size: *size, pool, next: 0 };
    for lanes in packs.iter_mut() {
        lanes.refill(setup, &mut feed, fits);
    }
    // While the search of one pack waits for its divisions, the sums of the other are on their way: what
    // hangs on the outcome of a search, and is hard to predict, comes after them.
    let [a, b] = packs;
    let (mut here, mut there) = (a, b);
    while here.busy | there.busy != 0 {
        let mut tile = Serial::new(&here.pixels[..], *size, &mut axes);
        let sums = pass::evaluate(&mut tile, setup.shape(), here.search.trial());
        let evaluation = assemble(&sums, &here.data, setup.background());
        let done = there.busy & !P::bits(there.search.running());
        if done.count_ones() >= enough(P::LANES) || (done != 0 && feed.is_empty(fits.len())) {
            there.collect(setup, done, &mut other_axes, fits);
            there.refill(setup, &mut feed, fits);
        }
        here.search.update(setup.settings(), setup.shape(), &evaluation);
        std::mem::swap(&mut here, &mut there);
    }
}

/// The windows that are still to be fitted.
struct Feed<'a, P: Pack, W> {
    windows: &'a W,
    start: Start<'a>,
    first: usize,
    size: Size,
    pool: &'a mut Pool<P>,
    /// The next to be made ready.
    next: usize,
}

impl<P: Pack, W: Windows> Feed<'_, P, W> {
    /// Whether all of `count` windows have been taken.
    #[inline(always)]
    fn is_empty(&self, count: usize) -> bool {
        self.pool.ready == 0 && self.next == count
    }

    /// Makes the next windows ready; those with nothing to fit get their outcome.
    #[inline(always)]
    fn make_ready<T: Scalar>(&mut self, fits: &mut [Fit<T>]) {
        let Self { pool, size, .. } = self;
        let pixels = size.pixels();
        let packs = pixels.div_ceil(P::LANES);
        let first = self.first + self.next;
        let count = P::LANES.min(fits.len() - self.next);
        self.windows.prefetch(first + count..first + count + P::LANES, pixels);
        for lane in 0..count {
            let rows = &mut pool.rows[lane * packs..][..packs];
            self.windows.load(first + lane, pixels, rows);
        }
        // Lanes that are left over have pixels of earlier windows.
        for pack in 0..packs {
            let columns = &mut pool.pixels[pack * P::LANES..][..P::LANES];
            P::transpose(&pool.rows[pack..], packs, columns);
        }
        // Conditioning and the estimate have no use for samples.
        let mut axes = Axes::none();
        let mut tile = Serial::new(&mut pool.pixels[..pixels], *size, &mut axes);
        let (data, extent) = pass::condition(&mut tile);
        pool.data = data;
        pool.starts = match self.start {
            Start::Estimate => Circular.from_circle(pass::estimate(&tile, &extent)),
            _ => {
                let mut numbers = [[f32::NAN; 32]; 3];
                for lane in 0..count {
                    if let Some(shape) = self.start.shape(first + lane) {
                        let Shape { x, y, sigma } = shape;
                        [numbers[0][lane], numbers[1][lane], numbers[2][lane]] = [x, y, sigma];
                    }
                }
                [P::load(&numbers[0]), P::load(&numbers[1]), P::load(&numbers[2])]
            }
        };
        let [x, y, sigma] = pool.starts;
        let finite = x.is_finite() & y.is_finite() & sigma.is_finite();
        let there = u32::MAX >> (32 - count);
        pool.ready = P::bits(pool.data.usable & finite) & there;
        pool.first = self.next;
        let mut unusable = there & !pool.ready;
        while unusable != 0 {
            fits[self.next + unusable.trailing_zeros() as usize] = Fit::invalid();
            unusable &= unusable - 1;
        }
        self.next += count;
    }
}

impl<P: Pack> Lanes<P> {
    /// Puts new fits into the lanes that are free.
    #[inline(always)]
    fn refill<T: Scalar, W: Windows>(
        &mut self,
        setup: &Setup<P>,
        feed: &mut Feed<'_, P, W>,
        fits: &mut [Fit<T>],
    ) {
        let all = u32::MAX >> (32 - P::LANES);
        while self.busy != all {
            if feed.pool.ready == 0 {
                if feed.next == fits.len() {
                    break;
                }
                feed.make_ready(fits);
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
            self.window[to as usize] = pool.first as u32 + lane;
            fresh |= 1 << to;
            free &= free - 1;
            pool.ready &= pool.ready - 1;
        }
        self.busy |= fresh;
        let (moves, mask) = (P::moves(&from), P::mask(fresh));
        let Self { pixels, data, .. } = self;
        P::put(pixels, mask, &pool.pixels, moves);
        let [x, y, sigma] = pool.starts;
        let start = [x.moved(moves), y.moved(moves), sigma.moved(moves)];
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
    fn collect<T: Scalar>(
        &mut self,
        setup: &Setup<P>,
        mut done: u32,
        axes: &mut Axes<'_, P>,
        fits: &mut [Fit<T>],
    ) {
        self.busy &= !done;
        let Self { search, data, pixels, window, .. } = self;
        let mut tile = Serial::new(&pixels[..], setup.size(), axes);
        let finish = Finish::WhereSumsCancel;
        let found = pass::end(setup, &mut tile, data, search, P::mask(done), finish);
        let stored = stored(&found);
        while done != 0 {
            let lane = done.trailing_zeros() as usize;
            done &= done - 1;
            let fit = Fit::from_record(&stored.map(|numbers| numbers[lane]));
            let finite = fit.status != Status::Invalid;
            fits[window[lane] as usize] = if finite { fit.cast() } else { Fit::invalid() };
        }
    }
}

/// The lanes of a record one by one.
#[inline(always)]
fn stored<P: Pack, const K: usize, const L: usize>(
    found: &Record<P, K, L>,
) -> Record<[f32; 32], K, L> {
    let mut record = Record {
        parameters: [[0.0; 32]; K],
        linear: [[0.0; 32]; L],
        cost: [0.0; 32],
        iterations: [0.0; 32],
        evaluations: [0.0; 32],
        status: [0.0; 32],
    };
    for j in 0..K {
        found.parameters[j].store(&mut record.parameters[j]);
    }
    for j in 0..L {
        found.linear[j].store(&mut record.linear[j]);
    }
    found.cost.store(&mut record.cost);
    found.iterations.store(&mut record.iterations);
    found.evaluations.store(&mut record.evaluations);
    found.status.store(&mut record.status);
    record
}
