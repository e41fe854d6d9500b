//! The outcome of a fit.

use core::fmt;
use core::str::FromStr;

use crate::arithmetic::Scalar;
use crate::camera::Camera;
use crate::pass::Found;
use crate::size::{Circle, Outline};

/// How a fit ended.
///
/// The names are the same in types, files and documents: [`Status::name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[repr(u8)]
#[non_exhaustive]
pub enum Status {
    /// χ² fell below the bound in the criteria.
    MaxError = 1,
    /// The last step reduced χ² by less than the share in the criteria.
    MinDelta = 2,
    /// The last step was shorter than the limit in the criteria.
    MinStep = 3,
    /// No step finds a smaller χ², and the decrease that the gradient predicts is below rounding:
    /// this is the minimum.
    Stalled = 4,
    /// The fit ended with a parameter on a limit (see [`crate::Limits`]), whichever criterion it met.
    AtLimit = 5,
    /// The iterations or evaluations allowed were used up.
    MaxIterations = 6,
    /// No step reduced χ², however strongly damped, though the gradient says that one should; or no pixel
    /// depends on a spot at the start values.
    NotConverged = 7,
    /// There is nothing to fit: a pixel or a start value is not finite, or all pixels are the same.
    Invalid = 8,
}

impl Status {
    /// Every status, in the order of their codes.
    pub const ALL: [Self; 8] = [
        Self::MaxError,
        Self::MinDelta,
        Self::MinStep,
        Self::Stalled,
        Self::AtLimit,
        Self::MaxIterations,
        Self::NotConverged,
        Self::Invalid,
    ];

    /// Whether the fit met one of its criteria, or cannot be improved.
    pub const fn is_converged(self) -> bool {
        matches!(self, Self::MaxError | Self::MinDelta | Self::MinStep | Self::Stalled)
    }

    /// The word used for this status in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MaxError => "max_error",
            Self::MinDelta => "min_delta",
            Self::MinStep => "min_step",
            Self::Stalled => "stalled",
            Self::AtLimit => "at_limit",
            Self::MaxIterations => "max_iterations",
            Self::NotConverged => "not_converged",
            Self::Invalid => "invalid",
        }
    }

    /// The code as a number, for arithmetic that keeps the status in a lane.
    pub(crate) const fn code(self) -> f64 {
        self as u8 as f64
    }

    /// The status with the given code, 1 to 8.
    pub const fn from_code(code: u8) -> Option<Self> {
        if code >= 1 && code <= 8 { Some(Self::ALL[code as usize - 1]) } else { None }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error of parsing a word that is not a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownStatus;

impl fmt::Display for UnknownStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no such status")
    }
}

impl core::error::Error for UnknownStatus {}

impl FromStr for Status {
    type Err = UnknownStatus;
    fn from_str(word: &str) -> Result<Self, UnknownStatus> {
        Self::ALL.into_iter().find(|status| status.name() == word).ok_or(UnknownStatus)
    }
}

/// The outcome of a fit with P parameters and L linear parameters: of one fit, or of one in each lane of a pack.
/// Counts and status are numbers like all others, one in each lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record<R, const P: usize, const L: usize> {
    /// The parameters that the fit searched for.
    pub parameters: [R; P],
    /// The linear parameters: amplitude and background.
    pub linear: [R; L],
    /// χ².
    pub cost: R,
    /// Passes of the outer loop.
    pub iterations: R,
    /// Visits to the pixels while searching.
    pub evaluations: R,
    /// The code of a [`Status`], 0 while searching.
    pub status: R,
}

impl<R, const P: usize, const L: usize> Record<R, P, L> {
    /// The same record with every number converted, for instance to the number of one lane.
    #[inline(always)]
    pub fn map<U>(&self, mut number: impl FnMut(&R) -> U) -> Record<U, P, L> {
        Record {
            parameters: self.parameters.each_ref().map(&mut number),
            linear: self.linear.each_ref().map(&mut number),
            cost: number(&self.cost),
            iterations: number(&self.iterations),
            evaluations: number(&self.evaluations),
            status: number(&self.status),
        }
    }
}

