//! Models given as formulas, fitted in the lanes of vector registers.

mod engine;
mod functions;
mod gpufit;
mod lattice;
mod search_kind;
mod trust_region;

use std::sync::Arc;

use fit_core::{Real, Status};
use fit_curves::{
    Chunk, CompiledModel, CurveBatch, CurveFits, CurveNumber, CurveOptions, CurveStart, Curves,
    GpufitBuffers, GpufitChunk, GpufitOptions, chunks,
};
use fit_formula::Formula;

use super::arch::pack::Pack;
use super::arch::register::Task;
use super::instruction_set::Available;
use super::{InstructionSet, double};
use crate::curve::{
    Compiled, CurveReference, FitOne, Functions, Interpreter, SetPoints, Work, among, check_bytes,
    check_memory, checked, interpreted, is_for_packs,
};
use crate::reference::BatchError;
use crate::threads::{of_pool, pool, share_chunks};
use engine::{MOST_PARAMETERS, Scratch, Worker};
use gpufit::Gpufit;
use search_kind::SearchKind;
use trust_region::TrustRegionLm;

/// Data sets given to a thread at a time.
const CHUNK: usize = 1024;
/// A batch of no more data sets than this is fitted by the calling thread.
const ALONE: usize = 128;
/// The most bytes that the results of all operations for a long data set may take, where there are addresses for so many.
const MOST_LONG_BYTES: usize =
    if usize::BITS > 35 { 1 << (usize::BITS / 64 * 35) } else { usize::MAX };
/// [`MOST_PARAMETERS`] of Gpufit's search, which is a [`SearchKind`] for few.
const MOST_OF_GPUFIT: usize = 7;

/// Fits models given as formulas in single precision, one data set per lane of a vector register, on any number of
/// threads.
///
/// What single precision cannot decide is fitted again in double precision, as [`CurveReference`] does: fits that end
/// without a minimum, parameters that it cannot tell from each other or whose standard error is a few of its spacings, data
/// that the model fits to five digits (2·10⁻⁵ of the largest), counts above 10⁹, and data that are not finite, too small, or
/// too few.
/// Models of more than 16 parameters, more than 2²⁰ points, variables whose values single precision cannot tell from each
/// other, and a tolerance below 10⁻⁴ are fitted in double precision from the start. So are up to four data sets of more than 65,536
/// points, which all threads share. Where their points do not lie on a grid, such a search begins with
/// some of the points, if these see what all see.
#[derive(Debug)]
pub struct CurveSimd {
    set: Available,
    double: CurveReference,
}

impl CurveSimd {
    /// A fitter with `threads` threads (0 takes one for each processor) and the given instruction set, or else
    /// the one that [`InstructionSet::choose`] returns.
    ///
    /// # Errors
    /// As [`crate::Simd::new`].
    pub fn new(threads: usize, set: Option<InstructionSet>) -> Result<Self, BatchError> {
        let set = Available::new(set)?;
        Ok(Self::with(set, pool(threads)?))
    }

    /// The same with the threads of a pool, which others use too.
    ///
    /// # Errors
    /// As [`crate::Simd::in_pool`].
    pub fn in_pool(
        pool: Arc<rayon::ThreadPool>,
        set: Option<InstructionSet>,
    ) -> Result<Self, BatchError> {
        Ok(Self::with(Available::new(set)?, of_pool(pool)))
    }

    fn with(set: Available, pool: Option<Arc<rayon::ThreadPool>>) -> Self {
        Self { set, double: CurveReference::with(pool, set) }
    }

    /// The instruction set in use.
    pub fn instruction_set(&self) -> InstructionSet {
        self.set.set()
    }

    /// The fitter in double precision from the start, on the same threads. It is as [`CurveReference::new`] gives it but for the rounding of
    /// sums and functions: the lanes have points of one data set, eight with AVX-512, four with AVX2 and on processors that are not
    /// x86-64. With other instruction sets of these, and for models of more than 16 parameters, it is the same to the last bit.
    pub fn double(&self) -> &CurveReference {
        &self.double
    }

