//! Lengths in frames and windows: in pixels where no unit is given.

use crate::Length;
use crate::table::Unit;

/// A length cannot be one in pixels.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum PixelsError {
    /// It is in nanometres, and the size of a pixel is not known.
    #[error(
        "{0} is in nanometres, and the size of a pixel is not given; write pixels, as in 1.5px"
    )]
    Unknown(Length),
    /// It is no whole number of pixels, which it must be.
    #[error("{0} is not a whole number of pixels")]
    NotWhole(Length),
}

/// A length in pixels, whose size in nanometres may be known.
///
/// ```
/// use spotfit::Length;
/// use spotfit::lengths::in_pixels;
///
/// assert_eq!(in_pixels("130nm".parse()?, Some(100.0)), Ok(1.3));
/// assert_eq!(in_pixels(Length::from(1.3), None), Ok(1.3));
/// assert!(in_pixels("130nm".parse()?, None).is_err());
/// # Ok::<(), spotfit::LengthError>(())
/// ```
///
/// # Errors
/// [`PixelsError::Unknown`].
pub fn in_pixels(length: Length, pixel_size: Option<f64>) -> Result<f64, PixelsError> {
    length.within(Unit::Pixel, pixel_size).ok_or(PixelsError::Unknown(length))
}

/// The side of windows in pixels; whether there are windows of this side is not asked here. In nanometres it is the nearest odd
/// number.
///
/// ```
/// use spotfit::lengths::window_side;
///
/// assert_eq!(window_side("700nm".parse()?, Some(107.0)), Ok(7));
/// assert_eq!(window_side("8px".parse()?, None), Ok(8));
/// # Ok::<(), spotfit::LengthError>(())
/// ```
///
/// # Errors
/// [`PixelsError`].
pub fn window_side(length: Length, pixel_size: Option<f64>) -> Result<usize, PixelsError> {
    whole(length, pixel_size, |pixels| 2.0 * ((pixels - 1.0) / 2.0).round() + 1.0)
}

/// A whole number of pixels, such as a column; in nanometres the nearest.
///
/// # Errors
/// [`PixelsError`].
pub fn whole_pixels(length: Length, pixel_size: Option<f64>) -> Result<usize, PixelsError> {
    whole(length, pixel_size, f64::round)
}

/// A whole number of pixels: the nearest that `round` finds to nanometres.
fn whole(
    length: Length,
    pixel_size: Option<f64>,
    round: fn(f64) -> f64,
) -> Result<usize, PixelsError> {
    let pixels = in_pixels(length, pixel_size)?;
    let pixels = if length.unit() == Some(Unit::Nanometre) { round(pixels) } else { pixels };
    if pixels.fract() == 0.0 && (0.0..=1e9).contains(&pixels) {
        Ok(pixels as usize)
    } else {
        Err(PixelsError::NotWhole(length))
    }
}
