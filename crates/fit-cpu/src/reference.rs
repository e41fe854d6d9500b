//! The reference: one window at a time, in plain scalar arithmetic.

use std::marker::PhantomData;
use std::sync::Arc;

use fit_core::{
    ArgumentError, Errors, Fit, Fits, Options, Outcomes, Pixel, Scalar, Size, Start, scratch_len,
};
use fit_curves::CurveError;
use fit_windows::{AnyWindows, NoteKind, Windows};

use crate::one::{ErrorsOfOne, FitOne, em_gain, errors_of_one, fit_one, read};
use crate::scatter::widen_errors;
use crate::threads::{filled, of_pool, pool, share};

/// Why a batch could not be fitted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// The request makes no sense.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// The curves cannot be fitted.
    #[error(transparent)]
    Curve(#[from] CurveError),
    /// The requested instruction set is not available.
    #[error("the instruction set '{name}' cannot be used: {reason}")]
    InstructionSet {
        /// Its name.
        name: String,
        /// Why not.
        reason: &'static str,
    },
    /// The threads could not be started.
    #[error("the worker threads could not be started: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// More threads were requested than a batch can use.
    #[error("{given} threads are too many (0 to {most}; 0 takes one for each processor)", most = crate::MOST_THREADS)]
    TooManyThreads {
        /// The number of threads requested.
        given: usize,
    },
}

/// Windows given to a thread at a time: some milliseconds of work.
const CHUNK: usize = 512;

/// Fits batches of windows with [`fit_core`] in `f64` or `f32`, one window after the other on each
/// thread.
///
/// Every other backend is tested against it. Its arithmetic is plain IEEE 754 with the exponential
/// from `libm`, so it gives the same bits on every machine, with any number of threads.
#[derive(Debug)]
pub struct Reference<R> {
    pool: Option<Arc<rayon::ThreadPool>>,
    arithmetic: PhantomData<R>,
}

/// The precisions that the reference computes in: `f32` and `f64`.
pub trait Arithmetic: Scalar {
    /// Fits windows that were checked. It is compiled here for `f64`, and for `f32` by those who ask for it.
    #[doc(hidden)]
    fn fit(
        reference: &Reference<Self>,
        options: &Options,
        windows: AnyWindows<'_>,
        start: Start<'_>,
        fits: Outcomes<'_>,
    ) -> Result<(), BatchError>;
    /// Finds the errors of fits of windows that were checked, compiled as [`Arithmetic::fit`] is.
    #[doc(hidden)]
    fn errors(
        reference: &Reference<Self>,
        options: &Options,
        windows: AnyWindows<'_>,
        fits: Fits<'_>,
        errors: &mut [Errors],
    ) -> Result<(), BatchError>;
}

