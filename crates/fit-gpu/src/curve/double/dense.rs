//! Equations of few unknowns on the host, as kernels solve them.

/// A pivot that is a smaller share of its element of the diagonal has lost too many digits.
const LEAST_PIVOT: f64 = 1e-9;
const LEAST_SQUARE: f64 = 1e-290;

/// A symmetric matrix.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Dense {
    count: usize,
    elements: Vec<f64>,
}

impl Dense {
    /// From its elements from the diagonal on, row after row.
    pub(super) fn upper(count: usize, mut next: impl FnMut() -> f64) -> Self {
        let mut elements = vec![0.0; count * count];
        for j in 0..count {
            for k in j..count {
                let own = next();
                elements[j * count + k] = own;
                elements[k * count + j] = own;
            }
        }
        Self { count, elements }
    }

    pub(super) fn at(&self, j: usize, k: usize) -> f64 {
        self.elements[j * self.count + k]
    }

    /// LDLᵀ of the matrix with a unit row for each unknown that is held; `None` if it is not positive, or nearly singular.
    pub(super) fn factored(&self, held: &[bool]) -> Option<LongFactors> {
        let count = self.count;
        let of = |j: usize, k: usize| match (held[j] || held[k], j == k) {
            (true, true) => 1.0,
            (true, false) => 0.0,
            _ => self.at(j, k),
        };
        let mut below = vec![0.0; count * count];
        let mut pivots = vec![0.0; count];
        for j in 0..count {
            let own = |k: usize| below[j * count + k];
            let taken: f64 = (0..j).map(|k| own(k) * own(k) * pivots[k]).sum();
            let pivot = of(j, j) - taken;
            if !(pivot > LEAST_PIVOT * of(j, j) && of(j, j) > LEAST_SQUARE) {
                return None;
            }
            pivots[j] = pivot;
            for i in j + 1..count {
                let taken: f64 =
                    (0..j).map(|k| below[i * count + k] * below[j * count + k] * pivots[k]).sum();
                below[i * count + j] = (of(i, j) - taken) / pivot;
            }
        }
        Some(LongFactors { count, below, pivots })
    }
}

/// L and D of a matrix.
pub(super) struct LongFactors {
    count: usize,
    below: Vec<f64>,
    pivots: Vec<f64>,
}

impl LongFactors {
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let count = self.count;
        let mut x = right.to_vec();
        for j in 0..count {
            let taken: f64 = (0..j).map(|k| self.below[j * count + k] * x[k]).sum();
            x[j] -= taken;
        }
        for (x, pivot) in x.iter_mut().zip(&self.pivots) {
            *x /= pivot;
        }
        for j in (0..count).rev() {
            let taken: f64 = (j + 1..count).map(|k| self.below[k * count + j] * x[k]).sum();
            x[j] -= taken;
        }
        x
    }

    pub(super) fn inverse(&self) -> Dense {
        let count = self.count;
        let rows = (0..count).flat_map(|j| {
            let unit: Vec<f64> = (0..count).map(|k| f64::from(u8::from(j == k))).collect();
            self.solve(&unit)
        });
        Dense { count, elements: rows.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that solutions are those of the equations, held unknowns stay 0, and singular matrices are none of ours.
    #[test]
    fn equations_are_solved() {
        let mut numbers = [4.0, 1.0, 0.5, 3.0, -1.0, 2.0].into_iter();
        let matrix = Dense::upper(3, || numbers.next().expect("six"));
        let factors = matrix.factored(&[false; 3]).expect("positive");
        let x = factors.solve(&[1.0, 2.0, 3.0]);
        for (j, right) in [1.0, 2.0, 3.0].into_iter().enumerate() {
            let found: f64 = (0..3).map(|k| matrix.at(j, k) * x[k]).sum();
            assert!((found - right).abs() < 1e-14);
        }
        let inverse = factors.inverse();
        assert!((inverse.at(0, 2) - inverse.at(2, 0)).abs() < 1e-15);
        let held = matrix.factored(&[false, true, false]).expect("positive");
        assert_eq!(held.solve(&[1.0, 0.0, 3.0])[1], 0.0);
        assert!(Dense::upper(2, || 1.0).factored(&[false; 2]).is_none());
    }
}
