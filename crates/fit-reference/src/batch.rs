//! The windows of a batch, one after the other. Knows no shape: what does is compiled in `one`.

use fit_core::{
    ArgumentError, Errors, Fit, Fits, Options, Outcomes, Pixel, Scalar, Size, Start, scratch_len,
};
use fit_windows::{AnyWindows, NoteKind, Visitor, Windows};

use crate::one::{ErrorsOfOne, FitOne, em_gain, errors_of_one, fit_one, read};
use crate::scatter::widen_errors;

/// The precisions that the reference computes in: `f32` and `f64`.
pub trait Arithmetic: Scalar {
    /// What fits windows. It is compiled here for `f64`, and for `f32` by those who ask for it.
    #[doc(hidden)]
    fn fit_one(
        size: Size,
        options: &Options,
        kind: NoteKind,
        mapped: bool,
    ) -> Result<Box<dyn FitOne<Self>>, ArgumentError>;
    /// What finds errors of fits, compiled in the same way.
    #[doc(hidden)]
    fn errors_of_one(
        size: Size,
        options: &Options,
        side: [bool; 2],
    ) -> Result<Box<dyn ErrorsOfOne<Self>>, ArgumentError>;
    /// Reads a window, compiled in the same way.
    #[doc(hidden)]
    fn read(windows: AnyWindows<'_>, window: Window<'_, Self>);
}

macro_rules! arithmetic {
    ($($(#[$inline:meta])? $type:ty),*) => {$(
        impl Arithmetic for $type {
            $(#[$inline])?
            fn fit_one(
                size: Size,
                options: &Options,
                kind: NoteKind,
                mapped: bool,
            ) -> Result<Box<dyn FitOne<Self>>, ArgumentError> {
                fit_one(size, options, kind, mapped)
            }
            $(#[$inline])?
            fn errors_of_one(
                size: Size,
                options: &Options,
                side: [bool; 2],
            ) -> Result<Box<dyn ErrorsOfOne<Self>>, ArgumentError> {
                errors_of_one(size, options, side)
            }
            $(#[$inline])?
            fn read(windows: AnyWindows<'_>, window: Window<'_, Self>) {
                window.read(windows);
            }
        }
    )*};
}
arithmetic!(
    #[cfg_attr(not(feature = "whole"), inline)]
    f32,
    f64
);

/// Where the pixels of the window with this number go, as photo-electrons if there is a camera map, and their variances and weights; empty
/// where these are not wanted.
pub struct Window<'a, R> {
    pub(crate) index: usize,
    pub(crate) em_gain: f64,
    pub(crate) pixels: &'a mut [R],
    pub(crate) variances: &'a mut [R],
    pub(crate) weights: &'a mut [R],
}

impl<R: Scalar> Window<'_, R> {
    fn read(self, windows: AnyWindows<'_>) {
        let Self { index, em_gain, pixels, variances, weights } = self;
        windows.visit(Counts { index, pixels: &mut *pixels });
        windows.convert(index, pixels, em_gain);
        for (kind, notes) in [(NoteKind::Variances, variances), (NoteKind::Weights, weights)] {
            if !notes.is_empty() {
                windows.notes(index, kind, notes, em_gain);
            }
        }
    }
}

/// Where pixels go as they are.
struct Counts<'a, R> {
    index: usize,
    pixels: &'a mut [R],
}

impl<R: Scalar> Visitor<'_> for Counts<'_, R> {
    type Output = ();

    fn visit<P: Pixel>(self, windows: Windows<'_, P>) {
        read(windows.window(self.index), self.pixels);
    }
}

/// Fits the windows of a batch, any of them at a time.
pub struct ReferenceFit<'w, 's, R> {
    one: Box<dyn FitOne<R>>,
    windows: AnyWindows<'w>,
    start: Start<'s>,
    em_gain: f64,
    weighted: bool,
}

impl<'w, 's, R: Arithmetic> ReferenceFit<'w, 's, R> {
    /// For windows that were checked.
    ///
    /// # Errors
    /// The size or an option makes no sense.
    pub fn new(
        options: &Options,
        windows: AnyWindows<'w>,
        start: Start<'s>,
    ) -> Result<Self, ArgumentError> {
        let kind = windows.note_kind(options);
        let one = R::fit_one(windows.size(), options, kind, windows.side_data().is_mapped())?;
        let weighted = kind == NoteKind::Weights;
        Ok(Self { one, windows, start, em_gain: em_gain(options), weighted })
    }

    /// Work on the windows from a number on, with working memory of its own.
    pub fn work<T: Scalar>(
        &self,
    ) -> impl FnMut(usize, &mut [Fit<T>]) -> Result<(), ArgumentError> + use<'_, 'w, 's, R, T> {
        let size = self.windows.size();
        let mut notes = vec![R::default(); if self.one.takes_notes() { size.pixels() } else { 0 }];
        let mut scratch = vec![R::default(); scratch_len(size)];
        move |first, fits| {
            for (index, fit) in (first..).zip(fits) {
                let pixels = &mut scratch[..size.pixels()];
                let none: &mut [R] = &mut [];
                let (variances, weights) =
                    if self.weighted { (none, &mut notes[..]) } else { (&mut notes[..], none) };
                let em_gain = self.em_gain;
                R::read(self.windows, Window { index, em_gain, pixels, variances, weights });
                *fit = self.one.fit(self.start.outline(index), &mut scratch, &notes)?.cast();
            }
            Ok(())
        }
    }
}

