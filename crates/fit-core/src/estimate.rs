//! The paper's initial estimate.

use crate::options::ArgumentError;
use crate::real::Scalar;
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
/// Pixels that are not finite give an estimate that is of no use but does no harm.
#[inline(always)]
pub fn estimate<R: Scalar>(pixels: &[R], size: Size) -> Shape<R> {
    let Size { width, height } = size;
    // The inverse of the number of pixels averaged over along one axis.
    let weight = |at: usize, end: usize| match usize::from(at > 0) + usize::from(at + 1 < end) {
        0 => R::splat(1.0),
        1 => R::splat(1.0 / 2.0),
        _ => R::splat(1.0 / 3.0),
    };
    let zero = R::splat(0.0);
    let mut brightest: Option<R> = None;
    let (mut x, mut y) = (0, 0);
    for row in 0..height {
        let rows = row.saturating_sub(1)..(row + 2).min(height);
        let row_weight = weight(row, height);
        for column in 0..width {
            let columns = column.saturating_sub(1)..(column + 2).min(width);
            let mut sum = zero;
            for neighbours in rows.clone().filter_map(|row| pixels.get(row * width..)) {
                for &pixel in neighbours.get(columns.clone()).unwrap_or_default() {
                    sum = sum + pixel;
                }
            }
            let mean = sum * row_weight * weight(column, width);
            if brightest.is_none_or(|brightest| mean > brightest) {
                brightest = Some(mean);
                (x, y) = (column, row);
            }
        }
    }

    let first = pixels.first().copied().unwrap_or(zero);
    let (low, high) =
        pixels.iter().fold((first, first), |(low, high), &p| (p.min(low), p.max(high)));
    // e^(−1/2); low + (high − low)·e^(−1/2) without a difference that could overflow.
    let share = R::splat(0.606_530_659_712_633_4);
    let threshold = low * (R::splat(1.0) - share) + high * share;
    let above = pixels.iter().filter(|&&pixel| pixel > threshold).count().max(1);
    let sigma = R::splat(above as f64 / core::f64::consts::PI).sqrt();
    Shape::new(R::splat(x as f64), R::splat(y as f64), sigma)
}

/// [`estimate`] for pixels of any type, with the arithmetic of `R`.
///
/// # Errors
/// [`ArgumentError::PixelCount`] if there are not width · height pixels;
/// [`ArgumentError::Scratch`] if `scratch` holds fewer numbers than there are pixels.
pub fn estimate_window<R: Scalar, P: crate::Pixel>(
    pixels: &[P],
    size: Size,
    scratch: &mut [R],
) -> Result<Shape<R>, ArgumentError> {
    let window = crate::fit::convert(pixels, size, scratch, size.pixels())?;
    Ok(estimate(&window[..size.pixels()], size))
}
