//! The operations of an analysis by their names: options and reports are JSON, tables are columns.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;

use pyo3::exceptions::{PyKeyError, PyKeyboardInterrupt, PyMemoryError, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use spotfit::movie::MovieError;
use spotfit::steps::render::Rendered;
use spotfit::steps::{
    Listener, Note, Sink, Source, StepError, convert, drift, filter, join, link, pick, profile,
    render, score, stats, z,
};
use spotfit::table::{Table, TableError};

use crate::error::{self, keywords};
use crate::pictures::{Shown, shown};
use crate::tables::{Given, Info, Made, columns, table};
use crate::threads;
use crate::work::{Abandoned, aside};

/// How each operation is called. A new one is a line here: its name, what it takes and makes, its options, and the function.
macro_rules! operations {
    ($($name:literal: $call:ident($options:ty, $run:path);)*) => {
        const OPERATIONS: &[Operation] = &[$(Operation {
            name: $name,
            run: |call| call.$call($run),
            defaults: || json(&<$options>::default()),
        }),*];
    };
}

operations! {
    "concatenate": tables_to_table(join::JoinOptions, join::run);
    "convert": table_to_table(convert::ConvertOptions, convert::run);
    "drift": table_to_other(drift::DriftOptions, find_drift);
    "filter": table_to_table(filter::FilterOptions, filter::run);
    "link": table_to_table(link::LinkOptions, link::run);
    "pick": table_to_other(pick::PickOptions, pick_inside);
    "profile": table_to_other(profile::ProfileOptions, profile_of);
    "render": tables_to_picture(render::RenderOptions, render::run);
    "score": two_tables(score::ScoreOptions, score::run);
    "stats": table_to_other(stats::StatsOptions, describe);
    "z": table_to_table(z::ZOptions, z::run);
}

/// The drift of a table, which Python takes out itself.
fn find_drift(
    options: &drift::DriftOptions,
    source: &Source,
    listener: &dyn Listener,
) -> Result<(Option<Table>, drift::DriftReport), StepError> {
    let found = drift::find(options, source, listener)?;
    Ok((Some(found.table()), found.report))
}

/// What a table is like, without drift, which only a page would show.
fn describe(
    options: &stats::StatsOptions,
    source: &Source,
    listener: &dyn Listener,
) -> Result<(Option<Table>, stats::StatsReport), StepError> {
    Ok((None, stats::run(options, source, None, listener)?))
}

/// What lies in picks, with its localizations.
fn pick_inside(
    options: &pick::PickOptions,
    source: &Source,
    listener: &dyn Listener,
) -> Result<(Option<Table>, pick::PickReport), StepError> {
    let mut inside = Table::default();
    let report = pick::run(options, source, Some(&mut inside), listener)?;
    Ok((Some(inside), report))
}

/// A profile, which makes no table of localizations.
fn profile_of(
    options: &profile::ProfileOptions,
    source: &Source,
    listener: &dyn Listener,
) -> Result<(Option<Table>, profile::ProfileReport), StepError> {
    Ok((None, profile::run(options, source, listener)?))
}

/// An operation that writes a table.
type ToTable<O, R> = fn(&O, &Source, &mut dyn Sink, &dyn Listener) -> Result<R, StepError>;
/// An operation that makes one table of several.
type AllToTable<O, R> = fn(&O, &[Source], &mut dyn Sink, &dyn Listener) -> Result<R, StepError>;
/// An operation that makes a table of another kind, or none.
type ToOther<O, R> = fn(&O, &Source, &dyn Listener) -> Result<(Option<Table>, R), StepError>;
/// An operation that makes a picture of tables and their drifts.
type ToPicture<O> = fn(&O, &[Source], &[Source], &dyn Listener) -> Result<Rendered, StepError>;

struct Operation {
    name: &'static str,
    run: fn(&Call<'_>) -> PyResult<Answer>,
    defaults: fn() -> PyResult<String>,
}

/// What an operation is called with.
struct Call<'a> {
    options: &'a str,
    sources: &'a [Source],
    listener: &'a dyn Listener,
}

/// What an operation makes: a table or a picture if it makes one, and its report.
struct Answer {
    table: Option<Table>,
    picture: Option<Rendered>,
    report: String,
}

impl Call<'_> {
    /// An operation that makes one table of one.
    fn table_to_table<O: DeserializeOwned, R: Serialize>(
        &self,
        run: ToTable<O, R>,
    ) -> PyResult<Answer> {
        let [source] = self.tables()?;
        let mut made = Table::default();
        let report = run(&options(self.options)?, source, &mut made, self.listener);
        Ok(Answer { table: Some(made), picture: None, report: json(&report.map_err(of_step)?)? })
    }

    /// An operation that makes one table of several.
    fn tables_to_table<O: DeserializeOwned, R: Serialize>(
        &self,
        run: AllToTable<O, R>,
    ) -> PyResult<Answer> {
        let mut made = Table::default();
        let report = run(&options(self.options)?, self.sources, &mut made, self.listener);
        Ok(Answer { table: Some(made), picture: None, report: json(&report.map_err(of_step)?)? })
    }

    /// An operation that makes of one table another that is not one of localizations, or none.
    fn table_to_other<O: DeserializeOwned, R: Serialize>(
        &self,
        run: ToOther<O, R>,
    ) -> PyResult<Answer> {
        let [source] = self.tables()?;
        let made = run(&options(self.options)?, source, self.listener);
        let (table, report) = made.map_err(of_step)?;
        Ok(Answer { table, picture: None, report: json(&report)? })
    }

    /// An operation that makes a picture of tables, after which come their drifts, whose names begin so.
    fn tables_to_picture<O: DeserializeOwned>(&self, run: ToPicture<O>) -> PyResult<Answer> {
        let count = self.sources.iter().take_while(|of| !of.name().starts_with("drift")).count();
        let (tables, drifts) = self.sources.split_at(count);
        let made = run(&options(self.options)?, tables, drifts, self.listener).map_err(of_step)?;
        let report = json(&made.report)?;
        Ok(Answer { table: None, picture: Some(made), report })
    }

    /// An operation that compares two tables.
    fn two_tables<O: DeserializeOwned, R: Serialize>(
        &self,
        run: fn(&O, &Source, &Source, &dyn Listener) -> Result<R, StepError>,
    ) -> PyResult<Answer> {
        let [first, second] = self.tables()?;
        let report = run(&options(self.options)?, first, second, self.listener);
        Ok(Answer { table: None, picture: None, report: json(&report.map_err(of_step)?)? })
    }

    /// The tables, of which there must be so many.
    fn tables<const N: usize>(&self) -> PyResult<&[Source; N]> {
        let wrong = || PyValueError::new_err(format!("{N} tables are needed"));
        self.sources.try_into().map_err(|_| wrong())
    }
}

