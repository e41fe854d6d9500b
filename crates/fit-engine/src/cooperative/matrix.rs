//! Symmetric matrices, of which each thread has a row.

use super::threads::Cooperative;
use fit_core::arithmetic::{Mask, Real};
use fit_core::search::solve::{inverse_pivot, least_pivot};

/// Sweeps the pivots of some parameters, a bit for each (Gauss and Jordan): rows and columns of these become those of −1 times
/// the inverse of what they have in common, and the others what is left beside them. `diagonal` is a thread's own element.
/// Returns whether its own pivot was positive.
#[inline(always)]
pub(super) fn sweep<R: Real, C: Cooperative<R, N>, const N: usize>(
    group: &mut C,
    row: &mut [R; N],
    diagonal: R,
    among: u32,
) -> R::Mask {
    let zero = R::splat(0.0);
    let mut positive = R::Mask::splat(true);
    let mut k = 0;
    // The column of the pivot comes first, and goes to the end: registers have no number that changes.
    while k < group.times(N) {
        let own = row[0];
        group.show(own, k);
        let here = among >> k & 1 == 1;
        let mine = group.is(k) & R::Mask::splat(here);
        let sound = (diagonal * R::splat(4.0 * R::EPSILON)).lt(own);
        let sound = sound & R::splat(const { least_pivot(R::EPSILON) }).lt(own);
        positive = positive & (!mine | sound);
        let unit = group.of(k, inverse_pivot(own, diagonal));
        let unit = if here { unit } else { zero };
        let share = own * unit;
        let factor = R::select(mine, unit, -share);
        for four in 0..N / 4 {
            let column = group.shown(four);
            for i in 0..4 {
                let m = 4 * four + i;
                if m > 0 {
                    let rest = R::select(mine, zero, row[m]);
                    row[m - 1] = factor.mul_add(column[i], rest);
                }
            }
        }
        let last = R::select(mine, -unit, share);
        row[N - 1] = if here { last } else { own };
        k += 1;
    }
    positive
}

/// The product with a vector, of which each thread has an element.
#[inline(always)]
pub(super) fn product<R: Real, C: Cooperative<R, N>, const N: usize>(
    group: &mut C,
    row: &[R; N],
    vector: R,
) -> R {
    group.show(vector, 0);
    let mut sum = R::splat(0.0);
    for four in 0..N / 4 {
        let others = group.shown(four);
        for i in 0..4 {
            sum = row[4 * four + i].mul_add(others[i], sum);
        }
    }
    sum
}

/// Makes rows and columns 0 where `keeps` is not 1.
#[inline(always)]
pub(super) fn keep<R: Real, C: Cooperative<R, N>, const N: usize>(
    group: &mut C,
    row: &mut [R; N],
    keeps: R,
) {
    let zero = R::splat(0.0);
    group.show(keeps, 0);
    for four in 0..N / 4 {
        let others = group.shown(four);
        for i in 0..4 {
            let both = zero.lt(keeps * others[i]);
            row[4 * four + i] = R::select(both, row[4 * four + i], zero);
        }
    }
}

/// Multiplies the rows and columns by the threads' numbers.
#[inline(always)]
pub(super) fn scale<R: Real, C: Cooperative<R, N>, const N: usize>(
    group: &mut C,
    row: &mut [R; N],
    by: R,
) {
    group.show(by, 0);
    for four in 0..N / 4 {
        let others = group.shown(four);
        for i in 0..4 {
            row[4 * four + i] = row[4 * four + i] * by * others[i];
        }
    }
}

/// The element of the diagonal.
#[inline(always)]
pub(super) fn own<R: Real, C: Cooperative<R, N>, const N: usize>(group: &C, row: &[R; N]) -> R {
    let mut own = row[0];
    for k in 1..N {
        own = R::select(group.is(k), row[k], own);
    }
    own
}

/// Replaces it.
#[inline(always)]
pub(super) fn set_own<R: Real, C: Cooperative<R, N>, const N: usize>(
    group: &C,
    row: &mut [R; N],
    own: R,
) {
    for k in 0..N {
        row[k] = R::select(group.is(k), own, row[k]);
    }
}
