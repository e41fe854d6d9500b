//! Outcomes as rows of structured NumPy arrays, without a copy.

use std::mem::{offset_of, size_of};

use fit_core::{Errors, Fit};
use numpy::{Element, PyArray1, PyArrayDescr};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

/// Something as a row of an array.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Row<T>(pub(crate) T);

/// The values in rows.
pub(crate) fn values<T>(rows: &mut [Row<T>]) -> &mut [T] {
    let (data, count) = (rows.as_mut_ptr(), rows.len());
    // SAFETY: a row has the layout of its value, and the rows are borrowed as long as the values.
    unsafe { std::slice::from_raw_parts_mut(data.cast::<T>(), count) }
}

/// Rows as an array that owns them.
pub(crate) fn array<T>(py: Python<'_>, rows: Vec<Row<T>>) -> Bound<'_, PyAny>
where
    Row<T>: Element,
{
    PyArray1::from_vec(py, rows).into_any()
}

/// A field: name, type, place.
type Field = (&'static str, &'static str, usize);

/// The dtype of these fields. `size` is the number of bytes of a row.
fn dtype(py: Python<'_>, fields: &[Field], size: usize) -> PyResult<Py<PyArrayDescr>> {
    let words = PyDict::new(py);
    words.set_item("names", fields.iter().map(|field| field.0).collect::<Vec<_>>())?;
    words.set_item("formats", fields.iter().map(|field| field.1).collect::<Vec<_>>())?;
    words.set_item("offsets", fields.iter().map(|field| field.2).collect::<Vec<_>>())?;
    words.set_item("itemsize", size)?;
    Ok(PyArrayDescr::new(py, words)?.unbind())
}

/// The same dtype for all arrays.
fn shared<'py>(
    py: Python<'py>,
    cell: &PyOnceLock<Py<PyArrayDescr>>,
    fields: &[Field],
    size: usize,
) -> Bound<'py, PyArrayDescr> {
    let made = cell.get_or_try_init(py, || dtype(py, fields, size));
    made.expect("NumPy takes these fields").bind(py).clone()
}

macro_rules! fit_rows {
    ($number:ident, $format:literal) => {
        // SAFETY: the fields are numbers at their places in the row, and none is an object. A status is read from here
        // as a number, and never written by Rust again.
        unsafe impl Element for Row<Fit<$number>> {
            const IS_COPY: bool = true;

            fn get_dtype(py: Python<'_>) -> Bound<'_, PyArrayDescr> {
                static DTYPE: PyOnceLock<Py<PyArrayDescr>> = PyOnceLock::new();
                let fields = [
                    ("x", $format, offset_of!(Fit<$number>, x)),
                    ("y", $format, offset_of!(Fit<$number>, y)),
                    ("sigma", $format, offset_of!(Fit<$number>, sigma)),
                    ("sigma_x", $format, offset_of!(Fit<$number>, sigma_x)),
                    ("sigma_y", $format, offset_of!(Fit<$number>, sigma_y)),
                    ("angle", $format, offset_of!(Fit<$number>, angle)),
                    ("amplitude", $format, offset_of!(Fit<$number>, amplitude)),
                    ("background", $format, offset_of!(Fit<$number>, background)),
                    ("chi2", $format, offset_of!(Fit<$number>, chi2)),
                    ("iterations", "=u4", offset_of!(Fit<$number>, iterations)),
                    ("evaluations", "=u4", offset_of!(Fit<$number>, evaluations)),
                    ("status", "u1", offset_of!(Fit<$number>, status)),
                ];
                shared(py, &DTYPE, &fields, size_of::<Self>())
            }

            fn clone_ref(&self, _: Python<'_>) -> Self {
                *self
            }
        }
    };
}
fit_rows!(f32, "=f4");
fit_rows!(f64, "=f8");

// SAFETY: as above. The covariance comes first, for `Errors::numbers` has the order in memory.
unsafe impl Element for Row<Errors> {
    const IS_COPY: bool = true;

    fn get_dtype(py: Python<'_>) -> Bound<'_, PyArrayDescr> {
        static DTYPE: PyOnceLock<Py<PyArrayDescr>> = PyOnceLock::new();
        let fields = [
            ("covariance", "(28,)=f4", 0),
            ("photons", "=f4", offset_of!(Errors, photons)),
            ("goodness", "=f4", offset_of!(Errors, goodness)),
            ("excess", "=f4", offset_of!(Errors, excess)),
            ("exploding", "?", offset_of!(Errors, exploding)),
        ];
        shared(py, &DTYPE, &fields, size_of::<Self>())
    }

    fn clone_ref(&self, _: Python<'_>) -> Self {
        *self
    }
}
