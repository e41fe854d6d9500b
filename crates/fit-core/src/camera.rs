//! From camera counts to photons.

use crate::error::{ArgumentError, check};

/// How a camera turns photons into counts: photons = (ADU − baseline)·sensitivity/EM gain.
///
/// The default takes every count as one photon.
///
/// ```
/// use fit_core::Camera;
///
/// let camera = Camera::default().with_baseline(100.0).with_sensitivity(0.46);
/// assert_eq!(camera.photons_per_adu(), 0.46);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[non_exhaustive]
pub struct Camera {
    /// The value of a dark pixel, in ADU. Range: −10¹² to 10¹².
    pub baseline: f64,
    /// Photo-electrons per ADU, before EM gain. Range: 10⁻¹² to 10¹².
    pub sensitivity: f64,
    /// EM gain; `None` for a camera without it. Range: 1 to 10⁹. The multiplication doubles the variance
    /// of the counts.
    pub em_gain: Option<f64>,
    /// Standard deviation of the read noise in photo-electrons; EM gain divides it. Range: 0 to 10⁹.
    pub read_noise: f64,
}

impl Default for Camera {
    fn default() -> Self {
        Self { baseline: 0.0, sensitivity: 1.0, em_gain: None, read_noise: 0.0 }
    }
}

impl Camera {
    crate::__setters! {
        const with_baseline: baseline: f64,
        const with_sensitivity: sensitivity: f64,
        const with_em_gain: em_gain: Option<f64>,
        const with_read_noise: read_noise: f64,
    }

    /// Photons per ADU.
    pub fn photons_per_adu(&self) -> f64 {
        self.sensitivity / self.em_gain.unwrap_or(1.0)
    }

    /// The variance of the read noise in photons².
    pub(crate) fn read_variance(&self) -> f64 {
        let noise = self.read_noise / self.em_gain.unwrap_or(1.0);
        noise * noise
    }

    /// Checks every value against its range. Within these ranges every number computed from a fit is finite,
    /// whatever the pixels are.
    ///
    /// # Errors
    /// [`ArgumentError::Option`] with name, value and range of the first value out of range.
    pub fn validate(&self) -> Result<(), ArgumentError> {
        let Self { baseline, sensitivity, em_gain, read_noise } = *self;
        check("baseline", baseline, -1e12, 1e12, "-1e12 to 1e12")?;
        check("sensitivity", sensitivity, 1e-12, 1e12, "1e-12 to 1e12")?;
        check("em_gain", em_gain.unwrap_or(1.0), 1.0, 1e9, "1 to 1e9")?;
        check("read_noise", read_noise, 0.0, 1e9, "0 to 1e9")
    }
}
