//! What a fit may be asked to do, and the checks that a request makes sense.

use core::fmt;

use crate::corner::Corner;
use crate::real::Real;
use crate::shape::{Shape, Size};

/// When a fit ends. Every test uses the number of evaluations and iterations as defined here:
///
/// - an *iteration* is one pass of the paper's outer loop: a step is proposed, retried with a
///   larger damping λ until χ² decreases, and taken;
/// - an *evaluation* is one visit to all pixels of the window, at the start and for every trial.
///
/// The tests are made in the order `max_error`, `min_delta`, `min_step` after each step taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criteria {
    /// The largest number of iterations. Range: 1 to 100 000.
    ///
    /// A fit that took its last iteration without meeting a test ends as `max_iterations`.
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
    /// Ends a fit as `min_step` when no parameter changed by more than its share: the tests
    /// `|Δx̄| < min_step·max(|x̄|, σ)`, the same for ȳ, and `|Δσ| < min_step·σ`, with the step that
    /// was really made, after limiting. Range: 0 (never) to 1, exclusive.
    ///
    /// The paper compares with |p_j| alone; max(|x̄|, σ) is the same but near the window's edge
    /// x̄ = 0, where |x̄| would ask for a precision that no number has.
    pub min_step: f64,
}

/// The bound of the `max_error` test. χ² is neither weighted nor normalised, so a sensible bound
/// depends on the unit of the pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MaxError {
    /// No such test.
    Off,
    /// χ² < the value times the number of pixels N, in counts². Range: finite, ≥ 0.
    PerPixel(f64),
    /// χ² < the value, in counts². Range: finite, ≥ 0.
    Total(f64),
}

impl Criteria {
    /// The criteria of the paper's benchmark: 20 iterations, χ² < N/3, 10⁻⁶, 10⁻⁴.
    ///
    /// The χ² test ends faint windows before they are fitted (39 % of the paper's 32×32 windows);
    /// use it to compare with the paper.
    pub const PAPER: Self = Self { max_error: MaxError::PerPixel(1.0 / 3.0), ..Self::DEFAULT };

    /// The paper's criteria without the χ² test.
    pub const DEFAULT: Self = Self {
        max_iterations: 20,
        max_evaluations: 100,
        max_error: MaxError::Off,
        min_delta: 1e-6,
        min_step: 1e-4,
    };

    /// For comparing with other optimisers: 100 iterations, 10⁻⁹, 10⁻⁶.
    pub const TIGHT: Self = Self {
        max_iterations: 100,
        max_evaluations: 500,
        max_error: MaxError::Off,
        min_delta: 1e-9,
        min_step: 1e-6,
    };
}

impl Default for Criteria {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What is known about the background β.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Background {
    /// Any value, eq. 6. Right when a background has been subtracted, or nothing is known.
    #[default]
    Free,
    /// β ≥ 0, in closed form: where eq. 6 gives β < 0, β = 0 and α = **G**/**F**, with the matching
    /// derivatives. Right when just the camera's offset has been subtracted; makes σ more precise.
    NonNegative,
}

/// The range of the shape parameters (the paper's undefined `limit()`), in pixels.
///
/// A trial step is cut at these limits, and a parameter at its limit whose gradient points outwards
/// is held there. A fit that ends so has the status `at_limit`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// How far outside the outermost pixels' centres the centre may lie: −m ≤ x̄ ≤ width − 1 + m and
    /// the same for ȳ. Range: 0 to 1000.
    pub centre_margin: f64,
    /// The smallest σ. Range: 0.1 to 1000. Below about a quarter of a pixel a spot sampled at the
    /// pixels' centres is one bright pixel, and neither centre nor width mean anything.
    pub sigma_min: f64,
    /// The largest σ; `None` is the longer side of the window. Range: above `sigma_min`, up to 10⁶.
    pub sigma_max: Option<f64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { centre_margin: 1.0, sigma_min: 0.25, sigma_max: None }
    }
}

/// All options of a fit.
///
/// ```
/// use fit_core::{Background, Criteria, Options};
///
/// let options = Options {
///     criteria: Criteria { max_iterations: 10, ..Criteria::TIGHT },
///     background: Background::NonNegative,
///     ..Options::default()
/// };
/// assert!(options.validate().is_ok());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// When to stop.
    pub criteria: Criteria,
    /// What is known about the background.
    pub background: Background,
    /// The range of the parameters.
    pub limits: Limits,
}

