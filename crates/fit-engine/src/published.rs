//! The iteration of the paper's pseudo-code `Fit2DGaussian`, as published.
//!
//! Spotfit fits with [`fit_core::search`]; this module is for comparison. It corrects the slips that docs/algorithm.md
//! lists and otherwise follows the pseudo-code to the letter: every pass begins with an evaluation of its own for the
//! derivatives; χ² is compared as computed, rounding included; and a fit whose χ² no step reduces ends as
//! [`Status::NotConverged`], though in single precision most such fits are at the minimum. A fit that ends on a
//! limit gets no status of its own. The pseudo-code leaves two things open: here `limit()` is
//! [`fit_core::search::Settings::limit`], and λ stays above [`LAMBDA_MIN`].

use fit_core::Setup;
use fit_core::Status;
use fit_core::arithmetic::{Mask, Real};
use fit_core::search::Record;
use fit_core::search::solve::damped_step;
use fit_core::search::{LAMBDA_FACTOR, LAMBDA_MAX, LAMBDA_MIN, LAMBDA_START, Normal, stepped};
use fit_core::spot::conditioning::Conditioning;
use fit_core::spot::shape::Circular;

/// A window that can be evaluated, by one lane or by many lanes that all get the same numbers.
pub trait Gaussian2D<R: Real> {
    /// The paper's `Gaussian2D`: α and β (eq. 6), χ² from the residuals (eq. 2), and, if requested, JᵀJ and
    /// Jᵀ(h − g).
    fn evaluate(&mut self, p: &[R; 3], derivatives: bool) -> Normal<R, 3, 2>;
}

/// Searches from `initial`, clamped to the limits; the outcome is in the units of the pixels.
///
/// All lanes of `R` must have the same numbers: they take each decision together.
#[inline(always)]
pub fn search<R: Real, W: Gaussian2D<R>>(
    setup: &Setup<R>,
    data: &Conditioning<R>,
    initial: [R; 3],
    window: &mut W,
) -> Record<R, 3, 2> {
    let settings = setup.settings();
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let mut best = settings.limit(&Circular, &[], initial);
    let mut at_best = Normal::zero();
    let mut trial = best;
    let mut lambda = R::splat(LAMBDA_START);
    let (mut iterations, mut evaluations) = (zero, zero);
    let (mut derivatives, mut retried) = (true, false);
    let max_error = setup.max_cost(data);
    let mut status = Status::Invalid;
    // One place to evaluate and one to solve, as machines with small instruction caches like it.
    let finite = initial[0].is_finite() & initial[1].is_finite() & initial[2].is_finite();
    while (data.usable & finite).any() {
        let evaluation = window.evaluate(&trial, derivatives);
        evaluations = evaluations + one;
        let chi2 = evaluation.cost;
        let mut accepted = false;
        if derivatives {
            iterations = iterations + one;
            (best, at_best) = (trial, evaluation);
            if !chi2.is_finite().any() {
                status = Status::NotConverged;
                break;
            }
            if chi2.lt(max_error).any() {
                status = Status::MaxError;
                break;
            }
            retried = false;
        } else {
            let before = at_best.cost;
            let moved = [trial[0] - best[0], trial[1] - best[1], trial[2] - best[2]];
            let small = settings.is_small(&Circular, &[], &best, &moved).any();
            if before.lt(chi2).any() || !chi2.is_finite().any() {
                let exhausted = R::splat(LAMBDA_MAX).le(lambda).any();
                if small || exhausted || !chi2.is_finite().any() {
                    status = Status::NotConverged;
                    break;
                }
                lambda = lambda * R::splat(LAMBDA_FACTOR);
                retried = true;
            } else {
                if chi2.lt(before).any() && !retried {
                    lambda = (lambda * R::splat(1.0 / LAMBDA_FACTOR)).max(R::splat(LAMBDA_MIN));
                }
                best = trial;
                at_best.linear = evaluation.linear;
                at_best.cost = chi2;
                if chi2.lt(max_error).any() {
                    status = Status::MaxError;
                    break;
                }
                if (before * (one - settings.min_delta)).lt(chi2).any() {
                    status = Status::MinDelta;
                    break;
                }
                if small {
                    status = Status::MinStep;
                    break;
                }
                if settings.max_iterations.le(iterations).any() {
                    status = Status::MaxIterations;
                    break;
                }
                accepted = true;
            }
        }
        if settings.max_evaluations.le(evaluations).any() {
            status = Status::MaxIterations;
            break;
        }
        if accepted {
            derivatives = true;
            trial = best;
        } else {
            derivatives = false;
            let step = damped_step(&at_best.hessian, &at_best.gradient, lambda);
            trial = settings.limit(&Circular, &[], stepped(&Circular, &[], &best, &step));
        }
    }
    let [alpha, beta] = at_best.linear;
    Record {
        parameters: best,
        linear: [data.amplitude(alpha), data.background(beta)],
        cost: data.chi2(at_best.cost),
        iterations,
        evaluations,
        status: R::splat(status.code()),
    }
}
