//! Options, checked and prepared for fitting.

use crate::arithmetic::Real;
use crate::error::ArgumentError;
use crate::options::{MaxError, Options};
use crate::search::{Newton, Settings};
use crate::size::Size;
use crate::spot::axis::PixelProfile;
use crate::spot::conditioning::Conditioning;
use crate::spot::limits::Background;
use crate::spot::shape::{Circular, Outlined};

/// [`Options`], checked and prepared for one window size, one shape of spots and one arithmetic: make it once and use
/// it for every window of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Setup<R, S = Circular, const P: usize = 3> {
    size: Size,
    background: Background,
    profile: PixelProfile,
    shape: S,
    settings: Settings<R, P>,
    /// Photo-electrons per count, and the counts of a dark pixel: what outcomes are converted by.
    photons: R,
    baseline: R,
}

impl<R: Real> Setup<R> {
    /// Checks the window and the options for circular spots; [`Options::shape`] is ignored.
    ///
    /// # Errors
    /// As [`Setup::for_shape`].
    #[inline(always)]
    pub fn new(size: Size, options: &Options) -> Result<Self, ArgumentError> {
        Self::for_shape(Circular, size, options)
    }
}

impl<R: Real, S: Outlined<P>, const P: usize> Setup<R, S, P> {
    /// Checks the window and the options for spots of the given shape; [`Options::shape`] is ignored.
    ///
    /// # Errors
    /// See [`Size::validate`], [`Options::validate`] and [`Outlined::validate`]; also [`ArgumentError::Option`] if
    /// `sigma_min` is not below the largest σ of this window.
    #[inline(always)]
    pub fn for_shape(shape: S, size: Size, options: &Options) -> Result<Self, ArgumentError> {
        size.validate()?;
        options.validate()?;
        let Options { criteria, background, limits, profile, .. } = *options;
        shape.validate_in(size, &limits)?;
        if limits.sigma_min >= limits.sigma_max_in(size) {
            return Err(ArgumentError::Option {
                name: "sigma_min",
                value: limits.sigma_min,
                range: "below the longer side of the window",
            });
        }
        let max_error = match criteria.max_error {
            MaxError::Off => -1.0,
            MaxError::PerPixel(bound) => bound * size.pixels() as f64,
            MaxError::Total(bound) => bound,
        };
        let (mut lower, mut upper) = ([R::splat(0.0); P], [R::splat(0.0); P]);
        for (j, (low, high)) in shape.limits(size, &limits).into_iter().enumerate() {
            (lower[j], upper[j]) = (R::splat(low), R::splat(high));
        }
        let mut settings = Settings {
            max_iterations: R::splat(criteria.max_iterations.into()),
            max_evaluations: R::splat(criteria.max_evaluations.into()),
            max_error: R::splat(max_error),
            min_delta: R::splat(criteria.min_delta),
            min_step: R::splat(criteria.min_step),
            step_by_place: R::splat(f64::from(u8::from(criteria.step_by_place))),
            lower,
            upper,
            newton: if criteria.newton { Newton::Near } else { Newton::Never },
            finish: R::splat(criteria.finish),
            tolerance: R::splat(0.0),
        };
        let camera = options.camera.unwrap_or_default();
        let (photons, baseline) = (camera.photons_per_adu(), camera.baseline);
        settings.max_error = settings.max_error * R::splat(1.0 / (photons * photons));
        let (photons, baseline) = (R::splat(photons), R::splat(baseline));
        Ok(Self { size, background, profile, shape, settings, photons, baseline })
    }

    /// A setup for the paper's iteration, whose sums may have weights.
    ///
    /// # Errors
    /// As [`Setup::for_shape`].
    #[inline(always)]
    pub(crate) fn start_for_shape(
        shape: S,
        size: Size,
        options: &Options,
    ) -> Result<Self, ArgumentError> {
        let mut setup = Self::for_shape(shape, size, options)?;
        setup.settings.newton = Newton::Never;
        Ok(setup)
    }
}

impl<R: Real, S, const P: usize> Setup<R, S, P> {
    /// A setup from the parts of another, for a device that gets them one by one.
    ///
    /// # Errors
    /// See [`Size::validate`].
    #[inline(always)]
    pub fn from_parts(
        shape: S,
        size: Size,
        background: Background,
        profile: PixelProfile,
        settings: Settings<R, P>,
    ) -> Result<Self, ArgumentError> {
        size.validate()?;
        let (photons, baseline) = (R::splat(1.0), R::splat(0.0));
        Ok(Self { size, background, profile, shape, settings, photons, baseline })
    }

    /// The window.
    #[inline(always)]
    pub fn size(&self) -> Size {
        self.size
    }

    /// The allowed range of the background.
    #[inline(always)]
    pub fn background(&self) -> Background {
        self.background
    }

    /// What a pixel measures.
    #[inline(always)]
    pub fn profile(&self) -> PixelProfile {
        self.profile
    }

    /// The shape of the spots.
    #[inline(always)]
    pub fn shape(&self) -> &S {
        &self.shape
    }

    /// When to stop, and the limits.
    #[inline(always)]
    pub fn settings(&self) -> &Settings<R, P> {
        &self.settings
    }

    /// The same setup for pixels that are photo-electrons already, whatever the camera in the options.
    #[inline(always)]
    pub fn of_photons(mut self) -> Self {
        self.settings.max_error = self.settings.max_error * self.photons * self.photons;
        (self.photons, self.baseline) = (R::splat(1.0), R::splat(0.0));
        self
    }

    /// The same setup with outcomes in photo-electrons: so many per count, and the counts of a dark pixel.
    #[inline(always)]
    pub fn with_units(self, photons: R, baseline: R) -> Self {
        Self { photons, baseline, ..self }
    }

    /// The same setup with such Newton steps, and a last step without another look at the pixels where it is predicted to gain less
    /// than this share of χ².
    #[inline(always)]
    pub fn ending(mut self, newton: Newton, finish: R) -> Self {
        self.settings.newton = newton;
        self.settings.finish = finish;
        self
    }

    /// Photo-electrons per count, and the counts of a dark pixel.
    #[inline(always)]
    pub fn units(&self) -> (R, R) {
        (self.photons, self.baseline)
    }

    /// The χ² of conditioned pixels below which a fit ends.
    #[inline(always)]
    pub fn max_cost(&self, data: &Conditioning<R>) -> R {
        self.settings.max_error * data.scale * data.scale
    }
}
