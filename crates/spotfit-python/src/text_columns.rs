//! Columns of numbers in text.

use std::path::PathBuf;

use numpy::{PyArray2, PyArray3, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use spotfit::columns::{ColumnOptions, DataSets, DecimalMark};

use crate::error::of_io;

/// Names of x and of data sets, units, x (1 or set, variable, point), y, errors and weights (set, point), and what was left out.
type Read<'py> = (
    [Vec<String>; 2],
    Vec<String>,
    Bound<'py, PyArray3<f64>>,
    Bound<'py, PyArray2<f64>>,
    Option<Bound<'py, PyArray2<f64>>>,
    Bound<'py, PyArray2<f64>>,
    Vec<String>,
);

/// Reads data sets.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
pub(crate) fn read_columns<'py>(
    py: Python<'py>,
    path: PathBuf,
    columns: Vec<String>,
    skip: usize,
    by: Vec<String>,
    error_columns: Vec<String>,
    x_columns: Vec<String>,
    sheet: Option<String>,
    decimal: Option<&str>,
) -> PyResult<Read<'py>> {
    let options = ColumnOptions::default()
        .with_skip(skip)
        .with_columns(columns)
        .with_by(by)
        .with_error_columns(error_columns)
        .with_x_columns(x_columns)
        .with_sheet(sheet)
        .with_decimal(decimal_mark(decimal)?);
    let read = py.detach(|| std::fs::read(&path).map(|text| DataSets::read(&text, &options)));
    let found = read.map_err(of_io(&path))?;
    let sets =
        found.map_err(|error| PyValueError::new_err(format!("{}: {error}", path.display())))?;
    let notes = sets.notes.iter().map(|note| format!("{}: {note}", path.display())).collect();
    let errors = sets.errors.as_ref().map(|errors| errors.to_pyarray(py));
    let weights = sets.weights().to_pyarray(py);
    let (x, y) = (sets.x.to_pyarray(py), sets.y.to_pyarray(py));
    Ok(([sets.x_names, sets.names], sets.units, x, y, errors, weights, notes))
}

/// The decimal mark, as the command says it, or pandas.
pub(crate) fn decimal_mark(decimal: Option<&str>) -> PyResult<Option<DecimalMark>> {
    match decimal {
        None => Ok(None),
        Some("point" | ".") => Ok(Some(DecimalMark::Point)),
        Some("comma" | ",") => Ok(Some(DecimalMark::Comma)),
        Some(other) => {
            Err(PyValueError::new_err(format!("decimal must be 'point' or 'comma', not '{other}'")))
        }
    }
}
