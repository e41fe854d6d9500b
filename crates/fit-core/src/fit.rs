//! One window from start to end.

use crate::condition::condition;
use crate::estimate::estimate;
use crate::normal::assemble;
use crate::options::{ArgumentError, Setup};
use crate::outcome::Fit;
use crate::real::{Pixel, Scalar};
use crate::search::Search;
use crate::shape::{Shape, Size};
use crate::sums::{Axes, residual_chi2, separable};

/// How many numbers of scratch memory [`fit_window`] needs for a window.
pub const fn scratch_len(size: Size) -> usize {
    size.pixels() + Axes::<f32>::scratch_len(size)
}

/// Fits one window.
///
/// - `pixels`: width · height pixels of any type, row after row.
/// - `initial`: where to start; `None` starts from the paper's estimate ([`estimate`]). Values
///   outside the limits are brought within them.
/// - `scratch`: at least [`scratch_len`] numbers, whose type `R` (`f32` or `f64`) is the arithmetic
///   of the fit. Their values do not matter and are overwritten.
///
/// # Errors
/// [`ArgumentError::PixelCount`] and [`ArgumentError::Scratch`]. Whatever the pixels are, the
/// outcome is a [`Fit`].
pub fn fit_window<R: Scalar, P: Pixel>(
    setup: &Setup<R>,
    pixels: &[P],
    initial: Option<Shape<R>>,
    scratch: &mut [R],
) -> Result<Fit<R>, ArgumentError> {
    convert(pixels, setup.size, scratch, scratch_len(setup.size))?;
    fit_in_place(setup, initial, scratch)
}

/// [`fit_window`] for pixels that lie in the first width · height numbers of `scratch` already.
///
/// # Errors
/// [`ArgumentError::Scratch`] if there are fewer than [`scratch_len`] numbers.
pub fn fit_in_place<R: Scalar>(
    setup: &Setup<R>,
    initial: Option<Shape<R>>,
    scratch: &mut [R],
) -> Result<Fit<R>, ArgumentError> {
    let size = setup.size;
    let short = ArgumentError::Scratch { needed: scratch_len(size), given: scratch.len() };
    let (pixels, rest) = scratch.split_at_mut_checked(size.pixels()).ok_or(short)?;
    let mut axes = Axes::new(rest, size).ok_or(short)?;
    let data = condition(pixels);
    let initial = initial.unwrap_or_else(|| estimate(pixels, size));
    let mut search = Search::start(setup, &data, initial);
    while search.running() {
        let sums = separable(pixels, search.trial(), &mut axes);
        search.update(setup, &assemble(&sums, &data, setup.background));
    }
    let best = search.at_best();
    let chi2 = residual_chi2(pixels, search.best(), best.alpha, best.beta, &mut axes);
    Ok(search.outcome(&data, chi2))
}

/// Writes the pixels as numbers to the front of `scratch`.
pub(crate) fn convert<'a, R: Scalar, P: Pixel>(
    pixels: &[P],
    size: Size,
    scratch: &'a mut [R],
    needed: usize,
) -> Result<&'a mut [R], ArgumentError> {
    if pixels.len() != size.pixels() {
        return Err(ArgumentError::PixelCount { size, pixels: pixels.len() });
    }
    if scratch.len() < needed {
        return Err(ArgumentError::Scratch { needed, given: scratch.len() });
    }
    for (number, &pixel) in scratch.iter_mut().zip(pixels) {
        *number = R::from_pixel(pixel);
    }
    Ok(scratch)
}
