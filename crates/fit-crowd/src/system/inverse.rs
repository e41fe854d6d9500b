//! The inverse within the envelope.

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use super::block::{BLOCK, Columns, NUMBERS, Rows, add_product, get, put};

/// The inverse Z within the envelope (Takahashi, Fagan & Chen 1973), in the layout of the factor: since Z·L = L⁻ᵀ is upper triangular,
/// Z_rc = −Σ_{s>c} Z_rs·L_sc·L_cc⁻¹ for r > c, and Z_cc = (L_cc⁻ᵀ − Σ_{s>c} Z_scᵀ·L_sc)·L_cc⁻¹, from the last column on.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn invert(rows: &[Rows], factor: &[f64]) -> Vec<f64> {
    if target_cfg_f!(target_feature = "fma") {
        invert_with::<true>(rows, factor)
    } else {
        invert_with::<false>(rows, factor)
    }
}

#[inline(always)]
fn transposed(columns: &Columns) -> Columns {
    let mut other = *columns;
    for i in 0..BLOCK {
        for j in 0..BLOCK {
            other[i][j] = columns[j][i];
        }
    }
    other
}

#[inline(always)]
fn invert_with<const FUSED: bool>(rows: &[Rows], factor: &[f64]) -> Vec<f64> {
    let mut inverse = vec![0.0; factor.len()];
    // Each block turned over, since the upper half is needed as well.
    let mut turned = vec![0.0; factor.len()];
    let (mut near, mut sums, mut below) = (Vec::new(), Vec::<Columns>::new(), Vec::new());
    for column in (0..rows.len()).rev() {
        near.clear();
        sums.clear();
        below.clear();
        for row in column + 1..rows.len() {
            if rows[row].start <= column {
                near.push(row);
                sums.push([[0.0; BLOCK]; BLOCK]);
                // Its rows are what products run over.
                below.push(transposed(&get(factor, rows[row].block(column))));
            }
        }
        for (a, &row) in near.iter().enumerate() {
            for (b, &other) in near[..=a].iter().enumerate() {
                let at = rows[row].block(other);
                let factor = below[b].as_flattened();
                add_product::<FUSED>(&mut sums[a], &inverse[at..at + NUMBERS], factor, BLOCK);
                if a != b {
                    let factor = below[a].as_flattened();
                    add_product::<FUSED>(&mut sums[b], &turned[at..at + NUMBERS], factor, BLOCK);
                }
            }
        }
        let used = rows[column].used;
        let corner = get(factor, rows[column].block(column));
        let root = inverse_of_corner(&corner, used);
        // L_cc⁻ᵀ, whose column j is row j of L_cc⁻¹.
        let mut own = transposed(&root);
        for (a, &row) in near.iter().enumerate() {
            let mut block = [[0.0; BLOCK]; BLOCK];
            // Column j of S·L⁻¹ is Σ_k S_k·(L⁻¹)_kj.
            for j in 0..BLOCK {
                for k in 0..BLOCK {
                    for i in 0..BLOCK {
                        block[j][i] -= sums[a][k][i] * root[j][k];
                    }
                }
            }
            let at = rows[row].block(column);
            put(&mut inverse, at, &block);
            put(&mut turned, at, &transposed(&block));
            let factor = transposed(&below[a]);
            for j in 0..BLOCK {
                for i in 0..BLOCK {
                    for k in 0..BLOCK {
                        own[j][i] -= block[i][k] * factor[j][k];
                    }
                }
            }
        }
        let mut block = [[0.0; BLOCK]; BLOCK];
        for j in 0..BLOCK {
            for k in 0..BLOCK {
                for i in 0..BLOCK {
                    block[j][i] += own[k][i] * root[j][k];
                }
            }
        }
        let at = rows[column].block(column);
        put(&mut inverse, at, &block);
        put(&mut turned, at, &transposed(&block));
    }
    inverse
}

/// L⁻¹ of a block of the diagonal, which holds 1/L there; 0 in what is not used.
#[inline(always)]
fn inverse_of_corner(corner: &Columns, used: usize) -> Columns {
    let mut inverse = [[0.0; BLOCK]; BLOCK];
    for j in 0..used {
        inverse[j][j] = corner[j][j];
        for i in j + 1..used {
            let mut sum = 0.0;
            for k in j..i {
                sum += corner[k][i] * inverse[j][k];
            }
            inverse[j][i] = -sum * corner[i][i];
        }
    }
    inverse
}
