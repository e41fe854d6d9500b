//! What kernels find, and where it goes: kinds of search.

use std::ops::Range;

use fit_core::Estimator;
use fit_curves::{Chunk, CurveBatch, GpufitChunk, GpufitOptions, SingleFits};
use fit_gpu_kernel::{CurveJob, CurveMethod, GpufitJob};

use super::double::plan::Doubling;
use crate::GpuError;

/// A kind of search.
pub(super) trait SearchKind: Sync {
    /// Where the outcomes of some fits go.
    type Chunk<'c>: Piece;
    /// The argument of its kernels.
    type Task: Copy;
    /// Whether kernels read data from the host's memory and write to it in large batches, too: once, and numbers beside each other.
    const MAPPED: bool;
    /// Whether what is found is left in the pieces' own pinned memory.
    const LEFT_THERE: bool = false;
    /// Whether there are cooperative kernels of it.
    const COOPERATIVE: bool;

    /// What its kernels minimize.
    fn method(&self, batch: &CurveBatch<'_, '_, '_>) -> CurveMethod;
    /// The numbers that a kernel writes of each fit.
    fn numbers(&self, batch: &CurveBatch<'_, '_, '_>) -> usize;
    /// What a kernel is told; outcomes go to `found` on the device.
    fn task(&self, batch: &CurveBatch<'_, '_, '_>, curve: CurveJob) -> Self::Task;
    /// How it ends in double precision, if it does: then nothing else comes back.
    fn doubling(&self) -> Option<&Doubling> {
        None
    }
    /// Hands on what came back.
    fn put(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        back: &Back<'_>,
        piece: &mut Self::Chunk<'_>,
    ) -> Result<(), GpuError>;
}

/// What came back of some fits.
pub(super) struct Back<'b> {
    /// Nothing, if it is left in the piece's own memory.
    pub(super) found: &'b [f32],
    /// The start values: of all, or of each, and the numbers to the next.
    pub(super) starts: &'b [f32],
    pub(super) step: usize,
    /// Whether single precision is not enough for what each comes with; nothing if it is enough for all.
    pub(super) wrong: &'b [bool],
    /// What the end in double precision found, if there is one.
    pub(super) double: &'b [f64],
}

impl Back<'_> {
    fn is_wrong(&self, number: usize) -> bool {
        self.wrong.get(number).is_some_and(|&wrong| wrong)
    }
}

/// Fits that follow each other.
pub(super) trait Piece: Send {
    /// Their numbers.
    fn fits(&self) -> Range<usize>;
    /// Pinned memory for all that is found, if it is to be left there, and where the device sees it.
    fn room(&mut self) -> Option<(&mut [f32], usize)> {
        None
    }
}

impl Piece for Chunk<'_> {
    fn fits(&self) -> Range<usize> {
        Self::fits(self)
    }
}

impl Piece for GpufitChunk<'_> {
    fn fits(&self) -> Range<usize> {
        Self::fits(self)
    }
}

/// Our search.
pub(super) struct Ours;

impl SearchKind for Ours {
    type Chunk<'c> = Chunk<'c>;
    type Task = CurveJob;
    const MAPPED: bool = true;
    const COOPERATIVE: bool = true;

    fn method(&self, batch: &CurveBatch<'_, '_, '_>) -> CurveMethod {
        match batch.options.estimator {
            Estimator::MaximumLikelihood => CurveMethod::Poisson,
            _ if batch.curves.weights.is_some() => CurveMethod::Weighted,
            _ => CurveMethod::Plain,
        }
    }

    fn numbers(&self, batch: &CurveBatch<'_, '_, '_>) -> usize {
        CurveJob::found_numbers(batch.options.parameters(), batch.options.covariance)
    }

    fn task(&self, _: &CurveBatch<'_, '_, '_>, curve: CurveJob) -> CurveJob {
        curve
    }

    fn put(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        back: &Back<'_>,
        piece: &mut Chunk<'_>,
    ) -> Result<(), GpuError> {
        let Back { found, starts, step, wrong, .. } = *back;
        SingleFits { found, starts, step, wrong }.put(batch, piece);
        Ok(())
    }
}

/// Gpufit's search.
pub(super) struct Gpufit(pub(super) GpufitOptions);

impl SearchKind for Gpufit {
    type Chunk<'c> = GpufitChunk<'c>;
    type Task = GpufitJob;
    const MAPPED: bool = true;
    const COOPERATIVE: bool = false;

    fn method(&self, _: &CurveBatch<'_, '_, '_>) -> CurveMethod {
        CurveMethod::Gpufit
    }

    fn numbers(&self, batch: &CurveBatch<'_, '_, '_>) -> usize {
        batch.options.parameters() + 3
    }

    fn task(&self, batch: &CurveBatch<'_, '_, '_>, curve: CurveJob) -> GpufitJob {
        let (parameters, count) = (batch.options.parameters(), curve.count as usize);
        // One kind of number after the other.
        let states = curve.found.wrapping_add(count * parameters);
        let chi2 = states.wrapping_add(count);
        let poisson = batch.options.estimator == Estimator::MaximumLikelihood;
        GpufitJob {
            parameters: curve.found,
            states: states.cast(),
            chi2,
            iterations: chi2.wrapping_add(count).cast(),
            tolerance: self.0.tolerance,
            held: self.0.held(batch.options, parameters) as u32,
            poisson: poisson.into(),
            curve: CurveJob { max_iterations: self.0.most_iterations() as f32, ..curve },
        }
    }

    fn put(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        back: &Back<'_>,
        piece: &mut GpufitChunk<'_>,
    ) -> Result<(), GpuError> {
        let (parameters, count) = (batch.options.parameters(), piece.fits().len());
        let (of_parameters, rest) = back.found.split_at(count * parameters);
        let (states, rest) = rest.split_at(count);
        let (chi2, iterations) = rest.split_at(count);
        piece.put_all(of_parameters, states, chi2, iterations)?;
        let left = |(number, state): (usize, &f32)| {
            (back.is_wrong(number) || state.to_bits() as i32 == GpufitJob::LEFT).then_some(number)
        };
        let first = piece.fits().start;
        for number in states.iter().enumerate().filter_map(left) {
            piece.leave(first + number);
        }
        Ok(())
    }
}
