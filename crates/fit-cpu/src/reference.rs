//! The reference on any number of threads.

use std::marker::PhantomData;
use std::sync::Arc;

use fit_core::{ArgumentError, Errors, Fit, Fits, Options, Outcomes, Scalar, Start};
use fit_curves::CurveError;
use fit_reference::{Arithmetic, ReferenceErrors, ReferenceFit, widen_errors};
use fit_windows::AnyWindows;

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

/// Fits batches of windows as [`fit_reference`] does, in `f64` or `f32`, one window after the other on each thread.
///
/// Every other backend is tested against it. Its arithmetic is plain IEEE 754 with the exponential
/// from `libm`, so it gives the same bits on every machine, with any number of threads.
#[derive(Debug)]
pub struct Reference<R> {
    pool: Option<Arc<rayon::ThreadPool>>,
    arithmetic: PhantomData<R>,
}

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
        let fit = ReferenceFit::<R>::new(options, windows, start)?;
        match fits {
            Outcomes::F32(fits) => self.fit_all(&fit, fits),
            Outcomes::F64(fits) => self.fit_all(&fit, fits),
        }
    }

    fn fit_all<T: Scalar>(
        &self,
        fit: &ReferenceFit<'_, '_, R>,
        fits: &mut [Fit<T>],
    ) -> Result<(), BatchError> {
        share(self.pool.as_deref(), fits, CHUNK, &|| {
            let mut work = fit.work();
            Ok(Box::new(move |first, fits| Ok(work(first, fits)?)))
        })
    }

    fn errors_checked(
        &self,
        options: &Options,
        windows: AnyWindows<'_>,
        fits: Fits<'_>,
        errors: &mut [Errors],
    ) -> Result<(), BatchError> {
        let found = ReferenceErrors::<R>::new(options, windows, fits)?;
        share(self.pool.as_deref(), errors, CHUNK, &|| {
            let mut work = found.work();
            Ok(Box::new(move |first, errors| {
                work(first, errors);
                Ok(())
            }))
        })?;
        Ok(widen_errors(options, windows, 0, fits, errors)?)
    }
}
