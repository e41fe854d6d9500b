//! Models given as formulas, fitted on a GPU.

mod device_curves;
mod double;
mod halves;
mod launch_shape;
mod records;
mod resident;
mod search_kind;
mod slot;
mod splice;
mod spline;

use std::sync::{Arc, Mutex, PoisonError};

use fit_curves::{
    Chunk, CurveBatch, CurveError, CurveFits, CurveOptions, CurvePrecision, CurveStart, Curves,
    GpufitChunk, GpufitOptions, GpufitRoom, Points, chunks,
};
use fit_formula::{Formula, Program};
use fit_gpu_kernel::{CurveJob, CurveMethod};

use crate::GpuError;
use crate::card::{Card, SHARED_BY_DEFAULT};
use crate::compiled::Compiled;
use crate::devices::DeviceInfo;
use crate::driver::{Function, seen_by_device};
pub use device_curves::DeviceCurves;
use double::{CachedDouble, Finished};
use halves::Halves;
use launch_shape::{LaunchShape, THREADS, WARP};
pub use records::{CurveRecord, CurveRecords};
pub use resident::CurveResident;
use search_kind::{Gpufit, Ours, Piece as _, SearchKind};
use slot::{CurveSlot, Tables};
use splice::cooperative_of;
pub use splice::{spliced, spliced_double};

/// So few data sets of so many points are for the processor, whose threads share the points: a warp each would take longer.
const FEW: usize = 4;
const LONG: usize = 1 << 17;
/// The driver takes longer for longer formulas: 0.3 s for a hundred operations.
const MOST_OPERATIONS: usize = 2000;
/// Formulas that are kept compiled.
const MOST_KEPT: usize = 256;
/// Coefficients of splines that are kept with them, but for those of the last formula.
const MOST_COEFFICIENTS: usize = 1 << 24;
/// From this many data sets on a thread for each keeps the device busy.
const MANY: usize = 6_000;
/// Fewer data sets that are left the processor has fitted before the driver has compiled the formula.
const LEAST_LEFT: usize = 20_000;
/// More parameters than these have a warp's threads to themselves, one each.
const MOST_PER_THREAD: usize = 10;
/// Bytes of shared memory that a block of many fits may take, so that several of them fit on a multiprocessor.
const SHARED: usize = 48 * 1024;

/// Fits models given as formulas on a GPU, in single precision. The driver compiles a formula the first time, in 0.1 to 1 s.
///
/// With [`CurvePrecision::F64`], or a tolerance that single precision does not reach, searches end in double precision. Many data sets that single precision cannot decide
/// are fitted so, too; what is left then is for another fitter (as the lanes of a processor leave it), and so are whole
/// batches: models of more than 32 parameters, functions that only the processor has (`erfcx`, the Faddeeva function, the
/// derivative of `lgamma`), and, of Gpufit's search, more parameters than seven and more points than shared memory holds. In double precision these are models of
/// more than 12 parameters, and splines.
pub struct CurveGpu {
    card: Arc<Card>,
    /// Memory of batches that are done.
    slots: Mutex<Vec<[CurveSlot; 2]>>,
    /// The last that was used comes first.
    kept: Mutex<Vec<CachedProgram>>,
    doubles: Mutex<Vec<CachedDouble>>,
}

/// A program, the variant of the kernel, and what it was compiled to; nothing, if it cannot be.
type CachedProgram = (Variant, Program, Option<Arc<Compiled>>);

/// What is minimized, the parameters that are eliminated, a bit for each, and whether the threads of a warp have a parameter each.
type Variant = (CurveMethod, u64, bool);

impl std::fmt::Debug for CurveGpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CurveGpu {{ {} }}", self.card.info.name)
    }
}

/// A batch for our search.
fn checked<'c, 's, 'o>(
    formula: &Formula,
    curves: &Curves<'c>,
    start: CurveStart<'s>,
    options: &'o CurveOptions,
) -> Result<CurveBatch<'c, 's, 'o>, CurveError> {
    let batch = || CurveBatch::new(formula, curves, start, options, true);
    // Threads of a pool check start values and weights together.
    if curves.count() < MANY { batch() } else { rayon::scope(|_| batch()) }
}

