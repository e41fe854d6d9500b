//! What the search is told: about the parameters of a model, when to stop, and the result of an evaluation.

use core::fmt::Debug;
use core::panic::{RefUnwindSafe, UnwindSafe};

use super::LAMBDA_START;
use super::count::Count;
use super::lane_state::{LaneState, lane_state};
use super::region::{ROUNDS, Region};
use super::solve::Symmetric;
use crate::arithmetic::{Mask, Real};

/// Above this λ a search for a spot without a smaller χ² ends.
pub const LAMBDA_MAX: f64 = 1e4;

/// What the search must know about the parameters of a model.
///
/// Derivatives are *relative*: element j of the gradient is the derivative by p_j in units of
/// [`Coordinates::UNITS`]`[j]`·[`Coordinates::length`], so that all elements of the Hessian are of similar size
/// whatever the scale of the spot. The damping of eq. 12 does not depend on units.
pub trait Coordinates<const P: usize>:
    Copy + Debug + Send + Sync + UnwindSafe + RefUnwindSafe + 'static
{
    /// What [`Coordinates::inverse_length`] is computed from, kept for the best parameters.
    type TypicalSizes<R: Real>: LaneState<R>
        + Debug
        + Send
        + Sync
        + UnwindSafe
        + RefUnwindSafe
        + 'static;
    /// What is known of each fit and does not change, for instance a σ that is given.
    type Constants<R: Real>: LaneState<R>
        + Debug
        + Send
        + Sync
        + UnwindSafe
        + RefUnwindSafe
        + 'static;

    /// The constant part of the unit of each parameter.
    const UNITS: [f64; P];
    /// λ at the start.
    const LAMBDA_START: f64 = LAMBDA_START;
    /// Above this λ a search without a smaller cost ends.
    const LAMBDA_MAX: f64 = LAMBDA_MAX;
    /// A step that is damped by no more than this tells how far the minimum is.
    const LAMBDA_NEAR: f64 = f64::INFINITY;

    /// Whether the exact Hessian of an evaluation is no other than that of its normal equations.
    const GAUSS_NEWTON: bool = false;

    /// Whether steps stay in a trust region ([`super::region`]).
    const TRUST_REGION: bool = false;

    /// How many parameters there are.
    #[inline(always)]
    fn count(&self) -> Count<P> {
        Count::ALL
    }
    /// The parameters whose steps the trust region bounds, a bit for each; others take the step that is best beside it.
    #[inline(always)]
    fn damped(&self) -> u64 {
        u64::MAX
    }
    /// Whether it bounds those of all parameters.
    #[inline(always)]
    fn damps_all(&self) -> bool {
        let mut all = true;
        for j in 0..P {
            all &= self.damped() >> j & 1 == 1;
        }
        all
    }
    /// Times that λ is improved for a step in the trust region, at most.
    #[inline(always)]
    fn rounds(&self) -> usize {
        ROUNDS
    }
    /// The trust region, if there is one.
    #[inline(always)]
    fn region<R: Real>(_: &Self::Constants<R>) -> Region<R, P> {
        Region::everywhere()
    }
    /// Changes it.
    #[inline(always)]
    fn set_region<R: Real>(_: &mut Self::Constants<R>, _: Region<R, P>) {}
    /// Computes the typical_sizes of some parameters.
    fn typical_sizes<R: Real>(
        &self,
        constants: &Self::Constants<R>,
        p: &[R; P],
    ) -> Self::TypicalSizes<R>;
    /// The length in which parameter j is measured, for instance σ, in its own units.
    fn length<R: Real>(&self, constants: &Self::Constants<R>, p: &[R; P], j: usize) -> R;
    /// 1/[`Coordinates::length`].
    fn inverse_length<R: Real>(typical_sizes: &Self::TypicalSizes<R>, j: usize) -> R;
    /// What the test `min_step` compares a step of parameter j with, unless the settings ask for more.
    #[inline(always)]
    fn typical_size<R: Real>(&self, constants: &Self::Constants<R>, p: &[R; P], j: usize) -> R {
        self.length(constants, p, j)
    }
    /// |p_j|, with which the paper compares a step of parameter j; 0 for one that it does not know.
    #[inline(always)]
    fn place<R: Real>(&self, p: &[R; P], j: usize) -> R {
        p[j].abs()
    }
    /// Shortens a step from `from` to `to` if it is longer than one step may be.
    #[inline(always)]
    fn confine<R: Real>(&self, _: &Self::Constants<R>, _: &[R; P], to: [R; P]) -> [R; P] {
        to
    }
    /// How far a step has gone, in the shortest length of the model, for instance σ: what tells whether the search
    /// is near a minimum.
    #[inline(always)]
    fn distance<R: Real>(typical_sizes: &Self::TypicalSizes<R>, moved: &[R; P]) -> R {
        let mut distance = R::splat(0.0);
        for j in 0..P {
            distance = distance.max(moved[j].abs() * Self::inverse_length(typical_sizes, j));
        }
        distance
    }
    /// The lowest value of parameter j: that of the settings, unless it differs from fit to fit.
    #[inline(always)]
    fn lowest<R: Real>(&self, _: &Self::Constants<R>, settings: &Settings<R, P>, j: usize) -> R {
        settings.lower[j]
    }
    /// Whether the other parameters take the step that is best beside that of parameter `j` where the latter was shortened.
    #[inline(always)]
    fn yields(j: usize) -> bool {
        let _ = j;
        false
    }
    /// Whether a step to these parameters may be the last, which is taken without another look at the pixels: whether the
    /// model has a cost there.
    #[inline(always)]
    fn may_end_at<R: Real>(&self, _: &Self::Constants<R>, _: &[R; P]) -> R::Mask {
        R::Mask::splat(true)
    }
    /// Whether a fit that ends with parameter j on a limit says so.
    #[inline(always)]
    fn reports(_: usize) -> bool {
        true
    }
}

