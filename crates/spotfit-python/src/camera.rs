//! Maps of a camera whose pixels differ.

use std::path::PathBuf;

use numpy::{PyArray2, PyReadonlyArray2, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use spotfit::camera_maps;

use crate::error;
use crate::numbers::numbers;

/// What makes a map again, and of what.
type Map<'py> = Bound<'py, PyArray2<f32>>;
type Reduced<'py> = (Bound<'py, PyAny>, (Map<'py>, Map<'py>, Map<'py>));

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
        made.map(Self).map_err(error::wrong)
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

    /// The map with offset (ADU), scale (photo-electrons per ADU) and variance (photo-electrons squared) of another.
    #[staticmethod]
    fn _in_electrons(
        offset: PyReadonlyArray2<'_, f32>,
        scale: PyReadonlyArray2<'_, f32>,
        variance: PyReadonlyArray2<'_, f32>,
    ) -> PyResult<Self> {
        let [offset, scale, variance] = [&offset, &scale, &variance].map(|map| map.as_array());
        let made = spotfit::CameraMap::in_electrons(offset, scale, variance);
        made.map(Self).map_err(error::wrong)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let maps = [self.0.offset(), self.0.scale(), self.0.variance()];
        let maker = py.get_type::<Self>().getattr("_in_electrons")?;
        Ok((maker, maps.map(|map| map.to_pyarray(py)).into()))
    }

    fn __repr__(&self) -> String {
        let (height, width) = self.shape();
        format!("CameraMap of {height}×{width} pixels, {} masked", self.masked())
    }
}
