//! Linear systems: dense ones, banded ones, and those that are nearly banded.

use crate::parallel::change_parts;

/// Cholesky's decomposition of a symmetric, positive definite matrix: the lower triangle, row by row.
#[derive(Clone, Debug)]
pub(super) struct Cholesky {
    lower: Vec<f64>,
    size: usize,
}

impl Cholesky {
    /// Decomposes a full matrix; `None` if it is not positive definite.
    pub(super) fn new(mut matrix: Vec<f64>, size: usize) -> Option<Self> {
        for row in 0..size {
            let (above, own) = matrix.split_at_mut(row * size);
            for column in 0..row {
                let left = &above[column * size..][..size];
                own[column] = (own[column] - dot(&own[..column], &left[..column])) / left[column];
            }
            let value = own[row] - dot(&own[..row], &own[..row]);
            if value.is_nan() || value <= 1e-12 * own[row].abs() || value.is_infinite() {
                return None;
            }
            own[row] = value.sqrt();
        }
        Some(Self { lower: matrix, size })
    }

    /// The logarithm of the determinant.
    pub(super) fn log_determinant(&self) -> f64 {
        (0..self.size).map(|k| 2.0 * self.lower[k * self.size + k].ln()).sum()
    }

    pub(super) fn solve(&self, side: &mut [f64]) {
        self.solve_from(0, side);
    }

    /// The same with a side whose first numbers are 0.
    fn solve_from(&self, first: usize, side: &mut [f64]) {
        let size = self.size;
        for row in first..size {
            let own = &self.lower[row * size..][..size];
            side[row] = (side[row] - dot(&own[first..row], &side[first..row])) / own[row];
        }
        for row in (0..size).rev() {
            let own = &self.lower[row * size..][..size];
            side[row] /= own[row];
            let value = side[row];
            side[..row].iter_mut().zip(own).for_each(|(side, own)| *side -= own * value);
        }
    }

    /// The inverse, in full.
    pub(super) fn inverse(&self) -> Vec<f64> {
        let mut inverse = vec![0.0; self.size * self.size];
        change_parts(&mut inverse, self.size, &|column, side| {
            side[column] = 1.0;
            self.solve_from(column, side);
        });
        inverse
    }
}

/// The sum of products, in eight parts that go side by side.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut parts = [0.0; 8];
    let (a, b) = (&a[..a.len().min(b.len())], &b[..a.len().min(b.len())]);
    let (mut left, mut right) = (a.chunks_exact(8), b.chunks_exact(8));
    for (a, b) in left.by_ref().zip(right.by_ref()) {
        for k in 0..8 {
            parts[k] += a[k] * b[k];
        }
    }
    let rest = left.remainder().iter().zip(right.remainder());
    parts.iter().sum::<f64>() + rest.map(|(a, b)| a * b).sum::<f64>()
}

/// A symmetric matrix with two diagonals beside its own.
#[derive(Clone, Debug)]
pub(super) struct Band {
    /// For each row the entry of the diagonal, and of the next two columns.
    pub(super) rows: Vec<[f64; 3]>,
}

/// L·D·Lᵀ of a banded matrix.
#[derive(Clone, Debug)]
pub(super) struct BandFactor {
    /// For each row D, and L in the two rows below.
    rows: Vec<[f64; 3]>,
}

impl Band {
    pub(super) fn new(diagonal: impl Iterator<Item = f64>) -> Self {
        Self { rows: diagonal.map(|value| [value, 0.0, 0.0]).collect() }
    }

    /// Its decomposition; `None` if it is not positive definite.
    pub(super) fn factor(&self) -> Option<BandFactor> {
        let mut rows = self.rows.clone();
        for k in 0..rows.len() {
            let [d, one, two] = rows[k];
            if d.is_nan() || d <= 0.0 || d.is_infinite() {
                return None;
            }
            let (l, m) = (one / d, two / d);
            if let Some(next) = rows.get_mut(k + 1) {
                next[0] -= l * one;
                next[1] -= l * two;
            }
            if let Some(next) = rows.get_mut(k + 2) {
                next[0] -= m * two;
            }
            rows[k] = [d, l, m];
        }
        Some(BandFactor { rows })
    }
}

impl BandFactor {
    /// The logarithm of the determinant.
    pub(super) fn log_determinant(&self) -> f64 {
        self.rows.iter().map(|row| row[0].ln()).sum()
    }

    pub(super) fn solve(&self, side: &mut [f64]) {
        let size = self.rows.len();
        for k in 0..size {
            let [_, l, m] = self.rows[k];
            if k + 1 < size {
                side[k + 1] -= l * side[k];
            }
            if k + 2 < size {
                side[k + 2] -= m * side[k];
            }
        }
        for k in (0..size).rev() {
            let [d, l, m] = self.rows[k];
            let mut value = side[k] / d;
            if k + 1 < size {
                value -= l * side[k + 1];
            }
            if k + 2 < size {
                value -= m * side[k + 2];
            }
            side[k] = value;
        }
    }

    /// The entries of the inverse on the diagonal and on the two beside it (Takahashi's recursion).
    pub(super) fn inverse(&self) -> Vec<[f64; 3]> {
        let size = self.rows.len();
        let mut inverse = vec![[0.0; 3]; size + 2];
        for k in (0..size).rev() {
            let [d, l, m] = self.rows[k];
            let (next, second) = (inverse[k + 1], inverse[k + 2]);
            let one = -l * next[0] - m * next[1];
            let two = -l * next[1] - m * second[0];
            inverse[k] = [1.0 / d - l * one - m * two, one, two];
        }
        inverse.truncate(size);
        inverse
    }
}

/// Solves a system by conjugate gradients, with a banded matrix that is near to it.
pub(super) fn descend(
    product: impl Fn(&[f64]) -> Vec<f64>,
    near: &BandFactor,
    side: &[f64],
    most: usize,
) -> Vec<f64> {
    let mut found = vec![0.0; side.len()];
    let mut left = side.to_vec();
    let mut turned = left.clone();
    near.solve(&mut turned);
    let mut along = turned.clone();
    let mut size = dot(&left, &turned);
    let enough = 1e-10 * size;
    for _ in 0..most {
        if size.is_nan() || size <= enough || size <= 0.0 {
            break;
        }
        let image = product(&along);
        let bend = dot(&along, &image);
        if bend.is_nan() || bend <= 0.0 {
            break;
        }
        let step = size / bend;
        for k in 0..side.len() {
            found[k] += step * along[k];
            left[k] -= step * image[k];
        }
        turned.copy_from_slice(&left);
        near.solve(&mut turned);
        let next = dot(&left, &turned);
        let share = next / size;
        size = next;
        along.iter_mut().zip(&turned).for_each(|(along, turned)| *along = turned + share * *along);
    }
    found
}
