//! Where the fits of a batch start.

use crate::options::ArgumentError;
use crate::real::Scalar;
use crate::shape::Shape;

/// Where the fits of a batch start: from the paper's estimate, or from x, y and σ given for each
/// window (pixels, in the window's own coordinates).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Start<'a> {
    /// The paper's estimate ([`crate::estimate`]).
    #[default]
    Estimate,
    /// One `[x, y, sigma]` for each window, in single precision.
    F32(&'a [[f32; 3]]),
    /// One `[x, y, sigma]` for each window, in double precision.
    F64(&'a [[f64; 3]]),
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
        };
        if given == spots { Ok(()) } else { Err(ArgumentError::StartCount { spots, given }) }
    }

    /// The start of the fit with the given index; `None` where it is to be estimated.
    #[inline(always)]
    pub fn shape<R: Scalar>(&self, index: usize) -> Option<Shape<R>> {
        match self {
            Self::Estimate => None,
            Self::F32(starts) => starts.get(index).map(|s| s.map(f64::from)),
            Self::F64(starts) => starts.get(index).copied(),
        }
        .map(|[x, y, sigma]| Shape::new(R::splat(x), R::splat(y), R::splat(sigma)))
    }

    /// The starts of a part of the batch.
    ///
    /// # Panics
    /// If the range is out of bounds.
    #[must_use]
    pub fn range(&self, range: core::ops::Range<usize>) -> Self {
        match self {
            Self::Estimate => Self::Estimate,
            Self::F32(starts) => Self::F32(&starts[range]),
            Self::F64(starts) => Self::F64(&starts[range]),
        }
    }
}
