//! The options of a fit, and their checks.

use crate::camera::Camera;
use crate::corner::Corner;
use crate::error::{ArgumentError, check};
use crate::size::Size;
use crate::spot::axis::PixelProfile;
use crate::spot::limits::{Background, Limits};
use crate::spot::shape::Shape;

/// When a fit ends. Every test uses the number of evaluations and iterations as defined here:
///
/// - an *iteration* is one pass of the paper's outer loop: a step is proposed, retried with a
///   larger damping λ until χ² decreases, and taken;
/// - an *evaluation* is one visit to all pixels of the window, at the start and for every trial.
///
/// After each step taken the tests run in the order `max_error`, `min_delta`, `min_step`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[non_exhaustive]
pub struct Criteria {
    /// The largest number of iterations. Range: 1 to 100 000.
    ///
    /// A fit that meets no test by its last iteration ends as `max_iterations`.
    pub max_iterations: u32,
    /// The largest number of evaluations. Range: 2 to 1 000 000.
    ///
    /// A fit that reaches it ends as `max_iterations`, with the best parameters so far.
    pub max_evaluations: u32,
    /// Ends a fit as `max_error` when χ² is smaller than this.
    pub max_error: MaxError,
    /// Ends a fit as `min_delta` when a step reduced χ² by less than `min_delta`·χ²: the test
    /// `χ²_before − χ²_after < min_delta·χ²_before`. Range: 0 (never) to 1, exclusive.
    pub min_delta: f64,
    /// Ends a fit as `min_step` when no parameter changed by more than this share of σ: the tests
    /// `|Δx̄| < min_step·σ`, the same for ȳ, and `|Δσ| < min_step·σ`, with the step actually taken,
    /// after limiting. Range: 0 (never) to 1, exclusive.
    pub min_step: f64,
    /// Whether `min_step` compares the step of a centre with max(|x̄|, σ) instead of σ. A fit then ends earlier if its
    /// spot is farther from the first pixel.
    ///
    /// The paper compares with |p_j|; max(|x̄|, σ) is the same except near the window's edge x̄ = 0, where |x̄| would
    /// require more precision than numbers have.
    pub step_by_place: bool,
    /// Least squares without weights: whether steps near the minimum are Newton steps, which use the exact Hessian
    /// instead of JᵀJ. They converge in fewer evaluations, even if the model does not fit the data.
    pub newton: bool,
    /// Ends a fit as `min_delta` when a Newton step is predicted to reduce χ² by less than `finish`·χ²: this step is
    /// taken without another evaluation. Range: 0 (never) to 1, exclusive.
    pub finish: f64,
    /// Maximum likelihood: ends a fit as `min_step` when the next step is predicted to be shorter than this many
    /// standard errors (δᵀIδ < tolerance², with the information matrix I); this step is taken without another
    /// evaluation. Range: 0 (never) to 1.
    pub tolerance: f64,
}

/// The bound of the `max_error` test. χ² is neither weighted nor normalized, so a sensible bound
/// depends on the unit of the pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum MaxError {
    /// No such test.
    Off,
    /// χ² < the value times the number of pixels N, in counts². Range: finite, ≥ 0.
    PerPixel(f64),
    /// χ² < the value, in counts². Range: finite, ≥ 0.
    Total(f64),
}

impl Criteria {
    crate::__setters! {
        const with_max_iterations: max_iterations: u32,
        const with_max_evaluations: max_evaluations: u32,
        const with_max_error: max_error: MaxError,
        const with_min_delta: min_delta: f64,
        const with_min_step: min_step: f64,
        const with_step_by_place: step_by_place: bool,
        const with_newton: newton: bool,
        const with_finish: finish: f64,
        const with_tolerance: tolerance: f64,
    }

    /// Those that have a name.
    pub const NAMED: [(&'static str, Self); 3] =
        [("default", Self::DEFAULT), ("paper", Self::PAPER), ("tight", Self::TIGHT)];

    /// The criteria of the paper's benchmark: 20 iterations, χ² < N/3, 10⁻⁶, 10⁻⁴.
    ///
    /// The χ² test ends faint windows before they are fitted (39 % of the paper's 32×32 windows);
    /// use it to compare with the paper.
    pub const PAPER: Self = Self {
        max_iterations: 20,
        max_evaluations: 100,
        max_error: MaxError::PerPixel(1.0 / 3.0),
        step_by_place: true,
        newton: false,
        finish: 0.0,
        ..Self::DEFAULT
    };

    /// The paper's criteria without the χ² test, and with 100 iterations: 20 are too few for 0.3 to 2.4 % of real
    /// spots, and fits that converge cost the same.
    pub const DEFAULT: Self = Self {
        max_iterations: 100,
        max_evaluations: 500,
        max_error: MaxError::Off,
        min_delta: 1e-6,
        min_step: 1e-4,
        step_by_place: false,
        newton: true,
        finish: 1e-4,
        tolerance: 0.03,
    };

    /// For comparing with other optimizers: 100 iterations, 10⁻⁹, 10⁻⁶.
    pub const TIGHT: Self = Self {
        max_iterations: 100,
        max_evaluations: 500,
        max_error: MaxError::Off,
        min_delta: 1e-9,
        min_step: 1e-6,
        step_by_place: false,
        newton: true,
        finish: 0.0,
        tolerance: 1e-6,
    };
}

impl Default for Criteria {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// All options of a fit.
///
/// ```
/// use fit_core::{Background, Criteria, Options};
///
/// let options = Options::default()
///     .with_criteria(Criteria::TIGHT.with_max_iterations(10))
///     .with_background(Background::NonNegative);
/// assert!(options.validate().is_ok());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[non_exhaustive]
pub struct Options {
    /// When to stop.
    pub criteria: Criteria,
    /// The allowed range of the background.
    pub background: Background,
    /// The range of the parameters.
    pub limits: Limits,
    /// The shape of the spots.
    pub shape: Shape,
    /// The profile: how a pixel measures a spot.
    pub profile: PixelProfile,
    /// The estimator.
    pub estimator: Estimator,
    /// How the camera turns photons into counts. With it amplitude and background are photo-electrons; without it
    /// they are counts, and maximum likelihood takes a count for a photo-electron.
    pub camera: Option<Camera>,
}

/// The estimator: what a fit minimizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Estimator {
    /// χ² = Σ(h − g)², with weights if they are given.
    #[default]
    LeastSquares,
    /// The deviance of Poisson distributed photo-electrons. With [`Background::Free`] only αf + β must be positive;
    /// with [`Background::NonNegative`] α and β are.
    MaximumLikelihood,
}

impl Estimator {
    /// Both.
    pub const ALL: [Self; 2] = [Self::LeastSquares, Self::MaximumLikelihood];

    /// Its short name, for command lines and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LeastSquares => "lse",
            Self::MaximumLikelihood => "mle",
        }
    }
}

