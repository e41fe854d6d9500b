//! A handful of windows at a time.

use std::fmt;

use fit_core::pass::RawFit;
use fit_core::{
    ArgumentError, Corner, Errors, Fit, Fits, Options, Outcomes, Pixel, Scalar, Size, Start,
};
use fit_reference::{Widener, em_gain};
use fit_windows::{AnyWindows, NoteKind, Visitor, Windows};
use ndarray::ArrayView3;

use super::InstructionSet;
use super::arch::{Engine, ErrorEstimator, Source, engine, error_estimator};
use super::engine::{Numbers, Sink};
use super::errors::SideKinds;
use super::instruction_set::Available;
use super::lanes::lanes;
use super::load::How;
use crate::reference::BatchError;

/// Fits a handful of windows at once, again and again, for control loops. It is made once for a size and
/// options; after that it neither allocates, nor takes a lock, nor hands work to another thread. Only the first windows
/// that come with weights or a camera map, or come without them again, make it allocate once more.
///
/// ```
/// use fit_core::{Fit, Options, Size, Start};
/// use fit_cpu::{InstructionSet, WindowFitter};
/// use ndarray::Array3;
///
/// let set = InstructionSet::choose()?;
/// let mut fitter = WindowFitter::new(set, Size::new(7, 7), &Options::default())?;
/// let mut fits = [Fit::<f32>::invalid(); 3];
/// let windows = Array3::from_shape_fn((3, 7, 7), |(n, y, x)| {
///     let (dx, dy) = (x as f32 - 3.0 - 0.1 * n as f32, y as f32 - 3.2);
///     (400.0 * (-(dx * dx + dy * dy) / 2.6).exp() + 20.0) as u16
/// });
/// fitter.fit_into(windows.view(), Start::Estimate, &mut fits)?;
/// assert!((fits[2].x - 3.2).abs() < 0.01);
/// # Ok::<(), fit_cpu::BatchError>(())
/// ```
pub struct WindowFitter {
    set: Available,
    size: Size,
    options: Options,
    /// What the engine was made for.
    how: How,
    pub(super) engine: Box<dyn Engine>,
    /// Finds errors, once they were asked for.
    error_estimator: Option<(SideKinds, Box<dyn ErrorEstimator>, Widener)>,
}

impl fmt::Debug for WindowFitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (set, size) = (self.set.set(), self.size);
        write!(f, "WindowFitter {{ {set}, {}×{} }}", size.width, size.height)
    }
}

impl WindowFitter {
    /// A fitter for windows of one size.
    ///
    /// # Errors
    /// [`BatchError::InstructionSet`] if the processor does not have it, [`BatchError::Argument`] if the
    /// size or an option makes no sense.
    pub fn new(set: InstructionSet, size: Size, options: &Options) -> Result<Self, BatchError> {
        let how = How { kind: NoteKind::None, mapped: false, em_gain: em_gain(options) };
        Self::with(set.checked()?, size, options, how)
    }

    /// A fitter for windows that come with weights or a camera map, as `how` says.
    pub(super) fn with(
        set: Available,
        size: Size,
        options: &Options,
        how: How,
    ) -> Result<Self, BatchError> {
        let engine = engine(set, size, options, how)?;
        Ok(Self { set, size, options: *options, how, engine, error_estimator: None })
    }

    /// The instruction set in use.
    pub fn instruction_set(&self) -> InstructionSet {
        self.set.set()
    }

    pub(super) fn size(&self) -> Size {
        self.size
    }

    /// Fits every window of a stack (n, height, width) on the calling thread.
    ///
    /// # Errors
    /// [`BatchError::Argument`] if the windows are not of the size that the fitter was made for, or the
    /// number of start values or of outcomes is wrong; then `fits` is unchanged.
    pub fn fit_into<P: Pixel, T: Scalar>(
        &mut self,
        spots: ArrayView3<'_, P>,
        start: Start<'_>,
        fits: &mut [Fit<T>],
    ) -> Result<(), BatchError> {
        self.fit_windows(Windows::stack(spots).into(), start, fits.into())
    }

    /// Fits windows that are cut out of a stack of frames (n, height, width), on the calling thread.
    ///
    /// # Errors
    /// [`ArgumentError::OutsideFrames`] if a window is not within its frame, or if the number of start
    /// values or of outcomes is wrong; then `fits` is unchanged.
    pub fn fit_in_frames_into<P: Pixel, T: Scalar>(
        &mut self,
        frames: ArrayView3<'_, P>,
        corners: &[Corner],
        start: Start<'_>,
        fits: &mut [Fit<T>],
    ) -> Result<(), BatchError> {
        let windows = Windows::cuts(frames, self.size, corners);
        self.fit_windows(windows.into(), start, fits.into())
    }

