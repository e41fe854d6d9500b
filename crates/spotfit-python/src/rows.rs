//! Outcomes as rows of structured NumPy arrays, without a copy.

use std::mem::{MaybeUninit, offset_of, size_of};

use fit_core::{Errors, Fit};
use numpy::{
    Element, PyArray1, PyArrayDescr, PyArrayMethods, PyUntypedArrayMethods, get_array_module,
};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use rayon::prelude::*;

use crate::threads;

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

/// An array of rows that nobody has written. The memory is NumPy's, which asks the system for large pages.
///
/// # Errors
/// NumPy's `MemoryError`.
pub(crate) fn room<T>(py: Python<'_>, count: usize) -> PyResult<Bound<'_, PyArray1<Row<T>>>>
where
    Row<T>: Element,
{
    if count <= FILLED {
        // SAFETY: it is filled before anyone reads it. So little memory there is.
        return Ok(unsafe { PyArray1::new(py, count, false) });
    }
    let module = get_array_module(py)?;
    let made = module.call_method1(intern!(py, "empty"), (count, Row::<T>::get_dtype(py)));
    // For NumPy what no address can tell is a wrong value.
    let array = made.map_err(|error| match error.is_instance_of::<PyValueError>(py) {
        true => PyMemoryError::new_err(format!("there is no memory for {count} rows")),
        false => error,
    })?;
    Ok(array.cast_into()?)
}

/// The rows of an array that nobody has written.
///
/// # Safety
/// The array is that of [`room`], and nobody else has it as long as the rows are borrowed.
pub(crate) unsafe fn unfilled<'a, T>(
    array: &'a mut Bound<'_, PyArray1<Row<T>>>,
) -> &'a mut [MaybeUninit<Row<T>>]
where
    Row<T>: Element,
{
    // SAFETY: NumPy has made room for as many, aligned to their type, and nobody else has it.
    unsafe { std::slice::from_raw_parts_mut(array.data().cast(), array.len()) }
}

/// The values in rows that nobody has written.
pub(crate) fn unfilled_values<T>(rows: &mut [MaybeUninit<Row<T>>]) -> &mut [MaybeUninit<T>] {
    // SAFETY: a row has the layout of its value.
    unsafe { &mut *(std::ptr::from_mut(rows) as *mut [MaybeUninit<T>]) }
}

/// Rows that a thread fills by itself.
const FILLED: usize = 1 << 15;

/// Fills rows with the same one. The system finds the memory meanwhile, which takes one thread a percent or two of the fits' time.
pub(crate) fn filled<R: Copy + Send + Sync>(
    rows: &mut [MaybeUninit<R>],
    row: R,
) -> PyResult<&mut [R]> {
    if rows.len() <= FILLED {
        rows.fill(MaybeUninit::new(row));
    } else {
        let parts = rows.par_chunks_mut(FILLED);
        threads::pool()?.install(|| parts.for_each(|part| part.fill(MaybeUninit::new(row))));
    }
    // SAFETY: all of them were written.
    Ok(unsafe { &mut *(std::ptr::from_mut(rows) as *mut [R]) })
}

/// A field: name, type, how many of it, place.
pub(crate) type Field = (&'static str, &'static str, usize, usize);

/// The dtype of these fields. `size` is the number of bytes of a row.
fn dtype(py: Python<'_>, fields: &[Field], size: usize) -> PyResult<Py<PyArrayDescr>> {
    let words = PyDict::new(py);
    words.set_item("names", fields.iter().map(|field| field.0).collect::<Vec<_>>())?;
    let formats = fields.iter().map(|&(_, kind, count, _)| match count {
        1 => kind.into_bound_py_any(py),
        _ => (kind, (count,)).into_bound_py_any(py),
    });
    words.set_item("formats", formats.collect::<PyResult<Vec<_>>>()?)?;
    words.set_item("offsets", fields.iter().map(|field| field.3).collect::<Vec<_>>())?;
    words.set_item("itemsize", size)?;
    Ok(PyArrayDescr::new(py, words)?.unbind())
}

