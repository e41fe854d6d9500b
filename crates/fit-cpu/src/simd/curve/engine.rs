//! Many data sets at once, one per lane, with lanes refilled as fits finish.
//!
//! What happens in a lane depends only on its own data set, so a data set gives the same bits in any lane and beside any
//! others.

use std::ops::Range;

use fit_core::curve::Sums;
use fit_core::search::{Count, LaneState, MergeLanes};
use fit_core::{Estimator, Mask};
use fit_curves::{CurveBatch, Points};
use fit_engine::single;

use super::search_kind::{LaneSearch, Leave, SearchKind};
use crate::curve::{AtPoint, Evaluate, Functions, set_points};
use crate::simd::arch::pack::Pack;
use crate::simd::arch::register::Task;
use crate::simd::lanes::{Occupied, Take, enough, lanes, room, turn};

/// Models of more parameters are fitted in double precision.
pub(super) const MOST_PARAMETERS: usize = 16;

/// What a fit begins with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seeds<P, const N: usize> {
    pub(super) initial: [P; N],
    pub(super) lower: [P; N],
    pub(super) upper: [P; N],
    /// The power of two that the data are multiplied by.
    pub(super) scale: P,
    /// χ² is multiplied by two to this power, for the scales of data and weights.
    pub(super) unit: P,
    /// What the rounding of the sums is a share of.
    pub(super) size: P,
    /// Points less parameters that are not held.
    pub(super) degrees: P,
}

impl<P: Pack, const N: usize> Seeds<P, N> {
    #[inline(always)]
    fn zero() -> Self {
        let (zero, one) = (P::splat(0.0), P::splat(1.0));
        Self {
            // In a lane without a fit a model should have a value.
            initial: [one; N],
            lower: [one; N],
            upper: [one; N],
            scale: one,
            unit: zero,
            size: zero,
            degrees: one,
        }
    }

    /// The factors of derivatives, in units of these lengths and of the data as they were scaled.
    #[inline(always)]
    pub(super) fn scales<E: Evaluate<P, N>>(&self, model: &E, length: &[P; N]) -> [P; N] {
        let mut scales = model.scales();
        for j in 0..N {
            scales[j] = scales[j] * (length[j] * self.scale);
        }
        scales
    }

    /// Start values and limits.
    #[inline(always)]
    fn starts(&mut self) -> Starts<'_, P> {
        let Self { initial, lower, upper, .. } = self;
        Starts { initial, lower, upper }
    }
}

/// Start values and limits, of however many parameters there is room for.
struct Starts<'a, P> {
    initial: &'a mut [P],
    lower: &'a mut [P],
    upper: &'a mut [P],
}

impl<P: Pack> Starts<'_, P> {
    /// Takes the start values of some fits, and their limits if they have their own; returns the lanes of those whose limits
    /// single precision can tell from each other.
    #[inline(always)]
    fn set(
        &mut self,
        batch: &CurveBatch<'_, '_, '_>,
        fits: Range<usize>,
        same_limits: bool,
    ) -> u32 {
        let mut sound = u32::MAX;
        let count = batch.options.parameters();
        let Self { initial, lower, upper } = self;
        let (initial, lower, upper) = (P::numbers(initial), P::numbers(lower), P::numbers(upper));
        for (lane, fit) in fits.enumerate() {
            let mut own = [0.0; MOST_PARAMETERS];
            batch.read_start(fit, &mut own[..count]);
            for j in 0..count {
                let at = j * P::LANES + lane;
                initial[at] = own[j];
                if !same_limits {
                    let [low, high] = batch.limit(fit, j);
                    (lower[at], upper[at]) = (low as f32, high as f32);
                    if low as f32 == high as f32 && low != high {
                        sound &= !(1 << lane);
                    }
                }
            }
        }
        sound
    }
}

