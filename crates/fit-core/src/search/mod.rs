//! The Levenberg–Marquardt search of eq. 12 to 14 as a state machine that never looks at pixels.
//!
//! The caller evaluates the current [`Search::trial`] and hands the result to
//! [`Search::update`], which accepts or rejects the trial, tests for an end and proposes the next
//! one. All of it is masked lane by lane: with a pack of numbers each lane is in its own iteration,
//! a finished lane stays as it is, and [`Resumable::refill`] gives it a new fit while others go on.
//! Because an evaluation yields cost, gradient and Hessian at once, an accepted trial costs nothing more.
//!
//! The model has P parameters; [`Coordinates`] tells the search what it must know about them. The L linear
//! parameters, which the model solves for (α and β of eq. 6), are kept with the best parameters. A parameter whose
//! two limits are equal stays fixed.
//!
//! # Which trial is better
//! χ² is a difference of large sums, so it is known only to a few rounding units of those sums
//! ([`Evaluation::resolution`]). In single precision and for bright spots this is more than the last iterations
//! gain, so comparing two values of χ² would end the search at random. Where the predicted decrease is too small
//! for that comparison, the search computes it from the gradients at both ends, −½(∇χ²_before + ∇χ²_after)·δ: exact
//! for a quadratic, and precise just where the difference is not. A trial whose χ² is clearly larger is rejected
//! all the same: far from a minimum the gradients can predict a decrease that does not happen.
//!
//! # Newton near the minimum
//! JᵀJ is not the Hessian where the model does not fit the data to the last photon, and the search then converges
//! linearly. After a short step ([`NEAR`]) the exact Hessian replaces it where it is positive definite, and the step
//! is not damped. Where such a step is predicted to gain less than [`Settings::finish`] of χ² it is taken without
//! another look at the pixels.

mod count;
mod lane_state;
mod model;
mod record;
pub mod region;
pub mod solve;

use core::marker::PhantomData;

pub use count::Count;
pub(crate) use lane_state::lane_state;
pub use lane_state::{LaneState, MergeLanes, Replace, Resumable};
pub use model::{Coordinates, Evaluation, LAMBDA_MAX, NEAR, Newton, Normal, Settings};
pub use record::Record;

use crate::arithmetic::{Mask, Real};
use crate::status::Status;
use model::select;
use solve::{Solve, Symmetric, predicted_decrease, solve};

/// λ at the start (eq. 12 and the text below eq. 14).
pub const LAMBDA_START: f64 = 0.01;
/// The factor by which λ shrinks and grows.
pub const LAMBDA_FACTOR: f64 = 10.0;
/// A step of the paper's iteration gains about the same share of what the step before it gained. Where the step after the next
/// is to gain less than this share of [`Settings::min_delta`] of χ², the next one need not be looked at.
pub const FORESEEN: f64 = 1.0;
/// The share by which a step is longer or shorter than the one before it, at most, as far as this is foreseen.
const MOST_RATE: f64 = 0.7;
/// Below this λ the damping no longer changes a step, and going on would only cost retries.
pub const LAMBDA_MIN: f64 = 1e-7;

/// A search in progress, or a pack of them.
#[derive(Clone, Copy, Debug)]
pub struct Search<R: Real, C: Coordinates<P>, const P: usize, const L: usize> {
    best: [R; P],
    at_best: Normal<R, P, L>,
    constants: C::Constants<R>,
    /// Of `best`.
    typical_sizes: C::TypicalSizes<R>,
    trial: [R; P],
    predicted: R,
    lambda: R,
    iterations: R,
    evaluations: R,
    retrying: R::Mask,
    /// How far the cost of the last trial may be off.
    resolution: R,
    max_cost: R,
    /// 0 while searching, then the code of a [`Status`].
    status: R,
    coordinates: PhantomData<C>,
}

