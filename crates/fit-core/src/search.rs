//! The Levenberg–Marquardt search of eq. 12 to 14 as a state machine that never looks at pixels.
//!
//! The caller has the current [`Search::trial`] evaluated by whatever means and hands the result to
//! [`Search::update`], which accepts or rejects the trial, tests for an end and proposes the next
//! one. All of it is masked lane by lane: with a pack of numbers each lane is in its own iteration,
//! a finished lane stays as it is, and [`Search::refill`] gives it a new fit while others go on.
//! Because an evaluation yields χ², gradient and JᵀJ at once, an accepted trial costs nothing more.
//!
//! # Which trial is better
//! χ² as a difference of large sums is known to a few rounding units of Σ(g − mean)² only. In single
//! precision and for bright spots this is more than the last iterations gain, so a comparison of two
//! χ² would end the search at random. Where the decrease that a step promises is too small for the
//! difference, it is measured by the gradients at both ends, −½(∇χ²_before + ∇χ²_after)·δ: exact for
//! a quadratic, and precise just where the difference is not.

use crate::axis::{CENTRE_UNIT, WIDTH_UNIT};
use crate::condition::Conditioning;
use crate::normal::Evaluation;
use crate::options::Setup;
use crate::outcome::{Fit, Status};
use crate::real::{Mask, Real, Scalar};
use crate::shape::Shape;
use crate::solve::{damped_step, predicted_decrease};

/// λ at the start (eq. 12 and the text below eq. 14).
pub const LAMBDA_START: f64 = 0.01;
/// The factor by which λ shrinks and grows.
pub const LAMBDA_FACTOR: f64 = 10.0;
/// Above this λ a search without a smaller χ² ends.
pub const LAMBDA_MAX: f64 = 1e4;
/// Below this λ the damping no longer changes a step, and going on would only cost retries.
pub const LAMBDA_MIN: f64 = 1e-7;

/// χ² differences are believed above this many rounding units of Σ(g − mean)².
const RESOLVED: f64 = 32.0;
/// A promised decrease of less than (this many rounding units)² of Σ(g − mean)² is rounding.
const STALLED: f64 = 16.0;
/// In one step σ grows and shrinks by this factor at most, so that one bad step cannot end in the
/// minimum of a single noisy pixel or of a flat background.
const SIGMA_FACTOR: f64 = 2.0;

/// A search in progress, or a pack of them.
#[derive(Clone, Copy, Debug)]
pub struct Search<R: Real> {
    best: Shape<R>,
    at_best: Evaluation<R>,
    /// 1/σ of `best`.
    inverse_sigma: R,
    trial: Shape<R>,
    predicted: R,
    lambda: R,
    iterations: R,
    evaluations: R,
    retrying: R::Mask,
    max_error: R,
    spread: R,
    /// 0 while searching, then the code of a [`Status`].
    status: R,
}

impl<R: Real> Search<R> {
    /// A search from `initial`, which is brought within the limits.
    ///
    /// Lanes with nothing to fit, or with a start value that is not finite, have ended already, as
    /// `invalid`.
    #[inline(always)]
    pub fn start(setup: &Setup<R>, data: &Conditioning<R>, initial: Shape<R>) -> Self {
        let zero = R::splat(0.0);
        let sound = data.usable & initial.is_finite();
        let trial = setup.limit(initial);
        Self {
            best: trial,
            at_best: Evaluation {
                alpha: zero,
                beta: zero,
                chi2: zero,
                jtj: [zero; 6],
                jtr: [zero; 3],
            },
            inverse_sigma: R::splat(1.0) / trial.sigma,
            trial,
            predicted: zero,
            lambda: R::splat(LAMBDA_START),
            iterations: zero,
            evaluations: zero,
            retrying: R::Mask::splat(false),
            max_error: setup.max_error * data.scale * data.scale,
            spread: data.spread,
            status: R::select(sound, zero, R::splat(Status::Invalid.code())),
        }
    }

    /// Puts `other`'s fits into the lanes where `mask` is true.
    #[inline(always)]
    pub fn refill(&mut self, mask: R::Mask, other: &Self) {
        self.best = Shape::select(mask, other.best, self.best);
        self.at_best = Evaluation::select(mask, &other.at_best, &self.at_best);
        self.inverse_sigma = R::select(mask, other.inverse_sigma, self.inverse_sigma);
        self.trial = Shape::select(mask, other.trial, self.trial);
        self.predicted = R::select(mask, other.predicted, self.predicted);
        self.lambda = R::select(mask, other.lambda, self.lambda);
        self.iterations = R::select(mask, other.iterations, self.iterations);
        self.evaluations = R::select(mask, other.evaluations, self.evaluations);
        self.retrying = (mask & other.retrying) | (!mask & self.retrying);
        self.max_error = R::select(mask, other.max_error, self.max_error);
        self.spread = R::select(mask, other.spread, self.spread);
        self.status = R::select(mask, other.status, self.status);
    }