impl Options {
    /// Checks every value against its range.
    ///
    /// # Errors
    /// [`ArgumentError::Option`] with the name, the value and the range of the first offender.
    pub fn validate(&self) -> Result<(), ArgumentError> {
        let check = |name, value: f64, min, max, range| {
            if value >= min && value <= max {
                Ok(())
            } else {
                Err(ArgumentError::Option { name, value, range })
            }
        };
        let Criteria { max_iterations, max_evaluations, max_error, min_delta, min_step } =
            self.criteria;
        check("max_iterations", max_iterations.into(), 1.0, 1e5, "1 to 100000")?;
        check("max_evaluations", max_evaluations.into(), 2.0, 1e6, "2 to 1000000")?;
        if let MaxError::PerPixel(bound) | MaxError::Total(bound) = max_error {
            check("max_error", bound, 0.0, f64::MAX, "0 or more, finite")?;
        }
        let below_one = 1.0 - f64::EPSILON;
        check("min_delta", min_delta, 0.0, below_one, "0 to 1, exclusive")?;
        check("min_step", min_step, 0.0, below_one, "0 to 1, exclusive")?;
        let Limits { centre_margin, sigma_min, sigma_max } = self.limits;
        check("centre_margin", centre_margin, 0.0, 1e3, "0 to 1000")?;
        check("sigma_min", sigma_min, 0.1, 1e3, "0.1 to 1000")?;
        if let Some(sigma_max) = sigma_max {
            let above = sigma_min * (1.0 + f64::EPSILON);
            check("sigma_max", sigma_max, above, 1e6, "above sigma_min, up to 1000000")?;
        }
        Ok(())
    }
}

/// Why a request cannot be carried out. What becomes of a single fit is never an error but a
/// [`crate::Status`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ArgumentError {
    /// The window is too small: both sides must be at least 3 and N at least 6.
    WindowTooSmall(Size),
    /// The window is too large: N must not exceed 2²⁴.
    WindowTooLarge(Size),
    /// The number of pixels given is not width × height.
    PixelCount {
        /// The window asked for.
        size: Size,
        /// The pixels given.
        pixels: usize,
    },
    /// Too little scratch memory was given.
    Scratch {
        /// How many numbers are needed.
        needed: usize,
        /// How many were given.
        given: usize,
    },
    /// The number of start values is not the number of windows.
    StartCount {
        /// The windows given.
        spots: usize,
        /// The starts given.
        given: usize,
    },
    /// The room for outcomes is not for as many as there are windows.
    OutputCount {
        /// The windows given.
        spots: usize,
        /// The outcomes there is room for.
        given: usize,
    },
    /// A window is not wholly within its frame, or there is no such frame.
    OutsideFrames {
        /// The number of the window, from 0.
        spot: usize,
        /// Where it should be cut.
        corner: Corner,
        /// Its size.
        size: Size,
        /// The number of frames.
        frames: usize,
        /// The size of a frame.
        frame: Size,
    },
    /// An option is out of its range.
    Option {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The values that are allowed, in words.
        range: &'static str,
    },
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WindowTooSmall(Size { width, height }) => write!(
                f,
                "a window of {width}×{height} pixels (width×height) is too small to fit: \
                 both sides must be at least 3 pixels"
            ),
            Self::WindowTooLarge(Size { width, height }) => write!(
                f,
                "a window of {width}×{height} pixels (width×height) is too large: \
                 at most {} pixels can be fitted",
                Size::MAX_PIXELS
            ),
            Self::PixelCount { size: Size { width, height }, pixels } => {
                write!(f, "a window of {width}×{height} needs {} pixels", width * height)?;
                write!(f, ", {pixels} given")
            }
            Self::Scratch { needed, given } => {
                write!(f, "the scratch memory holds {given} numbers, {needed} are needed")
            }
            Self::StartCount { spots, given } => {
                write!(f, "there are start values for {given} spots, but {spots} spots")
            }
            Self::OutputCount { spots, given } => {
                write!(f, "there is room for {given} outcomes, but there are {spots} spots")
            }
            Self::OutsideFrames { spot, corner, size, frames, frame } => {
                let Corner { frame: number, x, y } = corner;
                let Size { width, height } = size;
                let (columns, rows) = (frame.width, frame.height);
                write!(
                    f,
                    "the window {spot} of {width}x{height} pixels at column {x}, row {y} of frame \
                     {number} is not within {frames} frames of {columns}x{rows} pixels"
                )
            }
            Self::Option { name, value, range } => {
                write!(f, "{name} = {value} is out of its range ({range})")
            }
        }
    }
}