impl<P: Pack, const N: usize> LaneState<P> for Seeds<P, N> {
    #[inline(always)]
    fn merge<M: MergeLanes<P>>(&mut self, other: &Self, how: &M) {
        self.initial.merge(&other.initial, how);
        self.lower.merge(&other.lower, how);
        self.upper.merge(&other.upper, how);
        self.scale = how.number(self.scale, other.scale);
        self.unit = how.number(self.unit, other.unit);
        self.size = how.number(self.size, other.size);
        self.degrees = how.number(self.degrees, other.degrees);
    }
}

/// Data sets that are ready to go into lanes, one per lane; all that does not depend on how many parameters there is room for.
struct Pool<P> {
    /// As they come, each begins a pack.
    rows: Vec<P>,
    data: Vec<P>,
    /// Empty unless each fit has its own.
    weights: Vec<P>,
    /// The same, one variable after the other.
    variables: Vec<Vec<P>>,
    first: usize,
    /// The lanes that are still to be taken.
    ready: u32,
    points: usize,
    least_degrees: f64,
    /// The exponent of the power of two that weights of all fits are multiplied by.
    weight_unit: P,
    /// Whether all fits have the same start values, and the same limits.
    same_start: bool,
    same_limits: bool,
    poisson: bool,
}

/// Working memory of a thread.
pub(super) struct Scratch<P: Pack, const N: usize, E, K: SearchKind> {
    model: E,
    pool: Pool<P>,
    /// Those of the pool.
    ready: Seeds<P, N>,
    data: Vec<P>,
    /// Empty if all points count.
    weights: Vec<P>,
    seeds: Seeds<P, N>,
    search: K::LaneSearch<P, N>,
    lanes: Occupied,
    count: usize,
}

/// Fits in the lanes of an instruction set.
pub(super) trait Worker<K: SearchKind> {
    /// Fits data sets.
    fn run(&mut self, batch: &CurveBatch<'_, '_, '_>, fits: Range<usize>, chunk: &mut K::Chunk<'_>);
}

impl<P: Pack + Functions, const N: usize, E: Evaluate<P, N>, K: SearchKind> Worker<K>
    for Scratch<P, N, E, K>
{
    fn run(
        &mut self,
        batch: &CurveBatch<'_, '_, '_>,
        fits: Range<usize>,
        chunk: &mut K::Chunk<'_>,
    ) {
        P::compiled(Run { scratch: self, batch, fits, chunk });
    }
}

/// Fits data sets; those that this cannot fit, or finds no minimum of, are left for another.
struct Run<'a, 'b, 's, 'o, 'c, P: Pack, const N: usize, E, K: SearchKind> {
    scratch: &'a mut Scratch<P, N, E, K>,
    batch: &'a CurveBatch<'b, 's, 'o>,
    fits: Range<usize>,
    chunk: &'a mut K::Chunk<'c>,
}

impl<P: Pack + Functions, const N: usize, E: Evaluate<P, N>, K: SearchKind> Task<P>
    for Run<'_, '_, '_, '_, '_, P, N, E, K>
{
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { scratch, batch, fits: Range { start: mut next, end }, chunk } = self;
        scratch.pool.ready = 0;
        scratch.lanes.busy = 0;
        loop {
            let busy = scratch.lanes.busy;
            let done = busy & !P::bits(scratch.search.running());
            let empty = scratch.pool.ready == 0 && next == end;
            if done.count_ones() >= enough(P::LANES)
                || (done != 0 && (empty || done == busy))
                || (busy == 0 && !empty)
            {
                if done != 0 {
                    let Scratch { search, seeds, lanes, .. } = &mut *scratch;
                    lanes.busy &= !done;
                    search.collect(batch, seeds, done, &lanes.fits, chunk);
                }
                scratch.refill(batch, &mut next, end, chunk);
            }
            if scratch.lanes.busy == 0 {
                break;
            }
            scratch.step();
        }
    }
}

