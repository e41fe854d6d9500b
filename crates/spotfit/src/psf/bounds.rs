//! Information on a few parameters, and covariances.

/// Parameters with a larger 1/(1 − R²), R being the correlation with all others, cannot be told from them.
const MOST_ALIKE: f64 = 1e9;

/// Σ weight · J Jᵀ; its upper triangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Information<const N: usize>([[f64; N]; N]);

impl<const N: usize> Information<N> {
    pub(super) const NONE: Self = Self([[0.0; N]; N]);

    /// The elements of the upper triangle, row after row.
    pub(super) fn of(mut element: impl FnMut(usize, usize) -> f64) -> Self {
        let mut all = Self::NONE;
        for j in 0..N {
            for k in j..N {
                all.0[j][k] = element(j, k);
            }
        }
        all
    }

    #[inline]
    pub(super) fn add(&mut self, slopes: &[f64; N], weight: f64) {
        for j in 0..N {
            let own = weight * slopes[j];
            for k in j..N {
                self.0[j][k] += own * slopes[k];
            }
        }
    }

    /// Leaves a parameter as it is, whatever the others are.
    pub(super) fn hold(&mut self, parameter: usize) {
        for k in 0..N {
            self.0[parameter.min(k)][parameter.max(k)] = f64::from(u8::from(k == parameter));
        }
    }

    /// Multiplies the diagonal by 1 and so much more.
    pub(super) fn damp(&mut self, damping: f64) {
        for j in 0..N {
            self.0[j][j] *= 1.0 + damping;
        }
    }

    /// Adds this to the diagonal.
    pub(super) fn ridge(&mut self, more: f64) {
        for j in 0..N {
            self.0[j][j] += more;
        }
    }

    /// δᵀ·information·δ.
    pub(super) fn square(&self, step: &[f64; N]) -> f64 {
        let row = |j: usize| (0..N).map(move |k| step[j] * self.at(j, k) * step[k]);
        (0..N).flat_map(row).sum()
    }

    fn at(&self, j: usize, k: usize) -> f64 {
        self.0[j.min(k)][j.max(k)]
    }
}

/// The inverse, by Gauss and Jordan's elimination of the matrix with ones on its diagonal; `None` if parameters cannot be told
/// from each other, or a number is not finite.
pub(super) fn inverse<const N: usize>(information: &Information<N>) -> Option<[[f64; N]; N]> {
    let scale: [f64; N] = std::array::from_fn(|j| 1.0 / information.0[j][j].sqrt());
    if !scale.iter().all(|scale| scale.is_finite()) {
        return None;
    }
    let mut matrix: [[f64; N]; N] = std::array::from_fn(|j| {
        std::array::from_fn(|k| information.at(j, k) * scale[j] * scale[k])
    });
    for pivot in 0..N {
        let own = matrix[pivot][pivot];
        let told = own > 1.0 / MOST_ALIKE;
        if !told {
            return None;
        }
        matrix[pivot][pivot] = 1.0;
        for k in 0..N {
            matrix[pivot][k] /= own;
        }
        for row in 0..N {
            if row != pivot {
                let factor = matrix[row][pivot];
                matrix[row][pivot] = 0.0;
                for k in 0..N {
                    matrix[row][k] -= factor * matrix[pivot][k];
                }
            }
        }
    }
    let told = (0..N).all(|j| (0.0..MOST_ALIKE).contains(&matrix[j][j]));
    told.then(|| {
        std::array::from_fn(|j| std::array::from_fn(|k| matrix[j][k] * scale[j] * scale[k]))
    })
}

/// A matrix times a vector.
pub(super) fn product<const N: usize>(matrix: &[[f64; N]; N], vector: &[f64; N]) -> [f64; N] {
    std::array::from_fn(|j| (0..N).map(|k| matrix[j][k] * vector[k]).sum())
}

/// The standard errors of least squares under Poisson noise: A⁻¹BA⁻¹ with A = ΣJJᵀ and B = ΣμJJᵀ.
pub(super) fn sandwich<const N: usize>(a: &Information<N>, b: &Information<N>) -> Option<[f64; N]> {
    let inverse = inverse(a)?;
    let errors: [f64; N] = std::array::from_fn(|j| {
        let mut sum = 0.0;
        for k in 0..N {
            for l in 0..N {
                sum += inverse[j][k] * b.at(k, l) * inverse[l][j];
            }
        }
        sum.sqrt()
    });
    errors.iter().all(|error| error.is_finite()).then_some(errors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fit_sim::Random;

    /// Proves that the inverse times the matrix is 1, that the sandwich of a matrix with itself is its inverse, and that
    /// parameters that say the same have no inverse.
    #[test]
    fn inverses_are_inverses() {
        let mut random = Random::new(1, 0);
        let mut information = Information::<5>::NONE;
        let mut alike = Information::NONE;
        for _ in 0..20 {
            let mut slopes: [f64; 5] =
                std::array::from_fn(|j| random.normal() * 10f64.powi(j as i32 - 2));
            information.add(&slopes, 1.0 + random.uniform());
            slopes[4] = 3.0 * slopes[0] - 2.0 * slopes[1];
            alike.add(&slopes, 1.0);
        }
        let inverse = inverse(&information).expect("it has one");
        for j in 0..5 {
            for k in 0..5 {
                let product: f64 = (0..5).map(|l| inverse[j][l] * information.at(l, k)).sum();
                let scale = (information.at(k, k) / information.at(j, j)).sqrt();
                assert!((product - f64::from(u8::from(j == k))).abs() < 1e-10 * scale.max(1.0));
            }
        }
        let errors = sandwich(&information, &information).expect("errors");
        for j in 0..5 {
            assert!((errors[j] / inverse[j][j].sqrt() - 1.0).abs() < 1e-10);
        }
        assert!(super::inverse(&alike).is_none());
        assert!(super::inverse(&Information::<5>::NONE).is_none());
    }
}
