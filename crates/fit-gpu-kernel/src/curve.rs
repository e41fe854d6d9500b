//! Models given as formulas: the fit of one data set by a group of threads. The model is not here: kernels have marks where
//! the host puts a formula's own instructions.

use core::cell::Cell;
use core::ptr::{null, null_mut};

use fit_core::Mask;
use fit_core::curve::{
    At, Explicit, Factored, LevenbergMarquardt, Sums, Units, covariance, is_surely_pushed,
};
use fit_core::search::solve::Symmetric;
use fit_core::search::{Count, Normal, Resumable, Settings};
use fit_engine::cooperative::COOPERATIVE_THREADS;
use fit_engine::functions::Elementary;
use fit_engine::single::{self, DataScale};

use crate::device;

/// What a kernel for models minimizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CurveMethod {
    /// Squares of residuals; all points count alike.
    Plain,
    /// The same with weights.
    Weighted,
    /// The deviance of counts, with weights or without.
    Poisson,
    /// Any of these, by Gpufit's search ([`crate::gpufit`]).
    Gpufit,
    /// Any of the first three, of many parameters or points ([`fit_engine::cooperative`]).
    Cooperative,
    /// The end in double precision of any of the first three ([`crate::double`]).
    Double,
}

impl CurveMethod {
    /// As kernels know it.
    pub const PLAIN: u8 = Self::Plain as u8;
    /// As kernels know it.
    pub const WEIGHTED: u8 = Self::Weighted as u8;
    /// As kernels know it.
    pub const POISSON: u8 = Self::Poisson as u8;
    /// As kernels know it.
    pub const GPUFIT: u8 = Self::Gpufit as u8;
}

/// The argument of every kernel for models. Pointers are those of the device, and numbers are in single precision.
///
/// - `data`: `count` rows of `points` numbers; or, if `halves`, of as many whole numbers of 16 bits, and 32 bits more. Then the data sets
///   of a block have an even number of points.
/// - `weights`: null if there are none; `count` rows if `own_weights`, else one row that the host has scaled by
///   2^`weight_unit`.
/// - `variables`: a row for each variable of the model; of each fit, one fit after the other, if `own_variables`, which is
///   how many there are.
/// - `starts`: the parameters of each fit, `start_step` numbers from one to the next (0 if all have the same). `lower` and
///   `upper` are their limits, with `limit_step`.
/// - `found`: for each fit [`CurveJob::found_numbers`] numbers, all of which the kernel writes: the parameters of one fit after the other; in the same way the
///   roots of the diagonal of the inverse Hessian; cost, iterations, evaluations, status with and without a look at the limits,
///   unit, degrees of freedom and size (as [`SingleFit`] has them), each of all fits; and if `covariance` the upper halves of
///   the inverse Hessians.
///
/// [`SingleFit`]: https://docs.rs/fit-curves
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CurveJob {
    /// The data.
    pub data: *const f32,
    /// Weights, or null.
    pub weights: *const f32,
    /// The variables.
    pub variables: *const f32,
    /// Start values.
    pub starts: *const f32,
    /// Lower limits.
    pub lower: *const f32,
    /// Upper limits.
    pub upper: *const f32,
    /// What was found.
    pub found: *mut f32,
    /// How many data sets there are.
    pub count: u32,
    /// The points of each of them.
    pub points: u32,
    /// The threads of a fit: 1, or all 32 of a warp.
    pub lanes: u32,
    /// 1 if each fit has its own weights.
    pub own_weights: u32,
    /// How many variables each fit has of its own.
    pub own_variables: u32,
    /// Numbers from the start values of a fit to those of the next.
    pub start_step: u32,
    /// The same for limits.
    pub limit_step: u32,
    /// 1 if the inverse Hessian is wanted.
    pub covariance: u32,
    /// 1 if data are whole numbers of 16 bits.
    pub halves: u32,
    /// The largest number of iterations.
    pub max_iterations: f32,
    /// A fit ends where a step is predicted to gain less than this share of the cost for each degree of freedom.
    pub share: f32,
    /// Or less than this of the cost.
    pub square: f32,
    /// The weights of all fits were multiplied by two to this power.
    pub weight_unit: f32,
}

impl CurveJob {
    /// A job without data.
    pub const fn new() -> Self {
        Self {
            data: null(),
            weights: null(),
            variables: null(),
            starts: null(),
            lower: null(),
            upper: null(),
            found: null_mut(),
            count: 0,
            points: 0,
            lanes: 1,
            own_weights: 0,
            own_variables: 0,
            start_step: 0,
            limit_step: 0,
            covariance: 0,
            halves: 0,
            max_iterations: 0.0,
            share: 0.0,
            square: 0.0,
            weight_unit: 0.0,
        }
    }

