//! A Gaussian whose widths are known: x̄ and ȳ.

use super::{NUMBERS, Outlined, Separable};
use crate::arithmetic::Real;
use crate::error::{ArgumentError, check};
use crate::search::Coordinates;
use crate::search::solve::Symmetric;
use crate::size::{Outline, Size};
use crate::spot::axis::CENTRE_UNIT;
use crate::spot::limits::Limits;

/// A circular Gaussian of known width. Only its centre (x̄, ȳ) is fitted, in pixels.
///
/// ```
/// use fit_core::spot::shape::FixedSigma;
/// use fit_core::{Options, Shape};
///
/// let options = Options::default().with_shape(Shape::FixedSigma(FixedSigma { sigma: 1.3 }));
/// assert!(options.validate().is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FixedSigma {
    /// Standard deviation σ in pixels. Range: 0.1 to [`Limits::sigma_max`], at most 1000.
    pub sigma: f64,
}

/// An elliptical Gaussian of known widths along the axes of the image. Only its centre (x̄, ȳ) is fitted, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FixedSigmas {
    /// Standard deviation σx in pixels. Range: as [`FixedSigma::sigma`].
    pub sigma_x: f64,
    /// Standard deviation σy in pixels. Range: as [`FixedSigma::sigma`].
    pub sigma_y: f64,
}

/// A Gaussian whose widths are those of its start: each fit has its own σ, which must be given
/// (`Start`). Only its centre (x̄, ȳ) is fitted, in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GivenSigma;

/// A Gaussian of fixed widths: the same for all fits, or those of each start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fixed {
    /// σx and σy in pixels; `None` takes those of the start.
    pub(super) sigmas: Option<[f64; 2]>,
}

impl Coordinates<2> for Fixed {
    /// 1/σx and 1/σy.
    type TypicalSizes<R: Real> = [R; 2];
    /// σx and σy.
    type Constants<R: Real> = [R; 2];

    const UNITS: [f64; 2] = [CENTRE_UNIT; 2];

    #[inline(always)]
    fn typical_sizes<R: Real>(&self, sigmas: &[R; 2], _: &[R; 2]) -> [R; 2] {
        [sigmas[0].reciprocal(), sigmas[1].reciprocal()]
    }
    #[inline(always)]
    fn length<R: Real>(&self, sigmas: &[R; 2], _: &[R; 2], j: usize) -> R {
        sigmas[j]
    }
    #[inline(always)]
    fn inverse_length<R: Real>(typical_sizes: &[R; 2], j: usize) -> R {
        typical_sizes[j]
    }
}

impl Outlined<2> for Fixed {
    const PLACES: [Option<usize>; 5] = [Some(0), Some(1), None, None, None];
    fn validate(&self) -> Result<(), ArgumentError> {
        for sigma in self.sigmas.into_iter().flatten() {
            check("fixed_sigma", sigma, 0.1, 1e3, "0.1 to 1000 pixels")?;
        }
        Ok(())
    }
    fn validate_in(&self, size: Size, limits: &Limits) -> Result<(), ArgumentError> {
        self.validate()?;
        let longest = limits.sigma_max_in(size);
        for sigma in self.sigmas.into_iter().flatten() {
            let range = "in pixels, at most sigma_max or the longer side of the window";
            check("fixed_sigma", sigma, 0.1, longest, range)?;
        }
        Ok(())
    }
    fn numbers(&self) -> [f32; NUMBERS] {
        self.sigmas.map_or([0.0; 2], |sigmas| sigmas.map(|sigma| sigma as f32))
    }
    #[inline(always)]
    fn from_numbers(numbers: [f32; NUMBERS]) -> Self {
        let [x, y] = numbers;
        Self { sigmas: if x > 0.0 { Some([f64::from(x), f64::from(y)]) } else { None } }
    }
    #[inline(always)]
    fn parameters<R: Real>(&self, start: Outline<R>) -> ([R; 2], [R; 2]) {
        let (mut x, mut sigmas) = (start.x, [start.sigma_x, start.sigma_y]);
        match self.sigmas {
            Some([x, y]) => sigmas = [R::splat(x), R::splat(y)],
            None => {
                // A width that is no number makes a start that is none; one out of range becomes the nearest.
                x = (sigmas[0] + sigmas[1]).mul_add(R::splat(0.0), x);
                for i in 0..2 {
                    sigmas[i] = sigmas[i].max(R::splat(0.1)).min(R::splat(1e3));
                }
            }
        }
        ([x, start.y], sigmas)
    }
    #[inline(always)]
    fn outline<R: Real>(&self, sigmas: &[R; 2], &[x, y]: &[R; 2]) -> Outline<R> {
        Outline { x, y, sigma_x: sigmas[0], sigma_y: sigmas[1], angle: R::splat(0.0) }
    }
}

impl Separable<2> for Fixed {
    #[inline(always)]
    fn gather<R: Real>([x, y, ..]: [R; 4]) -> [R; 2] {
        [x, y]
    }
    #[inline(always)]
    fn gather_matrix<R: Real>(Symmetric(of): &Symmetric<R, 4>) -> Symmetric<R, 2> {
        let mut matrix = Symmetric::zero();
        matrix.0[0] = [of[0][0], of[0][1]];
        matrix.0[1][1] = of[1][1];
        matrix
    }
}