/// The outcome of one fit, in the units of the pixels.
///
/// Every number is finite unless the status is [`Status::Invalid`]; then all of them are NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(C)]
pub struct Fit<T> {
    /// Centre x̄ in pixels, 0 at the centre of the first pixel of a row.
    pub x: T,
    /// Centre ȳ in pixels, 0 at the centre of the first row.
    pub y: T,
    /// Standard deviation σ in pixels, > 0; of a spot that is not circular √(σxσy).
    pub sigma: T,
    /// Standard deviation σx in pixels, along the axis of the spot that is nearer to x.
    pub sigma_x: T,
    /// Standard deviation σy in pixels, along the axis of the spot that is nearer to y.
    pub sigma_y: T,
    /// The angle from x, towards y, to the axis of σx, in radians: above −π/4, up to π/4. 0 unless the shape is
    /// rotated.
    pub angle: T,
    /// Amplitude α in counts, or in photo-electrons if there is a camera ([`crate::Options::camera`]). Negative for a
    /// dark spot.
    pub amplitude: T,
    /// Background β in the same unit.
    pub background: T,
    /// What was minimized: χ² = Σ(h − g)² (eq. 2) in that unit squared, with weights if there are any; or the deviance.
    /// The largest number where that is beyond the range of numbers, and 0 where it is below.
    pub chi2: T,
    /// Passes of the outer loop (see [`crate::Criteria`]).
    pub iterations: u32,
    /// Visits to the pixels while searching (see [`crate::Criteria`]).
    pub evaluations: u32,
    /// How the fit ended.
    pub status: Status,
}

impl<T: Scalar> Fit<T> {
    /// The outcome where there is nothing to fit.
    #[inline(always)]
    pub fn invalid() -> Self {
        let nan = T::splat(f64::NAN);
        Self {
            x: nan,
            y: nan,
            sigma: nan,
            sigma_x: nan,
            sigma_y: nan,
            angle: nan,
            amplitude: nan,
            background: nan,
            chi2: nan,
            iterations: 0,
            evaluations: 0,
            status: Status::Invalid,
        }
    }

    /// The outcome of one fit from its numbers. It is invalid if amplitude or background overflow. A cost beyond the range
    /// of numbers, as χ² is for pixels beyond the root of the largest, becomes the largest.
    #[inline(always)]
    pub fn from_found(found: &Found<T>) -> Self {
        let Found { outline, linear: [amplitude, background], cost, .. } = *found;
        let Outline { x, y, sigma_x, sigma_y, angle } = outline;
        let invalid = T::splat(Status::Invalid.code()).le(found.status);
        let sound = (amplitude.abs() + background.abs()).is_finite() && cost.le(cost);
        if invalid || !sound {
            return Self::invalid();
        }
        Self {
            x,
            y,
            // A compiler sees that a circle has no root to take.
            sigma: if sigma_x < sigma_y || sigma_y < sigma_x {
                (sigma_x * sigma_y).sqrt()
            } else {
                sigma_x
            },
            sigma_x,
            sigma_y,
            angle,
            amplitude,
            background,
            chi2: cost.min(T::splat(largest(T::EPSILON))),
            iterations: found.iterations.to_f64() as u32,
            evaluations: found.evaluations.to_f64() as u32,
            status: Status::from_code(found.status.to_f64() as u8).unwrap_or(Status::NotConverged),
        }
    }

    /// The outcome of one fit of a circular spot.
    #[inline(always)]
    pub fn from_record(record: &Record<T, 3, 2>) -> Self {
        let Record { parameters: [x, y, sigma], linear, cost, iterations, evaluations, status } =
            *record;
        let outline = Circle::new(x, y, sigma).into();
        Self::from_found(&Found { outline, linear, cost, iterations, evaluations, status })
    }

