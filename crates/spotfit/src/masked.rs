//! Pixels that are not looked at.

use ndarray::ArrayViewMut2;

/// Gives each masked pixel the mean of the nearest pixels around it that are not; 0 if there are none.
pub(crate) fn fill(pixels: &mut ArrayViewMut2<'_, f32>, masked: impl Fn(usize, usize) -> bool) {
    let (height, width) = pixels.dim();
    for row in 0..height {
        for column in (0..width).filter(|&column| masked(row, column)) {
            let mut mean = 0.0;
            for reach in 1..height.max(width) {
                let (mut sum, mut count) = (0.0, 0.0);
                for y in row.saturating_sub(reach)..(row + reach + 1).min(height) {
                    for x in column.saturating_sub(reach)..(column + reach + 1).min(width) {
                        if !masked(y, x) {
                            sum += pixels[[y, x]];
                            count += 1.0;
                        }
                    }
                }
                if count > 0.0 {
                    mean = sum / count;
                    break;
                }
            }
            pixels[[row, column]] = mean;
        }
    }
}
