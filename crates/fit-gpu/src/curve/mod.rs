//! Models given as formulas, fitted on a GPU.

mod device_curves;
mod double;
mod halves;
mod launch_shape;
mod parts;
mod records;
mod resident;
mod search_kind;
mod slot;
mod splice;
mod spline;

use std::sync::{Arc, Mutex};

use fit_curves::{
    CurveBatch, CurveError, CurveFits, CurveOptions, CurvePrecision, CurveStart, Curves,
    GpufitBuffers, GpufitOptions, Piece, Points, chunks,
};
use fit_formula::{Formula, Program};
use fit_gpu_kernel::{CurveJob, CurveMethod};

use crate::GpuError;
use crate::card::Card;
use crate::devices::DeviceInfo;
use crate::driver::{Loaded, seen_by_device};
use crate::kept::{Entry, Kept};
use crate::pool::{Pool, lock};
pub use device_curves::DeviceCurves;
use halves::Halves;
use launch_shape::{CurvePlan, LaunchShape, THREADS, WARP};
pub use records::{CurveRecord, CurveRecords};
use search_kind::{Outcomes, SearchKind};
use slot::{CurveSlot, Tables};
use splice::cooperative_of;
pub use splice::{spliced, spliced_double};

/// So few data sets of so many points are for the processor, whose threads share the points: a warp each would take longer.
const FEW: usize = 4;
const LONG: usize = 1 << 17;
/// The driver takes longer for longer formulas: 0.3 s for a hundred operations.
const MOST_OPERATIONS: usize = 2000;
const MOST_DOUBLE_OPERATIONS: usize = 500;
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
    slots: Pool<[CurveSlot; 2]>,
    /// Nothing, if a program cannot be compiled.
    kept: Kept<Key, Option<Arc<Loaded>>>,
}

/// A program, and what a kernel does with it.
type Key = (Variant, Program);

/// What a kernel does with a program.
#[derive(Clone, Copy, PartialEq)]
enum Variant {
    /// It searches: what is minimized, the parameters that are eliminated, a bit for each, and whether the threads of a warp have a
    /// parameter each.
    Search { method: CurveMethod, eliminated: u64, cooperative: bool },
    /// It ends searches in double precision: what they minimize, and whether points have weights.
    End { method: CurveMethod, weighted: bool },
}

/// Beyond [`MOST_KEPT`] formulas and [`MOST_COEFFICIENTS`], that which was not used for the longest time.
fn surplus<V>(all: &[Entry<Key, V>]) -> Option<usize> {
    let coefficients = |((variant, program), _): &Entry<Key, V>| match variant {
        Variant::Search { .. } => {
            program.splines().iter().map(|(_, spline)| spline.coefficients().len()).sum()
        }
        // There are no splines in double precision.
        Variant::End { .. } => 0,
    };
    let too_many = all.iter().map(coefficients).sum::<usize>() > MOST_COEFFICIENTS;
    let last = all.len().checked_sub(1).filter(|&last| last > 0);
    last.filter(|&last| last >= MOST_KEPT || too_many)
}

