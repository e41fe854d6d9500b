//! Polynomials of degree 6 in a variable that runs from −1 to 1.

/// Number of coefficients of each curve: polynomials of degree 6, as Picasso stores them.
pub const TERMS: usize = 7;

/// Value, first and second derivative at `t` of the polynomial with these coefficients, lowest power first.
#[inline]
pub(crate) fn evaluate(coefficients: &[f64; TERMS], t: f64) -> [f64; 3] {
    let (mut value, mut first, mut second) = (coefficients[TERMS - 1], 0.0, 0.0);
    for &coefficient in coefficients[..TERMS - 1].iter().rev() {
        second = second * t + first;
        first = first * t + value;
        value = value * t + coefficient;
    }
    [value, first, 2.0 * second]
}

/// The coefficients in t of a polynomial in z = middle + half·t.
pub(crate) fn scaled(coefficients: &[f64; TERMS], middle: f64, half: f64) -> [f64; TERMS] {
    let mut shifted = shifted(*coefficients, middle);
    let mut power = 1.0;
    for coefficient in &mut shifted {
        *coefficient *= power;
        power *= half;
    }
    shifted
}

/// The coefficients in z of a polynomial in t = (z − middle)/half.
pub(crate) fn unscaled(coefficients: &[f64; TERMS], middle: f64, half: f64) -> [f64; TERMS] {
    let mut divided = *coefficients;
    let mut power = 1.0;
    for coefficient in &mut divided {
        *coefficient /= power;
        power *= half;
    }
    shifted(divided, -middle)
}

/// The coefficients of p(z + by), by repeated synthetic division.
fn shifted(mut p: [f64; TERMS], by: f64) -> [f64; TERMS] {
    for lowest in 0..TERMS - 1 {
        for k in (lowest..TERMS - 1).rev() {
            p[k] += by * p[k + 1];
        }
    }
    p
}

/// The Chebyshev polynomials T₀ … T₆ at `t`.
pub(crate) fn chebyshev(t: f64) -> [f64; TERMS] {
    let mut basis = [1.0; TERMS];
    basis[1] = t;
    for k in 2..TERMS {
        basis[k] = 2.0 * t * basis[k - 1] - basis[k - 2];
    }
    basis
}

/// The coefficients of powers, lowest first, of a sum of Chebyshev polynomials.
pub(crate) fn powers(chebyshev: &[f64; TERMS]) -> [f64; TERMS] {
    let (mut before, mut present) = ([0.0; TERMS], [0.0; TERMS]);
    (before[0], present[1]) = (1.0, 1.0);
    let mut sum = [0.0; TERMS];
    for &factor in chebyshev {
        for k in 0..TERMS {
            sum[k] += factor * before[k];
        }
        let mut next = [0.0; TERMS];
        for k in 0..TERMS {
            next[k] = if k > 0 { 2.0 * present[k - 1] } else { 0.0 } - before[k];
        }
        (before, present) = (present, next);
    }
    sum
}

/// Sums of a weighted least-squares fit of the polynomial.
#[derive(Default)]
pub(crate) struct Normal {
    matrix: [[f64; TERMS]; TERMS],
    right: [f64; TERMS],
}

impl Normal {
    /// Adds a value at `t`.
    pub(crate) fn add(&mut self, t: f64, value: f64, weight: f64) {
        let basis = chebyshev(t);
        for j in 0..TERMS {
            let weighted = weight * basis[j];
            self.right[j] += weighted * value;
            for k in 0..=j {
                self.matrix[j][k] += weighted * basis[k];
            }
        }
    }

    /// The coefficients of powers of t, by Cholesky's decomposition; none if the values do not determine them.
    pub(crate) fn solve(mut self) -> Option<[f64; TERMS]> {
        let l = &mut self.matrix;
        for j in 0..TERMS {
            let diagonal = l[j][j];
            for k in 0..=j {
                let dot: f64 = (0..k).map(|i| l[j][i] * l[k][i]).sum();
                let rest = l[j][k] - dot;
                if k < j {
                    l[j][k] = rest / l[k][k];
                } else if rest > 1e-12 * diagonal {
                    l[j][j] = rest.sqrt();
                } else {
                    return None;
                }
            }
        }
        let mut c = self.right;
        for j in 0..TERMS {
            let dot: f64 = (0..j).map(|i| l[j][i] * c[i]).sum();
            c[j] = (c[j] - dot) / l[j][j];
        }
        for j in (0..TERMS).rev() {
            let dot: f64 = (j + 1..TERMS).map(|i| l[i][j] * c[i]).sum();
            c[j] = (c[j] - dot) / l[j][j];
        }
        c.iter().all(|c| c.is_finite()).then(|| powers(&c))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: [f64; TERMS] = [1.3, -0.4, 0.9, 0.2, -0.35, 0.05, 0.11];

    fn direct(c: &[f64; TERMS], t: f64) -> f64 {
        c.iter().enumerate().map(|(k, c)| c * t.powi(k as i32)).sum()
    }

    /// Proves value and derivatives against powers and differences, and that the variable can be scaled and back.
    #[test]
    fn values_derivatives_and_scaling() {
        for t in [-1.0, -0.3, 0.0, 0.7, 1.0] {
            let [value, first, second] = evaluate(&P, t);
            let h = 1e-4;
            assert!((value - direct(&P, t)).abs() < 1e-14);
            assert!((first - (direct(&P, t + h) - direct(&P, t - h)) / (2.0 * h)).abs() < 1e-6);
            let bend = evaluate(&P, t + h)[1] - evaluate(&P, t - h)[1];
            assert!((second - bend / (2.0 * h)).abs() < 1e-6);
            let z = 150.0 + 600.0 * t;
            let in_z = unscaled(&P, 150.0, 600.0);
            assert!((direct(&in_z, z) - value).abs() < 1e-12, "{t}");
        }
        let back = scaled(&unscaled(&P, 150.0, 600.0), 150.0, 600.0);
        for k in 0..TERMS {
            assert!((back[k] - P[k]).abs() < 1e-13);
        }
    }

    /// Proves that a least-squares fit of exact values with any weights gives the polynomial back, and that six places
    /// do not determine seven coefficients.
    #[test]
    fn exact_values_give_the_polynomial() {
        let (mut normal, mut six) = (Normal::default(), Normal::default());
        for i in 0..40 {
            let t = -1.0 + 0.05 * f64::from(i);
            normal.add(t, direct(&P, t), 1.0 + f64::from(i % 5));
            let place = f64::from(i % 6) / 6.0;
            six.add(place, direct(&P, place), 1.0);
        }
        let found = normal.solve().unwrap();
        for k in 0..TERMS {
            assert!((found[k] - P[k]).abs() < 1e-11, "{k}: {}", found[k]);
        }
        assert_eq!(six.solve(), None);
        assert_eq!(Normal::default().solve(), None);
    }
}
