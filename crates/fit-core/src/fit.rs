//! Fits a window in memory, and the first two passes by themselves.

use crate::arithmetic::{Number, Pixel, Real, Scalar};
use crate::error::ArgumentError;
use crate::outcome::{Fit, Record};
use crate::pass::{self, Axes, Finish, Serial};
use crate::setup::Setup;
use crate::size::{Circle, Size};
use crate::spot::conditioning::{Conditioning, Extent};
use crate::spot::shape::Separable;

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
    let initial = initial.map(|circle| setup.shape().parameters(circle));
    Ok(Fit::from_record(&fit_in_place(setup, initial, scratch)?))
}

/// Fits a spot of any shape in a window whose pixels are already in the first width · height numbers of `scratch`.
///
/// # Errors
/// [`ArgumentError::Scratch`] if there are fewer than [`scratch_len`] numbers.
pub fn fit_in_place<R: Number, S: Separable<P>, const P: usize>(
    setup: &Setup<R, S, P>,
    initial: Option<[R; P]>,
    scratch: &mut [R],
) -> Result<Record<R, P, 2>, ArgumentError> {
    let size = setup.size();
    let short = ArgumentError::Scratch { needed: scratch_len(size), given: scratch.len() };
    let (pixels, rest) = scratch.split_at_mut_checked(size.pixels()).ok_or(short)?;
    let mut axes = Axes::new(rest, size).ok_or(short)?;
    let mut tile = Serial::new(pixels, size, &mut axes);
    Ok(pass::fit(setup, &mut tile, initial, Finish::Residuals))
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
