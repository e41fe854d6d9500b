//! Models given as formulas, by Gpufit's search ([`fit_engine::gpufit`]): the fit of one data set by a group of threads,
//! and what is found in the order in which Gpufit's programs take it.

use core::ptr::null_mut;

use fit_core::Mask;
use fit_core::curve::{Sums, Units};
use fit_core::search::{Count, Resumable};
use fit_engine::functions::Elementary;
use fit_engine::gpufit::{GpufitSearch, GpufitSettings, GpufitState};
use fit_engine::single;

use crate::curve::{Begin, CurveJob, CurveMethod, OwnCurve, condition, in_all, scaled};

/// The argument of every kernel for Gpufit's search.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct GpufitJob {
    /// The data and what they come with. Of the criteria only `max_iterations` counts, and nothing is `found`.
    pub curve: CurveJob,
    /// (fit, parameter).
    pub parameters: *mut f32,
    /// Numbers of [`GpufitState`], or [`GpufitJob::LEFT`].
    pub states: *mut i32,
    /// χ² or the deviance.
    pub chi2: *mut f32,
    /// Steps, whether they gained or not.
    pub iterations: *mut i32,
    /// A search ends where a step changes χ² by less than this share of max(1, χ²).
    pub tolerance: f32,
    /// A bit for each parameter that keeps its start value.
    pub held: u32,
    /// 1 to minimize the deviance of counts, 0 for squares of residuals.
    pub poisson: u32,
}

impl GpufitJob {
    /// The state of a fit that single precision does not decide.
    pub const LEFT: i32 = -1;

    /// A job without data.
    pub const fn new() -> Self {
        Self {
            curve: CurveJob::new(),
            parameters: null_mut(),
            states: null_mut(),
            chi2: null_mut(),
            iterations: null_mut(),
            tolerance: 0.0,
            held: 0,
            poisson: 0,
        }
    }
}

impl Default for GpufitJob {
    fn default() -> Self {
        Self::new()
    }
}

/// What was found of a data set.
#[derive(Clone, Copy, Debug)]
pub struct GpufitOutcome<R, const P: usize> {
    /// The parameters; the start values of a fit that is left.
    pub parameters: [R; P],
    /// The number of the [`GpufitState`], or [`GpufitJob::LEFT`].
    pub state: R,
    /// χ² or the deviance.
    pub chi2: R,
    /// Steps.
    pub iterations: R,
}

/// Fits a data set.
#[inline(always)]
pub fn fit<R, C, const P: usize>(
    curve: &mut C,
    job: &GpufitJob,
    begin: &Begin<R, P>,
) -> GpufitOutcome<R, P>
where
    R: Elementary + From<f32>,
    C: OwnCurve<R, P>,
{
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let poisson = job.poisson != 0;
    let mut free = zero;
    for j in 0..P {
        free = free + R::select(R::Mask::splat(job.held >> j & 1 == 1), zero, one);
    }
    let survey = if poisson {
        condition::<R, C, P, { CurveMethod::POISSON }>(curve, &job.curve, free)
    } else {
        condition::<R, C, P, { CurveMethod::GPUFIT }>(curve, &job.curve, free)
    };
    let bounded = survey.unit.max(R::splat(-120.0)).min(R::splat(120.0));
    let settings = GpufitSettings {
        tolerance: R::from(job.tolerance),
        one: one.scaled(bounded),
        max_iterations: R::from(job.curve.max_iterations),
        lower: begin.lower,
        upper: begin.upper,
        held: u64::from(job.held),
        count: Count::ALL,
    };
    let length = Units::at(&begin.initial).length;
    let usable = R::Mask::splat(survey.sound);
    let mut search = GpufitSearch::start(usable, begin.initial, length);
    while search.running().any() {
        let sums = visit(curve, search.trial(), survey.scale, poisson);
        let mut scales = scaled(curve.scales(), survey.scale);
        for j in 0..P {
            scales[j] = scales[j] * search.length()[j];
        }
        let (normal, positive) = sums.normal(&scales);
        search.update(&settings, &normal, positive | R::Mask::splat(!poisson));
    }
    let cost = search.cost();
    // What single precision says of residuals that small, and of what cannot be solved, is rounding.
    let least = R::splat(single::LEAST_RESIDUAL * single::LEAST_RESIDUAL) * survey.degrees;
    let singular = R::splat(f64::from(GpufitState::Singular as u8));
    let decided = usable
        & (R::Mask::splat(poisson) | least.le(cost))
        & cost.is_finite()
        & !(singular.le(search.state()) & search.state().le(singular));
    let mut parameters = begin.initial;
    for j in 0..P {
        parameters[j] = R::select(decided, search.best()[j], parameters[j]);
    }
    GpufitOutcome {
        parameters,
        state: R::select(decided, search.state(), R::splat(f64::from(GpufitJob::LEFT))),
        chi2: cost.scaled(-survey.unit),
        iterations: search.iterations(),
    }
}

/// Visits the points.
#[inline(always)]
fn visit<R, C, const P: usize>(curve: &mut C, trial: &[R; P], scale: R, poisson: bool) -> Sums<R, P>
where
    R: Elementary,
    C: OwnCurve<R, P>,
{
    curve.prepare(trial);
    let (one, points) = (R::splat(1.0), curve.points());
    let [first, step] = curve.mine();
    let [weighted, _] = curve.weighted();
    let mut sums = Sums::<R, P>::zero(Count::ALL);
    let mut point = first;
    while point < points {
        let at = curve.at(point);
        let datum = curve.datum(point);
        let weight = if weighted { curve.weight(point) } else { one };
        if poisson {
            sums.add_observed(&at, datum, weight);
        } else {
            sums.add_square::<true>(&at, datum, weight, scale);
        }
        point += step;
    }
    in_all(curve, &sums)
}
