//! Models given as formulas, fitted to values at any points.

mod block;
mod borrowed;
mod compiled;
mod engine;
mod evaluate;
mod feet;
mod functions;
mod gpufit;
mod interpreter;
mod lattice;
mod lookup;
mod orthogonal;
mod places;
mod run;
mod shared;
mod steps;
mod subsample;
mod summary;
mod visit;

use std::fmt;
use std::ops::Range;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use fit_curves::{
    Chunk, CompiledModel, CurveBatch, CurveError, CurveFits, CurveOptions, CurveStart, Curves,
    chunks,
};
use fit_formula::Formula;
use rayon::prelude::*;

use crate::BatchError;
use crate::threads;
pub(crate) use block::Block;
pub(crate) use borrowed::BorrowedDataset;
pub(crate) use compiled::Compiled;
pub(crate) use engine::{FitOne, Work, settings, with_capacity_for};
pub(crate) use evaluate::{AtPoint, Evaluate, EvaluateBlocks, SetPoints, set_points};
pub use feet::{ErrorsOfVariables, effective_weights};
pub(crate) use functions::Functions;
pub(crate) use interpreter::Interpreter;
use interpreter::bytes;
pub(crate) use lattice::{Argument, Lattice, MOST_STILL, SPARE};
pub(crate) use lookup::RESULTS;
pub(crate) use places::{DataSet, MOST_IN_PACKS, Places, Scaling, Total};
pub(crate) use run::{operate, run};
pub use shared::{SharedFits, SharedPart, SharedValue};
pub(crate) use steps::Step;
pub(crate) use summary::{DataSummary, see, size};
pub(crate) use visit::{Formulated, Packs};

/// Fits given to a thread at a time, at least.
pub(crate) const CHUNK: usize = 64;
/// The most bytes that results of operations may take, of each thread.
const MOST_BYTES: usize = 1 << 30;
/// A pack of numbers is no larger than this.
const PACK_BYTES: usize = 64;

/// Makes working memory for fits of formulas in double precision.
pub(crate) trait MakeWork: fmt::Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// For the data sets of a batch.
    fn work(&self, batch: &CurveBatch<'_, '_, '_>) -> Work<Formulated<'static>>;
}

/// With points number by number.
#[derive(Debug)]
struct OneByOne;

impl MakeWork for OneByOne {
    fn work(&self, batch: &CurveBatch<'_, '_, '_>) -> Work<Formulated<'static>> {
        interpreted(batch)
    }
}

/// Fits models given as formulas in f64, one data set after the other on each thread.
///
/// Every other backend is tested against it. Its arithmetic is plain IEEE 754 with the functions of `libm`, so it gives
/// the same bits on every machine, with any number of threads. That of [`CurveSimd::double`](crate::CurveSimd::double) has points in
/// lanes.
#[derive(Debug)]
pub struct CurveReference {
    pool: Option<Arc<rayon::ThreadPool>>,
    works: Box<dyn MakeWork>,
}

impl CurveReference {
    /// With so many threads; 0 takes one for each processor.
    ///
    /// # Errors
    /// If they cannot be started, or are more than [`crate::MOST_THREADS`].
    pub fn new(threads: usize) -> Result<Self, BatchError> {
        Ok(Self::with(threads::pool(threads)?, OneByOne))
    }

    /// With the threads of a pool, which others use too.
    pub fn in_pool(pool: Arc<rayon::ThreadPool>) -> Self {
        Self::with(threads::of_pool(pool), OneByOne)
    }

