//! Arrays of numbers that are not pixels.

use fit_core::Corner;
use numpy::ndarray::Dimension;
use numpy::{
    Element, PyArray, PyArrayDescrMethods, PyArrayMethods, PyReadonlyArray, PyReadonlyArray2,
    PyReadonlyArray3, PyUntypedArray, PyUntypedArrayMethods, dtype, get_array_module,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use spotfit::{Start, Weights};

/// Anything as an array; `name` is the argument's.
pub(crate) fn array<'py>(
    name: &str,
    object: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = object.py();
    let array = match object.cast::<PyUntypedArray>() {
        Ok(array) => array.clone(),
        Err(_) if object.is_none() => {
            return Err(PyTypeError::new_err(format!("{name} must be an array, not None")));
        }
        Err(_) => {
            let module = get_array_module(py)?;
            module.call_method1(intern!(py, "asarray"), (object,))?.cast_into()?
        }
    };
    // What is masked would be fitted. Arrays of NumPy's own type, which most are, have no mask.
    let plain = array.get_type().is(py.get_type::<PyUntypedArray>());
    if !plain && array.hasattr(intern!(py, "mask"))? {
        return Err(PyTypeError::new_err(format!(
            "{name} is a masked array: give its data, and weights of 0 where it is masked"
        )));
    }
    Ok(array)
}

/// Whether the numbers are in this machine's order and where the processor expects them.
pub(crate) fn is_plain(array: &Bound<'_, PyUntypedArray>) -> PyResult<bool> {
    let given = array.dtype();
    let size = given.itemsize() as isize;
    let native = given.is_native_byteorder() != Some(false);
    let flags = array.getattr(intern!(array.py(), "flags"))?;
    Ok(native
        && size > 0
        && array.strides().iter().all(|stride| stride % size == 0)
        && flags.getattr(intern!(array.py(), "aligned"))?.extract()?)
}

/// Numbers of one type, in C order; `shape` tells what is expected. They are copied unless they are that already.
pub(crate) fn numbers<'py, T: Element, D: Dimension>(
    name: &str,
    object: &Bound<'py, PyAny>,
    shape: &str,
) -> PyResult<PyReadonlyArray<'py, T, D>> {
    let py = object.py();
    let array = array(name, object)?;
    let given = array.dtype();
    if !matches!(given.kind(), b'i' | b'u' | b'f' | b'b') {
        return Err(PyTypeError::new_err(format!("{name} must be numbers, not {}", given.str()?)));
    }
    if D::NDIM.is_some_and(|count| count != array.ndim()) {
        let told = array.getattr(intern!(py, "shape"))?;
        return Err(PyValueError::new_err(format!(
            "{name} must be an array {shape}, not one of shape {told}"
        )));
    }
    let words = PyDict::new(py);
    words.set_item(intern!(py, "dtype"), dtype::<T>(py))?;
    words.set_item(intern!(py, "requirements"), "CA")?;
    let module = py.import(intern!(py, "numpy"))?;
    let plain = module.call_method(intern!(py, "require"), (array,), Some(&words))?;
    let plain = plain.cast_into::<PyArray<T, D>>()?;
    plain.try_readonly().map_err(|_| PyValueError::new_err(format!("{name} is being written to")))
}

/// Start values, borrowed from Python.
pub(crate) enum Starts<'py> {
    Estimate,
    Given(PyReadonlyArray2<'py, f64>),
}

impl<'py> Starts<'py> {
    /// Start values (n, 3) or (n, 5), or `None` for estimates.
    pub(crate) fn of(object: Option<&Bound<'py, PyAny>>, count: usize) -> PyResult<Self> {
        let Some(object) = object else { return Ok(Self::Estimate) };
        let shape = "(n, 3): x, y, sigma; or (n, 5): x, y, sigma_x, sigma_y, angle";
        let starts: PyReadonlyArray2<'py, f64> = numbers("start", object, shape)?;
        let dim = starts.as_array().dim();
        if dim.0 != count || !matches!(dim.1, 3 | 5) {
            return Err(PyValueError::new_err(format!(
                "start must be an array {shape}, with n = {count}; not one of shape {dim:?}"
            )));
        }
        Ok(Self::Given(starts))
    }

