//! Tables of localizations: read, written, filtered.

use std::path::{Path, PathBuf};

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyFileExistsError, PyValueError};
use pyo3::prelude::*;
use spotfit::record::{Origin, Record};
use spotfit::table::{
    self, Column, ColumnNames, Filter, Kind, PicassoVersion, SaveOptions, Table, TableError,
    TableFormat, TableReader, TextOptions, Unit,
};

use crate::error::{self, of_io, room};
use crate::numbers::numbers;
use crate::text_columns::decimal_mark;
use crate::threads;

/// What is known of the movie that a table is of.
#[pyclass(frozen, module = "spotfit._spotfit")]
pub(crate) struct Info(pub(crate) table::Info);

#[pymethods]
impl Info {
    #[new]
    fn new(
        pixel_size: Option<f64>,
        width: Option<usize>,
        height: Option<usize>,
        frames: Option<usize>,
    ) -> Self {
        let mut info = table::Info::default();
        (info.pixel_size, info.width, info.height, info.frames) =
            (pixel_size, width, height, frames);
        Self(info)
    }

    /// The same with another side of a pixel in nanometres.
    fn with_pixel_size(&self, pixel_size: Option<f64>) -> Self {
        let mut info = self.0.clone();
        info.pixel_size = pixel_size;
        Self(info)
    }

    /// Side of a pixel in nanometres, width and height of the frames in pixels, and their number.
    #[getter]
    fn numbers(&self) -> (Option<f64>, Option<usize>, Option<usize>, Option<usize>) {
        (self.0.pixel_size, self.0.width, self.0.height, self.0.frames)
    }
}