impl<R: Real, C: Coordinates<P>, const P: usize, const L: usize> Search<R, C, P, L> {
    /// A search from `initial`, clamped to the limits.
    ///
    /// Lanes that are not `usable`, or have a start value that is not finite, end at once as
    /// `invalid`. A cost below `max_cost` ends the search.
    #[inline(always)]
    pub fn start(
        settings: &Settings<R, P>,
        coordinates: &C,
        usable: R::Mask,
        max_cost: R,
        initial: [R; P],
        constants: C::Constants<R>,
    ) -> Self {
        let zero = R::splat(0.0);
        let mut sound = usable;
        for j in coordinates.count().all::<R>() {
            sound = sound & initial[j].is_finite();
        }
        let trial = settings.limit(coordinates, &constants, initial);
        Self {
            best: trial,
            at_best: Normal::zero(),
            constants,
            typical_sizes: coordinates.typical_sizes(&constants, &trial),
            trial,
            predicted: zero,
            lambda: R::splat(C::LAMBDA_START),
            iterations: zero,
            evaluations: zero,
            retrying: R::Mask::splat(false),
            resolution: zero,
            max_cost,
            status: R::select(sound, zero, R::splat(Status::Invalid.code())),
            coordinates: PhantomData,
        }
    }

    /// The parameters to evaluate next. In lanes that have ended they are still valid and may be evaluated.
    #[inline(always)]
    pub fn trial(&self) -> &[R; P] {
        &self.trial
    }

    /// Moves the trial before its evaluation is handed in: to where the evaluation belongs.
    #[inline(always)]
    pub fn shift(&mut self, by: &[R; P]) {
        let running = self.running();
        for j in 0..P {
            self.trial[j] = R::select(running, self.trial[j] + by[j], self.trial[j]);
        }
    }

    /// Takes the evaluation at [`Search::trial`], and proposes the next trial. Without `NEWTON` it is the paper's
    /// iteration, whatever the settings say.
    #[inline(always)]
    pub fn update<const NEWTON: bool>(
        &mut self,
        settings: &Settings<R, P>,
        coordinates: &C,
        evaluation: &Evaluation<R, P, L>,
    ) {
        self.advance::<NEWTON, false>(settings, coordinates, evaluation);
    }

    /// The paper's iteration, whose last step is taken without another look at the pixels ([`FORESEEN`]), if it is predicted to gain
    /// less than [`Settings::finish`] of χ². The evaluation has the derivatives of the linear parameters.
    #[inline(always)]
    pub fn update_and_foresee(
        &mut self,
        settings: &Settings<R, P>,
        coordinates: &C,
        evaluation: &Evaluation<R, P, L>,
    ) {
        self.advance::<false, true>(settings, coordinates, evaluation);
    }

