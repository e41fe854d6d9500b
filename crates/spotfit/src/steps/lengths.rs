//! Lengths in frames and windows: pixels where no unit is given.

use super::StepError;
use crate::table::Unit;
use crate::{Length, OutOfRange};

/// A length of an option in pixels, which it is where it has no unit.
///
/// # Errors
/// [`StepError::Options`] for nanometres where the size of a pixel is not known.
pub fn in_pixels(
    option: &'static str,
    length: Length,
    pixel_size: Option<f64>,
) -> Result<f64, StepError> {
    length.within(Unit::Pixel, pixel_size).ok_or_else(|| {
        StepError::Options(format!(
            "`{option}`: {length} is in nanometres, and the size of a pixel is not given; write pixels, as in 1.5px"
        ))
    })
}

/// The side of windows in pixels, of which the library says whether it can be one. In nanometres it is the nearest odd number.
///
/// # Errors
/// [`StepError`].
pub fn side(length: Length, pixel_size: Option<f64>) -> Result<usize, StepError> {
    let pixels = in_pixels("box_size", length, pixel_size)?;
    let pixels = match length.unit() {
        Some(Unit::Nanometre) => 2.0 * ((pixels - 1.0) / 2.0).round() + 1.0,
        _ => pixels,
    };
    let good = pixels.fract() == 0.0 && (0.0..=1e9).contains(&pixels);
    OutOfRange::check("box_size", length, good, "a whole number of pixels")?;
    Ok(pixels as usize)
}