impl Options {
    crate::__setters! {
        const with_criteria: criteria: Criteria,
        const with_background: background: Background,
        const with_limits: limits: Limits,
        const with_shape: shape: Shape,
        const with_profile: profile: PixelProfile,
        const with_estimator: estimator: Estimator,
        const with_camera: camera: Option<Camera>,
    }

    /// How many numbers a fit may choose: those of the shape, amplitude and background, and the slopes of a plane.
    pub const fn parameters(&self) -> usize {
        let slopes = if matches!(self.background, Background::Plane) { 2 } else { 0 };
        self.shape.name().parameters() + 2 + slopes
    }

    /// Checks every value against its range.
    ///
    /// # Errors
    /// [`ArgumentError::Option`] with name, value and range of the first value out of range.
    pub fn validate(&self) -> Result<(), ArgumentError> {
        let Criteria { max_iterations, max_evaluations, max_error, .. } = self.criteria;
        let Criteria { min_delta, min_step, finish, tolerance, .. } = self.criteria;
        check("max_iterations", max_iterations.into(), 1.0, 1e5, "1 to 100000")?;
        check("max_evaluations", max_evaluations.into(), 2.0, 1e6, "2 to 1000000")?;
        if let MaxError::PerPixel(bound) | MaxError::Total(bound) = max_error {
            check("max_error", bound, 0.0, f64::MAX, "0 or more, finite")?;
        }
        let below_one = 1.0 - f64::EPSILON;
        check("min_delta", min_delta, 0.0, below_one, "0 to 1, exclusive")?;
        check("min_step", min_step, 0.0, below_one, "0 to 1, exclusive")?;
        check("finish", finish, 0.0, below_one, "0 to 1, exclusive")?;
        check("tolerance", tolerance, 0.0, 1.0, "0 to 1")?;
        if let Some(camera) = &self.camera {
            camera.validate()?;
        }
        let Limits { centre_margin, sigma_min, sigma_max } = self.limits;
        check("centre_margin", centre_margin, 0.0, 1e3, "0 to 1000")?;
        check("sigma_min", sigma_min, 0.1, 1e3, "0.1 to 1000")?;
        if let Some(sigma_max) = sigma_max {
            let above = sigma_min * (1.0 + f64::EPSILON);
            check("sigma_max", sigma_max, above, 1e6, "above sigma_min, up to 1000000")?;
        }
        self.shape.validate()
    }
}

impl Size {
    /// Checks that a window of this size can be fitted.
    ///
    /// # Errors
    /// [`ArgumentError::WindowTooSmall`] unless both sides are at least 3;
    /// [`ArgumentError::WindowTooLarge`] above [`Size::MAX_PIXELS`].
    pub fn validate(self) -> Result<(), ArgumentError> {
        if self.width < 3 || self.height < 3 {
            Err(ArgumentError::WindowTooSmall(self))
        } else if self.pixels() > Self::MAX_PIXELS {
            Err(ArgumentError::WindowTooLarge(self))
        } else {
            Ok(())
        }
    }
}

impl Corner {
    /// Checks that the windows of `size` at all `corners` lie within a stack of `frames` frames of
    /// `frame` pixels.
    ///
    /// # Errors
    /// [`ArgumentError::OutsideFrames`] for the first window that does not.
    pub fn validate(
        corners: &[Self],
        size: Size,
        frames: usize,
        frame: Size,
    ) -> Result<(), ArgumentError> {
        let inside = |corner: &Self| {
            let fits = |start: u32, length: usize, end: usize| {
                usize::try_from(start).is_ok_and(|start| start <= end && length <= end - start)
            };
            usize::try_from(corner.frame).is_ok_and(|number| number < frames)
                && fits(corner.x, size.width, frame.width)
                && fits(corner.y, size.height, frame.height)
        };
        match corners.iter().position(|corner| !inside(corner)) {
            None => Ok(()),
            Some(spot) => {
                let corner = corners[spot];
                Err(ArgumentError::OutsideFrames { spot, corner, size, frames, frame })
            }
        }
    }
}
