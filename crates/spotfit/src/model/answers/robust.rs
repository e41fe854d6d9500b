//! Two models of the same data, with a loss.

use ndarray::Axis;

use super::compare::ModelComparison;
use super::distributions::{chi2_survival, f_survival};
use crate::model::copies::{Copies, data_and_weights, options_of, within};
use crate::model::noise::{LossUnit, fit_held};
use crate::model::{CurveFits, CurveFitter, CurveOptions, Curves, Model, ModelError, NoiseFits};

/// A model, its fits, and their options.
type Fitted<'a> = (&'a Model, &'a NoiseFits, &'a CurveOptions);

/// Compares fits with a loss by their robust deviance: 2s²·Σρ of both at the scale of the model with more parameters, over s²E\[ψ²\]/E\[ψ′\] of
/// that model. Its difference is tested as that of χ² (the ρ-test of Ronchetti 1982), and with the parameters of each it makes AICc.
pub(super) fn compare_robust(
    fitter: &CurveFitter,
    curves: &Curves<'_>,
    pair: [Fitted<'_>; 2],
) -> Result<Vec<ModelComparison>, ModelError> {
    let [first, second] = pair.map(|fitted| &fitted.1.fits.fits);
    let count = first.len();
    let both = |fit: &usize| first.is_found(*fit) && second.is_found(*fit);
    let rows: Vec<usize> = (0..count).filter(both).collect();
    let scale = |fit: &usize| {
        let [own, other] = pair.map(|fitted| fitted.1.scales[*fit]);
        match first.degrees[*fit].cmp(&second.degrees[*fit]) {
            std::cmp::Ordering::Less => own,
            std::cmp::Ordering::Equal => own.min(other),
            std::cmp::Ordering::Greater => other,
        }
    };
    let scales: Vec<f64> = rows.iter().map(scale).collect();
    let held = pair.map(|fitted| at_scales(fitter, curves, fitted, &rows, &scales));
    let [one, two] = held;
    let held = [one?, two?];
    let absolute = pair[0].2.absolute;
    let unlike = |fit: usize| {
        // Any number, if only one was found.
        let one = first.is_found(fit) != second.is_found(fit);
        let of = |fits: &CurveFits| (one && fits.is_found(fit)).then_some(0.0);
        ModelComparison::of([of(first), of(second)], f64::NAN)
    };
    let mut all: Vec<ModelComparison> = (0..count).map(unlike).collect();
    for (row, &fit) in rows.iter().enumerate() {
        let [_, weights] = data_and_weights(curves, fit);
        let points = weights.iter().filter(|weight| **weight > 0.0).count();
        all[fit] = compared(&held, row, points, absolute);
    }
    Ok(all)
}

/// Fits of some data sets, and the units of their loss.
type Held = (CurveFits, Vec<LossUnit>);

fn at_scales(
    fitter: &CurveFitter,
    curves: &Curves<'_>,
    (model, found, options): Fitted<'_>,
    rows: &[usize],
    scales: &[f64],
) -> Result<Held, ModelError> {
    let loss = found.loss.map(|loss| loss.0);
    let (Some(loss), false) = (loss, rows.is_empty()) else {
        return Ok((CurveFits::invalid(0, options.parameters(), false), Vec::new()));
    };
    let own = options_of(options, rows).with_covariance(false);
    let start = within(&found.fits.fits.parameters.select(Axis(0), rows), &own);
    let copies = Copies::of(curves, model.variables().len(), rows);
    fit_held(model, fitter, &copies.curves(), &start, &own, (loss, scales), true)
}

fn compared(held: &[Held; 2], row: usize, points: usize, absolute: bool) -> ModelComparison {
    let degrees = [0, 1].map(|at: usize| f64::from(held[at].0.degrees[row]));
    let costs = [0, 1].map(|at: usize| held[at].0.chi2[row]);
    let (small, large) = if degrees[0] > degrees[1] { (0, 1) } else { (1, 0) };
    let unit = held[large].1[row];
    let more = degrees[small] - degrees[large];
    let gained = (costs[small] - costs[large]).max(0.0);
    let p_value = match absolute {
        _ if more == 0.0 => f64::NAN,
        true => chi2_survival(gained / unit.deviance, more),
        false if gained == 0.0 => 1.0,
        false => f_survival(gained / more / unit.step, [more, degrees[large]]),
    };
    let n = points as f64;
    let aicc = |at: usize| {
        // A scale that is not known is a parameter, too.
        let parameters = n - degrees[at] + if absolute { 0.0 } else { 1.0 };
        let left = n - parameters - 1.0;
        let small = 2.0 * parameters * (parameters + 1.0) / left;
        let small = if left > 0.0 { small } else { f64::INFINITY };
        let told = costs[at] / unit.deviance + 2.0 * parameters + small;
        held[at].0.is_found(row).then_some(told).filter(|told| !told.is_nan())
    };
    ModelComparison::of([aicc(0), aicc(1)], p_value)
}
