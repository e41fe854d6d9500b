//! Plots as files: the bytes of SVG or PNG.

use std::path::PathBuf;

use numpy::{PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use spotfit::drift::Drift;
use spotfit::report::figure::{Drawing, FigureFormat};
use spotfit::steps::curve::{CurvePlot, LogX, PlottedFit};
use spotfit::steps::drift;
use spotfit::table::Unit;

use crate::model::Model;
use crate::noise::rule_of;
use crate::numbers::numbers;
use crate::options::choose;
use crate::outcomes::statuses;

/// What a plot of this name is: "svg" or "png".
#[pyfunction]
pub(crate) fn plot_format(path: PathBuf) -> PyResult<&'static str> {
    match FigureFormat::of(&path) {
        Some(FigureFormat::Svg) => Ok("svg"),
        Some(FigureFormat::Png) => Ok("png"),
        _ => {
            let reason = "the name of a plot ends in .svg or .png";
            Err(PyValueError::new_err(format!("{}: {reason}", path.display())))
        }
    }
}

/// The bytes of a drawing.
pub(crate) fn encoded(drawing: &Drawing, format: &str) -> PyResult<Vec<u8>> {
    let formats = [("svg", FigureFormat::Svg), ("png", FigureFormat::Png)];
    let file = drawing.file(choose("format", format, &formats)?);
    file.map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// The chart of a drift in a unit: x, y, z and their errors.
#[pyfunction]
pub(crate) fn draw_drift<'py>(
    py: Python<'py>,
    drift: [Vec<f64>; 6],
    unit: &str,
    format: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let [x, y, z, x_error, y_error, z_error] = drift;
    let drift = Drift { x, y, z, x_error, y_error, z_error };
    let unit =
        choose("unit", unit, &[("nm", Unit::Nanometre), ("px", Unit::Pixel), ("", Unit::None)])?;
    let drawn = py.detach(|| encoded(&drift::drawing(&drift, unit), format))?;
    Ok(PyBytes::new(py, &drawn))
}

/// Fits that are drawn: their names, parameters and errors (fit, parameter), χ², degrees of freedom and statuses.
type Given<'py> =
    (Vec<String>, Bound<'py, PyAny>, Bound<'py, PyAny>, Vec<f64>, Vec<u32>, Bound<'py, PyAny>);

/// Data, model and residuals of fits: data (fit, point), where the points are (fit, variable, point), and weights (fit, point), or the
/// width of the images that the data are.
#[pyfunction]
#[pyo3(signature = (
    model, fits, data, *, points, weights, image, absolute, log_x, log_y, format, bands=None, rule=None, estimator="lse"
))]
#[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
pub(crate) fn draw_curves<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
    fits: Given<'py>,
    data: &Bound<'py, PyAny>,
    points: &Bound<'py, PyAny>,
    weights: Option<&Bound<'py, PyAny>>,
    image: Option<usize>,
    absolute: bool,
    log_x: &str,
    log_y: bool,
    format: &str,
    bands: Option<(f64, Bound<'py, PyAny>)>,
    rule: Option<String>,
    estimator: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let log_x =
        choose("log_x", log_x, &[("auto", LogX::Auto), ("yes", LogX::Yes), ("no", LogX::No)])?;
    let (names, parameters, errors, chi2, degrees, status) = fits;
    let statuses = statuses(&status)?;
    let table = |name: &str, given: &Bound<'py, PyAny>| -> PyResult<PyReadonlyArray2<'py, f64>> {
        numbers(name, given, "(n, points)")
    };
    let (parameters, errors) = (table("parameters", &parameters)?, table("errors", &errors)?);
    let data = table("y", data)?;
    let points: PyReadonlyArray3<'py, f64> = numbers("x", points, "(n, variables, points)")?;
    let weights = weights.map(|given| table("weights", given)).transpose()?;
    let model = &model.get().0;
    CurvePlot::check(model, image.is_some()).map_err(PyValueError::new_err)?;
    let (count, length) = (statuses.len(), data.shape()[1]);
    let wanted = [count, model.parameters().len()];
    let fits_together = parameters.shape() == wanted
        && errors.shape() == wanted
        && data.shape() == [count, length]
        && points.shape() == [count, model.variables().len(), length]
        && weights.as_ref().is_none_or(|weights| weights.shape() == [count, length])
        && [names.len(), chi2.len(), degrees.len()] == [count; 3];
    if !fits_together {
        return Err(PyValueError::new_err("fits, y, x and weights must be of the same data sets"));
    }
    let spread: Option<PyReadonlyArray3<'py, f64>> = match &bands {
        Some((level, covariance)) => {
            if !(*level > 0.0 && *level < 1.0) {
                return Err(PyValueError::new_err("bands must be a level above 0 and below 1"));
            }
            Some(numbers("covariance", covariance, "(n, parameters, parameters)")?)
        }
        None => None,
    };
    if spread.as_ref().is_some_and(|spread| spread.shape() != [count, wanted[1], wanted[1]]) {
        return Err(PyValueError::new_err("the covariance must be that of the fits"));
    }
    let options = model.options().with_absolute(absolute);
    let options = options.with_estimator(crate::options::estimator(estimator)?);
    let mut plot = CurvePlot::new(count, count)
        .with_log_x(log_x)
        .with_log_y(log_y)
        .with_absolute(absolute)
        .with_rule(rule.map(rule_of).transpose()?)
        .with_bands(bands.as_ref().map(|bands| bands.0), &options);
    let (points, weights) = (points.as_array(), weights.as_ref().map(|weights| weights.as_array()));
    for fit in 0..count {
        let [own, errors] = [&parameters, &errors].map(|table| table.as_array().row(fit).to_vec());
        let data = data.as_array().row(fit).to_vec();
        let mut plotted = PlottedFit::new(&names[fit], &own, &errors, data);
        let variables = 0..model.variables().len();
        let at = |point: usize| variables.clone().map(|axis| points[[fit, axis, point]]).collect();
        plotted.at = (0..length).map(at).collect();
        plotted.status = statuses[fit];
        plotted.image = image;
        plotted.spread = spread.as_ref().map(|spread| {
            let own = spread.as_array().index_axis_move(numpy::ndarray::Axis(0), fit);
            (own.iter().copied().collect(), chi2[fit], degrees[fit])
        });
        plotted.data_errors = weights.map(|weights| {
            plot.data_errors(weights.row(fit).iter().copied(), chi2[fit], degrees[fit])
        });
        plot.draw(model, &plotted);
    }
    let drawn = py.detach(|| encoded(&plot.drawing(), format))?;
    Ok(PyBytes::new(py, &drawn))
}