    /// The parameters to evaluate next. In lanes that have ended they are still valid, so that
    /// evaluating them does no harm.
    #[inline(always)]
    pub fn trial(&self) -> Shape<R> {
        self.trial
    }

    /// Which lanes are still searching.
    #[inline(always)]
    pub fn running(&self) -> R::Mask {
        self.status.lt(R::splat(0.5))
    }

    /// Takes the evaluation at [`Search::trial`], and proposes the next trial.
    #[inline(always)]
    pub fn update(&mut self, setup: &Setup<R>, evaluation: &Evaluation<R>) {
        let zero = R::splat(0.0);
        let one = R::splat(1.0);
        let running = self.running();
        let first = self.evaluations.lt(R::splat(0.5));
        let moved = [
            self.trial.x - self.best.x,
            self.trial.y - self.best.y,
            self.trial.sigma - self.best.sigma,
        ];
        let small = setup.is_small(self.best, &moved);
        let inverse_sigma = one / self.trial.sigma;

        // Better?
        let noise = R::splat(RESOLVED * R::EPSILON) * self.spread;
        let decrease = R::select(
            noise.lt(self.predicted),
            self.at_best.chi2 - evaluation.chi2,
            self.decrease_by_gradients(&moved, evaluation, inverse_sigma),
        );
        let sound = evaluation.is_finite();
        let accepted = running & sound & (first | zero.le(decrease));
        let rejected = running & !accepted;
        let stepped = accepted & !first;

        // The damping schedule of the pseudo-code: ÷10 only if the first trial succeeds.
        let damping = self.lambda;
        let factor = R::splat(LAMBDA_FACTOR);
        let relaxed = (damping * R::splat(1.0 / LAMBDA_FACTOR)).max(R::splat(LAMBDA_MIN));
        self.lambda = R::select(stepped & !self.retrying, relaxed, damping);
        self.lambda = R::select(rejected, damping * factor, self.lambda);
        self.retrying = rejected;

        // An end? In the order of the pseudo-code; the first that holds decides.
        let before = self.at_best.chi2;
        self.evaluations = R::select(running, self.evaluations + one, self.evaluations);
        self.best = Shape::select(accepted, self.trial, self.best);
        self.inverse_sigma = R::select(accepted, inverse_sigma, self.inverse_sigma);
        self.at_best = Evaluation::select(accepted, evaluation, &self.at_best);
        self.end(accepted & self.at_best.chi2.lt(self.max_error), Status::MaxError);
        self.end(stepped & decrease.lt(setup.min_delta * before), Status::MinDelta);
        self.end(stepped & small, Status::MinStep);
        // A full step that is too short and does not help: the minimum is nearer than that.
        self.end(rejected & small & damping.le(one), Status::MinStep);
        self.end(rejected & R::splat(LAMBDA_MAX).le(damping), Status::NotConverged);
        self.end(rejected & first, Status::NotConverged);
        let last = setup.max_iterations.le(self.iterations);
        self.end(stepped & last, Status::MaxIterations);
        self.end(running & setup.max_evaluations.le(self.evaluations), Status::MaxIterations);
        let next_pass = accepted & (first | self.running());
        self.iterations = R::select(next_pass, self.iterations + one, self.iterations);

        self.propose(setup, running);
    }

    /// Marks the lanes where `mask` is true, and that are still searching, as ended.
    #[inline(always)]
    fn end(&mut self, mask: R::Mask, status: Status) {
        let ending = self.running() & mask;
        self.status = R::select(ending, R::splat(status.code()), self.status);
    }

