//! Tables that appear with their records, and what records say.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use spotfit::movie::Movie;
use spotfit::output::{Lock, Output, OutputError};
use spotfit::record::{self, InputFile, Record};
use spotfit::steps::{self, Silent, Sink, StepError, info as step};
use spotfit::table::{PicassoVersion, SaveOptions, TableError};

use crate::calibrate::{Chosen, movie_options};
use crate::error::{self, of_io};
use crate::localize::LocalizeOptions;
use crate::steps::{json, of_step};
use crate::tables::{Given, Info, of_file, table};

fn read(text: &str) -> PyResult<Record> {
    serde_json::from_str(text).map_err(error::wrong)
}

/// Files of options: what each is for, and where.
type Files = Vec<(String, PathBuf)>;

fn borrowed(files: &Files) -> Vec<(&str, PathBuf)> {
    files.iter().map(|(role, file)| (role.as_str(), file.clone())).collect()
}

/// What a file is, as JSON and in words.
#[pyfunction]
pub(crate) fn info(py: Python<'_>, path: PathBuf) -> PyResult<(String, String)> {
    let found = py.detach(|| {
        // For its class of exceptions.
        path.metadata()?;
        Ok::<_, std::io::Error>(step::run(&path, &Silent))
    });
    let report = found.map_err(of_io(&path))?.map_err(|error| match error {
        StepError::Table { source, .. } => of_file(&path)(source),
        error => error::wrong(error),
    })?;
    Ok((json(&report)?, report.to_string()))
}

/// The options that an outcome depends on, the camera, and the calibration if there is one, as JSON.
#[pyfunction]
pub(crate) fn method(
    options: &Bound<'_, LocalizeOptions>,
    chosen: Chosen,
) -> PyResult<(String, String, String)> {
    let (step, options) = (options.get().step(), options.get().options());
    let calibration = match (&options.calibration, &options.psf) {
        (Some(calibration), _) => Some(record::calibration(calibration)),
        (None, Some(psf)) => Some(record::psf(psf)),
        (None, None) => None,
    };
    let method = step.method(options, &movie_options(chosen));
    Ok((json(&method)?, json(&record::camera(options))?, json(&calibration)?))
}

/// The files that a movie and options are read from, as they are now, as JSON.
#[pyfunction]
pub(crate) fn record_inputs(
    py: Python<'_>,
    movie: PathBuf,
    chosen: Chosen,
    files: Files,
) -> PyResult<String> {
    let (chosen, name) = (movie_options(chosen), movie.display().to_string());
    let found: Result<Vec<InputFile>, String> = py.detach(|| {
        let opened =
            Movie::open_with(&movie, &chosen).map_err(|error| format!("{name}: {error}"))?;
        let inputs = record::inputs(&movie, opened.files(), &borrowed(&files));
        inputs.map_err(|error| error.to_string())
    });
    json(&found.map_err(PyValueError::new_err)?)
}

/// The record beside a table as JSON, if there is one. `ValueError` if it is something else.
#[pyfunction]
pub(crate) fn read_record(table: PathBuf) -> PyResult<Option<String>> {
    let found = Record::read(&Record::path(&table));
    let found = found.map_err(error::wrong)?;
    found.map(|found| json(&found)).transpose()
}

/// How the table of a record was made unlike one that is made of a movie now; `None` if it is the same.
#[pyfunction]
pub(crate) fn unlike(
    then: &str,
    now: &str,
    movie: PathBuf,
    files: Files,
) -> PyResult<Option<String>> {
    let (then, mut now) = (read(then)?, read(now)?);
    now.inputs = then.inputs_now(&movie, &borrowed(&files));
    Ok(then.unlike(&now).map(|reason| reason.replace('`', "")))
}

/// The right to make a file.
#[pyclass(frozen, module = "spotfit._spotfit")]
pub(crate) struct FileLock(Mutex<Option<Lock>>);

#[pymethods]
impl FileLock {
    /// The lock for a file; `None` if somebody has it.
    #[staticmethod]
    fn take(path: PathBuf) -> PyResult<Option<Self>> {
        Ok(Lock::take(&path)?.map(|lock| Self(Mutex::new(Some(lock)))))
    }

    /// Gives it back.
    fn release(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// A table that is written block by block, and appears with its record when it is complete.
#[pyclass(frozen, module = "spotfit._spotfit")]
pub(crate) struct TableFile {
    path: PathBuf,
    /// Until the end.
    writing: Mutex<Option<steps::TableFile>>,
}

fn ended() -> PyErr {
    PyValueError::new_err("the table has ended")
}

#[pymethods]
impl TableFile {
    #[new]
    fn new(path: PathBuf, record: &str, overwrite: bool, picasso: &str) -> PyResult<Self> {
        let picasso = picasso.parse::<PicassoVersion>();
        let picasso = picasso.map_err(error::wrong)?;
        let options = SaveOptions::default().with_overwrite(overwrite).with_picasso(picasso);
        let record = read(record)?;
        let made = steps::TableFile::create(&path, options);
        let made = made.and_then(|made| made.with_record(record));
        Ok(Self { writing: Mutex::new(Some(made.map_err(of_writing(&path))?)), path })
    }

    /// Appends rows.
    fn write(
        &self,
        py: Python<'_>,
        columns: Vec<Given<'_>>,
        info: &Bound<'_, Info>,
    ) -> PyResult<()> {
        let block = table(py, columns, info.get())?;
        py.detach(|| {
            let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
            let file = writing.as_mut().ok_or_else(ended)?;
            file.write(block).map_err(of_file(&self.path))
        })
    }

    /// Completes the table with its record, to which `localizations` and `left_out` are added, and returns these two counts.
    fn finish(&self, py: Python<'_>, counts: BTreeMap<String, u64>) -> PyResult<(u64, u64)> {
        py.detach(|| {
            let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
            let file = writing.take().ok_or_else(ended)?;
            let finished = file.finish([], counts, &mut || true);
            let (_, counts) = finished.map_err(of_writing(&self.path))?;
            let count = |name: &str| counts.get(name).copied().unwrap_or_default();
            Ok((count("localizations"), count("left_out")))
        })
    }
}

/// Writes these bytes to a file. It is there under its name when it is complete, and the record of what was there goes away.
#[pyfunction]
pub(crate) fn write_file(py: Python<'_>, path: PathBuf, content: &[u8]) -> PyResult<()> {
    py.detach(|| {
        let mut output = Output::create(&path).map_err(|error| of_output(&path, error))?;
        output.write_all(content).map_err(of_io(&path))?;
        output.finish().map_err(|error| of_output(&path, error))
    })
}

/// The exception for a table that cannot be written.
fn of_writing(path: &Path) -> impl Fn(StepError) -> PyErr {
    move |error| match error {
        StepError::Write(error) => of_file(path)(error),
        StepError::Output(error) => of_output(path, error),
        error => of_step(error),
    }
}

/// The exception for a file that does not appear.
fn of_output(path: &Path, error: OutputError) -> PyErr {
    match error {
        OutputError::Write { file, source } => {
            std::io::Error::new(source.kind(), format!("{file}: {source}")).into()
        }
        OutputError::Stranger { .. } | OutputError::NoFile { .. } => {
            of_file(path)(TableError::from(error))
        }
        error => PyOSError::new_err(error.to_string()),
    }
}