shown!(CurveGpu, gpu => "CurveGpu {{ {} }}", gpu.card.info.name);

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
        Ok(Self { card, slots: Pool::new(), kept: Kept::new(surplus) })
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
        let _context = self.card.context.enter()?;
        let count = curves.count();
        let batch = checked(formula, curves, start, options)?;
        fits.check_room(count, options)?;
        let suits = count > FEW || curves.points() < LONG;
        let mut left = None;
        if suits
            && options.precision != CurvePrecision::F64
            && let Some(plan) = self.chosen(&batch, SearchKind::Ours)?
        {
            let those = self.run(&batch, &plan, chunks(fits, plan.shape.fits_of(&batch)))?;
            if those.len() < LEAST_LEFT || those.len() < count / 2 {
                return self.fit_rest(formula, curves, start, options, those, fits);
            }
            left = Some(those);
        }
        if suits && let Some(plan) = self.chosen(&batch, SearchKind::Unfinished)? {
            return self.run(&batch, &plan, chunks(fits, plan.shape.fits_of(&batch)));
        }
        Ok(left.unwrap_or_else(|| {
            *fits = CurveFits::invalid(count, options.parameters(), options.covariance);
            (0..count).collect()
        }))
    }

    /// Fits a formula by Gpufit's search ([`fit_engine::gpufit`]). Start values must be within the limits. Returns which
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
        room: GpufitBuffers<'_>,
    ) -> Result<Vec<usize>, GpuError> {
        let _context = self.card.context.enter()?;
        let batch = CurveBatch::of_gpufit(formula, curves, start, options, true)?;
        let count = curves.count();
        let chosen = self.chosen(&batch, SearchKind::Gpufit(*gpufit))?;
        let Some(plan) = chosen else { return Ok((0..count).collect()) };
        let pieces = room.chunks(count, options.parameters(), plan.shape.fits_of(&batch))?;
        self.run(&batch, &plan, pieces)
    }

    /// How a batch is fitted; `None` if the GPU leaves it to another fitter.
    fn chosen(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        kind: SearchKind,
    ) -> Result<Option<CurvePlan>, GpuError> {
        let is_single = match kind {
            SearchKind::Gpufit(gpufit) => gpufit.is_single() && batch.is_single(),
            SearchKind::Unfinished => batch.begins_single(),
            SearchKind::Ours | SearchKind::Recorded => batch.is_single(),
        };
        let some = batch.curves.count() > 0 && batch.options.free() > 0;
        let shape = if some && is_single { self.shape(batch, kind) } else { None };
        let (Some(mut shape), Some(program)) = (shape, &batch.program) else { return Ok(None) };
        let mut doubling = None;
        if matches!(kind, SearchKind::Unfinished) {
            doubling = self.doubling(batch, program, &mut shape.job, shape.cooperative)?;
            if doubling.is_none() {
                return Ok(None);
            }
        }
        let LaunchShape { cooperative, shared, .. } = shape;
        let (method, eliminated) = (kind.method(batch), batch.explicit.eliminated);
        let variant = Variant::Search { method, eliminated, cooperative };
        let kept = self.compiled(program, variant, shared)?;
        Ok(kept.map(|kept| CurvePlan { shape, kept, doubling }))
    }

    /// Fits all pieces: each thread has two on their way. Returns the fits that are left to another fitter.
    fn run<R: Outcomes>(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        plan: &CurvePlan,
        mut pieces: Vec<Piece<R>>,
    ) -> Result<Vec<usize>, GpuError> {
        let shape = &plan.shape;
        let tables = Tables::new(batch);
        let halves = Halves::new(batch, shape)
            .filter(|_| plan.doubling.as_ref().is_none_or(|doubling| !doubling.warp));
        let count = pieces.len();
        let most = pieces.first().map_or(0, |piece| piece.fits().len());
        let queue = Mutex::new(pieces.iter_mut());
        let next = || lock(&queue).next();
        let work = || -> Result<(), GpuError> {
            // What this thread did before may have been for another device.
            let _context = self.card.context.enter()?;
            // After an error they go, and their streams are waited for.
            let mut slots = self.slots()?;
            if count > 1 {
                // Whichever thread has it next finds room, and need not wait for the system.
                slots.iter_mut().try_for_each(|slot| slot.reserve(shape, &tables, most))?;
            }
            let mut waiting: [Option<&mut Piece<R>>; 2] = [None, None];
            for turn in (0..2).cycle() {
                let (slot, before) = (&mut slots[turn], &mut waiting[turn]);
                if let Some(before) = before.take() {
                    slot.finish(batch, plan, before)?;
                }
                let Some(piece) = next() else { break };
                slot.send(batch, plan, &tables, halves.as_ref(), piece)?;
                *before = Some(piece);
            }
            for (slot, before) in slots.iter_mut().zip(waiting) {
                before.map_or(Ok(()), |before| slot.finish(batch, plan, before))?;
            }
            self.slots.give_back(slots);
            Ok(())
        };
        let failed = Mutex::new(None);
        let part = || {
            if let Err(error) = work() {
                // The others find nothing to do.
                while next().is_some() {}
                *lock(&failed) = Some(error);
            }
        };
        if count == 1 {
            part();
        } else {
            // It takes microseconds to call a thread, and a tenth of a millisecond until it is awake. Whoever is awake could call
            // others, but then most of them are awake later.
            rayon::in_place_scope(|scope| {
                for _ in 1..rayon::current_num_threads().min(count) {
                    scope.spawn(|_| part());
                }
                part();
            });
        }
        if let Some(error) = lock(&failed).take() {
            return Err(error);
        }
        Ok(pieces.iter_mut().flat_map(Piece::take_left).collect())
    }

    /// Memory that no batch uses.
    fn slots(&self) -> Result<[CurveSlot; 2], GpuError> {
        self.slots.take(|| Ok([CurveSlot::new(&self.card)?, CurveSlot::new(&self.card)?]))
    }

    /// How the fits of a batch are launched; `None` if a data set has no room.
    fn shape(&self, of: &CurveBatch<'_, '_, '_>, kind: SearchKind) -> Option<LaunchShape> {
        let seen = |data: &[f32]| Some(seen_by_device(&self.card.context, data)?.addr());
        let pinned = of.curves.data.as_single().and_then(seen);
        let options = of.options;
        let [share, square] = options.ends();
        let own = matches!(of.curves.points, Points::PerFit(_));
        let parameters = options.parameters() as u32;
        let job = CurveJob {
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
        let mut shape = LaunchShape {
            job,
            threads: THREADS,
            shared: 0,
            found: kind.numbers(of),
            mapped: false,
            pinned,
            kind,
            cooperative: false,
        };
        let per_thread = options.parameters() <= MOST_PER_THREAD;
        let many = of.curves.count() >= MANY;
        for (lanes, threads) in [(1, THREADS), (1, WARP), (WARP, THREADS), (WARP, WARP)] {
            shape.job.lanes = lanes as u32;
            shape.threads = threads;
            shape.shared = threads / lanes * shape.job.stride() * size_of::<f32>();
            // One data set may have all that a block can have.
            let room = if threads == lanes { self.card.info.shared.max(SHARED) } else { SHARED };
            if per_thread && (many || lanes == WARP) && shape.shared <= room {
                return Some(shape.with_memory(of.curves.count()));
            }
        }
        let most = cooperative_of(options.parameters())
            .filter(|_| !matches!(kind, SearchKind::Gpufit(_)))?;
        let shared = THREADS / WARP * CurveJob::cooperative_numbers(most) * size_of::<f32>();
        // It reads its data again and again, which copies suit.
        Some(LaunchShape { cooperative: true, threads: THREADS, shared, ..shape })
    }

    /// The compiled kernel of a program, with so many bytes of shared memory for its blocks.
    fn compiled(
        &self,
        program: &Program,
        variant: Variant,
        shared: usize,
    ) -> Result<Option<Arc<Loaded>>, GpuError> {
        let most = match variant {
            Variant::Search { .. } => MOST_OPERATIONS,
            Variant::End { .. } => MOST_DOUBLE_OPERATIONS,
        };
        if program.ops().len() > most {
            return Ok(None);
        }
        let same = |(its, other): &Key| *its == variant && other == program;
        let key = || (variant, program.clone());
        let kept = self.kept.get(same, key, || {
            let text = match variant {
                Variant::Search { method, eliminated, cooperative } => {
                    spliced(program, method, eliminated, cooperative)
                }
                Variant::End { method, weighted } => spliced_double(program, method, weighted),
            };
            let Some(text) = text else { return Ok(None) };
            let made = Loaded::new(&self.card.context, text)?;
            for number in spline::called(program) {
                let (_, spline) = &program.splines()[number];
                made.fill(&spline::table(number), spline.coefficients())?;
            }
            Ok(Some(Arc::new(made)))
        })?;
        kept.as_ref().map_or(Ok(()), |kept| kept.allow(shared))?;
        Ok(kept)
    }
}
