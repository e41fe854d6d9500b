//! Lengths in frames and windows: pixels where no unit is given.

use super::StepError;
use crate::lengths::{self, PixelsError, window_side};
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
    lengths::in_pixels(length, pixel_size).map_err(|error| refused(option, &error))
}

fn refused(option: &str, error: &PixelsError) -> StepError {
    StepError::Options(format!("`{option}`: {error}"))
}

/// The side of windows in pixels, of which the library says whether it can be one. In nanometres it is the nearest odd number.
///
/// # Errors
/// [`StepError`].
pub fn side(length: Length, pixel_size: Option<f64>) -> Result<usize, StepError> {
    window_side(length, pixel_size).map_err(|error| match error {
        PixelsError::NotWhole(length) => OutOfRange {
            name: "box_size",
            value: length.to_string(),
            range: "a whole number of pixels".to_owned(),
        }
        .into(),
        PixelsError::Unknown(_) => refused("box_size", &error),
    })
}
