//! Defective pixels.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray2, PyReadonlyArray2, ToPyArray};
use pyo3::prelude::*;
use spotfit::AsWindows;
use spotfit::localize::{self, DefectsError, frames_for_estimates};
use spotfit::movie::{self, GrowingMovie, Movie};
use spotfit::npy::NpyError;

use crate::calibrate::{Chosen, movie_options};
use crate::camera::CameraMap;
use crate::error::{self, of_io};
use crate::localize::{followed, stored};
use crate::pixels::Pixels;

/// The defective pixels of a camera.
#[pyclass(frozen, module = "spotfit._spotfit")]
pub(crate) struct Defects(pub(crate) Arc<localize::Defects>);

impl Defects {
    fn of_found(found: localize::Defects) -> Self {
        Self(Arc::new(found))
    }
}

fn found(frames: &movie::Pixels, map: Option<&spotfit::CameraMap>) -> localize::Defects {
    match map {
        Some(map) => localize::Defects::find_mapped(frames.windows(), map),
        None => localize::Defects::find(frames.windows()),
    }
}

#[pymethods]
impl Defects {
    /// Those of a mask.
    #[new]
    fn new(mask: PyReadonlyArray2<'_, bool>) -> Self {
        Self::of_found(localize::Defects::from_mask(mask.as_array()))
    }

    /// Those of a mask in a file.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let read = py.detach(|| localize::Defects::read(&path));
        read.map(Self::of_found).map_err(|error| match error {
            DefectsError { file, problem: NpyError::Io(error), .. } => of_io(&file)(error),
            error => error::wrong(error),
        })
    }

    /// Those that the first frames show, of which the first has this number.
    #[staticmethod]
    #[pyo3(signature = (frames, camera_map=None, first=0))]
    fn find(
        py: Python<'_>,
        frames: &Bound<'_, PyAny>,
        camera_map: Option<&Bound<'_, CameraMap>>,
        first: usize,
    ) -> PyResult<Self> {
        let frames = Pixels::of("movie", frames)?;
        let view = frames.view();
        let map = camera_map.map(|map| &map.get().0);
        Ok(Self::of_found(py.detach(|| found(&stored(view), map).numbered_from(first))))
    }

    /// The same for a file; nothing if it has its frames only once. What is wrong with it is said when it is localized.
    #[staticmethod]
    #[pyo3(signature = (path, chosen, camera_map=None, idle=None))]
    fn find_in(
        py: Python<'_>,
        path: PathBuf,
        chosen: Chosen,
        camera_map: Option<&Bound<'_, CameraMap>>,
        idle: Option<f64>,
    ) -> PyResult<Option<Self>> {
        let map = camera_map.map(|map| &map.get().0);
        let chosen = movie_options(chosen);
        if let Some(idle) = idle {
            // They are waited for.
            let first = followed(py, idle, move |follow| {
                let movie = GrowingMovie::open(path, &chosen, &follow).ok()?;
                let most = frames_for_estimates(movie.size());
                movie.read_first(most).ok()?
            })?;
            return Ok(first.map(|first| Self::of_found(py.detach(|| found(&first, map)))));
        }
        Ok(py.detach(|| {
            let metadata = path.metadata().ok()?;
            let movie = Movie::open_with(&path, &chosen)
                .ok()
                .filter(|_| metadata.is_file() || metadata.is_dir())?;
            let most = frames_for_estimates(movie.size());
            let first = movie.read_first(most).ok()??;
            Some(Self::of_found(found(&first, map)))
        }))
    }

    /// The same with the pixels of others that are not finite.
    fn with_not_finite(&self, others: &Self) -> Self {
        Self::of_found(self.0.with_not_finite(&others.0))
    }

    /// What is to be said of pixels that are not finite besides those of a mask, and of whole frames.
    #[getter]
    fn notes(&self) -> Vec<String> {
        [self.0.frames_left_out(), self.0.beside_mask()].into_iter().flatten().collect()
    }

    /// What is to be said of frames of which most pixels are not finite.
    #[getter]
    fn frames_left_out(&self) -> Option<String> {
        self.0.frames_left_out()
    }

    /// How many there are.
    fn __len__(&self) -> usize {
        self.0.pixels().len()
    }

    /// How many of which kind, and where.
    fn __str__(&self) -> String {
        self.0.to_string()
    }

    /// True where a pixel is defective.
    #[getter]
    fn mask<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<bool>> {
        self.0.mask().to_pyarray(py)
    }
}