impl CurveGpu {
    /// A fitter on the device with this number, counted from 0.
    ///
    /// # Errors
    /// [`GpuError`] if there is no driver or no such device.
    pub fn new(device: usize) -> Result<Self, GpuError> {
        let card = Card::get(device)?;
        Ok(Self {
            card,
            slots: Mutex::default(),
            kept: Mutex::default(),
            doubles: Mutex::default(),
        })
    }

    /// The device in use.
    pub fn device(&self) -> &DeviceInfo {
        &self.card.info
    }

    /// Fits a formula to curves. Also returns which of them are left to another fitter, in rising order; their outcomes are
    /// invalid.
    ///
    /// # Errors
    /// [`GpuError::Curve`] if the request makes no sense, others if the device fails. A fit that fails is no error.
    pub fn fit(
        &self,
        formula: &Formula,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
    ) -> Result<(CurveFits, Vec<usize>), GpuError> {
        let mut fits = CurveFits::room(curves.count(), options.parameters(), options.covariance);
        let left = self.fit_into(formula, curves, start, options, &mut fits)?;
        Ok((fits, left))
    }

    /// The same with room for the outcomes that is there already, which saves the time that the system takes to make it.
    ///
    /// # Errors
    /// As [`CurveGpu::fit`], and if there is room for others: fits, parameters, with or without covariance. After an error
    /// nothing is known of the outcomes.
    pub fn fit_into(
        &self,
        formula: &Formula,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
        fits: &mut CurveFits,
    ) -> Result<Vec<usize>, GpuError> {
        let _guest = self.card.context.enter()?;
        let count = curves.count();
        let batch = checked(formula, curves, start, options)?;
        fits.check_room(count, options)?;
        if count <= FEW && curves.points() >= LONG {
            *fits = CurveFits::invalid(count, options.parameters(), options.covariance);
            return Ok((0..count).collect());
        }
        let mut left = None;
        if options.precision != CurvePrecision::F64
            && let Some((shape, kept)) = self.chosen(&batch, &Ours)?
        {
            let mut pieces = chunks(fits, shape.fits_of(&batch));
            self.run(&batch, &shape, (&Ours, kept.function), &mut pieces)?;
            let those: Vec<usize> = pieces.iter_mut().flat_map(Chunk::take_left).collect();
            drop(pieces);
            if those.len() < LEAST_LEFT || those.len() < count / 2 {
                return self.fit_rest(formula, curves, start, options, those, fits);
            }
            left = Some(those);
        }
        let Some((shape, kept, doubling)) = self.doubled(&batch)? else {
            if let Some(left) = left {
                return Ok(left);
            }
            *fits = CurveFits::invalid(count, options.parameters(), options.covariance);
            return Ok((0..count).collect());
        };
        let mut pieces = chunks(fits, shape.fits_of(&batch));
        self.run(&batch, &shape, (&Finished(&doubling), kept.function), &mut pieces)?;
        Ok(pieces.iter_mut().flat_map(Chunk::take_left).collect())
    }

    /// Fits a formula by Gpufit's search ([`fit_core::search::gpufit`]). Start values must be within the limits. Returns which
    /// data sets are left to another fitter, in rising order; nothing is known of their outcomes. Models of one parameter, and of more
    /// than seven, are left as a whole.
    ///
    /// # Errors
    /// [`GpuError::Curve`] if there are not as many points, weights, start values, limits or outcomes as data, others if the device
    /// fails.
    pub fn fit_gpufit(
        &self,
        formula: &Formula,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
        gpufit: &GpufitOptions,
        room: GpufitRoom<'_>,
    ) -> Result<Vec<usize>, GpuError> {
        let _guest = self.card.context.enter()?;
        let batch = CurveBatch::of_gpufit(formula, curves, start, options, true)?;
        let (count, kind) = (curves.count(), Gpufit(*gpufit));
        let chosen = if gpufit.is_single() { self.chosen(&batch, &kind)? } else { None };
        let Some((shape, kept)) = chosen else { return Ok((0..count).collect()) };
        let mut pieces = room.chunks(count, options.parameters(), shape.fits_of(&batch))?;
        self.run(&batch, &shape, (&kind, kept.function), &mut pieces)?;
        Ok(pieces.iter_mut().flat_map(GpufitChunk::take_left).collect())
    }

