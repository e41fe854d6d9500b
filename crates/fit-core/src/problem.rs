//! Fits of the caller's own residuals or model, with the search that fits spots and curves.

use crate::arithmetic::Number;
use crate::curve::{
    At, Explicit, Factored, LevenbergMarquardt, Sums, Units, covariance, is_pushed,
};
use crate::error::{ArgumentError, check};
use crate::search::solve::{Symmetric, predicted_decrease, solve};
use crate::search::{Count, Resumable, Settings, without};
use crate::status::Status;

/// Where a search cannot go on, a full step gains no more than this share of the variance from a minimum.
const MOST_LEFT: f64 = 1e-3;

/// A search has a bit of a word for each parameter.
const MOST: usize = u64::BITS as usize;

/// A least-squares problem: residuals that depend on P parameters, 1 to 64.
///
/// A fit minimizes the sum of the squares of the residuals (eq. 2 of Leutenegger & Weber 2021), times their weights.
/// `R` is the arithmetic, `f32` or `f64`.
///
/// ```
/// use fit_core::{Problem, ProblemOptions, fit_problem};
///
/// /// Counts that decay: amplitude, lifetime and background.
/// struct Decay([f64; 12]);
///
/// impl Problem<f64, 3> for Decay {
///     fn residuals(&self) -> usize {
///         self.0.len()
///     }
///     fn residual(&self, &[amplitude, lifetime, background]: &[f64; 3], index: usize) -> (f64, [f64; 3]) {
///         let time = index as f64;
///         let decay = (-time / lifetime).exp();
///         let by = [decay, amplitude * decay * time / (lifetime * lifetime), 1.0];
///         (amplitude * decay + background - self.0[index], by)
///     }
///     fn size(&self, index: usize) -> f64 {
///         self.0[index]
///     }
/// }
///
/// let counts = Decay(std::array::from_fn(|i| 90.0 * (-(i as f64) / 2.5).exp() + 7.0));
/// let found = fit_problem(&counts, [50.0, 1.0, 0.0], &ProblemOptions::default())?;
/// assert!(found.status.is_converged() && (found.parameters[1] - 2.5).abs() < 1e-6);
/// # Ok::<(), fit_core::ArgumentError>(())
/// ```
pub trait Problem<R: Number, const P: usize> {
    /// The number of residuals.
    fn residuals(&self) -> usize;
    /// A residual, model less datum, and its derivatives by the parameters: a row of the Jacobian.
    fn residual(&self, parameters: &[R; P], index: usize) -> (R, [R; P]);
    /// Its weight, 1/variance; a residual of weight 0 is left out.
    fn weight(&self, index: usize) -> R {
        let _ = index;
        R::splat(1.0)
    }
    /// The size of the numbers whose difference is the residual, for instance the datum. The search estimates rounding
    /// errors from it: with 0 it may continue when changes are only rounding.
    fn size(&self, index: usize) -> R {
        let _ = index;
        R::splat(0.0)
    }
}

/// The options of [`fit_problem`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProblemOptions<R, const P: usize> {
    /// The largest number of iterations. Range: 1 to 100 000.
    pub max_iterations: u32,
    /// The fit ends when its next step is predicted to be shorter than this many standard errors. Range: 0 to 1.
    pub tolerance: f64,
    /// The lower limit of each parameter.
    pub lower: [R; P],
    /// The upper limit of each parameter. A parameter whose limits are equal is fixed.
    pub upper: [R; P],
    /// Whether weights are 1/variance. If not, they are relative, and the errors are scaled by the remaining residuals.
    pub absolute: bool,
}

impl<R: Number, const P: usize> Default for ProblemOptions<R, P> {
    fn default() -> Self {
        Self {
            max_iterations: 200,
            tolerance: 1e-3,
            lower: [R::splat(f64::NEG_INFINITY); P],
            upper: [R::splat(f64::INFINITY); P],
            absolute: false,
        }
    }
}

