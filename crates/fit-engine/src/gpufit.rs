//! The search as Gpufit has it (Przybylski et al. 2017, *Methods*), for programs that depend on its iterations.
//!
//! The step solves (H + λ·diag s)·δ = −b, where s_j is the largest H_jj so far; λ begins at 10⁻³, and is a tenth of it after a step that gained, ten times as
//! large after one that did not, which is taken back. All parameters are projected into their limits after the step. A search ends where a
//! step, whether it gained or not, changed χ² by less than a share of max(1, χ²). Every step counts as an iteration.
//!
//! Lane by lane, as [`fit_core::search::Search`]; that one converges in fewer evaluations, and knows rounding from a minimum.

use fit_core::arithmetic::{Mask, Real};
use fit_core::lane_state;
use fit_core::search::solve::{Symmetric, solve};
use fit_core::search::{Count, LaneState, Normal, Replace, Resumable};

/// λ at the start.
const LAMBDA_START: f64 = 1e-3;
/// Damped so much that no parameter moves.
const LAMBDA_MAX: f64 = 1e30;

/// How a search of Gpufit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum GpufitState {
    /// χ² no longer changes.
    Converged = 0,
    /// All iterations were used.
    MaxIterations = 1,
    /// The model does not depend on a parameter, or the data have no χ².
    Singular = 2,
    /// A model that is not positive has no likelihood.
    Negative = 3,
}

impl GpufitState {
    /// From its number.
    pub fn from_code(code: u8) -> Option<Self> {
        [Self::Converged, Self::MaxIterations, Self::Singular, Self::Negative]
            .into_iter()
            .find(|state| *state as u8 == code)
    }
    #[inline(always)]
    fn code<R: Real>(self) -> R {
        R::splat(f64::from(self as u8))
    }
}

/// What ends a search, and within which limits it stays.
#[derive(Clone, Copy, Debug)]
pub struct GpufitSettings<R, const P: usize> {
    /// The share of max(1, χ²).
    pub tolerance: R,
    /// The 1 of that in the units of the cost.
    pub one: R,
    /// The largest number of iterations.
    pub max_iterations: R,
    /// The lowest value of each parameter.
    pub lower: [R; P],
    /// The highest.
    pub upper: [R; P],
    /// A bit for each parameter that keeps its start value.
    pub held: u64,
    /// How many parameters there are.
    pub count: Count<P>,
}

impl<R: Real, const P: usize> GpufitSettings<R, P> {
    #[inline(always)]
    fn holds(&self, j: usize) -> bool {
        self.held >> j & 1 == 1
    }
}

/// A search in progress, or a pack of them.
#[derive(Clone, Copy, Debug)]
pub struct GpufitSearch<R: Real, const P: usize> {
    best: [R; P],
    trial: [R; P],
    at_best: Normal<R, P, 0>,
    /// The units of the derivatives.
    length: [R; P],
    /// s.
    largest: [R; P],
    lambda: R,
    /// Negative before the first evaluation.
    iterations: R,
    /// Negative while searching, then a [`GpufitState`].
    state: R,
}

impl<R: Real, const P: usize> GpufitSearch<R, P> {
    /// A search from `initial`, in the lanes of a mask, with derivatives in units of `length`.
    #[inline(always)]
    pub fn start(mask: R::Mask, initial: [R; P], length: [R; P]) -> Self {
        let (zero, minus) = (R::splat(0.0), R::splat(-1.0));
        Self {
            best: initial,
            trial: initial,
            at_best: Normal::zero(),
            length,
            largest: [zero; P],
            lambda: R::splat(LAMBDA_START),
            iterations: minus,
            state: R::select(mask, minus, zero),
        }
    }

    /// The parameters to evaluate next.
    #[inline(always)]
    pub fn trial(&self) -> &[R; P] {
        &self.trial
    }

    /// The units of the derivatives.
    #[inline(always)]
    pub fn length(&self) -> &[R; P] {
        &self.length
    }

    /// The best parameters so far.
    #[inline(always)]
    pub fn best(&self) -> &[R; P] {
        &self.best
    }

    /// Their cost; NaN where the start values have none.
    #[inline(always)]
    pub fn cost(&self) -> R {
        self.at_best.cost
    }

    /// Steps, whether they gained or not.
    #[inline(always)]
    pub fn iterations(&self) -> R {
        self.iterations
    }

    /// The number of the [`GpufitState`]; negative while searching.
    #[inline(always)]
    pub fn state(&self) -> R {
        self.state
    }

