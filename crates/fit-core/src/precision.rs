//! The errors of a fit: standard deviations and covariances of its parameters, and how well the model fits.

use crate::outcome::{Fit, Scalar};
use crate::pass::ErrorEstimate;
use crate::status::Status;

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
fn finite(value: f64) -> f32 {
    if value.is_nan() { f32::INFINITY } else { value as f32 }
}

/// The errors of one fit, in the units of its outcome: pixels, radians and photo-electrons, or counts, taken for
/// photo-electrons, where no camera was given.
///
/// They are the errors of this estimator due to the noise of photons and camera (`pass::CovarianceEstimator`
/// has the formulas): the Cramér–Rao bound for maximum likelihood, the sandwich estimator A⁻¹BA⁻¹ for least squares;
/// with EM gain twice the variance. A parameter that is not fitted has an error of 0; one that the pixels do not
/// determine has an infinite error.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(C)]
pub struct Errors {
    /// The upper half of the covariance, row after row.
    covariance: [f32; PACKED],
    /// Standard error of the photons 2πασxσy.
    pub photons: f32,
    /// Pearson's χ² per degree of freedom, Σ(d − μ)²/(εμ + v)/(N − P): about 1 if the model fits and the noise is that
    /// of the camera.
    pub goodness: f32,
    /// By how many standard deviations Pearson's χ² exceeds its value for pure noise.
    pub excess: f32,
    /// Whether the position of the spot is not determined: errors are infinite, or those of the centre are larger than
    /// the spot.
    pub exploding: bool,
}

impl Errors {
    /// The errors if nothing was fitted: infinite. The goodness is infinite, too.
    pub fn unknown() -> Self {
        let endless = f32::INFINITY;
        Self {
            covariance: [endless; PACKED],
            photons: endless,
            goodness: endless,
            excess: endless,
            exploding: true,
        }
    }

    /// The errors of a fit of `parameters` parameters (with α and β), from what `pass::CovarianceEstimator` found.
    #[inline(always)]
    pub fn from_estimate<T: Scalar>(
        estimate: &ErrorEstimate<T>,
        fit: &Fit<T>,
        parameters: usize,
    ) -> Self {
        let mut errors = Self::unknown();
        if fit.status == Status::Invalid {
            return errors;
        }
        let [pearson, spread, seen] =
            [estimate.pearson, estimate.spread, estimate.seen].map(T::to_f64);
        let freedom = (seen - parameters as f64).max(1.0);
        errors.goodness = finite(pearson / freedom);
        errors.excess = finite((pearson - freedom) / libm::sqrt(spread.max(1.0)));
        let rows = (0..PARAMETERS).flat_map(|j| (j..PARAMETERS).map(move |k| (j, k)));
        let mut covariance = [0.0; PACKED];
        for (to, (j, k)) in covariance.iter_mut().zip(rows) {
            let known = estimate.covariance.0[j][k].to_f64() as f32;
            if !known.is_finite() || (j == k && known < 0.0) {
                return errors;
            }
            *to = known;
        }
        errors.covariance = covariance;
        // ln(2πασxσy) = ln α + ln σx + ln σy + ln 2π.
        let Fit { sigma_x, sigma_y, amplitude, .. } = fit.cast::<f64>();
        let factors = [
            (Parameter::SigmaX, sigma_x),
            (Parameter::SigmaY, sigma_y),
            (Parameter::Amplitude, amplitude),
        ];
        let mut relative = 0.0;
        for (a, by) in factors {
            for (b, other) in factors {
                relative += f64::from(errors.covariance(a, b)) / (by * other);
            }
        }
        let photons = core::f64::consts::TAU * amplitude * sigma_x * sigma_y;
        errors.photons = finite(libm::sqrt(relative.max(0.0)) * libm::fabs(photons));
        let width = sigma_x.max(sigma_y) as f32;
        let found = errors.x() < width && errors.y() < width;
        errors.exploding = !(found && errors.photons.is_finite());
        errors
    }

    /// All numbers, as they lie in memory: the upper half of the covariance, row after row, and the other fields but the
    /// last.
    #[inline(always)]
    pub fn numbers(&self) -> [f32; 31] {
        let Self { covariance, photons, goodness, excess, .. } = self;
        let mut numbers = [*photons; 31];
        numbers[..PACKED].copy_from_slice(covariance);
        (numbers[PACKED + 1], numbers[PACKED + 2]) = (*goodness, *excess);
        numbers
    }

    /// The covariance of two parameters.
    pub fn covariance(&self, a: Parameter, b: Parameter) -> f32 {
        let (a, b) = (a as usize, b as usize);
        let (j, k) = if a < b { (a, b) } else { (b, a) };
        self.covariance[j * (2 * PARAMETERS - j - 1) / 2 + k]
    }

    /// The standard error of a parameter.
    pub fn of(&self, parameter: Parameter) -> f32 {
        libm::sqrtf(self.covariance(parameter, parameter))
    }

    /// Standard error of x̄ in pixels.
    pub fn x(&self) -> f32 {
        self.of(Parameter::X)
    }

    /// Standard error of ȳ in pixels.
    pub fn y(&self) -> f32 {
        self.of(Parameter::Y)
    }
}
