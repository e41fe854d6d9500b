//! Conditioning of the pixels, so that single precision suffices.
//!
//! A camera adds a baseline that may be a thousand times the signal, and counts may be anything
//! from 10⁻⁶ to 10⁶. Before a window is fitted its pixels are therefore brought to
//! `g′ = s·g − o`, with a power of two `s` that makes their range lie in [2, 4) and the offset
//! `o = s·g₁` that takes the first pixel away. `s·g` is exact and the difference is rounded once relative
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
    /// The mean of the conditioned pixels, G/N.
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

/// How the parts of a window that lie in several lanes come together.
///
/// A machine that gives a window several lanes (the lanes of a register, the threads of a warp) supplies
/// its own; a machine with one lane a window has nothing to do ([`Alone`]).
pub trait Reduce<R: Real> {
    /// The first of the lanes, in every lane.
    fn first(&self, value: R) -> R;
    /// The sum over the lanes, in every lane.
    fn sum(&self, value: R) -> R;
    /// The least of the lanes, in every lane.
    fn min(&self, value: R) -> R;
    /// The greatest of the lanes, in every lane.
    fn max(&self, value: R) -> R;
}

/// One lane a window: nothing to reduce.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl<R: Real> Reduce<R> for Alone {
    #[inline(always)]
    fn first(&self, value: R) -> R {
        value
    }
    #[inline(always)]
    fn sum(&self, value: R) -> R {
        value
    }
    #[inline(always)]
    fn min(&self, value: R) -> R {
        value
    }
    #[inline(always)]
    fn max(&self, value: R) -> R {
        value
    }
}

/// Conditions the pixels of one window in place.
#[inline(always)]
pub fn condition<R: Real>(pixels: &mut [R]) -> Conditioning<R> {
    let count = pixels.len();
    condition_parts(pixels, count, R::Mask::splat(true), &Alone)
}

/// Conditions in place the pixels of one window that is spread over lanes: `count` pixels in all, and of
/// the last element only the lanes of `last` belong to the window (the others become 0). The first lane
/// of the first element does.
#[inline(always)]
pub fn condition_parts<R: Real>(
    pixels: &mut [R],
    count: usize,
    last: R::Mask,
    reduce: &impl Reduce<R>,
) -> Conditioning<R> {
    let n = R::splat(count as f64);
    let inverse_n = R::splat(1.0 / count as f64);
    let Some((tail, body)) = pixels.split_last_mut() else {
        return Conditioning::identity(&[]);
    };
    // What lanes that are not there count as, too.
    let first = reduce.first(body.first().copied().unwrap_or(*tail));
    *tail = R::select(last, *tail, first);
    let (mut low, mut high) = (*tail, *tail);
    for &pixel in body.iter() {
        low = pixel.min(low);
        high = pixel.max(high);
    }
    let (low, high) = (reduce.min(low), reduce.max(high));
    // Halves, because the difference of two finite numbers may not be finite.
    let half = R::splat(0.5);
    let scale = (high * half - low * half).normalizer();
    let offset = first * scale;

    // Lanes that are not there become zero: they are the first pixel.
    *tail = tail.mul_add(scale, -offset);
    let (mut sum, mut squares) = (*tail, *tail * *tail);
    for pixel in body.iter_mut() {
        *pixel = pixel.mul_add(scale, -offset);
        sum = sum + *pixel;
        squares = pixel.mul_add(*pixel, squares);
    }
    let (sum, squares) = (reduce.sum(sum), reduce.sum(squares));
    let mean = sum * inverse_n;
    Conditioning {
        n,
        inverse_n,
        mean,
        spread: squares - sum * mean,
        zero: -offset,
        scale,
        offset,
        // A pixel that is infinite or no number makes the sum so.
        usable: sum.is_finite() & low.lt(high),
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
