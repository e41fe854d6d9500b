//! The rows of a table that is there while it grows.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::StepError;
use crate::output::paths::leads_to;
use crate::output::{Output, OutputError};
use crate::record::{Record, State};
use crate::table::{CsvWriter, Table, TableError, TableFormat};

/// A CSV table that grows by whole rows: each block is appended by one write.
#[derive(Debug)]
pub(super) struct GrowingRows {
    path: PathBuf,
    writer: CsvWriter<Vec<u8>>,
    /// Once the table is there, with its length.
    file: Option<(File, u64)>,
}

impl GrowingRows {
    pub(super) fn create(path: &Path) -> Result<Self, StepError> {
        if TableFormat::of(path) != Some(TableFormat::Csv) {
            return Err(StepError::Write(TableError::Format));
        }
        if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(OutputError::NoFile { file: path.display().to_string() }.into());
        }
        // Whether it can be written is not to be learnt when the first row comes.
        drop(Output::create(path)?);
        Ok(Self { path: path.to_owned(), writer: CsvWriter::new(Vec::new()), file: None })
    }

    /// Appends the rows of a block. From the first row on the table is there, with this record.
    pub(super) fn write(
        &mut self,
        block: &Table,
        record: Option<&Record>,
    ) -> Result<(), TableError> {
        self.writer.write(block)?;
        if self.file.is_none() && block.rows() == 0 {
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
                let begun = begin(&self.path, record, &text[..names])?;
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

    /// Brings the table to the disk, and says whether there is one: it may have columns, but no rows.
    pub(super) fn finish(mut self, record: Option<&Record>) -> Result<bool, StepError> {
        let text = std::mem::take(self.writer.get_mut());
        if self.file.is_none() && !text.is_empty() {
            let begun = begin(&self.path, record, &text).map_err(StepError::Write)?;
            self.file = Some(begun);
        }
        let Some((file, length)) = self.file else { return Ok(false) };
        let synced = file.sync_all().and_then(|()| check(&self.path, &file, length));
        let name = self.path.display().to_string();
        synced.map_err(|source| OutputError::Write { file: name, source })?;
        Ok(true)
    }
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
        Ok::<_, OutputError>((begun.file(path)?, standing.file(path)?))
    });
    let (first, last) = records.transpose()?.unzip();
    Output::finish_all(first.into_iter().chain([table]).chain(last), &mut |_| true)?;
    let file = OpenOptions::new().append(true).open(path)?;
    Ok((file, text.len() as u64))
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
