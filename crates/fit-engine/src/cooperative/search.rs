//! The search: [`fit_core::search::Search`] as models take it ([`fit_core::curve::Explicit`]), in a trust region
//! ([`fit_core::search::region`]), with a parameter a thread.

use super::matrix;
use super::sums::{self, Evaluation};
use super::threads::{Cooperative, ParameterStart, SearchOptions};
use crate::single::DataScale;
use fit_core::Status;
use fit_core::arithmetic::{Mask, Real};
use fit_core::curve::{Explicit, is_surely_pushed};
use fit_core::search::region::{BADLY, ROUNDS, SLACK, WELL};
use fit_core::search::{Coordinates, LAMBDA_START, MOST_BENT, bent};

/// A search in progress. What is not said to be of all parameters is of this thread's own.
pub(super) struct CooperativeSearch<R, const N: usize> {
    pub(super) best: R,
    /// Of all.
    pub(super) cost: R,
    gradient: R,
    pub(super) hessian: [R; N],
    pub(super) diagonal: R,
    length: R,
    inverse: R,
    /// Whether the trust region bounds it (0 or 1).
    damped: R,
    trial: R,
    /// Of all, from here on.
    predicted: R,
    lambda: R,
    pub(super) iterations: R,
    pub(super) evaluations: R,
    resolution: R,
    status: R,
    radius: R,
    max_iterations: R,
    finish: R,
    tolerance: R,
    /// D².
    largest: R,
}

impl<R: Real, const N: usize> CooperativeSearch<R, N> {
    #[inline(always)]
    pub(super) fn start<C: Cooperative<R, N>>(
        group: &C,
        options: &SearchOptions<R>,
        start: &ParameterStart<R>,
        survey: &DataScale<R>,
    ) -> Self {
        let (zero, one) = (R::splat(0.0), R::splat(1.0));
        let size = start.initial.abs();
        let length = R::select(zero.lt(size), size, one);
        let eliminated = if options.poisson { 0 } else { options.eliminated };
        let damped = R::select(group.is_among(eliminated), zero, one);
        let initial = start.initial * damped;
        let sound = group.all(start.initial.is_finite()) & survey.sound;
        let status = if sound { 0.0 } else { Status::Invalid.code() };
        let bounded = survey.unit.max(R::splat(-250.0)).min(R::splat(250.0));
        Self {
            best: limit(start, initial),
            cost: zero,
            gradient: zero,
            hessian: [zero; N],
            diagonal: zero,
            length,
            inverse: length.reciprocal(),
            damped,
            trial: limit(start, initial),
            predicted: zero,
            lambda: R::splat(LAMBDA_START),
            iterations: zero,
            evaluations: zero,
            resolution: zero,
            status: R::splat(status),
            radius: R::splat(f64::MAX),
            max_iterations: options.max_iterations,
            finish: options.share / survey.degrees,
            tolerance: options.square * power(bounded) * power(bounded),
            largest: zero,
        }
    }

    #[inline(always)]
    pub(super) fn runs(&self) -> bool {
        self.status.lt(R::splat(0.5)).any()
    }

    /// Visits the points.
    #[inline(always)]
    pub(super) fn evaluate<C: Cooperative<R, N>>(
        &mut self,
        group: &mut C,
        options: &SearchOptions<R>,
        survey: &DataScale<R>,
    ) -> Evaluation<R, N> {
        let evaluation = sums::evaluate(group, options, survey, self.trial, self.length);
        self.trial = self.trial + evaluation.shift;
        evaluation
    }

    #[inline(always)]
    fn end(&mut self, when: bool, status: Status) {
        if when {
            self.status = R::splat(status.code());
        }
    }

