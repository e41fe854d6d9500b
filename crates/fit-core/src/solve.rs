//! The damped 3×3 solve of eq. 14.

use crate::real::Real;

/// Solves (H + λ·diag H)·δ = −b for a symmetric, positive semi-definite H given as xx, xy, xσ, yy,
/// yσ, σσ.
///
/// The elimination LDLᵀ divides each row by its own pivot, so it does not change when the rows and
/// columns are scaled, and forms no determinant: nothing overflows as long as H itself is finite.
/// A pivot is kept above a few rounding units of its diagonal element; a singular H gives a long
/// step, not an infinite one, and a row of zeros gives no step at all.
#[inline(always)]
pub fn damped_step<R: Real>(h: &[R; 6], b: &[R; 3], lambda: R) -> [R; 3] {
    let [h00, h01, h02, h11, h12, h22] = *h;
    let damp = R::splat(1.0) + lambda;

    let i0 = inverse(h00 * damp, h00);
    let (l10, l20) = (h01 * i0, h02 * i0);
    let i1 = inverse(l10.neg_mul_add(h01, h11 * damp), h11);
    let s12 = l10.neg_mul_add(h02, h12);
    let l21 = s12 * i1;
    let i2 = inverse(l21.neg_mul_add(s12, l20.neg_mul_add(h02, h22 * damp)), h22);

    let z0 = -b[0];
    let z1 = l10.neg_mul_add(z0, -b[1]);
    let z2 = l21.neg_mul_add(z1, l20.neg_mul_add(z0, -b[2]));
    let d2 = z2 * i2;
    let d1 = l21.neg_mul_add(d2, z1 * i1);
    let d0 = l20.neg_mul_add(d2, l10.neg_mul_add(d1, z0 * i0));
    [d0, d1, d2]
}

/// 1/pivot, with the pivot kept above rounding; 0 for a row of zeros.
#[inline(always)]
fn inverse<R: Real>(pivot: R, diagonal: R) -> R {
    let zero = R::splat(0.0);
    let one = R::splat(1.0);
    let pivot = pivot.max(diagonal * R::splat(4.0 * R::EPSILON));
    let sound = zero.lt(pivot);
    R::select(sound, one / R::select(sound, pivot, one), zero)
}

/// The decrease of χ² that the quadratic model promises for a step δ: −2bᵀδ − δᵀHδ.
#[inline(always)]
pub fn predicted_decrease<R: Real>(h: &[R; 6], b: &[R; 3], step: &[R; 3]) -> R {
    let [h00, h01, h02, h11, h12, h22] = *h;
    let [d0, d1, d2] = *step;
    let slope0 = h02.mul_add(d2, h01.mul_add(d1, h00.mul_add(d0, b[0] + b[0])));
    let slope1 = h12.mul_add(d2, h11.mul_add(d1, h01.mul_add(d0, b[1] + b[1])));
    let slope2 = h22.mul_add(d2, h12.mul_add(d1, h02.mul_add(d0, b[2] + b[2])));
    -slope2.mul_add(d2, slope1.mul_add(d1, slope0 * d0))
}
