//! Errors as Python's own exceptions.

use std::fmt::Display;
use std::io;
use std::path::Path;

use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use spotfit::camera_maps::{CameraMapsError, CameraMapsProblem};
use spotfit::gpu::GpuError;
use spotfit::{BatchError, FitError, OutOfRange};

/// The exception for what cannot be fitted.
pub(crate) fn of_fit(error: FitError) -> PyErr {
    let told = error.to_string();
    match error {
        FitError::Batch(BatchError::Threads(_)) => PyRuntimeError::new_err(told),
        FitError::Gpu(GpuError::OutOfMemory { .. }) => PyMemoryError::new_err(told),
        FitError::Option(error) => of_option(error),
        FitError::Gpu(_) | FitError::NoGpuSupport => PyRuntimeError::new_err(told),
        _ => PyValueError::new_err(told),
    }
}

/// The exception for a file that cannot be read or written: Python chooses the class, such as `FileNotFoundError`, by the kind.
pub(crate) fn of_io(path: &Path) -> impl Fn(io::Error) -> PyErr {
    move |error| io::Error::new(error.kind(), format!("{}: {error}", path.display())).into()
}

/// The exception for an option out of its range.
pub(crate) fn of_option(error: OutOfRange) -> PyErr {
    PyValueError::new_err(keywords(&error.to_string()))
}

/// The exception for what makes no sense, in the words of its error.
pub(crate) fn wrong(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The exception for maps of a camera that cannot be read.
pub(crate) fn of_maps(error: CameraMapsError) -> PyErr {
    let told = error.to_string();
    match error.problem {
        // Python chooses the class, such as FileNotFoundError, by the kind.
        CameraMapsProblem::Io(error) => io::Error::new(error.kind(), told).into(),
        _ => PyValueError::new_err(told),
    }
}

/// A text in which options have the names that keywords have, without backticks.
pub(crate) fn keywords(text: &str) -> String {
    // Python has a type for all that is known of a camera.
    let camera = "no `baseline`, `sensitivity`, `em_gain`, `read_noise` or `camera` given";
    text.replace(camera, "no camera given").replace("box_size", "box").replace('`', "")
}

/// Room for so many values; the exception names `what` they are.
pub(crate) fn room<T>(count: usize, what: &str) -> PyResult<Vec<T>> {
    let mut values = Vec::new();
    match values.try_reserve_exact(count) {
        Ok(()) => Ok(values),
        Err(_) => Err(PyMemoryError::new_err(format!("there is no memory for {count} {what}"))),
    }
}
