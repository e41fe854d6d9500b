//! Fits a window in memory; also the first two passes alone.

use core::marker::PhantomData;

use crate::arithmetic::{Number, Pixel, Real};
use crate::error::ArgumentError;
use crate::options::{Estimator, Options};
use crate::outcome::{Fit, Scalar};
use crate::pass::{
    self, Axes, CovarianceEstimator, Finish, Likelihood, Method, RawFit, Serial, Summable, Visitor,
};
use crate::precision::Errors;
use crate::setup::Setup;
use crate::size::{Circle, Outline, Size};
use crate::spot::conditioning::{Conditioning, Extent};

/// The number of elements of scratch memory that [`fit_window`] needs for a window.
pub const fn scratch_len(size: Size) -> usize {
    size.pixels().saturating_add(Axes::<f32>::scratch_len(size))
}

/// Fits one window by a method that is known at compile time, so that the program contains only the code of this
/// method: `Setup<f32>` is least squares of a circular spot, `Setup<f32, Elliptical, 4>` of an elliptical one.
/// [`Fitter`] takes its shape and its estimator from options, at run time.
///
/// - `pixels`: width · height pixels of any type, row after row.
/// - `start`: where to start; `None` starts from the paper's estimate ([`crate::estimate`]). Values
///   outside the limits are clamped to them.
/// - `scratch`: at least [`scratch_len`] numbers, whose type `R` (`f32` or `f64`) is the arithmetic of the fit. Their
///   values are ignored and overwritten.
///
/// # Errors
/// [`ArgumentError::PixelCount`] and [`ArgumentError::Scratch`]. The values of the pixels never cause
/// an error.
pub fn fit_window<R: Scalar, P: Pixel, M: Method<R>>(
    method: &M,
    pixels: &[P],
    start: Option<Outline<R>>,
    scratch: &mut [R],
) -> Result<Fit<R>, ArgumentError> {
    read(method.size(), pixels, scratch)?;
    Ok(fit_in_place(method, start, scratch, &[])?.into())
}

/// Writes the pixels of a window to the first numbers of scratch memory that is large enough.
fn read<R: Scalar, P: Pixel>(
    size: Size,
    pixels: &[P],
    scratch: &mut [R],
) -> Result<(), ArgumentError> {
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
    Ok(())
}

/// Fits spots of any shape by either estimator, and computes the errors, with options checked for one window size.
///
/// ```
/// use fit_core::{Estimator, Fitter, Options, Shape, Size, scratch_len};
///
/// const SIZE: Size = Size::new(9, 9);
/// let options = Options::default()
///     .with_shape(Shape::ELLIPTICAL)
///     .with_estimator(Estimator::MaximumLikelihood);
/// let fitter = Fitter::<f64>::new(SIZE, &options)?;
/// let mut scratch = [0.0; scratch_len(SIZE)];
/// let counts: [u16; SIZE.pixels()] = std::array::from_fn(|i| {
///     let (x, y) = ((i % 9) as f64 - 4.2, (i / 9) as f64 - 3.7);
///     (300.0 * (-(x * x / 2.0 + y * y / 4.0)).exp() + 10.5) as u16
/// });
/// let spot = fitter.fit(&counts, None, &mut scratch)?;
/// let errors = fitter.errors(&counts, &spot, &mut scratch)?;
/// assert!((spot.x - 4.2).abs() < 0.01 && (spot.sigma_y - 2.0_f64.sqrt()).abs() < 0.02);
/// assert!(errors.x() > 0.01 && errors.x() < 0.04);
/// # Ok::<(), fit_core::ArgumentError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Fitter<R> {
    size: Size,
    options: Options,
    arithmetic: PhantomData<R>,
}

impl<R: Scalar> Fitter<R> {
    /// Checks the size and the options.
    ///
    /// # Errors
    /// See [`Size::validate`] and [`Options::validate`]; [`ArgumentError::Option`] also if the shape does not suit the
    /// size.
    pub fn new(size: Size, options: &Options) -> Result<Self, ArgumentError> {
        options
            .shape
            .visit(options.background, Check { size, options, arithmetic: PhantomData::<R> })?;
        Ok(Self { size, options: *options, arithmetic: PhantomData })
    }

    /// The size of the windows.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Fits a window; the arguments are those of [`fit_window`].
    ///
    /// # Errors
    /// As for [`fit_window`].
    pub fn fit<P: Pixel>(
        &self,
        pixels: &[P],
        start: Option<Outline<R>>,
        scratch: &mut [R],
    ) -> Result<Fit<R>, ArgumentError> {
        read(self.size, pixels, scratch)?;
        let Self { size, options, .. } = self;
        let one = One { size: *size, options, weights: None, start, scratch };
        options.shape.visit(options.background, one)
    }

    /// Fits a window by least squares, with a weight for each pixel, 1/variance; pixels of weight 0 are left out.
    ///
    /// # Errors
    /// As for [`fit_window`]; [`ArgumentError::WeightedLikelihood`] if the estimator is maximum likelihood,
    /// [`ArgumentError::PixelCount`] also if some pixel has no weight, [`ArgumentError::Weight`] if one is negative or
    /// not finite.
    pub fn fit_weighted<P: Pixel>(
        &self,
        pixels: &[P],
        weights: &[R],
        start: Option<Outline<R>>,
        scratch: &mut [R],
    ) -> Result<Fit<R>, ArgumentError> {
        self.check_weights(weights)?;
        read(self.size, pixels, scratch)?;
        let Self { size, options, .. } = self;
        let one = One { size: *size, options, weights: Some(weights), start, scratch };
        options.shape.visit(options.background, one)
    }

