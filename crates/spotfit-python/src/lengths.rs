//! Lengths that users write as text, in frames and windows.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use spotfit::Length;
use spotfit::lengths::{self, PixelsError};
use spotfit::table::Unit;

/// A length as text; the exception names the argument.
fn read(name: &str, text: &str) -> PyResult<Length> {
    text.parse().map_err(|error| PyValueError::new_err(format!("{name}: {error}")))
}

fn wrong(name: &str) -> impl Fn(PixelsError) -> PyErr {
    move |error| PyValueError::new_err(format!("{name}: {error}"))
}

/// A length in pixels, where a pixel has so many nanometres.
#[pyfunction]
pub(crate) fn in_pixels(name: &str, text: &str, pixel_size: Option<f64>) -> PyResult<f64> {
    lengths::in_pixels(read(name, text)?, pixel_size).map_err(wrong(name))
}

/// A whole number of pixels.
#[pyfunction]
pub(crate) fn whole_pixels(name: &str, text: &str, pixel_size: Option<f64>) -> PyResult<usize> {
    lengths::whole_pixels(read(name, text)?, pixel_size).map_err(wrong(name))
}

/// The side of windows in pixels.
#[pyfunction]
pub(crate) fn window_side(name: &str, text: &str, pixel_size: Option<f64>) -> PyResult<usize> {
    lengths::window_side(read(name, text)?, pixel_size).map_err(wrong(name))
}

/// A length in nanometres as records have it; `None` if it is in pixels.
#[pyfunction]
pub(crate) fn recorded_length(name: &str, text: &str) -> PyResult<Option<String>> {
    let length = read(name, text)?;
    Ok((length.unit() == Some(Unit::Nanometre)).then(|| length.to_string()))
}
