//! Where drifts go.

mod chart;
mod datagrams;
mod lines;
mod npy;
mod ring;

use super::{About, Row};
use crate::output::OutputError;
use crate::steps::{Listener, Sink, StepError};

pub use chart::DriftChart;
pub use datagrams::{DATAGRAM_BYTES, Datagrams};
pub use lines::JsonLines;
pub use npy::NpyRows;
pub use ring::DriftRing;

/// Takes the drift of each frame.
pub trait DriftSink {
    /// What all rows have in common; before the first.
    ///
    /// # Errors
    /// [`StepError`]: it cannot take such rows.
    fn begin(&mut self, about: &About) -> Result<(), StepError> {
        let _ = about;
        Ok(())
    }

    /// Takes the next row.
    ///
    /// # Errors
    /// [`StepError`]: no more can be taken.
    fn take(&mut self, row: &Row, listener: &dyn Listener) -> Result<(), StepError>;

    /// There is time to pass on what was gathered. A live source leaves it about 20 times a second.
    ///
    /// # Errors
    /// [`StepError`].
    fn rest(&mut self) -> Result<(), StepError> {
        Ok(())
    }

    /// There are no more rows, or there was an error somewhere: what was gathered is passed on.
    ///
    /// # Errors
    /// [`StepError`].
    fn end(&mut self, listener: &dyn Listener) -> Result<(), StepError> {
        let _ = listener;
        Ok(())
    }
}

/// A function that is called with each row.
#[derive(Debug)]
pub struct Callback<F>(pub F);

impl<F: FnMut(&Row) -> Result<(), StepError>> DriftSink for Callback<F> {
    fn take(&mut self, row: &Row, _: &dyn Listener) -> Result<(), StepError> {
        (self.0)(row)
    }
}

/// So many rows make a block.
const BLOCK: usize = 4096;

/// Passes rows on as blocks of a table, as [`About::table`] makes them: to a [`Table`](crate::table::Table) or a file.
pub struct TableRows<'a> {
    sink: &'a mut dyn Sink,
    about: About,
    rows: Vec<Row>,
}

impl std::fmt::Debug for TableRows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableRows").field("rows", &self.rows.len()).finish_non_exhaustive()
    }
}

impl<'a> TableRows<'a> {
    /// Passes rows on to this.
    pub fn new(sink: &'a mut dyn Sink) -> Self {
        Self { sink, about: About::default(), rows: Vec::with_capacity(BLOCK) }
    }

    fn pass_on(&mut self) -> Result<(), StepError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let block = self.about.table(&self.rows);
        self.rows.clear();
        self.sink.write(block).map_err(StepError::Write)
    }
}

impl DriftSink for TableRows<'_> {
    fn begin(&mut self, about: &About) -> Result<(), StepError> {
        self.about = about.clone();
        // The columns are there before the first row.
        self.sink.write(self.about.table(&[])).map_err(StepError::Write)
    }

    fn take(&mut self, row: &Row, _: &dyn Listener) -> Result<(), StepError> {
        self.rows.push(*row);
        if self.rows.len() < BLOCK { Ok(()) } else { self.pass_on() }
    }

    fn rest(&mut self) -> Result<(), StepError> {
        self.pass_on()
    }

    fn end(&mut self, _: &dyn Listener) -> Result<(), StepError> {
        self.pass_on()
    }
}

/// Something of this name cannot be written.
fn unwritten(name: &str) -> impl FnOnce(std::io::Error) -> StepError {
    move |source| StepError::Output(OutputError::Write { file: name.to_owned(), source })
}
