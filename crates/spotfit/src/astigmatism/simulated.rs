//! Calibrations whose truth is known.

use super::curve::Astigmatism;
pub(crate) use super::huang::{CURVES, Huang};
use super::polynomial::{Normal, unscaled};

impl Huang {
    /// The polynomials nearest to this curve within a range.
    pub(crate) fn polynomials(&self, [low, high]: [f64; 2]) -> Astigmatism {
        let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
        let mut sums = [Normal::default(), Normal::default()];
        for i in 0..=1000 {
            let t = -1.0 + 0.002 * f64::from(i);
            for (sums, width) in sums.iter_mut().zip(self.widths(middle + half * t)) {
                sums.add(t, width, 1.0);
            }
        }
        let [x, y] = sums.map(|sums| unscaled(&sums.solve().unwrap(), middle, half));
        Astigmatism::from_coefficients(x, y, [low, high], 1.0).unwrap()
    }
}
