//! Maps of a camera whose pixels differ.

use std::path::PathBuf;

use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use spotfit::camera_maps;

use crate::error;
use crate::numbers::numbers;

/// Offset, gain and variance of each pixel of a camera.
#[pyclass(frozen, module = "spotfit")]
pub(crate) struct CameraMap(pub(crate) spotfit::CameraMap);

#[pymethods]
impl CameraMap {
    #[new]
    fn new(
        offset: &Bound<'_, PyAny>,
        gain: &Bound<'_, PyAny>,
        variance: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let map = |name, object| -> PyResult<PyReadonlyArray2<'_, f32>> {
            numbers(name, object, "(height, width)")
        };
        let (offset, gain, variance) =
            (map("offset", offset)?, map("gain", gain)?, map("variance", variance)?);
        let made = spotfit::CameraMap::new(offset.as_array(), gain.as_array(), variance.as_array());
        made.map(Self).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Reads maps from a file or a folder.
    #[staticmethod]
    #[pyo3(signature = (path, sensitivity=None))]
    fn read(py: Python<'_>, path: PathBuf, sensitivity: Option<f64>) -> PyResult<Self> {
        if let Some(value) = sensitivity.filter(|value| !(1e-12..=1e12).contains(value)) {
            let told = format!("sensitivity = {value} is out of its range (1e-12 to 1e12)");
            return Err(PyValueError::new_err(told));
        }
        let read = py.detach(|| camera_maps::read_with(path, sensitivity));
        read.map(Self).map_err(error::of_maps)
    }

    /// Height and width of the frame in pixels.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        let size = self.0.size();
        (size.height, size.width)
    }

    /// How many pixels are masked.
    #[getter]
    fn masked(&self) -> usize {
        self.0.masked()
    }

    fn __repr__(&self) -> String {
        let (height, width) = self.shape();
        format!("CameraMap of {height}×{width} pixels, {} masked", self.masked())
    }
}
