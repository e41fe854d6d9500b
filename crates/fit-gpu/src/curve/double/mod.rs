//! Double precision on the device: searches begin in single precision, and a kernel of double precision ends them.

pub(super) mod plan;
mod rest;
pub(super) mod slot;

use fit_curves::{CurveBatch, Points, Values};

use super::launch_shape::{CurvePlan, LaunchShape, THREADS};
use super::parts::common;
use super::search_kind::SearchKind;
use super::{CurveGpu, SHARED, Variant};
use crate::GpuError;
use plan::Doubling;

/// A search in single precision that another follows need not come nearer to the minimum than this share of a standard error.
const COARSE: f64 = 1e-3;

impl CurveGpu {
    /// How a batch is fitted in double precision; `None` if the GPU leaves it to another fitter.
    pub(super) fn doubled(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
    ) -> Result<Option<CurvePlan>, GpuError> {
        if batch.curves.count() == 0 || batch.options.free() == 0 || !batch.begins_single() {
            return Ok(None);
        }
        let Some(mut shape) = self.shape(batch, SearchKind::Unfinished) else { return Ok(None) };
        shape.job.covariance = 0;
        let options = batch.options.clone().with_tolerance(batch.options.tolerance.max(COARSE));
        let [share, square] = options.ends();
        (shape.job.share, shape.job.square) = (share as f32, square as f32);
        let Some(doubling) = self.doubling(batch, &shape)? else { return Ok(None) };
        self.plan(batch, shape, Some(doubling))
    }

    fn doubling(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        shape: &LaunchShape,
    ) -> Result<Option<Doubling>, GpuError> {
        let Some(program) = &batch.program else { return Ok(None) };
        let points = batch.curves.points();
        let wide = matches!(batch.curves.data, Values::F64(_) | Values::U32(_) | Values::I32(_));
        let words = if wide { 2 * points } else { points };
        // An odd number, so that threads beside each other use different banks.
        let shared = THREADS * (words | 1) * size_of::<f32>();
        let warp = shape.cooperative || shape.job.lanes > 1 || shared > SHARED;
        let weighted = batch.curves.weights.is_some();
        let shared = if warp { 0 } else { shared };
        let variant = Variant::End { method: SearchKind::Ours.method(batch), weighted };
        let Some(kept) = self.compiled(program, variant, shared)? else { return Ok(None) };
        let own = |is_own: bool, width: usize| if is_own { width } else { 0 };
        let widths = [
            own(wide, points),
            own(batch.has_own_weights(), points),
            own(matches!(batch.curves.points, Points::PerFit(_)), batch.variables * points),
            own(!batch.has_same_limits(), batch.options.parameters()),
        ];
        let shared_weights = weighted && !batch.has_own_weights();
        let weights = shared_weights.then(|| batch.shared_weights());
        let (tables, at) = common(batch, weights, false, |number| number);
        Ok(Some(Doubling { kept, warp, weighted, tables, at, widths, shared }))
    }
}