    #[inline(always)]
    fn advance<const NEWTON: bool, const FORESEE: bool>(
        &mut self,
        settings: &Settings<R, P>,
        coordinates: &C,
        evaluation: &Evaluation<R, P, L>,
    ) {
        let zero = R::splat(0.0);
        let one = R::splat(1.0);
        let count = coordinates.count();
        let running = self.running();
        let first = self.evaluations.lt(R::splat(0.5));
        let mut moved = [zero; P];
        for j in count.all::<R>() {
            moved[j] = self.trial[j] - self.best[j];
        }
        let small = settings.is_small(coordinates, &self.constants, &self.best, &moved);
        let typical_sizes = coordinates.typical_sizes(&self.constants, &self.trial);

        // Better?
        let Evaluation { normal, resolution, .. } = evaluation;
        let resolution = *resolution;
        let difference = self.at_best.cost - normal.cost;
        let decrease = R::select(
            resolution.lt(self.predicted),
            difference,
            self.decrease_by_gradients(count, &moved, &normal.gradient, &typical_sizes),
        );
        let sound = normal.is_finite(count) & evaluation.resolved;
        let better = zero.le(decrease) & !difference.lt(-resolution);
        // The first is the best so far, whatever it is.
        let accepted = running & (first | (sound & better));
        let rejected = running & !accepted;
        let stepped = accepted & !first;

        let damping = self.lambda;
        let before = self.at_best.cost;
        self.evaluations = R::select(running, self.evaluations + one, self.evaluations);
        self.resolution = R::select(running, resolution, self.resolution);
        let short = if NEWTON && settings.newton != Newton::Never {
            stepped & C::distance(&self.typical_sizes, &moved).lt(R::splat(NEAR))
        } else {
            R::Mask::splat(false)
        };
        // After a retry damping is needed.
        let undamped = short & !self.retrying;
        self.best = select(count, accepted, self.trial, self.best);
        self.typical_sizes.merge(&typical_sizes, &Replace(accepted));
        self.at_best = Normal::select(count, accepted, normal, &self.at_best);

        // An end? The first test of the pseudo-code that holds decides, so it comes last here.
        let last = stepped & settings.max_iterations.le(self.iterations);
        let last = last | (running & settings.max_evaluations.le(self.evaluations));
        self.end(last, Status::MaxIterations);
        // Half of it, for λ is a product of roundings.
        self.end(rejected & R::splat(0.5 * C::LAMBDA_MAX).le(damping), Status::NotConverged);
        // A full step that is too short and does not help: the minimum is nearer than that.
        let near = rejected & sound & damping.le(one);
        self.end(small & (stepped | near), Status::MinStep);
        self.end(stepped & decrease.lt(settings.min_delta * before), Status::MinDelta);
        let bounded = (normal.cost + resolution).lt(self.max_cost);
        self.end(accepted & bounded, Status::MaxError);
        self.end(running & first & !sound, Status::NotConverged);

        // The damping schedule of the pseudo-code: ÷10 only if the first trial succeeds.
        let factor = R::splat(LAMBDA_FACTOR);
        let relaxed = (damping * R::splat(1.0 / LAMBDA_FACTOR)).max(R::splat(LAMBDA_MIN));
        self.lambda = R::select(stepped & !self.retrying, relaxed, damping);
        self.lambda = R::select(rejected, damping * factor, self.lambda);
        if C::TRUST_REGION {
            self.lambda = damping;
            self.trust(coordinates, &moved, [first, accepted, rejected], &normal.hessian, decrease);
        }
        self.retrying = rejected;
        let next_pass = accepted & (first | self.running());
        self.iterations = R::select(next_pass, self.iterations + one, self.iterations);

        let gained = R::select(stepped, decrease, zero);
        let steps = [short, undamped];
        self.propose::<NEWTON, FORESEE>(
            settings,
            coordinates,
            (accepted, gained, &moved),
            steps,
            evaluation,
        );
    }

    /// Marks the lanes where `mask` is true as ended.
    #[inline(always)]
    fn end(&mut self, mask: R::Mask, status: Status) {
        self.status = R::select(mask, R::splat(status.code()), self.status);
    }

