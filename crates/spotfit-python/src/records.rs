//! Tables that appear with their records, and what records say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyFileExistsError, PyOSError, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;
use spotfit::movie::{Movie, MovieOptions};
use spotfit::output::{Lock, Output, OutputError, refuse_stranger};
use spotfit::record::{self, InputFile, Record, State};
use spotfit::steps::{Silent, StepError, info as step};
use spotfit::table::{SaveOptions, TableError, TableOutput};
use std::io::Write;

use crate::localize::LocalizeOptions;
use crate::tables::{Given, Info, of_file, table};

fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn read(text: &str) -> PyResult<Record> {
    serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))
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
    let named = |error: std::io::Error| {
        std::io::Error::new(error.kind(), format!("{}: {error}", path.display()))
    };
    let report = found.map_err(named)?.map_err(|error| match error {
        StepError::Table { source, .. } => of_file(&path)(source),
        error => PyValueError::new_err(error.to_string()),
    })?;
    Ok((json(&report)?, report.to_string()))
}

/// The options that an outcome depends on, the camera, and the calibration if there is one, as JSON.
#[pyfunction]
pub(crate) fn method(options: &Bound<'_, LocalizeOptions>) -> PyResult<(String, String, String)> {
    let options = options.get().options();
    let calibration = match (&options.calibration, &options.psf) {
        (Some(calibration), _) => Some(record::calibration(calibration)),
        (None, Some(psf)) => Some(record::psf(psf)),
        (None, None) => None,
    };
    Ok((json(&record::method(options))?, json(&record::camera(options))?, json(&calibration)?))
}

/// The files that a movie and options are read from, as they are now, as JSON.
#[pyfunction]
pub(crate) fn record_inputs(
    py: Python<'_>,
    movie: PathBuf,
    channel: Option<usize>,
    slice: Option<usize>,
    files: Files,
) -> PyResult<String> {
    let (mut chosen, name) = (MovieOptions::default(), movie.display().to_string());
    (chosen.channel, chosen.slice) = (channel, slice);
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
    let found = found.map_err(|error| PyValueError::new_err(error.to_string()))?;
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
    overwrite: bool,
    /// The table and its rows so far, until the end.
    writing: Mutex<Option<(TableOutput, usize)>>,
}

fn ended() -> PyErr {
    PyValueError::new_err("the table has ended")
}

#[pymethods]
impl TableFile {
    #[new]
    fn new(path: PathBuf, overwrite: bool) -> PyResult<Self> {
        let record = refuse_stranger(&Record::path(&path), Record::is_ours, overwrite);
        record.map_err(|error| of_output(&path, error))?;
        let output = TableOutput::create(&path, SaveOptions::default().with_overwrite(overwrite))
            .map_err(of_file(&path))?;
        Ok(Self { path, overwrite, writing: Mutex::new(Some((output, 0))) })
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
            let (output, rows) = writing.as_mut().ok_or_else(ended)?;
            *rows += block.rows();
            output.write(&block).map_err(of_file(&self.path))
        })
    }

    /// Completes the table with its record, to which `localizations` and `left_out` are added, and returns these two counts.
    fn finish(
        &self,
        py: Python<'_>,
        record: &str,
        counts: BTreeMap<String, u64>,
    ) -> PyResult<(u64, u64)> {
        let record = read(record)?;
        py.detach(|| {
            let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
            let (output, rows) = writing.take().ok_or_else(ended)?;
            let (outputs, written) = output.finish().map_err(of_file(&self.path))?;
            let left_out = written.left_out.total() as u64;
            let localizations = (rows as u64).saturating_sub(left_out);
            let own = [("localizations", localizations), ("left_out", left_out)];
            let own = own.map(|(name, count)| (name.to_owned(), count));
            let begun = record.begun(Record::beside(&self.path).as_ref(), self.path.exists());
            let mut done = record;
            done.state = State::Done { counts: counts.into_iter().chain(own).collect() };
            let first = self.record_file(&begun)?;
            let last = self.record_file(&done)?;
            let all = [first].into_iter().chain(outputs).chain([last]);
            Output::finish_all(all, &mut |_| true).map_err(|error| of_output(&self.path, error))?;
            Ok((localizations, left_out))
        })
    }
}

impl TableFile {
    fn record_file(&self, record: &Record) -> PyResult<Output> {
        let path = Record::path(&self.path);
        let wrong = |error| of_output(&path, error);
        refuse_stranger(&path, Record::is_ours, self.overwrite).map_err(wrong)?;
        let mut output = Output::create(&path).map_err(wrong)?;
        output.write_all(record.text().as_bytes())?;
        Ok(output)
    }
}

/// The exception for a file that does not appear.
fn of_output(path: &Path, error: OutputError) -> PyErr {
    match error {
        OutputError::Write { file, source } => {
            std::io::Error::new(source.kind(), format!("{file}: {source}")).into()
        }
        OutputError::Stranger { .. } | OutputError::NoFile { .. } => {
            let table = TableError::from(error);
            PyFileExistsError::new_err(format!("{}: {table}", path.display()))
        }
        error => PyOSError::new_err(error.to_string()),
    }
}
