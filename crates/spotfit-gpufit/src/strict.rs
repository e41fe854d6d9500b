//! Fits by our criteria (`SPOTFIT_STRICT=1`), told in Gpufit's words.

use fit_core::Status;
use fit_cpu::BatchError;
use fit_curves::{CurveLimits, CurveOptions, Curves, GpufitBuffers, GpufitPlace, Points, Values};
use fit_engine::gpufit::GpufitState;
use fit_formula::Formula;
use ndarray::{ArrayView2, Axis};

use crate::error::Wrong;
use crate::fitter::Fitter;

/// Our criteria take no more iterations.
const MOST_ITERATIONS: i32 = 100_000;

/// Data sets that follow each other.
pub(crate) struct Block<'b> {
    /// (fit, point).
    pub(crate) data: ArrayView2<'b, f32>,
    pub(crate) weights: Option<ArrayView2<'b, f32>>,
    pub(crate) places: Points<'b>,
    /// (fit, parameter).
    pub(crate) starts: ArrayView2<'b, f32>,
}

/// The iterations that our criteria may take.
pub(crate) fn most(asked: i32) -> u32 {
    if asked > 0 { asked.min(MOST_ITERATIONS) as u32 } else { MOST_ITERATIONS as u32 }
}

/// Fits a block. What our criteria refuse ends as a singular fit, with its start values; the others do not notice.
pub(crate) fn fit(
    (fitter, anywhere): (&Fitter, bool),
    formula: &Formula,
    block: &Block<'_>,
    options: &CurveOptions,
    room: GpufitBuffers<'_>,
) -> Result<(), Wrong> {
    let ((count, points), parameters) = (block.data.dim(), options.parameters());
    let shared_is_sound = match block.places {
        Points::Shared(at) => at.all(f64::is_finite),
        _ => true,
    };
    let own = match block.places {
        Points::PerFit(Values::F32(at)) => Some(at),
        _ => None,
    };
    let is_fitted = |&fit: &usize| {
        let places = own.iter().flat_map(|own| own.index_axis_move(Axis(0), fit));
        let mut numbers = block.starts.row(fit).into_iter().chain(places);
        let weighs = |weight: &f32| *weight != f32::INFINITY;
        options.free() <= points
            && shared_is_sound
            && numbers.all(|number| number.is_finite())
            && block.weights.is_none_or(|weights| weights.row(fit).iter().all(weighs))
    };
    let (which, others): (Vec<usize>, Vec<usize>) = (0..count).partition(is_fitted);
    let mut pieces = room.chunks(count, parameters, count).map_err(BatchError::from)?;
    let Some(to) = pieces.first_mut() else { return Ok(()) };
    let refused = |place: GpufitPlace<'_>, fit: usize| {
        let start: Vec<f64> = block.starts.row(fit).iter().copied().map(f64::from).collect();
        place.put(&start, GpufitState::Singular, f64::NAN, 1.0);
    };
    others.into_iter().for_each(|fit| refused(to.place(fit), fit));
    if which.is_empty() {
        return Ok(());
    }

    let [data, starts] = [block.data, block.starts].map(|all| all.select(Axis(0), &which));
    let own = own.map(|own| own.select(Axis(0), &which));
    // Points with a negative weight are left out.
    let weights =
        block.weights.map(|all| all.select(Axis(0), &which).mapv_into(|own| own.max(0.0)));
    let places = match &own {
        Some(own) => Points::PerFit(own.view().into()),
        None => block.places.reborrow(),
    };
    let mut curves = Curves::new(data.view(), places);
    if let Some(weights) = &weights {
        curves = curves.with_weights(weights.view());
    }
    let mut options = options.clone();
    if let CurveLimits::PerFit(limits) = &options.limits {
        let of = |&fit: &usize| limits[fit * parameters..][..parameters].to_vec();
        options.limits = CurveLimits::PerFit(which.iter().flat_map(of).collect());
    }
    let fits = fitter.fit(anywhere, formula, (&curves, starts.view().into()), &options)?;
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