/// A column: name, unit, kind, values, and the words that the values stand for.
pub(crate) type Given<'py> = (String, String, String, Bound<'py, PyAny>, Vec<String>);
pub(crate) type Made<'py> =
    (String, &'static str, &'static str, Bound<'py, PyArray1<f64>>, Vec<String>);

/// Units, which Python has as their symbols.
const UNITS: [Unit; 5] = [Unit::Pixel, Unit::Nanometre, Unit::Photon, Unit::Radian, Unit::Second];

/// Kinds by their names.
const KINDS: [(&str, Kind); 5] = [
    ("double", Kind::Double),
    ("single", Kind::Single),
    ("whole", Kind::Whole),
    ("rounded 4", Kind::Rounded(4)),
    ("rounded 6", Kind::Rounded(6)),
];

/// The exception for a table that makes no sense, or cannot be read or written.
pub(crate) fn of_table(error: TableError) -> PyErr {
    match error {
        TableError::Io(error) => error.into(),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// The same of a file.
pub(crate) fn of_file(path: &Path) -> impl Fn(TableError) -> PyErr {
    move |error| match error {
        TableError::Io(error) => of_io(path)(error),
        TableError::Stranger { .. } | TableError::Shared { .. } => {
            PyFileExistsError::new_err(format!("{error}; overwrite=True replaces it"))
        }
        other => PyValueError::new_err(format!("{}: {other}", path.display())),
    }
}

/// The columns of a table as Python has them.
pub(crate) fn columns(py: Python<'_>, mut table: Table) -> Vec<Made<'_>> {
    let names: Vec<String> = table.columns().iter().map(|column| column.name.clone()).collect();
    let taken = names.into_iter().filter_map(|name| table.remove(&name));
    let made = taken.map(|Column { name, unit, kind, values }| {
        let told = KINDS.iter().find(|(_, own)| *own == kind).map_or("double", |(told, _)| told);
        let words = if let Kind::Words(words) = kind { words } else { Vec::new() };
        (name, unit.symbol(), told, PyArray1::from_vec(py, values), words)
    });
    made.collect()
}

/// The table of columns that Python gives.
pub(crate) fn table(py: Python<'_>, given: Vec<Given<'_>>, info: &Info) -> PyResult<Table> {
    let mut table = Table::new(info.0.clone());
    for (name, unit, kind, values, words) in given {
        let values: PyReadonlyArray1<'_, f64> = numbers(&name, &values, "(n)")?;
        let given = values.as_slice()?;
        let mut values = room(given.len(), "rows")?;
        py.detach(|| values.extend_from_slice(given));
        if !table.columns().is_empty() && table.rows() != values.len() {
            let told =
                format!("{name} has {} values, other columns {}", values.len(), table.rows());
            return Err(PyValueError::new_err(told));
        }
        let unit = UNITS.into_iter().find(|known| known.symbol() == unit).unwrap_or_default();
        let kind = if words.is_empty() {
            KINDS
                .iter()
                .find(|(told, _)| *told == kind)
                .map_or(Kind::Double, |(_, own)| own.clone())
        } else {
            Kind::Words(words)
        };
        table.set(Column::new(&name, unit, kind, values));
    }
    Ok(table)
}

/// Where (0, 0) is in a file: as it is said, or else as the record beside it says.
fn origin_of(path: &Path, said: Option<&str>) -> PyResult<Origin> {
    match said {
        Some("centre") => Ok(Origin::Centre),
        Some("corner") => Ok(Origin::Corner),
        Some(other) => {
            let reason = format!("origin must be 'centre' or 'corner', not '{other}'");
            Err(PyValueError::new_err(reason))
        }
        None => Record::origin_of(path).ok_or_else(|| {
            let reason = format!(
                "{}: its record says that a process was killed while it replaced this table by one with another origin; \
                 give origin",
                path.display()
            );
            PyValueError::new_err(reason)
        }),
    }
}

/// Reads a table, with (0, 0) at the centre of the first pixel. Last comes what whoever reads it should know.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
pub(crate) fn read_table<'py>(
    py: Python<'py>,
    path: PathBuf,
    pixel_size: Option<f64>,
    first_frame: Option<u32>,
    origin: Option<&str>,
    column_names: Option<&str>,
    skip_lines: usize,
    decimal: Option<&str>,
) -> PyResult<(Vec<Made<'py>>, Info, Vec<String>)> {
    let text =
        TextOptions::default().with_skip_lines(skip_lines).with_decimal(decimal_mark(decimal)?);
    let names = column_names.map(str::parse::<ColumnNames>).transpose();
    let wrong = |error| PyValueError::new_err(format!("column_names: {error}"));
    let names = names.map_err(wrong)?.unwrap_or_default();
    let picasso = TableFormat::of(&path) == Some(TableFormat::Picasso);
    let corner = origin_of(&path, origin)? == Origin::Corner && !picasso;
    let pool = threads::pool()?;
    let read = || -> Result<(Table, Vec<String>), TableError> {
        let mut reader = TableReader::open_with(&path, text)?.with_names(&names)?;
        if let Some(first) = first_frame {
            reader = reader.with_first_frame(first);
        }
        let recorded = || Record::pixel_size_of(&path);
        reader = reader.with_info(|info| {
            info.pixel_size = pixel_size.or(info.pixel_size).or_else(recorded);
        });
        let mut table = reader.read_all(u32::MAX as usize - 1)?;
        if corner {
            table.shift(-0.5)?;
        }
        Ok((table, reader.notes().to_vec()))
    };
    let (read, notes) = py.detach(|| pool.install(read)).map_err(of_file(&path))?;
    let info = Info(read.info.clone());
    Ok((columns(py, read), info, notes))
}

/// Writes a table; how many rows Picasso would not read, which were left out.
#[pyfunction]
pub(crate) fn write_table(
    py: Python<'_>,
    path: PathBuf,
    columns: Vec<Given<'_>>,
    info: &Bound<'_, Info>,
    overwrite: bool,
    picasso: i64,
) -> PyResult<usize> {
    let picasso = picasso.to_string().parse::<PicassoVersion>();
    let picasso = picasso.map_err(error::wrong)?;
    let options = SaveOptions::default().with_overwrite(overwrite).with_picasso(picasso);
    let table = table(py, columns, info.get())?;
    let pool = threads::pool()?;
    let left_out = py.detach(|| pool.install(|| table.save_with(&path, options)));
    Ok(left_out.map_err(of_file(&path))?.total())
}

/// For each row whether a condition holds.
#[pyfunction]
pub(crate) fn filter_table<'py>(
    py: Python<'py>,
    condition: &str,
    columns: Vec<Given<'py>>,
    info: &Bound<'py, Info>,
) -> PyResult<Bound<'py, PyArray1<bool>>> {
    let table = table(py, columns, info.get())?;
    let filter = Filter::new(condition, &table)
        .map_err(|error| crate::model::of_formula(condition, &error))?;
    let pool = threads::pool()?;
    let keep = py.detach(|| pool.install(|| filter.keep(&table))).map_err(of_table)?;
    Ok(PyArray1::from_vec(py, keep))
}
