//! The covariance of the parameters, and whether the data determine them.

use super::units::Units;
use crate::arithmetic::Real;
use crate::search::Count;
use crate::search::solve::{Symmetric, inverse};

/// The covariance of the parameters from the Hessian in their lengths: its inverse, times `variance`. Rows of parameters
/// that are `held` are 0. Where the Hessian is singular, or `variance` is infinite, all others are infinite.
#[inline(always)]
pub fn covariance<R: Real, const P: usize>(
    count: Count<P>,
    hessian: &Symmetric<R, P>,
    units: &Units<R, P>,
    held: &[R::Mask; P],
    variance: R,
) -> Symmetric<R, P> {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let mut free = *hessian;
    for j in count.all::<R>() {
        for k in count.from::<R>(j) {
            if k >= j {
                let alone = if k == j { one } else { zero };
                free.0[j][k] = R::select(held[j] | held[k], alone, hessian.0[j][k]);
            }
        }
    }
    let (mut all, definite) = inverse(count, &free);
    for j in count.all::<R>() {
        for k in count.from::<R>(j) {
            if k >= j {
                let value = all.0[j][k] * variance * units.length[j] * units.length[k];
                let known = definite & value.is_finite();
                let value = R::select(known, value, R::splat(f64::INFINITY));
                all.0[j][k] = R::select(held[j] | held[k], zero, value);
            }
        }
    }
    all
}

/// Below this share of its diagonal element a pivot in double precision is rounding of the sums.
const LEAST_SHARE: f64 = 32.0 * f64::EPSILON;
/// A smaller part in a direction that the data say nothing of is rounding.
const LEAST_PART: f64 = 1e-6;

/// The inverse of the Hessian of the parameters that are not `held`, in double precision, and those that the data do not determine: χ² has
/// a valley, or is flat, along a direction with a part of theirs. Their elements mean nothing; those of all others are what they are
/// wherever in the valley the search has stopped.
pub fn determined<const P: usize>(
    count: Count<P>,
    hessian: &Symmetric<f64, P>,
    held: &[bool; P],
) -> (Symmetric<f64, P>, [bool; P]) {
    let mut free = *hessian;
    for j in count.all::<f64>() {
        for k in j..count.all::<f64>().end {
            if held[j] || held[k] {
                free.0[j][k] = if j == k { 1.0 } else { 0.0 };
            }
        }
    }
    let (mut all, definite) = inverse(count, &free);
    let plain = |j: usize| free.0[j][j] * all.0[j][j] * LEAST_SHARE < 1.0;
    let mut unknown = [false; P];
    if !definite || !count.all::<f64>().all(plain) {
        (all, unknown) = pivoted(count, &free);
    }
    for j in count.all::<f64>() {
        for k in j..count.all::<f64>().end {
            if held[j] || held[k] {
                all.0[j][k] = 0.0;
            }
        }
        unknown[j] &= !held[j];
    }
    (all, unknown)
}

/// The inverse as far as there is one, and the parameters with a part in the null space: elimination LDLᵀ with the largest pivot
/// first, of the matrix with a diagonal of 1.
#[cold]
#[inline(never)]
fn pivoted<const P: usize>(
    count: Count<P>,
    of: &Symmetric<f64, P>,
) -> (Symmetric<f64, P>, [bool; P]) {
    let mut unknown = [false; P];
    let mut root = [0.0; P];
    for j in count.all::<f64>() {
        let own = of.0[j][j].sqrt();
        unknown[j] = !(own > 0.0 && own.is_finite());
        root[j] = if unknown[j] { f64::INFINITY } else { own };
    }
    let mut rest = [[0.0; P]; P];
    for j in count.all::<f64>() {
        for k in count.all::<f64>() {
            rest[j][k] = of.at(j, k) / root[j] / root[k];
        }
    }
    // `l[i][n]`: the share of pivot n in row i. Rows that were taken are in `order`.
    let (mut l, mut pivots) = ([[0.0; P]; P], [0.0; P]);
    let (mut order, mut taken, mut done) = ([0; P], unknown, 0);
    while let Some(next) = count
        .all::<f64>()
        .filter(|&j| !taken[j] && rest[j][j] > LEAST_SHARE)
        .max_by(|&a, &b| rest[a][a].total_cmp(&rest[b][b]))
    {
        (order[done], taken[next], pivots[done]) = (next, true, rest[next][next]);
        l[next][done] = 1.0;
        for i in count.all::<f64>().filter(|&i| !taken[i]) {
            l[i][done] = rest[i][next] / pivots[done];
        }
        for i in count.all::<f64>().filter(|&i| !taken[i]) {
            for k in count.all::<f64>().filter(|&k| !taken[k]) {
                rest[i][k] -= l[i][done] * rest[next][k];
            }
        }
        done += 1;
    }
    // Lᵀ·x = y, for those that were taken.
    let solved = |mut y: [f64; P]| {
        for n in (0..done).rev() {
            for m in n + 1..done {
                y[n] -= l[order[m]][n] * y[m];
            }
        }
        y
    };
    for k in count.all::<f64>().filter(|&k| !taken[k]) {
        // What the others do to make up for one of the rest.
        unknown[k] = true;
        let by = solved(l[k].map(|share| -share));
        let most = by.iter().fold(1.0_f64, |most, part| most.max(part.abs()));
        for n in 0..done {
            unknown[order[n]] |= by[n].abs() > LEAST_PART * most;
        }
    }
    let mut all = Symmetric::zero();
    for n in 0..done {
        let mut y = [0.0; P];
        y[n] = 1.0;
        for m in 0..done {
            for q in 0..m {
                y[m] -= l[order[m]][q] * y[q];
            }
        }
        for m in 0..done {
            y[m] /= pivots[m];
        }
        let column = solved(y);
        for m in 0..done {
            let (j, k) = (order[n].min(order[m]), order[n].max(order[m]));
            all.0[j][k] = column[m] / root[j] / root[k];
        }
    }
    (all, unknown)
}
