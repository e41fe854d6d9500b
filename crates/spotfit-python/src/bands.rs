//! Bands around fitted curves, as a table.

use numpy::ndarray::{Array2, Axis};
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use spotfit::model::answers::{BandFit, CurveBands, datum_weights};

use crate::model::Model;
use crate::noise::rule_of;
use crate::numbers::numbers;
use crate::outcomes::statuses;

/// Parameters (fit, parameter) and covariance of fits, χ², degrees of freedom and statuses.
type Given<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Vec<f64>, Vec<u32>, Bound<'py, PyAny>);

/// Value, ends of the band of confidence and of that of prediction (fit, point), where the points are (fit, variable, point), of weights (fit, point);
/// NaN for fits that were not found.
#[pyfunction]
#[pyo3(signature = (model, fits, *, points, weights, rule, level, absolute, estimator))]
#[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
pub(crate) fn bands_table<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
    fits: Given<'py>,
    points: &Bound<'py, PyAny>,
    weights: Option<&Bound<'py, PyAny>>,
    rule: Option<String>,
    level: f64,
    absolute: bool,
    estimator: &str,
) -> PyResult<[Bound<'py, PyArray2<f64>>; 5]> {
    if !(level > 0.0 && level < 1.0) {
        return Err(PyValueError::new_err("bands must be a level above 0 and below 1"));
    }
    let (parameters, covariance, chi2, degrees, status) = fits;
    let statuses = statuses(&status)?;
    let parameters: PyReadonlyArray2<'py, f64> = numbers("parameters", &parameters, "(n, k)")?;
    let covariance: PyReadonlyArray3<'py, f64> = numbers("covariance", &covariance, "(n, k, k)")?;
    let points: PyReadonlyArray3<'py, f64> = numbers("x", points, "(n, variables, points)")?;
    let weights = weights.map(|given| numbers("weights", given, "(n, points)")).transpose()?;
    let weights: Option<PyReadonlyArray2<'py, f64>> = weights;
    let model = &model.get().0;
    let (count, width) = (statuses.len(), model.parameters().len());
    let length = points.shape()[2];
    let are_together = parameters.shape() == [count, width]
        && covariance.shape() == [count, width, width]
        && points.shape() == [count, model.variables().len(), length]
        && weights.as_ref().is_none_or(|weights| weights.shape() == [count, length])
        && [chi2.len(), degrees.len()] == [count; 2];
    if !are_together {
        return Err(PyValueError::new_err("fits, x and weights must be of the same data sets"));
    }
    let options = model.options().with_absolute(absolute);
    let options = options.with_estimator(crate::options::estimator(estimator)?);
    let bands = CurveBands::new(model, &options, level);
    let bands = bands.with_rule(rule.map(rule_of).transpose()?);
    let mut all: [Array2<f64>; 5] =
        std::array::from_fn(|_| Array2::from_elem((count, length), f64::NAN));
    let (parameters, covariance) = (parameters.as_array(), covariance.as_array());
    let points = points.as_array();
    for (fit, status) in statuses.iter().enumerate() {
        if !(status.is_converged() || *status == spotfit::Status::AtLimit) {
            continue;
        }
        let own = parameters.row(fit).to_vec();
        let spread: Vec<f64> = covariance.index_axis(Axis(0), fit).iter().copied().collect();
        let known = BandFit::new(&own, &spread, chi2[fit], degrees[fit]);
        let at = |point: usize| points.slice(numpy::ndarray::s![fit, .., point]).to_vec();
        let places: Vec<Vec<f64>> = (0..length).map(at).collect();
        let own = weights.as_ref().map_or_else(
            || vec![1.0; length],
            |weights| datum_weights(&weights.as_array().row(fit).to_vec()),
        );
        for (point, at) in bands.at(&known, &places, |point| own[point]).into_iter().enumerate() {
            let ends = at.confidence.into_iter().chain(at.prediction);
            for (table, number) in all.iter_mut().zip(std::iter::once(at.value).chain(ends)) {
                table[[fit, point]] = number;
            }
        }
    }
    Ok(all.map(|table| table.into_pyarray(py)))
}
