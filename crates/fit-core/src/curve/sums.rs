//! The sums over the points, and the best values of linear parameters from these sums.

use super::units::Explicit;
use crate::arithmetic::{Mask, Real};
use crate::pass::deviance_of;
use crate::search::solve::{Symmetric, inverse_pivot, solve_among};
use crate::search::{Count, Evaluation, Normal};

/// The value of a model at a point, and its derivatives without the factors that are the same at all points.
#[derive(Clone, Copy, Debug)]
pub struct At<R, const P: usize> {
    /// f.
    pub value: R,
    /// ∂f/∂p_j, but for those factors.
    pub by: [R; P],
}

/// Sums over the points.
#[derive(Clone, Copy, Debug)]
pub struct Sums<R: Real, const P: usize> {
    /// χ², or the deviance.
    cost: R,
    /// Whether the model is nowhere negative, for maximum likelihood.
    sound: R::Mask,
    gradient: [R; P],
    hessian: Symmetric<R, P>,
    count: Count<P>,
}

/// A count of 0 has no logarithm, and a model of 0 no reciprocal.
const TINY: f64 = 1e-30;
/// Squares below this have lost digits, and say nothing.
pub const fn least_square(epsilon: f64) -> f64 {
    if epsilon < 1e-10 { 1e-290 } else { 1e-32 }
}
/// The rounding units that a residual may be off by, in all.
pub const ROUNDING: f64 = 4.0;

impl<R: Real, const P: usize> Sums<R, P> {
    /// Of no points, for so many parameters.
    #[inline(always)]
    pub fn zero(count: Count<P>) -> Self {
        let zero = R::splat(0.0);
        Self {
            cost: zero,
            sound: R::Mask::splat(true),
            gradient: [zero; P],
            hessian: Symmetric::zero(),
            count,
        }
    }

    /// Those with these numbers, such as the sums of several lanes together; the Hessian's upper half is asked for.
    #[inline(always)]
    pub fn of(
        count: Count<P>,
        cost: R,
        sound: R::Mask,
        gradient: impl Fn(usize) -> R,
        hessian: impl Fn(usize, usize) -> R,
    ) -> Self {
        let mut sums = Self { cost, sound, ..Self::zero(count) };
        for j in count.all::<R>() {
            sums.gradient[j] = gradient(j);
            for k in count.from::<R>(j) {
                if k >= j {
                    sums.hessian.0[j][k] = hessian(j, k);
                }
            }
        }
        sums
    }

    /// Adds a point for least squares: Σw(f − d)² (eq. 7). A point of weight 0 is left out, whatever the model is there.
    /// The data come multiplied by `scale`, which is 1 where nothing overflows.
    #[inline(always)]
    pub fn add_square<const WEIGHTED: bool>(
        &mut self,
        at: &At<R, P>,
        data: R,
        weight: R,
        scale: R,
    ) {
        // d − f, with which one operation is enough.
        let residual = at.value.neg_mul_add(scale, data);
        let (residual, by) =
            if WEIGHTED { seen(self.count, weight, residual, at) } else { (residual, at.by) };
        let weighted = if WEIGHTED { weight * residual } else { residual };
        self.cost = weighted.mul_add(residual, self.cost);
        self.add(&by, if WEIGHTED { Some(weight) } else { None }, weighted);
    }

    /// Adds a point for Poisson maximum likelihood: 2Σ[f − d + d·ln(d/f)] (eq. 8), with the expected Hessian ΣJJᵀ/f.
    #[inline(always)]
    pub fn add_poisson<const WEIGHTED: bool>(&mut self, at: &At<R, P>, data: R, weight: R) {
        let (value, by) =
            if WEIGHTED { seen(self.count, weight, at.value, at) } else { (at.value, at.by) };
        let zero = R::splat(0.0);
        let count = if WEIGHTED { R::select(zero.lt(weight), data, zero) } else { data };
        let [term, inverse, missing] = counted(value, count);
        let (term, inverse, missing) = if WEIGHTED {
            let there = zero.lt(weight);
            self.sound = self.sound & (!there | zero.le(value));
            (
                R::select(there, term, zero),
                R::select(there, inverse, zero),
                R::select(there, missing, zero),
            )
        } else {
            self.sound = self.sound & zero.le(value);
            (term, inverse, missing)
        };
        self.cost = self.cost + (term + term);
        self.add(&by, Some(inverse), missing * inverse);
    }

