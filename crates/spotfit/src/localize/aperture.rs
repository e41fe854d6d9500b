//! Photons of Gaussians that are corrected by the light in an aperture.

use std::fmt;

use spotfit_locs::OutOfRange;

/// By how much photons of Gaussians are multiplied to be those within an aperture.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[non_exhaustive]
pub struct ApertureCorrection {
    /// Photons within the aperture over those of the Gaussian.
    pub factor: f64,
    /// Its standard error.
    pub error: f64,
    /// How many spots tell it.
    pub spots: usize,
}

impl ApertureCorrection {
    /// A factor with its standard error, and how many spots told it.
    pub const fn new(factor: f64, error: f64, spots: usize) -> Self {
        Self { factor, error, spots }
    }
}

impl fmt::Display for ApertureCorrection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { factor, error, spots } = self;
        write!(
            f,
            "photons are {factor:.3} ± {error:.3} times those of the Gaussians, as {spots} spots of the first frames have within the aperture"
        )
    }
}

/// Refuses a radius or a factor that is out of its range, and either where there is a PSF.
pub(super) fn check(
    aperture: Option<f64>,
    correction: Option<&ApertureCorrection>,
    has_psf: bool,
) -> Result<(), OutOfRange> {
    if let Some(correction) = correction {
        let good = aperture.is_some() && correction.factor > 0.0 && correction.factor.is_finite();
        let range = "a finite factor above 0, with `aperture`";
        OutOfRange::check("aperture_correction", correction.factor, good, range)?;
    }
    let Some(radius) = aperture else { return Ok(()) };
    let good = (3.0..=32.0).contains(&radius);
    OutOfRange::check("aperture", radius, good, "a radius of 3 to 32 pixels")?;
    let range = "not given with a measured PSF, which has its own light";
    OutOfRange::check("aperture", radius, !has_psf, range)
}