    /// Solves eq. 12 for the next trial; lanes that cannot go on, or need not, end here. `short` are the lanes that have
    /// just taken a short step, and `undamped` those of them that did so at once. `gained` is what a step has gained that
    /// has `moved` the parameters.
    #[inline(always)]
    fn propose<const NEWTON: bool, const FORESEE: bool>(
        &mut self,
        settings: &Settings<R, P>,
        coordinates: &C,
        (accepted, gained, moved): (R::Mask, R, &[R; P]),
        [short, undamped]: [R::Mask; 2],
        evaluation: &Evaluation<R, P, L>,
    ) {
        let count = coordinates.count();
        let zero = R::splat(0.0);
        let no = R::Mask::splat(false);
        let best = self.best;
        let gradient = self.at_best.gradient;

        // A parameter on its limit whose gradient does not point inwards takes no part; one with equal limits never
        // does.
        let mut held = [no; P];
        for j in count.all::<R>() {
            let low = best[j].le(coordinates.lowest(&self.constants, settings, j));
            let high = settings.upper[j].le(best[j]);
            held[j] = (low & zero.le(gradient[j])) | (high & gradient[j].le(zero));
        }
        let mut b = [zero; P];
        for j in count.all::<R>() {
            b[j] = R::select(held[j], zero, gradient[j]);
        }
        let mut exact = no;
        if NEWTON && settings.newton != Newton::Never {
            exact = if settings.newton == Newton::Always { accepted } else { short };
        }
        let mut lambda = if NEWTON { R::select(undamped, zero, self.lambda) } else { self.lambda };
        let (mut h, mut chosen, mut step);
        // What an undamped step gains, −bᵀδ, where one was looked for.
        let mut whole = zero;
        if !NEWTON || settings.newton == Newton::Never {
            chosen = self.at_best.hessian;
            h = without(count, &chosen, &held);
            step = solve(count, &h, &b, lambda).0;
        } else {
            let rough = self.at_best.hessian;
            // The second time round for lanes whose exact Hessian is not positive definite. A retry takes JᵀJ, whose
            // diagonal is large enough to damp with.
            loop {
                chosen = if C::GAUSS_NEWTON {
                    rough
                } else {
                    Symmetric::select(count, exact, &evaluation.newton, &rough)
                };
                h = without(count, &chosen, &held);
                let positive;
                if C::TRUST_REGION {
                    lambda = zero;
                }
                (step, positive) = solve(count, &h, &b, lambda);
                if C::TRUST_REGION {
                    if C::GAUSS_NEWTON {
                        whole = zero;
                        for j in count.all::<R>() {
                            whole = whole - b[j] * step[j];
                        }
                    }
                    let among = (self.running(), coordinates.rounds());
                    lambda = C::region(&self.constants).damp(count, &h, &b, among, &mut step);
                }
                let mut sound = R::Mask::splat(true);
                for j in count.all::<R>() {
                    sound = sound & (positive[j] | held[j]);
                }
                if C::GAUSS_NEWTON {
                    exact = exact & sound;
                    break;
                }
                let failed = exact & !sound;
                if !failed.any() {
                    break;
                }
                exact = exact & sound;
                lambda = R::select(failed, self.lambda, lambda);
            }
        }

        let [mut far, mut trial, mut made] = self.take(settings, coordinates, &step);
        if NEWTON && L == 0 {
            // The others take the step that is best beside those that were shortened. Where linear parameters are solved for
            // this is rare, and not worth its time.
            let mut shortened = held;
            for j in count.all::<R>() {
                if C::yields(j) {
                    shortened[j] = held[j] | !(trial[j].le(far[j]) & far[j].le(trial[j]));
                }
            }
            let mut some = no;
            for j in count.all::<R>() {
                some = some | (shortened[j] & !held[j]);
            }
            if (some & self.running()).any() {
                let mut slope = [zero; P];
                for j in count.all::<R>() {
                    slope[j] = gradient[j];
                    for k in count.all::<R>() {
                        let by = R::select(shortened[k], made[k], zero);
                        slope[j] = chosen.at(j, k).mul_add(by, slope[j]);
                    }
                    slope[j] = R::select(shortened[j], zero, slope[j]);
                }
                let (mut h, mut lambda) = (without(count, &chosen, &shortened), lambda);
                if C::TRUST_REGION {
                    h = C::region(&self.constants).damped(count, &h, lambda);
                    lambda = zero;
                }
                let beside = R::compiled(Solve { count, h, b: slope, lambda });
                for j in count.all::<R>() {
                    step[j] = R::select(some & !shortened[j], beside[j], step[j]);
                }
                [far, trial, made] = self.take(settings, coordinates, &step);
            }
        }
        // The minimum, as far as this arithmetic can tell: the gradient is rounding.
        let mut minimum = accepted;
        for j in count.all::<R>() {
            minimum = minimum & (held[j] | evaluation.flat[j]);
        }
        self.end(self.running() & minimum, Status::Stalled);
        let predicted = predicted_decrease(count, &h, &b, &made);

        if NEWTON && settings.newton != Newton::Never {
            let little = settings.finish.mul_add(self.at_best.cost, settings.tolerance);
            // What is not damped is moved by less than others can be.
            let least = if coordinates.damps_all() { zero } else { -little };
            let mut last = self.running() & exact & predicted.lt(little) & least.le(predicted);
            last = last & coordinates.may_end_at(&self.constants, &trial);
            if C::LAMBDA_NEAR < f64::INFINITY {
                last = last & lambda.le(R::splat(C::LAMBDA_NEAR));
            }
            for j in count.all::<R>() {
                // Neither shortened nor on a limit.
                last = last
                    & trial[j].le(far[j])
                    & far[j].le(trial[j])
                    & !(held[j] & R::Mask::splat(L > 0));
            }
            if C::GAUSS_NEWTON && last.any() {
                let mut bend = zero;
                for j in count.all::<R>() {
                    bend = bent(best[j], trial[j], made[j]).mul_add(h.0[j][j], bend);
                }
                // Where a direction has become flat the least λ damps all of it: what is left to gain is that of a full step.
                let most = R::splat(MOST_BENT) * little;
                last = last & bend.le(most) & whole.le(most);
            }
            self.take_last(count, last, (&trial, &made, predicted), evaluation);
        }
        if FORESEE && !NEWTON {
            let cost = self.at_best.cost;
            let least = settings.min_delta * R::splat(FORESEEN) * cost;
            let mut last = self.running() & zero.le(predicted);
            last = last & predicted.lt(settings.finish * cost);
            last = last & (predicted * predicted).lt(least * gained);
            for j in count.all::<R>() {
                last = last & trial[j].le(far[j]) & far[j].le(trial[j]) & !held[j];
            }
            if last.any() {
                // So all steps that would follow are known, and are taken at once.
                let (mut along, mut square) = (zero, zero);
                for j in count.all::<R>() {
                    let mut slope = zero;
                    for k in count.all::<R>() {
                        let unit =
                            C::inverse_length(&self.typical_sizes, k) * R::splat(1.0 / C::UNITS[k]);
                        slope = h.at(j, k).mul_add(moved[k] * unit, slope);
                    }
                    along = slope.mul_add(made[j], along);
                    let unit =
                        C::inverse_length(&self.typical_sizes, j) * R::splat(1.0 / C::UNITS[j]);
                    square = slope.mul_add(moved[j] * unit, square);
                }
                let most = R::splat(MOST_RATE);
                let rate = (along * square.reciprocal()).min(most).max(-most);
                let rate = R::select(zero.lt(square), rate, zero);
                let all = (R::splat(1.0) - rate).reciprocal();
                let mut far = trial;
                for j in count.all::<R>() {
                    far[j] = (trial[j] - best[j]).mul_add(all, best[j]);
                }
                let far = settings.limit(coordinates, &self.constants, far);
                for j in count.all::<R>() {
                    made[j] = made[j] * all;
                }
                self.take_last(count, last, (&far, &made, predicted), evaluation);
            }
        }

        let running = self.running();
        if C::TRUST_REGION {
            self.lambda = R::select(running, lambda, self.lambda);
        }
        self.trial = select(count, running, trial, self.trial);
        self.predicted = R::select(running, predicted, self.predicted);
    }