    /// Fits a formula to curves.
    ///
    /// # Errors
    /// As [`CurveReference::fit`].
    pub fn fit(
        &self,
        formula: &Formula,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
    ) -> Result<CurveFits, BatchError> {
        // A few data sets of so many points that threads share them: lanes would have nothing to do.
        if curves.count() <= double::FEW && double::is_long(curves.points()) {
            let fit = || {
                let mut fits =
                    CurveFits::invalid(curves.count(), options.parameters(), options.covariance);
                let batch = CurveBatch::new(formula, curves, start, options, false)?;
                // Threads share the results of operations.
                check_bytes(&batch, MOST_LONG_BYTES)?;
                let work = || double::work(self.set, &batch);
                self.double.run(&batch, &mut fits, (None, double::FEW), work);
                Ok(fits)
            };
            return self.double.pool().map_or_else(fit, |pool| pool.install(fit));
        }
        let batch = checked(formula, curves, start, options)?;
        let coarse = batch.coarse();
        let lanes = batch.with_options(if batch.is_fine() { &coarse } else { options });
        let worker = || worker(self.set, &lanes, &TrustRegionLm);
        Ok(self.run(&batch, &lanes, worker, || double::work(self.set, &batch)))
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
        let batch = CurveBatch::of_model(P, V, curves, start, options)?;
        let coarse = batch.coarse();
        let lanes = batch.with_options(if batch.is_fine() { &coarse } else { options });
        let worker =
            || with_packs!(self.set, |P| P::compiled(MakeCompiled { batch: &lanes, model }));
        let work = || Work::new(Compiled::<_, f64, P, V>::new(model, batch.extent), &batch);
        Ok(self.run(&batch, &lanes, worker, work))
    }

    /// Fits a formula by Gpufit's search ([`fit_engine::gpufit`]). Start values must be within the limits. If another fitter has `left`
    /// some data sets, whose numbers rise, these alone are fitted, in double precision; the room is for all.
    ///
    /// What single precision cannot decide is fitted again in double precision: models with more than 7 parameters, searches that end
    /// because they are singular or begin without a likelihood, data that the model fits to five digits, and those
    /// that are not finite or too small; and everything where the tolerance is below 10⁻⁶.
    ///
    /// # Errors
    /// If there are not as many points, weights, start values, limits or outcomes as data.
    // Compiled by those who ask for it: few do.
    #[cfg_attr(not(feature = "whole"), inline)]
    pub fn fit_gpufit(
        &self,
        formula: &Formula,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
        gpufit: &GpufitOptions,
        (left, room): (Option<&[usize]>, GpufitBuffers<'_>),
    ) -> Result<(), BatchError> {
        let batch = CurveBatch::of_gpufit(formula, curves, start, options, false)?;
        check_memory(&batch)?;
        let count = curves.count();
        let single = left.is_none()
            && options.parameters() <= MOST_OF_GPUFIT
            && options.free() > 0
            && gpufit.is_single()
            && is_for_packs(&batch);
        let kind = Gpufit(*gpufit);
        let make = || (single.then(|| worker(self.set, &batch, &kind)), None);
        let run = |(worker, work): &mut (Lanes<'static, Gpufit>, Option<_>),
                   mut chunk: GpufitChunk<'_>| {
            let fits = chunk.fits();
            let left = match worker {
                None => among(left, fits),
                Some(worker) => {
                    worker.run(&batch, fits, &mut chunk);
                    chunk.take_left()
                }
            };
            for fit in left {
                let work = work.get_or_insert_with(|| interpreted(&batch));
                work.fit_gpufit(&batch, fit, gpufit, chunk.place(fit));
            }
        };
        let chunks = room.chunks(count, options.parameters(), self.chunk_length(count))?;
        share_chunks(self.pool(count), chunks, make, run);
        Ok(())
    }

    /// How many data sets a thread is given at a time.
    fn chunk_length(&self, count: usize) -> usize {
        let threads = self.pool(count).map(rayon::ThreadPool::current_num_threads);
        threads.map_or(CHUNK, |threads| (count / (4 * threads)).clamp(ALONE / 2, CHUNK))
    }

    /// The threads that share so many data sets.
    fn pool(&self, count: usize) -> Option<&rayon::ThreadPool> {
        self.double.pool().filter(|_| count > ALONE)
    }

    /// Fits in lanes, and what these leave in double precision; all of it goes on there if that is asked for.
    fn run<'w, E>(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        lanes: &CurveBatch<'_, '_, '_>,
        worker: impl Fn() -> Box<dyn Worker<TrustRegionLm> + 'w> + Sync,
        make_work: impl Fn() -> Work<E> + Sync,
    ) -> CurveFits
    where
        Work<E>: FitOne,
        E: SetPoints<f64>,
    {
        let CurveBatch { options, curves, .. } = batch;
        let parameters = options.parameters();
        let mut fits = CurveFits::invalid(curves.count(), parameters, options.covariance);
        let fine = batch.is_fine();
        let single = parameters <= MOST_PARAMETERS && options.free() > 0 && is_for_packs(lanes);
        // Working memory, and what is needed for the rest when there is one.
        let make = || (single.then(&worker), None);
        let run = |(worker, work): &mut (Lanes<'w, TrustRegionLm>, Option<Work<E>>),
                   mut chunk: Chunk<'_>| {
            let fits = chunk.fits();
            let left = match worker {
                None => fits.collect(),
                Some(worker) => {
                    worker.run(lanes, fits.clone(), &mut chunk);
                    let mut left = chunk.take_left();
                    for fit in if fine { fits } else { 0..0 } {
                        let place = chunk.place(fit);
                        if place.status.is_converged() || *place.status == Status::AtLimit {
                            work.get_or_insert_with(&make_work).finish(batch, fit, place);
                        } else if *place.status == Status::MaxIterations {
                            left.push(fit);
                        }
                    }
                    left
                }
            };
            for fit in left {
                let work = work.get_or_insert_with(&make_work);
                work.fit_set(batch, fit, chunk.place(fit));
            }
        };
        let count = curves.count();
        share_chunks(self.pool(count), chunks(&mut fits, self.chunk_length(count)), make, run);
        fits
    }
}

