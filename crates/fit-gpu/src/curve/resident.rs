//! Curves in the memory of a device.

use std::sync::Arc;

use fit_curves::{Chunk, CurveBatch, CurveFits, CurveOptions, CurveStart, Curves, chunks};
use fit_formula::Formula;
use fit_gpu_kernel::CurveJob;

use super::CurveGpu;
use super::launch_shape::LaunchShape;
use super::search_kind::Ours;
use super::slot::{CurveSlot, Tables};
use crate::GpuError;
use crate::compiled::Compiled;
use crate::driver::Event;

/// Curves in the memory of a device, to fit them again and again: to measure kernels.
pub struct CurveResident<'c, 's, 'o> {
    // First, for fields go in this order: it waits for what is in it before the memory goes.
    slot: CurveSlot,
    batch: CurveBatch<'c, 's, 'o>,
    shape: LaunchShape,
    task: CurveJob,
    kept: Arc<Compiled>,
    begin: Event,
    end: Event,
    fitted: bool,
    gpu: CurveGpu,
}

impl std::fmt::Debug for CurveResident<'_, '_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CurveResident {{ {} curves }}", self.batch.curves.count())
    }
}

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
        let _guest = gpu.card.context.enter()?;
        let batch = CurveBatch::new(formula, curves, start, options, true)?;
        let Some((shape, kept)) = gpu.chosen(&batch, &Ours)? else { return Ok(None) };
        let shape = LaunchShape { mapped: false, ..shape };
        let tables = Tables::new(&batch, &shape);
        let mut slot = CurveSlot::new(&gpu.card)?;
        let task = slot.load(&batch, &shape, &tables, None, 0..curves.count())?;
        slot.stream().wait()?;
        let (begin, end) = (Event::new(&gpu.card.context)?, Event::new(&gpu.card.context)?);
        let fitted = false;
        Ok(Some(Self { slot, batch, shape, task, kept, begin, end, fitted, gpu }))
    }

    /// Fits all curves. Returns the seconds that the kernel took, by the device's own clock.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn fit(&mut self) -> Result<f64, GpuError> {
        let _guest = self.gpu.card.context.enter()?;
        let _landing = self.slot.stream().landing();
        self.slot.stream().record(&self.begin)?;
        self.slot.launch(&self.shape, self.kept.function, &self.task)?;
        self.slot.stream().record(&self.end)?;
        self.slot.stream().wait()?;
        self.fitted = true;
        self.begin.seconds_to(&self.end)
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
        let _guest = self.gpu.card.context.enter()?;
        self.slot.fetch(&self.shape, None)?;
        let mut pieces = chunks(&mut fits, count.max(1));
        for piece in &mut pieces {
            self.slot.finish(&self.batch, &self.shape, &Ours, piece)?;
        }
        let left = pieces.iter_mut().flat_map(Chunk::take_left).collect();
        Ok((fits, left))
    }
}
