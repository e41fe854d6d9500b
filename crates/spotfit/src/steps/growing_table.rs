//! Tables that are there while they grow.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::whole_lines::keep_whole_lines;
use super::{Sink, StepError};
use crate::output::{Output, OutputError, refuse_stranger};
use crate::record::{Record, State};
use crate::table::{CsvWriter, Table, TableError, TableFormat};

/// A CSV table that is there under its name from its first block on, and grows by whole rows: each block is appended by one write. The
/// record beside it says that it is not complete until it is.
///
/// Whoever does not come to the end leaves the rows so far, and that record.
#[derive(Debug)]
pub struct GrowingTable {
    path: PathBuf,
    overwrite: bool,
    writer: CsvWriter<Vec<u8>>,
    /// Once the table is there, with its length.
    file: Option<(File, u64)>,
    record: Option<Record>,
    rows: usize,
}

impl GrowingTable {
    /// Begins to write a table, which is there when its first block is written.
    ///
    /// # Errors
    /// [`StepError::Write`] for another format than CSV, and [`StepError::Output`] for something other than a file.
    pub fn create(path: &Path, overwrite: bool) -> Result<Self, StepError> {
        if TableFormat::of(path) != Some(TableFormat::Csv) {
            return Err(StepError::Write(TableError::Format));
        }
        if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(OutputError::NoFile { file: path.display().to_string() }.into());
        }
        let writer = CsvWriter::new(Vec::new());
        Ok(Self { path: path.to_owned(), overwrite, writer, file: None, record: None, rows: 0 })
    }

    /// The same with a record beside the table.
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

    /// Completes the table with its record and `others`. The result are the counts with `localizations` and `left_out`, which are none.
    ///
    /// # Errors
    /// [`StepError::Output`].
    pub fn finish(
        self,
        others: impl IntoIterator<Item = Output>,
        mut counts: BTreeMap<String, u64>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<BTreeMap<String, u64>, StepError> {
        let Self { path, file, record, rows, .. } = self;
        if let Some((file, _)) = file {
            let synced = file.sync_all();
            let name = path.display().to_string();
            synced.map_err(|source| OutputError::Write { file: name, source })?;
        }
        counts.insert("localizations".to_owned(), rows as u64);
        counts.insert("left_out".to_owned(), 0);
        let record = record.map(|mut record| {
            record.state = State::Done { counts: counts.clone() };
            record.complete = Some(true);
            recorded(&path, &record)
        });
        let record = record.transpose()?;
        Output::finish_all(others.into_iter().chain(record), &mut |_| go_on())?;
        Ok(counts)
    }

    /// The table is there from now on, with the names of its columns and these first rows.
    fn begin(&mut self, text: &[u8]) -> Result<(File, u64), TableError> {
        let mut table = Output::create(&self.path)?;
        table.write_all(text)?;
        let records = self.record.as_ref().map(|record| {
            let mut standing = record.clone();
            (standing.state, standing.complete) = (State::Begun, Some(false));
            // Where it replaces a table with another origin, nobody knows that of the table before it is there.
            let begun = standing.begun(Record::beside(&self.path).as_ref(), self.path.exists());
            Ok::<_, OutputError>((recorded(&self.path, &begun)?, recorded(&self.path, &standing)?))
        });
        let (first, last) = records.transpose()?.unzip();
        Output::finish_all(first.into_iter().chain([table]).chain(last), &mut |_| true)?;
        let file = OpenOptions::new().append(true).open(&self.path)?;
        Ok((file, text.len() as u64))
    }
}

/// The record of a table, about to be there.
fn recorded(table: &Path, record: &Record) -> Result<Output, OutputError> {
    let path = Record::path(table);
    let mut output = Output::create(&path)?;
    let written = output.write_all(record.text().as_bytes());
    written.map_err(|source| OutputError::Write { file: path.display().to_string(), source })?;
    Ok(output)
}

impl Sink for GrowingTable {
    fn write(&mut self, block: Table) -> Result<(), TableError> {
        if let Some(record) = &mut self.record {
            record.pixel_size = block.info.pixel_size;
        }
        self.writer.write(&block)?;
        let text = std::mem::take(self.writer.get_mut());
        match &mut self.file {
            None => self.file = Some(self.begin(&text)?),
            // One write: where a file system shows it page by page, a row is there when its line ends.
            Some((file, length)) => match file.write_all(&text) {
                Ok(()) => *length += text.len() as u64,
                Err(error) => {
                    *length = keep_whole_lines(file, *length, &text);
                    return Err(error.into());
                }
            },
        }
        self.rows += block.rows();
        Ok(())
    }
}