    /// Fits windows, stacked or cut from frames, on the calling thread.
    ///
    /// # Errors
    /// As [`WindowFitter::fit_into`] and [`WindowFitter::fit_in_frames_into`].
    pub fn fit_windows(
        &mut self,
        windows: AnyWindows<'_>,
        start: Start<'_>,
        fits: Outcomes<'_>,
    ) -> Result<(), BatchError> {
        self.check_size(&windows)?;
        windows.check(&self.options, start, fits.len())?;
        let how = how(&windows, &self.options);
        if how != self.how {
            *self = Self::with(self.set, self.size, &self.options, how)?;
        }
        windows.visit(OneByPixelType { fitter: self, start, fits });
        Ok(())
    }

    /// Finds the errors of fits that were made with these options from these windows, on the calling thread. The first
    /// call allocates memory.
    ///
    /// # Errors
    /// [`BatchError::Argument`] if the windows are not of the size that the fitter was made for, or there is not one
    /// outcome and room for its errors for each; then `errors` is unchanged.
    pub fn errors_into<T: Scalar>(
        &mut self,
        windows: AnyWindows<'_>,
        fits: &[Fit<T>],
        errors: &mut [Errors],
    ) -> Result<(), BatchError> {
        self.find_errors(windows, fits.into(), errors)
    }

    fn check_size(&self, windows: &AnyWindows<'_>) -> Result<(), ArgumentError> {
        match windows.size() {
            size if size == self.size => Ok(()),
            size => Err(ArgumentError::PixelCount { size: self.size, pixels: size.pixels() }),
        }
    }

    /// Knows no type, so that no other crate has the loading of windows a second time.
    fn find_errors(
        &mut self,
        windows: AnyWindows<'_>,
        fits: Fits<'_>,
        errors: &mut [Errors],
    ) -> Result<(), BatchError> {
        self.check_size(&windows)?;
        windows.validate_errors(&self.options, fits.len(), errors.len())?;
        let side = SideKinds::of(&windows);
        if self.error_estimator.as_ref().is_none_or(|(made_for, ..)| *made_for != side) {
            let made = error_estimator(self.set, self.size, &self.options, side)?;
            self.error_estimator = Some((side, made, Widener::new(&self.options, &windows)?));
        }
        if let Some((_, error_estimator, widener)) = &mut self.error_estimator {
            let error_estimator = &mut **error_estimator;
            windows.visit(ErrorsByPixelType {
                error_estimator,
                first: 0,
                fits,
                errors: &mut *errors,
            });
            widener.widen(windows, 0, fits, errors)?;
        }
        Ok(())
    }

    /// Fits as many windows of `source` as there are `fits`, from number `first` on.
    pub(super) fn run<T: Scalar>(
        &mut self,
        source: &dyn Source,
        start: Start<'_>,
        first: usize,
        fits: &mut [Fit<T>],
    ) {
        let windows = first..first + fits.len();
        self.engine.run(source, start, windows, &mut Room { first, fits });
    }
}

/// What windows come with.
pub(super) fn how(windows: &AnyWindows<'_>, options: &Options) -> How {
    let (kind, mapped) = (windows.note_kind(options), windows.side_data().is_mapped());
    How { kind, mapped, em_gain: em_gain(options) }
}

/// Fits a batch by one fitter once the type of its pixels is known.
struct OneByPixelType<'a> {
    fitter: &'a mut WindowFitter,
    start: Start<'a>,
    fits: Outcomes<'a>,
}

impl<'w> Visitor<'w> for OneByPixelType<'_> {
    type Output = ();

    fn visit<P: Pixel>(self, windows: Windows<'w, P>) {
        match self.fits {
            Outcomes::F32(fits) => self.fitter.run(&windows, self.start, 0, fits),
            Outcomes::F64(fits) => self.fitter.run(&windows, self.start, 0, fits),
        }
    }
}

/// Fits whose errors wait for the type of the pixels.
pub(super) struct ErrorsByPixelType<'a> {
    pub(super) error_estimator: &'a mut dyn ErrorEstimator,
    /// The window of the first of `errors`.
    pub(super) first: usize,
    pub(super) fits: Fits<'a>,
    pub(super) errors: &'a mut [Errors],
}

impl<'w> Visitor<'w> for ErrorsByPixelType<'_> {
    type Output = ();

    fn visit<P: Pixel>(self, windows: Windows<'w, P>) {
        let Self { error_estimator, first, fits, errors } = self;
        error_estimator.errors(&windows, first..first + errors.len(), fits, errors);
    }
}

/// The caller's outcomes for the windows from number `first` on.
struct Room<'a, T> {
    first: usize,
    fits: &'a mut [Fit<T>],
}

impl<T: Scalar> Sink for Room<'_, T> {
    fn put(&mut self, done: u32, windows: &[usize; 32], found: &Numbers) {
        for lane in lanes(done) {
            let fit = Fit::from(RawFit::from_numbers(found.map(|numbers| numbers[lane])));
            self.fits[windows[lane] - self.first] = fit.cast();
        }
    }

    fn put_invalid(&mut self, window: usize) {
        self.fits[window - self.first] = Fit::invalid();
    }
}
