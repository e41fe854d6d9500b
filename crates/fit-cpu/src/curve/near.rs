//! Searches of long data sets that begin with some of the points.
//!
//! Some of the points lead to near the minimum of all, unless what tells a parameter is at few points, as a narrow peak is: then some of
//! them may see none of it. Looks at all points, where the search begins and where it is led, tell whether the others say the same.

use fit_core::curve::{Descent, Explicit, determined};
use fit_core::search::{Count, Normal, Record, Resumable, Settings};
use fit_core::{Estimator, Status};
use fit_curves::CurveOptions;

use super::engine::Work;
use super::evaluate::SetPoints;
use super::visit::Visit;

/// Some of the points are searched until a step is as short as this, in their standard errors. The next would be much shorter.
const COARSE_TOLERANCE: f64 = 0.1;
/// The share by which what some of the points say may differ from what all say, if it is said by many.
const MOST_UNLIKE: f64 = 0.15;
/// From where some of the points lead, χ² falls by the share of parameters in them, about; no more than so many times of it.
const MOST_GAIN: f64 = 100.0;

/// The end of a search.
pub(super) struct Near<const P: usize> {
    pub(super) descent: Descent<f64, P>,
    /// Whether some of the points brought it near.
    pub(super) brought: bool,
    /// Iterations with some of the points.
    pub(super) iterations: f64,
    /// Looks at all points that another search had.
    pub(super) evaluations: f64,
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
    fn is_like(&self, all: &Self, share: f64, rounding: f64, count: usize) -> bool {
        let near = |few: f64, all: f64, size: f64| (share * few - all).abs() <= size;
        let curvature = |said: &Self, j: usize, k: usize| {
            said.normal.hessian.0[j][k] / said.length[j] / said.length[k]
        };
        let size = |j: usize| curvature(all, j, j).sqrt();
        near(self.normal.cost, all.normal.cost, MOST_UNLIKE * all.normal.cost + rounding)
            && (0..count).all(|j| {
                (j..count).all(|k| {
                    let [few, whole] = [self, all].map(|said| curvature(said, j, k));
                    near(few, whole, MOST_UNLIKE * size(j) * size(k))
                })
            })
    }
}

impl<E: SetPoints<f64>> Work<E> {
    /// A search that begins with some of the points, if the data are held.
    pub(super) fn near<const P: usize>(
        &mut self,
        settings: &Settings<f64, P>,
        options: &CurveOptions,
        held: &[bool; P],
        initial: [f64; P],
    ) -> Option<Near<P>>
    where
        E: Visit<P>,
    {
        let poisson = options.estimator == Estimator::MaximumLikelihood;
        if self.scale.is_some() || !self.model.held()?.set_few(true) {
            return None;
        }
        self.model.held()?.set_few(false);
        let (mut from_start, units) = self.begun(settings, self.explicit, initial);
        self.go_on(&mut from_start, &units, poisson);
        let led = self.led(settings, options, held, &from_start, initial);
        Some(match led {
            Ok(near) => near,
            Err(evaluations) => {
                while from_start.running() {
                    self.go_on(&mut from_start, &units, poisson);
                }
                Near { descent: from_start, brought: false, iterations: 0.0, evaluations }
            }
        })
    }

    /// The search from where some of the points lead, or else how many looks at all points were in vain.
    fn led<const P: usize>(
        &mut self,
        settings: &Settings<f64, P>,
        options: &CurveOptions,
        held: &[bool; P],
        from_start: &Descent<f64, P>,
        initial: [f64; P],
    ) -> Result<Near<P>, f64>
    where
        E: Visit<P>,
    {
        let poisson = options.estimator == Estimator::MaximumLikelihood;
        let (points, size) = (self.points() as f64, self.size);
        let count = self.explicit.count;
        // What the rounding of all residuals makes of χ².
        let rounding = 16.0 * f64::EPSILON * f64::EPSILON * size;
        self.set_few(true, poisson);
        let few = self.points() as f64;
        let share = points / few;
        let tolerance = options.tolerance.max(COARSE_TOLERANCE);
        let [finish, tolerance] = options.clone().with_tolerance(tolerance).ends();
        let coarse = Settings { finish: finish / few, tolerance, ..*settings };
        let (mut descent, units) = self.begun(&coarse, self.explicit, initial);
        self.go_on(&mut descent, &units, poisson);
        let is_like = Said::by(&descent).is_like(&Said::by(from_start), share, rounding, count);
        while is_like && descent.running() {
            self.go_on(&mut descent, &units, poisson);
        }
        self.set_few(false, poisson);
        self.size = size;
        let promised = Said::by(&descent);
        let Record { parameters, iterations, .. } = descent.record();
        let left = settings.max_iterations - iterations;
        if !is_like || !has_ended(&descent) || left < 1.0 {
            return Err(0.0);
        }
        // From near a minimum there is nothing to gain by what is eliminated.
        let explicit = Explicit { eliminated: 0, ..self.explicit };
        let settings = Settings { max_iterations: left, ..*settings };
        let (mut descent, units) = self.begun(&settings, explicit, parameters);
        self.go_on(&mut descent, &units, poisson);
        let there = Said::by(&descent);
        if !promised.is_like(&there, share, rounding, count) {
            return Err(1.0);
        }
        while descent.running() {
            self.go_on(&mut descent, &units, poisson);
        }
        let found = descent.record();
        let (_, unknown) = determined(Count::new(count), &descent.search().at_best().hessian, held);
        let least = there.normal.cost * (1.0 - MOST_GAIN * count as f64 / few) - rounding;
        let is_lower = found.cost <= from_start.search().at_best().cost;
        if has_ended(&descent) && is_lower && found.cost >= least && !unknown.contains(&true) {
            // The look at the start values.
            Ok(Near { descent, brought: true, iterations, evaluations: 1.0 })
        } else {
            Err(found.evaluations)
        }
    }

    /// Has looks be made at some of the points, or at all again.
    fn set_few(&mut self, few: bool, poisson: bool) {
        if let Some(model) = self.model.held() {
            model.set_few(few);
            self.size = model.size(None, poisson);
        }
    }
}

/// Whether a search found a minimum. One that gave up may stand on a limit.
fn has_ended<const P: usize>(descent: &Descent<f64, P>) -> bool {
    let status = Status::from_code(descent.record().status as u8).unwrap_or(Status::Invalid);
    let gave_up = descent.search().status() == f64::from(Status::NotConverged as u8);
    !gave_up && (status.is_converged() || status == Status::AtLimit)
}