    /// The errors of a fit that was made with these options from these pixels; `scratch` as for [`fit_window`].
    ///
    /// # Errors
    /// As for [`fit_window`].
    pub fn errors<P: Pixel>(
        &self,
        pixels: &[P],
        fit: &Fit<R>,
        scratch: &mut [R],
    ) -> Result<Errors, ArgumentError> {
        read(self.size, pixels, scratch)?;
        let Self { size, options, .. } = self;
        let one = ErrorsOfOne { size: *size, options, weights: &[], fit, scratch };
        options.shape.visit(options.background, one)
    }

    /// The errors of a fit with weights.
    ///
    /// # Errors
    /// As for [`Fitter::fit_weighted`].
    pub fn errors_weighted<P: Pixel>(
        &self,
        pixels: &[P],
        weights: &[R],
        fit: &Fit<R>,
        scratch: &mut [R],
    ) -> Result<Errors, ArgumentError> {
        self.check_weights(weights)?;
        read(self.size, pixels, scratch)?;
        let Self { size, options, .. } = self;
        let one = ErrorsOfOne { size: *size, options, weights, fit, scratch };
        options.shape.visit(options.background, one)
    }

    fn check_weights(&self, weights: &[R]) -> Result<(), ArgumentError> {
        let size = self.size;
        if self.options.estimator == Estimator::MaximumLikelihood {
            return Err(ArgumentError::WeightedLikelihood);
        }
        if weights.len() != size.pixels() {
            return Err(ArgumentError::PixelCount { size, pixels: weights.len() });
        }
        let wrong = |weight: &R| !(R::splat(0.0) <= *weight && weight.is_finite());
        match weights.iter().position(wrong) {
            None => Ok(()),
            Some(at) => {
                let (x, y) = (at % size.width, at / size.width);
                let weight = weights[at].to_f64() as f32;
                Err(ArgumentError::Weight { spot: 0, x, y, weight })
            }
        }
    }
}

/// Checks options.
struct Check<'a, R> {
    size: Size,
    options: &'a Options,
    arithmetic: PhantomData<R>,
}

impl<R: Scalar> Visitor for Check<'_, R> {
    type Output = Result<(), ArgumentError>;

    fn visit<S: Summable<P>, const P: usize, const L: usize, const Q: usize>(
        self,
        shape: S,
    ) -> Self::Output {
        Setup::<R, S, P>::for_shape(shape, self.size, self.options).map(drop)
    }
}

/// A fit of a window whose pixels are in the scratch memory.
struct One<'a, R> {
    size: Size,
    options: &'a Options,
    weights: Option<&'a [R]>,
    start: Option<Outline<R>>,
    scratch: &'a mut [R],
}

impl<R: Scalar> Visitor for One<'_, R> {
    type Output = Result<Fit<R>, ArgumentError>;

    fn visit<S: Summable<P>, const P: usize, const L: usize, const Q: usize>(
        self,
        shape: S,
    ) -> Self::Output {
        let Self { size, options, weights, start, scratch } = self;
        let found = if options.estimator == Estimator::MaximumLikelihood {
            let method = Likelihood::<R, S, P, Q, false>::for_spots(shape, size, options, false)?;
            fit_in_place(&method, start, scratch, &[])
        } else if let Some(weights) = weights {
            let method = Setup::<R, S, P, L, true>::for_spots(shape, size, options, false)?;
            fit_in_place(&method, start, scratch, weights)
        } else {
            let method = Setup::<R, S, P, L>::for_spots(shape, size, options, false)?;
            fit_in_place(&method, start, scratch, &[])
        };
        Ok(found?.into())
    }
}

/// The errors of a fit of a window whose pixels are in the scratch memory.
struct ErrorsOfOne<'a, R> {
    size: Size,
    options: &'a Options,
    weights: &'a [R],
    fit: &'a Fit<R>,
    scratch: &'a mut [R],
}

impl<R: Scalar> Visitor for ErrorsOfOne<'_, R> {
    type Output = Result<Errors, ArgumentError>;

    fn visit<S: Summable<P>, const P: usize, const L: usize, const Q: usize>(
        self,
        shape: S,
    ) -> Self::Output {
        let Self { size, options, weights, fit, scratch } = self;
        let weighted = !weights.is_empty();
        let covariance =
            CovarianceEstimator::<R, S, P, Q>::for_shape(shape, size, options, false, weighted)?;
        let short = ArgumentError::Scratch { needed: scratch_len(size), given: scratch.len() };
        let (pixels, rest) = scratch.split_at_mut_checked(size.pixels()).ok_or(short)?;
        let mut axes = Axes::new(rest, size).ok_or(short)?;
        let mut tile = Serial::new(&*pixels, size, &mut axes).with_weights(weights);
        let Fit { x, y, sigma_x, sigma_y, angle, amplitude, background, .. } = *fit;
        let outline = Outline { x, y, sigma_x, sigma_y, angle };
        let slopes = [fit.offset_x, fit.offset_y];
        let estimate = covariance.errors(&mut tile, outline, [amplitude, background], slopes);
        Ok(Errors::from_estimate(&estimate, fit, Q))
    }
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
) -> Result<RawFit<R>, ArgumentError> {
    let size = method.size();
    let short = ArgumentError::Scratch { needed: scratch_len(size), given: scratch.len() };
    if method.takes_notes() && notes.len() != size.pixels() {
        return Err(ArgumentError::PixelCount { size, pixels: notes.len() });
    }
    let (pixels, rest) = scratch.split_at_mut_checked(size.pixels()).ok_or(short)?;
    let mut axes = Axes::new(rest, size).ok_or(short)?;
    let mut tile = Serial::new(pixels, size, &mut axes).with_notes(notes).apart();
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

/// The paper's estimate of centre and σ (`pass::estimate`) from the pixels of a window, row after row.
///
/// With fewer pixels than `size`, the estimate is meaningless but safe.
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
