//! Fits by our criteria (`SPOTFIT_STRICT=1`), told in Gpufit's words.

use fit_core::Status;
use fit_cpu::BatchError;
use fit_curves::{CurveLimits, CurveOptions, CurveStart, Curves, GpufitBuffers, GpufitPlace};
use fit_engine::gpufit::GpufitState;

use crate::error::Wrong;
use crate::fit::rows;
use crate::fitter::Fitter;
use crate::model::Prepared;

/// Our criteria take no more iterations.
const MOST_ITERATIONS: i32 = 100_000;

/// Data sets that follow each other.
pub(crate) struct Block<'b> {
    /// The number of the first.
    pub(crate) first: usize,
    pub(crate) points: usize,
    /// (fit, point).
    pub(crate) data: &'b [f32],
    pub(crate) weights: Option<&'b [f32]>,
    /// (fit, parameter).
    pub(crate) starts: &'b [f32],
}

/// The iterations that our criteria may take.
pub(crate) fn most(asked: i32) -> u32 {
    if asked > 0 { asked.min(MOST_ITERATIONS) as u32 } else { MOST_ITERATIONS as u32 }
}

/// Fits a block. What our criteria refuse ends as a singular fit, with its start values; the others do not notice.
pub(crate) fn fit(
    (fitter, anywhere): (&Fitter, bool),
    prepared: &Prepared<'_>,
    block: &Block<'_>,
    options: &CurveOptions,
    room: GpufitBuffers<'_>,
) -> Result<(), Wrong> {
    let (points, parameters) = (block.points, options.parameters());
    let is_sound = |&fit: &usize| {
        let places = prepared.given(block.first + fit, points).unwrap_or_default();
        let mut weights = block.weights.map_or(&[][..], |all| row(all, fit, points)).iter();
        let numbers = row(block.starts, fit, parameters).iter().chain(places);
        numbers.copied().all(f32::is_finite) && weights.all(|&weight| weight != f32::INFINITY)
    };
    let count = block.data.len() / points;
    let is_fitted = |fit: &usize| options.free() <= points && is_sound(fit);
    let (which, others): (Vec<usize>, Vec<usize>) = (0..count).partition(is_fitted);
    let picked = |values: &[f32], length: usize| -> Vec<f32> {
        which.iter().flat_map(|&fit| row(values, fit, length)).copied().collect()
    };
    let mut pieces = room.chunks(count, parameters, count).map_err(BatchError::from)?;
    let Some(to) = pieces.first_mut() else { return Ok(()) };
    let refused = |place: GpufitPlace<'_>, fit: usize| {
        let start = row(block.starts, fit, parameters);
        let start: Vec<f64> = start.iter().copied().map(f64::from).collect();
        place.put(&start, GpufitState::Singular, f64::NAN, 1.0);
    };
    others.into_iter().for_each(|fit| refused(to.place(fit), fit));
    if which.is_empty() {
        return Ok(());
    }

    let all = 0..which.len();
    let (data, starts) = (picked(block.data, points), picked(block.starts, parameters));
    let mut own = Vec::new();
    if prepared.has_own_places() {
        let of = |&fit: &usize| prepared.given(block.first + fit, points).unwrap_or_default();
        own = which.iter().flat_map(of).copied().collect();
    }
    // Points with a negative weight are left out.
    let mut weights = block.weights.map(|weights| picked(weights, points));
    weights.iter_mut().flatten().for_each(|weight| *weight = weight.max(0.0));
    let mut curves = Curves::new(rows(&data, &all, points), prepared.points_of(&own, points));
    if let Some(weights) = &weights {
        curves = curves.with_weights(rows(weights, &all, points));
    }
    let mut options = options.clone();
    if let CurveLimits::PerFit(limits) = &options.limits {
        let of = |&fit: &usize| limits[fit * parameters..][..parameters].to_vec();
        options.limits = CurveLimits::PerFit(which.iter().flat_map(of).collect());
    }
    let start = CurveStart::from(rows(&starts, &all, parameters));
    let fits = fitter.fit(anywhere, &prepared.formula, (&curves, start), &options)?;
    for (number, &fit) in which.iter().enumerate() {
        let place = to.place(fit);
        // Gpufit's words.
        let state = match fits.statuses[number] {
            Status::Invalid => {
                refused(place, fit);
                continue;
            }
            Status::MaxIterations => GpufitState::MaxIterations,
            Status::NotConverged => GpufitState::Singular,
            _ => GpufitState::Converged,
        };
        let parameters = fits.parameters.row(number).to_vec();
        place.put(&parameters, state, fits.chi2[number], f64::from(fits.iterations[number]));
    }
    Ok(())
}

fn row(values: &[f32], fit: usize, length: usize) -> &[f32] {
    &values[fit * length..][..length]
}
