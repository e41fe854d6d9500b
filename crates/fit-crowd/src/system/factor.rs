//! The Cholesky factor, and what it solves.

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use super::block::{BLOCK, Columns, NUMBERS, Rows, add_product, get, put};

/// A pivot is lost to rounding if it is a smaller share of its diagonal.
const SINGULAR: f64 = 1e-11;

#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn factorize(rows: &[Rows], factor: &mut [f64], damping: f64) -> bool {
    if target_cfg_f!(target_feature = "fma") {
        factorize_with::<true>(rows, factor, damping)
    } else {
        factorize_with::<false>(rows, factor, damping)
    }
}

#[inline(always)]
fn factorize_with<const FUSED: bool>(rows: &[Rows], factor: &mut [f64], damping: f64) -> bool {
    for block in 0..rows.len() {
        let ours = rows[block];
        let (done, line) = factor.split_at_mut(ours.offset);
        for other in ours.start..block {
            let theirs = rows[other];
            let from = ours.start.max(theirs.start);
            let at = NUMBERS * (other - ours.start);
            let mut sum = [[0.0; BLOCK]; BLOCK];
            let here = NUMBERS * (from - ours.start);
            let there = theirs.block(from);
            let count = other - from;
            let before = &line[here..here + NUMBERS * count];
            let beside = &done[there..there + NUMBERS * count];
            let pairs = before.chunks_exact(NUMBERS).zip(beside.chunks_exact(NUMBERS));
            for (number, (a, b)) in pairs.enumerate() {
                add_product::<FUSED>(&mut sum, a, b, rows[from + number].used);
            }
            let corner = &done[theirs.block(other)..][..NUMBERS];
            let mut block = get(line, at);
            for j in 0..theirs.used {
                for i in 0..BLOCK {
                    let mut value = block[j][i] - sum[j][i];
                    for k in 0..j {
                        value -= block[k][i] * corner[k * BLOCK + j];
                    }
                    // Diagonals of finished blocks hold 1/L.
                    block[j][i] = value * corner[j * BLOCK + j];
                }
            }
            put(line, at, &block);
        }
        let at = NUMBERS * (block - ours.start);
        let mut sum = [[0.0; BLOCK]; BLOCK];
        for (number, a) in line[..at].chunks_exact(NUMBERS).enumerate() {
            add_product::<FUSED>(&mut sum, a, a, rows[ours.start + number].used);
        }
        let mut corner = get(line, at);
        if !factorize_corner(&mut corner, &sum, ours.used, damping) {
            return false;
        }
        put(line, at, &corner);
    }
    true
}

/// The factor of a block of the diagonal, of which `sum` is already explained.
#[inline(always)]
fn factorize_corner(corner: &mut Columns, sum: &Columns, used: usize, damping: f64) -> bool {
    for i in 0..used {
        for j in 0..i {
            let mut value = corner[j][i] - sum[j][i];
            for k in 0..j {
                value -= corner[k][i] * corner[k][j];
            }
            corner[j][i] = value * corner[j][j];
            // What is above the diagonal is not part of the factor.
            corner[i][j] = 0.0;
        }
        let whole = corner[i][i] * (1.0 + damping);
        let mut value = whole - sum[i][i];
        for k in 0..i {
            value -= corner[k][i] * corner[k][i];
        }
        // NaN is no pivot either.
        if !(value > SINGULAR * whole && value.is_finite()) {
            return false;
        }
        corner[i][i] = 1.0 / value.sqrt();
    }
    true
}

/// Solves L·Lᵀ·x = b in place; diagonals hold 1/L.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn substitute(rows: &[Rows], factor: &[f64], solution: &mut [f64]) {
    for (block, ours) in rows.iter().enumerate() {
        let (before, here) = solution.split_at_mut(BLOCK * block);
        let mut sum = [0.0; BLOCK];
        let line = &factor[ours.offset..][..NUMBERS * (block - ours.start)];
        let known = before[BLOCK * ours.start..].chunks_exact(BLOCK);
        for (block, known) in line.chunks_exact(NUMBERS).zip(known) {
            for k in 0..BLOCK {
                for i in 0..BLOCK {
                    sum[i] += block[k * BLOCK + i] * known[k];
                }
            }
        }
        let corner = &factor[ours.block(block)..][..NUMBERS];
        for i in 0..BLOCK {
            if i < ours.used {
                let mut value = here[i] - sum[i];
                for k in 0..i {
                    value -= corner[k * BLOCK + i] * here[k];
                }
                here[i] = value * corner[i * BLOCK + i];
            } else {
                here[i] = 0.0;
            }
        }
    }
    for (block, ours) in rows.iter().enumerate().rev() {
        let (before, here) = solution.split_at_mut(BLOCK * block);
        let corner = &factor[ours.block(block)..][..NUMBERS];
        for i in (0..ours.used).rev() {
            let mut value = here[i];
            for k in i + 1..ours.used {
                value -= corner[i * BLOCK + k] * here[k];
            }
            here[i] = value * corner[i * BLOCK + i];
        }
        let line = &factor[ours.offset..][..NUMBERS * (block - ours.start)];
        let other = before[BLOCK * ours.start..].chunks_exact_mut(BLOCK);
        for (block, other) in line.chunks_exact(NUMBERS).zip(other) {
            for k in 0..BLOCK {
                let mut sum = 0.0;
                for i in 0..BLOCK {
                    sum += block[k * BLOCK + i] * here[i];
                }
                other[k] -= sum;
            }
        }
    }
}
