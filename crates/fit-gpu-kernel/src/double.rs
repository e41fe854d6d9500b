//! The end of a search in double precision: it goes on where single precision has ended, with the same search and sums.

use core::ptr::{null, null_mut};

use fit_core::curve::{Explicit, LevenbergMarquardt, Sums, Units, covariance, is_pushed};
use fit_core::search::solve::Symmetric;
use fit_core::search::{Count, Newton, Normal, Resumable, Settings};
use fit_core::{Mask, Status};
use fit_engine::functions::Elementary;

use crate::curve::{Curve, CurveJob, Scaled};
use crate::device;

/// The argument of the kernels that end searches in double precision. Pointers are those of the device.
///
/// - `single`: the search in single precision, whose data are fitted and which has written what it `found`. It has no weights, start values
///   or limits of each fit's own here.
/// - `data`: null if those of `single` are fitted, else as many numbers.
/// - `weights` (null if there are none), `variables`, `lower` and `upper`: as [`CurveJob`] has them, with `weight_step`, `variable_step`
///   and `limit_step` numbers from one fit to the next; 0 if all have the same.
/// - `found`: [`DoubleJob::found_numbers`] numbers of each fit, one kind after the other: all fits' first parameter comes first, then
///   other parameters, errors, [`DoubleJob::OTHERS`] and, if `covariance`, the rows of that from the diagonal on.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DoubleJob {
    /// The search in single precision.
    pub single: CurveJob,
    /// Data in double precision, or null.
    pub data: *const f64,
    /// Weights, or null.
    pub weights: *const f64,
    /// The variables.
    pub variables: *const f64,
    /// Lower limits.
    pub lower: *const f64,
    /// Upper limits.
    pub upper: *const f64,
    /// What was found.
    pub found: *mut f64,
    /// Numbers from the weights of a fit to those of the next.
    pub weight_step: u32,
    /// The same for variables.
    pub variable_step: u32,
    /// The same for limits.
    pub limit_step: u32,
    /// 1 if the covariance is wanted.
    pub covariance: u32,
    /// 1 if the variance of the data is known.
    pub absolute: u32,
}

impl DoubleJob {
    /// A job without data.
    pub const fn new() -> Self {
        Self {
            single: CurveJob::new(),
            data: null(),
            weights: null(),
            variables: null(),
            lower: null(),
            upper: null(),
            found: null_mut(),
            weight_step: 0,
            variable_step: 0,
            limit_step: 0,
            covariance: 0,
            absolute: 0,
        }
    }

    /// What is found of each fit beside parameters, errors and covariance: χ², degrees of freedom, iterations, evaluations, and the code of
    /// its status, which is 0 for one that is left.
    pub const OTHERS: usize = 5;

    /// The numbers that are found of a fit of so many parameters.
    pub const fn found_numbers(parameters: usize, covariance: bool) -> usize {
        let pairs = if covariance { parameters * (parameters + 1) / 2 } else { 0 };
        2 * parameters + Self::OTHERS + pairs
    }

    /// The job whose data are words of these, where each thread has a fit: one for each number, or two.
    #[inline(always)]
    pub const fn rows(&self) -> CurveJob {
        CurveJob { points: self.single.points << self.wide(), ..self.single }
    }

    /// 1 if data are of double precision.
    #[inline(always)]
    pub const fn wide(&self) -> u32 {
        !self.data.is_null() as u32
    }
}

impl Default for DoubleJob {
    fn default() -> Self {
        Self::new()
    }
}

/// Where a search goes on, and what it must keep to.
#[derive(Clone, Copy, Debug)]
pub struct Resumed<R, const P: usize> {
    /// What single precision found.
    pub initial: [R; P],
    /// Its iterations, evaluations and status.
    pub before: [R; 3],
    /// Lower limits.
    pub lower: [R; P],
    /// Upper limits.
    pub upper: [R; P],
}