    /// How a batch is fitted, and by what; `None` if the GPU leaves it to another fitter.
    fn chosen<K: SearchKind>(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        kind: &K,
    ) -> Result<Option<(LaunchShape, Arc<Compiled>)>, GpuError> {
        if batch.curves.count() == 0 || batch.options.free() == 0 || !batch.is_single() {
            return Ok(None);
        }
        let Some(shape) = self.shape(batch, kind) else { return Ok(None) };
        self.kernel_for(batch, kind, shape)
    }

    /// The kernel that fits a batch in a way, with the shared memory that it needs; `None` if there is none for its formula.
    fn kernel_for<K: SearchKind>(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        kind: &K,
        shape: LaunchShape,
    ) -> Result<Option<(LaunchShape, Arc<Compiled>)>, GpuError> {
        let method = kind.method(batch);
        let Some(program) = &batch.program else { return Ok(None) };
        let variant = (method, batch.explicit.eliminated, shape.cooperative);
        let Some(kept) = self.compiled(program, variant)? else {
            return Ok(None);
        };
        if shape.shared > SHARED_BY_DEFAULT {
            kept.function.allow_all_shared(&self.card.context)?;
        }
        Ok(Some((shape, kept)))
    }

    /// Fits all pieces: each thread has two on their way.
    fn run<K: SearchKind>(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        shape: &LaunchShape,
        (kind, function): (&K, Function),
        pieces: &mut [K::Chunk<'_>],
    ) -> Result<(), GpuError> {
        let tables = Tables::new(batch, shape);
        let halves = Halves::new(batch, shape)
            .filter(|_| kind.doubling().is_none_or(double::plan::Doubling::takes_halves));
        let count = pieces.len();
        let most = pieces.first().map_or(0, |piece| piece.fits().len());
        let queue = Mutex::new(pieces.iter_mut());
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || {
            // What this thread did before may have been for another device.
            let _guest = self.card.context.enter()?;
            let mut in_flight = InFlightCurves(Some(self.take_slots()?));
            if count > 1 {
                // Whichever thread has it next finds room, and need not wait for the system.
                in_flight
                    .slots()
                    .iter_mut()
                    .try_for_each(|slot| slot.reserve(shape, &tables, most))?;
            }
            let mut waiting: [Option<&mut K::Chunk<'_>>; 2] = [None, None];
            for turn in (0..2).cycle() {
                let (slot, before) = (&mut in_flight.slots()[turn], &mut waiting[turn]);
                if let Some(before) = before.take() {
                    slot.finish(batch, shape, kind, before)?;
                }
                let Some(piece) = next() else { break };
                slot.send(batch, shape, &tables, halves.as_ref(), (kind, function), piece)?;
                *before = Some(piece);
            }
            for (slot, before) in in_flight.slots().iter_mut().zip(waiting) {
                if let Some(before) = before {
                    slot.finish(batch, shape, kind, before)?;
                }
            }
            self.keep_slots(in_flight);
            Ok(())
        };
        if count == 1 {
            return work();
        }
        let failed = Mutex::new(None);
        let part = || {
            if let Err(error) = work() {
                // The others find nothing to do.
                while next().is_some() {}
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
        };
        // It takes microseconds to call a thread, and a tenth of a millisecond until it is awake. Whoever is awake could call others,
        // but then most of them are awake later.
        rayon::in_place_scope(|scope| {
            for _ in 1..rayon::current_num_threads().min(count) {
                scope.spawn(|_| part());
            }
            part();
        });
        failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    /// Memory that no batch uses.
    fn take_slots(&self) -> Result<[CurveSlot; 2], GpuError> {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match slots {
            Some(slots) => Ok(slots),
            None => Ok([CurveSlot::new(&self.card)?, CurveSlot::new(&self.card)?]),
        }
    }

    /// Keeps memory for the next batch.
    fn keep_slots(&self, mut in_flight: InFlightCurves) {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).extend(in_flight.0.take());
    }

    /// How the fits of a batch are launched; `None` if a data set has no room.
    fn shape<K: SearchKind>(&self, of: &CurveBatch<'_, '_, '_>, kind: &K) -> Option<LaunchShape> {
        let found = kind.numbers(of);
        let seen = |data: &[f32]| Some(seen_by_device(&self.card.context, data)?.addr());
        let pinned = of.curves.data.as_single().and_then(seen);
        let options = of.options;
        let [share, square] = options.ends();
        let own = matches!(of.curves.points, Points::PerFit(_));
        let parameters = options.parameters() as u32;
        let mut job = CurveJob {
            points: u32::try_from(of.curves.points()).ok()?,
            own_weights: of.has_own_weights().into(),
            own_variables: if own { of.variables as u32 } else { 0 },
            start_step: if of.has_same_start() { 0 } else { parameters },
            limit_step: if of.has_same_limits() { 0 } else { parameters },
            covariance: options.covariance.into(),
            max_iterations: options.max_iterations as f32,
            share: share as f32,
            square: square as f32,
            ..CurveJob::new()
        };
        let bytes = |job: &CurveJob, fits: usize| fits * job.stride() * size_of::<f32>();
        let shape = |job, threads, shared| LaunchShape {
            job,
            threads,
            shared,
            found,
            mapped: false,
            pinned,
            left_there: K::LEFT_THERE,
            cooperative: false,
        };
        let per_thread = options.parameters() <= MOST_PER_THREAD;
        let many = per_thread && of.curves.count() >= MANY;
        for threads in [THREADS, WARP] {
            let shared = bytes(&job, threads);
            if many && shared <= SHARED {
                return Some(shape(job, threads, shared).with_memory::<K>(of.curves.count()));
            }
        }
        job.lanes = WARP as u32;
        for threads in [THREADS, WARP] {
            let shared = bytes(&job, threads / WARP);
            let room = shared <= SHARED || (threads == WARP && shared <= self.card.info.shared);
            if per_thread && room {
                return Some(shape(job, threads, shared).with_memory::<K>(of.curves.count()));
            }
        }
        let most = cooperative_of(options.parameters()).filter(|_| K::COOPERATIVE)?;
        let shared = THREADS / WARP * CurveJob::cooperative_numbers(most) * size_of::<f32>();
        // It reads its data again and again, which copies suit.
        Some(LaunchShape { cooperative: true, ..shape(job, THREADS, shared) })
    }

    /// The compiled kernel of a program.
    fn compiled(
        &self,
        program: &Program,
        variant: Variant,
    ) -> Result<Option<Arc<Compiled>>, GpuError> {
        if program.ops().len() > MOST_OPERATIONS {
            return Ok(None);
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |(its, other, _): &CachedProgram| *its == variant && other == program;
        if let Some(at) = kept.iter().position(same) {
            kept[..=at].rotate_right(1);
            return Ok(kept[0].2.clone());
        }
        let (method, eliminated, cooperative) = variant;
        let made = match spliced(program, method, eliminated, cooperative) {
            None => None,
            Some(text) => {
                let made = Compiled::new(&self.card.context, text)?;
                for number in spline::called(program) {
                    let (_, spline) = &program.splines()[number];
                    let table = spline::table(number);
                    made.module.fill(&self.card.context, &table, spline.coefficients())?;
                }
                Some(Arc::new(made))
            }
        };
        kept.insert(0, (variant, program.clone(), made.clone()));
        let mut tables = 0;
        let room = |(_, program, _): &CachedProgram| {
            let splines = program.splines().iter();
            tables += splines.map(|(_, spline)| spline.coefficients().len()).sum::<usize>();
            tables <= MOST_COEFFICIENTS
        };
        let count = kept.iter().map(room).take_while(|&room| room).count();
        kept.truncate(count.clamp(1, MOST_KEPT));
        Ok(made)
    }
}

/// Waits for all that is on its way when a thread ends its work, however it ends.
struct InFlightCurves(Option<[CurveSlot; 2]>);

impl InFlightCurves {
    fn slots(&mut self) -> &mut [CurveSlot] {
        self.0.as_mut().map_or(&mut [], |slots| &mut slots[..])
    }
}

impl Drop for InFlightCurves {
    fn drop(&mut self) {
        self.slots().iter_mut().for_each(CurveSlot::abandon);
    }
}
