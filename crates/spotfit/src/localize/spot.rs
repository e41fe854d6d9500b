//! A localization: a spot in photons, with its uncertainty.

use fit_core::{Camera, Errors, Fit, Parameter, Status};
use spotfit_locs::private::root_mean_square;

use super::checks::Checks;
use crate::astigmatism::find::{Depth, Finder, SpotWidths};

/// A spot in a movie. Lengths are in pixels; (0, 0) is the centre of the first pixel of the frame.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Localization {
    /// Its number: kept spots are numbered from 1; with given positions it is the row of the position.
    pub id: u64,
    /// The frame, from 0.
    pub frame: usize,
    /// Centre.
    pub x: f64,
    /// Centre.
    pub y: f64,
    /// Standard deviation; √(σxσy) for a spot that is not circular, and with a measured PSF that of a Gaussian of the
    /// same compactness ([`crate::psf::PsfQuality::sigma`]).
    pub sigma: f64,
    /// Standard deviation along the axis of the spot that is nearer to x.
    pub sigma_x: f64,
    /// Standard deviation along the axis of the spot that is nearer to y.
    pub sigma_y: f64,
    /// The angle from x, towards y, to the axis of `sigma_x`, in radians ([`Fit::angle`]).
    pub angle: f64,
    /// Photons of the spot, 2πασxσy.
    pub intensity: f64,
    /// Background photons of a pixel; of a plane ([`fit_core::Background::Plane`]) at the centre.
    pub offset: f64,
    /// The slope of the background by x, in photons of a pixel per pixel; 0 unless it is a plane.
    #[cfg_attr(feature = "serde", serde(default))]
    pub offset_x: f64,
    /// The slope by y.
    #[cfg_attr(feature = "serde", serde(default))]
    pub offset_y: f64,
    /// Standard deviation of the residuals, √(χ²/(N − P)) of the N pixels that the fit of P parameters has seen, in photons.
    pub background_std: f64,
    /// Σ(h − g)² in photons², whatever the estimator.
    pub chi2: f64,
    /// Expected standard deviation of x and of y: the root mean square of the two below.
    pub uncertainty: f64,
    /// Expected standard deviation of x: the standard error of the fit ([`fit_core::Errors`]).
    pub uncertainty_x: f64,
    /// Expected standard deviation of y.
    pub uncertainty_y: f64,
    /// The height, if it was found ([`super::LocalizeOptions::calibration`], [`super::LocalizeOptions::psf`]).
    pub depth: Option<Depth>,
    /// Standard errors of the other numbers, if they are known ([`super::LocalizeOptions::errors`]).
    pub errors: Option<SpotErrors>,
    /// How the fit ended.
    pub status: Status,
    /// The checks, if they were asked for ([`super::LocalizeOptions::checks`]).
    pub checks: Option<Checks>,
}

/// Standard errors of a spot, by the fit ([`fit_core::Errors`]).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SpotErrors {
    /// Of [`Localization::intensity`], in photons.
    pub photons: f64,
    /// Of [`Localization::offset`], in photons.
    pub background: f64,
    /// Of [`Localization::sigma_x`], in pixels; NaN with a measured PSF.
    pub sigma_x: f64,
    /// Of [`Localization::sigma_y`], in pixels.
    pub sigma_y: f64,
}

impl SpotErrors {
    /// None that is known.
    pub(crate) const UNKNOWN: Self =
        Self { photons: f64::NAN, background: f64::NAN, sigma_x: f64::NAN, sigma_y: f64::NAN };
}

impl Localization {
    /// One of which nothing is known.
    pub(crate) const UNKNOWN: Self = Self {
        id: 0,
        frame: 0,
        x: f64::NAN,
        y: f64::NAN,
        sigma: f64::NAN,
        sigma_x: f64::NAN,
        sigma_y: f64::NAN,
        angle: f64::NAN,
        intensity: f64::NAN,
        offset: f64::NAN,
        offset_x: f64::NAN,
        offset_y: f64::NAN,
        background_std: f64::NAN,
        chi2: f64::NAN,
        uncertainty: f64::NAN,
        uncertainty_x: f64::NAN,
        uncertainty_y: f64::NAN,
        depth: None,
        errors: None,
        status: Status::Invalid,
        checks: None,
    };

