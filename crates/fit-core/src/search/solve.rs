//! The damped solve of eq. 14, for any number of parameters.

use super::count::Count;
use super::lane_state::{LaneState, MergeLanes};
use crate::arithmetic::{Mask, Real, Task};

/// A symmetric P×P matrix, stored as its upper half: element (j, k) with j ≤ k is `[j][k]`; elements below the
/// diagonal are never read.
#[derive(Clone, Copy, Debug)]
pub struct Symmetric<R, const P: usize>(pub [[R; P]; P]);

impl<R: Real, const P: usize> LaneState<R> for Symmetric<R, P> {
    #[inline(always)]
    fn merge<M: MergeLanes<R>>(&mut self, other: &Self, how: &M) {
        for j in Count::<P>::ALL.all::<R>() {
            for k in Count::<P>::ALL.from::<R>(j) {
                if k >= j {
                    self.0[j][k] = how.number(self.0[j][k], other.0[j][k]);
                }
            }
        }
    }
}

impl<R: Real, const P: usize> Symmetric<R, P> {
    /// All zeros.
    #[inline(always)]
    pub fn zero() -> Self {
        Self([[R::splat(0.0); P]; P])
    }

    /// Element (j, k), in either order.
    #[inline(always)]
    pub fn at(&self, j: usize, k: usize) -> R {
        if j <= k { self.0[j][k] } else { self.0[k][j] }
    }

    /// `yes` in the lanes where `mask` is true, `no` in the others.
    #[inline(always)]
    pub fn select(count: Count<P>, mask: R::Mask, yes: &Self, no: &Self) -> Self {
        let mut chosen = *no;
        for j in count.all::<R>() {
            for k in count.from::<R>(j) {
                if k >= j {
                    chosen.0[j][k] = R::select(mask, yes.0[j][k], no.0[j][k]);
                }
            }
        }
        chosen
    }
}

/// Solves (H + λ·diag H)·δ = −b for a symmetric, positive semi-definite H.
///
/// The elimination LDLᵀ divides each row by its own pivot, so it does not change when the rows and
/// columns are scaled, and forms no determinant: nothing overflows as long as H itself is finite.
/// A pivot is kept above a few rounding units of its diagonal element; a singular H gives a long
/// step, not an infinite one, and a row of zeros gives no step at all.
#[inline(always)]
pub fn damped_step<R: Real, const P: usize>(h: &Symmetric<R, P>, b: &[R; P], lambda: R) -> [R; P] {
    solve(Count::ALL, h, b, lambda).0
}

/// [`damped_step`], and the rows whose pivot is positive: if all are, the damped H is positive definite.
#[inline(always)]
pub fn solve<R: Real, const P: usize>(
    count: Count<P>,
    h: &Symmetric<R, P>,
    b: &[R; P],
    lambda: R,
) -> ([R; P], [R::Mask; P]) {
    solve_among(count, h, b, lambda, u64::MAX)
}

/// The same for some of the rows and columns, a bit for each; the others have no step.
#[inline(always)]
pub fn solve_among<R: Real, const P: usize>(
    count: Count<P>,
    h: &Symmetric<R, P>,
    b: &[R; P],
    lambda: R,
    among: u64,
) -> ([R; P], [R::Mask; P]) {
    let has = |j: usize| among >> j & 1 == 1;
    let mut positive = [R::Mask::splat(true); P];
    let zero = R::splat(0.0);
    let damp = R::splat(1.0) + lambda;
    // Row j of S is what is left of row j of H when the rows before it are eliminated; L has the factors.
    // Loops run over all columns and skip, so that a compiler unrolls them and keeps all of it in registers.
    let (mut s, mut l) = ([[zero; P]; P], [[zero; P]; P]);
    let (mut inverse, mut z, mut step) = ([zero; P], [zero; P], [zero; P]);
    for j in count.all::<R>() {
        if has(j) {
            z[j] = -b[j];
            for k in count.from::<R>(j) {
                if k >= j {
                    s[j][k] = if k == j { h.0[j][j] * damp } else { h.0[j][k] };
                }
            }
            for m in count.before::<R>(j) {
                if m < j && has(m) {
                    z[j] = l[j][m].neg_mul_add(z[m], z[j]);
                    for k in count.from::<R>(j) {
                        if k >= j {
                            s[j][k] = l[j][m].neg_mul_add(s[m][k], s[j][k]);
                        }
                    }
                }
            }
            inverse[j] = inverse_pivot(s[j][j], h.0[j][j]);
            positive[j] = (h.0[j][j] * R::splat(4.0 * R::EPSILON)).lt(s[j][j]);
            for k in count.from::<R>(j) {
                if k > j {
                    l[k][j] = s[j][k] * inverse[j];
                }
            }
        }
    }
    for i in count.all::<R>() {
        let j = count.all::<R>().end - 1 - i;
        if has(j) {
            step[j] = z[j] * inverse[j];
            for m in count.from::<R>(j) {
                if m > j && has(m) {
                    step[j] = l[m][j].neg_mul_add(step[m], step[j]);
                }
            }
        }
    }
    (step, positive)
}

