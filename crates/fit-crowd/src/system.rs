//! Normal equations of all emitters and nodes, and their Cholesky factor.
//!
//! Rows come in blocks of four, one block for an emitter (three rows are used if widths are fixed) or for four nodes. With the
//! emitters sorted by y, what a block couples with begins at some block and ends at its diagonal: the factor has the same envelope
//! (George & Liu 1981, chapter 4). Nodes come last and couple with all.

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use crate::lanes::fused_f64;
use crate::patch::PARAMETERS;

/// Rows of a block.
pub(crate) const BLOCK: usize = PARAMETERS;

/// One block of rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    /// The first block that it couples with.
    pub(crate) start: usize,
    /// Rows that are used.
    pub(crate) used: usize,
    /// Where its numbers begin.
    offset: usize,
    /// Numbers in a row: from the first block to the diagonal.
    length: usize,
}

/// A symmetric matrix in an envelope, with its right side, its factor and its solution.
#[derive(Clone, Debug, Default)]
pub(crate) struct System {
    pub(crate) rows: Vec<Rows>,
    matrix: Vec<f64>,
    factor: Vec<f64>,
    pub(crate) right: Vec<f64>,
    pub(crate) solution: Vec<f64>,
}

impl System {
    /// An empty system of blocks, each with the first that it couples with and the rows that it uses.
    pub(crate) fn reset(&mut self, blocks: impl Iterator<Item = (usize, usize)>) {
        self.rows.clear();
        let mut offset = 0;
        for (number, (start, used)) in blocks.enumerate() {
            let length = BLOCK * (number - start + 1);
            self.rows.push(Rows { start, used, offset, length });
            offset += BLOCK * length;
        }
        self.matrix.clear();
        self.matrix.resize(offset, 0.0);
        self.right.clear();
        self.right.resize(BLOCK * self.rows.len(), 0.0);
    }

    /// An entry of block `block`, row `i`, in the columns of block `other`, column `j`.
    #[inline]
    pub(crate) fn entry(&mut self, block: usize, i: usize, other: usize, j: usize) -> &mut f64 {
        let at = self.index(block, i, other, j);
        &mut self.matrix[at]
    }

    #[inline]
    fn index(&self, block: usize, i: usize, other: usize, j: usize) -> usize {
        let rows = &self.rows[block];
        rows.offset + i * rows.length + BLOCK * (other - rows.start) + j
    }

    /// Factorizes the matrix with its diagonal times 1 + `damping`; false if it is singular to rounding.
    pub(crate) fn factorize(&mut self, damping: f64) -> bool {
        self.factor.clear();
        self.factor.extend_from_slice(&self.matrix);
        factorize(&self.rows, &mut self.factor, damping)
    }

    /// Solves for the right side.
    pub(crate) fn solve(&mut self) {
        let Self { rows, factor, right, solution, .. } = self;
        solution.clear();
        solution.extend_from_slice(right);
        substitute(rows, factor, solution);
    }

    /// An entry of the factor, whose diagonal holds reciprocals.
    pub(crate) fn factor(&self, block: usize, i: usize, other: usize, j: usize) -> f64 {
        self.factor[self.index(block, i, other, j)]
    }

    /// The inverse of the factorized matrix within its envelope, in the layout of the matrix (Takahashi et al. 1973; Erisman &
    /// Tinney 1975): Z = L⁻ᵀ·D⁻¹... column by column from the last, each from those after it.
    pub(crate) fn invert(&mut self) -> Inverse<'_> {
        let total = self.rows.len() * BLOCK;
        let mut inverse = vec![0.0; self.factor.len()];
        // For each scalar column the rows of the factor that have it.
        let (mut places, mut column, mut sums) =
            (Vec::<(usize, usize)>::new(), Vec::<f64>::new(), Vec::<f64>::new());
        for at in (0..total).rev() {
            let (block, j) = (at / BLOCK, at % BLOCK);
            if j >= self.rows[block].used {
                continue;
            }
            places.clear();
            column.clear();
            for other in block..self.rows.len() {
                let rows = &self.rows[other];
                if rows.start > block {
                    continue;
                }
                let first = if other == block { j + 1 } else { 0 };
                for i in first..rows.used {
                    places.push((other, i));
                    column.push(self.factor(other, i, block, j));
                }
            }
            sums.clear();
            sums.resize(places.len(), 0.0);
            for (a, &(row, i)) in places.iter().enumerate() {
                let rows = &self.rows[row];
                let line = rows.offset + i * rows.length;
                let mut sum = 0.0;
                for b in 0..a {
                    let (other, k) = places[b];
                    let value = inverse[line + BLOCK * (other - rows.start) + k];
                    sum += value * column[b];
                    sums[b] += value * column[a];
                }
                sums[a] += sum + inverse[line + BLOCK * (row - rows.start) + i] * column[a];
            }
            // The factor's diagonal holds 1/L.
            let pivot = self.factor(block, j, block, j);
            let mut diagonal = pivot;
            for (a, &(row, i)) in places.iter().enumerate() {
                let value = -pivot * sums[a];
                let index = self.index(row, i, block, j);
                inverse[index] = value;
                diagonal -= column[a] * value;
            }
            let index = self.index(block, j, block, j);
            inverse[index] = diagonal * pivot;
        }
        Inverse { rows: &self.rows, values: inverse }
    }
}