    /// The same with these errors of x and y.
    pub(crate) fn with_uncertainties(self, [x, y]: [f64; 2]) -> Self {
        let uncertainty = root_mean_square(x, y);
        Self { uncertainty, uncertainty_x: x, uncertainty_y: y, ..self }
    }

    /// Whether all of its numbers are finite, but for its errors and those of the checks.
    pub(super) fn is_finite(&self) -> bool {
        let Self { x, y, sigma_x, sigma_y, angle, intensity, offset, .. } = *self;
        let Self { offset_x, offset_y, background_std, chi2, .. } = *self;
        let numbers = [x, y, sigma_x, sigma_y, angle, intensity, offset, background_std, chi2];
        numbers.iter().chain(&[offset_x, offset_y]).all(|number| number.is_finite())
    }

    /// Whether the errors of its centre are finite.
    pub(super) fn is_determined(&self) -> bool {
        self.uncertainty_x.is_finite() && self.uncertainty_y.is_finite()
    }
}

/// A fit in photons, of one in counts.
pub(super) fn in_photons(fit: &Fit<f64>, camera: &Camera) -> Fit<f64> {
    let gain = camera.photons_per_adu();
    Fit {
        amplitude: fit.amplitude * gain,
        background: (fit.background - camera.baseline) * gain,
        offset_x: fit.offset_x * gain,
        offset_y: fit.offset_y * gain,
        chi2: fit.chi2 * gain * gain,
        ..*fit
    }
}

/// The standard deviation of the residuals of a fit of so many parameters, from the sum of their squares over so many pixels.
pub(super) fn deviation(squares: f64, pixels: usize, parameters: usize) -> f64 {
    (squares / pixels.saturating_sub(parameters).max(1) as f64).sqrt()
}

/// The localization of a fit of so many parameters in photons. `chi2` is Σ(h − g)² over that many pixels, in photons².
pub(super) fn localization(
    fit: &Fit<f64>,
    chi2: f64,
    [pixels, parameters]: [usize; 2],
    uncertainties: [f64; 2],
) -> Localization {
    let spot = Localization {
        x: fit.x,
        y: fit.y,
        sigma: fit.sigma,
        sigma_x: fit.sigma_x,
        sigma_y: fit.sigma_y,
        angle: fit.angle,
        intensity: fit.signal(),
        offset: fit.background,
        offset_x: fit.offset_x,
        offset_y: fit.offset_y,
        background_std: deviation(chi2, pixels, parameters),
        chi2,
        status: fit.status,
        ..Localization::UNKNOWN
    };
    spot.with_uncertainties(uncertainties)
}

/// The height of a spot, from the widths of its fit and their covariance.
pub(super) fn depth(finder: &Finder, fit: &Fit<f64>, errors: &Errors) -> Depth {
    use Parameter::{SigmaX, SigmaY};
    let of = |parameter| f64::from(errors.of(parameter));
    let spread = [of(SigmaX), of(SigmaY)];
    let correlation = f64::from(errors.covariance(SigmaX, SigmaY)) / (spread[0] * spread[1]);
    finder.find(&SpotWidths { sigma: [fit.sigma_x, fit.sigma_y], errors: spread, correlation })
}

/// The errors of a fit in photons.
pub(super) fn errors(errors: &Errors) -> SpotErrors {
    let of = |parameter| f64::from(errors.of(parameter));
    SpotErrors {
        photons: errors.photons.into(),
        background: of(Parameter::Background),
        sigma_x: of(Parameter::SigmaX),
        sigma_y: of(Parameter::SigmaY),
    }
}