/// [`solve`] where that is rare.
pub(super) struct Solve<R, const P: usize> {
    pub(super) count: Count<P>,
    pub(super) h: Symmetric<R, P>,
    pub(super) b: [R; P],
    pub(super) lambda: R,
}

impl<R: Real, const P: usize> Task<R> for Solve<R, P> {
    type Output = [R; P];
    #[inline(always)]
    fn run(self) -> [R; P] {
        let Self { count, h, b, lambda } = self;
        solve(count, &h, &b, lambda).0
    }
}

/// A pivot below this is zero: its reciprocal is beyond the precision.
pub const fn least_pivot(epsilon: f64) -> f64 {
    if epsilon < 1e-10 { 1e-290 } else { 1e-37 }
}

/// 1/pivot, with the pivot kept above rounding; 0 for a row of zeros.
#[inline(always)]
pub fn inverse_pivot<R: Real>(pivot: R, diagonal: R) -> R {
    let pivot = pivot.max(diagonal * R::splat(4.0 * R::EPSILON));
    let sound = R::splat(const { least_pivot(R::EPSILON) }).lt(pivot);
    R::select(sound, pivot.reciprocal(), R::splat(0.0))
}

/// The decrease of the cost that the quadratic model predicts for a step δ: −2bᵀδ − δᵀHδ.
#[inline(always)]
pub fn predicted_decrease<R: Real, const P: usize>(
    count: Count<P>,
    h: &Symmetric<R, P>,
    b: &[R; P],
    step: &[R; P],
) -> R {
    let mut sum = R::splat(0.0);
    for j in count.all::<R>() {
        let mut slope = b[j] + b[j];
        for k in count.all::<R>() {
            slope = h.at(j, k).mul_add(step[k], slope);
        }
        sum = if j == 0 { slope * step[0] } else { slope.mul_add(step[j], sum) };
    }
    -sum
}

/// The inverse of a symmetric matrix by Gauss and Jordan's elimination, and whether the matrix is positive definite; if
/// it is not, the inverse means nothing.
#[inline(always)]
pub fn inverse<R: Real, const P: usize>(
    count: Count<P>,
    of: &Symmetric<R, P>,
) -> (Symmetric<R, P>, R::Mask) {
    let mut all = *of;
    let mut definite = R::Mask::splat(true);
    for k in count.all::<R>() {
        let (pivot, diagonal) = (all.0[k][k], of.0[k][k]);
        definite = definite & (diagonal * R::splat(4.0 * R::EPSILON)).lt(pivot);
        definite = definite & R::splat(const { least_pivot(R::EPSILON) }).lt(pivot);
        let unit = inverse_pivot(pivot, diagonal);
        let mut row = [R::splat(0.0); P];
        for j in count.all::<R>() {
            row[j] = all.at(j, k);
        }
        for i in count.all::<R>() {
            for j in count.from::<R>(i) {
                if j >= i && i != k && j != k {
                    let share = row[i] * unit;
                    all.0[i][j] = share.neg_mul_add(row[j], all.0[i][j]);
                }
            }
        }
        for j in count.all::<R>() {
            let scaled = row[j] * unit;
            if j < k {
                all.0[j][k] = scaled;
            }
            if j > k {
                all.0[k][j] = scaled;
            }
        }
        all.0[k][k] = -unit;
    }
    for j in count.all::<R>() {
        for k in count.from::<R>(j) {
            if k >= j {
                all.0[j][k] = -all.0[j][k];
            }
        }
    }
    (all, definite)
}

/// A·B·A.
#[inline(always)]
pub fn between<R: Real, const P: usize>(
    a: &Symmetric<R, P>,
    b: &Symmetric<R, P>,
) -> Symmetric<R, P> {
    let mut all = Symmetric::zero();
    for j in 0..P {
        let mut row = [R::splat(0.0); P];
        for k in 0..P {
            for l in 0..P {
                row[k] = a.at(j, l).mul_add(b.at(l, k), row[k]);
            }
        }
        for k in 0..P {
            if k >= j {
                for l in 0..P {
                    all.0[j][k] = row[l].mul_add(a.at(l, k), all.0[j][k]);
                }
            }
        }
    }
    all
}
