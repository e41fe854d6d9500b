//! Derivatives as a triangle, of which errors are made.

use crate::model::start::dot;

/// A column adds nothing whose own part is smaller than this share of it.
const LEAST: f64 = 1e-11;

/// What remains of a matrix with a row for each point: R of its QR decomposition, whose columns have the length 1 before.
pub(super) struct Triangle {
    /// Column j down to its diagonal.
    columns: Vec<Vec<f64>>,
    lengths: Vec<f64>,
}

impl Triangle {
    /// Of columns times √w. Modified Gram and Schmidt, twice, loses nothing that R has.
    pub(super) fn of(columns: Vec<Vec<f64>>, roots: &[f64]) -> Self {
        let (mut basis, mut triangle) = (Vec::<Vec<f64>>::new(), Vec::new());
        let mut lengths = Vec::new();
        for mut column in columns {
            column.iter_mut().zip(roots).for_each(|(value, root)| {
                *value = if *root > 0.0 { *value * root } else { 0.0 };
            });
            let most = column.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
            // In two steps, so that squares are numbers.
            let unit = if most > 0.0 && most.is_finite() { most } else { 1.0 };
            column.iter_mut().for_each(|value| *value /= unit);
            let length = dot(&column, &column).sqrt();
            let scale = if length > 0.0 { length } else { 1.0 };
            column.iter_mut().for_each(|value| *value /= scale);
            lengths.push(unit * scale);
            let mut along = vec![0.0; basis.len()];
            for _ in 0..2 {
                for (earlier, share) in basis.iter().zip(&mut along) {
                    let part = dot(earlier, &column);
                    column.iter_mut().zip(earlier).for_each(|(to, from)| *to -= part * from);
                    *share += part;
                }
            }
            let own = dot(&column, &column).sqrt();
            let own = if own > LEAST { own } else { 0.0 };
            column.iter_mut().for_each(|value| *value = if own > 0.0 { *value / own } else { 0.0 });
            along.push(own);
            basis.push(column);
            triangle.push(along);
        }
        Self { columns: triangle, lengths }
    }

    /// (RᵀR)⁻¹, in which columns that add nothing have zeros.
    pub(super) fn inverse(&self) -> Vec<Vec<f64>> {
        let count = self.columns.len();
        // R⁻¹, a row for each parameter, by back substitution of each unit vector.
        let mut inverse = vec![vec![0.0; count]; count];
        for unit in 0..count {
            let mut rest = vec![0.0; count];
            rest[unit] = 1.0;
            for j in (0..=unit).rev() {
                let own = self.columns[j][j];
                let value = if own > 0.0 { rest[j] / own } else { 0.0 };
                inverse[j][unit] = value;
                rest.iter_mut().zip(&self.columns[j]).for_each(|(rest, at)| *rest -= value * at);
            }
        }
        let lengths = &self.lengths;
        let of = |j: usize, k: usize| dot(&inverse[j], &inverse[k]) / lengths[j] / lengths[k];
        (0..count).map(|j| (0..count).map(|k| of(j, k)).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that the inverse is one, of a line far from its origin too.
    #[test]
    fn inverse() {
        for origin in [0.0, 1.7e9] {
            let x: Vec<f64> = (0..50).map(|x| origin + f64::from(x)).collect();
            let roots: Vec<f64> = (0..50).map(|x| 1.0 + f64::from(x % 3)).collect();
            let found = Triangle::of(vec![vec![1.0; 50], x], &roots).inverse();
            let weights: Vec<f64> = roots.iter().map(|root| root * root).collect();
            let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
                (0..50).map(|x| weights[x] * of(x as f64)).sum()
            };
            let (w, x, xx) = (sum(&|_| 1.0), sum(&|x| x), sum(&|x| x * x));
            let slope = w / (w * xx - x * x);
            assert!((found[1][1] / slope - 1.0).abs() < 1e-6, "{found:?} {slope}");
            let mean = origin + x / w;
            let offset = 1.0 / w + mean * mean * slope;
            assert!((found[0][0] / offset - 1.0).abs() < 1e-6, "{found:?} {offset}");
        }
    }

    /// Proves that what is not determined makes no infinity.
    #[test]
    fn dependent() {
        let column = vec![1.0, 2.0, 3.0];
        let found = Triangle::of(vec![column.clone(), column, vec![0.0; 3]], &[1.0; 3]).inverse();
        assert!((found[0][0] - 1.0 / 14.0).abs() < 1e-12);
        assert_eq!([found[1][1], found[2][2]], [0.0, 0.0]);
    }
}