impl<R, const P: usize> ProblemOptions<R, P> {
    /// The same with another largest number of iterations.
    #[must_use]
    pub fn with_max_iterations(self, max_iterations: u32) -> Self {
        Self { max_iterations, ..self }
    }
    /// The same with another tolerance.
    #[must_use]
    pub fn with_tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }
    /// The same with other limits.
    #[must_use]
    pub fn with_limits(self, lower: [R; P], upper: [R; P]) -> Self {
        Self { lower, upper, ..self }
    }
    /// The same with weights that are 1/variance, or are not.
    #[must_use]
    pub fn with_absolute(self, absolute: bool) -> Self {
        Self { absolute, ..self }
    }
}

/// The minimum of the sum of squares.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Minimum<R, const P: usize> {
    /// The parameters. NaN if the status is [`Status::Invalid`], as are all other numbers.
    pub parameters: [R; P],
    /// Their standard errors: 0 for a parameter that the residuals push against a limit, infinite for one that the residuals do not
    /// determine.
    pub errors: [R; P],
    /// Their covariance.
    pub covariance: Symmetric<R, P>,
    /// χ²: the sum of the squares of the residuals, times their weights.
    pub chi2: R,
    /// Degrees of freedom: residuals with weight minus free parameters.
    pub degrees: usize,
    /// Passes of the outer loop.
    pub iterations: u32,
    /// The number of evaluations of all residuals.
    pub evaluations: u32,
    /// How the fit ended.
    pub status: Status,
}

impl<R: Number, const P: usize> Minimum<R, P> {
    fn invalid() -> Self {
        let nan = R::splat(f64::NAN);
        Self {
            parameters: [nan; P],
            errors: [nan; P],
            covariance: Symmetric([[nan; P]; P]),
            chi2: nan,
            degrees: 0,
            iterations: 0,
            evaluations: 0,
            status: Status::Invalid,
        }
    }
}

/// Derivatives of residuals come whole.
struct Whole;

impl<R: Number, const P: usize> Factored<R, P> for Whole {
    fn prepare(&mut self, _: &[R; P]) {}
    fn factors(&self) -> [R; P] {
        [R::splat(1.0); P]
    }
}

/// Visits the residuals, and adds in this precision.
fn sums<S: Number, R: Number, Q: Problem<R, P>, const P: usize>(
    problem: &Q,
    parameters: &[R; P],
) -> Sums<S, P> {
    let own = |number: R| S::splat(number.to_f64());
    let mut sums = Sums::zero(Count::ALL);
    for index in 0..problem.residuals() {
        let (value, by) = problem.residual(parameters, index);
        let (at, weight) = (At { value: own(value), by: by.map(own) }, problem.weight(index));
        sums.add_square::<true>(&at, own(R::splat(0.0)), own(weight), S::splat(1.0));
    }
    sums
}

