//! The operations of an analysis by their names: options and reports are JSON, tables are columns.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;

use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use spotfit::movie::MovieError;
use spotfit::steps::{Listener, Note, Sink, Source, StepError, link};
use spotfit::table::{Table, TableError};

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
    "link": table_to_table(link::LinkOptions, link::run);
}

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

/// What an operation makes: a table if it makes one, and its report.
struct Answer {
    table: Option<Table>,
    report: String,
}

impl Call<'_> {
    /// An operation that makes one table of one.
    fn table_to_table<O: DeserializeOwned, R: Serialize>(
        &self,
        run: fn(&O, &Source, &mut dyn Sink, &dyn Listener) -> Result<R, StepError>,
    ) -> PyResult<Answer> {
        let [source] = self.tables()?;
        let mut made = Table::default();
        let report = run(&options(self.options)?, source, &mut made, self.listener);
        Ok(Answer { table: Some(made), report: json(&report.map_err(of_step)?)? })
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
        self.notes.borrow_mut().push(without_backticks(note.text()));
    }

    fn is_cancelled(&self) -> bool {
        self.abandoned.is()
    }
}

/// The table that an operation made, if it makes one, its report as JSON, and its notes.
type Done<'py> = (Option<(Vec<Made<'py>>, Info)>, String, Vec<String>);

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
    let pool = threads::pool()?;
    let (answer, notes) = aside(py, move |abandoned| {
        pool.install(|| {
            let listener = Heard::new(abandoned);
            let call = Call { options: &options, sources: &sources, listener: &listener };
            (run(&call), listener.notes())
        })
    })?;
    let Answer { table, report } = answer?;
    let table = table.map(|made| {
        let info = Info(made.info.clone());
        (columns(py, made), info)
    });
    Ok((table, report, notes))
}

/// The operations, each with its default options as JSON.
#[pyfunction]
pub(crate) fn operations() -> PyResult<BTreeMap<&'static str, String>> {
    let of = |known: &Operation| Ok((known.name, (known.defaults)()?));
    OPERATIONS.iter().map(of).collect()
}

/// Options that Python gives; the exception names the one that is wrong.
pub(crate) fn options<O: DeserializeOwned>(text: &str) -> PyResult<O> {
    let wrong = |error: serde_json::Error| PyValueError::new_err(error.to_string());
    let given: Map<String, Value> = serde_json::from_str(text).map_err(wrong)?;
    serde_json::from_value(Value::Object(given.clone())).map_err(|error| {
        // The error does not say which it is: each has a default, so that it can be read alone.
        let alone = |(name, value): (String, Value)| {
            let one = Value::Object(Map::from_iter([(name.clone(), value)]));
            Some((name, serde_json::from_value::<O>(one).err()?))
        };
        match given.into_iter().find_map(alone) {
            Some((name, error)) => PyValueError::new_err(format!("{name}: {error}")),
            None => wrong(error),
        }
    })
}

pub(crate) fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The exception for an operation that has no result.
pub(crate) fn of_step(error: StepError) -> PyErr {
    match error {
        StepError::Cancelled => PyKeyboardInterrupt::new_err(()),
        StepError::Table { source: TableError::Io(error), .. } => error.into(),
        StepError::Movie { name, source: MovieError::Io(error) } => {
            io::Error::new(error.kind(), format!("{name}: {error}")).into()
        }
        other => PyValueError::new_err(without_backticks(&other.to_string())),
    }
}

/// A text in which names of options stand in backticks, which Python's exceptions do without.
fn without_backticks(text: &str) -> String {
    text.replace('`', "")
}