    /// Takes an evaluation, and proposes the next trial.
    #[inline(always)]
    pub(super) fn update<C: Cooperative<R, N>>(
        &mut self,
        group: &mut C,
        start: &ParameterStart<R>,
        evaluation: &Evaluation<R, N>,
    ) {
        let (zero, one) = (R::splat(0.0), R::splat(1.0));
        let first = self.evaluations.lt(R::splat(0.5)).any();
        let moved = self.trial - self.best;
        let resolution = evaluation.resolution;
        let difference = self.cost - evaluation.cost;
        let slope = (evaluation.gradient + self.gradient) * self.inverse;
        let by_gradients = -group.over(slope * moved);
        let seen = resolution.lt(self.predicted);
        let decrease = R::select(seen, difference, by_gradients);
        let all = evaluation.cost + group.over(evaluation.gradient + evaluation.diagonal);
        let sound = all.is_finite().any() & evaluation.resolved;
        let better = (zero.le(decrease) & !difference.lt(-resolution)).any();
        let accepted = first | (sound & better);
        let stepped = accepted & !first;
        let damping = self.lambda;
        self.evaluations = self.evaluations + one;
        self.resolution = resolution;
        if accepted {
            self.best = self.trial;
            self.cost = evaluation.cost;
            self.gradient = evaluation.gradient;
            self.hessian = evaluation.hessian;
            self.diagonal = evaluation.diagonal;
        }

        // An end? What decides comes last.
        let most = self.max_iterations.mul_add(R::splat(10.0), R::splat(10.0));
        let last = stepped & self.max_iterations.le(self.iterations).any();
        self.end(last | most.le(self.evaluations).any(), Status::MaxIterations);
        let exhausted = R::splat(0.5 * <Explicit as Coordinates<1>>::LAMBDA_MAX).le(damping).any();
        self.end(!accepted & exhausted, Status::NotConverged);
        self.end(first & !sound, Status::NotConverged);

        // The trust region.
        let norm = self.norm(group, moved * self.inverse);
        let undamped = damping.le(zero);
        if stepped {
            let well = (self.predicted * R::splat(WELL)).le(decrease) | undamped;
            let badly = decrease.lt(self.predicted * R::splat(BADLY));
            let radius = R::select(well, self.radius.max(norm + norm), self.radius);
            self.radius = R::select(badly, norm * R::splat(0.5), radius);
        } else if !accepted {
            self.radius = self.radius.min(norm) * R::splat(0.25);
        }
        if accepted {
            let larger = self.diagonal.max(self.largest);
            self.largest = if first { self.diagonal } else { larger };
            self.largest = self.largest * self.damped;
            if first {
                self.radius = group.over(self.largest).sqrt();
            }
        }
        let mut still = stepped;
        if !group.all(one.le(self.damped)) {
            still = (still & !undamped.any()) | !accepted;
        }
        // It has shrunk to a point.
        let still = still && self.norm(group, moved * self.inverse).le(zero).any();
        self.end(still, Status::NotConverged);
        if accepted & (first | self.runs()) {
            self.iterations = self.iterations + one;
        }
        if self.runs() {
            self.propose(group, start, accepted, evaluation);
        }
    }

    /// ‖Dδ‖.
    #[inline(always)]
    fn norm<C: Cooperative<R, N>>(&self, group: &C, step: R) -> R {
        group.over(self.largest * step * step).sqrt()
    }

    /// Proposes the next trial, or ends.
    #[inline(always)]
    fn propose<C: Cooperative<R, N>>(
        &mut self,
        group: &mut C,
        start: &ParameterStart<R>,
        accepted: bool,
        evaluation: &Evaluation<R, N>,
    ) {
        let (zero, one) = (R::splat(0.0), R::splat(1.0));
        let gradient = self.gradient;
        let low = self.best.le(start.lower) & zero.le(gradient);
        let held = low | (start.upper.le(self.best) & gradient.le(zero));
        let b = R::select(held, zero, gradient);
        let keeps = R::select(held, zero, one);

        let most = self.radius * R::splat(1.0 + SLACK);
        let mut lambda = zero;
        let mut whole = zero;
        let mut step;
        let mut exact = accepted;
        let mut times = 0;
        loop {
            let (inverse, positive) = self.inverse_of(group, keeps, lambda);
            step = matrix::product(group, &inverse, b);
            if times == 0 {
                exact &= group.all(positive | held);
                // What an undamped step gains.
                whole = -group.over(b * step);
            }
            let norm = self.norm(group, step);
            if norm.le(most).any() {
                break;
            }
            if times == group.times(ROUNDS) {
                step = step * (self.radius * norm.reciprocal());
                break;
            }
            times += 1;
            // Newton's method for 1/‖Dδ‖ = 1/Δ, after Hebden.
            let weighted = self.largest * step;
            let change = matrix::product(group, &inverse, weighted);
            let slope = -group.over(weighted * change);
            let excess = norm * self.radius.reciprocal() - one;
            let next = (excess * norm).mul_add(norm * slope.reciprocal(), lambda);
            // Where all of it overflows any damping is better than none.
            let coarse = (lambda * R::splat(10.0)).max(R::splat(1e-3));
            lambda = R::select(next.is_finite() & lambda.lt(next), next, coarse);
        }

        let [mut far, mut trial, mut made] = self.take(start, step);
        let shortened = held | !(trial.le(far) & far.le(trial));
        if !group.all(!shortened | held) {
            // The others take the step that is best beside those that were shortened.
            let by = R::select(shortened, made, zero);
            let slope = gradient + matrix::product(group, &self.hessian, by);
            let slope = R::select(shortened, zero, slope);
            let rest = R::select(shortened, zero, one);
            let (inverse, _) = self.inverse_of(group, rest, lambda);
            let beside = matrix::product(group, &inverse, slope);
            step = R::select(shortened, step, beside);
            [far, trial, made] = self.take(start, step);
        }
        // −2bᵀδ − δᵀHδ; what is held does not move.
        let slope = b + b + matrix::product(group, &self.hessian, made);
        let predicted = -group.over(slope * made);

        let (finish, tolerance) =
            if evaluation.settled { (self.finish, self.tolerance) } else { (zero, zero) };
        let little = finish.mul_add(self.cost, tolerance);
        // The minimum, as far as this arithmetic can tell: the gradient is rounding. All parameters together may still take a step, if the
        // search is a finer one.
        let flat = held | zero.lt(evaluation.flat);
        let minimum = group.all(flat) & accepted;
        let most = R::splat(MOST_BENT) * little;
        let left = R::EPSILON > f64::EPSILON && most.lt(whole).any();
        self.end(minimum, if left { Status::Invalid } else { Status::Stalled });
        let least = if group.all(one.le(self.damped)) { zero } else { -little };
        let near = lambda.le(R::splat(<Explicit as Coordinates<1>>::LAMBDA_NEAR));
        let last = (predicted.lt(little) & least.le(predicted) & near).any();
        let inside = group.all(trial.le(far) & far.le(trial));
        let bend = group.over(bent(self.best, trial, made) * self.diagonal);
        // Where a direction has become flat the least λ damps all of it: what is left to gain is that of a full step.
        let little = (bend.le(most) & whole.le(most)).any();
        if self.runs() & exact & last & inside & little {
            self.best = trial;
            self.cost = (self.cost - predicted).max(zero);
            self.end(true, Status::MinStep);
        }
        if self.runs() {
            self.lambda = lambda;
            self.trial = trial;
            self.predicted = predicted;
        }
    }