impl core::error::Error for ArgumentError {}

impl Size {
    /// The largest N: pixels are counted in single precision on some machines.
    pub const MAX_PIXELS: usize = 1 << 24;

    /// Checks that a window of this size can be fitted.
    ///
    /// # Errors
    /// [`ArgumentError::WindowTooSmall`] unless both sides are at least 3 and N ≥ 6;
    /// [`ArgumentError::WindowTooLarge`] above [`Size::MAX_PIXELS`].
    pub fn validate(self) -> Result<(), ArgumentError> {
        let Self { width, height } = self;
        if width < 3 || height < 3 || width.saturating_mul(height) < 6 {
            Err(ArgumentError::WindowTooSmall(self))
        } else if width.saturating_mul(height) > Self::MAX_PIXELS {
            Err(ArgumentError::WindowTooLarge(self))
        } else {
            Ok(())
        }
    }
}

/// [`Options`] checked and worked out for one window size and one arithmetic: made once, used for
/// every window of a batch.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Setup<R> {
    /// The window.
    pub size: Size,
    /// The option of that name.
    pub background: Background,
    pub(crate) max_iterations: R,
    pub(crate) max_evaluations: R,
    /// χ² bound in the units of the pixels squared, negative when there is none.
    pub(crate) max_error: R,
    pub(crate) min_delta: R,
    pub(crate) min_step: R,
    pub(crate) lower: Shape<R>,
    pub(crate) upper: Shape<R>,
}

impl<R: Real> Setup<R> {
    /// Checks the window and the options.
    ///
    /// # Errors
    /// See [`Size::validate`] and [`Options::validate`]; also [`ArgumentError::Option`] if
    /// `sigma_min` is not below the largest σ of this window.
    #[inline(always)]
    pub fn new(size: Size, options: &Options) -> Result<Self, ArgumentError> {
        size.validate()?;
        options.validate()?;
        let Options { criteria, background, limits } = *options;
        let longer = size.width.max(size.height) as f64;
        let sigma_max = limits.sigma_max.unwrap_or(longer);
        if limits.sigma_min >= sigma_max {
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
        let margin = limits.centre_margin;
        let shape = |x, y, sigma| Shape::new(R::splat(x), R::splat(y), R::splat(sigma));
        Ok(Self {
            size,
            background,
            max_iterations: R::splat(criteria.max_iterations.into()),
            max_evaluations: R::splat(criteria.max_evaluations.into()),
            max_error: R::splat(max_error),
            min_delta: R::splat(criteria.min_delta),
            min_step: R::splat(criteria.min_step),
            lower: shape(-margin, -margin, limits.sigma_min),
            upper: shape(
                (size.width - 1) as f64 + margin,
                (size.height - 1) as f64 + margin,
                sigma_max,
            ),
        })
    }

    /// The nearest shape within the limits; a parameter that is not a number becomes its lower
    /// limit.
    #[inline(always)]
    pub fn limit(&self, shape: Shape<R>) -> Shape<R> {
        let Self { lower, upper, .. } = self;
        Shape {
            x: shape.x.max(lower.x).min(upper.x),
            y: shape.y.max(lower.y).min(upper.y),
            sigma: shape.sigma.max(lower.sigma).min(upper.sigma),
        }
    }

    /// The `min_step` test of [`Criteria`] for a step `moved` that began at `from`.
    #[inline(always)]
    pub(crate) fn is_small(&self, from: Shape<R>, moved: &[R; 3]) -> R::Mask {
        let Shape { x, y, sigma } = from;
        moved[0].abs().lt(self.min_step * x.abs().max(sigma))
            & moved[1].abs().lt(self.min_step * y.abs().max(sigma))
            & moved[2].abs().lt(self.min_step * sigma)
    }
}