/// Entries of an inverse.
pub(crate) struct Inverse<'a> {
    rows: &'a [Rows],
    values: Vec<f64>,
}

impl Inverse<'_> {
    /// The entry of two rows that couple, the first not before the second.
    pub(crate) fn entry(&self, block: usize, i: usize, other: usize, j: usize) -> f64 {
        let rows = &self.rows[block];
        self.values[rows.offset + i * rows.length + BLOCK * (other - rows.start) + j]
    }
}

/// A pivot is lost to rounding if it is a smaller share of its diagonal.
const SINGULAR: f64 = 1e-11;

#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn factorize(rows: &[Rows], factor: &mut [f64], damping: f64) -> bool {
    if target_cfg_f!(target_feature = "fma") {
        factorize_with::<true>(rows, factor, damping)
    } else {
        factorize_with::<false>(rows, factor, damping)
    }
}

#[inline(always)]
fn factorize_with<const FUSED: bool>(rows: &[Rows], factor: &mut [f64], damping: f64) -> bool {
    let mut dots = [[0.0; 4]; 16];
    for block in 0..rows.len() {
        let ours = rows[block];
        for other in ours.start..=block {
            let theirs = rows[other];
            let from = ours.start.max(theirs.start);
            let count = BLOCK * (other - from);
            let here = ours.offset + BLOCK * (from - ours.start);
            let there = theirs.offset + BLOCK * (from - theirs.start);
            let mut sums = [0.0; 16];
            if count > 0 {
                for first in [0, 2] {
                    match (ours.used - first.min(ours.used), theirs.used) {
                        (0, _) => {}
                        (1, 0..=3) => {
                            let here = here + first * ours.length;
                            let at = [here, there, ours.length, theirs.length];
                            dots_of::<1, 3, FUSED>(factor, at, count, &mut dots);
                            add_up(&dots, &mut sums, [first, 1, 3]);
                        }
                        (1, _) => {
                            let here = here + first * ours.length;
                            let at = [here, there, ours.length, theirs.length];
                            dots_of::<1, 4, FUSED>(factor, at, count, &mut dots);
                            add_up(&dots, &mut sums, [first, 1, 4]);
                        }
                        (3, 0..=3) => {
                            let at = [here, there, ours.length, theirs.length];
                            dots_of::<3, 3, FUSED>(factor, at, count, &mut dots);
                            add_up(&dots, &mut sums, [0, 3, 3]);
                            break;
                        }
                        (_, 0..=3) => {
                            let here = here + first * ours.length;
                            let at = [here, there, ours.length, theirs.length];
                            dots_of::<2, 3, FUSED>(factor, at, count, &mut dots);
                            add_up(&dots, &mut sums, [first, 2, 3]);
                        }
                        _ => {
                            let here = here + first * ours.length;
                            let at = [here, there, ours.length, theirs.length];
                            dots_of::<2, 4, FUSED>(factor, at, count, &mut dots);
                            add_up(&dots, &mut sums, [first, 2, 4]);
                        }
                    }
                }
            }
            let diagonal = BLOCK * (other - ours.start);
            let place = |i: usize, j: usize| ours.offset + i * ours.length + diagonal + j;
            if other < block {
                let last = BLOCK * (other - theirs.start);
                for j in 0..theirs.used {
                    let line = theirs.offset + j * theirs.length + last;
                    // Diagonals of finished blocks hold 1/L.
                    let inverse = factor[line + j];
                    for i in 0..ours.used {
                        let mut value = factor[place(i, j)] - sums[i * BLOCK + j];
                        for k in 0..j {
                            value -= factor[place(i, k)] * factor[line + k];
                        }
                        factor[place(i, j)] = value * inverse;
                    }
                }
            } else {
                for i in 0..ours.used {
                    for j in 0..i {
                        let mut value = factor[place(i, j)] - sums[i * BLOCK + j];
                        for k in 0..j {
                            value -= factor[place(i, k)] * factor[place(j, k)];
                        }
                        factor[place(i, j)] = value * factor[place(j, j)];
                    }
                    let whole = factor[place(i, i)] * (1.0 + damping);
                    let mut value = whole - sums[i * BLOCK + i];
                    for k in 0..i {
                        value -= factor[place(i, k)] * factor[place(i, k)];
                    }
                    // NaN is no pivot either.
                    if !(value > SINGULAR * whole && value.is_finite()) {
                        return false;
                    }
                    factor[place(i, i)] = 1.0 / value.sqrt();
                }
            }
        }
    }
    true
}

