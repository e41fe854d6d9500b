//! Columns of numbers in text.

use std::path::PathBuf;

use numpy::{PyArray2, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use spotfit::columns::{ColumnOptions, Columns};

use crate::localize::of_io;

/// Names, units, numbers (column, row), and what was left out.
type Read<'py> = (Vec<String>, Vec<String>, Bound<'py, PyArray2<f64>>, Vec<String>);

/// Reads columns of numbers.
#[pyfunction]
pub(crate) fn read_columns(
    py: Python<'_>,
    path: PathBuf,
    columns: Vec<String>,
    skip: usize,
) -> PyResult<Read<'_>> {
    let options = ColumnOptions::default().with_skip(skip).with_columns(columns);
    let read = py.detach(|| std::fs::read(&path).map(|text| Columns::read(&text, &options)));
    let found = read.map_err(|error| of_io(&path, &error))?;
    let Columns { names, units, values, notes, .. } =
        found.map_err(|error| PyValueError::new_err(format!("{}: {error}", path.display())))?;
    let notes = notes.into_iter().map(|note| format!("{}: {note}", path.display())).collect();
    Ok((names, units, values.to_pyarray(py), notes))
}