    /// The same with the Hessian ΣJJᵀd/f², which Gpufit takes. The model must not be negative; where it is 0, only a count of 0 is
    /// possible.
    #[inline(always)]
    pub fn add_observed(&mut self, at: &At<R, P>, data: R, weight: R) {
        let zero = R::splat(0.0);
        let there = zero.lt(weight);
        let (value, by) = seen(self.count, weight, at.value, at);
        let count = R::select(there, data, zero);
        self.sound = self.sound & (!there | zero.le(value));
        let impossible = zero.lt(count) & value.le(zero);
        let expected = value.max(R::splat(TINY));
        let inverse = R::select(there, expected.reciprocal(), zero);
        let missing = count - expected;
        let term = if R::EPSILON > 1e-10 {
            deviance_of(expected, count)
        } else {
            count.mul_add((count * inverse).max(R::splat(TINY)).ln(), -missing)
        };
        let term = R::select(there, term, zero);
        let term = R::select(impossible, R::splat(f64::INFINITY), term);
        self.cost = self.cost + (term + term);
        self.add(&by, Some(count * inverse * inverse), missing * inverse);
    }

    #[inline(always)]
    fn add(&mut self, by: &[R; P], weight: Option<R>, residual: R) {
        for j in self.count.all::<R>() {
            self.gradient[j] = by[j].neg_mul_add(residual, self.gradient[j]);
            let own = match weight {
                Some(weight) => weight * by[j],
                None => by[j],
            };
            for k in self.count.from::<R>(j) {
                if k >= j {
                    self.hessian.0[j][k] = own.mul_add(by[k], self.hessian.0[j][k]);
                }
            }
        }
    }

    /// The same of all threads, where each has some of the points: `sum` adds what they have.
    #[inline(always)]
    pub fn in_all(&self, sum: impl Fn(R) -> R) -> Self {
        let (zero, one) = (R::splat(0.0), R::splat(1.0));
        let mut all = *self;
        all.cost = sum(self.cost);
        all.sound = sum(R::select(self.sound, zero, one)).le(zero);
        for j in self.count.all::<R>() {
            all.gradient[j] = sum(self.gradient[j]);
            for k in self.count.from::<R>(j) {
                if k >= j {
                    all.hessian.0[j][k] = sum(self.hessian.0[j][k]);
                }
            }
        }
        all
    }

    /// Makes them those where the parameters that are eliminated have their best values beside the others. `scales` are the
    /// factors that derivatives came without, times the scale of the data. The derivatives by the others may depend on
    /// those that are eliminated by their factors alone.
    #[inline(always)]
    pub fn project(&mut self, which: Explicit, scales: &[R; P]) -> Projected<R, P> {
        let zero = R::splat(0.0);
        let before = self.cost;
        let (mut step, positive) =
            solve_among(self.count, &self.hessian, &self.gradient, zero, which.eliminated);
        let mut sound = before.is_finite();
        let mut shift = [zero; P];
        let least = R::splat(const { least_square(R::EPSILON) });
        for j in self.count.all::<R>() {
            if which.eliminates(j) {
                shift[j] = step[j] * scales[j].reciprocal();
                let seen = positive[j] & least.le(self.hessian.0[j][j]);
                sound = sound & seen & shift[j].is_finite();
            }
        }
        for j in self.count.all::<R>() {
            if which.eliminates(j) {
                step[j] = R::select(sound, step[j], zero);
                shift[j] = R::select(sound, shift[j], zero);
                self.cost = self.gradient[j].mul_add(step[j], self.cost);
                self.gradient[j] = R::select(sound, zero, self.gradient[j]);
            }
        }
        // What is no number stays so.
        self.cost = R::select(sound, self.cost.max(zero), before);
        for j in self.count.all::<R>() {
            for k in self.count.all::<R>() {
                if !which.eliminates(j) && which.eliminates(k) {
                    self.gradient[j] = self.hessian.at(j, k).mul_add(step[k], self.gradient[j]);
                }
            }
        }
        Projected { shift, gained: (before - self.cost).max(zero), before, sound }
    }

