//! Cameras that are measured.

use std::io::Cursor;

use numpy::{PyArray2, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use spotfit::steps::camera as steps;

use crate::calibrate::{Chosen, stacks};
use crate::camera::CameraMap;
use crate::steps::{heard, json, of_step, options};

/// What was measured of each pixel.
#[pyclass(frozen, module = "spotfit._spotfit")]
pub(crate) struct MeasuredCamera(steps::MeasuredCamera);

#[pymethods]
impl MeasuredCamera {
    /// An array by its name; nothing for a gain that nothing tells.
    fn array<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let pixels = &self.0.pixels;
        let array = match name {
            "offset" => Some(&pixels.offset),
            "offset_error" => Some(&pixels.offset_error),
            "variance" => Some(&pixels.variance),
            "variance_error" => Some(&pixels.variance_error),
            "gain" => pixels.gain.as_ref(),
            "gain_error" => pixels.gain_error.as_ref(),
            _ => return Err(PyValueError::new_err(format!("there is no array {name:?}"))),
        };
        Ok(array.map(|array| array.to_pyarray(py)))
    }

    /// Where pixels are hot.
    #[getter]
    fn hot<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<bool>> {
        self.0.hot.to_pyarray(py)
    }

    /// Where pixels are dead.
    #[getter]
    fn dead<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<bool>> {
        self.0.dead.to_pyarray(py)
    }

    /// The maps, if the gain is known.
    #[getter]
    fn map(&self) -> Option<CameraMap> {
        self.0.map().map(CameraMap)
    }

    /// The plot.
    fn drawn<'py>(&self, py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyBytes>> {
        let drawn = py.detach(|| crate::plots::encoded(&self.0.drawing(), format))?;
        Ok(PyBytes::new(py, &drawn))
    }

    /// The bytes of a file of this kind.
    fn file<'py>(&self, py: Python<'py>, npz: bool) -> PyResult<Bound<'py, PyBytes>> {
        let written = py.detach(|| match npz {
            true => self
                .0
                .write_npz(Cursor::new(Vec::new()))
                .map(Cursor::into_inner)
                .map_err(|e| e.to_string()),
            false => self.0.write_hdf5(Vec::new()).map_err(|e| e.to_string()),
        });
        Ok(PyBytes::new(py, &written.map_err(PyValueError::new_err)?))
    }
}

/// Measures a camera; the report is JSON, and there are notes.
#[pyfunction]
#[pyo3(signature = (darks, flats, *, options, chosen))]
pub(crate) fn camera(
    py: Python<'_>,
    darks: Bound<'_, PyAny>,
    flats: Vec<Bound<'_, PyAny>>,
    options: &str,
    chosen: Chosen,
) -> PyResult<(MeasuredCamera, String, Vec<String>)> {
    let options = self::options(options)?;
    let mut darks = stacks(py, "darks", &[darks], chosen.clone())?;
    let mut flats = stacks(py, "flats", &flats, chosen)?;
    let (done, notes) = heard(py, move |listener| {
        steps::run(&options, &mut darks[0], &mut flats, listener).map_err(of_step)
    })?;
    let report = json(&done.report)?;
    Ok((MeasuredCamera(done), report, notes))
}
