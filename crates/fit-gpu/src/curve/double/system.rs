//! Linear equations of few unknowns, as lines of PTX.

use super::text::{Real, Text, Truth};

/// A pivot that is a smaller share of its element of the diagonal has lost too many digits.
const LEAST_PIVOT: f64 = 1e-9;
/// Squares below this have lost digits.
const LEAST_SQUARE: f64 = 1e-290;

/// A symmetric matrix, of which the part from the diagonal on is kept, row after row.
pub(super) struct Matrix {
    pub(super) count: usize,
    pub(super) elements: Vec<Real>,
}

impl Matrix {
    pub(super) fn at(&self, j: usize, k: usize) -> Real {
        let (j, k) = (j.min(k), j.max(k));
        self.elements[j * self.count - j * (j + 1) / 2 + k]
    }
}

/// A factored matrix: LDLᵀ.
pub(super) struct Factors {
    count: usize,
    /// L, row after row, below the diagonal.
    below: Vec<Vec<Real>>,
    /// 1/D.
    inverse: Vec<Real>,
    /// Whether the matrix is positive, and not nearly singular.
    pub(super) sound: Truth,
}

/// Factors a matrix.
pub(super) fn factors(text: &mut Text, matrix: &Matrix) -> Factors {
    let count = matrix.count;
    let mut below: Vec<Vec<Real>> = vec![Vec::new(); count];
    let mut inverse = Vec::new();
    let mut all: Option<Truth> = None;
    // Rows of LD.
    let mut whole: Vec<Vec<Real>> = vec![Vec::new(); count];
    for j in 0..count {
        let own = matrix.at(j, j);
        let mut pivot = own;
        for k in 0..j {
            let minus = text.neg(whole[j][k]);
            pivot = text.fma(minus, below[j][k], pivot);
        }
        let least = text.mul(own, LEAST_PIVOT.into());
        let enough = text.compare("gt", pivot, least);
        let seen = text.compare("gt", own, LEAST_SQUARE.into());
        let sound = text.both(enough, seen);
        all = Some(match all {
            Some(others) => text.both(others, sound),
            None => sound,
        });
        let unit = text.reciprocal(pivot);
        inverse.push(unit);
        for i in j + 1..count {
            let mut element = matrix.at(j, i);
            for k in 0..j {
                let minus = text.neg(whole[i][k]);
                element = text.fma(minus, below[j][k], element);
            }
            whole[i].push(element);
            let share = text.mul(element, unit);
            below[i].push(share);
        }
    }
    let sound = match all {
        Some(sound) => sound,
        None => text.compare("eq", 0.0.into(), 0.0.into()),
    };
    Factors { count, below, inverse, sound }
}

impl Factors {
    /// The solution for a right side, whose first numbers are 0 up to `first`.
    pub(super) fn solve(&self, text: &mut Text, right: &[Real], first: usize) -> Vec<Real> {
        let count = self.count;
        let mut x = right.to_vec();
        for j in first..count {
            for k in first..j {
                let minus = text.neg(self.below[j][k]);
                x[j] = text.fma(minus, x[k], x[j]);
            }
        }
        for j in first..count {
            x[j] = text.mul(x[j], self.inverse[j]);
        }
        for j in (0..count).rev() {
            for k in j + 1..count {
                let minus = text.neg(self.below[k][j]);
                x[j] = text.fma(minus, x[k], x[j]);
            }
        }
        x
    }

    /// The inverse of the matrix.
    pub(super) fn inverse(&self, text: &mut Text) -> Matrix {
        let count = self.count;
        let columns: Vec<Vec<Real>> = (0..count)
            .map(|j| {
                let mut unit = vec![Real::Number(0.0); count];
                unit[j] = Real::Number(1.0);
                self.solve(text, &unit, j)
            })
            .collect();
        let pairs = (0..count).flat_map(|j| (j..count).map(move |k| (j, k)));
        Matrix { count, elements: pairs.map(|(j, k)| columns[j][k]).collect() }
    }
}
