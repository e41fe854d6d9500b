//! Double precision on the device: searches begin in single precision, and a kernel of double precision ends them.

pub(super) mod plan;
mod rest;
pub(super) mod slot;

use std::sync::{Arc, PoisonError};

use fit_curves::{Chunk, CurveBatch, Points, Values};
use fit_gpu_kernel::{CurveJob, CurveMethod, DoubleJob};

use super::launch_shape::{LaunchShape, THREADS};
use super::search_kind::{Back, Ours, SearchKind};
use super::splice::spliced_double;
use super::{CurveGpu, MOST_KEPT, SHARED};
use crate::GpuError;
use crate::compiled::Compiled;
use plan::Doubling;

/// The driver takes longer for longer formulas.
const MOST_DOUBLE_OPERATIONS: usize = 500;
/// A search in single precision that another follows need not come nearer to the minimum than this share of a standard error.
const COARSE: f64 = 1e-3;

/// The kernels that finish searches in double precision.
pub(super) type CachedDouble = (Variant, fit_formula::Program, Option<Arc<Compiled>>);

/// What they minimize, and whether points have weights.
type Variant = (CurveMethod, bool);

impl CurveGpu {
    /// How a batch is fitted in double precision, and by what; `None` if the GPU leaves it to another fitter.
    pub(super) fn doubled(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
    ) -> Result<Option<(LaunchShape, Arc<Compiled>, Doubling)>, GpuError> {
        if batch.curves.count() == 0 || batch.options.free() == 0 || !batch.begins_single() {
            return Ok(None);
        }
        let kind = Unfinished;
        let Some(mut shape) = self.shape(batch, &kind) else { return Ok(None) };
        shape.job.covariance = 0;
        let options = batch.options.clone().with_tolerance(batch.options.tolerance.max(COARSE));
        let [share, square] = options.ends();
        (shape.job.share, shape.job.square) = (share as f32, square as f32);
        let Some(doubling) = self.doubling(batch, &shape)? else { return Ok(None) };
        let Some((shape, kept)) = self.kernel_for(batch, &kind, shape)? else { return Ok(None) };
        if doubling.shared > crate::card::SHARED_BY_DEFAULT {
            doubling.kept.function.allow_all_shared(&self.card.context)?;
        }
        Ok(Some((shape, kept, doubling)))
    }

    fn doubling(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        shape: &LaunchShape,
    ) -> Result<Option<Doubling>, GpuError> {
        let Some(program) = &batch.program else { return Ok(None) };
        let (options, points) = (batch.options, batch.curves.points());
        let wide = matches!(batch.curves.data, Values::F64(_) | Values::U32(_) | Values::I32(_));
        let words = if wide { 2 * points } else { points };
        // An odd number, so that threads beside each other use different banks.
        let shared = THREADS * (words | 1) * size_of::<f32>();
        let warp = shape.cooperative || shape.job.lanes > 1 || shared > SHARED;
        let weighted = batch.curves.weights.is_some();
        let variant = (Ours.method(batch), weighted);
        let Some(kept) = self.compiled_double(program, variant)? else { return Ok(None) };
        let (mut tables, mut at, mut widths) = (Vec::new(), [None; 4], [0; 4]);
        widths[0] = if wide { points } else { 0 };
        if batch.has_own_weights() {
            widths[1] = points;
        } else if weighted {
            at[1] = Some(tables.len());
            tables.extend(batch.shared_weights());
        }
        if matches!(batch.curves.points, Points::PerFit(_)) {
            widths[2] = batch.variables * points;
        } else {
            at[2] = Some(tables.len());
            let all = (0..batch.variables).flat_map(|v| (0..points).map(move |point| (v, point)));
            tables.extend(all.map(|(v, point)| batch.curves.points.at(0, v, point)));
        }
        if batch.has_same_limits() {
            at[3] = Some(tables.len());
            for end in 0..2 {
                tables.extend((0..options.parameters()).map(|j| batch.limit(0, j)[end]));
            }
        } else {
            widths[3] = options.parameters();
        }
        let shared = if warp { 0 } else { shared };
        Ok(Some(Doubling { kept, warp, weighted, tables, at, widths, shared }))
    }