/// Hears notes for Python, and whether anybody still waits.
pub(crate) struct Heard<'a> {
    abandoned: &'a Abandoned,
    notes: RefCell<Vec<String>>,
}

impl<'a> Heard<'a> {
    pub(crate) fn new(abandoned: &'a Abandoned) -> Self {
        Self { abandoned, notes: RefCell::default() }
    }

    /// What was noted.
    pub(crate) fn notes(self) -> Vec<String> {
        self.notes.into_inner()
    }
}

impl Listener for Heard<'_> {
    fn note(&self, note: &Note) {
        // The report has it in numbers.
        if let Note::Part(_) = note {
            return;
        }
        self.notes.borrow_mut().push(keywords(note.text()));
    }

    fn is_cancelled(&self) -> bool {
        self.abandoned.is()
    }
}

/// Runs an operation in a thread of its own, with the threads of this process, while Python may end it. Besides its outcome there are
/// its notes.
pub(crate) fn heard<T: Send + 'static>(
    py: Python<'_>,
    run: impl FnOnce(&Heard<'_>) -> PyResult<T> + Send + 'static,
) -> PyResult<(T, Vec<String>)> {
    let pool = threads::pool()?;
    aside(py, move |abandoned| {
        pool.install(|| {
            let listener = Heard::new(abandoned);
            Ok((run(&listener)?, listener.notes()))
        })
    })?
}

