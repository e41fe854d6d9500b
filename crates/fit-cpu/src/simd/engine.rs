//! Many fits at once, one a lane, with lanes refilled as fits finish.
//!
//! Two packs of lanes are at work in turn: while the search of one waits for its divisions, the
//! processor evaluates the other, and pixels written for a new fit have reached the cache by the time
//! that they are read. What happens in a lane depends on its own window only, so the outcome of a window
//! is the same to the last bit wherever and beside whatever it is fitted.

use fit_core::condition::{Conditioning, Reduce, condition, condition_parts};
use fit_core::normal::assemble;
use fit_core::search::Search;
use fit_core::sums::{Axes, residual_chi2, separable};
use fit_core::{Fit, Scalar, Setup, Shape, Size, Start, Status, estimate, estimate_scratch_len};

use super::pack::Pack;

/// Where windows come from.
pub(super) trait Windows {
    /// Puts the pixels of a window, row after row, into the lanes of `packs`; what the lanes that are
    /// left over in the last one hold does not matter.
    fn load<P: Pack>(&self, window: usize, count: usize, packs: &mut [P]);
    /// Asks for the pixels of some windows, which will be loaded soon.
    fn prefetch(&self, windows: std::ops::Range<usize>, count: usize);
}

/// χ² from sums is reported if it is more than this many rounding units of Σ(g − mean)², that is, good
/// to about 10⁻⁴; otherwise it is summed from the residuals.
const CANCELS: f64 = 4e4;

/// Packs at work in turn.
const PACKS: usize = 2;

/// What a lane needs to know of its window: one number of each kind for each window of a stage.
struct Staged {
    shape: [[f32; 32]; 3],
    mean: [f32; 32],
    spread: [f32; 32],
    zero: [f32; 32],
    scale: [f32; 32],
    offset: [f32; 32],
}

impl Staged {
    const EMPTY: Self = Self {
        shape: [[0.0; 32], [0.0; 32], [1.0; 32]],
        mean: [0.0; 32],
        spread: [0.0; 32],
        zero: [0.0; 32],
        scale: [1.0; 32],
        offset: [0.0; 32],
    };
}

/// Windows that are ready to go into lanes. They are made ready several at a time: in a run without
/// decisions a processor works on them side by side, and waits for memory once.
struct Stage<P> {
    /// Conditioned pixels, in the lanes one after the other; each window begins a pack.
    pixels: Vec<P>,
    numbers: Staged,
    window: [u32; 32],
    /// The next to be taken, and their number.
    next: usize,
    count: usize,
    /// How many there is room for, at most 32.
    room: usize,
}

/// Numbers that the windows of a stage may take: a small part of the nearest cache.
const STAGE_NUMBERS: usize = 2048;

/// Fits in the lanes of one pack.
struct Lanes<P: Pack> {
    pixels: Vec<P>,
    search: Search<P>,
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
    stage: Stage<P>,
    estimate: Vec<f32>,
}

