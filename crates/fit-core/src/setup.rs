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

/// Newton steps where the options ask for them.
pub const AS_ASKED: u8 = 0;
/// Second derivatives, whether the options ask for Newton steps or not: for machines on which the code of both iterations would take
/// more room than it saves work.
pub const EXACT: u8 = 1;
/// The paper's iteration, whatever the options say of Newton steps: for machines whose registers have no room for second derivatives.
/// Without a plane its last step is taken without another look at the pixels, as a Newton step is ([`crate::search::FORESEEN`]).
pub const ROUGH: u8 = 2;

/// [`Options`], checked and prepared for one window size, one shape of spots and one arithmetic: make it once and use
/// it for every window of a batch.
///
/// It is a method: least squares with L linear parameters, α and β, and two slopes if the background is a plane
/// (`spot::plane`). `WEIGHTED` is whether the notes of a tile are weights: finite, ≥ 0; a pixel of weight 0 is not there.
/// `ITERATION` is `AS_ASKED`, `EXACT` or `ROUGH`; with weights it is the paper's.
#[derive(Clone, Copy, Debug)]
pub struct Setup<
    R,
    S = Circular,
    const P: usize = 3,
    const L: usize = 2,
    const WEIGHTED: bool = false,
    const ITERATION: u8 = { AS_ASKED },
> {
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
    /// See [`Size::validate`], [`Options::validate`] and `Outlined::validate`; also [`ArgumentError::Option`] if
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
}

impl<
    R: Real,
    S: Outlined<P>,
    const P: usize,
    const L: usize,
    const WEIGHTED: bool,
    const ITERATION: u8,
> Setup<R, S, P, L, WEIGHTED, ITERATION>
{
    /// [`Setup::for_shape`] for any way of least squares. `mapped` says whether there is a camera map, by which the pixels have been
    /// converted to photo-electrons.
    ///
    /// # Errors
    /// As [`Setup::for_shape`].
    #[inline(always)]
    pub fn for_spots(
        shape: S,
        size: Size,
        options: &Options,
        mapped: bool,
    ) -> Result<Self, ArgumentError> {
        let mut setup = Setup::<R, S, P>::for_shape(shape, size, options)?.by();
        if WEIGHTED {
            setup.settings.newton = Newton::Never;
        }
        Ok(if mapped { setup.of_photons() } else { setup })
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
}

impl<R: Real, S, const P: usize, const L: usize, const WEIGHTED: bool, const ITERATION: u8>
    Setup<R, S, P, L, WEIGHTED, ITERATION>
{
    /// The same setup for another way of least squares.
    #[inline(always)]
    pub fn by<const K: usize, const NOTED: bool, const OTHER: u8>(
        self,
    ) -> Setup<R, S, P, K, NOTED, OTHER> {
        let Self { size, background, profile, shape, settings, photons, baseline } = self;
        Setup { size, background, profile, shape, settings, photons, baseline }
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