    /// χ²/(N − 5), the paper's normalized χ²: an estimate of the noise variance of a pixel.
    ///
    /// `pixels` is the number of pixels N of the window, at least 6.
    pub fn normalized_chi2(&self, pixels: usize) -> T {
        self.chi2 / T::splat(pixels as f64 - 5.0)
    }

    /// The volume 2πασ² of the spot: its integrated signal in counts.
    pub fn signal(&self) -> T {
        T::splat(core::f64::consts::TAU) * self.amplitude * self.sigma * self.sigma
    }

    /// The photons of the spot: its volume 2πασ², converted from counts by `camera`. An outcome that is in
    /// photo-electrons already ([`crate::Options::camera`]) has its photons in [`Fit::signal`].
    pub fn photons(&self, camera: &Camera) -> T {
        T::splat(self.signal().to_f64() * camera.photons_per_adu())
    }

    /// The same outcome in another precision, rounded to nearest. A finite number beyond the
    /// range of `U` becomes the largest finite one.
    #[inline(always)]
    pub fn cast<U: Scalar>(&self) -> Fit<U> {
        let cast = |value: T| {
            let value = value.to_f64();
            let cast = U::splat(value);
            if value.is_finite() && !cast.is_finite() {
                U::splat(f64::from(f32::MAX).copysign(value))
            } else {
                cast
            }
        };
        Fit {
            x: cast(self.x),
            y: cast(self.y),
            sigma: cast(self.sigma),
            sigma_x: cast(self.sigma_x),
            sigma_y: cast(self.sigma_y),
            angle: cast(self.angle),
            amplitude: cast(self.amplitude),
            background: cast(self.background),
            chi2: cast(self.chi2),
            iterations: self.iterations,
            evaluations: self.evaluations,
            status: self.status,
        }
    }
}

/// The largest number of an arithmetic.
const fn largest(epsilon: f64) -> f64 {
    if epsilon < 1e-10 { f64::MAX } else { f32::MAX as f64 }
}

/// Room for outcomes in the precision that the caller wants.
#[derive(Debug)]
pub enum Outcomes<'a> {
    /// Single precision.
    F32(&'a mut [Fit<f32>]),
    /// Double precision.
    F64(&'a mut [Fit<f64>]),
}

impl<'a, T: Scalar> From<&'a mut [Fit<T>]> for Outcomes<'a> {
    fn from(fits: &'a mut [Fit<T>]) -> Self {
        T::outcomes(fits)
    }
}

impl Outcomes<'_> {
    /// The first `middle` outcomes, and the others.
    ///
    /// # Panics
    /// If there are fewer than `middle`.
    pub fn split_at(self, middle: usize) -> (Self, Self) {
        match self {
            Self::F32(fits) => {
                let (first, rest) = fits.split_at_mut(middle);
                (Self::F32(first), Self::F32(rest))
            }
            Self::F64(fits) => {
                let (first, rest) = fits.split_at_mut(middle);
                (Self::F64(first), Self::F64(rest))
            }
        }
    }

    /// The number of outcomes.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(fits) => fits.len(),
            Self::F64(fits) => fits.len(),
        }
    }

    /// Whether there is room for no outcome.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Outcomes in either precision.
#[derive(Clone, Copy, Debug)]
pub enum Fits<'a> {
    /// Single precision.
    F32(&'a [Fit<f32>]),
    /// Double precision.
    F64(&'a [Fit<f64>]),
}

impl<'a, T: Scalar> From<&'a [Fit<T>]> for Fits<'a> {
    fn from(fits: &'a [Fit<T>]) -> Self {
        T::fits(fits)
    }
}

impl Fits<'_> {
    /// The number of outcomes.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(fits) => fits.len(),
            Self::F64(fits) => fits.len(),
        }
    }

    /// Whether there is no outcome.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One outcome, in any precision; an invalid one where there is none.
    pub fn at<T: Scalar>(&self, index: usize) -> Fit<T> {
        match self {
            Self::F32(fits) => fits.get(index).map(Fit::cast),
            Self::F64(fits) => fits.get(index).map(Fit::cast),
        }
        .unwrap_or_else(Fit::invalid)
    }
}