impl<P: Pack + Functions, const N: usize, E: Evaluate<P, N>, K: SearchKind> Scratch<P, N, E, K> {
    #[inline(always)]
    pub(super) fn new(batch: &CurveBatch<'_, '_, '_>, mut model: E, kind: &K) -> Self {
        set_points(batch, &mut model);
        // What depends on nothing has its value from the start.
        model.run_data();
        let mut seeds = Seeds::zero();
        let (starts, least_degrees) = (seeds.starts(), kind.least_degrees());
        let (pool, weights) = P::compiled(MakePool { batch, starts, least_degrees });
        let search = kind.idle(batch, &seeds);
        Self {
            model,
            ready: seeds,
            data: room(pool.points),
            pool,
            weights,
            seeds,
            search,
            lanes: Occupied::NONE,
            count: batch.options.parameters(),
        }
    }

    /// An evaluation and a new trial, in all lanes.
    #[inline(always)]
    fn step(&mut self) {
        let sums = self.sums();
        self.search.update(sums, &mut self.model, &self.seeds, self.pool.poisson);
    }

    /// Visits the points.
    #[inline(always)]
    fn sums(&mut self) -> Sums<P, N> {
        let Self { model, data, weights, seeds, search, count, pool, .. } = self;
        model.set_parameters(&search.trial()[..*count]);
        let mut sums = Sums::<P, N>::zero(Count::new(*count));
        let weighted = !weights.is_empty();
        // Something as long, if there are none.
        let weights = if weighted { weights } else { &*data };
        macro_rules! sum {
            (|$at:ident, $datum:ident, $weight:ident| $add:expr) => {
                for number in 0..model.blocks() {
                    let block = model.evaluate(number);
                    let results = model.block_values(&block);
                    let points = block.points();
                    let both = data[points.clone()].iter().zip(&weights[points]);
                    for (point, (&$datum, &$weight)) in both.enumerate() {
                        let $at = results.at(point);
                        $add
                    }
                }
            };
        }
        let scale = seeds.scale;
        if pool.poisson {
            if <K::LaneSearch<P, N> as LaneSearch<P, N>>::OBSERVED {
                sum!(|at, datum, weight| sums.add_observed(&at, datum, weight));
            } else {
                sum!(|at, datum, weight| sums.add_poisson::<true>(&at, datum, weight));
            }
        } else if weighted {
            sum!(|at, datum, weight| sums.add_square::<true>(&at, datum, weight, scale));
        } else {
            sum!(|at, datum, _unused| sums.add_square::<false>(&at, datum, P::splat(1.0), scale));
        }
        sums
    }

    /// Puts new fits into the lanes that are free.
    #[inline(always)]
    fn refill(
        &mut self,
        batch: &CurveBatch<'_, '_, '_>,
        next: &mut usize,
        end: usize,
        chunk: &mut K::Chunk<'_>,
    ) {
        let mut changed = false;
        while !self.lanes.is_full::<P>() {
            if self.pool.ready == 0 {
                if *next == end {
                    break;
                }
                let fits = *next..end.min(*next + P::LANES);
                *next = fits.end;
                self.make_ready(batch, fits, chunk);
                continue;
            }
            self.take();
            changed = true;
        }
        if changed && !self.pool.variables.is_empty() {
            self.model.run_data();
        }
    }

    /// Puts fits that are ready into lanes that are free, as many as there are of both.
    #[inline(always)]
    fn take(&mut self) {
        let Pool { data, weights, variables, first, ready, .. } = &mut self.pool;
        let take = self.lanes.fill::<P>(ready, *first);
        let Take { mask, moves } = take;
        P::put(&mut self.data, mask, data, moves);
        if !weights.is_empty() {
            P::put(&mut self.weights, mask, weights, moves);
        }
        for (number, variable) in variables.iter().enumerate() {
            P::put(self.model.variable(number), mask, variable, moves);
        }
        self.seeds.merge(&self.ready, &take);
        self.search.begin(mask, &self.seeds);
    }

