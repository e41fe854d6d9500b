//! Fits a window in memory, and the first two passes by themselves.

use crate::arithmetic::{Number, Pixel, Real};
use crate::error::ArgumentError;
use crate::outcome::{Fit, Scalar};
use crate::pass::{self, Axes, Finish, Found, Method, Serial};
use crate::setup::Setup;
use crate::size::{Circle, Outline, Size};
use crate::spot::conditioning::{Conditioning, Extent};

/// How many numbers of scratch memory [`fit_window`] needs for a window.
pub const fn scratch_len(size: Size) -> usize {
    size.pixels().saturating_add(Axes::<f32>::scratch_len(size))
}

/// Fits one window.
///
/// - `pixels`: width · height pixels of any type, row after row.
/// - `initial`: where to start; `None` starts from the paper's estimate ([`pass::estimate`]). Values
///   outside the limits are clamped to them.
/// - `scratch`: at least [`scratch_len`] numbers, whose type `R` (`f32` or `f64`) is the arithmetic
///   of the fit. Their values do not matter and are overwritten.
///
/// # Errors
/// [`ArgumentError::PixelCount`] and [`ArgumentError::Scratch`]. The values of the pixels never cause
/// an error.
pub fn fit_window<R: Scalar, P: Pixel>(
    setup: &Setup<R>,
    pixels: &[P],
    initial: Option<Circle<R>>,
    scratch: &mut [R],
) -> Result<Fit<R>, ArgumentError> {
    let size = setup.size();
    if pixels.len() != size.pixels() {
        return Err(ArgumentError::PixelCount { size, pixels: pixels.len() });
    }
    let needed = scratch_len(size);
    if scratch.len() < needed {
        return Err(ArgumentError::Scratch { needed, given: scratch.len() });
    }
    for (number, &pixel) in scratch.iter_mut().zip(pixels) {
        *number = R::from_pixel(pixel);
    }
    let found = fit_in_place(setup, initial.map(Outline::from), scratch, &[])?;
    Ok(found.into())
}

/// Fits a spot in a window whose pixels are already in the first width · height numbers of `scratch`, by any method.
/// `notes` are the weights or variances of the pixels, if the method takes them.
///
/// # Errors
/// [`ArgumentError::Scratch`] if there are fewer than [`scratch_len`] numbers; [`ArgumentError::PixelCount`] if a
/// note is missing.
pub fn fit_in_place<R: Number, M: Method<R>>(
    method: &M,
    initial: Option<Outline<R>>,
    scratch: &mut [R],
    notes: &[R],
) -> Result<Found<R>, ArgumentError> {
    let size = method.size();
    let short = ArgumentError::Scratch { needed: scratch_len(size), given: scratch.len() };
    if method.takes_notes() && notes.len() != size.pixels() {
        return Err(ArgumentError::PixelCount { size, pixels: notes.len() });
    }
    let (pixels, rest) = scratch.split_at_mut_checked(size.pixels()).ok_or(short)?;
    let mut axes = Axes::new(rest, size).ok_or(short)?;
    let mut tile = Serial::new(pixels, size, &mut axes).with_notes(notes);
    Ok(pass::fit(method, &mut tile, initial, Finish::Residuals))
}

/// Conditions pixels in place ([`crate::spot::conditioning`]).
pub fn condition<R: Real>(pixels: &mut [R]) -> Conditioning<R> {
    if pixels.is_empty() {
        return Conditioning::identity(pixels);
    }
    let line = Size::new(pixels.len(), 1);
    let mut axes = Axes::none();
    pass::condition(&mut Serial::new(pixels, line, &mut axes)).0
}

/// The paper's estimate of centre and σ ([`pass::estimate`]) from the pixels of a window, row after row.
///
/// With fewer pixels than `size` says, the estimate is meaningless but safe.
pub fn estimate<R: Real>(pixels: &[R], size: Size) -> Circle<R> {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let Some((pixels, &first)) = pixels.get(..size.pixels()).zip(pixels.first()) else {
        return Circle::new(zero, zero, one);
    };
    let mut extent = Extent::new(first);
    for &pixel in pixels {
        extent.add(pixel);
    }
    pass::estimate(&Serial::new(pixels, size, &mut Axes::none()), &extent)
}
