//! A call: its data sets in blocks, fitted.

use std::ops::Range;

use fit_core::search::gpufit::GpufitState;
use fit_core::{Estimator, Status};
use fit_curves::{CurveFits, CurveOptions, CurveStart, Curves, GpufitRoom, Limits, Linear};
use ndarray::ArrayView2;

use crate::error::Wrong;
use crate::fitter::{fitter, is_strict};
use crate::model::Prepared;
use crate::request::{Constraints, Request};

/// Data sets whose start values and limits are prepared together, which bounds the memory that takes.
const BLOCK: usize = 1 << 16;
/// Our criteria take no more iterations.
const MOST_ITERATIONS: i32 = 100_000;

/// Fits all data sets of a call.
pub(crate) fn fit(request: Request<'_>) -> Result<(), Wrong> {
    let strict = is_strict()?;
    let fitter = fitter()?;
    let Request { fits, points, data, weights, model, initial, constraints, room, .. } = request;
    let prepared = Prepared::new(model, fits, points, request.info)?;
    let parameters = model.parameters();
    let same_limits = constraints.as_ref().is_none_or(Constraints::are_same);
    let mut options = CurveOptions::new(parameters)
        .with_estimator(request.estimator)
        .with_linear(Linear::Searched)
        .with_covariance(false);
    options.fixed = request.fixed;
    let mut rest = room;
    for first in (0..fits).step_by(BLOCK) {
        let block = first..fits.min(first + BLOCK);
        let mut starts = initial[block.start * parameters..block.end * parameters].to_vec();
        if let Some(constraints) = &constraints {
            let of = |fit| constraints.of(fit).take(parameters);
            for (start, fit) in starts.chunks_exact_mut(parameters).zip(block.clone()) {
                for (start, [lower, upper]) in start.iter_mut().zip(of(fit)) {
                    *start = start.clamp(lower, upper);
                }
            }
            let wide = |limits: [f32; 2]| limits.map(f64::from);
            options.limits = if same_limits {
                Limits::Shared(of(first).map(wide).collect())
            } else {
                Limits::PerFit(block.clone().flat_map(of).map(wide).collect())
            };
        }
        let places = prepared.points(&block, points);
        let mut curves = Curves::new(rows(data, &block, points), places);
        if let Some(weights) = weights {
            curves = curves.with_weights(rows(weights, &block, points));
        }
        let start = CurveStart::from(rows(&starts, &(0..block.len()), parameters));
        let (room, left) = parted(rest, block.len(), parameters);
        rest = left;
        let formula = &prepared.formula;
        if strict {
            options.max_iterations = most(request.options.max_iterations);
            let fits = fitter.fit(formula, &curves, start, &options)?;
            put(&fits, request.estimator, room);
        } else {
            fitter.fit_gpufit(formula, &curves, start, &options, &request.options, room)?;
        }
    }
    Ok(())
}

/// Some rows of an array.
fn rows<'a>(values: &'a [f32], which: &Range<usize>, length: usize) -> ArrayView2<'a, f32> {
    let part = &values[which.start * length..which.end * length];
    ArrayView2::from_shape((which.len(), length), part).expect("as many numbers as that")
}

/// Room for the first of some fits, and that for the others.
fn parted(
    room: GpufitRoom<'_>,
    fits: usize,
    parameters: usize,
) -> (GpufitRoom<'_>, GpufitRoom<'_>) {
    let (first_parameters, parameters) = room.parameters.split_at_mut(fits * parameters);
    let (first_states, states) = room.states.split_at_mut(fits);
    let (first_chi2, chi2) = room.chi2.split_at_mut(fits);
    let (first_iterations, iterations) = room.iterations.split_at_mut(fits);
    let first = GpufitRoom {
        parameters: first_parameters,
        states: first_states,
        chi2: first_chi2,
        iterations: first_iterations,
    };
    (first, GpufitRoom { parameters, states, chi2, iterations })
}

/// The iterations that our criteria may take.
fn most(asked: i32) -> u32 {
    if asked > 0 { asked.min(MOST_ITERATIONS) as u32 } else { MOST_ITERATIONS as u32 }
}

/// Writes the outcomes of our criteria in Gpufit's words.
fn put(fits: &CurveFits, estimator: Estimator, room: GpufitRoom<'_>) {
    for (to, &from) in room.parameters.iter_mut().zip(&fits.parameters) {
        *to = from as f32;
    }
    for (to, &from) in room.chi2.iter_mut().zip(&fits.chi2) {
        *to = from as f32;
    }
    for (to, &from) in room.iterations.iter_mut().zip(&fits.iterations) {
        *to = from as i32;
    }
    for (to, &status) in room.states.iter_mut().zip(&fits.statuses) {
        let state = match status {
            Status::MaxIterations => GpufitState::MaxIterations,
            Status::NotConverged if estimator == Estimator::MaximumLikelihood => {
                GpufitState::Negative
            }
            Status::NotConverged | Status::Invalid => GpufitState::Singular,
            _ => GpufitState::Converged,
        };
        *to = i32::from(state as u8);
    }
}