    /// What is found of each fit beside parameters, errors and covariance.
    pub const OTHERS: usize = 8;

    /// The numbers that a fit of so many parameters gives.
    pub const fn found_numbers(parameters: usize, covariance: bool) -> usize {
        let pairs = if covariance { parameters * (parameters + 1) / 2 } else { 0 };
        2 * parameters + Self::OTHERS + pairs
    }

    /// The numbers of shared memory that a warp takes whose threads have a parameter each, for models of up to so many parameters.
    pub const fn cooperative_numbers(most: usize) -> usize {
        2 * most + COOPERATIVE_THREADS + COOPERATIVE_THREADS * (most + 4)
    }

    /// The rows of `points` numbers that a fit has in shared memory: its data, and its own weights and variables.
    #[inline(always)]
    pub const fn rows(&self) -> usize {
        1 + (self.own_weights + self.own_variables) as usize
    }

    /// The numbers of shared memory from one fit to the next: its rows, and its own start values and limits; an odd number where
    /// each thread has a fit, so that threads beside each other use different banks.
    #[inline(always)]
    pub const fn stride(&self) -> usize {
        let own = (self.start_step + 2 * self.limit_step) as usize;
        let numbers = self.rows() * self.points as usize + own;
        if self.lanes == 1 { numbers | 1 } else { numbers }
    }
}

impl Default for CurveJob {
    fn default() -> Self {
        Self::new()
    }
}

/// A data set, and the model at its points. A group of threads has it; each of them some of the points.
pub trait Curve<R: Elementary, const P: usize> {
    /// The first point of this thread, and the points from one to the next.
    fn mine(&self) -> [usize; 2];
    /// How many points there are in all.
    fn points(&self) -> usize;
    /// What was measured at a point.
    fn datum(&self, point: usize) -> R;
    /// The weight of a point, where points have weights.
    fn weight(&self, point: usize) -> R;
    /// Takes parameters.
    fn prepare(&mut self, parameters: &[R; P]);
    /// The model at a point, with the derivatives but for their factors.
    fn at(&self, point: usize) -> At<R, P>;
    /// These factors.
    fn scales(&self) -> [R; P];
    /// The sum of what the threads have.
    fn sum(&self, value: R) -> R;
    /// The same of several numbers.
    #[inline(always)]
    fn sum_each(&self, mut values: [R; TOGETHER]) -> [R; TOGETHER] {
        for i in 0..TOGETHER {
            values[i] = self.sum(values[i]);
        }
        values
    }
}

/// A data set in memory of the threads' own, for single precision, which has to scale it.
pub trait OwnCurve<R: Elementary, const P: usize>: Curve<R, P> {
    /// Replaces what was measured at a point.
    fn set_datum(&mut self, point: usize, value: R);
    /// Whether points have weights, and whether they are this data set's own. A method that has no weights does not ask.
    fn weighted(&self) -> [bool; 2];
    /// Replaces the weight of a point, where it is the data set's own.
    fn set_weight(&mut self, point: usize, value: R);
    /// The parameters that are eliminated, a bit for each.
    fn eliminated(&self) -> u32;
    /// The largest of what the threads have.
    fn most(&self, value: R) -> R;
}

/// Numbers that threads sum together.
pub const TOGETHER: usize = 8;

/// The most parameters of models whose sums are, and room for these sums.
const MOST_TOGETHER: usize = 7;
const MOST_SUMS: usize = 40;

/// Where a search begins, and what it must keep to.
#[derive(Clone, Copy, Debug)]
pub struct Begin<R, const P: usize> {
    /// Start values.
    pub initial: [R; P],
    /// Lower limits.
    pub lower: [R; P],
    /// Upper limits.
    pub upper: [R; P],
}

/// What was found of a data set, in the order in which it is written.
#[derive(Clone, Copy, Debug)]
pub struct CurveOutcome<R, const P: usize> {
    /// The parameters.
    pub parameters: [R; P],
    /// The roots of the diagonal of the inverse Hessian; infinite where single precision does not tell a parameter from
    /// the others.
    pub errors: [R; P],
    /// Cost, iterations, evaluations, status with and without a look at the limits, unit, degrees of freedom and size.
    pub others: [R; CurveJob::OTHERS],
    /// The inverse Hessian.
    pub covariance: Symmetric<R, P>,
}

/// Whether points have weights, and whether they are this data set's own.
#[inline(always)]
fn weighted<R: Elementary, C: OwnCurve<R, P>, const P: usize, const METHOD: u8>(
    curve: &C,
) -> [bool; 2] {
    let [weighted, own] = curve.weighted();
    match METHOD {
        CurveMethod::PLAIN => [false; 2],
        CurveMethod::WEIGHTED => [true, own],
        _ => [weighted, own],
    }
}