/// Where the search uses the exact Hessian in place of JᵀJ, if it is positive definite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Newton {
    /// Nowhere: the iteration of the paper.
    #[default]
    Never,
    /// After a step that was short ([`NEAR`]). From further away the exact Hessian leads astray.
    Near,
    /// Everywhere.
    Always,
}

/// A step shorter than this many lengths of the model is short: the next may be a Newton step without damping.
pub const NEAR: f64 = 0.2;

/// When to stop ([`crate::Criteria`]), and within which limits to search.
#[derive(Clone, Copy, Debug)]
pub struct Settings<R, const P: usize> {
    /// The largest number of iterations.
    pub max_iterations: R,
    /// The largest number of evaluations.
    pub max_evaluations: R,
    /// The bound of χ² in the units of the pixels squared; negative for none.
    pub max_error: R,
    /// The share of χ² that a step must gain.
    pub min_delta: R,
    /// The share of [`Coordinates::typical_size`] by which a parameter must change.
    pub min_step: R,
    /// 1 if it is that of [`Coordinates::place`] where this is larger, as in the paper; else 0.
    pub step_by_place: R,
    /// The lowest value of each parameter.
    pub lower: [R; P],
    /// The highest.
    pub upper: [R; P],
    /// Where the exact Hessian is used.
    pub newton: Newton,
    /// Ends a search without another look where a Newton step is predicted to gain less than this share of χ².
    pub finish: R,
    /// The same, with a decrease of the cost in its own unit: of a deviance, τ² for a step of τ standard errors.
    pub tolerance: R,
}

impl<R: Real, const P: usize> Settings<R, P> {
    /// Those of a model of any kind: steps may be tried several times, and a search ends where one is predicted to gain less than
    /// `finish` of χ², or less than `tolerance`.
    #[inline(always)]
    pub fn of_model(
        max_iterations: R,
        [lower, upper]: [[R; P]; 2],
        [finish, tolerance]: [R; 2],
    ) -> Self {
        let (zero, ten) = (R::splat(0.0), R::splat(10.0));
        Self {
            max_iterations,
            max_evaluations: max_iterations.mul_add(ten, ten),
            max_error: R::splat(-1.0),
            min_delta: zero,
            min_step: zero,
            step_by_place: zero,
            lower,
            upper,
            newton: Newton::Always,
            finish,
            tolerance,
        }
    }

    /// The nearest parameters within the limits; NaN becomes the lower limit.
    #[inline(always)]
    pub fn limit<C: Coordinates<P>>(
        &self,
        coordinates: &C,
        constants: &C::Constants<R>,
        mut p: [R; P],
    ) -> [R; P] {
        for j in coordinates.count().all::<R>() {
            p[j] = p[j].max(coordinates.lowest(constants, self, j)).min(self.upper[j]);
        }
        p
    }