    /// Makes data sets ready, as many as there are lanes or fewer; those that this cannot fit are left for another.
    #[inline(always)]
    fn make_ready(
        &mut self,
        batch: &CurveBatch<'_, '_, '_>,
        fits: Range<usize>,
        chunk: &mut K::Chunk<'_>,
    ) {
        let Self { pool, ready: seeds, weights, .. } = self;
        let (Range { start: first, .. }, count) = (fits.clone(), fits.len());
        let of = P::compiled(MakeReady { pool, starts: seeds.starts(), weights, batch, fits });
        [seeds.scale, seeds.unit, seeds.size, seeds.degrees] = of;
        for lane in lanes((u32::MAX >> (32 - count)) & !self.pool.ready) {
            chunk.leave(first + lane);
        }
    }
}

/// Makes memory for what is ready, and weights of the points, none if all count; takes start values and limits that are those of all fits.
struct MakePool<'a, 'b, 's, 'o, P> {
    batch: &'a CurveBatch<'b, 's, 'o>,
    starts: Starts<'a, P>,
    least_degrees: f64,
}

impl<P: Pack> Task<P> for MakePool<'_, '_, '_, '_, P> {
    type Output = (Pool<P>, Vec<P>);
    #[inline(always)]
    fn run(self) -> (Pool<P>, Vec<P>) {
        let Self { batch, starts: Starts { initial, lower, upper }, least_degrees } = self;
        let zero = P::splat(0.0);
        let points = batch.curves.points();
        let packs = points.div_ceil(P::LANES) * P::LANES;
        let poisson = batch.options.estimator == Estimator::MaximumLikelihood;
        let own_weights = batch.has_own_weights();
        // What is left out has weight 0, so maximum likelihood always has weights.
        let mut weights = Vec::new();
        let mut weight_unit = zero;
        if own_weights {
            weights = vec![zero; points];
        } else if poisson || batch.curves.weights.is_some() {
            let (shared, unit) = batch.scaled_weights();
            weight_unit = P::splat(unit);
            weights = shared.into_iter().map(P::splat).collect();
        }
        let own_variables = matches!(batch.curves.points, Points::PerFit(_));
        let variables = if own_variables { batch.variables } else { 0 };
        let (same_start, same_limits) = (batch.has_same_start(), batch.has_same_limits());
        for j in 0..batch.options.parameters() {
            if same_limits {
                [lower[j], upper[j]] = batch.limit(0, j).map(P::splat);
            }
            if same_start {
                initial[j] = P::splat(batch.start(0, j));
            }
        }
        let pool = Pool {
            rows: vec![zero; packs],
            data: vec![zero; packs],
            weights: if own_weights { vec![zero; packs] } else { Vec::new() },
            variables: vec![vec![zero; packs]; variables],
            first: 0,
            ready: 0,
            points,
            least_degrees,
            weight_unit,
            same_start,
            same_limits,
            poisson,
        };
        (pool, weights)
    }
}

/// Makes data sets ready.
struct MakeReady<'a, 'b, 's, 'o, P> {
    pool: &'a mut Pool<P>,
    starts: Starts<'a, P>,
    /// Those of all fits, if they are that.
    weights: &'a [P],
    batch: &'a CurveBatch<'b, 's, 'o>,
    fits: Range<usize>,
}