/// Dot products of `I` rows with `J` rows over `count` columns, in four parts each.
#[inline(always)]
fn dots_of<const I: usize, const J: usize, const FUSED: bool>(
    factor: &[f64],
    [here, there, our_length, their_length]: [usize; 4],
    count: usize,
    into: &mut [[f64; 4]; 16],
) {
    let mut sums = [[[0.0; 4]; J]; I];
    let ours: [&[f64]; I] = core::array::from_fn(|i| &factor[here + i * our_length..][..count]);
    let theirs: [&[f64]; J] =
        core::array::from_fn(|j| &factor[there + j * their_length..][..count]);
    let mut at = 0;
    while at + 4 <= count {
        let mut a = [[0.0; 4]; I];
        let mut b = [[0.0; 4]; J];
        for i in 0..I {
            a[i].copy_from_slice(&ours[i][at..at + 4]);
        }
        for j in 0..J {
            b[j].copy_from_slice(&theirs[j][at..at + 4]);
        }
        for i in 0..I {
            for j in 0..J {
                for lane in 0..4 {
                    sums[i][j][lane] = fused_f64::<FUSED>(a[i][lane], b[j][lane], sums[i][j][lane]);
                }
            }
        }
        at += 4;
    }
    for i in 0..I {
        for j in 0..J {
            into[i * J + j] = sums[i][j];
        }
    }
}

/// Adds up the parts of dot products, in a function of its own as [`crate::lanes::totals`] is.
#[inline(never)]
fn add_up(dots: &[[f64; 4]; 16], into: &mut [f64; 16], [first, rows, columns]: [usize; 3]) {
    for i in 0..rows {
        for j in 0..columns {
            let [a, b, c, d] = dots[i * columns + j];
            into[(first + i) * BLOCK + j] = (a + c) + (b + d);
        }
    }
}

/// Solves L·Lᵀ·x = b in place; diagonals hold 1/L.
fn substitute(rows: &[Rows], factor: &[f64], solution: &mut [f64]) {
    for (block, ours) in rows.iter().enumerate() {
        let from = BLOCK * ours.start;
        for i in 0..ours.used {
            let line = &factor[ours.offset + i * ours.length..][..ours.length];
            let at = BLOCK * block + i;
            let before = &solution[from..at];
            let sum: f64 = dot(&line[..before.len()], before);
            solution[at] = (solution[at] - sum) * line[at - from];
        }
        for i in ours.used..BLOCK {
            solution[BLOCK * block + i] = 0.0;
        }
    }
    for (block, ours) in rows.iter().enumerate().rev() {
        let from = BLOCK * ours.start;
        for i in (0..ours.used).rev() {
            let line = &factor[ours.offset + i * ours.length..][..ours.length];
            let at = BLOCK * block + i;
            let value = solution[at] * line[at - from];
            solution[at] = value;
            for (solution, &l) in solution[from..at].iter_mut().zip(line) {
                *solution -= l * value;
            }
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (four, rest) = a.split_at(a.len() - a.len() % 4);
    for (a, b) in four.chunks_exact(4).zip(b.chunks_exact(4)) {
        for i in 0..4 {
            sums[i] += a[i] * b[i];
        }
    }
    let rest: f64 = rest.iter().zip(&b[four.len()..]).map(|(&a, &b)| a * b).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}