/// A worker, unless single precision is not enough.
type Lanes<'w, K> = Option<Box<dyn Worker<K> + 'w>>;

/// A worker for an instruction set.
fn worker<K: SearchKind + 'static>(
    set: Available,
    batch: &CurveBatch<'_, '_, '_>,
    kind: &K,
) -> Box<dyn Worker<K>> {
    with_packs!(set, |P| worker_of::<P, K>(batch, kind))
}

/// The same for packs. Models have room for so many parameters; each room is code of its own, of which the portable set has little.
fn worker_of<P: Pack + Functions, K: SearchKind + 'static>(
    batch: &CurveBatch<'_, '_, '_>,
    kind: &K,
) -> Box<dyn Worker<K>> {
    macro_rules! rooms {
        ($($capacity:literal)*) => {
            match batch.options.parameters() {
                $(0..=$capacity => P::compiled(MakeWorker::<_, $capacity> { batch, kind }),)*
                _ if K::MANY => P::compiled(MakeWorker::<_, MOST_PARAMETERS> { batch, kind }),
                _ => unreachable!("a search for few parameters"),
            }
        };
    }
    if const { P::UNROLLED == 8 } { rooms!(4 8) } else { rooms!(2 3 4 5 6 7) }
}

/// Makes a worker with room for N parameters.
struct MakeWorker<'a, 'c, 's, 'o, K, const N: usize> {
    batch: &'a CurveBatch<'c, 's, 'o>,
    kind: &'a K,
}

impl<P: Pack + Functions, K: SearchKind + 'static, const N: usize> Task<P>
    for MakeWorker<'_, '_, '_, '_, K, N>
{
    type Output = Box<dyn Worker<K>>;
    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { batch, kind } = self;
        Box::new(Scratch::<P, N, _, K>::new(batch, Interpreter::of(batch, batch.extent), kind))
    }
}

/// Makes a worker for a model written in Rust.
struct MakeCompiled<'a, 'c, 's, 'o, 'm, M, const N: usize, const V: usize> {
    batch: &'a CurveBatch<'c, 's, 'o>,
    model: &'m M,
}

impl<'m, P: Pack + Functions + CurveNumber, M: CompiledModel<N, V>, const N: usize, const V: usize>
    Task<P> for MakeCompiled<'_, '_, '_, '_, 'm, M, N, V>
{
    type Output = Box<dyn Worker<TrustRegionLm> + 'm>;
    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { batch, model } = self;
        let model = Compiled::<_, P, N, V>::new(model, batch.extent);
        Box::new(Scratch::<P, N, _, TrustRegionLm>::new(batch, model, &TrustRegionLm))
    }
}