/// Minimizes the sum of the squares of the residuals by the Levenberg–Marquardt method in a trust region (Moré 1978),
/// from `start`, which is moved within the limits. It does not allocate.
///
/// # Errors
/// [`ArgumentError::Option`] if an option is out of its range, or if a lower limit is NaN or above the upper one.
/// Residuals that are not finite, or fewer than parameters, are not an error: the status is [`Status::Invalid`].
pub fn fit_problem<R: Number, Q: Problem<R, P>, const P: usize>(
    problem: &Q,
    start: [R; P],
    options: &ProblemOptions<R, P>,
) -> Result<Minimum<R, P>, ArgumentError> {
    const { assert!(P >= 1 && P <= MOST, "a problem has 1 to 64 parameters") };
    let ProblemOptions { max_iterations, tolerance, lower, upper, absolute } = *options;
    check("max_iterations", max_iterations.into(), 1.0, 1e5, "1 to 100000")?;
    check("tolerance", tolerance, 0.0, 1.0, "0 to 1")?;
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let mut held = [false; P];
    for j in 0..P {
        check(
            "lower",
            lower[j].to_f64(),
            f64::NEG_INFINITY,
            upper[j].to_f64(),
            "up to the upper limit",
        )?;
        held[j] = lower[j] == upper[j];
    }
    let count = problem.residuals();
    let (mut size, mut seen, mut sound) = (zero, 0_usize, true);
    for index in 0..count {
        let (weight, own) = (problem.weight(index), problem.size(index));
        sound &= weight.is_finite() && own.is_finite() && zero <= weight;
        if zero < weight {
            size = size + weight * own * own;
            seen += 1;
        }
    }
    let free = held.iter().filter(|held| !**held).count();
    if !sound || seen < free {
        return Ok(Minimum::invalid());
    }
    let mut degrees = seen - free;
    let square = tolerance * tolerance;
    let iterations = R::splat(max_iterations.into());
    let finish = R::splat(if absolute { 0.0 } else { square / degrees.max(1) as f64 });
    let tolerance = R::splat(if absolute { square } else { 0.0 });
    let settings = Settings::of_model(iterations, [lower, upper], [finish, tolerance]);
    let units = Units::at(&start);
    let mut descent = LevenbergMarquardt::start(settings, Explicit::default(), true, start, units);
    while descent.running() {
        let sums = sums::<R, R, Q, P>(problem, descent.search().trial());
        descent.step(sums, &mut Whole, false, size, R::splat(count as f64));
    }
    let record = descent.record();
    let mut status = Status::from_code(record.status.to_f64() as u8).unwrap_or(Status::Invalid);
    if status == Status::Invalid || !record.cost.is_finite() {
        return Ok(Minimum::invalid());
    }
    let search = descent.search();
    let on_limit = |j: usize| {
        let at = record.parameters[j];
        !held[j] && (at <= lower[j] || upper[j] <= at)
    };
    // A last step is taken without another look, single precision cannot tell whether a full step still gains, and where no step helps all
    // parameters together may gain what none can alone.
    let gave_up = search.status().to_f64() as u8 == Status::NotConverged as u8;
    let again = gave_up || R::EPSILON > f64::EPSILON || (0..P).any(on_limit);
    let length = search.constants().length.map(Number::to_f64);
    let normal = again.then(|| sums::<f64, R, Q, P>(problem, &record.parameters).normal(&length).0);
    let mut out = held;
    if let Some(normal) = &normal {
        for j in (0..P).filter(|&j| on_limit(j)) {
            let (at_lower, slope) = (record.parameters[j] <= lower[j], normal.gradient[j]);
            let against = if at_lower { slope > 0.0 } else { slope < 0.0 };
            let [slope, own] = [slope, normal.hessian.0[j][j]].map(R::splat);
            if against && is_pushed(slope, own, size + record.cost) {
                (out[j], degrees) = (true, degrees + 1);
            }
        }
    }
    let variance = match degrees {
        _ if absolute => one,
        // Without a degree of freedom the residuals say nothing of the errors.
        0 => R::splat(f64::INFINITY),
        _ => record.cost / R::splat(degrees as f64),
    };
    let hessian = &search.at_best().hessian;
    // Nothing depends on it, or a full step still gains.
    let mut open = (0..P).any(|j| !out[j] && hessian.0[j][j] <= zero);
    if let Some(normal) = &normal {
        let h = without(Count::ALL, &normal.hessian, &out);
        let b = core::array::from_fn(|j| if out[j] { 0.0 } else { normal.gradient[j] });
        let (step, _) = solve(Count::ALL, &h, &b, 0.0);
        let gain = predicted_decrease(Count::ALL, &h, &b, &step);
        let (size, cost) = (size.to_f64(), record.cost.to_f64());
        let resolved = R::EPSILON * cost + 64.0 * R::EPSILON * R::EPSILON * P as f64 * size;
        let little = (MOST_LEFT * variance.to_f64()).max(resolved);
        open |= gain.is_nan() || gain > little;
    }
    if open && (status.is_converged() || status == Status::AtLimit) {
        status = Status::NotConverged;
    }
    let covariance = covariance(Count::ALL, hessian, search.constants(), &out, variance);
    let mut errors = [zero; P];
    for j in 0..P {
        errors[j] = covariance.at(j, j).sqrt();
    }
    Ok(Minimum {
        parameters: record.parameters,
        errors,
        covariance,
        chi2: record.cost,
        degrees,
        iterations: record.iterations.to_f64() as u32,
        evaluations: record.evaluations.to_f64() as u32,
        status,
    })
}