/// Fits a data set by a [`CurveMethod`].
#[inline(always)]
pub fn fit<R, C, const P: usize, const METHOD: u8>(
    curve: &mut C,
    job: &CurveJob,
    begin: &Begin<R, P>,
) -> CurveOutcome<R, P>
where
    R: Elementary + From<f32>,
    C: OwnCurve<R, P>,
{
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let mut held = [R::Mask::splat(false); P];
    let mut free = zero;
    for j in 0..P {
        held[j] = begin.upper[j].le(begin.lower[j]);
        free = free + R::select(held[j], zero, one);
    }
    let survey = condition::<R, C, P, METHOD>(curve, job, free);
    let DataScale { scale, unit, size, degrees, sound, .. } = survey;
    let bounded = unit.max(R::splat(-250.0)).min(R::splat(250.0));
    let ends = [R::from(job.share) / degrees, R::from(job.square).scaled(bounded)];
    let limits = [begin.lower, begin.upper];
    let settings = Settings::of_model(R::from(job.max_iterations), limits, ends);
    let units = Units::at(&begin.initial);
    let eliminated = if METHOD == CurveMethod::POISSON { 0 } else { curve.eliminated() };
    let mut explicit = Explicit { eliminated: eliminated.into(), ..Explicit::default() };
    if P > 5 {
        // Rounds that the compiler counts are written one after the other: a third of a text that the driver has to compile. With fewer
        // parameters it leaves the loop as it is.
        explicit.rounds = device::anew(explicit.rounds as u32) as usize;
    }
    let usable = R::Mask::splat(sound);
    let mut descent = LevenbergMarquardt::start(settings, explicit, usable, begin.initial, units);
    while descent.running().any() {
        let sums = visit::<R, C, P, METHOD>(curve, descent.search().trial(), scale);
        let mut model = Scaled { curve, scale };
        descent.step(sums, &mut model, METHOD == CurveMethod::POISSON, size, degrees);
    }
    let record = descent.record();
    let search = descent.search();
    let Normal { gradient, hessian, .. } = search.at_best();
    let little = settings.finish.mul_add(record.cost, settings.tolerance);
    let mut degrees = degrees;
    let mut doubted = [R::Mask::splat(false); P];
    for j in 0..P {
        let at = record.parameters[j];
        let on_limit = (at.le(begin.lower[j]) | begin.upper[j].le(at)) & !held[j];
        let pushed = is_surely_pushed(gradient[j], hessian.0[j][j], size, little);
        degrees = degrees + R::select(on_limit & pushed, one, zero);
        // Whether the data push the others, single precision does not tell.
        doubted[j] = on_limit & !pushed;
        held[j] = held[j] | on_limit;
    }
    let covariance = covariance(Count::ALL, hessian, &Units::at(&[one; P]), &held, one);
    let mut errors = [zero; P];
    for j in 0..P {
        // 1/(1 − R²): where it is large, rounding of the sums is all that tells parameters apart.
        let variance = covariance.at(j, j);
        let alike = hessian.0[j][j] * variance;
        let told = alike.le(R::splat(single::MOST_ALIKE)) & (held[j] | zero.lt(variance));
        let told = told & !doubted[j];
        errors[j] = R::select(told, variance.sqrt(), R::splat(f64::INFINITY));
    }
    let raw = single::status(Count::ALL, search.status(), gradient, &covariance, little);
    CurveOutcome {
        parameters: record.parameters,
        errors,
        others: [
            record.cost,
            record.iterations,
            record.evaluations,
            record.status,
            raw,
            unit,
            degrees,
            size,
        ],
        covariance,
    }
}

/// A data set whose model has derivatives of the data as they were scaled.
pub(crate) struct Scaled<'a, C, R> {
    pub(crate) curve: &'a mut C,
    pub(crate) scale: R,
}

impl<R: Elementary, C: Curve<R, P>, const P: usize> Factored<R, P> for Scaled<'_, C, R> {
    #[inline(always)]
    fn prepare(&mut self, parameters: &[R; P]) {
        self.curve.prepare(parameters);
    }
    #[inline(always)]
    fn factors(&self) -> [R; P] {
        scaled(self.curve.scales(), self.scale)
    }
}

