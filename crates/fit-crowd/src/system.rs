//! Normal equations of all emitters and nodes, their Cholesky factor and their inverse.
//!
//! Matrices are in blocks of 4 × 4 numbers, a block of rows for each emitter (three rows are used if widths are fixed) and for every
//! four nodes. With the emitters sorted by y, what a block of rows couples with begins at some block and ends at its diagonal; the
//! factor has the same envelope (George & Liu 1981, chapter 4). Nodes come last and couple with all. A block holds its columns one
//! after the other, so that the rows of a block are the lanes of a vector.

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use crate::lanes::fused_f64;
use crate::patch::PARAMETERS;

/// Rows of a block.
pub(crate) const BLOCK: usize = PARAMETERS;
/// Numbers of a block.
const NUMBERS: usize = BLOCK * BLOCK;

/// A block's columns.
type Columns = [[f64; BLOCK]; BLOCK];

/// One block of rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    /// The first block that it couples with.
    start: usize,
    /// Rows that are used.
    used: usize,
    /// Where its numbers begin.
    offset: usize,
}

impl Rows {
    /// Where the block begins that couples this one with another.
    #[inline(always)]
    fn block(&self, other: usize) -> usize {
        self.offset + NUMBERS * (other - self.start)
    }
}

/// A symmetric matrix in an envelope, with its right side, its factor and its solution.
#[derive(Clone, Debug, Default)]
pub(crate) struct System {
    rows: Vec<Rows>,
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
            self.rows.push(Rows { start, used, offset });
            offset += NUMBERS * (number - start + 1);
        }
        self.matrix.clear();
        self.matrix.resize(offset, 0.0);
        self.right.clear();
        self.right.resize(BLOCK * self.rows.len(), 0.0);
    }

    /// An entry of block `block`, row `i`, in the columns of block `other`, column `j`. Of blocks of the diagonal only the lower
    /// triangle is read.
    #[inline]
    pub(crate) fn entry(&mut self, block: usize, i: usize, other: usize, j: usize) -> &mut f64 {
        &mut self.matrix[self.rows[block].block(other) + j * BLOCK + i]
    }

    /// Whether a block couples with one before it.
    #[cfg(test)]
    pub(crate) fn couples(&self, block: usize, other: usize) -> bool {
        self.rows[block].start <= other
    }

    /// Factorizes the matrix with its diagonal times 1 + `damping`; false if it is singular to rounding.
    pub(crate) fn factorize(&mut self, damping: f64) -> bool {
        self.factor.clear();
        self.factor.extend_from_slice(&self.matrix);
        factorize(&self.rows, &mut self.factor, damping)
    }

    /// The same in place of the matrix, which is then lost.
    pub(crate) fn factorize_in_place(&mut self, damping: f64) -> bool {
        core::mem::swap(&mut self.matrix, &mut self.factor);
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
        self.factor[self.rows[block].block(other) + j * BLOCK + i]
    }

    /// The inverse of the factorized matrix within its envelope.
    pub(crate) fn invert(&self) -> Inverse<'_> {
        Inverse { rows: &self.rows, values: invert(&self.rows, &self.factor) }
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
        self.values[self.rows[block].block(other) + j * BLOCK + i]
    }
}

/// A pivot is lost to rounding if it is a smaller share of its diagonal.
const SINGULAR: f64 = 1e-11;

#[inline(always)]
fn get(from: &[f64], at: usize) -> Columns {
    let mut columns = [[0.0; BLOCK]; BLOCK];
    columns.as_flattened_mut().copy_from_slice(&from[at..at + NUMBERS]);
    columns
}

#[inline(always)]
fn put(into: &mut [f64], at: usize, columns: &Columns) {
    into[at..at + NUMBERS].copy_from_slice(columns.as_flattened());
}

