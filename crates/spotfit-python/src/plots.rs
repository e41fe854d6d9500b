//! Plots as files: the bytes of SVG or PNG.

use std::path::PathBuf;

use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use spotfit::drift::Drift;
use spotfit::report::figure::{Drawing, FigureFormat};
use spotfit::steps::curve::{CurvePlot, LogX, PlottedFit};
use spotfit::steps::drift;
use spotfit::table::Unit;

use crate::bands::FittedCurves;
use crate::keywords::Keywords;
use crate::model::Model;
use crate::numbers::numbers;
use crate::options::choose;

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

/// Data (fit, point), model and residuals of fits with these names. Besides what [`FittedCurves`] has there are `errors` (fit, parameter),
/// and `image`, the width of the images that the data are.
#[pyfunction]
pub(crate) fn draw_curves<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
    names: Vec<String>,
    data: &Bound<'py, PyAny>,
    keywords: Keywords<'py>,
    format: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let words = [("auto", LogX::Auto), ("yes", LogX::Yes), ("no", LogX::No)];
    let log_x = choose("log_x", &keywords.word("log_x")?, &words)?;
    let model = &model.get().0;
    let fits = FittedCurves::of(model, &keywords)?;
    let errors: PyReadonlyArray2<'py, f64> = numbers("errors", &keywords.get("errors")?, "(n, k)")?;
    let data: PyReadonlyArray2<'py, f64> = numbers("y", data, "(n, points)")?;
    let image: Option<usize> = keywords.get("image")?;
    CurvePlot::check(model, image.is_some()).map_err(PyValueError::new_err)?;
    let [count, length] = fits.shape();
    let fits_together = fits.are_together(model)
        && errors.shape() == fits.parameters.shape()
        && data.shape() == [count, length]
        && names.len() == count;
    if !fits_together {
        return Err(PyValueError::new_err("fits, y, x and weights must be of the same data sets"));
    }
    let mut plot = CurvePlot::new(count, count)
        .with_log_x(log_x)
        .with_log_y(keywords.get("log_y")?)
        .with_absolute(fits.options.absolute)
        .with_rule(fits.rule)
        .with_bands(fits.level, &fits.options);
    for fit in 0..count {
        let row = |table: &PyReadonlyArray2<'py, f64>| table.as_array().row(fit).to_vec();
        let (chi2, degrees) = (fits.chi2[fit], fits.degrees[fit]);
        let (own, errors) = (row(&fits.parameters), row(&errors));
        let mut plotted = PlottedFit::new(&names[fit], &own, &errors, row(&data));
        plotted.at = fits.places(fit);
        plotted.status = fits.statuses[fit];
        plotted.image = image;
        plotted.spread = fits.spread(fit).map(|spread| (spread, chi2, degrees));
        plotted.data_errors =
            fits.weights.as_ref().map(|weights| plot.data_errors(row(weights), chi2, degrees));
        plot.draw(model, &plotted);
    }
    let drawn = py.detach(|| encoded(&plot.drawing(), format))?;
    Ok(PyBytes::new(py, &drawn))
}