/// Finds the errors of fits of the windows of a batch, any of them at a time.
pub struct ReferenceErrors<'w, 's, R> {
    one: Box<dyn ErrorsOfOne<R>>,
    windows: AnyWindows<'w>,
    fits: Fits<'s>,
    em_gain: f64,
    side: [bool; 2],
}

impl<'w, 's, R: Arithmetic> ReferenceErrors<'w, 's, R> {
    /// Of windows that were checked.
    ///
    /// # Errors
    /// The size or an option makes no sense.
    pub fn new(
        options: &Options,
        windows: AnyWindows<'w>,
        fits: Fits<'s>,
    ) -> Result<Self, ArgumentError> {
        let side = [windows.side_data().is_mapped(), windows.side_data().is_weighted()];
        let one = R::errors_of_one(windows.size(), options, side)?;
        Ok(Self { one, windows, fits, em_gain: em_gain(options), side })
    }

    /// Work on the windows from a number on, with working memory of its own. What [`widen_errors`] does comes after it.
    pub fn work(&self) -> impl FnMut(usize, &mut [Errors]) + use<'_, 'w, 's, R> {
        let size = self.windows.size();
        let [mut variances, mut weights] =
            self.side.map(|there| vec![R::default(); if there { size.pixels() } else { 0 }]);
        let mut scratch = vec![R::default(); scratch_len(size)];
        move |first, errors| {
            for (index, errors) in (first..).zip(errors) {
                let (pixels, axes) = scratch.split_at_mut(size.pixels());
                let [variances, weights] = [&mut variances[..], &mut weights[..]];
                let em_gain = self.em_gain;
                let window = Window { index, em_gain, pixels, variances, weights };
                R::read(self.windows, window);
                let fit = self.fits.at::<R>(index);
                let Some(found) = self.one.errors(pixels, [variances, weights], axes, &fit) else {
                    break;
                };
                *errors = found;
            }
        }
    }
}

/// Fits windows, stacked or cut from frames.
///
/// # Errors
/// If the request is invalid; then `fits` is unchanged.
pub fn fit<R: Arithmetic>(
    options: &Options,
    windows: AnyWindows<'_>,
    start: Start<'_>,
    fits: Outcomes<'_>,
) -> Result<(), ArgumentError> {
    windows.validate(options, start, fits.len())?;
    let fit = ReferenceFit::<R>::new(options, windows, start)?;
    match fits {
        Outcomes::F32(fits) => fit.work()(0, fits),
        Outcomes::F64(fits) => fit.work()(0, fits),
    }
}

/// Finds the errors of fits that were made with these options from these windows.
///
/// # Errors
/// If there is not one outcome and room for its errors for each window; then `errors` is unchanged. Others as for [`fit()`].
pub fn errors<R: Arithmetic>(
    options: &Options,
    windows: AnyWindows<'_>,
    fits: Fits<'_>,
    errors: &mut [Errors],
) -> Result<(), ArgumentError> {
    windows.validate_errors(options, fits.len(), errors.len())?;
    ReferenceErrors::<R>::new(options, windows, fits)?.work()(0, errors);
    widen_errors(options, windows, 0, fits, errors)
}
