//! A localization: a spot in photons, with its uncertainty.

use fit_core::{Camera, Fit, Status};

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
    /// Standard deviation.
    pub sigma: f64,
    /// Photons of the spot, 2πασ².
    pub intensity: f64,
    /// Background photons of a pixel.
    pub offset: f64,
    /// Standard deviation of the residuals, √(χ²/(N − 5)), in photons.
    pub background_std: f64,
    /// Σ(h − g)² in photons².
    pub chi2: f64,
    /// Expected standard deviation of x and of y ([`Fit::uncertainty`]).
    pub uncertainty: f64,
    /// How the fit ended.
    pub status: Status,
}

impl Localization {
    /// Whether all of its numbers are finite.
    pub(super) fn is_finite(&self) -> bool {
        let Self { x, y, sigma, intensity, offset, background_std, chi2, uncertainty, .. } = *self;
        let all = [x, y, sigma, intensity, offset, background_std, chi2, uncertainty];
        all.iter().all(|number| number.is_finite())
    }
}

/// A fit in photons, with its uncertainty.
pub(super) fn photons(fit: &Fit<f64>, pixels: usize, camera: &Camera) -> Localization {
    let gain = camera.photons_per_adu();
    Localization {
        id: 0,
        frame: 0,
        x: fit.x,
        y: fit.y,
        sigma: fit.sigma,
        intensity: fit.photons(camera),
        offset: (fit.background - camera.baseline) * gain,
        background_std: fit.normalized_chi2(pixels).sqrt() * gain,
        chi2: fit.chi2 * gain * gain,
        // Without photons there is no saying: not a number only for fits that are dropped or asked for.
        uncertainty: fit.uncertainty(camera).unwrap_or(f64::NAN),
        status: fit.status,
    }
}
