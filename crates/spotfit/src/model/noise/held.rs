//! Fits with a loss at scales that are known.

use fit_core::Status;
use fit_curves::{CurveFits, CurveOptions, Curves};
use ndarray::Array2;

use super::loss::{Loss, LossScale};
use super::robust::{LossUnit, Robust};
use super::rounds::{Phase, State, Task};
use crate::model::{CurveFitter, Model, ModelError};

/// Fits from the nearest start values (fit, parameter), in double precision, at these scales: χ² is 2s²·Σρ. Errors and units are those of the
/// loss where they are asked for.
pub(in crate::model) fn fit_held(
    model: &Model,
    fitter: &CurveFitter,
    curves: &Curves<'_>,
    start: &Array2<f64>,
    options: &CurveOptions,
    (loss, scales): (Loss, &[f64]),
    judged: bool,
) -> Result<(CurveFits, Vec<LossUnit>), ModelError> {
    let task = Task::new(model, fitter, curves, options).precise();
    let robust = Robust { loss, scale: LossScale::Auto };
    let mut fits = CurveFits::invalid(curves.count(), options.parameters(), options.covariance);
    fits.parameters.assign(start);
    let mut states = Vec::with_capacity(fits.len());
    for (status, &scale) in fits.statuses.iter_mut().zip(scales) {
        // One without a scale was not found.
        if scale > 0.0 {
            *status = Status::MinStep;
        }
        states.push(State { phase: Phase::Last, is_held: true, scale, ..State::default() });
    }
    task.rounds(&robust, &mut fits, &mut states)?;
    if judged {
        let (_, units) = robust.tell(&task, &mut fits, scales, None);
        return Ok((fits, units));
    }
    for fit in 0..fits.len() {
        let seen = task.see(fit, fits.parameters.row(fit).to_vec());
        let cost = |left: Vec<f64>| left.iter().map(|left| loss.cost(left / scales[fit])).sum();
        let cost: f64 = seen.residuals(&task).map_or(f64::NAN, cost);
        fits.chi2[fit] = 2.0 * scales[fit] * scales[fit] * cost;
    }
    Ok((fits, Vec::new()))
}
