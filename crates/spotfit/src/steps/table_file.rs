//! Tables in files, which appear with their records.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::{Sink, StepError};
use crate::output::{Output, refuse_stranger};
use crate::record::{Record, State};
use crate::table::{
    LeftOut, SaveOptions, Table, TableError, TableFormat, TableOutput, is_our_sidecar, sidecar,
};

/// A table that is written block by block. Its file is there, with the record beside it, when it is complete.
#[derive(Debug)]
pub struct TableFile {
    path: PathBuf,
    overwrite: bool,
    writer: TableOutput,
    record: Option<Record>,
    rows: usize,
}

impl TableFile {
    /// Begins to write a table in the format of its file's name.
    ///
    /// # Errors
    /// [`StepError::Output`] and [`StepError::Write`], also for a file beside it that somebody else wrote and that stays.
    pub fn create(path: &Path, options: SaveOptions) -> Result<Self, StepError> {
        let format = TableFormat::of(path).ok_or(StepError::Write(TableError::Format))?;
        Self::refuse_stranger(path, format, options.overwrite)?;
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
        let writer = TableOutput::through(output, path, format, options);
        let writer = writer.map_err(StepError::Write)?;
        let (path, overwrite) = (path.to_owned(), options.overwrite);
        Ok(Self { path, overwrite, writer, record: None, rows: 0 })
    }

    /// Refuses to replace a file beside the table that somebody else wrote, before any work is done for it.
    ///
    /// # Errors
    /// [`StepError::Output`].
    pub fn refuse_stranger(
        path: &Path,
        format: TableFormat,
        overwrite: bool,
    ) -> Result<(), StepError> {
        if format == TableFormat::Picasso {
            refuse_stranger(&sidecar(path), is_our_sidecar, overwrite)?;
        }
        Ok(())
    }

    /// The same with a record beside the table, which is completed when the table is.
    ///
    /// # Errors
    /// [`StepError::Output`] for a file of somebody else that stays.
    pub fn with_record(self, record: Record) -> Result<Self, StepError> {
        refuse_stranger(&Record::path(&self.path), Record::is_ours, self.overwrite)?;
        Ok(Self { record: Some(record), ..self })
    }

    /// What is to stand beside the table.
    pub fn record_mut(&mut self) -> Option<&mut Record> {
        self.record.as_mut()
    }

    /// Hands on the rows so far, for those who read a stream.
    ///
    /// # Errors
    /// [`TableError::Io`].
    pub fn flush(&mut self) -> Result<(), TableError> {
        self.writer.flush()
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
        let Self { path, overwrite, writer, record, rows } = self;
        let beside = Record::path(&path);
        let (outputs, written) = writer.finish().map_err(StepError::Write)?;
        let left_out = written.left_out;
        counts.insert("localizations".to_owned(), rows.saturating_sub(left_out.total()) as u64);
        counts.insert("left_out".to_owned(), left_out.total() as u64);
        let mut around = [None, None];
        if let Some(record) = record {
            refuse_stranger(&beside, Record::is_ours, overwrite)?;
            // It says `begun` before the table is there, and `done` after it: whoever is killed between them leaves no table that
            // is taken for what it is not.
            let begun = record.begun(Record::beside(&path).as_ref(), path.exists());
            let mut done = record;
            done.state = State::Done { counts: counts.clone() };
            around = [Some(record_file(&beside, &begun)?), Some(record_file(&beside, &done)?)];
        }
        let [first, last] = around;
        let all = first.into_iter().chain(outputs).chain(others).chain(last);
        Output::finish_all(all, &mut |_| go_on())?;
        Ok((left_out, counts))
    }
}

/// A record that is about to be there.
pub(super) fn record_file(path: &Path, record: &Record) -> Result<Output, StepError> {
    let mut output = Output::create(path)?;
    let written = output.write_all(record.text().as_bytes());
    written.map_err(|source| crate::output::OutputError::Write {
        file: path.display().to_string(),
        source,
    })?;
    Ok(output)
}

impl Sink for TableFile {
    fn write(&mut self, block: Table) -> Result<(), TableError> {
        if let Some(record) = &mut self.record {
            record.pixel_size = block.info.pixel_size;
        }
        self.rows += block.rows();
        self.writer.write(&block)
    }
}
