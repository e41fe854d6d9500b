//! Lengths that users write as text, in frames and windows.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use spotfit::Length;
use spotfit::steps::localize::roi;
use spotfit::steps::{self, StepError};
use spotfit::table::Unit;

use crate::steps::of_step;

/// The options that are lengths in pixels.
const NAMES: [&str; 3] = ["fixed_sigma", "sigma_min", "sigma_max"];

/// A length as text; the exception names the argument.
fn read(name: &str, text: &str) -> PyResult<Length> {
    text.parse().map_err(|error| PyValueError::new_err(format!("{name}: {error}")))
}

/// A length in pixels, where a pixel has so many nanometres.
#[pyfunction]
pub(crate) fn in_pixels(name: &str, text: &str, pixel_size: Option<f64>) -> PyResult<f64> {
    let length = read(name, text)?;
    let option = NAMES.into_iter().find(|known| *known == name).unwrap_or("length");
    steps::in_pixels(option, length, pixel_size).map_err(of_step)
}

/// First column, first row, columns and rows in pixels.
#[pyfunction]
pub(crate) fn region(text: &str, pixel_size: Option<f64>) -> PyResult<[usize; 4]> {
    let region = roi(text, pixel_size).map_err(of_step)?;
    Ok([region.x, region.y, region.width, region.height])
}

/// The side of windows in pixels.
#[pyfunction]
pub(crate) fn window_side(text: &str, pixel_size: Option<f64>) -> PyResult<usize> {
    let side: Result<usize, StepError> = steps::side(read("box", text)?, pixel_size);
    side.map_err(of_step)
}

/// A length in nanometres as records have it; `None` if it is in pixels.
#[pyfunction]
pub(crate) fn recorded_length(name: &str, text: &str) -> PyResult<Option<String>> {
    let length = read(name, text)?;
    Ok((length.unit() == Some(Unit::Nanometre)).then(|| length.to_string()))
}
