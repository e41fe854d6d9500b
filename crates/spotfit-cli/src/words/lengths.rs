//! Lengths in frames and windows: pixels where no unit is given.

use crate::error::CliError;
use spotfit::Length;
use spotfit::lengths::{self, PixelsError};

/// A length of an option in pixels.
pub(crate) fn in_pixels(
    option: &str,
    length: Length,
    pixel_size: Option<f64>,
) -> Result<f64, CliError> {
    lengths::in_pixels(length, pixel_size).map_err(|error| refused(option, &error))
}

/// The side of windows in pixels, of which the library says whether it can be one. In nanometres it is the nearest odd number.
pub(crate) fn side(length: Length, pixel_size: Option<f64>) -> Result<usize, CliError> {
    lengths::window_side(length, pixel_size).map_err(|error| match error {
        PixelsError::NotWhole(length) => {
            CliError::option("box_size", &length.to_string(), "a whole number of pixels")
        }
        PixelsError::Unknown(_) => refused("box", &error),
    })
}

fn refused(option: &str, error: &PixelsError) -> CliError {
    CliError::file(&format!("--{option}"), error.to_string())
}
