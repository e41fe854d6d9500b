//! Normal equations of all emitters and nodes, their Cholesky factor and their inverse.
//!
//! Matrices are in blocks of 4 × 4 numbers, a block of rows for each emitter (three rows are used if widths are fixed) and for every
//! four nodes. With the emitters sorted by y, what a block of rows couples with begins at some block and ends at its diagonal; the
//! factor has the same envelope (George & Liu 1981, chapter 4). Nodes come last and couple with all. A block holds its columns one
//! after the other, so that the rows of a block are the lanes of a vector.

mod block;
mod factor;
mod inverse;

pub(crate) use block::BLOCK;
use block::{NUMBERS, Rows};
use factor::{factorize, substitute};
use inverse::invert;

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
    #[cfg(feature = "internals")]
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
