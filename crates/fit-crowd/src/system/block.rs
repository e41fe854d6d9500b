//! Blocks of 4 × 4 numbers, whose columns lie one after the other.

use crate::lanes::fused_f64;
use crate::patch::PARAMETERS;

/// Rows of a block.
pub(crate) const BLOCK: usize = PARAMETERS;
/// Numbers of a block.
pub(super) const NUMBERS: usize = BLOCK * BLOCK;

/// A block's columns.
pub(super) type Columns = [[f64; BLOCK]; BLOCK];

/// One block of rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    /// The first block that it couples with.
    pub(super) start: usize,
    /// Rows that are used.
    pub(super) used: usize,
    /// Where its numbers begin.
    pub(super) offset: usize,
}

impl Rows {
    /// Where the block begins that couples this one with another.
    #[inline(always)]
    pub(super) fn block(&self, other: usize) -> usize {
        self.offset + NUMBERS * (other - self.start)
    }
}

#[inline(always)]
pub(super) fn get(from: &[f64], at: usize) -> Columns {
    let mut columns = [[0.0; BLOCK]; BLOCK];
    columns.as_flattened_mut().copy_from_slice(&from[at..at + NUMBERS]);
    columns
}

#[inline(always)]
pub(super) fn put(into: &mut [f64], at: usize, columns: &Columns) {
    into[at..at + NUMBERS].copy_from_slice(columns.as_flattened());
}

/// Adds a·bᵀ, of which the first `inner` columns of both are used.
#[inline(always)]
pub(super) fn add_product<const FUSED: bool>(
    sum: &mut Columns,
    a: &[f64],
    b: &[f64],
    inner: usize,
) {
    for k in 0..inner {
        let a = &a[k * BLOCK..(k + 1) * BLOCK];
        let b = &b[k * BLOCK..(k + 1) * BLOCK];
        for j in 0..BLOCK {
            for i in 0..BLOCK {
                sum[j][i] = fused_f64::<FUSED>(a[i], b[j], sum[j][i]);
            }
        }
    }
}
