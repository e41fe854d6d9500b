//! Double precision on the device: searches begin in single precision, and a kernel of double precision ends them.

pub(super) mod plan;
mod rest;
pub(super) mod slot;

use fit_curves::{CurveBatch, Points, Values};
use fit_formula::Program;
use fit_gpu_kernel::CurveJob;

use super::launch_shape::THREADS;
use super::parts::common;
use super::search_kind::SearchKind;
use super::{CurveGpu, SHARED, Variant};
use crate::GpuError;
use plan::Doubling;

impl CurveGpu {
    /// How searches of a batch that this job begins in single precision end in double precision; `None` if no kernel ends them.
    pub(super) fn doubling(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        program: &Program,
        begin: &mut CurveJob,
        cooperative: bool,
    ) -> Result<Option<Doubling>, GpuError> {
        begin.covariance = 0;
        [begin.share, begin.square] = batch.coarse().ends().map(|end| end as f32);
        let points = batch.curves.points();
        let wide = matches!(batch.curves.data, Values::F64(_) | Values::U32(_) | Values::I32(_));
        let words = if wide { 2 * points } else { points };
        // An odd number, so that threads beside each other use different banks.
        let shared = THREADS * (words | 1) * size_of::<f32>();
        let warp = cooperative || begin.lanes > 1 || shared > SHARED;
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