    /// With threads, and working memory of a kind.
    pub(crate) fn with(
        pool: Option<Arc<rayon::ThreadPool>>,
        works: impl MakeWork + 'static,
    ) -> Self {
        Self { pool, works: Box::new(works) }
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// Does something for each number below `count`, on these threads.
    pub fn map<T: Send>(&self, count: usize, of: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
        match &self.pool {
            None => (0..count).map(of).collect(),
            Some(pool) => pool.install(|| (0..count).into_par_iter().map(of).collect()),
        }
    }

    pub(crate) fn pool(&self) -> Option<&rayon::ThreadPool> {
        self.pool.as_deref()
    }

    /// Fits a formula to curves.
    ///
    /// # Errors
    /// If the request makes no sense. A fit that fails is no error; its status says how it ended.
    pub fn fit(
        &self,
        formula: &Formula,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
    ) -> Result<CurveFits, BatchError> {
        let mut fits = CurveFits::invalid(curves.count(), options.parameters(), options.covariance);
        let batch = checked(formula, curves, start, options)?;
        self.run(&batch, &mut fits, (None, CHUNK), || self.works.work(&batch));
        Ok(fits)
    }

    /// Fits some of the curves: those whose numbers are `left`, in rising order, by another fitter, which was asked for the
    /// same.
    ///
    /// # Errors
    /// As [`CurveReference::fit`], and if there are not as many fits as curves.
    pub fn fit_left(
        &self,
        formula: &Formula,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
        left: &[usize],
        fits: &mut CurveFits,
    ) -> Result<(), BatchError> {
        fits.check_room(curves.count(), options)?;
        let batch = checked(formula, curves, start, options)?;
        self.run(&batch, fits, (Some(left), CHUNK), || self.works.work(&batch));
        Ok(())
    }

    /// Fits a model written in Rust to curves.
    ///
    /// # Errors
    /// As for [`CurveReference::fit`].
    pub fn fit_compiled<M, const P: usize, const V: usize>(
        &self,
        model: &M,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
    ) -> Result<CurveFits, BatchError>
    where
        M: CompiledModel<P, V>,
    {
        let mut fits = CurveFits::invalid(curves.count(), options.parameters(), options.covariance);
        let batch = CurveBatch::of_model(P, V, curves, start, options)?;
        let work = || Work::new(Compiled::<_, f64, P, V>::new(model, batch.extent), &batch);
        self.run(&batch, &mut fits, (None, CHUNK), work);
        Ok(fits)
    }

    /// Fits all data sets of a batch, or those that are `left`, which threads are given so many of at a time.
    pub(crate) fn run<E>(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        fits: &mut CurveFits,
        (left, length): (Option<&[usize]>, usize),
        make: impl Fn() -> Work<E> + Sync,
    ) where
        Work<E>: FitOne,
        E: SetPoints<f64>,
    {
        let run = |work: &mut Option<Work<E>>, mut chunk: Chunk<'_>| {
            for fit in among(left, chunk.fits()) {
                let work = work.get_or_insert_with(&make);
                work.fit_set(batch, fit, chunk.place(fit));
            }
        };
        threads::share_chunks(self.pool(), chunks(fits, length), || None, run);
    }
}

/// Those of some fits that are `left`, in rising order, or all of them.
pub(crate) fn among(left: Option<&[usize]>, fits: Range<usize>) -> Vec<usize> {
    let Some(left) = left else { return fits.collect() };
    let before = |limit: usize| left.partition_point(|&fit| fit < limit);
    left[before(fits.start)..before(fits.end)].to_vec()
}

/// A batch that can be held in memory.
pub(crate) fn checked<'c, 's, 'o>(
    formula: &Formula,
    curves: &Curves<'c>,
    start: CurveStart<'s>,
    options: &'o CurveOptions,
) -> Result<CurveBatch<'c, 's, 'o>, BatchError> {
    let batch = CurveBatch::new(formula, curves, start, options, false)?;
    check_memory(&batch)?;
    Ok(batch)
}

/// Checks that the results of all operations can be held.
pub(crate) fn check_memory(batch: &CurveBatch<'_, '_, '_>) -> Result<(), CurveError> {
    check_bytes(batch, MOST_BYTES)
}

/// Checks that they take no more than so many bytes.
pub(crate) fn check_bytes(batch: &CurveBatch<'_, '_, '_>, most: usize) -> Result<(), CurveError> {
    if bytes(batch, false, size_of::<f64>()) <= most {
        return Ok(());
    }
    let operations = batch.program.as_ref().map_or(0, |program| program.ops().len());
    Err(CurveError::TooManyPoints { operations, points: batch.curves.points() })
}

/// Whether packs of numbers in single precision are enough for a batch, and can be held in memory.
pub(crate) fn is_for_packs(batch: &CurveBatch<'_, '_, '_>) -> bool {
    batch.is_single() && bytes(batch, true, PACK_BYTES) <= MOST_BYTES
}

/// Working memory for fits of a formula, number by number.
pub(crate) fn interpreted(batch: &CurveBatch<'_, '_, '_>) -> Work<Formulated<'static>> {
    Work::new(Formulated::Plain(Box::new(Interpreter::of(batch, batch.extent))), batch)
}
