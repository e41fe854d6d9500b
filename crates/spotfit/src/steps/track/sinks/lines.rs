//! Lines of JSON.

use std::io::Write;

use super::{About, DriftSink, Row, unwritten};
use crate::steps::{Listener, StepError};

/// Writes a line of JSON for each drift, as [`Row::json`] makes it, as soon as it is known.
#[derive(Debug)]
pub struct JsonLines<W> {
    name: String,
    writer: W,
    about: About,
    line: Vec<u8>,
}

impl<W: Write> JsonLines<W> {
    /// Writes through this, with a name for errors.
    pub fn new(name: &str, writer: W) -> Self {
        Self { name: name.to_owned(), writer, about: About::default(), line: Vec::new() }
    }
}

impl<W: Write> DriftSink for JsonLines<W> {
    fn begin(&mut self, about: &About) -> Result<(), StepError> {
        self.about = about.clone();
        Ok(())
    }

    fn take(&mut self, row: &Row, _: &dyn Listener) -> Result<(), StepError> {
        self.line.clear();
        let written = serde_json::to_writer(&mut self.line, &row.json(&self.about));
        let failed = || unwritten(&self.name);
        written.map_err(std::io::Error::from).map_err(failed())?;
        self.line.push(b'\n');
        let written = self.writer.write_all(&self.line).and_then(|()| self.writer.flush());
        written.map_err(failed())
    }
}
