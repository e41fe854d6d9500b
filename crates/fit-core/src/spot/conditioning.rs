//! Conditioning of the pixels, so that single precision suffices.
//!
//! A camera adds a baseline that may be a thousand times the signal, and counts may be anything
//! from 10⁻⁶ to 10⁶. Before a window is fitted its pixels are therefore mapped to
//! `g′ = s·g − o`, with a power of two `s` that brings their range into [2, 4) and the offset
//! `o = s·g₁` that subtracts the first pixel. `s·g` is exact and the difference is rounded once relative
//! to its own size, so nothing is lost, whatever the baseline: all of eq. 5–9 then works on numbers
//! around one, no sum cancels because of the baseline, and α⁶ in the determinant of JᵀJ cannot
//! overflow. Scaling the pixels by 2ᵏ gives exactly the same g′.

use crate::arithmetic::{Mask, Real};
use crate::search::lane_state;

/// How the pixels of a window were conditioned, and the sums of the pixels alone.
#[derive(Clone, Copy, Debug)]
pub struct Conditioning<R: Real> {
    /// The number of pixels, N.
    pub n: R,
    /// 1/N.
    pub inverse_n: R,
    /// The mean of the conditioned pixels, G/N.
    pub mean: R,
    /// Σ(g′ − mean)²: χ² of the best constant.
    pub spread: R,
    /// The conditioned value of a dark pixel: of grey value 0, or of the camera's baseline ([`Conditioning::with_baseline`]).
    pub dark: R,
    /// The power of two s.
    pub scale: R,
    /// The offset o.
    pub offset: R,
    /// Whether the window can be fitted: all pixels are finite, and not all are the same.
    pub usable: R::Mask,
}

// The number of pixels is the same in every window of a batch; weights sum up to different numbers.
lane_state!(
    [R: Real] Conditioning<R>: n, inverse_n, mean, spread, dark, scale, offset; usable
);

/// What the conditioning is computed from: the first, the lowest and the highest pixel of a window.
#[derive(Clone, Copy, Debug)]
pub struct Extent<R> {
    /// The first pixel.
    pub first: R,
    /// The lowest.
    pub low: R,
    /// The highest.
    pub high: R,
}

impl<R: Real> Extent<R> {
    /// The extent of a single pixel.
    #[inline(always)]
    pub fn new(first: R) -> Self {
        Self { first, low: first, high: first }
    }

    /// Includes another pixel.
    #[inline(always)]
    pub fn add(&mut self, pixel: R) {
        self.low = pixel.min(self.low);
        self.high = pixel.max(self.high);
    }

    /// The extent of the conditioned pixels: rounding keeps their order.
    #[inline(always)]
    pub fn conditioned(&self) -> Self {
        let (scale, offset) = self.scaling();
        Self {
            first: self.first.mul_add(scale, -offset),
            low: self.low.mul_add(scale, -offset),
            high: self.high.mul_add(scale, -offset),
        }
    }

    /// Scale s and offset o of the window: a pixel g becomes g·s − o.
    #[inline(always)]
    pub fn scaling(&self) -> (R, R) {
        // Halves, because the difference of two finite numbers may not be finite.
        let half = R::splat(0.5);
        let scale = (self.high * half - self.low * half).normalizer();
        (scale, self.first * scale)
    }
}

impl<R: Real> Conditioning<R> {
    /// The conditioning of a window of `count` pixels from its extent, and the sum of the conditioned
    /// pixels and of their squares.
    #[inline(always)]
    pub fn new(count: usize, extent: &Extent<R>, sum: R, squares: R) -> Self {
        let inverse_n = R::splat(1.0 / count as f64);
        let mean = sum * inverse_n;
        let (scale, offset) = extent.scaling();
        Self {
            n: R::splat(count as f64),
            inverse_n,
            mean,
            spread: sum.neg_mul_add(mean, squares),
            dark: -offset,
            scale,
            offset,
            // A pixel that is infinite or no number makes the sum so.
            usable: sum.is_finite() & extent.low.lt(extent.high),
        }
    }

    /// The conditioning that leaves the pixels as they are.
    ///
    /// With it [`super::assembly`] works on raw data; with a large baseline the sums then cancel.
    pub fn identity(pixels: &[R]) -> Self {
        let zero = R::splat(0.0);
        let (mut sum, mut squares) = (zero, zero);
        for &pixel in pixels {
            sum = sum + pixel;
            squares = pixel.mul_add(pixel, squares);
        }
        Self::raw(pixels.len(), sum, squares, R::Mask::splat(true))
    }

    /// [`Conditioning::identity`] from the sum of the pixels and of their squares, and whether the window
    /// can be fitted.
    #[inline(always)]
    pub fn raw(count: usize, sum: R, squares: R, usable: R::Mask) -> Self {
        let inverse_n = R::splat(1.0 / count as f64);
        let zero = R::splat(0.0);
        Self {
            n: R::splat(count as f64),
            inverse_n,
            mean: sum * inverse_n,
            spread: squares - sum * sum * inverse_n,
            dark: zero,
            scale: R::splat(1.0),
            offset: zero,
            usable,
        }
    }

    /// An amplitude in the units of the pixels.
    #[inline(always)]
    pub fn amplitude(&self, alpha: R) -> R {
        alpha * self.scale.reciprocal()
    }

    /// The same where a dark pixel has this value.
    #[inline(always)]
    pub fn with_baseline(self, baseline: R) -> Self {
        // The product is exact.
        Self { dark: baseline * self.scale - self.offset, ..self }
    }

    /// A background in the units of the pixels, above a dark pixel. It keeps its precision whatever the baseline, since
    /// no number as large as that is formed.
    #[inline(always)]
    pub fn background(&self, beta: R) -> R {
        (beta - self.dark) * self.scale.reciprocal()
    }

    /// A χ² in the units of the pixels squared.
    #[inline(always)]
    pub fn chi2(&self, chi2: R) -> R {
        let unit = self.scale.reciprocal();
        chi2 * unit * unit
    }
}
