//! Curves in the memory of a device.

use fit_curves::{Chunk, CurveBatch, CurveFits, CurveOptions, CurveStart, Curves, chunks};
use fit_formula::Formula;
use fit_gpu_kernel::CurveJob;

use super::CurveGpu;
use super::launch_shape::CurvePlan;
use super::search_kind::SearchKind;
use super::slot::{CurveSlot, Tables};
use crate::GpuError;
use crate::driver::Stopwatch;

/// Curves in the memory of a device, to fit them again and again: to measure kernels.
pub struct CurveResident<'c, 's, 'o> {
    // First, for fields go in this order: it waits for what is in it before the memory goes.
    slot: CurveSlot,
    batch: CurveBatch<'c, 's, 'o>,
    plan: CurvePlan,
    task: CurveJob,
    watch: Stopwatch,
    fitted: bool,
    gpu: CurveGpu,
}

shown!(CurveResident<'_, '_, '_>, own => "CurveResident {{ {} curves }}", own.batch.curves.count());

impl<'c, 's, 'o> CurveResident<'c, 's, 'o> {
    /// Copies curves to the device with this number, and compiles the formula. `None` if the GPU leaves them to another
    /// fitter ([`CurveGpu`] says which).
    ///
    /// # Errors
    /// As [`CurveGpu::fit`].
    pub fn new(
        device: usize,
        formula: &Formula,
        curves: &Curves<'c>,
        start: CurveStart<'s>,
        options: &'o CurveOptions,
    ) -> Result<Option<Self>, GpuError> {
        let gpu = CurveGpu::new(device)?;
        let _context = gpu.card.context.enter()?;
        let batch = CurveBatch::new(formula, curves, start, options, true)?;
        let Some(mut plan) = gpu.chosen(&batch, SearchKind::Ours)? else { return Ok(None) };
        plan.shape.mapped = false;
        let tables = Tables::new(&batch);
        let mut slot = CurveSlot::new(&gpu.card)?;
        let task = slot.load(&batch, &plan.shape, &tables, None, 0..curves.count())?;
        slot.stream.wait()?;
        let watch = Stopwatch::new(&gpu.card.context)?;
        Ok(Some(Self { slot, batch, plan, task, watch, fitted: false, gpu }))
    }

    /// Fits all curves. Returns the seconds that the kernel took, by the device's own clock.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn fit(&mut self) -> Result<f64, GpuError> {
        let _context = self.gpu.card.context.enter()?;
        let launch = || self.slot.launch(&self.plan, &self.task);
        let seconds = self.watch.time(&self.slot.stream, launch)?;
        self.fitted = true;
        Ok(seconds)
    }

    /// Fetches the outcomes of the last fit, and which of them are left to another fitter: before the first fit all.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn fetch(&mut self) -> Result<(CurveFits, Vec<usize>), GpuError> {
        let (count, options) = (self.batch.curves.count(), self.batch.options);
        let (parameters, covariance) = (options.parameters(), options.covariance);
        if !self.fitted {
            let none = CurveFits::invalid(count, parameters, covariance);
            return Ok((none, (0..count).collect()));
        }
        let mut fits = CurveFits::room(count, parameters, covariance);
        let _context = self.gpu.card.context.enter()?;
        self.slot.fetch(&self.plan.shape, None)?;
        let mut pieces = chunks(&mut fits, count.max(1));
        for piece in &mut pieces {
            self.slot.finish(&self.batch, &self.plan, piece)?;
        }
        let left = pieces.iter_mut().flat_map(Chunk::take_left).collect();
        Ok((fits, left))
    }
}
