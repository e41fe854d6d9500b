//! A call: its data sets in blocks, fitted.

use std::borrow::Cow;
use std::ops::Range;

use fit_core::Estimator;
use fit_curves::{CurveOptions, CurveStart, Curves, FitBuffers, Linear};
use ndarray::ArrayView2;

use crate::error::Wrong;
use crate::fitter::{Fitter, is_strict};
use crate::model::Prepared;
use crate::request::Request;
use crate::strict;

/// Data sets that are prepared together where that takes memory: for limits, and for our criteria.
const BLOCK: usize = 1 << 17;

/// Fits all data sets of a call, `anywhere` or on the CPU.
pub(crate) fn fit(request: Request<'_>, anywhere: bool) -> Result<(), Wrong> {
    let strict = is_strict()?;
    let fitter = Fitter::get()?;
    let Request { fits, points, data, weights, model, initial, constraints, mut room, .. } =
        request;
    let prepared = Prepared::new(model, fits, points, request.info)?;
    let parameters = model.parameters();
    let mut options = options(request.estimator, request.fixed);
    let length = if strict || constraints.is_some() { BLOCK } else { fits };
    for first in (0..fits).step_by(length) {
        let block = first..fits.min(first + length);
        let mut starts = Cow::Borrowed(&initial[block.start * parameters..block.end * parameters]);
        if let Some(constraints) = &constraints {
            constraints.confine(block.clone(), starts.to_mut());
            options.limits = constraints.limits(block.clone());
        }
        let room = room.cut(block.len(), parameters);
        let (formula, places) = (&prepared.formula, prepared.points(&block, points));
        let data = rows(data, &block, points);
        let weights = weights.map(|weights| rows(weights, &block, points));
        let starts = rows(&starts, &(0..block.len()), parameters);
        if strict {
            options.max_iterations = strict::most(request.options.max_iterations);
            let block = strict::Block { data, weights, places, starts };
            strict::fit((&fitter, anywhere), formula, &block, &options, room)?;
            continue;
        }
        let mut curves = Curves::new(data, places);
        if let Some(weights) = weights {
            curves = curves.with_weights(weights);
        }
        let of = (&curves, CurveStart::from(starts));
        fitter.fit_gpufit(anywhere, formula, of, &options, &request.options, room)?;
    }
    Ok(())
}

/// How the fits of a call are done.
pub(crate) fn options(estimator: Estimator, fixed: Vec<bool>) -> CurveOptions {
    let mut options = CurveOptions::new(fixed.len())
        .with_estimator(estimator)
        .with_linear(Linear::Searched)
        .with_covariance(false);
    options.fixed = fixed;
    options
}

/// Some rows of an array.
fn rows<'a>(values: &'a [f32], which: &Range<usize>, length: usize) -> ArrayView2<'a, f32> {
    let part = &values[which.start * length..which.end * length];
    ArrayView2::from_shape((which.len(), length), part).expect("as many numbers as that")
}