macro_rules! arithmetic {
    ($($(#[$inline:meta])? $type:ty),*) => {$(
        impl Arithmetic for $type {
            $(#[$inline])?
            fn fit(
                reference: &Reference<Self>,
                options: &Options,
                windows: AnyWindows<'_>,
                start: Start<'_>,
                fits: Outcomes<'_>,
            ) -> Result<(), BatchError> {
                windows.visit(ByPixelType { reference, options, start, fits })
            }
            $(#[$inline])?
            fn errors(
                reference: &Reference<Self>,
                options: &Options,
                windows: AnyWindows<'_>,
                fits: Fits<'_>,
                errors: &mut [Errors],
            ) -> Result<(), BatchError> {
                windows.visit(ErrorsByPixelType { reference, options, fits, errors })
            }
        }
    )*};
}
arithmetic!(
    #[cfg_attr(not(feature = "whole"), inline)]
    f32,
    f64
);

/// Each thread allocates its scratch memory once; a fit allocates nothing.
impl<R: Arithmetic> Reference<R> {
    /// A reference with `threads` threads; 0 takes one for each processor.
    ///
    /// # Errors
    /// [`BatchError::TooManyThreads`]; [`BatchError::Threads`] if the system refuses to start them.
    pub fn new(threads: usize) -> Result<Self, BatchError> {
        Ok(Self { pool: pool(threads)?, arithmetic: PhantomData })
    }

    /// A reference with the threads of a pool, which others use too.
    pub fn in_pool(pool: Arc<rayon::ThreadPool>) -> Self {
        Self { pool: of_pool(pool), arithmetic: PhantomData }
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// A value so many times, in memory to which all threads have written: pages that are new take long.
    pub fn filled<T: Copy + Send + Sync>(&self, value: T, count: usize) -> Vec<T> {
        filled(self.pool.as_deref(), value, count)
    }

    fit_windows::__batches!(BatchError, fit_checked, errors_checked);

    fn fit_checked(
        &self,
        options: &Options,
        windows: AnyWindows<'_>,
        start: Start<'_>,
        fits: Outcomes<'_>,
    ) -> Result<(), BatchError> {
        R::fit(self, options, windows, start, fits)
    }

    fn errors_checked(
        &self,
        options: &Options,
        windows: AnyWindows<'_>,
        fits: Fits<'_>,
        errors: &mut [Errors],
    ) -> Result<(), BatchError> {
        R::errors(self, options, windows, fits, errors)?;
        Ok(widen_errors(options, windows, 0, fits, errors)?)
    }

    /// Knows no pixel type and no shape: `read` writes the pixels of a window to the first numbers that it is given, variances to
    /// the second and weights to the third.
    fn errors_all(
        &self,
        one: &dyn ErrorsOfOne<R>,
        (size, side): (Size, [bool; 2]),
        read: &ReadAll<'_, R>,
        fits: Fits<'_>,
        errors: &mut [Errors],
    ) -> Result<(), BatchError> {
        let pixels = size.pixels();
        let [variances, weights] = side.map(|there| if there { pixels } else { 0 });
        share(self.pool.as_deref(), errors, CHUNK, &|| {
            let mut scratch = vec![R::default(); scratch_len(size) + variances + weights];
            Ok(Box::new(move |first, errors| {
                for (index, errors) in (first..).zip(errors) {
                    let (window, rest) = scratch.split_at_mut(pixels);
                    let (variances, rest) = rest.split_at_mut(variances);
                    let (weights, axes) = rest.split_at_mut(weights);
                    read(index, window, variances, weights);
                    let fit = fits.at::<R>(index);
                    let Some(found) = one.errors(window, [variances, weights], axes, &fit) else {
                        break;
                    };
                    *errors = found;
                }
                Ok(())
            }))
        })
    }

    /// Fits windows that were checked. Knows no pixel type and no shape, so that it is not compiled for each: `read` writes
    /// the pixels of a window to the first numbers that it is given.
    fn fit_all<T: Scalar>(
        &self,
        one: &dyn FitOne<R>,
        size: Size,
        read: &Read<'_, R>,
        start: Start<'_>,
        fits: &mut [Fit<T>],
    ) -> Result<(), BatchError> {
        let notes = if one.takes_notes() { size.pixels() } else { 0 };
        share(self.pool.as_deref(), fits, CHUNK, &|| {
            let mut scratch = vec![R::default(); notes + scratch_len(size)];
            Ok(Box::new(move |first, fits| {
                for (index, fit) in (first..).zip(fits) {
                    let (notes, scratch) = scratch.split_at_mut(notes);
                    read(index, scratch, notes);
                    *fit = one.fit(start.outline(index), scratch, notes)?.cast();
                }
                Ok(())
            }))
        })
    }
}

/// Writes the pixels of the window with a number to the first of some numbers, and its notes to others.
type Read<'a, R> = dyn Fn(usize, &mut [R], &mut [R]) + Sync + 'a;

/// The same for pixels, variances and weights.
type ReadAll<'a, R> = dyn Fn(usize, &mut [R], &mut [R], &mut [R]) + Sync + 'a;

/// Fits a batch once the type of its pixels is known.
struct ByPixelType<'a, R> {
    reference: &'a Reference<R>,
    options: &'a Options,
    start: Start<'a>,
    fits: Outcomes<'a>,
}

impl<'w, R: Arithmetic> fit_windows::Visitor<'w> for ByPixelType<'_, R> {
    type Output = Result<(), BatchError>;

    fn visit<P: Pixel>(self, windows: Windows<'w, P>) -> Self::Output {
        let Self { reference, options, start, fits } = self;
        let size = windows.size();
        let (kind, em_gain) = (windows.note_kind(options), em_gain(options));
        let mapped = windows.side_data().is_mapped();
        let read = |index: usize, numbers: &mut [R], notes: &mut [R]| {
            read(windows.window(index), numbers);
            windows.convert(index, numbers, em_gain);
            windows.notes(index, kind, notes, em_gain);
        };
        let one = fit_one::<R>(size, options, kind, mapped)?;
        match fits {
            Outcomes::F32(fits) => reference.fit_all(&*one, size, &read, start, fits),
            Outcomes::F64(fits) => reference.fit_all(&*one, size, &read, start, fits),
        }
    }
}

/// Fits whose errors wait for the type of the pixels.
struct ErrorsByPixelType<'a, R> {
    reference: &'a Reference<R>,
    options: &'a Options,
    fits: Fits<'a>,
    errors: &'a mut [Errors],
}

impl<'w, R: Arithmetic> fit_windows::Visitor<'w> for ErrorsByPixelType<'_, R> {
    type Output = Result<(), BatchError>;

    fn visit<P: Pixel>(self, windows: Windows<'w, P>) -> Self::Output {
        let Self { reference, options, fits, errors } = self;
        let em_gain = em_gain(options);
        let side = [windows.side_data().is_mapped(), windows.side_data().is_weighted()];
        let read_all = |index: usize, pixels: &mut [R], variances: &mut [R], weights: &mut [R]| {
            read(windows.window(index), pixels);
            windows.convert(index, pixels, em_gain);
            if side[0] {
                windows.notes(index, NoteKind::Variances, variances, em_gain);
            }
            if side[1] {
                windows.notes(index, NoteKind::Weights, weights, em_gain);
            }
        };
        let size = windows.size();
        let one = errors_of_one::<R>(size, options, side)?;
        reference.errors_all(&*one, (size, side), &read_all, fits, errors)
    }
}