/// What the rows of an array are. It is made with the module: NumPy's Python code may make it, in which Ctrl-C would end the
/// making, and an array must not fail.
static F32_FITS: PyOnceLock<Py<PyArrayDescr>> = PyOnceLock::new();
static F64_FITS: PyOnceLock<Py<PyArrayDescr>> = PyOnceLock::new();
static ERRORS: PyOnceLock<Py<PyArrayDescr>> = PyOnceLock::new();

/// Makes what arrays of rows need.
pub(crate) fn init(py: Python<'_>) -> PyResult<()> {
    F32_FITS.get_or_try_init(py, || fit_dtype_f32(py))?;
    F64_FITS.get_or_try_init(py, || fit_dtype_f64(py))?;
    ERRORS.get_or_try_init(py, || errors_dtype(py))?;
    Ok(())
}

/// What was made with the module.
fn made<'py>(py: Python<'py>, cell: &PyOnceLock<Py<PyArrayDescr>>) -> Bound<'py, PyArrayDescr> {
    cell.get(py).expect("it was made with the module").bind(py).clone()
}

macro_rules! fit_rows {
    ($number:ident, $format:literal, $fields:ident, $dtype:ident, $cell:ident) => {
        /// The fields of an outcome.
        pub(crate) const fn $fields() -> [Field; 14] {
            [
                ("x", $format, 1, offset_of!(Fit<$number>, x)),
                ("y", $format, 1, offset_of!(Fit<$number>, y)),
                ("sigma", $format, 1, offset_of!(Fit<$number>, sigma)),
                ("sigma_x", $format, 1, offset_of!(Fit<$number>, sigma_x)),
                ("sigma_y", $format, 1, offset_of!(Fit<$number>, sigma_y)),
                ("angle", $format, 1, offset_of!(Fit<$number>, angle)),
                ("amplitude", $format, 1, offset_of!(Fit<$number>, amplitude)),
                ("background", $format, 1, offset_of!(Fit<$number>, background)),
                ("offset_x", $format, 1, offset_of!(Fit<$number>, offset_x)),
                ("offset_y", $format, 1, offset_of!(Fit<$number>, offset_y)),
                ("chi2", $format, 1, offset_of!(Fit<$number>, chi2)),
                ("iterations", "=u4", 1, offset_of!(Fit<$number>, iterations)),
                ("evaluations", "=u4", 1, offset_of!(Fit<$number>, evaluations)),
                ("status", "u1", 1, offset_of!(Fit<$number>, status)),
            ]
        }

        fn $dtype(py: Python<'_>) -> PyResult<Py<PyArrayDescr>> {
            dtype(py, &$fields(), size_of::<Row<Fit<$number>>>())
        }

        // SAFETY: the fields are numbers at their places in the row, and none is an object. A status is read from here
        // as a number, and never written by Rust again.
        unsafe impl Element for Row<Fit<$number>> {
            const IS_COPY: bool = true;

            fn get_dtype(py: Python<'_>) -> Bound<'_, PyArrayDescr> {
                made(py, &$cell)
            }

            fn clone_ref(&self, _: Python<'_>) -> Self {
                *self
            }
        }
    };
}
fit_rows!(f32, "=f4", fit_fields, fit_dtype_f32, F32_FITS);
fit_rows!(f64, "=f8", fit_fields_f64, fit_dtype_f64, F64_FITS);

/// The fields of errors. The covariance comes first, for `Errors::numbers` has the order in memory.
pub(crate) const fn errors_fields() -> [Field; 5] {
    [
        ("covariance", "=f4", 28, 0),
        ("photons", "=f4", 1, offset_of!(Errors, photons)),
        ("goodness", "=f4", 1, offset_of!(Errors, goodness)),
        ("excess", "=f4", 1, offset_of!(Errors, excess)),
        ("exploding", "?", 1, offset_of!(Errors, exploding)),
    ]
}

fn errors_dtype(py: Python<'_>) -> PyResult<Py<PyArrayDescr>> {
    dtype(py, &errors_fields(), size_of::<Row<Errors>>())
}

// SAFETY: as above.
unsafe impl Element for Row<Errors> {
    const IS_COPY: bool = true;

    fn get_dtype(py: Python<'_>) -> Bound<'_, PyArrayDescr> {
        made(py, &ERRORS)
    }

    fn clone_ref(&self, _: Python<'_>) -> Self {
        *self
    }
}