    /// All of them.
    pub(crate) fn values(&self) -> PyResult<Start<'_>> {
        let Self::Given(starts) = self else { return Ok(Start::Estimate) };
        let numbers = starts.as_slice()?;
        Ok(match starts.as_array().dim().1 {
            3 => Start::F64(numbers.as_chunks().0),
            _ => Start::Outlines(numbers.as_chunks().0),
        })
    }
}

/// The start values from `start` to before `end`.
pub(crate) fn part<'a>(of: Start<'a>, start: usize, end: usize) -> Start<'a> {
    match of {
        Start::F32(values) => Start::F32(&values[start..end]),
        Start::F64(values) => Start::F64(&values[start..end]),
        Start::Outlines(values) => Start::Outlines(&values[start..end]),
        _ => Start::Estimate,
    }
}

/// The first pixels of windows: (n, 2) with x and y, or (n, 3) with the number of the frame before them.
pub(crate) fn corners(object: &Bound<'_, PyAny>, with_frame: bool) -> PyResult<Vec<Corner>> {
    let shape = if with_frame { "(n, 3): frame, x, y" } else { "(n, 2): x, y" };
    let given: PyReadonlyArray2<'_, f64> = numbers("corners", object, shape)?;
    let given = given.as_array();
    if given.ncols() != if with_frame { 3 } else { 2 } {
        return Err(PyValueError::new_err(format!(
            "corners must be an array {shape}, not one of shape {:?}",
            given.dim()
        )));
    }
    let mut corners = crate::error::room(given.nrows(), "corners")?;
    for (spot, row) in given.rows().into_iter().enumerate() {
        let whole = |value: f64| {
            let sound = value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value);
            sound.then_some(value as u32).ok_or_else(|| {
                let range = "a whole number from 0 to 4294967295";
                PyValueError::new_err(format!("corners: {value} of window {spot} is not {range}"))
            })
        };
        let (frame, x, y) =
            if with_frame { (row[0], row[1], row[2]) } else { (0.0, row[0], row[1]) };
        corners.push(Corner { frame: whole(frame)?, x: whole(x)?, y: whole(y)? });
    }
    Ok(corners)
}

/// Weights, borrowed from Python.
pub(crate) enum WeightArray<'py> {
    Windows(PyReadonlyArray3<'py, f32>),
    Frame(PyReadonlyArray2<'py, f32>),
}

impl<'py> WeightArray<'py> {
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if array("weights", object)?.ndim() == 2 {
            return Ok(Self::Frame(numbers("weights", object, "(height, width)")?));
        }
        let shape = "(n, height, width) or (height, width)";
        Ok(Self::Windows(numbers("weights", object, shape)?))
    }

    pub(crate) fn values(&self) -> Weights<'_> {
        match self {
            Self::Windows(weights) => Weights::Windows(weights.as_array()),
            Self::Frame(weights) => Weights::Frame(weights.as_array()),
        }
    }
}

/// Fills fields with the columns of the same names of a structured array; those of `errors` have names that end so.
macro_rules! fill {
    ($rows:expr => $to:expr, errors; $($name:ident),+ $(,)?) => {
        $($crate::numbers::fill!(@ $rows => $to, f64; concat!(stringify!($name), "_error"), errors.$name);)+
    };
    ($rows:expr => $to:expr, $type:ty; $($name:ident),+ $(,)?) => {
        $($crate::numbers::fill!(@ $rows => $to, $type; stringify!($name), $name);)+
    };
    (@ $rows:expr => $to:expr, $type:ty; $name:expr, $($field:ident).+) => {
        let given: numpy::PyReadonlyArray1<'_, $type> =
            $crate::numbers::numbers($name, &$rows.get_item($name)?, "(n)")?;
        $to.iter_mut().zip(given.as_slice()?).for_each(|(to, value)| to.$($field).+ = *value);
    };
}
pub(crate) use fill;
