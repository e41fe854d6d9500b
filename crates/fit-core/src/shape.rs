//! The shape parameters p⃗ = [x̄, ȳ, σ] of a spot and the window they live in.

use crate::real::Real;

/// Width and height of a window in pixels.
///
/// x runs along a row (the fastest index), y along the rows; pixel centres are integers and (0, 0)
/// is the centre of the first pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Size {
    /// Pixels in a row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
}

impl Size {
    /// A window of `width` × `height` pixels.
    pub const fn new(width: usize, height: usize) -> Self {
        Self { width, height }
    }

    /// The number of pixels, N.
    pub const fn pixels(self) -> usize {
        self.width * self.height
    }
}

/// The parameters of eq. 10 that are searched for: centre (x̄, ȳ) and standard deviation σ, in
/// pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Shape<R> {
    /// Centre along the rows, x̄.
    pub x: R,
    /// Centre across the rows, ȳ.
    pub y: R,
    /// Standard deviation σ of the spot.
    pub sigma: R,
}

impl<R: Real> Shape<R> {
    /// Centre and standard deviation.
    pub const fn new(x: R, y: R, sigma: R) -> Self {
        Self { x, y, sigma }
    }

    /// `yes` in the lanes where `mask` is true, `no` in the others.
    #[inline(always)]
    pub fn select(mask: R::Mask, yes: Self, no: Self) -> Self {
        Self {
            x: R::select(mask, yes.x, no.x),
            y: R::select(mask, yes.y, no.y),
            sigma: R::select(mask, yes.sigma, no.sigma),
        }
    }

    /// Whether all three parameters are finite.
    #[inline(always)]
    pub fn is_finite(self) -> R::Mask {
        self.x.is_finite() & self.y.is_finite() & self.sigma.is_finite()
    }
}