/// What was found of a data set, in the order in which it is written.
#[derive(Clone, Copy, Debug)]
pub struct DoubleOutcome<R, const P: usize> {
    /// The parameters.
    pub parameters: [R; P],
    /// Their errors.
    pub errors: [R; P],
    /// See [`DoubleJob::OTHERS`].
    pub others: [R; DoubleJob::OTHERS],
    /// The covariance.
    pub covariance: Symmetric<R, P>,
}

/// What a kernel minimizes: squares of residuals, or the deviance of counts, and whether points have weights. Where these numbers are known to
/// the assembler alone, it leaves out what belongs to the others.
#[derive(Clone, Copy, Debug)]
pub struct Minimized {
    /// 1 for the deviance.
    pub poisson: u32,
    /// 1 if there are weights.
    pub weighted: u32,
}

/// A step is the last where it is this share of a standard error, or has been that of each parameter.
const SHARE: f64 = 1e-9;
const STEP: f64 = 1e-10;
/// Iterations, and visits to the points, after which a fit is left.
const MOST_ITERATIONS: f64 = 60.0;
const MOST_EVALUATIONS: f64 = 120.0;
/// The largest 1/(1 − R²) of a parameter and the others; beyond it too many digits are lost.
const MOST_ALIKE: f64 = 1e9;
/// What rounding leaves of residuals that the search cannot tell from none.
const UNRESOLVED: f64 = 4.0 * f64::EPSILON;

/// Ends the search for a data set.
#[inline(always)]
pub fn finish<R, C, const P: usize>(
    curve: &mut C,
    job: &DoubleJob,
    what: Minimized,
    resumed: &Resumed<R, P>,
) -> DoubleOutcome<R, P>
where
    R: Elementary + From<f32>,
    C: Curve<R, P>,
{
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let code = |status: Status| R::splat(status as u8 as f64);
    let Resumed { initial, before: [iterations, evaluations, single], lower, upper } = *resumed;
    let is_poisson = what.poisson != 0;
    let mut held = [R::Mask::splat(false); P];
    let mut free = zero;
    for j in 0..P {
        held[j] = upper[j].le(lower[j]);
        free = free + R::select(held[j], zero, one);
    }
    let [size, seen] = measure(curve, what);
    let degrees = seen - free;
    let known = R::Mask::splat(is_poisson | (job.absolute != 0));
    let share = R::splat(SHARE * SHARE);
    let settings = Settings {
        max_iterations: (R::from(job.single.max_iterations) - iterations)
            .min(R::splat(MOST_ITERATIONS)),
        max_evaluations: R::splat(MOST_EVALUATIONS),
        max_error: R::splat(-1.0),
        min_delta: zero,
        min_step: R::splat(STEP),
        step_by_place: zero,
        lower,
        upper,
        newton: Newton::Always,
        finish: R::select(known, zero, share / degrees),
        tolerance: R::select(known, share, zero),
    };
    let mut explicit = Explicit::default();
    // Rounds that the compiler counts are written one after the other, which makes a long text.
    explicit.rounds = device::anew(explicit.rounds as u32) as usize;
    // All had their iterations; more of them would find more.
    let exhausted = code(Status::MaxIterations).le(single) & single.le(code(Status::MaxIterations));
    let usable = one.le(degrees) & one.le(free) & !exhausted;
    let mut descent =
        LevenbergMarquardt::start(settings, explicit, usable, initial, Units::at(&initial));
    while descent.running().any() {
        let sums = visit(curve, descent.search().trial(), what);
        descent.step(sums, &mut Scaled { curve, scale: one }, is_poisson, size, degrees);
    }
    let (record, search) = (descent.record(), descent.search());
    let Normal { gradient, hessian, .. } = search.at_best();
    let mut sound = search.status().lt(code(Status::AtLimit)) & record.cost.is_finite();
    let mut degrees = degrees;
    let mut at_limit = R::Mask::splat(false);
    for j in 0..P {
        let at = record.parameters[j];
        let [low, high] = [at.le(lower[j]), upper[j].le(at)];
        let against = (low & zero.lt(gradient[j])) | (high & gradient[j].lt(zero));
        let pushed = against & !held[j] & is_pushed(gradient[j], hessian.0[j][j], size);
        degrees = degrees + R::select(pushed, one, zero);
        at_limit = at_limit | ((low | high) & !held[j]);
        held[j] = held[j] | pushed;
    }
    let mut covariance = covariance(Count::ALL, hessian, &Units::at(&[one; P]), &held, one);
    for j in 0..P {
        let alike = hessian.0[j][j] * covariance.at(j, j);
        sound = sound & (held[j] | alike.le(R::splat(MOST_ALIKE)));
    }
    // As in single precision, where that found a minimum too; at a limit, whichever criterion was met.
    let mut status = R::select(single.lt(code(Status::Stalled)), single, record.status);
    status = R::select(at_limit, code(Status::AtLimit), status);
    let stalled = code(Status::Stalled).le(status) & !at_limit;
    // The variance of data that are known to their last digit at best, and what the search cannot tell.
    let given = size * R::splat(f64::EPSILON * f64::EPSILON / 12.0) / seen;
    let unresolved = R::splat(2.0 * UNRESOLVED * UNRESOLVED) * (size + record.cost);
    let least = given.max(R::select(stalled, unresolved, zero));
    let variance = R::select(known, one, (record.cost / degrees).max(least));
    let length = search.constants().length;
    let mut errors = [zero; P];
    for j in 0..P {
        for k in j..P {
            covariance.0[j][k] = covariance.0[j][k] * variance * length[j] * length[k];
        }
        errors[j] = covariance.0[j][j].sqrt();
    }
    let others = [
        record.cost,
        degrees,
        iterations + record.iterations,
        evaluations + record.evaluations,
        R::select(sound, status, zero),
    ];
    DoubleOutcome { parameters: record.parameters, errors, others, covariance }
}