/// Scales the data and their own weights by powers of two, and leaves out what has no weight.
#[inline(always)]
pub(crate) fn condition<R, C, const P: usize, const METHOD: u8>(
    curve: &mut C,
    job: &CurveJob,
    free: R,
) -> DataScale<R>
where
    R: Elementary + From<f32>,
    C: OwnCurve<R, P>,
{
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let [first, step] = curve.mine();
    let (points, poisson) = (curve.points(), METHOD == CurveMethod::POISSON);
    let [weighted, own] = weighted::<R, C, P, METHOD>(curve);
    let (mut most, mut below, mut seen, mut heaviest, mut odd) = (zero, zero, zero, zero, zero);
    let mut point = first;
    while point < points {
        let mut datum = curve.datum(point);
        let mut there = R::Mask::splat(true);
        if weighted {
            let weight = curve.weight(point);
            there = zero.lt(weight);
            heaviest = heaviest.max(R::select(there, weight, zero));
            datum = R::select(there, datum, zero);
            curve.set_datum(point, datum);
        }
        seen = seen + R::select(there, one, zero);
        most = most.max(datum.abs());
        below = below.max(-datum);
        odd = R::select(datum.is_finite(), odd, one);
        point += step;
    }
    let [most, below, heaviest, odd] = [most, below, heaviest, odd].map(|own| curve.most(own));
    let degrees = curve.sum(seen) - free;
    let weights = (own, heaviest, R::from(job.weight_unit));
    let degrees = [degrees, free];
    let mut survey = DataScale::new(poisson, degrees, odd.lt(one), [most, below], weights);
    let mut size = zero;
    let mut point = first;
    while point < points {
        let datum = curve.datum(point) * survey.scale;
        curve.set_datum(point, datum);
        let mut weight = one;
        if weighted {
            weight = curve.weight(point);
            if own {
                // NaN becomes 0.
                let scaled = if poisson { one } else { weight * survey.weight_scale };
                weight = R::select(zero.lt(weight), scaled, zero);
                curve.set_weight(point, weight);
            }
        }
        size = if poisson { size + datum } else { (weight * datum).mul_add(datum, size) };
        point += step;
    }
    survey.size = curve.sum(size);
    survey
}

/// Factors for data that were scaled.
#[inline(always)]
pub(crate) fn scaled<R: Elementary, const P: usize>(mut scales: [R; P], scale: R) -> [R; P] {
    for j in 0..P {
        scales[j] = scales[j] * scale;
    }
    scales
}

/// Visits the points.
#[inline(always)]
fn visit<R, C, const P: usize, const METHOD: u8>(
    curve: &mut C,
    trial: &[R; P],
    scale: R,
) -> Sums<R, P>
where
    R: Elementary,
    C: OwnCurve<R, P>,
{
    curve.prepare(trial);
    let (one, points) = (R::splat(1.0), curve.points());
    let [first, step] = curve.mine();
    let [weighted, _] = weighted::<R, C, P, METHOD>(curve);
    let mut sums = Sums::<R, P>::zero(Count::ALL);
    let mut point = first;
    // Two at a time: what one waits for, the other can do.
    macro_rules! visit {
        (|$at:ident, $point:ident| $add:expr) => {
            while point + step < points {
                let all = [(curve.at(point), point), (curve.at(point + step), point + step)];
                for ($at, $point) in all {
                    $add;
                }
                point += 2 * step;
            }
            while point < points {
                let ($at, $point) = (curve.at(point), point);
                $add;
                point += step;
            }
        };
    }
    if METHOD == CurveMethod::POISSON {
        visit!(|at, point| {
            let weight = if weighted { curve.weight(point) } else { one };
            sums.add_poisson::<true>(&at, curve.datum(point), weight);
        });
    } else if METHOD == CurveMethod::WEIGHTED {
        visit!(|at, point| {
            let (datum, weight) = (curve.datum(point), curve.weight(point));
            sums.add_square::<true>(&at, datum, weight, scale);
        });
    } else {
        visit!(|at, point| sums.add_square::<false>(&at, curve.datum(point), one, scale));
    }
    in_all(curve, &sums)
}

/// The sums of all threads.
#[inline(always)]
#[expect(
    clippy::manual_memcpy,
    reason = "slices of other lengths would have to panic, which a GPU cannot"
)]
pub(crate) fn in_all<R: Elementary, C: Curve<R, P>, const P: usize>(
    curve: &C,
    sums: &Sums<R, P>,
) -> Sums<R, P> {
    if P > MOST_TOGETHER {
        return sums.in_all(|own| curve.sum(own));
    }
    let zero = R::splat(0.0);
    let mut numbers = [zero; MOST_SUMS];
    let at = Cell::new(0);
    let places = Cell::from_mut(&mut numbers[..]).as_slice_of_cells();
    sums.in_all(|own| {
        places[at.get()].set(own);
        at.set(at.get() + 1);
        own
    });
    let mut first = 0;
    while first < at.get() {
        let mut some = [zero; TOGETHER];
        for i in 0..TOGETHER {
            some[i] = numbers[first + i];
        }
        some = curve.sum_each(some);
        for i in 0..TOGETHER {
            numbers[first + i] = some[i];
        }
        first += TOGETHER;
    }
    let at = Cell::new(0);
    sums.in_all(|_| {
        let number = numbers[at.get()];
        at.set(at.get() + 1);
        number
    })
}
