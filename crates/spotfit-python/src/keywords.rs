//! Options as Python passes them on: a map by their names.

use pyo3::conversion::FromPyObjectOwned;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Options by their names. What is not there is `None`.
#[derive(FromPyObject)]
#[pyo3(transparent)]
pub(crate) struct Keywords<'py>(Bound<'py, PyDict>);

impl<'py> Keywords<'py> {
    /// An option; the exception names it, as those of arguments do.
    pub(crate) fn get<T: FromPyObjectOwned<'py>>(&self, name: &str) -> PyResult<T> {
        let py = self.0.py();
        let given = self.0.get_item(name)?.unwrap_or_else(|| py.None().into_bound(py));
        given.extract::<T>().map_err(|error| {
            let error: PyErr = error.into();
            let note = format!("while processing '{name}'");
            // Older versions of Python have no notes.
            drop(error.value(py).call_method1(intern!(py, "add_note"), (note,)));
            error
        })
    }

    /// A word.
    pub(crate) fn word(&self, name: &str) -> PyResult<String> {
        self.get(name)
    }
}

/// Sets fields to the options of the same names; with `if given`, those that are not `None`.
macro_rules! assign {
    ($keywords:expr => $to:expr; $($name:ident),+ $(,)?) => {
        $($to.$name = $keywords.get(stringify!($name))?;)+
    };
    ($keywords:expr => $to:expr, if given; $($name:ident),+ $(,)?) => {
        $(if let Some(given) = $keywords.get(stringify!($name))? {
            $to.$name = given;
        })+
    };
}
pub(crate) use assign;
