//! Kinds of search, and where it goes what their kernels find.

use fit_core::Estimator;
use fit_curves::{
    CurveBatch, CurveBuffers, FitBuffers, GpufitBuffers, GpufitOptions, Piece, SingleFits,
};
use fit_gpu_kernel::{CurveJob, CurveMethod, GpufitJob};

use super::double::plan::put;

/// A kind of search.
#[derive(Clone, Copy)]
pub(super) enum SearchKind {
    /// Our search.
    Ours,
    /// The same, of which all that is found stays in the pieces' own pinned memory.
    Recorded,
    /// The same, which ends in double precision: of what single precision finds nothing comes back.
    Unfinished,
    /// Gpufit's search.
    Gpufit(GpufitOptions),
}

impl SearchKind {
    /// What its kernels minimize.
    pub(super) fn method(self, batch: &CurveBatch<'_, '_, '_>) -> CurveMethod {
        match (self, batch.options.estimator) {
            (Self::Gpufit(_), _) => CurveMethod::Gpufit,
            (_, Estimator::MaximumLikelihood) => CurveMethod::Poisson,
            _ if batch.curves.weights.is_some() => CurveMethod::Weighted,
            _ => CurveMethod::Plain,
        }
    }

    /// The numbers that a kernel writes of each fit.
    pub(super) fn numbers(self, batch: &CurveBatch<'_, '_, '_>) -> usize {
        let (parameters, covariance) = (batch.options.parameters(), batch.options.covariance);
        match self {
            Self::Gpufit(_) => parameters + 3,
            Self::Unfinished => CurveJob::found_numbers(parameters, false),
            Self::Ours | Self::Recorded => CurveJob::found_numbers(parameters, covariance),
        }
    }
}

/// What a kernel of Gpufit's search is told; outcomes go to `found` on the device.
pub(super) fn gpufit_job(
    gpufit: &GpufitOptions,
    batch: &CurveBatch<'_, '_, '_>,
    curve: CurveJob,
) -> GpufitJob {
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
        tolerance: gpufit.tolerance,
        held: gpufit.held(batch.options, parameters) as u32,
        poisson: poisson.into(),
        curve: CurveJob { max_iterations: gpufit.most_iterations() as f32, ..curve },
    }
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
    pub(super) double: Option<&'b [f64]>,
}

/// Room for outcomes, and how what comes back is put there.
pub(super) trait Outcomes: FitBuffers + Send {
    /// Pinned memory for all that is found, if it is to be left there, and where the device sees it.
    fn pinned(&mut self) -> Option<(&mut [f32], usize)> {
        None
    }
    /// Takes what came back of the fits of a piece.
    fn put(piece: &mut Piece<Self>, batch: &CurveBatch<'_, '_, '_>, back: &Back<'_>);
}

impl Outcomes for CurveBuffers<'_> {
    fn put(piece: &mut Piece<Self>, batch: &CurveBatch<'_, '_, '_>, back: &Back<'_>) {
        let Back { found, starts, step, wrong, double } = *back;
        match double {
            Some(double) => put(batch, double, piece),
            None => SingleFits { found, starts, step, wrong }.put(batch, piece),
        }
    }
}

impl Outcomes for GpufitBuffers<'_> {
    fn put(piece: &mut Piece<Self>, batch: &CurveBatch<'_, '_, '_>, back: &Back<'_>) {
        let (parameters, fits) = (batch.options.parameters(), piece.fits());
        let count = fits.len();
        let (of_parameters, rest) = back.found.split_at(count * parameters);
        let (states, rest) = rest.split_at(count);
        let (chi2, iterations) = rest.split_at(count);
        let room = &mut piece.room;
        room.parameters.copy_from_slice(of_parameters);
        room.chi2.copy_from_slice(chi2);
        // They are the bits of whole numbers.
        for (to, from) in [(&mut *room.states, states), (room.iterations, iterations)] {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = from.to_bits() as i32);
        }
        for (number, (fit, state)) in fits.zip(states).enumerate() {
            let is_wrong = back.wrong.get(number).is_some_and(|&wrong| wrong);
            if is_wrong || state.to_bits() as i32 == GpufitJob::LEFT {
                piece.leave(fit);
            }
        }
    }
}
