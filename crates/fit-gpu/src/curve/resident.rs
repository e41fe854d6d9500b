//! Curves in the memory of a device.

use fit_curves::{Chunk, CurveBatch, CurveFits, CurveOptions, CurveStart, Curves, chunks};
use fit_formula::Formula;

use super::CurveGpu;
use super::search_kind::SearchKind;
use super::slot::{CurveSlot, Tables};
use crate::GpuError;

impl CurveGpu {
    /// Fits curves in the memory of the device as often as told, at least once: to measure kernels. Returns the seconds that the kernel took each
    /// time, by the device's own clock, the outcomes, and which of them are left to another fitter. Those that it leaves all
    /// take no time.
    ///
    /// # Errors
    /// As [`CurveGpu::fit`].
    pub fn fit_resident(
        &self,
        formula: &Formula,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
        times: usize,
    ) -> Result<(Vec<f64>, CurveFits, Vec<usize>), GpuError> {
        let _context = self.card.context.enter()?;
        let count = curves.count();
        let batch = CurveBatch::new(formula, curves, start, options, true)?;
        let (parameters, covariance) = (options.parameters(), options.covariance);
        let Some(mut plan) = self.chosen(&batch, SearchKind::Ours)? else {
            let none = CurveFits::invalid(count, parameters, covariance);
            return Ok((Vec::new(), none, (0..count).collect()));
        };
        plan.shape.mapped = false;
        // It goes at the end, with its memory.
        let mut slot = CurveSlot::new(&self.card)?;
        let task = slot.load(&batch, &plan.shape, &Tables::new(&batch), None, 0..count)?;
        let fit = |_| slot.stream.time(|| slot.launch(&plan, &task));
        let seconds = (0..times.max(1)).map(fit).collect::<Result<Vec<_>, _>>()?;
        slot.fetch(&plan.shape, None)?;
        let mut fits = CurveFits::room(count, parameters, covariance);
        let mut pieces = chunks(&mut fits, count);
        pieces.iter_mut().try_for_each(|piece| slot.finish(&batch, &plan, piece))?;
        let left = pieces.iter_mut().flat_map(Chunk::take_left).collect();
        Ok((seconds, fits, left))
    }
}
