//! Lengths in frames and windows: pixels where no unit is given.

use crate::error::CliError;
use spotfit::Length;
use spotfit::table::Unit;

/// A length of an option in pixels.
pub(crate) fn in_pixels(
    option: &str,
    length: Length,
    pixel_size: Option<f64>,
) -> Result<f64, CliError> {
    length.within(Unit::Pixel, pixel_size).ok_or_else(|| {
        let reason = format!("{length} is in nanometres, and the size of a pixel is not given; write pixels, as in 1.5px");
        CliError::file(&format!("--{option}"), reason)
    })
}

/// The side of windows in pixels, of which the library says whether it can be one. In nanometres it is the nearest odd number.
pub(crate) fn side(length: Length, pixel_size: Option<f64>) -> Result<usize, CliError> {
    let pixels = in_pixels("box", length, pixel_size)?;
    let pixels = match length.unit() {
        Some(Unit::Nanometre) => 2.0 * ((pixels - 1.0) / 2.0).round() + 1.0,
        _ => pixels,
    };
    if pixels.fract() != 0.0 || !(0.0..=1e9).contains(&pixels) {
        return Err(CliError::option("box_size", &length.to_string(), "a whole number of pixels"));
    }
    Ok(pixels as usize)
}
