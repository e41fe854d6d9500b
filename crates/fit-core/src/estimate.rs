//! The paper's initial estimate.

use crate::real::Real;
use crate::shape::{Shape, Size};

/// Estimates centre and σ of the spot in a window as the paper does.
///
/// The window is smoothed by a moving average of 3×3 pixels; the centre is the brightest pixel of
/// the smoothed window, the first of them in reading order. With β the lowest and β + α the highest
/// pixel, σ = √(M/π) with M the number of pixels above α·e^(−1/2) + β.
///
/// At the border the average is over the pixels that exist: 6 at an edge, 4 in a corner. A spot at
/// the border thus competes on equal terms, where padding with zeros would push it inwards.
///
/// `pixels` are the rows of the window, one after the other. With fewer of them than `size` says, with a
/// side below 2, or with pixels that are not finite, the estimate is of no use but does no harm.
#[inline(always)]
pub fn estimate<R: Real>(pixels: &[R], size: Size) -> Shape<R> {
    let Size { width, height } = size;
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let Some(pixels) = pixels.get(..width * height).filter(|_| width > 1 && height > 1) else {
        return Shape::new(zero, zero, one);
    };
    let (mut highest, mut x, mut y) = (R::splat(f64::NEG_INFINITY), zero, zero);
    let mut row = zero;
    for j in 0..height {
        let here = &pixels[j * width..][..width];
        let (value, column) = if j == 0 {
            let below = &pixels[width..][..width];
            brightest::<R, true>(below, here, below)
        } else {
            let above = &pixels[(j - 1) * width..][..width];
            if j + 1 == height {
                brightest::<R, true>(above, here, above)
            } else {
                brightest::<R, false>(above, here, &pixels[(j + 1) * width..][..width])
            }
        };
        let better = highest.lt(value);
        highest = R::select(better, value, highest);
        x = R::select(better, column, x);
        y = R::select(better, row, y);
        row = row + one;
    }

    let (mut low, mut high) = (pixels[0], pixels[0]);
    for &pixel in pixels {
        low = pixel.min(low);
        high = pixel.max(high);
    }
    // e^(−1/2); low + (high − low)·e^(−1/2) without a difference that could overflow.
    let share = R::splat(0.606_530_659_712_633_4);
    let threshold = low * (one - share) + high * share;
    let mut above = zero;
    for &pixel in pixels {
        above = R::select(threshold.lt(pixel), above + one, above);
    }
    let sigma = (above.max(one) * R::splat(1.0 / core::f64::consts::PI)).sqrt();
    Shape::new(x, y, sigma)
}

/// The highest value of a row of the smoothed window, and its column.
///
/// Values are 9 times the average, which changes no comparison; sums of two pixels instead of three count
/// as if the third were their mean. At an `EDGE` of the window `above` and `below` are the same row.
#[inline(always)]
fn brightest<R: Real, const EDGE: bool>(above: &[R], here: &[R], below: &[R]) -> (R, R) {
    let missing = R::splat(1.5);
    let (one, mut column) = (R::splat(1.0), R::splat(0.0));
    let mut left = down::<R, EDGE>(above, here, below, 0);
    let mut middle = down::<R, EDGE>(above, here, below, 1);
    let (mut highest, mut x) = ((left + middle) * missing, column);
    for i in 2..here.len() {
        column = column + one;
        let right = down::<R, EDGE>(above, here, below, i);
        let value = middle + (left + right);
        let better = highest.lt(value);
        highest = R::select(better, value, highest);
        x = R::select(better, column, x);
        (left, middle) = (middle, right);
    }
    let value = (left + middle) * missing;
    let better = highest.lt(value);
    (R::select(better, value, highest), R::select(better, column + one, x))
}

/// The sum of three pixels above one another.
#[inline(always)]
fn down<R: Real, const EDGE: bool>(above: &[R], here: &[R], below: &[R], i: usize) -> R {
    if EDGE { (here[i] + below[i]) * R::splat(1.5) } else { here[i] + (above[i] + below[i]) }
}
