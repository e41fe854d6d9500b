//! Batches on any number of threads.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fit_core::{Errors, Fit, Fits, Options, Outcomes, Pixel, Scalar, Size, Start};
use fit_windows::{AnyWindows, Visitor, Windows};

use super::arch::{Appraiser, Source, appraiser};
use super::errors::SideKinds;
use super::load::How;
use super::window_fitter::{ErrorsByPixelType, how};
use super::{InstructionSet, WindowFitter};
use crate::reference::BatchError;
use crate::scatter::Widener;
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
    set: InstructionSet,
    pool: Option<Arc<rayon::ThreadPool>>,
    /// Working memory of earlier batches: making it takes longer than fitting a handful of windows.
    kept: Mutex<Vec<Kept>>,
}

/// Working memory, and what it was made for.
#[derive(Debug)]
struct Kept {
    options: Options,
    fitter: WindowFitter,
}

/// Working memory in use; it goes back when it is dropped.
struct Lent<'a> {
    simd: &'a Simd,
    options: &'a Options,
    fitter: Option<WindowFitter>,
}

impl Lent<'_> {
    fn run<T: Scalar>(
        &mut self,
        source: &dyn Source,
        start: Start<'_>,
        first: usize,
        fits: &mut [Fit<T>],
    ) {
        if let Some(fitter) = &mut self.fitter {
            fitter.run(source, start, first, fits);
        }
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut kept = self.simd.kept();
        // That of other sizes or options goes first.
        if kept.len() > self.simd.threads() {
            kept.remove(0);
        }
        kept.extend(self.fitter.take().map(|fitter| Kept { options: *self.options, fitter }));
    }
}

impl Simd {
    /// A fitter with `threads` threads (0 takes one for each processor) and the given instruction set, or else
    /// the one that [`InstructionSet::choose`] returns.
    ///
    /// # Errors
    /// [`BatchError::InstructionSet`] if it is not available, [`BatchError::TooManyThreads`],
    /// [`BatchError::Threads`] if the system refuses to start threads.
    pub fn new(threads: usize, set: Option<InstructionSet>) -> Result<Self, BatchError> {
        let set = set.map_or_else(InstructionSet::choose, InstructionSet::checked)?;
        Ok(Self { set, pool: pool(threads)?, kept: Mutex::default() })
    }

    /// The same with the threads of a pool, which others use too.
    ///
    /// # Errors
    /// [`BatchError::InstructionSet`].
    pub fn in_pool(
        pool: Arc<rayon::ThreadPool>,
        set: Option<InstructionSet>,
    ) -> Result<Self, BatchError> {
        let set = set.map_or_else(InstructionSet::choose, InstructionSet::checked)?;
        Ok(Self { set, pool: of_pool(pool), kept: Mutex::default() })
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        // Nothing that can panic is done while it is locked.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Working memory for a size and options, of an earlier batch if there is any.
    fn lend<'a>(
        &'a self,
        size: Size,
        options: &'a Options,
        how: How,
    ) -> Result<Lent<'a>, BatchError> {
        let mut kept = self.kept();
        let same = |kept: &Kept| {
            kept.fitter.size() == size && kept.options == *options && kept.fitter.how() == how
        };
        let found = kept.iter().position(same).map(|index| kept.remove(index).fitter);
        drop(kept);
        let fitter = found.map_or_else(|| WindowFitter::with(self.set, size, options, how), Ok)?;
        Ok(Lent { simd: self, options, fitter: Some(fitter) })
    }

    /// The instruction set in use.
    pub fn instruction_set(&self) -> InstructionSet {
        self.set
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
        // SAFETY: the processor has the instruction set, or this would not have been made.
        let make = || unsafe { appraiser(self.set, windows.size(), options, side) };
        let find = |(appraiser, widener): &mut (Box<dyn Appraiser>, _), first, errors: &mut [_]| {
            let appraiser = &mut **appraiser;
            windows.visit(ErrorsByPixelType { appraiser, first, fits, errors: &mut *errors });
            Widener::widen_odd(widener, options, windows, first, fits, errors)
        };
        match &self.pool {
            Some(pool) if count > ALONE => share(pool, errors, self.part(count), &|| {
                let mut made = (make()?, None);
                Ok(Box::new(move |first, errors| Ok(find(&mut made, first, errors)?)))
            }),
            _ => Ok(find(&mut (make()?, None), 0, errors)?),
        }
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
        let lend = || self.lend(size, options, how);
        match &self.pool {
            Some(pool) if count > ALONE => share(pool, fits, self.part(count), &|| {
                let mut lent = lend()?;
                Ok(Box::new(move |first, fits| {
                    lent.run(source, start, first, fits);
                    Ok(())
                }))
            }),
            _ => {
                lend()?.run(source, start, 0, fits);
                Ok(())
            }
        }
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
