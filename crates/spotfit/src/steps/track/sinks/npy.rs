//! Drifts as a structured array.

use std::io::{Seek, SeekFrom, Write};

use super::{About, DriftSink, Row, unwritten};
use crate::npy::write_header;
use crate::steps::outcomes::{npy_fields, put_word};
use crate::steps::{Listener, StepError};

/// Digits of the largest count.
const DIGITS: usize = 20;
/// The letters of the longest status.
const STATUS: usize = 10;

/// Writes an NPY file with a structured array, whose fields are the columns of a table: `frame` (from 1) and `beads` as whole numbers, `status`
/// as text, the others in double precision. Where the number of rows is not known before, it is put in at the end, which only a file can do.
#[derive(Debug)]
pub struct NpyRows<W> {
    name: String,
    writer: W,
    /// The rows that are to come, if that is known.
    expected: Option<u64>,
    about: About,
    rows: u64,
}

impl<W: Write + Seek> NpyRows<W> {
    /// Writes through this, with a name for errors, so many rows if their number is known.
    pub fn new(name: &str, writer: W, expected: Option<u64>) -> Self {
        Self { name: name.to_owned(), writer, expected, about: About::default(), rows: 0 }
    }

    /// What was written through.
    pub fn into_inner(self) -> W {
        self.writer
    }

    /// Writes the header for so many rows; it is as long for any number of them.
    fn header(&mut self, rows: u64) -> Result<(), StepError> {
        let kind = |name: &str| match name {
            "frame" | "beads" => "<i8".to_owned(),
            "status" => format!("<U{STATUS}"),
            _ => "<f8".to_owned(),
        };
        let fields = npy_fields(self.about.columns().map(|(name, _)| (name, kind(name))));
        let spare = DIGITS.saturating_sub(rows.to_string().len());
        let descr = fields + &" ".repeat(spare);
        let written = write_header(&mut self.writer, &descr, &[rows as usize]);
        written.map_err(unwritten(&self.name))
    }
}

impl<W: Write + Seek> DriftSink for NpyRows<W> {
    fn begin(&mut self, about: &About) -> Result<(), StepError> {
        self.about = about.clone();
        if self.expected.is_none() {
            // A stream cannot do it: better to know now.
            self.writer.stream_position().map_err(unwritten(&self.name))?;
        }
        self.header(self.expected.unwrap_or_default())
    }

    fn take(&mut self, row: &Row, _: &dyn Listener) -> Result<(), StepError> {
        self.rows += 1;
        let mut bytes = Vec::with_capacity(128);
        for (name, _) in self.about.columns() {
            match name {
                "frame" | "beads" => bytes.extend((row.number(name) as i64).to_le_bytes()),
                "status" => put_word(&mut bytes, row.status.name(), STATUS),
                name => bytes.extend(row.number(name).to_le_bytes()),
            }
        }
        self.writer.write_all(&bytes).map_err(unwritten(&self.name))
    }

    fn end(&mut self, _: &dyn Listener) -> Result<(), StepError> {
        if self.expected.is_some_and(|expected| expected == self.rows) || self.about.size == [0, 0]
        {
            return Ok(());
        }
        let seek = self.writer.seek(SeekFrom::Start(0));
        seek.map_err(unwritten(&self.name))?;
        self.header(self.rows)?;
        self.writer.seek(SeekFrom::End(0)).map(drop).map_err(unwritten(&self.name))
    }
}
