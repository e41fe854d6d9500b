//! Batches on any number of threads.

use std::sync::Arc;

use fit_core::{Errors, Fit, Fits, Options, Outcomes, Pixel, Scalar, Size, Start};
use fit_reference::Widener;
use fit_windows::{AnyWindows, Visitor, Windows};

use super::arch::{ErrorEstimator, Source, error_estimator};
use super::errors::SideKinds;
use super::instruction_set::Available;
use super::keeper::{Keeper, Lent};
use super::load::How;
use super::window_fitter::{ErrorsByPixelType, how};
use super::{InstructionSet, WindowFitter};
use crate::reference::BatchError;
use crate::threads::{filled, of_pool, pool, share};

/// Windows given to a thread at a time: about a tenth of a millisecond of work.
const CHUNK: usize = 1024;

/// A batch of no more windows than this is fitted by the calling thread: handing work over costs more
/// than it saves (`docs/performance.md` has the measurement).
const ALONE: usize = 512;

/// Fits batches of windows in single precision, one fit per lane of a vector register, with the
/// processor's best instruction set, on any number of threads.
///
/// With one instruction set a window always gives the same bits, whatever the number of threads and
/// the other windows of the batch.
#[derive(Debug)]
pub struct Simd {
    set: Available,
    pool: Option<Arc<rayon::ThreadPool>>,
    /// By what it was made for.
    fitters: Keeper<(Size, Options, How), WindowFitter>,
    appraisers: Keeper<(Size, Options, SideKinds), Appraising>,
}

/// What finds errors, and what widens them once that was needed.
type Appraising = (Box<dyn ErrorEstimator>, Option<Widener>);

impl Simd {
    /// A fitter with `threads` threads (0 takes one for each processor) and the given instruction set, or else
    /// the one that [`InstructionSet::choose`] returns.
    ///
    /// # Errors
    /// [`BatchError::InstructionSet`] if it is not available, [`BatchError::TooManyThreads`],
    /// [`BatchError::Threads`] if the system refuses to start threads.
    pub fn new(threads: usize, set: Option<InstructionSet>) -> Result<Self, BatchError> {
        let set = Available::new(set)?;
        Ok(Self::with(set, pool(threads)?))
    }

    /// The same with the threads of a pool, which others use too.
    ///
    /// # Errors
    /// [`BatchError::InstructionSet`].
    pub fn in_pool(
        pool: Arc<rayon::ThreadPool>,
        set: Option<InstructionSet>,
    ) -> Result<Self, BatchError> {
        Ok(Self::with(Available::new(set)?, of_pool(pool)))
    }

    fn with(set: Available, pool: Option<Arc<rayon::ThreadPool>>) -> Self {
        Self { set, pool, fitters: Keeper::default(), appraisers: Keeper::default() }
    }

    /// Working memory for a size and options, of an earlier batch if there is any.
    fn lend(
        &self,
        size: Size,
        options: &Options,
        how: How,
    ) -> Result<Lent<'_, (Size, Options, How), WindowFitter>, BatchError> {
        let make = || WindowFitter::with(self.set, size, options, how);
        self.fitters.lend((size, *options, how), self.threads(), make)
    }

    /// The instruction set in use.
    pub fn instruction_set(&self) -> InstructionSet {
        self.set.set()
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
        let how = how(&windows, options);
        windows.visit(ByPixelType { simd: self, options, how, start, fits })
    }

    fn errors_checked(
        &self,
        options: &Options,
        windows: AnyWindows<'_>,
        fits: Fits<'_>,
        errors: &mut [Errors],
    ) -> Result<(), BatchError> {
        let count = errors.len();
        let side = SideKinds::of(&windows);
        share(self.pool(count), errors, self.part(count), &|| {
            let key = (windows.size(), *options, side);
            let mut lent = self.appraisers.lend(key, self.threads(), || {
                error_estimator(self.set, windows.size(), options, side).map(|made| (made, None))
            })?;
            Ok(Box::new(move |first, errors| {
                let Some((error_estimator, widener)) = lent.get() else { return Ok(()) };
                let error_estimator = &mut **error_estimator;
                windows.visit(ErrorsByPixelType {
                    error_estimator,
                    first,
                    fits,
                    errors: &mut *errors,
                });
                Ok(Widener::widen_odd(widener, options, windows, first, fits, errors)?)
            }))
        })
    }

    /// The threads that share so many windows.
    fn pool(&self, count: usize) -> Option<&rayon::ThreadPool> {
        self.pool.as_deref().filter(|_| count > ALONE)
    }

    /// How many of so many windows a thread is given at a time: so few that all threads are busy to the end.
    fn part(&self, count: usize) -> usize {
        (count / (4 * self.threads())).clamp(64, CHUNK)
    }

    /// Knows no pixel type.
    fn fit_all<T: Scalar>(
        &self,
        options: &Options,
        (size, how): (Size, How),
        source: &dyn Source,
        start: Start<'_>,
        fits: &mut [Fit<T>],
    ) -> Result<(), BatchError> {
        let count = fits.len();
        share(self.pool(count), fits, self.part(count), &|| {
            let mut lent = self.lend(size, options, how)?;
            Ok(Box::new(move |first, fits| {
                if let Some(fitter) = lent.get() {
                    fitter.run(source, start, first, fits);
                }
                Ok(())
            }))
        })
    }
}

/// Fits a batch once the type of its pixels is known.
struct ByPixelType<'a> {
    simd: &'a Simd,
    options: &'a Options,
    how: How,
    start: Start<'a>,
    fits: Outcomes<'a>,
}

impl<'w> Visitor<'w> for ByPixelType<'_> {
    type Output = Result<(), BatchError>;

    fn visit<P: Pixel>(self, windows: Windows<'w, P>) -> Self::Output {
        let Self { simd, options, how, start, fits } = self;
        let size = (windows.size(), how);
        match fits {
            Outcomes::F32(fits) => simd.fit_all(options, size, &windows, start, fits),
            Outcomes::F64(fits) => simd.fit_all(options, size, &windows, start, fits),
        }
    }
}
