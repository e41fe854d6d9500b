//! Start values of the fits of a batch.

use crate::arithmetic::Number;
use crate::error::ArgumentError;
use crate::size::Outline;

/// Where the fits of a batch start: from the paper's estimate, or from x, y and σ, or a whole outline, given for each
/// window (pixels, in the window's own coordinates).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Start<'a> {
    /// The paper's estimate ([`crate::estimate`]).
    #[default]
    Estimate,
    /// One `[x, y, sigma]` for each window, in single precision.
    F32(&'a [[f32; 3]]),
    /// One `[x, y, sigma]` for each window, in double precision.
    F64(&'a [[f64; 3]]),
    /// One `[x, y, sigma_x, sigma_y, angle]` for each window ([`Outline`]).
    Outlines(&'a [[f64; 5]]),
}

impl Start<'_> {
    /// Checks that there is a start for each of `spots` windows.
    ///
    /// # Errors
    /// [`ArgumentError::StartCount`].
    pub fn validate(&self, spots: usize) -> Result<(), ArgumentError> {
        let given = match self {
            Self::Estimate => return Ok(()),
            Self::F32(starts) => starts.len(),
            Self::F64(starts) => starts.len(),
            Self::Outlines(starts) => starts.len(),
        };
        if given == spots { Ok(()) } else { Err(ArgumentError::StartCount { spots, given }) }
    }

    /// Checks that each of the `spots` windows of a batch has a start and room for an outcome.
    ///
    /// # Errors
    /// [`ArgumentError::StartCount`], [`ArgumentError::OutputCount`].
    pub fn validate_batch(&self, spots: usize, outcomes: usize) -> Result<(), ArgumentError> {
        self.validate(spots)?;
        if outcomes == spots {
            Ok(())
        } else {
            Err(ArgumentError::OutputCount { spots, given: outcomes })
        }
    }

    /// The start of the fit with the given index; `None` if it has to be estimated.
    #[inline(always)]
    pub fn outline<R: Number>(&self, index: usize) -> Option<Outline<R>> {
        match self {
            Self::Estimate => None,
            Self::F32(starts) => starts.get(index).map(|s| s.map(f64::from)).map(circle),
            Self::F64(starts) => starts.get(index).copied().map(circle),
            Self::Outlines(starts) => starts.get(index).copied(),
        }
        .map(|[x, y, sigma_x, sigma_y, angle]| Outline {
            x: R::splat(x),
            y: R::splat(y),
            sigma_x: R::splat(sigma_x),
            sigma_y: R::splat(sigma_y),
            angle: R::splat(angle),
        })
    }
}

fn circle([x, y, sigma]: [f64; 3]) -> [f64; 5] {
    [x, y, sigma, sigma, 0.0]
}
