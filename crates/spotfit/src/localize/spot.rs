//! A localization: a spot in photons, with its uncertainty.

use std::f64::consts::PI;

use fit_core::{Camera, Estimator, Fit, Status};

use super::checks::Checks;

/// A spot in a movie. Lengths are in pixels; (0, 0) is the centre of the first pixel of the frame.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Localization {
    /// Its number: kept spots are counted from 1; with given positions it is the row of the position.
    pub id: u64,
    /// The frame, from 0.
    pub frame: usize,
    /// Centre.
    pub x: f64,
    /// Centre.
    pub y: f64,
    /// Standard deviation; of a spot that is not circular √(σxσy).
    pub sigma: f64,
    /// Standard deviation along the axis of the spot that is nearer to x.
    pub sigma_x: f64,
    /// Standard deviation along the axis of the spot that is nearer to y.
    pub sigma_y: f64,
    /// The angle from x, towards y, to the axis of `sigma_x`, in radians ([`Fit::angle`]).
    pub angle: f64,
    /// Photons of the spot, 2πασxσy.
    pub intensity: f64,
    /// Background photons of a pixel.
    pub offset: f64,
    /// Standard deviation of the residuals, √(χ²/(N − 5)), in photons.
    pub background_std: f64,
    /// Σ(h − g)² in photons², whatever the estimator.
    pub chi2: f64,
    /// Expected standard deviation of x and of y: the root mean square of the two below.
    pub uncertainty: f64,
    /// Expected standard deviation of x for the estimator.
    pub uncertainty_x: f64,
    /// Expected standard deviation of y for the estimator.
    pub uncertainty_y: f64,
    /// How the fit ended.
    pub status: Status,
    /// What was checked, if it was asked for ([`super::LocalizeOptions::checks`]).
    pub checks: Option<Checks>,
}

impl Localization {
    /// Whether all of its numbers are finite, but for those of the checks.
    pub(super) fn is_finite(&self) -> bool {
        let Self { x, y, sigma_x, sigma_y, angle, intensity, offset, .. } = *self;
        let Self { background_std, chi2, uncertainty_x, uncertainty_y, .. } = *self;
        let shape = [x, y, sigma_x, sigma_y, angle, uncertainty_x, uncertainty_y];
        let light = [intensity, offset, background_std, chi2];
        shape.iter().chain(&light).all(|number| number.is_finite())
    }
}

/// A fit in photons, of one in counts.
pub(super) fn in_photons(fit: &Fit<f64>, camera: &Camera) -> Fit<f64> {
    let gain = camera.photons_per_adu();
    Fit {
        amplitude: fit.amplitude * gain,
        background: (fit.background - camera.baseline) * gain,
        chi2: fit.chi2 * gain * gain,
        ..*fit
    }
}

/// The noise of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noise {
    /// The variance of a photon: 2 with EM gain, otherwise 1.
    pub(super) excess: f64,
    /// The variance of the read noise of a pixel, in photons².
    pub(super) variance: f64,
}

/// The localization of a fit in photons. `chi2` is Σ(h − g)² over that many pixels, in photons².
pub(super) fn localization(
    fit: &Fit<f64>,
    chi2: f64,
    pixels: usize,
    estimator: Estimator,
    noise: Noise,
) -> Localization {
    let [uncertainty_x, uncertainty_y] = uncertainty(fit, estimator, noise);
    Localization {
        id: 0,
        frame: 0,
        x: fit.x,
        y: fit.y,
        sigma: fit.sigma,
        sigma_x: fit.sigma_x,
        sigma_y: fit.sigma_y,
        angle: fit.angle,
        intensity: fit.signal(),
        offset: fit.background,
        background_std: (chi2 / (pixels as f64 - 5.0)).sqrt(),
        chi2,
        uncertainty: root_mean_square(uncertainty_x, uncertainty_y),
        uncertainty_x,
        uncertainty_y,
        status: fit.status,
        checks: None,
    }
}

/// The root mean square of two numbers.
pub(crate) fn root_mean_square(x: f64, y: f64) -> f64 {
    if x == y { x } else { ((x * x + y * y) / 2.0).sqrt() }
}

/// The expected standard deviations of x and y for a fit in photons; NaN if it has none.
///
/// For least squares eq. 6 of Mortensen et al., Nature Methods 7, 377 (2010), as [`Fit::uncertainty`]; for maximum
/// likelihood its eq. 5 in the closed form of Rieger & Stallinga, ChemPhysChem 15, 664 (2014). The widths of a spot
/// that is not circular take the places of its σ².
fn uncertainty(fit: &Fit<f64>, estimator: Estimator, noise: Noise) -> [f64; 2] {
    let photons = fit.signal();
    if photons.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
        return [f64::NAN; 2];
    }
    let b2 = fit.background.max(0.0) + noise.variance;
    let area =
        if fit.sigma_x == fit.sigma_y { fit.sigma * fit.sigma } else { fit.sigma_x * fit.sigma_y };
    let bound = match estimator {
        Estimator::MaximumLikelihood => {
            let tau = 2.0 * PI * area * b2 / photons;
            1.0 + 4.0 * tau + (2.0 * tau / (1.0 + 4.0 * tau)).sqrt()
        }
        _ => 16.0 / 9.0 + 8.0 * PI * area * b2 / photons,
    };
    let (sine, cosine) = fit.angle.sin_cos();
    let (u2, v2) = (fit.sigma_x * fit.sigma_x, fit.sigma_y * fit.sigma_y);
    let x2 = cosine * cosine * u2 + sine * sine * v2;
    let y2 = sine * sine * u2 + cosine * cosine * v2;
    [x2, y2].map(|s2| (noise.excess * s2 / photons * bound).sqrt())
}