impl<P: Pack> Scratch<P> {
    #[inline(always)]
    pub(super) fn new(setup: &Setup<P>) -> Self {
        let size = setup.size;
        let zero = P::splat(0.0);
        let lanes = || {
            let mut pixels = vec![zero; size.pixels()];
            let data = condition(&mut pixels);
            Lanes {
                search: Search::start(setup, &data, Shape::new(zero, zero, P::splat(1.0))),
                data,
                pixels,
                window: [0; 32],
                busy: 0,
            }
        };
        let room = (STAGE_NUMBERS / size.pixels()).clamp(1, 16);
        let stage = Stage {
            pixels: vec![zero; room * size.pixels().div_ceil(P::LANES)],
            numbers: Staged::EMPTY,
            window: [0; 32],
            next: 0,
            count: 0,
            room,
        };
        Self {
            size,
            packs: [lanes(), lanes()],
            axes: vec![zero; 2 * Axes::<P>::scratch_len(size)],
            stage,
            estimate: vec![0.0; estimate_scratch_len(size)],
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
    let Scratch { size, packs, axes, stage, estimate } = scratch;
    (stage.next, stage.count) = (0, 0);
    let (these, others) = axes.split_at_mut(Axes::<P>::scratch_len(*size));
    let (Some(mut axes), Some(mut other_axes)) =
        (Axes::new(these, *size), Axes::new(others, *size))
    else {
        return;
    };
    let mut feed = Feed { windows, start, first, size: *size, stage, estimate, next: 0 };
    for lanes in packs.iter_mut() {
        lanes.refill(setup, &mut feed, fits);
    }
    // While the search of one pack waits for its divisions, the sums of the other are on their way: what
    // hangs on the outcome of a search, and is hard to predict, comes after them.
    let [a, b] = packs;
    let (mut here, mut there) = (a, b);
    while here.busy | there.busy != 0 {
        let sums = separable(&here.pixels, here.search.trial(), &mut axes);
        let evaluation = assemble(&sums, &here.data, setup.background);
        there.collect(&mut other_axes, fits);
        there.refill(setup, &mut feed, fits);
        here.search.update(setup, &evaluation);
        std::mem::swap(&mut here, &mut there);
    }
}

/// The lanes of the last register that belong to a window of `count` pixels.
#[inline(always)]
fn last_lanes<P: Pack>(count: usize) -> P::Mask {
    let used = (count - 1) % P::LANES + 1;
    P::mask(u32::MAX >> (32 - used))
}

/// The lanes of a register hold pixels of the same window.
struct AcrossLanes;

impl<P: Pack> Reduce<P> for AcrossLanes {
    #[inline(always)]
    fn first(&self, value: P) -> P {
        P::splat(value.first().into())
    }
    #[inline(always)]
    fn sum(&self, value: P) -> P {
        value.sum_of_lanes()
    }
    #[inline(always)]
    fn min(&self, value: P) -> P {
        value.least_lane()
    }
    #[inline(always)]
    fn max(&self, value: P) -> P {
        -(-value).least_lane()
    }
}

/// The windows that are still to be fitted.
struct Feed<'a, P, W> {
    windows: &'a W,
    start: Start<'a>,
    first: usize,
    size: Size,
    stage: &'a mut Stage<P>,
    estimate: &'a mut [f32],
    /// The next to be made ready.
    next: usize,
}

impl<P: Pack, W: Windows> Feed<'_, P, W> {
    /// Makes windows ready, as many as there is room for; those with nothing to fit get their outcome.
    #[inline(always)]
    fn make_ready<T: Scalar>(&mut self, fits: &mut [Fit<T>]) {
        let count = self.size.pixels();
        let last = last_lanes::<P>(count);
        let Self { stage, .. } = self;
        (stage.next, stage.count) = (0, 0);
        let packs = count.div_ceil(P::LANES);
        let ahead = self.first + self.next + stage.room;
        self.windows.prefetch(ahead..ahead + stage.room, count);
        while stage.count < stage.room && self.next < fits.len() {
            let index = self.next;
            self.next += 1;
            let pixels = &mut stage.pixels[stage.count * packs..][..packs];
            self.windows.load(self.first + index, count, pixels);
            let shape = match self.start.shape::<f32>(self.first + index) {
                Some(shape) => shape,
                None => estimate(&P::numbers(pixels)[..count], self.size, self.estimate),
            };
            let data = condition_parts(pixels, count, last, &AcrossLanes);
            stage.numbers.set(stage.count, &shape, &data);
            stage.window[stage.count] = index as u32;
            if P::bits(data.usable) & 1 == 1 && shape.is_finite() {
                stage.count += 1;
            } else {
                fits[index] = Fit::invalid();
            }
        }
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
        // Kept in registers: numbers written to memory one by one cannot be read as a pack at once.
        let zero = P::splat(0.0);
        let mut shape = Shape::new(zero, zero, P::splat(1.0));
        let mut data = self.data;
        let all = if P::LANES == 32 { u32::MAX } else { (1 << P::LANES) - 1 };
        let mut free = all & !self.busy;
        let mut fresh = 0;
        while free != 0 {
            if feed.stage.next == feed.stage.count {
                feed.make_ready(fits);
                if feed.stage.count == 0 {
                    if feed.next < fits.len() {
                        continue;
                    }
                    break;
                }
            }
            let stage = &mut *feed.stage;
            let ready = stage.next;
            stage.next += 1;
            let lane = free.trailing_zeros() as usize;
            free &= free - 1;
            fresh |= 1 << lane;
            self.window[lane] = stage.window[ready];
            stage.numbers.put(ready, P::mask(1 << lane), &mut shape, &mut data);
            let packs = stage.pixels.len() / stage.room;
            let pixels = P::numbers(&mut stage.pixels[ready * packs..][..packs]);
            for (pack, pixel) in self.pixels.iter_mut().zip(pixels) {
                pack.set_lane(lane, *pixel);
            }
        }
        if fresh != 0 {
            self.busy |= fresh;
            self.data = data;
            let started = Search::start(setup, &self.data, shape);
            self.search.refill(P::mask(fresh), &started);
        }
    }

