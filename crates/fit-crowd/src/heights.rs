//! Widths as functions of the height.

use crate::error::CrowdError;

/// Terms of the polynomials.
const TERMS: usize = 7;
/// The least and the most width of a spot, in pixels.
pub(crate) const WIDTHS: [f64; 2] = [0.4, 8.0];
/// The same, as text.
pub(crate) const WIDTHS_SAID: &str = "0.4 to 8";
/// Places at which a curve is checked.
const SAMPLES: usize = 129;

/// The widths of a spot along x and along y, in pixels, as functions of its height z: behind a cylindrical lens they differ
/// (Huang et al. 2008). They are polynomials of degree 6 on a range of z, which may be counted in any unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WidthCurve {
    range: [f64; 2],
    /// Of Chebyshev's polynomials, of σx and of σy.
    coefficients: [[f64; TERMS]; 2],
}

impl WidthCurve {
    /// The polynomials through the widths `[σx, σy]` at seven heights of a range (Chebyshev's nodes): they are those of which the widths come,
    /// if these are polynomials of a degree of 6 or less.
    ///
    /// # Errors
    /// [`CrowdError::Option`] if the range is empty or infinite, or if a width is not 0.4 to 8 pixels somewhere in it.
    pub fn through(range: [f64; 2], widths: impl Fn(f64) -> [f64; 2]) -> Result<Self, CrowdError> {
        let [low, high] = range;
        let good = low.is_finite() && high.is_finite() && low < high;
        CrowdError::check("the upper end of z", high, good, "finite and above the lower one")?;
        let mut curve = Self { range, coefficients: [[0.0; TERMS]; 2] };
        let share = 2.0 / TERMS as f64;
        for node in 0..TERMS {
            let angle = core::f64::consts::PI * (node as f64 + 0.5) / TERMS as f64;
            let own = widths(curve.height(libm::cos(angle)));
            for (coefficients, width) in curve.coefficients.iter_mut().zip(own) {
                for (term, coefficient) in coefficients.iter_mut().enumerate() {
                    *coefficient += share * width * libm::cos(term as f64 * angle);
                }
            }
        }
        for coefficients in &mut curve.coefficients {
            coefficients[0] *= 0.5;
        }
        for sample in 0..SAMPLES {
            let t = -1.0 + 2.0 * sample as f64 / (SAMPLES - 1) as f64;
            for [width, _] in curve.at(curve.height(t)) {
                let good = (WIDTHS[0]..=WIDTHS[1]).contains(&width);
                CrowdError::check("a width", width, good, WIDTHS_SAID)?;
            }
        }
        Ok(curve)
    }

    /// The least and the greatest z.
    pub const fn range(&self) -> [f64; 2] {
        self.range
    }

    /// Each width and its slope at a height; those at the end of the range for what is beyond.
    pub fn at(&self, z: f64) -> [[f64; 2]; 2] {
        let [low, high] = self.range;
        let per_z = 2.0 / (high - low);
        let t = ((z - low) * per_z - 1.0).clamp(-1.0, 1.0);
        // T and T′ of this degree and of the one before.
        let (mut own, mut before) = ([t, 1.0], [1.0, 0.0]);
        let mut sums = self.coefficients.map(|terms| [terms[0], 0.0]);
        for term in 1..TERMS {
            for (sum, terms) in sums.iter_mut().zip(&self.coefficients) {
                sum[0] += terms[term] * own[0];
                sum[1] += terms[term] * own[1] * per_z;
            }
            let next = [2.0 * t * own[0] - before[0], 2.0 * own[0] + 2.0 * t * own[1] - before[1]];
            (before, own) = (own, next);
        }
        sums
    }

    /// z at a place between −1 and 1.
    fn height(&self, t: f64) -> f64 {
        let [low, high] = self.range;
        0.5 * (low + high) + 0.5 * (high - low) * t
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that polynomials are themselves, with their slopes, and that ends go on.
    #[test]
    fn polynomials_are_themselves() {
        let of = |z: f64| {
            let t = z / 500.0;
            [1.3 + t * (0.2 + t * (0.4 + t * t * t * t * 0.1)), 1.4 - 0.3 * t * t * t]
        };
        let curve = WidthCurve::through([-500.0, 700.0], of).unwrap();
        for z in -5..=7 {
            let z = 100.0 * f64::from(z);
            let step = 0.01;
            let (low, high) = ((z - step).max(-500.0), (z + step).min(700.0));
            for axis in 0..2 {
                let [width, slope] = curve.at(z)[axis];
                assert!((width - of(z)[axis]).abs() < 1e-12, "{z}: {width}");
                let expected = (of(high)[axis] - of(low)[axis]) / (high - low);
                assert!((slope - expected).abs() < 1e-6, "{z}: {slope}, not {expected}");
            }
        }
        assert_eq!(curve.at(900.0), curve.at(700.0));
    }

    /// Proves that what cannot be widths is refused.
    #[test]
    fn bad_curves_are_refused() {
        for (range, width) in [([1.0, 1.0], 1.0), ([0.0, f64::NAN], 1.0), ([0.0, 1.0], 0.1)] {
            WidthCurve::through(range, |_| [1.0, width]).unwrap_err();
        }
        WidthCurve::through([0.0, 1.0], |_| [1.0, f64::NAN]).unwrap_err();
    }
}