    /// −1 times the inverse of H + λD² without what is not kept, and whether a thread's own pivot was positive.
    #[inline(always)]
    fn inverse_of<C: Cooperative<R, N>>(
        &self,
        group: &mut C,
        keeps: R,
        lambda: R,
    ) -> ([R; N], R::Mask) {
        let zero = R::splat(0.0);
        let mut row = self.hessian;
        matrix::keep(group, &mut row, keeps);
        let kept = self.diagonal * keeps;
        let damped = R::select(zero.lt(kept), lambda.mul_add(self.largest, kept), kept);
        matrix::set_own(group, &mut row, damped);
        let positive = matrix::sweep(group, &mut row, damped, u32::MAX);
        (row, positive)
    }

    /// Where a step leads to, what the limits leave of that, and of the step.
    #[inline(always)]
    fn take(&self, start: &ParameterStart<R>, step: R) -> [R; 3] {
        let far = step.mul_add(self.length, self.best);
        let trial = limit(start, far);
        [far, trial, (trial - self.best) * self.inverse]
    }

    /// Whether the data surely push this thread's parameter; `size` is that of the data.
    #[inline(always)]
    pub(super) fn is_pushed(&self, size: R) -> R::Mask {
        let little = self.finish.mul_add(self.cost, self.tolerance);
        is_surely_pushed(self.gradient, self.diagonal, size, little)
    }

    /// The status with and without a look at the limits, as [`fit_core::search::Search::record`] gives it.
    #[inline(always)]
    pub(super) fn outcome<C: Cooperative<R, N>>(
        &self,
        group: &C,
        start: &ParameterStart<R>,
    ) -> (R, R) {
        let zero = R::splat(0.0);
        let code = |status: Status| R::splat(status.code());
        let low = self.best.le(start.lower);
        let high = start.upper.le(self.best);
        let on_limit = !group.all(!(low | high) | (low & high));
        let exhausted = code(Status::NotConverged);
        let exhausted = (exhausted.le(self.status) & self.status.le(exhausted)).any();
        let gained = self.gradient * self.gradient;
        let flat = group.all(gained.le(self.resolution * self.diagonal) | low | high);
        let flat = flat & zero.lt(group.of(0, self.diagonal)).any();
        let mut status = self.status;
        if exhausted & flat {
            status = code(Status::Stalled);
        }
        let settled = exhausted | status.lt(code(Status::AtLimit)).any();
        if on_limit & settled {
            status = code(Status::AtLimit);
        }
        (status, self.status)
    }
}

/// The nearest parameter within the limits; NaN becomes the lower limit.
#[inline(always)]
fn limit<R: Real>(start: &ParameterStart<R>, parameter: R) -> R {
    parameter.max(start.lower).min(start.upper)
}

/// 2^(n/2).
#[inline(always)]
fn power<R: Real>(n: R) -> R {
    let small = (n.abs() * R::splat(0.5)).exp2_of_minus();
    R::select(n.lt(R::splat(0.0)), small, small.reciprocal())
}
