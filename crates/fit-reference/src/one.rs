//! The reference's arithmetic for one window, compiled for each shape and method; all around it is compiled once.

use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};

use fit_core::pass::{
    Axes, CovarianceEstimator, Each, Likelihood, Method, Serial, Summable, Tile, Visitor,
};
use fit_core::{
    ArgumentError, Errors, Estimator, Fit, Options, Outline, Pixel, PixelProfile, Scalar, Setup,
    Size, fit_in_place,
};
use fit_windows::NoteKind;
use ndarray::ArrayView2;

/// The EM gain of the camera, if there is one.
pub fn em_gain(options: &Options) -> f64 {
    options.camera.and_then(|camera| camera.em_gain).unwrap_or(1.0)
}

/// Writes the pixels of a window, row after row, to the first of `numbers`.
pub fn read<P: Pixel, R: Scalar>(window: ArrayView2<'_, P>, numbers: &mut [R]) {
    if let Some(pixels) = window.to_slice() {
        for (number, &pixel) in numbers.iter_mut().zip(pixels) {
            *number = R::from_pixel(pixel);
        }
    } else {
        for (number, &pixel) in numbers.iter_mut().zip(window) {
            *number = R::from_pixel(pixel);
        }
    }
}

/// A method for spots of some shape. A call for each fit takes no time beside it.
pub trait FitOne<R>: Send + Sync + UnwindSafe + RefUnwindSafe {
    /// See [`Method::takes_notes`].
    fn takes_notes(&self) -> bool;
    /// See [`fit_in_place`].
    fn fit(
        &self,
        start: Option<Outline<R>>,
        scratch: &mut [R],
        notes: &[R],
    ) -> Result<Fit<R>, ArgumentError>;
}

struct ByMethod<M>(M);

impl<R: Scalar, M: Method<R>> FitOne<R> for ByMethod<M> {
    fn takes_notes(&self) -> bool {
        self.0.takes_notes()
    }

    fn fit(
        &self,
        start: Option<Outline<R>>,
        scratch: &mut [R],
        notes: &[R],
    ) -> Result<Fit<R>, ArgumentError> {
        fit_in_place(&self.0, start, scratch, notes).map(Fit::from)
    }
}

/// Errors of fits of some shape.
pub trait ErrorsOfOne<R>: Send + Sync + UnwindSafe + RefUnwindSafe {
    /// The errors of a fit of a window with variances and weights; `None` if there is too little memory for axes.
    fn errors(&self, window: &[R], side: [&[R]; 2], axes: &mut [R], fit: &Fit<R>)
    -> Option<Errors>;
    /// Writes αf of each pixel; `numbers` are those of the pixels.
    fn light(&self, fit: &Fit<R>, numbers: &[R], axes: &mut [R], light: &mut [R]);
}

/// Spots of this shape.
struct OfShape<R, S, const P: usize, const Q: usize> {
    covariance: CovarianceEstimator<R, S, P, Q>,
    shape: S,
    profile: PixelProfile,
}

impl<R: Scalar, S: Summable<P>, const P: usize, const Q: usize> ErrorsOfOne<R>
    for OfShape<R, S, P, Q>
{
    fn errors(
        &self,
        window: &[R],
        [variances, weights]: [&[R]; 2],
        axes: &mut [R],
        fit: &Fit<R>,
    ) -> Option<Errors> {
        let size = self.covariance.size();
        let mut axes = Axes::new(axes, size)?;
        let mut tile =
            Serial::new(window, size, &mut axes).with_notes(variances).with_weights(weights);
        let Fit { x, y, sigma_x, sigma_y, angle, amplitude, background, .. } = *fit;
        let outline = Outline { x, y, sigma_x, sigma_y, angle };
        let slopes = [fit.offset_x, fit.offset_y];
        let estimate = self.covariance.errors(&mut tile, outline, [amplitude, background], slopes);
        Some(Errors::from_estimate(&estimate, fit, Q))
    }

    fn light(&self, fit: &Fit<R>, numbers: &[R], axes: &mut [R], light: &mut [R]) {
        let size = self.covariance.size();
        let Some(mut axes) = Axes::new(axes, size) else { return };
        let Fit { x, y, sigma_x, sigma_y, angle, amplitude, .. } = *fit;
        let (p, constants) = self.shape.parameters(Outline { x, y, sigma_x, sigma_y, angle });
        let spot = self.shape.spot(self.profile, &constants, &p);
        let mut tile = Serial::new(numbers, size, &mut axes);
        self.shape.show::<_, _, _, false>(&mut tile, spot, amplitude, &mut Light(light));
    }
}

