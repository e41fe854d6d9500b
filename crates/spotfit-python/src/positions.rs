//! Places to fit instead of detected spots.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use spotfit::localize;
use spotfit::record::Origin;
use spotfit::steps::localize::{Given, positions_of, read_positions};
use spotfit::steps::{Source, StepError};

use crate::localize::Heard;
use crate::steps::of_step;
use crate::tables::{self, Info, table};

/// Positions to fit, and the file that they are from, if they are from one.
#[pyclass(frozen, module = "spotfit._spotfit")]
pub(crate) struct Positions {
    places: Arc<localize::Positions>,
    file: Option<PathBuf>,
    notes: Vec<String>,
}

#[pymethods]
impl Positions {
    /// Those of a table in a file. Pixels have this size in nanometres, whatever the table says.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, pixel_size: Option<f64>) -> PyResult<Self> {
        let found = py.detach(|| {
            let heard = Heard::default();
            let places = read_positions(&path, pixel_size, Origin::Centre, &heard)?;
            Ok((places, heard.into_notes()))
        });
        Self::made(found, Some(path))
    }

    /// Those of a table.
    #[staticmethod]
    fn of(
        py: Python<'_>,
        columns: Vec<tables::Given<'_>>,
        info: &Bound<'_, Info>,
        pixel_size: Option<f64>,
    ) -> PyResult<Self> {
        let table = table(py, columns, info.get())?;
        let found = py.detach(|| {
            let source = Source::of(table).with_name("positions").with_pixel_size(pixel_size)?;
            let heard = Heard::default();
            let places = positions_of(&source, &heard)?;
            Ok((places, heard.into_notes()))
        });
        Self::made(found, None)
    }

    /// What is odd about the table.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// How many there are.
    fn __len__(&self) -> usize {
        self.places.len()
    }
}

impl Positions {
    fn made(
        found: Result<(localize::Positions, Vec<String>), StepError>,
        file: Option<PathBuf>,
    ) -> PyResult<Self> {
        let (places, notes) = found.map_err(of_step)?;
        Ok(Self { places: Arc::new(places), file, notes })
    }

    pub(crate) fn places(&self) -> &Arc<localize::Positions> {
        &self.places
    }

    /// As options name them.
    pub(crate) fn given(&self) -> Given<localize::Positions> {
        match &self.file {
            Some(file) => Given::File(file.clone()),
            None => Given::Content(self.places.clone()),
        }
    }
}
