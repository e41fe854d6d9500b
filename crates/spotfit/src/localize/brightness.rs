//! How bright a movie is.

use spotfit_files::movie::Pixels;
use spotfit_locs::private::median;

/// The median of the first of these frames, in ADU; nothing if there is none, or if a pixel of it is not a number.
///
/// A camera whose baseline is above it would give most pixels less than no light.
///
/// ```
/// use spotfit::localize::median_of_first;
/// use spotfit::movie::Pixels;
/// use spotfit::ndarray::Array3;
///
/// let frames = Array3::from_shape_fn((2, 3, 3), |(t, y, x)| (100 * t + 3 * y + x) as u16);
/// assert_eq!(median_of_first(&Pixels::U16(frames)), Some(4.0));
/// ```
pub fn median_of_first(frames: &Pixels) -> Option<f64> {
    first(frames).map(median)
}

/// The share of the pixels of the first of these frames that are below a value in ADU; nothing where [`median_of_first`] is nothing.
///
/// ```
/// use spotfit::localize::share_below;
/// use spotfit::movie::Pixels;
/// use spotfit::ndarray::Array3;
///
/// let frames = Array3::from_shape_fn((1, 2, 2), |(_, y, x)| (2 * y + x) as f32 - 1.0);
/// assert_eq!(share_below(&Pixels::F32(frames), 0.0), Some(0.25));
/// ```
pub fn share_below(frames: &Pixels, value: f64) -> Option<f64> {
    let pixels = first(frames)?;
    let below = pixels.iter().filter(|&&pixel| pixel < value).count();
    Some(below as f64 / pixels.len() as f64)
}

/// The pixels of the first frame.
fn first(frames: &Pixels) -> Option<Vec<f64>> {
    let pixels: Vec<f64> = match frames {
        Pixels::U8(frames) => frames.outer_iter().next()?.iter().map(|&p| p.into()).collect(),
        Pixels::U16(frames) => frames.outer_iter().next()?.iter().map(|&p| p.into()).collect(),
        Pixels::F32(frames) => frames.outer_iter().next()?.iter().map(|&p| p.into()).collect(),
    };
    let told = !pixels.is_empty() && pixels.iter().all(|pixel| !pixel.is_nan());
    told.then_some(pixels)
}
