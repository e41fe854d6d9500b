//! Lengths in frames and windows: pixels where no unit is given.

use crate::error::CliError;
use spotfit::{Length, steps};

/// A length of an option in pixels.
pub(crate) fn in_pixels(
    option: &'static str,
    length: Length,
    pixel_size: Option<f64>,
) -> Result<f64, CliError> {
    Ok(steps::in_pixels(option, length, pixel_size)?)
}

/// The side of windows in pixels, of which the library says whether it can be one. In nanometres it is the nearest odd number.
pub(crate) fn side(length: Length, pixel_size: Option<f64>) -> Result<usize, CliError> {
    Ok(steps::side(length, pixel_size)?)
}
