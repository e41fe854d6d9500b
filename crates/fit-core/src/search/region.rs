//! Steps in a trust region, for models that nobody knows to be nearly quadratic.
//!
//! λ is no schedule here: it is what keeps the step δ within a radius, ‖Dδ‖ ≤ Δ, where D_j² is the largest second derivative
//! of the cost by p_j so far, so that a direction that has become flat is not trusted more than before. The radius grows
//! where a step gained what was predicted, and shrinks where it did not (J. J. Moré, *The Levenberg–Marquardt algorithm:
//! implementation and theory*, 1978). Where the undamped step is within the radius, λ is 0, and the search converges as
//! fast as Gauss and Newton's.

use super::count::Count;
use super::lane_state::lane_state;
use super::solve::{Symmetric, solve};
use crate::arithmetic::{Mask, Real};

/// The radius may be exceeded by this share.
pub const SLACK: f64 = 0.1;
/// Times that λ is improved for a step.
pub const ROUNDS: usize = 8;
/// A step that gained more than this share of what was predicted was predicted well.
pub const WELL: f64 = 0.75;
/// And one that gained less than this badly.
pub const BADLY: f64 = 0.25;

/// The region in which a quadratic model is trusted.
#[derive(Clone, Copy, Debug)]
pub struct Region<R, const P: usize> {
    /// Δ.
    radius: R,
    /// D².
    largest: [R; P],
}

lane_state!([R: Real, const P: usize] Region<R, P>: radius, largest);

impl<R: Real, const P: usize> Region<R, P> {
    /// All parameters.
    #[inline(always)]
    pub fn everywhere() -> Self {
        Self { radius: R::splat(f64::MAX), largest: [R::splat(0.0); P] }
    }

    /// ‖Dδ‖.
    #[inline(always)]
    pub(super) fn norm(&self, count: Count<P>, step: &[R; P]) -> R {
        let mut sum = R::splat(0.0);
        for j in count.all::<R>() {
            sum = (self.largest[j] * step[j]).mul_add(step[j], sum);
        }
        sum.sqrt()
    }

    /// Takes note of the diagonal of the Hessian in lanes where a step was accepted. The `first` time the radius is that
    /// of a change of every parameter by its own length. It is only for those that are `damped`, a bit for each.
    #[inline(always)]
    pub fn take(
        &mut self,
        (count, damped): (Count<P>, u64),
        accepted: R::Mask,
        hessian: &Symmetric<R, P>,
        first: R::Mask,
    ) {
        let mut sum = R::splat(0.0);
        for j in count.all::<R>() {
            if damped >> j & 1 == 1 {
                let larger = hessian.0[j][j].max(self.largest[j]);
                let own = R::select(first, hessian.0[j][j], larger);
                self.largest[j] = R::select(accepted, own, self.largest[j]);
                sum = sum + self.largest[j];
            }
        }
        self.radius = R::select(accepted & first, sum.sqrt(), self.radius);
    }

    /// Changes the radius after a step, by what it gained and what was predicted.
    #[inline(always)]
    pub fn adapt(
        &mut self,
        count: Count<P>,
        step: &[R; P],
        [first, accepted, rejected]: [R::Mask; 3],
        undamped: R::Mask,
        [gained, predicted]: [R; 2],
    ) {
        let norm = self.norm(count, step);
        let well = (predicted * R::splat(WELL)).le(gained) | undamped;
        let badly = gained.lt(predicted * R::splat(BADLY));
        let larger = self.radius.max(norm + norm);
        let mut radius = R::select(well, larger, self.radius);
        radius = R::select(badly, norm * R::splat(0.5), radius);
        self.radius = R::select(accepted & !first, radius, self.radius);
        let smaller = self.radius.min(norm) * R::splat(0.25);
        self.radius = R::select(rejected, smaller, self.radius);
    }

    /// H + λD².
    #[inline(always)]
    pub(super) fn damped(
        &self,
        count: Count<P>,
        h: &Symmetric<R, P>,
        lambda: R,
    ) -> Symmetric<R, P> {
        let mut damped = *h;
        for j in count.all::<R>() {
            let more = lambda.mul_add(self.largest[j], h.0[j][j]);
            // What is held has no step.
            damped.0[j][j] = R::select(R::splat(0.0).lt(h.0[j][j]), more, h.0[j][j]);
        }
        damped
    }

    /// The solution of (H + λD²)·δ = −b.
    #[inline(always)]
    fn solve(&self, count: Count<P>, h: &Symmetric<R, P>, b: &[R; P], lambda: R) -> [R; P] {
        solve(count, &self.damped(count, h, lambda), b, R::splat(0.0)).0
    }

    /// Damps a step, which is the solution without damping, until it is within the radius, in the lanes that are
    /// `running`, in so many rounds at most; returns λ.
    #[inline(always)]
    pub fn damp(
        &self,
        count: Count<P>,
        h: &Symmetric<R, P>,
        b: &[R; P],
        (running, rounds): (R::Mask, usize),
        step: &mut [R; P],
    ) -> R {
        let zero = R::splat(0.0);
        let mut lambda = zero;
        let most = self.radius * R::splat(1.0 + SLACK);
        let mut norm = self.norm(count, step);
        for _ in 0..rounds {
            let outside = running & !norm.le(most);
            if !outside.any() {
                return lambda;
            }
            // Newton's method for 1/‖Dδ‖ = 1/Δ, after Hebden.
            let mut weighted = [zero; P];
            for j in count.all::<R>() {
                weighted[j] = self.largest[j] * step[j];
            }
            let change = self.solve(count, h, &weighted, lambda);
            let mut slope = zero;
            for j in count.all::<R>() {
                slope = weighted[j].neg_mul_add(change[j], slope);
            }
            let excess = norm * self.radius.reciprocal() - R::splat(1.0);
            let next = (excess * norm).mul_add(norm * slope.reciprocal(), lambda);
            // Where all of it overflows any damping is better than none.
            let coarse = (lambda * R::splat(10.0)).max(R::splat(1e-3));
            let next = R::select(next.is_finite() & lambda.lt(next), next, coarse);
            lambda = R::select(outside, next, lambda);
            let damped = self.solve(count, h, b, lambda);
            for j in count.all::<R>() {
                step[j] = R::select(outside, damped[j], step[j]);
            }
            norm = self.norm(count, step);
        }
        let outside = running & !norm.le(most);
        let share = R::select(outside, self.radius * norm.reciprocal(), R::splat(1.0));
        for j in count.all::<R>() {
            step[j] = step[j] * share;
        }
        lambda
    }
}