/// Takes the light of each pixel, whose value is its number.
struct Light<'a, R>(&'a mut [R]);

impl<R: Scalar> Each<R> for Light<'_, R> {
    fn pixel<T: Tile<R>>(&mut self, _: bool, [height, value]: [R; 2], number: R, _: R) {
        self.0[number.to_f64() as usize] = height * value;
    }
}

/// What fits windows with options: weights or variances, of which kind, and whether a camera map converts the pixels.
///
/// # Errors
/// The size or an option makes no sense.
pub(crate) fn fit_one<R: Scalar>(
    size: Size,
    options: &Options,
    kind: NoteKind,
    mapped: bool,
) -> Result<Box<dyn FitOne<R>>, ArgumentError> {
    let make = MakeOne { size, options, kind, mapped, arithmetic: PhantomData };
    options.shape.visit(options.background, make)
}

/// What finds the errors of fits with options: whether there is a camera map, and whether there are weights.
///
/// # Errors
/// The size or an option makes no sense.
pub(crate) fn errors_of_one<R: Scalar>(
    size: Size,
    options: &Options,
    side: [bool; 2],
) -> Result<Box<dyn ErrorsOfOne<R>>, ArgumentError> {
    let make = MakeErrorsOfOne { size, options, side, arithmetic: PhantomData };
    options.shape.visit(options.background, make)
}

/// What [`errors_of_one`] is given.
struct MakeErrorsOfOne<'a, R> {
    size: Size,
    options: &'a Options,
    side: [bool; 2],
    arithmetic: PhantomData<R>,
}

impl<R: Scalar> Visitor for MakeErrorsOfOne<'_, R> {
    type Output = Result<Box<dyn ErrorsOfOne<R>>, ArgumentError>;

    fn visit<S: Summable<P>, const P: usize, const L: usize, const Q: usize>(
        self,
        shape: S,
    ) -> Self::Output {
        let Self { size, options, side: [mapped, weighted], .. } = self;
        let covariance =
            CovarianceEstimator::<R, S, P, Q>::for_shape(shape, size, options, mapped, weighted)?;
        Ok(Box::new(OfShape { covariance, shape, profile: options.profile }))
    }
}

/// What [`fit_one`] is given.
struct MakeOne<'a, R> {
    size: Size,
    options: &'a Options,
    kind: NoteKind,
    mapped: bool,
    arithmetic: PhantomData<R>,
}

impl<R: Scalar> Visitor for MakeOne<'_, R> {
    type Output = Result<Box<dyn FitOne<R>>, ArgumentError>;

    fn visit<S: Summable<P>, const P: usize, const L: usize, const Q: usize>(
        self,
        shape: S,
    ) -> Self::Output {
        let Self { size, options, kind, mapped, .. } = self;
        if options.estimator == Estimator::MaximumLikelihood {
            let method = Likelihood::<R, S, P, Q, true>::for_spots(shape, size, options, mapped)?;
            return Ok(Box::new(ByMethod(method)));
        }
        if kind == NoteKind::Weights {
            let method = Setup::<R, S, P, L, true>::for_spots(shape, size, options, mapped)?;
            return Ok(Box::new(ByMethod(method)));
        }
        let method = Setup::<R, S, P, L>::for_spots(shape, size, options, mapped)?;
        Ok(Box::new(ByMethod(method)))
    }
}
