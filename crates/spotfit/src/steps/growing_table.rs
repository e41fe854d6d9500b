//! Tables that are there while they grow.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{Sink, StepError};
use crate::output::paths::leads_to;
use crate::output::{Output, OutputError, refuse_stranger};
use crate::record::{Record, State};
use crate::table::{CsvWriter, Table, TableError, TableFormat};

/// A CSV table that is there under its name from its first row on, and grows by whole rows: each block is appended by one write. The
/// record beside it says that it is not complete until it is. What had the name before stays until there is a row.
///
/// Whoever does not come to the end leaves the rows so far, and that record. So does a table that another program removes, replaces or
/// changes meanwhile, which is an error: its rows would be lost in silence.
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
    /// Begins to write a table, which is there when its first row is written, or when it is complete.
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
        // Whether it can be written is not to be learnt when the first row comes.
        drop(Output::create(path)?);
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
    /// [`StepError::Output`] and [`StepError::Write`].
    pub fn finish(
        self,
        others: impl IntoIterator<Item = Output>,
        mut counts: BTreeMap<String, u64>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<BTreeMap<String, u64>, StepError> {
        counts.insert("localizations".to_owned(), self.rows as u64);
        counts.insert("left_out".to_owned(), 0);
        self.finish_counted(others, counts.clone(), go_on)?;
        Ok(counts)
    }

    /// The same of a table whose rows are no localizations, with these counts.
    ///
    /// # Errors
    /// As [`GrowingTable::finish`].
    pub fn finish_counted(
        mut self,
        others: impl IntoIterator<Item = Output>,
        counts: BTreeMap<String, u64>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), StepError> {
        let text = std::mem::take(self.writer.get_mut());
        if self.file.is_none() && !text.is_empty() {
            let begun = Self::begin(&self.path, self.record.as_ref(), &text);
            self.file = Some(begun.map_err(StepError::Write)?);
        }
        let Self { path, file, record, .. } = self;
        let written = file.is_some();
        if let Some((file, length)) = file {
            let synced = file.sync_all().and_then(|()| check(&path, &file, length));
            let name = path.display().to_string();
            synced.map_err(|source| OutputError::Write { file: name, source })?;
        }
        // Without a table, that of before keeps its record.
        let record = record.filter(|_| written).map(|mut record| {
            record.state = State::Done { counts };
            record.complete = Some(true);
            recorded(&path, &record)
        });
        let record = record.transpose()?;
        Ok(Output::finish_all(others.into_iter().chain(record), &mut |_| go_on())?)
    }

    /// The table is there from now on, with this text.
    fn begin(path: &Path, record: Option<&Record>, text: &[u8]) -> Result<(File, u64), TableError> {
        let mut table = Output::create(path)?;
        table.write_all(text)?;
        let records = record.map(|record| {
            let mut standing = record.clone();
            (standing.state, standing.complete) = (State::Begun, Some(false));
            // Where it replaces a table with another origin, nobody knows that of the table before it is there.
            let begun = standing.begun(Record::beside(path).as_ref(), path.exists());
            Ok::<_, OutputError>((recorded(path, &begun)?, recorded(path, &standing)?))
        });
        let (first, last) = records.transpose()?.unzip();
        Output::finish_all(first.into_iter().chain([table]).chain(last), &mut |_| true)?;
        let file = OpenOptions::new().append(true).open(path)?;
        Ok((file, text.len() as u64))
    }
}

/// An error if the name does not lead to the file any more, or the file is not as long as it was left.
fn check(path: &Path, file: &File, length: u64) -> io::Result<()> {
    if leads_to(path, file) && file.metadata()?.len() == length {
        return Ok(());
    }
    let reason =
        "another program has removed, replaced or changed it while it grew: it is not complete";
    Err(io::Error::other(reason))
}

/// After text was appended to a file of this length, but not all of it: cuts the line that is not whole. The result is the length of the
/// file, which is shorter where it cannot be cut so.
fn keep_whole_lines(file: &File, length: u64, text: &[u8]) -> u64 {
    let end = file.metadata().map_or(length, |metadata| metadata.len());
    let written = (end.saturating_sub(length) as usize).min(text.len());
    let whole = text[..written].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let length = length + whole as u64;
    // A pipe cannot be cut, and ends here.
    let _ = file.set_len(length);
    length
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
        self.rows += block.rows();
        if self.rows == 0 {
            return Ok(());
        }
        let text = std::mem::take(self.writer.get_mut());
        let (text, (file, length)) = match &mut self.file {
            Some(grown) => {
                check(&self.path, &grown.0, grown.1)?;
                (&text[..], grown)
            }
            none => {
                // The names alone: of rows that do not fit on the disk, those that do are kept.
                let names = text.iter().position(|&byte| byte == b'\n').map_or(0, |at| at + 1);
                let begun = Self::begin(&self.path, self.record.as_ref(), &text[..names])?;
                (&text[names..], none.insert(begun))
            }
        };
        // One write: where a file system shows it page by page, a row is there when its line ends.
        if let Err(error) = file.write_all(text) {
            *length = keep_whole_lines(file, *length, text);
            return Err(error.into());
        }
        *length += text.len() as u64;
        Ok(())
    }
}
