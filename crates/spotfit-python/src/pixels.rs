//! Pixels of any number type, stride and byte order, without a copy where memory allows.

use fit_windows::Windows;
use numpy::ndarray::{Array3, ArrayView3, Axis, Slice};
use numpy::{
    Element, PyArray3, PyArrayDescrMethods, PyArrayMethods, PyReadonlyArray3, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use pyo3::{IntoPyObjectExt, intern};
use spotfit::{AnyWindows, Corner, Size};

use crate::numbers::is_plain;

/// A stack of windows, or of frames to cut windows from.
#[derive(Clone, Copy)]
enum Place<'a> {
    /// Each image is a window.
    Stack,
    /// Windows of this size lie at these corners.
    Cuts(Size, &'a [Corner]),
}

macro_rules! pixels {
    ($($variant:ident($type:ident, $kind:pat, $size:literal)),*) => {
        /// An array (n, height, width) of pixels, borrowed from Python.
        pub(crate) enum Pixels<'py> {
            $($variant(PyReadonlyArray3<'py, $type>),)*
        }

        /// What is read of [`Pixels`], also without the interpreter.
        #[derive(Clone, Copy)]
        pub(crate) enum View<'a> {
            $($variant(ArrayView3<'a, $type>),)*
        }

        impl<'py> Pixels<'py> {
            /// The pixels of an array that Rust can read as it lies.
            fn borrow(array: &Bound<'py, PyUntypedArray>) -> PyResult<Option<Self>> {
                let given = array.dtype();
                match (given.kind(), given.itemsize()) {
                    $(($kind, $size) => Ok(Some(Self::$variant(borrow(array)?))),)*
                    _ => Ok(None),
                }
            }

            /// What is read of them.
            pub(crate) fn view(&self) -> View<'_> {
                match self {
                    $(Self::$variant(array) => View::$variant(array.as_array()),)*
                }
            }
        }

        impl<'a> View<'a> {
            /// Number, height and width.
            pub(crate) fn dim(&self) -> (usize, usize, usize) {
                match self {
                    $(Self::$variant(view) => view.dim(),)*
                }
            }

            /// The same in single precision.
            #[allow(clippy::unnecessary_cast)] // One of the types is this.
            pub(crate) fn as_f32(self) -> Array3<f32> {
                match self {
                    $(Self::$variant(view) => view.mapv(|value| value as f32),)*
                }
            }

            /// The windows from `start` to before `end`.
            fn windows(self, place: Place<'a>, start: usize, end: usize) -> AnyWindows<'a> {
                match self {
                    $(Self::$variant(mut view) => match place {
                        Place::Stack => {
                            view.slice_axis_inplace(Axis(0), Slice::from(start..end));
                            Windows::stack(view).into()
                        }
                        Place::Cuts(size, corners) => {
                            Windows::cuts(view, size, &corners[start..end]).into()
                        }
                    },)*
                }
            }
        }
    };
}
pixels!(
    U8(u8, b'u', 1),
    U16(u16, b'u', 2),
    U32(u32, b'u', 4),
    U64(u64, b'u', 8),
    I8(i8, b'i', 1),
    I16(i16, b'i', 2),
    I32(i32, b'i', 4),
    I64(i64, b'i', 8),
    F32(f32, b'f', 4),
    F64(f64, b'f', 8)
);

/// Windows with what is known of them.
#[derive(Clone, Copy)]
pub(crate) struct Stack<'a> {
    view: View<'a>,
    place: Place<'a>,
    pub(crate) count: usize,
    /// Where the windows of a stack lie in the map.
    corners: Option<&'a [Corner]>,
    map: Option<&'a spotfit::CameraMap>,
}

impl<'a> Stack<'a> {
    /// A stack of windows; or frames, if a size is given, with windows at corners.
    pub(crate) fn of(
        view: View<'a>,
        size: Option<Size>,
        corners: Option<&'a [Corner]>,
        map: Option<&'a spotfit::CameraMap>,
    ) -> Self {
        let (place, count, corners) = match (size, corners) {
            (Some(size), Some(corners)) => (Place::Cuts(size, corners), corners.len(), None),
            _ => (Place::Stack, view.dim().0, corners),
        };
        Self { view, place, count, corners, map }
    }

    /// The windows from `start` to before `end`.
    pub(crate) fn windows(&self, start: usize, end: usize) -> AnyWindows<'a> {
        let mut windows = self.view.windows(self.place, start, end);
        if let Some(corners) = self.corners {
            windows = windows.with_corners(corners.get(start..end).unwrap_or(corners));
        }
        match self.map {
            Some(map) => windows.with_map(map),
            None => windows,
        }
    }
}

fn borrow<'py, T: Element>(
    array: &Bound<'py, PyUntypedArray>,
) -> PyResult<PyReadonlyArray3<'py, T>> {
    let array = array.cast::<PyArray3<T>>()?;
    array.try_readonly().map_err(|_| PyValueError::new_err("the pixels are being written to"))
}

impl<'py> Pixels<'py> {
    /// The pixels of anything that NumPy makes an array (n, height, width) of; `name` is the argument's.
    ///
    /// Numbers of other sizes, in the other byte order or at odd addresses are copied once.
    pub(crate) fn of(name: &str, object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = object.py();
        let array = crate::numbers::array(name, object)?;
        if array.ndim() != 3 {
            return Err(PyValueError::new_err(format!(
                "{name} must be an array (n, height, width), not one of shape {}",
                array.getattr(intern!(py, "shape"))?
            )));
        }
        if is_plain(&array)?
            && let Some(pixels) = Self::borrow(&array)?
        {
            return Ok(pixels);
        }
        let format = readable(name, &array)?;
        let copy = array.call_method1(intern!(py, "astype"), (format, intern!(py, "C")))?;
        let copy = copy.cast_into::<PyUntypedArray>()?;
        Self::borrow(&copy)?
            .ok_or_else(|| PyTypeError::new_err(format!("{name} cannot be read as numbers")))
    }
}

/// The dtype that Rust can read without losing digits.
fn readable<'py>(name: &str, array: &Bound<'py, PyUntypedArray>) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let given = array.dtype();
    match (given.kind(), given.itemsize()) {
        (b'i' | b'u', 1 | 2 | 4 | 8) | (b'f', 4 | 8) => {
            given.call_method1(intern!(py, "newbyteorder"), (intern!(py, "="),))
        }
        (b'b', _) => PyString::new(py, "uint8").into_bound_py_any(py),
        (b'f', 2) => PyString::new(py, "float32").into_bound_py_any(py),
        (b'f', _) => PyString::new(py, "float64").into_bound_py_any(py),
        _ => Err(PyTypeError::new_err(format!(
            "{name} must be integers or floating-point numbers, not {}",
            given.str()?
        ))),
    }
}
