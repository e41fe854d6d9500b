//! The errors of a fit: standard deviations and covariances of its parameters, and how well the model fits.

use crate::arithmetic::Scalar;
use crate::outcome::{Fit, Status};
use crate::pass::Judged;

/// The parameters of a fit, in the order of [`Errors::covariance`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Parameter {
    /// Centre x̄.
    X,
    /// Centre ȳ.
    Y,
    /// Standard deviation σx; of a circular spot σ.
    SigmaX,
    /// Standard deviation σy; of a circular spot σ.
    SigmaY,
    /// Angle.
    Angle,
    /// Amplitude α.
    Amplitude,
    /// Background β.
    Background,
}

impl Parameter {
    /// All parameters, in order.
    pub const ALL: [Self; 7] = [
        Self::X,
        Self::Y,
        Self::SigmaX,
        Self::SigmaY,
        Self::Angle,
        Self::Amplitude,
        Self::Background,
    ];
}

/// How many parameters there are.
const PARAMETERS: usize = Parameter::ALL.len();
/// How many different elements a covariance has.
const PACKED: usize = PARAMETERS * (PARAMETERS + 1) / 2;

/// The number, or infinity for what is none.
fn finite<T: Scalar>(value: T) -> T {
    if value.is_finite() { value } else { T::splat(f64::INFINITY) }
}

/// The errors of one fit, in the units of its outcome: pixels, radians and photo-electrons, or counts, taken for
/// photo-electrons, where no camera was given.
///
/// They are what the noise of photons and camera makes of this estimator ([`crate::pass::Judge`] has the formulas): the
/// Cramér–Rao bound for maximum likelihood, the sandwich A⁻¹BA⁻¹ for least squares; with EM gain twice the variance.
/// A parameter that is not fitted has an error of 0; one that the pixels say nothing about has an infinite one.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(C)]
pub struct Errors<T> {
    /// The upper half of the covariance, row after row.
    covariance: [T; PACKED],
    /// Standard error of the photons 2πασxσy.
    pub photons: T,
    /// Pearson's χ² per degree of freedom, Σ(d − μ)²/(εμ + v)/(N − P): about 1 where the model fits and the noise is
    /// that of the camera.
    pub goodness: T,
    /// By how many standard deviations Pearson's χ² is above what noise alone makes.
    pub excess: T,
    /// Whether the errors say that the fit does not know where the spot is: they are infinite, or those of the centre
    /// are larger than the spot.
    pub exploding: bool,
}

impl<T: Scalar> Errors<T> {
    /// The errors where nothing was fitted: infinite. The goodness is infinite too.
    pub fn unknown() -> Self {
        let endless = T::splat(f64::INFINITY);
        Self {
            covariance: [endless; PACKED],
            photons: endless,
            goodness: endless,
            excess: endless,
            exploding: true,
        }
    }

    /// The errors of a fit of `parameters` parameters (with α and β) that was judged.
    #[inline(always)]
    pub fn from_judged(judged: &Judged<T>, fit: &Fit<T>, parameters: usize) -> Self {
        let mut errors = Self::unknown();
        if fit.status == Status::Invalid {
            return errors;
        }
        let Judged { covariance, pearson, spread, seen } = *judged;
        let (zero, one) = (T::splat(0.0), T::splat(1.0));
        let freedom = (seen - T::splat(parameters as f64)).max(one);
        errors.goodness = finite(pearson / freedom);
        errors.excess = finite((pearson - freedom) / spread.max(one).sqrt());
        if (0..PARAMETERS).any(|j| !covariance.0[j][j].is_finite() || covariance.0[j][j] < zero) {
            return errors;
        }
        let rows = (0..PARAMETERS).flat_map(|j| (j..PARAMETERS).map(move |k| (j, k)));
        for (to, (j, k)) in errors.covariance.iter_mut().zip(rows) {
            *to = covariance.0[j][k];
        }
        // ln(2πασxσy) = ln α + ln σx + ln σy + ln 2π.
        let Fit { sigma_x, sigma_y, amplitude, .. } = *fit;
        let factors = [
            (Parameter::SigmaX, sigma_x),
            (Parameter::SigmaY, sigma_y),
            (Parameter::Amplitude, amplitude),
        ];
        let mut relative = zero;
        for (a, by) in factors {
            for (b, other) in factors {
                relative = relative + errors.covariance(a, b) / (by * other);
            }
        }
        let photons = T::splat(core::f64::consts::TAU) * amplitude * sigma_x * sigma_y;
        errors.photons = finite(relative.max(zero).sqrt() * photons.abs());
        let width = sigma_x.max(sigma_y);
        errors.exploding =
            !(errors.x() < width && errors.y() < width && errors.photons.is_finite());
        errors
    }

    /// The covariance of two parameters.
    pub fn covariance(&self, a: Parameter, b: Parameter) -> T {
        let (a, b) = (a as usize, b as usize);
        let (j, k) = if a < b { (a, b) } else { (b, a) };
        self.covariance[j * (2 * PARAMETERS - j - 1) / 2 + k]
    }

    /// The standard error of a parameter.
    pub fn of(&self, parameter: Parameter) -> T {
        self.covariance(parameter, parameter).sqrt()
    }

    /// Standard error of x̄ in pixels.
    pub fn x(&self) -> T {
        self.of(Parameter::X)
    }

    /// Standard error of ȳ in pixels.
    pub fn y(&self) -> T {
        self.of(Parameter::Y)
    }

    /// The same errors in another precision, rounded to nearest.
    #[inline(always)]
    pub fn cast<U: Scalar>(&self) -> Errors<U> {
        let cast = |value: T| U::splat(value.to_f64());
        Errors {
            covariance: self.covariance.map(cast),
            photons: cast(self.photons),
            goodness: cast(self.goodness),
            excess: cast(self.excess),
            exploding: self.exploding,
        }
    }
}