/// The table and the picture that an operation made, if it makes one, its report as JSON, and its notes.
type Done<'py> = (Option<(Vec<Made<'py>>, Info)>, Option<Shown<'py>>, String, Vec<String>);

/// Runs an operation on tables, each with the name that it has for the caller.
#[pyfunction]
pub(crate) fn run_step<'py>(
    py: Python<'py>,
    name: &str,
    options: String,
    tables: Vec<(String, Vec<Given<'py>>, Bound<'py, Info>)>,
) -> PyResult<Done<'py>> {
    let unknown = || PyValueError::new_err(format!("there is no operation '{name}'"));
    let run = OPERATIONS.iter().find(|known| known.name == name).ok_or_else(unknown)?.run;
    let source = |(name, columns, info): (String, Vec<Given<'py>>, Bound<'py, Info>)| {
        Ok(Source::of(table(py, columns, info.get())?).with_name(&name))
    };
    let sources = tables.into_iter().map(source).collect::<PyResult<Vec<Source>>>()?;
    let (answer, notes) =
        heard(py, move |listener| run(&Call { options: &options, sources: &sources, listener }))?;
    let Answer { table, picture, report } = answer;
    let table = table.map(|made| {
        let info = Info(made.info.clone());
        (columns(py, made), info)
    });
    let picture = picture.map(|picture| shown(py, &picture)).transpose()?;
    Ok((table, picture, report, notes))
}

/// The operations, each with its default options as JSON.
#[pyfunction]
pub(crate) fn operations() -> PyResult<BTreeMap<&'static str, String>> {
    let of = |known: &Operation| Ok((known.name, (known.defaults)()?));
    OPERATIONS.iter().map(of).collect()
}

/// Options that Python gives; the exception names the one that is wrong.
pub(crate) fn options<O: DeserializeOwned>(text: &str) -> PyResult<O> {
    let given: Map<String, Value> = serde_json::from_str(text).map_err(error::wrong)?;
    serde_json::from_value(Value::Object(given.clone())).map_err(|error| {
        // The error does not say which it is: each has a default, so that it can be read alone.
        let alone = |(name, value): (String, Value)| {
            let one = Value::Object(Map::from_iter([(name.clone(), value)]));
            Some((name, serde_json::from_value::<O>(one).err()?))
        };
        match given.into_iter().find_map(alone) {
            Some((name, error)) => PyValueError::new_err(told(&name, &error.to_string())),
            None => error::wrong(error),
        }
    })
}

/// What is wrong with an option: of words in those of other exceptions.
fn told(name: &str, error: &str) -> String {
    let parts =
        error.strip_prefix("unknown variant `").and_then(|rest| rest.split_once("`, expected "));
    match parts {
        Some((word, known)) => {
            let known = known.trim_start_matches("one of ").replace("` or `", "`, `");
            format!("{name} = '{word}' is not one of {}", known.replace('`', "'"))
        }
        None => format!("{name}: {error}"),
    }
}

pub(crate) fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(error::wrong)
}

/// The exception for an operation that has no result.
pub(crate) fn of_step(error: StepError) -> PyErr {
    match error {
        StepError::Cancelled => PyKeyboardInterrupt::new_err(()),
        StepError::Table { source: TableError::Io(error), .. } => error.into(),
        // Python chooses the class, such as FileNotFoundError, by the kind.
        StepError::Read { name, source } => {
            io::Error::new(source.kind(), format!("{name}: {source}")).into()
        }
        StepError::Table { source: TableError::Column(_), .. } => {
            PyKeyError::new_err(keywords(&error.to_string()))
        }
        StepError::Memory { .. } => PyMemoryError::new_err(keywords(&error.to_string())),
        StepError::Movie { name, source: MovieError::Io(error) } => {
            io::Error::new(error.kind(), format!("{name}: {error}")).into()
        }
        other => PyValueError::new_err(keywords(&other.to_string())),
    }
}