/// Σwd², or Σd of counts, and how many points are seen.
#[inline(always)]
fn measure<R: Elementary, C: Curve<R, P>, const P: usize>(curve: &C, what: Minimized) -> [R; 2] {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let [first, step] = curve.mine();
    let [mut size, mut seen] = [zero; 2];
    let mut point = first;
    while point < curve.points() {
        let weight = if what.weighted != 0 { curve.weight(point) } else { one };
        let there = zero.lt(weight);
        let datum = R::select(there, curve.datum(point), zero);
        let own = if what.poisson != 0 { one } else { weight * datum };
        size = own.mul_add(datum, size);
        seen = seen + R::select(there, one, zero);
        point += step;
    }
    [size, seen].map(|own| curve.sum(own))
}

/// Visits the points.
#[inline(always)]
fn visit<R: Elementary, C: Curve<R, P>, const P: usize>(
    curve: &mut C,
    trial: &[R; P],
    what: Minimized,
) -> Sums<R, P> {
    curve.prepare(trial);
    let one = R::splat(1.0);
    let [first, step] = curve.mine();
    let mut sums = Sums::<R, P>::zero(Count::ALL);
    let mut point = first;
    while point < curve.points() {
        let (at, datum) = (curve.at(point), curve.datum(point));
        // Asked anew, so that the compiler makes no loop for each answer, with the formula in it.
        let [poisson, weighted] = [what.poisson, what.weighted].map(|own| device::anew(own) != 0);
        let weight = if weighted { curve.weight(point) } else { one };
        if poisson {
            sums.add_poisson::<true>(&at, datum, weight);
        } else if weighted {
            sums.add_square::<true>(&at, datum, weight, one);
        } else {
            sums.add_square::<false>(&at, datum, one, one);
        }
        point += step;
    }
    if step == 1 { sums } else { sums.in_all(|own| curve.sum(own)) }
}