    /// Takes the last step of some lanes without another look at the pixels: to the trial, as far as `made` says, with the gain
    /// that is predicted.
    #[inline(always)]
    fn take_last(
        &mut self,
        count: Count<P>,
        last: R::Mask,
        (trial, made, predicted): (&[R; P], &[R; P], R),
        evaluation: &Evaluation<R, P, L>,
    ) {
        if last.any() {
            self.best = select(count, last, *trial, self.best);
            let cost = self.at_best.cost - predicted;
            self.at_best.cost = R::select(last, cost.max(R::splat(0.0)), self.at_best.cost);
            for l in 0..L {
                let mut linear = self.at_best.linear[l];
                for j in count.all::<R>() {
                    linear = evaluation.linear_by[l][j].mul_add(made[j], linear);
                }
                self.at_best.linear[l] = R::select(last, linear, self.at_best.linear[l]);
            }
            // Of the predicted share of χ², or of a step in standard errors.
            let status = if L > 0 { Status::MinDelta } else { Status::MinStep };
            self.end(last, status);
        }
    }

    /// Changes the trust region after a step.
    #[inline(always)]
    fn trust(
        &mut self,
        coordinates: &C,
        moved: &[R; P],
        [first, accepted, rejected]: [R::Mask; 3],
        hessian: &Symmetric<R, P>,
        decrease: R,
    ) {
        let count = coordinates.count();
        let zero = R::splat(0.0);
        let mut region = C::region(&self.constants);
        let mut step = [zero; P];
        for j in count.all::<R>() {
            step[j] =
                moved[j] * C::inverse_length(&self.typical_sizes, j) * R::splat(1.0 / C::UNITS[j]);
        }
        let undamped = self.lambda.le(zero);
        region.adapt(
            count,
            &step,
            [first, accepted, rejected],
            undamped,
            [decrease, self.predicted],
        );
        region.take((count, coordinates.damped()), accepted, hessian, first);
        C::set_region(&mut self.constants, region);
        // Has it shrunk to a point?
        let mut still = accepted & !first;
        if !coordinates.damps_all() {
            // Those that are not damped may move alone, where limits hold the others, but only once.
            still = (still & !undamped) | rejected;
        }
        self.end(still & region.norm(count, &step).le(zero), Status::NotConverged);
    }

