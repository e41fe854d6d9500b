//! CSV tables whose columns are found by name.

use std::io::{self, Read};

use crate::excerpt::excerpt;

/// What is wrong with a table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The file is not valid CSV.
    #[error(transparent)]
    Csv(#[from] csv::Error),
    /// A column is missing.
    #[error("there is no column '{0}'")]
    Column(String),
    /// A value is not what it should be.
    #[error("line {line}: {column} = '{value}' is not {needed}")]
    Value {
        /// The line, from 1.
        line: u64,
        /// The column's name.
        column: String,
        /// The value; the beginning of it, if it is long.
        value: String,
        /// What is expected instead.
        needed: &'static str,
    },
    /// A row is longer than any row of a table of numbers.
    #[error("line {line}: no row ends within {} KiB; is this a table?", LONGEST_ROW >> 10)]
    LongRow {
        /// The line with which the row begins, from 1.
        line: u64,
    },
    /// The file cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Lengths are in nanometres, and the size of a pixel is not known.
    #[error("lengths are in nanometres; the size of a pixel is needed (StormFormat::pixel_size)")]
    PixelSize,
    /// There are more positions than fit into memory.
    #[error("line {line}: there are more than {most} positions; fit a part of them at a time")]
    ManyPositions {
        /// The first line too many, from 1.
        line: u64,
        /// The largest number allowed.
        most: usize,
    },
}

/// The longest row with its line end, in bytes.
const LONGEST_ROW: u64 = 1 << 16;

/// Reads CSV row by row and finds columns by name.
pub(super) struct Columns<R> {
    reader: csv::Reader<Bounded<R>>,
    header: csv::StringRecord,
    record: csv::StringRecord,
}

impl<R: Read> Columns<R> {
    pub(super) fn new(reader: R) -> Result<Self, TableError> {
        let bounded = Bounded { reader, given: 0, end: LONGEST_ROW, exceeded: false };
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(bounded);
        let header = reader.headers().cloned();
        match header {
            Ok(header) => Ok(Self { reader, header, record: csv::StringRecord::new() }),
            Err(_) if reader.get_ref().exceeded => Err(TableError::LongRow { line: 1 }),
            Err(error) => Err(error.into()),
        }
    }

    /// The column that has one of these names.
    pub(super) fn find(&self, names: &[&str]) -> Result<usize, TableError> {
        let matches = |column: &str| names.contains(&column.trim_start_matches('\u{feff}'));
        let found = self.header.iter().position(matches);
        found.ok_or_else(|| TableError::Column(names[0].to_owned()))
    }

    /// Goes to the next row; false at the end.
    pub(super) fn advance(&mut self) -> Result<bool, TableError> {
        let (start, line) = (self.reader.position().byte(), self.reader.position().line());
        self.reader.get_mut().end = start + LONGEST_ROW;
        match self.reader.read_record(&mut self.record) {
            Ok(more) => Ok(more),
            Err(_) if self.reader.get_ref().exceeded => Err(TableError::LongRow { line }),
            Err(error) => Err(error.into()),
        }
    }

    /// The line of the present row, from 1.
    pub(super) fn line(&self) -> u64 {
        self.record.position().map_or(0, csv::Position::line)
    }

    /// The text in a column of the present row.
    pub(super) fn text(&self, column: usize) -> Option<&str> {
        self.record.get(column)
    }

    /// The number in a column of the present row, finite or not.
    pub(super) fn any_number(&self, column: usize) -> Result<f64, TableError> {
        let value = self.text(column).and_then(|value| value.parse().ok());
        value.ok_or_else(|| self.wrong(column, "a number"))
    }

    /// The finite number in a column of the present row.
    pub(super) fn number(&self, column: usize) -> Result<f64, TableError> {
        let value = self.text(column).and_then(|value| value.parse::<f64>().ok());
        value.filter(|value| value.is_finite()).ok_or_else(|| self.wrong(column, "a finite number"))
    }

    /// Says that the text in a column of the present row is not what is needed.
    pub(super) fn wrong(&self, column: usize, needed: &'static str) -> TableError {
        TableError::Value {
            line: self.line(),
            column: excerpt(self.header.get(column).unwrap_or_default()),
            value: excerpt(self.text(column).unwrap_or_default()),
            needed,
        }
    }
}

/// Gives the CSV reader no more than the longest row at a time: it would keep all of a row that does
/// not end, be it one line or a quotation over many.
struct Bounded<R> {
    reader: R,
    /// Bytes given so far.
    given: u64,
    /// Where the present row must have ended, in bytes from the start.
    end: u64,
    exceeded: bool,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // At the end, one byte more tells whether the file ends there too.
        let room = self.end.saturating_sub(self.given).max(1);
        let room = usize::try_from(room).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.reader.read(&mut buffer[..room])?;
        self.given += count as u64;
        self.exceeded = self.given > self.end;
        if self.exceeded { Err(io::Error::other("a row is too long")) } else { Ok(count) }
    }
}
