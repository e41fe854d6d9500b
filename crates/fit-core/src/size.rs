//! The size of a window, and the shape parameters p⃗ = [x̄, ȳ, σ] of a spot.

use crate::arithmetic::Real;

/// Width and height of a window in pixels.
///
/// x runs along a row (the fastest index), y along the rows; pixel centres are integers and (0, 0)
/// is the centre of the first pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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

    /// The number of pixels, N; `usize::MAX` if it overflows.
    pub const fn pixels(self) -> usize {
        self.width.saturating_mul(self.height)
    }

    /// The largest N, since some backends count pixels in single precision.
    pub const MAX_PIXELS: usize = 1 << 24;
}

/// The parameters of eq. 10 that a fit searches for: centre (x̄, ȳ) and standard deviation σ, in
/// pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Circle<R> {
    /// Centre along the rows, x̄.
    pub x: R,
    /// Centre across the rows, ȳ.
    pub y: R,
    /// Standard deviation σ of the spot.
    pub sigma: R,
}

/// Centre, widths and angle of a spot of any shape, in pixels and radians.
///
/// f = e^(−u²/2σx² − v²/2σy²) with u = cos(angle)·(x − x̄) + sin(angle)·(y − ȳ) and
/// v = −sin(angle)·(x − x̄) + cos(angle)·(y − ȳ).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outline<R> {
    /// Centre along the rows, x̄.
    pub x: R,
    /// Centre across the rows, ȳ.
    pub y: R,
    /// Standard deviation σx, along the axis that `angle` turns away from x.
    pub sigma_x: R,
    /// Standard deviation σy, along the axis that `angle` turns away from y.
    pub sigma_y: R,
    /// From x towards y, in radians.
    pub angle: R,
}

impl<R: Real> Outline<R> {
    /// Whether all parameters are finite.
    #[inline(always)]
    pub fn is_finite(&self) -> R::Mask {
        let Self { x, y, sigma_x, sigma_y, angle } = *self;
        x.is_finite()
            & y.is_finite()
            & sigma_x.is_finite()
            & sigma_y.is_finite()
            & angle.is_finite()
    }
}

impl<R: Real> From<Circle<R>> for Outline<R> {
    #[inline(always)]
    fn from(Circle { x, y, sigma }: Circle<R>) -> Self {
        Self { x, y, sigma_x: sigma, sigma_y: sigma, angle: R::splat(0.0) }
    }
}

impl<R: Real> Circle<R> {
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
