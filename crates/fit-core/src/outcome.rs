//! The outcome of a fit.

use crate::arithmetic::{Number, sealed};
use crate::camera::Camera;
use crate::status::Status;

/// The precisions of outcomes: `f32` and `f64`, and no others.
pub trait Scalar: Number + sealed::Sealed {
    /// Turns a slice of outcomes of this precision into [`Outcomes`].
    #[doc(hidden)]
    fn outcomes(fits: &mut [Fit<Self>]) -> Outcomes<'_>;
    /// Turns a slice of outcomes of this precision into [`Fits`].
    #[doc(hidden)]
    fn fits(fits: &[Fit<Self>]) -> Fits<'_>;
    /// Something made in this precision.
    #[doc(hidden)]
    fn make<M: Make>(of: M) -> M::Of<Self>;
}

/// Something that can be made in either precision, by code that is compiled once and not again in each caller.
#[doc(hidden)]
pub trait Make {
    /// What is made.
    type Of<T: Scalar>;
    /// In single precision.
    fn f32(self) -> Self::Of<f32>;
    /// In double precision.
    fn f64(self) -> Self::Of<f64>;
}

macro_rules! scalar {
    ($type:ident, $outcomes:ident) => {
        impl Scalar for $type {
            fn outcomes(fits: &mut [Fit<Self>]) -> Outcomes<'_> {
                Outcomes::$outcomes(fits)
            }
            fn fits(fits: &[Fit<Self>]) -> Fits<'_> {
                Fits::$outcomes(fits)
            }
            fn make<M: Make>(of: M) -> M::Of<Self> {
                of.$type()
            }
        }
    };
}
scalar!(f32, F32);
scalar!(f64, F64);

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
    /// Standard deviation σ in pixels, > 0; √(σxσy) for a spot that is not circular.
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
    /// Background β in the same unit; of a plane ([`crate::Background::Plane`]) its value at the spot's centre.
    pub background: T,
    /// The slope of the background by x, in that unit per pixel; 0 unless it is a plane.
    #[cfg_attr(feature = "serde", serde(default))]
    pub offset_x: T,
    /// The slope of the background by y.
    #[cfg_attr(feature = "serde", serde(default))]
    pub offset_y: T,
    /// The minimized quantity: χ² = Σ(h − g)² (eq. 2) in that unit squared, with weights if there are any; or the
    /// deviance. Values beyond the range of numbers become the largest number, or 0.
    pub chi2: T,
    /// Passes of the outer loop (see [`crate::Criteria`]).
    pub iterations: u32,
    /// Visits to the pixels while searching (see [`crate::Criteria`]).
    pub evaluations: u32,
    /// How the fit ended.
    pub status: Status,
}

impl<T: Scalar> Fit<T> {
    /// The outcome if there is nothing to fit.
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
            offset_x: nan,
            offset_y: nan,
            chi2: nan,
            iterations: 0,
            evaluations: 0,
            status: Status::Invalid,
        }
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

    /// The photons of the spot: its volume 2πασ², converted from counts by `camera`. For an outcome that is already in
    /// photo-electrons ([`crate::Options::camera`]), use [`Fit::signal`].
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
            offset_x: cast(self.offset_x),
            offset_y: cast(self.offset_y),
            chi2: cast(self.chi2),
            iterations: self.iterations,
            evaluations: self.evaluations,
            status: self.status,
        }
    }
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