    /// A step in relative units from the best parameters: where it leads to, what the limits leave of that, and what they
    /// leave of the step.
    #[inline(always)]
    fn take(&self, settings: &Settings<R, P>, coordinates: &C, step: &[R; P]) -> [[R; P]; 3] {
        let best = &self.best;
        let far = stepped(coordinates, &self.constants, best, step);
        let confined = coordinates.confine(&self.constants, best, far);
        let trial = settings.limit(coordinates, &self.constants, confined);
        let mut made = [R::splat(0.0); P];
        for j in coordinates.count().all::<R>() {
            let unit = C::inverse_length(&self.typical_sizes, j) * R::splat(1.0 / C::UNITS[j]);
            made[j] = (trial[j] - best[j]) * unit;
        }
        [far, trial, made]
    }

    /// −½(∇χ²_before + ∇χ²_after)·δ.
    #[inline(always)]
    fn decrease_by_gradients(
        &self,
        count: Count<P>,
        moved: &[R; P],
        after: &[R; P],
        typical_sizes: &C::TypicalSizes<R>,
    ) -> R {
        let mut decrease = R::splat(0.0);
        for j in count.all::<R>() {
            let before = self.at_best.gradient[j] * C::inverse_length(&self.typical_sizes, j);
            let slope = after[j].mul_add(C::inverse_length(typical_sizes, j), before);
            decrease = slope.neg_mul_add(moved[j] * R::splat(1.0 / C::UNITS[j]), decrease);
        }
        decrease
    }

    /// The best parameters so far.
    #[inline(always)]
    pub fn best(&self) -> &[R; P] {
        &self.best
    }

    /// Cost, gradient and Hessian at [`Search::best`].
    #[inline(always)]
    pub fn at_best(&self) -> &Normal<R, P, L> {
        &self.at_best
    }

    /// What is known of each fit and does not change.
    #[inline(always)]
    pub fn constants(&self) -> &C::Constants<R> {
        &self.constants
    }

    /// The code of the [`Status`] that the search ended with, before [`Search::record`] looks at limits; 0 while searching.
    #[inline(always)]
    pub fn status(&self) -> R {
        self.status
    }

    /// The damping λ of the next trial.
    #[inline(always)]
    pub fn lambda(&self) -> R {
        self.lambda
    }