impl<P: Pack> Task<P> for MakeReady<'_, '_, '_, '_, P> {
    /// The scale of the data, the unit of χ², the size of the sums, and the degrees of freedom.
    type Output = [P; 4];
    #[inline(always)]
    fn run(self) -> [P; 4] {
        let Self { pool, mut starts, weights: shared, batch, fits } = self;
        let (points, first, count) = (pool.points, fits.start, fits.len());
        let packs = points.div_ceil(P::LANES);
        let Pool { least_degrees, poisson, same_start, same_limits, weight_unit, .. } = *pool;
        let Pool { rows, data, weights, variables, .. } = &mut *pool;
        let mut usable = u32::MAX >> (32 - count);
        macro_rules! load {
            (|$fit:ident, $numbers:ident| $read:expr, $to:expr) => {
                for lane in 0..count {
                    let $fit = first + lane;
                    let $numbers = &mut P::numbers(&mut rows[lane * packs..][..packs])[..points];
                    $read;
                }
                turn(rows, $to, points);
            };
        }
        load!(|fit, numbers| batch.read_data(fit, numbers), data);
        if !weights.is_empty() {
            load!(
                |fit, numbers| if !batch.read_weights(fit, numbers) {
                    usable &= !(1 << (fit - first));
                },
                weights
            );
        }
        for (number, variable) in variables.iter_mut().enumerate() {
            load!(
                |fit, numbers| if !batch.read_variable(fit, number, numbers) {
                    usable &= !(1 << (fit - first));
                },
                variable
            );
        }
        if !same_start || !same_limits {
            usable &= starts.set(batch, fits.clone(), same_limits);
            for lane in 0..count {
                if !batch.holds(first + lane) {
                    usable &= !(1 << lane);
                }
            }
        }
        let (zero, one) = (P::splat(0.0), P::splat(1.0));
        let mut free = zero;
        for (&lower, &upper) in starts.lower.iter().zip(starts.upper.iter()) {
            free = free + P::select(lower.lt(upper), one, zero);
        }

        // What is seen, and how large it is.
        let (mut most, mut least, mut seen, mut heaviest) = (zero, zero, zero, zero);
        let mut sound = P::Mask::splat(true);
        let weighted = !shared.is_empty();
        for point in 0..points {
            if weighted {
                let weight = if weights.is_empty() { shared[point] } else { weights[point] };
                let there = zero.lt(weight);
                heaviest = heaviest.max(P::select(there, weight, zero));
                data[point] = P::select(there, data[point], zero);
                seen = seen + P::select(there, one, zero);
            }
            let datum = data[point];
            most = most.max(datum.abs());
            least = least.min(datum);
            sound = sound & datum.is_finite();
        }
        if !weighted {
            seen = P::splat(points as f64);
        }
        let degrees = seen - free;
        // Smaller numbers have fewer digits, or none.
        sound = sound
            & P::splat(least_degrees).le(degrees)
            & one.le(free)
            & P::splat(single::LEAST).le(most);
        let (mut weight_scale, mut scale, mut unit) = (one, one, zero);
        if poisson {
            sound = sound & zero.le(least) & most.le(P::splat(single::MOST_COUNTS));
        } else {
            scale = most.normalizer();
            let mut weight_unit = weight_unit;
            if !weights.is_empty() {
                weight_scale = heaviest.normalizer();
                weight_unit = weight_scale.exponent();
                sound = sound & heaviest.is_finite() & P::splat(single::LEAST).le(heaviest);
            }
            unit = scale.exponent() + scale.exponent() + weight_unit;
        }
        let mut size = zero;
        if poisson {
            for weight in weights.iter_mut() {
                *weight = P::select(zero.lt(*weight), one, zero);
            }
            for &datum in &data[..points] {
                size = size + datum;
            }
        } else if weighted {
            for weight in weights.iter_mut() {
                // NaN becomes 0.
                *weight = P::select(zero.lt(*weight), *weight * weight_scale, zero);
            }
            let weights = if weights.is_empty() { shared } else { &*weights };
            for (datum, &weight) in data[..points].iter_mut().zip(weights) {
                *datum = *datum * scale;
                size = (weight * *datum).mul_add(*datum, size);
            }
        } else {
            for datum in &mut data[..points] {
                *datum = *datum * scale;
                size = datum.mul_add(*datum, size);
            }
        }
        pool.first = first;
        pool.ready = usable & P::bits(sound);
        [scale, unit, size, degrees]
    }
}
