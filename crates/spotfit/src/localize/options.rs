//! How to localize a movie.

use fit_core::{ArgumentError, Camera, Estimator, Size};
use fit_cpu::{BatchError, MOST_THREADS};

use super::{LocalizeError, Positions};
use crate::backend::{FitError, FitterOptions};
use crate::detect::DEFAULT_THRESHOLD;
use crate::range::OutOfRange;

/// A rectangle of pixels in which to look for spots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Roi {
    /// The first column.
    pub x: usize,
    /// The first row.
    pub y: usize,
    /// The number of columns.
    pub width: usize,
    /// The number of rows.
    pub height: usize,
}

/// How to localize a movie.
///
/// ```
/// use spotfit::localize::LocalizeOptions;
/// use spotfit::{Camera, FitterOptions};
///
/// let options = LocalizeOptions::default()
///     .with_box_size(9)
///     .with_camera(Camera::default().with_baseline(100.0).with_sensitivity(0.46))
///     .with_fitter(FitterOptions::default().with_threads(2));
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[non_exhaustive]
pub struct LocalizeOptions {
    /// Side of the windows in pixels. Range: odd, 5 to 63.
    pub box_size: usize,
    /// How far a spot must stand out, in units of the local noise (see [`crate::detect`]). Range: above 0.
    pub threshold: f64,
    /// Where to look; `None` is the whole frame.
    pub roi: Option<Roi>,
    /// Places to fit instead of detecting.
    pub positions: Option<Positions>,
    /// The camera.
    pub camera: Camera,
    /// The fit and its backend.
    pub fitter: FitterOptions,
    /// Whether to keep failed fits.
    pub keep_all: bool,
}

impl Default for LocalizeOptions {
    fn default() -> Self {
        Self {
            box_size: 7,
            threshold: DEFAULT_THRESHOLD,
            roi: None,
            positions: None,
            camera: Camera::default(),
            fitter: FitterOptions::default(),
            keep_all: false,
        }
    }
}

impl LocalizeOptions {
    fit_core::__setters! {
        const with_box_size: box_size: usize,
        const with_threshold: threshold: f64,
        const with_roi: roi: Option<Roi>,
        with_positions: positions: Option<Positions>,
        const with_camera: camera: Camera,
        with_fitter: fitter: FitterOptions,
        const with_keep_all: keep_all: bool,
    }

    /// Checks what neither the detector nor the fitter checks.
    pub(super) fn validate(&self) -> Result<(), LocalizeError> {
        let Self { box_size, camera, fitter, .. } = self;
        let odd = box_size % 2 == 1 && (5..=63).contains(box_size);
        OutOfRange::check("box_size", box_size, odd, "an odd number from 5 to 63")?;
        let argument = |error: ArgumentError| FitError::from(BatchError::from(error));
        fit_core::Setup::<f64>::new(Size::new(*box_size, *box_size), &fitter.fit)
            .map_err(argument)?;
        camera.validate().map_err(argument)?;
        // The uncertainty stated is that of least squares, and photons are counted by this camera alone.
        let least = fitter.fit.estimator == Estimator::LeastSquares;
        let name = fitter.fit.estimator.name();
        OutOfRange::check(
            "estimator",
            name,
            least,
            "lse, the only one whose uncertainty is stated",
        )?;
        let counts = fitter.fit.camera.is_none();
        OutOfRange::check(
            "fitter.fit.camera",
            "some",
            counts,
            "none: give LocalizeOptions::camera",
        )?;
        let range = format!("0 to {MOST_THREADS}; 0 takes one for each processor");
        let (threads, good) = (fitter.threads, fitter.threads <= MOST_THREADS);
        Ok(OutOfRange::check("threads", threads, good, range)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fit_core::Options;

    /// Proves that a fit whose outcome would be stated wrongly is refused by name.
    #[test]
    fn fits_that_are_not_understood_are_refused() {
        let refused = |fit: Options| {
            let options = LocalizeOptions::default().with_fitter(fit.into());
            options.validate().expect_err("refused").to_string()
        };
        let likelihood = Options::default().with_estimator(Estimator::MaximumLikelihood);
        let error = refused(likelihood);
        assert!(error.contains("estimator") && error.contains("lse"), "{error}");
        let error = refused(Options::default().with_camera(Some(Camera::default())));
        assert!(error.contains("camera"), "{error}");
    }
}