    /// Takes the evaluation at [`GpufitSearch::trial`], where the model is `positive` or need not be, and proposes the next.
    #[inline(always)]
    pub fn update(
        &mut self,
        settings: &GpufitSettings<R, P>,
        normal: &Normal<R, P, 0>,
        positive: R::Mask,
    ) {
        let (zero, one) = (R::splat(0.0), R::splat(1.0));
        let running = self.running();
        let first = self.iterations.lt(zero);
        let before = self.at_best.cost;

        let lower = normal.cost.lt(before);
        let taken = running & (first | (lower & positive));
        let change = (normal.cost - before).abs();
        let little = settings.tolerance * normal.cost.max(settings.one);
        let converged = !first & positive & change.lt(little);

        self.best.merge(&self.trial, &Replace(taken));
        self.at_best = Normal::select(settings.count, taken, normal, &self.at_best);
        self.iterations = R::select(running, self.iterations + one, self.iterations);
        // All that follow would be the same.
        let exhausted = !first & !taken & R::splat(LAMBDA_MAX).le(self.lambda);
        let factor = R::select(taken, R::splat(0.1), R::splat(10.0));
        let damped = (self.lambda * factor).min(R::splat(LAMBDA_MAX));
        self.lambda = R::select(running & !first, damped, self.lambda);

        // The last of those that hold decides.
        let negative = !positive;
        self.end(running & negative, GpufitState::Negative);
        let all = settings.max_iterations.le(self.iterations);
        self.end(running & !first & all & !converged, GpufitState::MaxIterations);
        self.end(running & converged, GpufitState::Converged);
        self.give_up(self.running() & exhausted, settings);
        // Nothing leads on from a start without a value.
        let nowhere = running & first & (negative | !normal.cost.is_finite());
        self.iterations = R::select(nowhere, one, self.iterations);
        self.at_best.cost = R::select(nowhere, R::splat(f64::NAN), self.at_best.cost);
        self.end(nowhere & !negative, GpufitState::Singular);
        let mut free = false;
        for j in settings.count.all::<R>() {
            free |= !settings.holds(j);
        }
        if free {
            self.propose(settings);
        } else {
            self.end(self.running(), GpufitState::Converged);
        }
    }

    /// Marks the lanes where `mask` is true as ended.
    #[inline(always)]
    fn end(&mut self, mask: R::Mask, state: GpufitState) {
        self.state = R::select(mask, state.code(), self.state);
    }

    #[inline(always)]
    fn propose(&mut self, settings: &GpufitSettings<R, P>) {
        let (zero, one) = (R::splat(0.0), R::splat(1.0));
        let running = self.running();
        let mut damped = Symmetric::zero();
        let mut b = [zero; P];
        let mut singular = R::Mask::splat(false);
        for j in settings.count.all::<R>() {
            if !settings.holds(j) {
                b[j] = self.at_best.gradient[j];
                for k in settings.count.from::<R>(j) {
                    if k >= j && !settings.holds(k) {
                        damped.0[j][k] = self.at_best.hessian.0[j][k];
                    }
                }
                self.largest[j] = self.largest[j].max(damped.0[j][j]);
                damped.0[j][j] = self.lambda.mul_add(self.largest[j], damped.0[j][j]);
                singular = singular | !zero.lt(damped.0[j][j]);
            }
        }
        let (step, _) = solve(settings.count, &damped, &b, zero);
        let mut still = running;
        for j in settings.count.all::<R>() {
            if !settings.holds(j) {
                let to = step[j].mul_add(self.length[j], self.best[j]);
                let to = to.max(settings.lower[j]).min(settings.upper[j]);
                still = still & to.le(self.best[j]) & self.best[j].le(to);
                self.trial[j] = R::select(running, to, self.trial[j]);
            }
        }
        singular = singular & running;
        let last = settings.max_iterations.le(self.iterations + one);
        self.iterations = R::select(singular, self.iterations + one, self.iterations);
        self.end(singular, GpufitState::Singular);
        self.end(singular & last, GpufitState::MaxIterations);
        // Where a step leads nowhere, and that is no end, all others do the same.
        let endless = still & !singular & !zero.lt(settings.tolerance);
        self.give_up(endless, settings);
    }

    /// Ends searches that would go on as they are until all iterations are used.
    #[inline(always)]
    fn give_up(&mut self, mask: R::Mask, settings: &GpufitSettings<R, P>) {
        self.iterations = R::select(mask, settings.max_iterations, self.iterations);
        self.end(mask, GpufitState::MaxIterations);
    }
}

lane_state!(
    [R: Real, const P: usize] GpufitSearch<R, P>:
    best, trial, at_best, length, largest, lambda, iterations, state
);

impl<R: Real, const P: usize> Resumable<R> for GpufitSearch<R, P> {
    #[inline(always)]
    fn running(&self) -> R::Mask {
        self.state.lt(R::splat(-0.5))
    }
}