    /// The compiled kernel that finishes searches.
    fn compiled_double(
        &self,
        program: &fit_formula::Program,
        variant: Variant,
    ) -> Result<Option<Arc<Compiled>>, GpuError> {
        if program.ops().len() > MOST_DOUBLE_OPERATIONS {
            return Ok(None);
        }
        let mut kept = self.doubles.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |(its, other, _): &CachedDouble| *its == variant && other == program;
        if let Some(at) = kept.iter().position(same) {
            kept[..=at].rotate_right(1);
            return Ok(kept[0].2.clone());
        }
        let made = match spliced_double(program, variant.0, variant.1) {
            None => None,
            Some(text) => Some(Arc::new(Compiled::new(&self.card.context, text)?)),
        };
        kept.insert(0, (variant, program.clone(), made.clone()));
        kept.truncate(MOST_KEPT);
        Ok(made)
    }
}

/// Our search, of which nothing comes back.
struct Unfinished;

/// Our search, with its end in double precision.
pub(super) struct Finished<'d>(pub(super) &'d Doubling);

macro_rules! ours {
    ($kind:ty, |$own:ident| $doubling:expr, $put:expr) => {
        impl SearchKind for $kind {
            type Chunk<'c> = Chunk<'c>;
            type Task = CurveJob;
            const MAPPED: bool = false;
            const COOPERATIVE: bool = true;

            fn method(&self, batch: &CurveBatch<'_, '_, '_>) -> CurveMethod {
                Ours.method(batch)
            }
            fn numbers(&self, batch: &CurveBatch<'_, '_, '_>) -> usize {
                CurveJob::found_numbers(batch.options.parameters(), false)
            }
            fn task(&self, batch: &CurveBatch<'_, '_, '_>, curve: CurveJob) -> CurveJob {
                Ours.task(batch, curve)
            }
            fn doubling(&self) -> Option<&Doubling> {
                let $own = self;
                $doubling
            }
            fn put(
                &self,
                batch: &CurveBatch<'_, '_, '_>,
                back: &Back<'_>,
                piece: &mut Chunk<'_>,
            ) -> Result<(), GpuError> {
                $put(batch, back, piece);
                Ok(())
            }
        }
    };
}

ours!(Unfinished, |_own| None, |_: &CurveBatch<'_, '_, '_>, _: &Back<'_>, _: &mut Chunk<'_>| ());
ours!(Finished<'_>, |own| Some(own.0), put);

/// Hands on what was found of the fits of a piece.
fn put(batch: &CurveBatch<'_, '_, '_>, back: &Back<'_>, piece: &mut Chunk<'_>) {
    let (fits, parameters) = (piece.fits(), batch.options.parameters());
    let count = fits.len();
    let of = |fit: usize, number: usize| back.double[number * count + fit];
    for (at, fit) in fits.enumerate() {
        let other = |number: usize| of(at, 2 * parameters + number);
        let status = fit_core::Status::from_code(other(DoubleJob::OTHERS - 1) as u8);
        let Some(status) = status else {
            piece.leave_invalid(fit);
            continue;
        };
        let place = piece.place(fit);
        for j in 0..parameters {
            place.parameters[j] = of(at, j);
            place.errors[j] = of(at, parameters + j);
        }
        if !place.covariance.is_empty() {
            let mut next = 2 * parameters + DoubleJob::OTHERS;
            for j in 0..parameters {
                for k in j..parameters {
                    place.covariance[j * parameters + k] = of(at, next);
                    place.covariance[k * parameters + j] = of(at, next);
                    next += 1;
                }
            }
        }
        *place.chi2 = other(0);
        *place.degrees = other(1) as u32;
        *place.iterations = other(2) as u32;
        *place.evaluations = other(3) as u32;
        *place.status = status;
    }
}
