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

use std::sync::Arc;

use fit_core::curve::Explicit;
use fit_curves::{
    Chunk, CompiledModel, CurveBatch, CurveError, CurveFits, CurveOptions, CurveStart, Curves,
    Place, Points, chunks, clean,
};
use fit_formula::Formula;
use rayon::prelude::*;

use crate::BatchError;
use crate::threads;
pub(crate) use block::Block;
pub(crate) use borrowed::BorrowedDataset;
pub(crate) use compiled::Compiled;
use engine::{Asked, Begin, CurveResult};
pub(crate) use engine::{FitOne, Work, settings, with_capacity_for};
pub(crate) use evaluate::{AtPoint, Evaluate, SetPoints};
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
const CHUNK: usize = 64;
/// The most bytes that results of operations may take, of each thread.
const MOST_BYTES: usize = 1 << 30;
/// A pack of numbers is no larger than this.
const PACK_BYTES: usize = 64;

/// Makes working memory for fits of a batch in double precision.
pub(crate) type MakeWork<'m> =
    dyn Fn(&CurveBatch<'_, '_, '_>) -> Work<Formulated<'static>> + Sync + 'm;

/// Fits models given as formulas in f64, one data set after the other on each thread.
///
/// Every other backend is tested against it. Its arithmetic is plain IEEE 754 with the functions of `libm`, so it gives
/// the same bits on every machine, with any number of threads.
#[derive(Debug)]
pub struct CurveReference {
    pool: Option<Arc<rayon::ThreadPool>>,
}

impl CurveReference {
    /// With so many threads; 0 takes one for each processor.
    ///
    /// # Errors
    /// If they cannot be started, or are more than [`crate::MOST_THREADS`].
    pub fn new(threads: usize) -> Result<Self, BatchError> {
        Ok(Self { pool: threads::pool(threads)? })
    }

    /// With the threads of a pool, which others use too.
    pub fn in_pool(pool: Arc<rayon::ThreadPool>) -> Self {
        Self { pool: threads::of_pool(pool) }
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
        self.fit_with(formula, curves, start, options, &|batch| batch.interpreted())
    }

    /// The same with working memory of a kind.
    pub(crate) fn fit_with(
        &self,
        formula: &Formula,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
        work: &MakeWork<'_>,
    ) -> Result<CurveFits, BatchError> {
        let mut fits = CurveFits::invalid(curves.count(), options.parameters(), options.covariance);
        let batch = checked(formula, curves, start, options)?;
        self.run(&batch, &mut fits, || work(&batch), |chunk| chunk.fits().collect());
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
        let work: &MakeWork<'_> = &|batch| batch.interpreted();
        self.fit_left_with((formula, curves, start, options), left, fits, work)
    }

    /// The same with working memory of a kind.
    pub(crate) fn fit_left_with(
        &self,
        (formula, curves, start, options): (&Formula, &Curves<'_>, CurveStart<'_>, &CurveOptions),
        left: &[usize],
        fits: &mut CurveFits,
        work: &MakeWork<'_>,
    ) -> Result<(), BatchError> {
        fits.check_room(curves.count(), options)?;
        let batch = checked(formula, curves, start, options)?;
        self.run(
            &batch,
            fits,
            || work(&batch),
            |chunk| {
                let fits = chunk.fits();
                let before = |limit: usize| left.partition_point(|&fit| fit < limit);
                left[before(fits.start)..before(fits.end)].to_vec()
            },
        );
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
        let work = || batch.work(Compiled::<_, f64, P, V>::new(model, batch.extent));
        self.run(&batch, &mut fits, work, |chunk| chunk.fits().collect());
        Ok(fits)
    }

    /// Fits some of the curves of each chunk.
    fn run<E>(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        fits: &mut CurveFits,
        make: impl Fn() -> Work<E> + Sync,
        which: impl Fn(&Chunk<'_>) -> Vec<usize> + Sync,
    ) where
        Work<E>: FitOne,
        E: SetPoints<f64>,
    {
        let run = |work: &mut Option<Work<E>>, mut chunk: Chunk<'_>| {
            for fit in which(&chunk) {
                let work = work.get_or_insert_with(&make);
                batch.fit(work, fit).put(chunk.place(fit));
            }
        };
        threads::share_chunks(self.pool(), chunks(fits, CHUNK), || None, run);
    }
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
    if batch.bytes(false, size_of::<f64>()) <= most {
        return Ok(());
    }
    let operations = batch.program.as_ref().map_or(0, |program| program.ops().len());
    Err(CurveError::TooManyPoints { operations, points: batch.curves.points() })
}

/// What of a batch is the evaluation's and the reference's.
pub(crate) trait Evaluated {
    /// Takes the variables at the points, if they are the same for all fits.
    fn set_points<R: Functions>(&self, model: &mut impl SetPoints<R>);
    /// The bytes that the results of all operations take, for numbers of so many bytes each, with or without a way of their
    /// own for splines on a lattice.
    fn bytes(&self, lattice: bool, number: usize) -> usize;
    /// Whether packs of numbers in single precision are enough, and can be held in memory.
    fn is_for_packs(&self) -> bool;
    /// How many variables are the numbers of columns and rows.
    fn numbered(&self) -> usize;
    /// What evaluates its formula.
    fn interpreter<R: Functions>(&self) -> Interpreter<R>;
    /// The same at points in so many columns and rows.
    fn interpreter_of<R: Functions>(&self, extent: [usize; 2]) -> Interpreter<R>;
    /// Working memory for [`Evaluated::fit`] of its formula.
    fn interpreted(&self) -> Work<Formulated<'static>>;
    /// The same for anything.
    fn work<E: SetPoints<f64>>(&self, model: E) -> Work<E>;
    /// Fits a data set.
    fn fit<E: SetPoints<f64>>(&self, work: &mut Work<E>, fit: usize) -> CurveResult
    where
        Work<E>: FitOne;
    /// Goes on with the fit of a data set from what another search found, whose iterations and evaluations count too.
    fn finish<E: SetPoints<f64>>(&self, work: &mut Work<E>, fit: usize, place: Place<'_>)
    where
        Work<E>: FitOne;
    /// Reads a data set.
    fn read<E: SetPoints<f64>>(&self, work: &mut Work<E>, fit: usize) -> Begin;
}

impl Evaluated for CurveBatch<'_, '_, '_> {
    fn set_points<R: Functions>(&self, model: &mut impl SetPoints<R>) {
        match self.curves.points {
            Points::Index => model.set_points(|_, column, _| R::splat(column as f64)),
            Points::Grid { .. } => model.set_points(|variable, column, row| {
                R::splat(if variable == 0 { column } else { row } as f64)
            }),
            Points::Shared(at) => {
                model.set_points(|variable, column, _| R::splat(at.get([variable, column])));
            }
            _ => {}
        }
    }

    fn bytes(&self, lattice: bool, number: usize) -> usize {
        let numbered = lattice.then(|| self.numbered());
        let program = self.program.as_ref();
        program.map_or(0, |program| bytes(program, self.axes, self.extent, numbered, number))
    }

    fn numbered(&self) -> usize {
        match self.curves.points {
            Points::Index => 1,
            Points::Grid { .. } => 2,
            _ => 0,
        }
    }

    fn is_for_packs(&self) -> bool {
        self.is_single() && self.bytes(true, PACK_BYTES) <= MOST_BYTES
    }

    fn interpreter<R: Functions>(&self) -> Interpreter<R> {
        self.interpreter_of(self.extent)
    }

    fn interpreter_of<R: Functions>(&self, extent: [usize; 2]) -> Interpreter<R> {
        let program = self.program.as_ref().expect("the job is one of a formula");
        Interpreter::new(program, self.axes, extent, self.numbered())
    }

    fn interpreted(&self) -> Work<Formulated<'static>> {
        self.work(Formulated::Plain(Box::new(self.interpreter())))
    }

    fn work<E: SetPoints<f64>>(&self, mut model: E) -> Work<E> {
        let mut origin = Vec::new();
        match self.curves.points {
            Points::Shared(at) => {
                origin = self.origin(0);
                let begin = |variable: usize| origin.get(variable).copied().unwrap_or(0.0);
                model
                    .set_points(|variable, column, _| at.get([variable, column]) - begin(variable));
            }
            _ => self.set_points(&mut model),
        }
        Work::new(model, self, origin)
    }

    fn fit<E: SetPoints<f64>>(&self, work: &mut Work<E>, fit: usize) -> CurveResult
    where
        Work<E>: FitOne,
    {
        if matches!(self.curves.points, Points::PerFit(_)) {
            work.origin = self.origin(fit);
        }
        let begin = self.read(work, fit);
        let Begin { start, limits } = &begin;
        let asked = Asked { start, limits, options: self.options, spent: 0 };
        let found = work.fit(self, asked);
        work.begin = begin;
        found
    }

    fn finish<E: SetPoints<f64>>(&self, work: &mut Work<E>, fit: usize, place: Place<'_>)
    where
        Work<E>: FitOne,
    {
        if matches!(self.curves.points, Points::PerFit(_)) {
            work.origin = self.origin(fit);
        }
        let mut begin = self.read(work, fit);
        begin.start.copy_from_slice(place.parameters);
        // From a minimum there is nothing to gain by what is eliminated.
        let none = Explicit { eliminated: 0, ..work.explicit };
        let explicit = std::mem::replace(&mut work.explicit, none);
        let Begin { start, limits } = &begin;
        let asked = Asked { start, limits, options: self.options, spent: *place.iterations };
        let found = work.fit(self, asked).after(*place.iterations, *place.evaluations);
        work.explicit = explicit;
        work.begin = begin;
        found.put(place);
    }

    fn read<E: SetPoints<f64>>(&self, work: &mut Work<E>, fit: usize) -> Begin {
        let Work { model, origin, .. } = work;
        if let Some(held) = model.borrowed() {
            held.take(fit, origin);
        } else if let Points::PerFit(at) = self.curves.points {
            let begin = |variable: usize| origin.get(variable).copied().unwrap_or(0.0);
            model.set_points(|variable, column, _| {
                at.get([fit, variable, column]) - begin(variable)
            });
        }
        if work.model.borrowed().is_none() {
            self.curves.data.row(fit, &mut work.data);
            if let Some(values) = self.curves.weights.filter(|_| self.has_own_weights()) {
                values.row(fit, &mut work.weights);
                clean(&mut work.weights);
            }
        }
        let parameters = 0..self.options.parameters();
        let mut begin = std::mem::take(&mut work.begin);
        begin.start.clear();
        begin.start.extend(parameters.clone().map(|j| self.start(fit, j)));
        begin.limits.clear();
        begin.limits.extend(parameters.map(|j| self.limit(fit, j)));
        begin
    }
}
