//! The paper's initial estimate.

use crate::real::Scalar;
use crate::shape::{Shape, Size};

/// How many numbers of scratch memory [`estimate`] needs.
pub const fn estimate_scratch_len(size: Size) -> usize {
    size.pixels().next_multiple_of(BLOCK) + size.pixels()
}

/// Pixels that are compared side by side.
const BLOCK: usize = 16;

/// Estimates centre and σ of the spot in a window as the paper does.
///
/// The window is smoothed by a moving average of 3×3 pixels; the centre is the brightest pixel of
/// the smoothed window, the first of them in reading order. With β the lowest and β + α the highest
/// pixel, σ = √(M/π) with M the number of pixels above α·e^(−1/2) + β.
///
/// At the border the average is over the pixels that exist: 6 at an edge, 4 in a corner. A spot at
/// the border thus competes on equal terms, where padding with zeros would push it inwards.
///
/// `scratch` has at least [`estimate_scratch_len`] numbers; with fewer, or with pixels that are not
/// finite, the estimate is of no use but does no harm.
#[inline(always)]
pub fn estimate<R: Scalar>(pixels: &[R], size: Size, scratch: &mut [R]) -> Shape<R> {
    let Size { width, height } = size;
    let blocks = size.pixels().next_multiple_of(BLOCK);
    let zero = R::splat(0.0);
    let split = scratch.split_at_mut_checked(blocks);
    let window = pixels.get(..size.pixels());
    let (Some((smooth, sums)), Some(window)) = (split, window) else {
        return Shape::new(zero, zero, R::splat(1.0));
    };
    let Some(sums) = sums.get_mut(..window.len()) else {
        return Shape::new(zero, zero, R::splat(1.0));
    };
    smooth_window(window, width, smooth, sums);
    let brightest = first_of_highest(smooth);
    let (x, y) = (brightest % width, brightest / width);

    let (low, high) = extremes(window);
    // e^(−1/2); low + (high − low)·e^(−1/2) without a difference that could overflow.
    let share = R::splat(0.606_530_659_712_633_4);
    let threshold = low * (R::splat(1.0) - share) + high * share;
    let mut above = 0u32;
    for &pixel in window {
        above += u32::from(pixel > threshold);
    }
    let sigma = R::splat(f64::from(above.max(1)) / core::f64::consts::PI).sqrt();
    let y = if y < height { y } else { 0 };
    Shape::new(R::splat(x as f64), R::splat(y as f64), sigma)
}

/// The moving average, times 9 (which changes no comparison), followed by numbers below all others.
///
/// It runs over the window as over one line, which suits vector instructions, and puts the first and last
/// column right afterwards.
#[inline(always)]
fn smooth_window<R: Scalar>(pixels: &[R], width: usize, smooth: &mut [R], sums: &mut [R]) {
    let length = pixels.len();
    // Sums of two pixels instead of three count as if the third were their mean.
    let edge = R::splat(1.5);
    if length < 3 * width || width < 2 {
        // Too small to be fitted, so that nobody sees what is estimated.
        smooth.fill(R::splat(0.0));
        return;
    }
    let (above, here, below) =
        (&pixels[..length - 2 * width], &pixels[width..length - width], &pixels[2 * width..]);
    let inner = &mut sums[width..length - width];
    for i in 0..inner.len() {
        inner[i] = here[i] + (above[i] + below[i]);
    }
    let last = length - width;
    for i in 0..width {
        sums[i] = (pixels[i] + pixels[width + i]) * edge;
        sums[last + i] = (pixels[last - width + i] + pixels[last + i]) * edge;
    }

    let (left, middle, right) = (&sums[..length - 2], &sums[1..length - 1], &sums[2..]);
    let inner = &mut smooth[1..length - 1];
    for i in 0..inner.len() {
        inner[i] = middle[i] + (left[i] + right[i]);
    }
    let mut first = 0;
    while first < length {
        let end = first + width - 1;
        smooth[first] = (sums[first] + sums[first + 1]) * edge;
        smooth[end] = (sums[end - 1] + sums[end]) * edge;
        first += width;
    }
    for rest in &mut smooth[length..] {
        *rest = R::splat(f64::NEG_INFINITY);
    }
}

/// The index of the highest number, the first of equals; 0 if none compares.
#[inline(always)]
fn first_of_highest<R: Scalar>(numbers: &[R]) -> usize {
    let (blocks, _) = numbers.as_chunks::<BLOCK>();
    let mut highest = [R::splat(f64::NEG_INFINITY); BLOCK];
    for block in blocks {
        for i in 0..BLOCK {
            highest[i] = block[i].max(highest[i]);
        }
    }
    let highest = fold_block(highest, super::real::Real::max);
    for (index, block) in blocks.iter().enumerate() {
        let mut found = 0u32;
        for (i, &number) in block.iter().enumerate() {
            found |= u32::from(number == highest) << i;
        }
        if found != 0 {
            return index * BLOCK + found.trailing_zeros() as usize;
        }
    }
    0
}

/// The lowest and the highest pixel.
#[inline(always)]
fn extremes<R: Scalar>(pixels: &[R]) -> (R, R) {
    let first = pixels.first().copied().unwrap_or_default();
    let (mut low, mut high) = ([first; BLOCK], [first; BLOCK]);
    let (blocks, rest) = pixels.as_chunks::<BLOCK>();
    for block in blocks {
        for i in 0..BLOCK {
            low[i] = block[i].min(low[i]);
            high[i] = block[i].max(high[i]);
        }
    }
    let mut low = fold_block(low, super::real::Real::min);
    let mut high = fold_block(high, super::real::Real::max);
    for &pixel in rest {
        low = pixel.min(low);
        high = pixel.max(high);
    }
    (low, high)
}

#[inline(always)]
fn fold_block<R: Scalar>(mut numbers: [R; BLOCK], merge: impl Fn(R, R) -> R) -> R {
    let mut half = BLOCK / 2;
    while half > 0 {
        for i in 0..half {
            numbers[i] = merge(numbers[i], numbers[i + half]);
        }
        half /= 2;
    }
    numbers[0]
}
