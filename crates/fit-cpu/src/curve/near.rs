//! Searches that begin in single precision and end in double precision, at all points of a long data set.

use fit_core::curve::{Descent, Explicit, determined};
use fit_core::search::{Count, Resumable, Settings};
use fit_core::{Record, Status};
use fit_curves::CurveOptions;

use super::engine::Work;
use super::visit::Visit;

/// Single precision searches until a step is as short as this, in standard errors. The next would be shorter by about the root of the
/// number of points, and is double precision's.
const COARSE_TOLERANCE: f64 = 0.03;
/// The rounding units that single precision gets a value of the model wrong by, about.
const SINGLE_ROUNDING: f64 = 2.0 * f32::EPSILON as f64;
/// So many trials one after the other may bring nothing.
const MOST_IN_VAIN: usize = 2;
/// The share of χ² by which both may differ at the start values, and that double precision may find more of than single precision did.
const MOST_WORSE: f64 = 1e-3;

/// The end of a search in double precision that another has brought near.
pub(super) struct Near<const P: usize> {
    /// The end, if it is as good as the way there promised.
    pub(super) descent: Option<Descent<f64, P>>,
    /// Iterations and evaluations of the way there.
    pub(super) iterations: f64,
    pub(super) evaluations: f64,
}

impl<E> Work<E> {
    /// A search whose first steps are made in single precision, if the data are held and allow it.
    pub(super) fn near<const P: usize>(
        &mut self,
        settings: &Settings<f64, P>,
        (options, degrees, held): (&CurveOptions, f64, &[bool; P]),
        initial: [f64; P],
        poisson: bool,
    ) -> Option<Near<P>>
    where
        E: Visit<P>,
    {
        if self.scale.is_some() || !self.model.held()?.set_single(true) {
            return None;
        }
        self.model.held()?.set_single(false);
        let (mut exact, units) = self.begun(settings, self.explicit, initial);
        self.go_on(&mut exact, &units, poisson);
        let begins_at = exact.search().at_best().cost;
        self.model.held()?.set_single(true);
        let tolerance = options.tolerance.max(COARSE_TOLERANCE);
        let [share, tolerance] = options.clone().with_tolerance(tolerance).ends();
        let coarse = Settings { finish: share / degrees, tolerance, ..*settings };
        let (mut descent, units) = self.begun(&coarse, self.explicit, initial);
        let (mut looks, mut in_vain, mut settled) = (0, 0, false);
        while descent.running() && in_vain < MOST_IN_VAIN {
            let before = descent.search().at_best().cost;
            self.go_on(&mut descent, &units, poisson);
            let after = descent.search().at_best().cost;
            // What rounding makes of χ²: 2√(Σr²·δ²), where a residual r is off by δ.
            let points = self.points() as f64;
            let rounded = 2.0 * SINGLE_ROUNDING * (after * (self.size / points)).sqrt();
            looks += 1;
            if looks == 1 {
                // Where the points are too near to each other for single precision, it sees another model.
                let off = (after - begins_at).abs();
                let alike = off <= MOST_WORSE * begins_at + 4.0 * rounded;
                if !alike {
                    break;
                }
                continue;
            }
            let gain = before - after;
            in_vain = if gain > 0.0 { 0 } else { in_vain + 1 };
            settled = gain > 0.0 && gain <= 4.0 * rounded;
            if settled {
                break;
            }
        }
        if let Some(model) = self.model.held() {
            model.set_single(false);
        }
        let Record { parameters, cost, iterations, evaluations, status, .. } = descent.record();
        let status = Status::from_code(status as u8).unwrap_or(Status::Invalid);
        settled |= status.is_converged();
        let mut near = Near { descent: None, iterations, evaluations: evaluations + 1.0 };
        if looks == 1 && !settled {
            return Some(near);
        }
        let finite = parameters.iter().all(|parameter| parameter.is_finite());
        let left = settings.max_iterations - iterations;
        if !(finite && cost.is_finite() && left >= 1.0) {
            return Some(near);
        }
        let settings = Settings { max_iterations: left, ..*settings };
        // From a minimum there is nothing to gain by what is eliminated.
        let eliminated = if settled { 0 } else { self.explicit.eliminated };
        let explicit = Explicit { eliminated, ..self.explicit };
        let descent = self.searched(&settings, explicit, parameters, poisson);
        let record = descent.record();
        let status = Status::from_code(record.status as u8).unwrap_or(Status::Invalid);
        let count = Count::new(self.explicit.count);
        let (_, unknown) = determined(count, &descent.search().at_best().hessian, held);
        let least = SINGLE_ROUNDING * SINGLE_ROUNDING * self.size;
        let kept = record.cost <= cost * (1.0 + MOST_WORSE) + least;
        // A search that gave up may stand on a limit.
        let gave_up = descent.search().status() == f64::from(Status::NotConverged as u8);
        let ended = !gave_up && (status.is_converged() || status == Status::AtLimit);
        if kept && ended && !unknown.contains(&true) {
            near.descent = Some(descent);
        } else {
            near.evaluations += record.evaluations;
        }
        Some(near)
    }
}