/// Adds a·bᵀ, of which the first `inner` columns of both are used.
#[inline(always)]
fn add_product<const FUSED: bool>(sum: &mut Columns, a: &[f64], b: &[f64], inner: usize) {
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
fn substitute(rows: &[Rows], factor: &[f64], solution: &mut [f64]) {
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

/// The inverse Z within the envelope (Takahashi, Fagan & Chen 1973), in the layout of the factor: since Z·L = L⁻ᵀ is upper triangular,
/// Z_rc = −Σ_{s>c} Z_rs·L_sc·L_cc⁻¹ for r > c, and Z_cc = (L_cc⁻ᵀ − Σ_{s>c} Z_scᵀ·L_sc)·L_cc⁻¹, from the last column on.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn invert(rows: &[Rows], factor: &[f64]) -> Vec<f64> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A system with an envelope of its own, as dense numbers too.
    fn example() -> (System, Vec<Vec<f64>>, Vec<usize>) {
        let blocks = [(0, 3), (0, 3), (2, 3), (1, 3), (2, 3), (0, 4), (0, 2)];
        let mut system = System::default();
        system.reset(blocks.iter().copied());
        let size = BLOCK * blocks.len();
        let mut dense = vec![vec![0.0; size]; size];
        let mut seed = 1u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as f64 / (1u64 << 31) as f64 - 0.5
        };
        let mut used_rows = Vec::new();
        for (block, &(start, used)) in blocks.iter().enumerate() {
            for i in 0..used {
                used_rows.push(block * BLOCK + i);
                for other in start..=block {
                    for j in 0..blocks[other].1 {
                        if other == block && j > i {
                            continue;
                        }
                        let diagonal = other == block && i == j;
                        let value = if diagonal { 9.0 + random() } else { random() };
                        *system.entry(block, i, other, j) = value;
                        dense[block * BLOCK + i][other * BLOCK + j] = value;
                        dense[other * BLOCK + j][block * BLOCK + i] = value;
                    }
                }
            }
        }
        for (at, value) in system.right.iter_mut().enumerate() {
            *value = if used_rows.contains(&at) { random() } else { 0.0 };
        }
        (system, dense, used_rows)
    }

    /// Proves that the solution solves the dense system, with and without damping.
    #[test]
    fn solutions_solve_the_dense_system() {
        let (mut system, dense, used) = example();
        for damping in [0.0, 0.5] {
            assert!(system.factorize(damping));
            system.solve();
            for &i in &used {
                let mut sum: f64 = used.iter().map(|&j| dense[i][j] * system.solution[j]).sum();
                sum += damping * dense[i][i] * system.solution[i];
                assert!((sum - system.right[i]).abs() < 1e-12, "row {i}");
            }
        }
    }

    /// Proves that every entry of the inverse within the envelope is that of the dense inverse: the matrix times each of its
    /// columns, found by solving for unit vectors.
    #[test]
    fn inverse_agrees_with_solutions() {
        let (mut system, _, used) = example();
        assert!(system.factorize(0.0));
        for &column in &used {
            system.right.fill(0.0);
            system.right[column] = 1.0;
            system.solve();
            let solution = system.solution.clone();
            let inverse = system.invert();
            for &row in used.iter().filter(|&&row| row >= column) {
                let (block, other) = (row / BLOCK, column / BLOCK);
                if inverse.rows[block].start <= other {
                    let found = inverse.entry(block, row % BLOCK, other, column % BLOCK);
                    assert!((found - solution[row]).abs() < 1e-12, "{row}, {column}");
                }
            }
        }
    }

    /// Proves that singular systems are told.
    #[test]
    fn singular_systems_are_told() {
        let mut system = System::default();
        system.reset([(0, 2)].into_iter());
        *system.entry(0, 0, 0, 0) = 1.0;
        *system.entry(0, 1, 0, 0) = 1.0;
        *system.entry(0, 1, 0, 1) = 1.0;
        assert!(!system.factorize(0.0));
        assert!(system.factorize(1e-3));
        *system.entry(0, 1, 0, 1) = f64::NAN;
        assert!(!system.factorize(1.0));
    }
}
