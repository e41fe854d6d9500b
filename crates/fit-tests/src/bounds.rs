//! The Cramér–Rao bound of the simulated spots.

use fit_core::Size;
use fit_core::spot::axis::{CENTRE_UNIT, WIDTH_UNIT};
use fit_core::spot::sums::Profile;
use fit_sim::Truth;
use nalgebra::{Matrix5, Vector5};

/// The smallest standard deviation that any unbiased estimate of x, y and σ can have, in pixels, for
/// Poisson distributed pixels with all five parameters unknown; `None` where the information matrix
/// is singular.
pub fn cramer_rao(size: Size, truth: &Truth) -> Option<[f64; 3]> {
    cramer_rao_with(size, truth, |expected| expected.max(1e-3))
}

/// [`cramer_rao`] for Gaussian noise whose variance follows from the expected counts of a pixel. That the
/// variance itself tells something of the parameters is left out, as it is for Poisson noise of many counts.
pub fn cramer_rao_with(
    size: Size,
    truth: &Truth,
    variance: impl Fn(f64) -> f64,
) -> Option<[f64; 3]> {
    let sigma = truth.shape.sigma;
    let amplitude = truth.signal / (std::f64::consts::TAU * sigma * sigma);
    let background = truth.background / size.pixels() as f64;
    let mut information = Matrix5::zeros();
    for i in 0..size.pixels() {
        let (x, y) = ((i % size.width) as f64, (i / size.width) as f64);
        let profile = Profile::at(x, y, truth.shape);
        let [dx, dy, ds] = profile.derivatives.map(|d| amplitude * d / sigma);
        let (dx, dy, ds) = (dx / CENTRE_UNIT, dy / CENTRE_UNIT, ds / WIDTH_UNIT);
        let slope = Vector5::new(dx, dy, ds, profile.value, 1.0);
        let expected = amplitude * profile.value + background;
        information += slope * slope.transpose() / variance(expected);
    }
    let covariance = information.try_inverse()?;
    Some([0, 1, 2].map(|j| covariance[(j, j)].sqrt()))
}
