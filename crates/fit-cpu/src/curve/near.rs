//! Searches of long data sets that begin with some of the points.
//!
//! Some of the points lead to near the minimum of all, unless what tells a parameter is at few points, as a narrow peak is: then they may
//! see none of it. So the search begins with all points where parts of the few do not say the same, or where these and all do not.

use fit_core::curve::{Descent, Explicit, Units, determined};
use fit_core::search::{Count, Normal, Record, Resumable, Settings};
use fit_core::{Estimator, Status};
use fit_curves::CurveOptions;

use super::engine::Work;
use super::evaluate::SetPoints;
use super::visit::Visit;

/// Some of the points are searched until a step is as short as this, in their standard errors. The next would be much shorter.
const COARSE_TOLERANCE: f64 = 0.1;
/// The share by which what some of the points say may differ from what all say.
const MOST_UNLIKE: f64 = 0.25;
/// How uneven parts of some of the points may be: their deviation is half of what they say.
const MOST_UNEVEN: f64 = 0.25;
/// From where some of the points lead, χ² falls by the share of parameters in them, about; no more than so many times of it.
const MOST_GAIN: f64 = 100.0;
/// A step gains no more than this share of what the one before it gained, if the next is foreseen.
const MOST_SHARE: f64 = 0.01;

/// The end of a search that some of the points brought near.
pub(super) struct Near<const P: usize> {
    pub(super) descent: Descent<f64, P>,
    /// Iterations with some of the points.
    pub(super) iterations: f64,
}

/// Sums of some points, or all, at the best parameters so far.
struct Said<const P: usize> {
    normal: Normal<f64, P, 0>,
    /// What the derivatives are multiplied by.
    length: [f64; P],
}

impl<const P: usize> Said<P> {
    fn by(descent: &Descent<f64, P>) -> Self {
        let search = descent.search();
        Self { normal: *search.at_best(), length: search.constants().length }
    }

    /// Whether some of the points, times their share, say the same as all: of χ², and of how it is curved.
    fn is_like(&self, all: &Self, share: f64, rounding: f64, free: &[usize]) -> bool {
        let near = |few: f64, all: f64, size: f64| (share * few - all).abs() <= size;
        let curvature = |said: &Self, j: usize, k: usize| {
            said.normal.hessian.0[j][k] / said.length[j] / said.length[k]
        };
        let size = |j: usize| curvature(all, j, j).sqrt();
        near(self.normal.cost, all.normal.cost, MOST_UNLIKE * all.normal.cost + rounding)
            && free.iter().enumerate().all(|(at, &j)| {
                free[at..].iter().all(|&k| {
                    let [few, whole] = [self, all].map(|said| curvature(said, j, k));
                    near(few, whole, MOST_UNLIKE * size(j) * size(k))
                })
            })
    }
}

impl<E: SetPoints<f64>> Work<E> {
    /// A search that begins with some of the points, if the data are held and all points say what these say, or else after how many looks
    /// at all points that was seen.
    pub(super) fn near<const P: usize>(
        &mut self,
        settings: &Settings<f64, P>,
        options: &CurveOptions,
        held: &[bool; P],
        initial: [f64; P],
    ) -> Result<Near<P>, f64>
    where
        E: Visit<P>,
    {
        let poisson = options.estimator == Estimator::MaximumLikelihood;
        let (points, size) = (self.points() as f64, self.size);
        if self.scale.is_some() || !self.set_few(true, poisson) {
            return Err(0.0);
        }
        let few = self.points() as f64;
        let tolerance = options.tolerance.max(COARSE_TOLERANCE);
        let [finish, tolerance] = options.clone().with_tolerance(tolerance).ends();
        let coarse = Settings { finish: finish / few, tolerance, ..*settings };
        let free: Vec<usize> = (0..self.explicit.count.min(P)).filter(|&j| !held[j]).collect();
        let (mut descent, units) = self.begun(&coarse, self.explicit, initial);
        self.go_on(&mut descent, &units, poisson);
        let mut is_even = self.is_even(&free);
        while is_even && descent.running() {
            self.go_on(&mut descent, &units, poisson);
        }
        is_even = is_even && self.is_even(&free);
        self.set_few(false, poisson);
        self.size = size;
        let said = Said::by(&descent);
        let Record { parameters, iterations, .. } = descent.record();
        let left = settings.max_iterations - iterations;
        if !is_even || !has_ended(&descent) || left < 1.0 {
            return Err(0.0);
        }
        // From near a minimum there is nothing to gain by what is eliminated.
        let explicit = Explicit { eliminated: 0, ..self.explicit };
        let settings = Settings { max_iterations: left, ..*settings };
        let (mut descent, units) = self.begun(&settings, explicit, parameters);
        self.go_on(&mut descent, &units, poisson);
        let all = Said::by(&descent);
        // What the rounding of all residuals makes of χ².
        let rounding = 16.0 * f64::EPSILON * f64::EPSILON * size;
        if !said.is_like(&all, points / few, rounding, &free) {
            return Err(1.0);
        }
        self.end(&mut descent, &units, poisson);
        let found = descent.record();
        let count = Count::new(self.explicit.count);
        let (_, unknown) = determined(count, &descent.search().at_best().hessian, held);
        let least = all.normal.cost * (1.0 - MOST_GAIN * free.len() as f64 / few) - rounding;
        if has_ended(&descent) && found.cost >= least && !unknown.contains(&true) {
            Ok(Near { descent, iterations })
        } else {
            Err(found.evaluations)
        }
    }

    /// A search that goes on from near a minimum to its end. If the next step is to gain a share of what the last one gained, the step
    /// after it gains no larger share: where that is little enough, the next step is taken without another look.
    fn end<const P: usize>(
        &mut self,
        descent: &mut Descent<f64, P>,
        units: &Units<f64, P>,
        poisson: bool,
    ) where
        E: Visit<P>,
    {
        while descent.running() {
            let before = *descent;
            let sums = self.sums::<P, false>(before.search().trial(), poisson, units);
            self.give(descent, sums, units, poisson);
            let cost = descent.search().at_best().cost;
            let gain = before.search().at_best().cost - cost;
            if descent.running() && gain > 0.0 {
                let little = before.settings.finish * cost + before.settings.tolerance;
                let enough = (little * gain).sqrt().min(MOST_SHARE * gain);
                let mut last = before;
                last.settings.finish = 0.0;
                last.settings.tolerance = enough.max(little);
                self.give(&mut last, sums, units, poisson);
                if !last.running() {
                    last.settings = descent.settings;
                    *descent = last;
                }
            }
        }
    }

    /// Whether parts of some of the points said the same of these parameters.
    fn is_even(&mut self, free: &[usize]) -> bool {
        let Some(model) = self.model.held() else { return false };
        let unevenness = model.unevenness();
        free.iter().all(|&j| unevenness[j] <= MOST_UNEVEN)
    }

    /// Has looks be made at some of the points, or at all again.
    fn set_few(&mut self, few: bool, poisson: bool) -> bool {
        let Some(model) = self.model.held() else { return false };
        let is_set = model.set_few(few);
        self.size = model.size(None, poisson);
        is_set
    }
}

/// Whether a search found a minimum. One that gave up may stand on a limit.
fn has_ended<const P: usize>(descent: &Descent<f64, P>) -> bool {
    let status = Status::from_code(descent.record().status as u8).unwrap_or(Status::Invalid);
    let gave_up = descent.search().status() == f64::from(Status::NotConverged as u8);
    !gave_up && (status.is_converged() || status == Status::AtLimit)
}
