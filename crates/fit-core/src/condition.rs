//! Conditioning of the pixels, so that single precision suffices.
//!
//! A camera adds a baseline that may be a thousand times the signal, and counts may be anything
//! from 10⁻⁶ to 10⁶. Before a window is fitted its pixels are therefore brought to
//! `g′ = s·g − o`, with a power of two `s` that makes their range lie in [2, 4) and an offset `o`
//! that makes their mean (nearly) zero. `s·g` is exact and the difference is rounded once relative
//! to its own size, so nothing is lost, whatever the baseline: all of eq. 5–9 then works on numbers
//! around one, no sum cancels for the sake of the baseline, and α⁶ in the determinant of JᵀJ cannot
//! overflow. Scaling the pixels by 2ᵏ gives the very same g′.

use crate::real::{Mask, Real};

/// How the pixels of a window were conditioned, and their sums, which no parameter changes.
#[derive(Clone, Copy, Debug)]
pub struct Conditioning<R: Real> {
    /// The number of pixels, N.
    pub n: R,
    /// 1/N.
    pub inverse_n: R,
    /// The mean of the conditioned pixels, G/N: zero up to rounding.
    pub mean: R,
    /// Σ(g′ − mean)²: χ² of the best constant.
    pub spread: R,
    /// What the grey value 0 became.
    pub zero: R,
    /// The power of two s.
    pub scale: R,
    /// The offset o.
    pub offset: R,
    /// Whether there is something to fit: all pixels finite, and not all the same.
    pub usable: R::Mask,
}

/// Sums that are kept side by side, so that a processor can add several pixels at a time. Part of the
/// definition of the sums: changing it changes the last digits of every fit.
const STRIDE: usize = 16;

/// Folds the pixels side by side, and then the partial results.
#[inline(always)]
fn fold<R: Real, A: Copy>(
    pixels: &[R],
    start: A,
    mut add: impl FnMut(A, R) -> A,
    merge: impl Fn(A, A) -> A,
) -> A {
    let mut parts = [start; STRIDE];
    let (blocks, rest) = pixels.as_chunks::<STRIDE>();
    for block in blocks {
        for i in 0..STRIDE {
            parts[i] = add(parts[i], block[i]);
        }
    }
    for (part, &pixel) in parts.iter_mut().zip(rest) {
        *part = add(*part, pixel);
    }
    let mut half = STRIDE / 2;
    while half > 0 {
        for i in 0..half {
            parts[i] = merge(parts[i], parts[i + half]);
        }
        half /= 2;
    }
    parts[0]
}

/// Conditions the pixels of one window in place.
#[inline(always)]
pub fn condition<R: Real>(pixels: &mut [R]) -> Conditioning<R> {
    let zero = R::splat(0.0);
    let first = pixels.first().copied().unwrap_or(zero);
    let low = fold(pixels, first, |low, pixel| pixel.min(low), |a, b| a.min(b));
    let high = fold(pixels, first, |high, pixel| pixel.max(high), |a, b| a.max(b));
    // Zero, unless a pixel is infinite or no number.
    let odd = fold(pixels, zero, |odd, pixel| odd + (pixel - pixel), |a, b| a + b);
    // Halves, because the difference of two finite numbers may not be finite.
    let half = R::splat(0.5);
    let scale = (high * half - low * half).normalizer();
    let low_scaled = low * scale;

    let n = R::splat(pixels.len() as f64);
    let inverse_n = R::splat(1.0 / pixels.len() as f64);
    let add = |sum: R, pixel: R| sum + (pixel * scale - low_scaled);
    let offset = low_scaled + fold(pixels, zero, add, |a, b| a + b) * inverse_n;

    for pixel in pixels.iter_mut() {
        *pixel = *pixel * scale - offset;
    }
    let sum = fold(pixels, zero, |sum, pixel| sum + pixel, |a, b| a + b);
    let squares = fold(pixels, zero, |sum, pixel| pixel.mul_add(pixel, sum), |a, b| a + b);
    let mean = sum * inverse_n;
    Conditioning {
        n,
        inverse_n,
        mean,
        spread: squares - sum * mean,
        zero: -offset,
        scale,
        offset,
        usable: odd.is_finite() & low.lt(high),
    }
}

impl<R: Real> Conditioning<R> {
    /// The conditioning that changes nothing, for pixels that are to be taken as they are.
    ///
    /// It makes [`crate::normal`] usable on raw data; with a large baseline the sums then cancel.
    pub fn identity(pixels: &[R]) -> Self {
        let zero = R::splat(0.0);
        let (mut sum, mut squares) = (zero, zero);
        for &pixel in pixels {
            sum = sum + pixel;
            squares = pixel.mul_add(pixel, squares);
        }
        let inverse_n = R::splat(1.0 / pixels.len() as f64);
        Self {
            n: R::splat(pixels.len() as f64),
            inverse_n,
            mean: sum * inverse_n,
            spread: squares - sum * sum * inverse_n,
            zero,
            scale: R::splat(1.0),
            offset: zero,
            usable: R::Mask::splat(true),
        }
    }

    /// An amplitude in the units of the pixels.
    #[inline(always)]
    pub fn amplitude(&self, alpha: R) -> R {
        alpha / self.scale
    }

    /// A background in the units of the pixels.
    #[inline(always)]
    pub fn background(&self, beta: R) -> R {
        (beta + self.offset) / self.scale
    }

    /// A χ² in the units of the pixels squared.
    #[inline(always)]
    pub fn chi2(&self, chi2: R) -> R {
        chi2 / self.scale / self.scale
    }
}
