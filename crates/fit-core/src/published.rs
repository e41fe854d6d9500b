//! The iteration of the paper's pseudo-code `Fit2DGaussian`, as published.
//!
//! [`crate::search`] is what Spotfit uses; this is the yardstick that it is measured with. The slips that
//! docs/algorithm.md lists are corrected, all else is to the letter: every pass begins with an evaluation of
//! its own for the derivatives, χ² is compared as it is, rounding and all, a smaller one decides nothing
//! about how far the step went wrong, and a fit whose χ² no step reduces ends as
//! [`Status::NotConverged`], though in single precision most of them are at the minimum. A fit that ends on a
//! limit is not told apart. Two things the pseudo-code leaves open: `limit()` is [`Setup::limit`], and λ
//! stays above [`LAMBDA_MIN`].

use crate::condition::Conditioning;
use crate::normal::Evaluation;
use crate::options::Setup;
use crate::outcome::Status;
use crate::real::{Mask, Real};
use crate::search::{LAMBDA_FACTOR, LAMBDA_MAX, LAMBDA_MIN, LAMBDA_START, stepped};
use crate::shape::Shape;
use crate::solve::damped_step;

/// A window that is evaluated, in one lane or by many that all get the same numbers.
pub trait Window<R: Real> {
    /// The paper's `Gaussian2D`: α and β (eq. 6), χ² from the residuals (eq. 2), and, if asked for, JᵀJ and
    /// Jᵀ(h − g).
    fn evaluate(&mut self, shape: Shape<R>, derivatives: bool) -> Evaluation<R>;
}

/// Searches from `initial`, which is brought within the limits, and gives the arguments of
/// [`crate::Fit::from_numbers`].
///
/// All lanes of `R` must have the same numbers: they take each decision together.
#[inline(always)]
pub fn search<R: Real, W: Window<R>>(
    setup: &Setup<R>,
    data: &Conditioning<R>,
    initial: Shape<R>,
    window: &mut W,
) -> [R; 9] {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let mut best = setup.limit(initial);
    let mut at_best =
        Evaluation { alpha: zero, beta: zero, chi2: zero, jtj: [zero; 6], jtr: [zero; 3] };
    let mut trial = best;
    let mut lambda = R::splat(LAMBDA_START);
    let (mut iterations, mut evaluations) = (zero, zero);
    let (mut derivatives, mut retried) = (true, false);
    let max_error = setup.max_error * data.scale * data.scale;
    let mut status = Status::Invalid;
    // One place to evaluate and one to solve, as machines with small instruction caches like it.
    while (data.usable & initial.is_finite()).any() {
        let evaluation = window.evaluate(trial, derivatives);
        evaluations = evaluations + one;
        let chi2 = evaluation.chi2;
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
            let before = at_best.chi2;
            let moved = [trial.x - best.x, trial.y - best.y, trial.sigma - best.sigma];
            let small = setup.is_small(best, &moved).any();
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
                (at_best.alpha, at_best.beta) = (evaluation.alpha, evaluation.beta);
                at_best.chi2 = chi2;
                if chi2.lt(max_error).any() {
                    status = Status::MaxError;
                    break;
                }
                if (before * (one - setup.min_delta)).lt(chi2).any() {
                    status = Status::MinDelta;
                    break;
                }
                if small {
                    status = Status::MinStep;
                    break;
                }
                if setup.max_iterations.le(iterations).any() {
                    status = Status::MaxIterations;
                    break;
                }
                accepted = true;
            }
        }
        if setup.max_evaluations.le(evaluations).any() {
            status = Status::MaxIterations;
            break;
        }
        if accepted {
            derivatives = true;
            trial = best;
        } else {
            derivatives = false;
            let step = damped_step(&at_best.jtj, &at_best.jtr, lambda);
            trial = setup.limit(stepped(best, step));
        }
    }
    [
        best.x,
        best.y,
        best.sigma,
        data.amplitude(at_best.alpha),
        data.background(at_best.beta),
        data.chi2(at_best.chi2),
        iterations,
        evaluations,
        R::splat(status.code()),
    ]
}