    /// The `min_step` test of [`crate::Criteria`] for a step `moved` that began at `from`.
    #[inline(always)]
    pub fn is_small<C: Coordinates<P>>(
        &self,
        coordinates: &C,
        constants: &C::Constants<R>,
        from: &[R; P],
        moved: &[R; P],
    ) -> R::Mask {
        let mut small = R::Mask::splat(true);
        for j in coordinates.count().all::<R>() {
            let place = coordinates.place(from, j) * self.step_by_place;
            let typical_size = coordinates.typical_size(constants, from, j).max(place);
            small = small & moved[j].abs().lt(self.min_step * typical_size);
        }
        small
    }
}

/// Cost, gradient and Hessian at a point, and the linear parameters there.
///
/// Derivatives are in the relative units of [`Coordinates`].
#[derive(Clone, Copy, Debug)]
pub struct Normal<R, const P: usize, const L: usize> {
    /// What is minimized: χ² = Σ(h − g)² (eq. 2), from sums.
    pub cost: R,
    /// Half the gradient of the cost: Jᵀ(h − g).
    pub gradient: [R; P],
    /// Half the Hessian of the cost, approximated by JᵀJ.
    pub hessian: Symmetric<R, P>,
    /// The linear parameters, which the model solves for: α and β of eq. 6.
    pub linear: [R; L],
}

lane_state!(
    [R: Real, const P: usize, const L: usize] Normal<R, P, L>: cost, gradient, hessian, linear
);

impl<R: Real, const P: usize, const L: usize> Normal<R, P, L> {
    /// All zeros.
    #[inline(always)]
    pub fn zero() -> Self {
        let zero = R::splat(0.0);
        Self { cost: zero, gradient: [zero; P], hessian: Symmetric::zero(), linear: [zero; L] }
    }

    /// `yes` in the lanes where `mask` is true, `no` in the others.
    #[inline(always)]
    pub fn select(count: Count<P>, mask: R::Mask, yes: &Self, no: &Self) -> Self {
        Self {
            cost: R::select(mask, yes.cost, no.cost),
            gradient: select(count, mask, yes.gradient, no.gradient),
            hessian: Symmetric::select(count, mask, &yes.hessian, &no.hessian),
            linear: select(Count::ALL, mask, yes.linear, no.linear),
        }
    }

    /// Whether the numbers that steer the search are finite: cost, gradient and the diagonal of the Hessian
    /// (the diagonal bounds its other elements).
    #[inline(always)]
    pub fn is_finite(&self, count: Count<P>) -> R::Mask {
        // Infinities and NaNs survive a sum.
        let mut sum = self.cost;
        for j in count.all::<R>() {
            sum = sum + (self.gradient[j] + self.hessian.0[j][j]);
        }
        sum.is_finite()
    }
}

/// The result of one visit to the pixels.
#[derive(Clone, Copy, Debug)]
pub struct Evaluation<R: Real, const P: usize, const L: usize> {
    /// What the search keeps if this is the best evaluation so far.
    pub normal: Normal<R, P, L>,
    /// How far the cost may be off, because it is a difference of sums.
    pub resolution: R,
    /// Half the exact Hessian of the cost, where the settings use it; else anything.
    pub newton: Symmetric<R, P>,
    /// The derivatives of the linear parameters by the others, in relative units.
    pub linear_by: [[R; P]; L],
    /// For each element of the gradient, whether it is only rounding: not larger than the error of the sums that
    /// cancel in it.
    pub flat: [R::Mask; P],
    /// Whether the pixels depend on these parameters at all; if not, all derivatives are 0.
    pub resolved: R::Mask,
}

/// `yes` in the lanes where `mask` is true, `no` in the others.
#[inline(always)]
pub(super) fn select<R: Real, const N: usize>(
    count: Count<N>,
    mask: R::Mask,
    yes: [R; N],
    no: [R; N],
) -> [R; N] {
    let mut chosen = no;
    for i in count.all::<R>() {
        chosen[i] = R::select(mask, yes[i], no[i]);
    }
    chosen
}
