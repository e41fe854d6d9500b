//! Tables in files, which appear with their records: the way out for all rows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::growing_table::GrowingRows;
use super::{Sink, StepError};
use crate::output::{Output, refuse_stranger};
use crate::record::{Record, State};
use crate::table::{
    LeftOut, SaveOptions, Table, TableError, TableFormat, TableOutput, is_our_sidecar, sidecar,
};

/// A table that is written block by block. Its file is there, with the record beside it, when it is complete.
///
/// One that grows ([`TableFile::growing`]) is there under its name from its first row on. The record beside it says that it is not complete
/// until it is. What had the name before stays until there is a row. Whoever does not come to the end leaves the rows so far, and that
/// record. So does a table that another program removes, replaces or changes meanwhile, which is an error: its rows would be lost
/// in silence.
#[derive(Debug)]
pub struct TableFile {
    path: PathBuf,
    overwrite: bool,
    writer: Writer,
    record: Option<Record>,
    /// What is added to x and y, in pixels.
    shift: f64,
    rows: usize,
}

/// When the file is there.
#[derive(Debug)]
enum Writer {
    /// At the end; a stream may be handed on after each block.
    Whole { output: TableOutput, flushes: bool },
    /// From the first row on.
    Growing(GrowingRows),
}

impl TableFile {
    /// Begins to write a table in the format of its file's name.
    ///
    /// # Errors
    /// [`StepError::Output`] and [`StepError::Write`], also for a file beside it that somebody else wrote and that stays.
    pub fn create(path: &Path, options: SaveOptions) -> Result<Self, StepError> {
        let format = TableFormat::of(path).ok_or(StepError::Write(TableError::Format))?;
        Self::through(Output::create(path)?, path, format, options)
    }

    /// The same through an output that is open already, such as a stream.
    ///
    /// # Errors
    /// As [`TableFile::create`].
    pub fn through(
        output: Output,
        path: &Path,
        format: TableFormat,
        options: SaveOptions,
    ) -> Result<Self, StepError> {
        if format == TableFormat::Picasso {
            refuse_stranger(&sidecar(path), is_our_sidecar, options.overwrite)?;
        }
        let output = TableOutput::through(output, path, format, options);
        let output = output.map_err(StepError::Write)?;
        Ok(Self::new(path, options, Writer::Whole { output, flushes: false }))
    }

    /// Begins to write a CSV table that is there when its first row is written, or when it is complete, and grows by whole rows.
    ///
    /// # Errors
    /// [`StepError::Write`] for another format than CSV, and [`StepError::Output`] for something other than a file.
    pub fn growing(path: &Path, options: SaveOptions) -> Result<Self, StepError> {
        Ok(Self::new(path, options, Writer::Growing(GrowingRows::create(path)?)))
    }

    fn new(path: &Path, options: SaveOptions, writer: Writer) -> Self {
        let (path, overwrite) = (path.to_owned(), options.overwrite);
        Self { path, overwrite, writer, record: None, shift: 0.0, rows: 0 }
    }

    /// The same with a record beside the table, which is completed when the table is.
    ///
    /// # Errors
    /// [`StepError::Output`] for a file of somebody else that stays.
    pub fn with_record(self, record: Record) -> Result<Self, StepError> {
        Record::refuse_stranger(&self.path, self.overwrite)?;
        Ok(Self { record: Some(record), ..self })
    }

    /// The same with so many pixels added to x and y.
    #[must_use]
    pub fn with_shift(self, pixels: f64) -> Self {
        Self { shift: pixels, ..self }
    }

    /// The same that hands on each block as it comes, or not, for those who read a stream.
    #[must_use]
    pub fn flushing(mut self, each: bool) -> Self {
        if let Writer::Whole { flushes, .. } = &mut self.writer {
            *flushes = each;
        }
        self
    }

    /// What is to stand beside the table.
    pub fn record_mut(&mut self) -> Option<&mut Record> {
        self.record.as_mut()
    }

    /// Completes the table, the files beside it, and `others`, or none of them; `go_on` is asked before each. Without a record, that
    /// of a table that is replaced goes with it. The result are the rows that are not in the table, and the counts with `localizations`
    /// and `left_out`.
    ///
    /// # Errors
    /// [`StepError::Output`] and [`StepError::Write`].
    pub fn finish(
        self,
        others: impl IntoIterator<Item = Output>,
        mut counts: BTreeMap<String, u64>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(LeftOut, BTreeMap<String, u64>), StepError> {
        let rows = self.rows;
        let counted = |left_out: LeftOut| {
            let kept = rows.saturating_sub(left_out.total());
            counts.insert("localizations".to_owned(), kept as u64);
            counts.insert("left_out".to_owned(), left_out.total() as u64);
            counts
        };
        self.end(others, counted, go_on)
    }

    /// The same of a table whose rows are no localizations, with these counts.
    ///
    /// # Errors
    /// As [`TableFile::finish`].
    pub fn finish_counted(
        self,
        others: impl IntoIterator<Item = Output>,
        counts: BTreeMap<String, u64>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), StepError> {
        self.end(others, |_| counts, go_on).map(drop)
    }

    fn end(
        self,
        others: impl IntoIterator<Item = Output>,
        counts: impl FnOnce(LeftOut) -> BTreeMap<String, u64>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(LeftOut, BTreeMap<String, u64>), StepError> {
        let Self { path, overwrite, writer, record, .. } = self;
        let (outputs, left_out, grown) = match writer {
            Writer::Whole { output, .. } => {
                let (outputs, left_out) = output.finish().map_err(StepError::Write)?;
                (outputs, left_out, None)
            }
            Writer::Growing(rows) => {
                (Vec::new(), LeftOut::default(), Some(rows.finish(record.as_ref())?))
            }
        };
        let counts = counts(left_out);
        let (first, last) = match (record, grown) {
            // Without a table, that of before keeps its record.
            (None, _) | (_, Some(false)) => (None, None),
            (Some(record), None) => {
                let [first, last] = record.around(&path, overwrite, counts.clone())?;
                (Some(first), Some(last))
            }
            (Some(mut record), Some(true)) => {
                record.state = State::Done { counts: counts.clone() };
                record.complete = Some(true);
                (None, Some(record.file(&path)?))
            }
        };
        let all = first.into_iter().chain(outputs).chain(others).chain(last);
        Output::finish_all(all, &mut |_| go_on())?;
        Ok((left_out, counts))
    }
}

impl Sink for TableFile {
    fn write(&mut self, mut block: Table) -> Result<(), TableError> {
        if self.shift != 0.0 {
            block.shift(self.shift)?;
        }
        if let Some(record) = &mut self.record {
            record.pixel_size = block.info.pixel_size;
        }
        self.rows += block.rows();
        match &mut self.writer {
            Writer::Whole { output, flushes } => {
                output.write(&block)?;
                if *flushes { output.flush() } else { Ok(()) }
            }
            Writer::Growing(rows) => rows.write(&block, self.record.as_ref()),
        }
    }
}