    /// The outcome; `status` is 0 in lanes that are still searching.
    ///
    /// If no damping helped, and the remaining decrease is below the resolution of the cost, the fit is at its
    /// minimum ([`Status::Stalled`]). A fit that ended on a limit is `at_limit`, unless it ran out of iterations;
    /// a parameter with equal limits does not count.
    #[inline(always)]
    pub fn record(&self, settings: &Settings<R, P>, coordinates: &C) -> Record<R, P, L> {
        let Normal { cost, gradient, hessian, linear } = self.at_best;
        let code = |status: Status| R::splat(status.code());
        let (mut on_limit, mut flat) = (R::Mask::splat(false), R::Mask::splat(true));
        for j in coordinates.count().all::<R>() {
            let low = self.best[j].le(coordinates.lowest(&self.constants, settings, j));
            let high = settings.upper[j].le(self.best[j]);
            if C::reports(j) {
                on_limit = on_limit | ((low | high) & !(low & high));
            }
            let gained = gradient[j] * gradient[j];
            flat = flat & (gained.le(self.resolution * hessian.0[j][j]) | low | high);
        }
        let exhausted = code(Status::NotConverged);
        let exhausted = exhausted.le(self.status) & self.status.le(exhausted);
        // Nothing was resolved if all derivatives are 0.
        let flat = flat & R::splat(0.0).lt(hessian.0[0][0]);
        let status = R::select(exhausted & flat, code(Status::Stalled), self.status);
        let settled = exhausted | (status.lt(code(Status::AtLimit)) & !self.running());
        Record {
            parameters: self.best,
            linear,
            cost,
            iterations: self.iterations,
            evaluations: self.evaluations,
            status: R::select(on_limit & settled, code(Status::AtLimit), status),
        }
    }
}

lane_state!(
    [R: Real, C: Coordinates<P>, const P: usize, const L: usize] Search<R, C, P, L>:
    best, at_best, constants, typical_sizes, trial, predicted, lambda, iterations, evaluations, resolution,
    max_cost, status; retrying
);

impl<R: Real, C: Coordinates<P>, const P: usize, const L: usize> Resumable<R>
    for Search<R, C, P, L>
{
    #[inline(always)]
    fn running(&self) -> R::Mask {
        self.status.lt(R::splat(0.5))
    }
}

/// A last step is taken without another look where the bend of the model changes χ² by no more than so many times what may be left to
/// gain: along a valley a step may be long, and lead out of it, though it is predicted to gain nothing.
pub const MOST_BENT: f64 = 100.0;

/// What of the square of a step, `made` in relative units, the model's bend makes: as if each derivative changed by the share by which its
/// parameter does, or by all of it.
#[inline(always)]
pub fn bent<R: Real>(from: R, to: R, made: R) -> R {
    let (moved, size) = ((to - from).abs(), from.abs());
    let share = R::select(moved.lt(size), moved * size.reciprocal(), R::splat(1.0));
    let bent = share * made;
    bent * bent
}

/// The parameters after a step in relative units.
#[inline(always)]
pub fn stepped<R: Real, C: Coordinates<P>, const P: usize>(
    coordinates: &C,
    constants: &C::Constants<R>,
    from: &[R; P],
    step: &[R; P],
) -> [R; P] {
    let mut to = *from;
    for j in coordinates.count().all::<R>() {
        let unit = coordinates.length(constants, from, j) * R::splat(C::UNITS[j]);
        to[j] = step[j].mul_add(unit, from[j]);
    }
    to
}

/// A Hessian without the rows and columns of parameters that take no part.
#[inline(always)]
pub(crate) fn without<R: Real, const P: usize>(
    count: Count<P>,
    hessian: &Symmetric<R, P>,
    held: &[R::Mask; P],
) -> Symmetric<R, P> {
    let mut h = Symmetric::zero();
    for j in count.all::<R>() {
        for k in count.from::<R>(j) {
            if k >= j {
                h.0[j][k] = R::select(held[j] | held[k], R::splat(0.0), hessian.0[j][k]);
            }
        }
    }
    h
}