    /// Cost, gradient and Hessian, and whether the model is soundly positive, which only maximum likelihood asks for; `scales` as
    /// for [`Sums::evaluation`].
    #[inline(always)]
    pub fn normal(&self, scales: &[R; P]) -> (Normal<R, P, 0>, R::Mask) {
        let mut normal = Normal { cost: self.cost, ..Normal::zero() };
        for j in self.count.all::<R>() {
            normal.gradient[j] = self.gradient[j] * scales[j];
            for k in self.count.from::<R>(j) {
                if k >= j {
                    normal.hessian.0[j][k] = self.hessian.0[j][k] * scales[j] * scales[k];
                }
            }
        }
        (normal, self.sound)
    }

    /// What the search takes; `scales` are the factors that derivatives came without, times the length of each
    /// parameter and the scale of the data. `size` is Σwd², or Σd for maximum likelihood.
    #[inline(always)]
    pub fn evaluation<const POISSON: bool>(&self, scales: &[R; P], size: R) -> Evaluation<R, P, 0> {
        let rounding = R::splat(ROUNDING * R::EPSILON);
        let cost = self.cost;
        // Rounding is a share of Σwf², which is no more than 2(Σwd² + χ²).
        let size = if POISSON { size } else { (size + cost) * R::splat(2.0) };
        // One root after the other: products of squares overflow.
        let length = size.sqrt();
        let zero = R::splat(0.0);
        let nowhere = R::Mask::splat(false);
        let mut evaluation = Evaluation {
            normal: Normal { cost, ..Normal::zero() },
            resolution: zero,
            newton: Symmetric::zero(),
            linear_by: [],
            flat: [nowhere; P],
            // A model that depends on no parameter here says nothing of where to go.
            resolved: nowhere,
        };
        let least = R::splat(const { least_square(R::EPSILON) });
        for j in self.count.all::<R>() {
            let normal = &mut evaluation.normal;
            normal.gradient[j] = self.gradient[j] * scales[j];
            for k in self.count.from::<R>(j) {
                if k >= j {
                    normal.hessian.0[j][k] = self.hessian.0[j][k] * scales[j] * scales[k];
                }
            }
            // Without a diagonal element the Hessian is singular, whatever the others are.
            let seen = least.le(self.hessian.0[j][j]);
            normal.hessian.0[j][j] = R::select(seen, normal.hessian.0[j][j], zero);
            // By Cauchy and Schwarz, what the rounding of all residuals makes of the gradient.
            let most = normal.hessian.0[j][j].sqrt() * length * rounding;
            evaluation.flat[j] = normal.gradient[j].abs().le(most);
            evaluation.resolved = evaluation.resolved | zero.lt(normal.hessian.0[j][j]);
        }
        evaluation.resolved = evaluation.resolved & self.sound;
        let resolution = if POISSON {
            size * rounding
        } else {
            let cross = cost.sqrt() * length;
            let all = rounding.mul_add(size, cross + cross) + cost;
            all * rounding
        };
        // Of what overflows nothing is known, which is no reason to call it a minimum.
        evaluation.resolution = R::select(resolution.is_finite(), resolution, zero);
        evaluation
    }
}

/// What [`Sums::project`] did.
#[derive(Clone, Copy, Debug)]
pub struct Projected<R: Real, const P: usize> {
    /// What leads to the best values of the parameters that are eliminated.
    pub shift: [R; P],
    /// What that gains of the cost; rounding of the sums is a share of this too.
    pub gained: R,
    /// The cost where the sums were made.
    before: R,
    /// Whether there are such values.
    sound: R::Mask,
}

/// Sums that were made where the cost exceeds that of the best values by more than this many times say too little of those
/// to end a search.
pub const MOST_SHIFTED: f64 = 1.0;
/// A share of the cost that the sums may get wrong.
pub const MOST_LOST: f64 = 1e-3;