    /// Solves eq. 12 for the next trial; `active` lanes that cannot go on end here.
    #[inline(always)]
    fn propose(&mut self, setup: &Setup<R>, active: R::Mask) {
        let zero = R::splat(0.0);
        let Setup { lower, upper, .. } = setup;
        let Shape { x, y, sigma } = self.best;
        let jtr = self.at_best.jtr;

        let held = [
            held(x, lower.x, upper.x, jtr[0]),
            held(y, lower.y, upper.y, jtr[1]),
            held(sigma, lower.sigma, upper.sigma, jtr[2]),
        ];
        let (mut b, mut h) = ([zero; 3], [zero; 6]);
        for j in 0..3 {
            b[j] = R::select(held[j], zero, jtr[j]);
        }
        for (i, (j, k)) in crate::normal::PAIRS.into_iter().enumerate() {
            h[i] = R::select(held[j] | held[k], zero, self.at_best.jtj[i]);
        }
        let step = damped_step(&h, &b, self.lambda);

        let mut trial = stepped(self.best, step);
        trial.sigma = trial
            .sigma
            .max(sigma * R::splat(1.0 / SIGMA_FACTOR))
            .min(sigma * R::splat(SIGMA_FACTOR));
        let trial = setup.limit(trial);
        let unit = self.inverse_sigma * R::splat(1.0 / CENTRE_UNIT);
        let made = [
            (trial.x - x) * unit,
            (trial.y - y) * unit,
            (trial.sigma - sigma) * (self.inverse_sigma * R::splat(1.0 / WIDTH_UNIT)),
        ];
        let predicted = predicted_decrease(&h, &b, &made);
        let rounding = R::splat((STALLED * R::EPSILON) * (STALLED * R::EPSILON)) * self.spread;
        let mut minimum = active;
        for (j, jj) in [(0, 0), (1, 3), (2, 5)] {
            minimum = minimum & (b[j] * b[j]).le(rounding * h[jj]);
        }
        self.end(minimum, Status::Stalled);

        // Wherever the search ended on a limit, say so.
        let any_held = held[0] | held[1] | held[2];
        let settled = self.status.lt(R::splat(Status::AtLimit.code())) & !self.running();
        let unsettled = R::splat(Status::NotConverged.code());
        let unsettled = unsettled.le(self.status) & self.status.le(unsettled);
        let limited = active & any_held & (settled | unsettled);
        self.status = R::select(limited, R::splat(Status::AtLimit.code()), self.status);

        let running = self.running();
        self.trial = Shape::select(running, trial, self.trial);
        self.predicted = R::select(running, predicted, self.predicted);
    }

    /// −½(∇χ²_before + ∇χ²_after)·δ.
    #[inline(always)]
    fn decrease_by_gradients(&self, moved: &[R; 3], after: &Evaluation<R>, behind: R) -> R {
        let mut decrease = R::splat(0.0);
        for (j, unit) in [CENTRE_UNIT, CENTRE_UNIT, WIDTH_UNIT].into_iter().enumerate() {
            let before = self.at_best.jtr[j] * self.inverse_sigma;
            let slope = after.jtr[j].mul_add(behind, before);
            decrease = slope.neg_mul_add(moved[j] * R::splat(1.0 / unit), decrease);
        }
        decrease
    }

    /// The best parameters so far.
    #[inline(always)]
    pub fn best(&self) -> Shape<R> {
        self.best
    }

    /// Amplitudes, χ² and normal equations at [`Search::best`], in conditioned units.
    #[inline(always)]
    pub fn at_best(&self) -> &Evaluation<R> {
        &self.at_best
    }

    /// The damping λ of the trial to come.
    #[inline(always)]
    pub fn lambda(&self) -> R {
        self.lambda
    }

    /// The code of the [`Status`] in each lane, 0 while searching.
    #[inline(always)]
    pub fn status_code(&self) -> R {
        self.status
    }

    /// The iterations made.
    #[inline(always)]
    pub fn iterations(&self) -> R {
        self.iterations
    }

    /// The evaluations made.
    #[inline(always)]
    pub fn evaluations(&self) -> R {
        self.evaluations
    }

    /// What came of the fits, in the units of the pixels: the arguments of [`Fit::from_numbers`]. `chi2`
    /// is that to report, in conditioned units.
    #[inline(always)]
    pub fn numbers(&self, data: &Conditioning<R>, chi2: R) -> [R; 9] {
        [
            self.best.x,
            self.best.y,
            self.best.sigma,
            data.amplitude(self.at_best.alpha),
            data.background(self.at_best.beta),
            data.chi2(chi2),
            self.iterations,
            self.evaluations,
            self.status,
        ]
    }
}

/// The shape after a step in relative units (see [`crate::axis`]).
#[inline(always)]
pub(crate) fn stepped<R: Real>(from: Shape<R>, step: [R; 3]) -> Shape<R> {
    let Shape { x, y, sigma } = from;
    let unit = sigma * R::splat(CENTRE_UNIT);
    Shape {
        x: step[0].mul_add(unit, x),
        y: step[1].mul_add(unit, y),
        sigma: step[2].mul_add(sigma * R::splat(WIDTH_UNIT), sigma),
    }
}

/// A parameter on its limit whose gradient points outwards takes no part.
#[inline(always)]
fn held<R: Real>(at: R, lower: R, upper: R, gradient: R) -> R::Mask {
    let zero = R::splat(0.0);
    (at.le(lower) & zero.lt(gradient)) | (upper.le(at) & gradient.lt(zero))
}

impl<R: Scalar> Search<R> {
    /// The outcome in the units of the pixels; `chi2` is that of the residuals
    /// ([`crate::sums::residual_chi2`]), in conditioned units.
    pub fn outcome(&self, data: &Conditioning<R>, chi2: R) -> Fit<R> {
        Fit::from_numbers(self.numbers(data, chi2))
    }
}