    /// Takes the outcomes of the fits that have ended.
    #[inline(always)]
    fn collect<T: Scalar>(&mut self, axes: &mut Axes<'_, P>, fits: &mut [Fit<T>]) {
        let mut done = self.busy & !P::bits(self.search.running());
        if done == 0 {
            return;
        }
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
        let packs = [
            best.x,
            best.y,
            best.sigma,
            data.amplitude(at_best.alpha),
            data.background(at_best.beta),
            data.chi2(chi2),
            search.iterations(),
            search.evaluations(),
            search.status_code(),
        ];
        for (numbers, pack) in out.iter_mut().zip(packs) {
            pack.store(numbers);
        }
        while done != 0 {
            let lane = done.trailing_zeros() as usize;
            done &= done - 1;
            let [x, y, sigma, amplitude, background, chi2, iterations, evaluations, status] = [
                out[0][lane],
                out[1][lane],
                out[2][lane],
                out[3][lane],
                out[4][lane],
                out[5][lane],
                out[6][lane],
                out[7][lane],
                out[8][lane],
            ];
            let fit = Fit {
                x,
                y,
                sigma,
                amplitude,
                background,
                chi2,
                iterations: iterations as u32,
                evaluations: evaluations as u32,
                status: Status::from_code(status as u8).unwrap_or(Status::NotConverged),
            };
            // Pixels near the end of the number range square beyond it.
            let finite = (amplitude.abs() + background.abs() + chi2.abs()).is_finite();
            fits[window[lane] as usize] = if finite { fit.cast() } else { Fit::invalid() };
        }
    }
}

impl Staged {
    #[inline(always)]
    fn set<P: Pack>(&mut self, lane: usize, shape: &Shape<f32>, data: &Conditioning<P>) {
        self.shape[0][lane] = shape.x;
        self.shape[1][lane] = shape.y;
        self.shape[2][lane] = shape.sigma;
        self.mean[lane] = data.mean.first();
        self.spread[lane] = data.spread.first();
        self.zero[lane] = data.zero.first();
        self.scale[lane] = data.scale.first();
        self.offset[lane] = data.offset.first();
    }

    /// Puts the numbers of a window into the lane of `mask`.
    #[inline(always)]
    fn put<P: Pack>(
        &self,
        window: usize,
        mask: P::Mask,
        shape: &mut Shape<P>,
        data: &mut Conditioning<P>,
    ) {
        let [x, y, sigma] = &self.shape;
        put(&mut shape.x, mask, x[window]);
        put(&mut shape.y, mask, y[window]);
        put(&mut shape.sigma, mask, sigma[window]);
        put(&mut data.mean, mask, self.mean[window]);
        put(&mut data.spread, mask, self.spread[window]);
        put(&mut data.zero, mask, self.zero[window]);
        put(&mut data.scale, mask, self.scale[window]);
        put(&mut data.offset, mask, self.offset[window]);
        data.usable = data.usable | mask;
    }
}

/// Puts a number into the lane of `mask`.
#[inline(always)]
fn put<P: Pack>(pack: &mut P, mask: P::Mask, number: f32) {
    *pack = P::select(mask, P::broadcast(number), *pack);
}