impl<R: Real, const P: usize> Projected<R, P> {
    /// Makes an evaluation that is made of the sums, with `size` and what was gained, say what they are worth; `points` are
    /// as many as were added, or fewer by some. Returns whether a search may end with it, because the sums were made near
    /// enough to the best values.
    #[inline(always)]
    pub fn settle(
        &self,
        which: Explicit,
        evaluation: &mut Evaluation<R, P, 0>,
        size: R,
        points: R,
    ) -> R::Mask {
        let Self { gained, before, sound, .. } = *self;
        let (zero, epsilon) = (R::splat(0.0), R::splat(R::EPSILON));
        let rounding = R::splat(ROUNDING * R::EPSILON);
        let cost = evaluation.normal.cost;
        let little = (before * rounding).le((size + cost) * R::splat(MOST_LOST));
        evaluation.resolved = evaluation.resolved & sound & little;
        let settled = gained.le(cost.mul_add(R::splat(MOST_SHIFTED), evaluation.resolution));
        // As large as rounding of the sums may have made it small: the next evaluation there is no worse.
        let lost = (points * epsilon + rounding) * before;
        let most = cost + evaluation.resolution + lost;
        evaluation.normal.cost = R::select(settled, cost, most);
        let mut some = R::Mask::splat(false);
        let count: Count<P> = Count::new(which.count);
        for j in count.all::<R>() {
            evaluation.flat[j] = evaluation.flat[j] & settled;
            some = some | evaluation.flat[j];
        }
        if some.any() {
            // Along the valley the rounding of residuals makes less of a gradient than beside it.
            let most = ((size + before) * R::splat(2.0)).sqrt() * rounding;
            let Normal { gradient, hessian, .. } = &evaluation.normal;
            let left = sweep(hessian, which);
            for j in count.all::<R>() {
                if !which.eliminates(j) {
                    let little = gradient[j].abs().le(left[j].max(zero).sqrt() * most);
                    evaluation.flat[j] = evaluation.flat[j] & little;
                }
            }
        }
        settled
    }
}

/// What is left of the diagonal when the parameters that are eliminated take their best step beside each of the others.
#[inline(always)]
fn sweep<R: Real, const P: usize>(hessian: &Symmetric<R, P>, which: Explicit) -> [R; P] {
    let count: Count<P> = Count::new(which.count);
    let mut all = *hessian;
    for k in count.all::<R>() {
        if which.eliminates(k) {
            let unit = inverse_pivot(all.0[k][k], hessian.0[k][k]);
            for i in count.all::<R>() {
                let share = all.at(i, k) * unit;
                for j in count.from::<R>(i) {
                    // Rows and columns that were swept before are not looked at again.
                    if j >= i && i != k && j != k {
                        all.0[i][j] = share.neg_mul_add(all.at(j, k), all.0[i][j]);
                    }
                }
            }
        }
    }
    let mut left = [R::splat(0.0); P];
    for j in count.all::<R>() {
        left[j] = all.0[j][j];
    }
    left
}

/// Where a model expects `value` counts: half of what a count adds to the deviance, 1/`value`, and what is missing.
#[inline(always)]
pub fn counted<R: Real>(value: R, count: R) -> [R; 3] {
    let tiny = R::splat(TINY);
    let expected = value.max(tiny);
    let inverse = expected.reciprocal();
    let missing = count - expected;
    let term = if R::EPSILON > 1e-10 {
        // The logarithm times a large count is off by more than 1.
        deviance_of(expected, count)
    } else {
        count.mul_add((count * inverse).max(tiny).ln(), -missing)
    };
    [term, inverse, missing]
}

/// What is seen of a point with a weight: nothing, if it is 0.
#[inline(always)]
fn seen<R: Real, const P: usize>(
    count: Count<P>,
    weight: R,
    number: R,
    at: &At<R, P>,
) -> (R, [R; P]) {
    let zero = R::splat(0.0);
    let there = zero.lt(weight);
    let mut by = at.by;
    for j in count.all::<R>() {
        by[j] = R::select(there, by[j], zero);
    }
    (R::select(there, number, zero), by)
}
