//! Writing CSV tables.

use std::io::{self, Write};

use crate::parallel::of_each;
use crate::table::error::LONGEST_ROW;
use crate::table::number::{self, Digits};
use crate::table::{Column, Dimension, Kind, Meaning, Table, TableError, names};

/// Writes a CSV table block by block, with ThunderSTORM's names for the columns that are known.
#[derive(Debug)]
pub struct CsvWriter<W> {
    writer: W,
    /// Whether the names were written, and with units.
    units: Option<bool>,
    /// The number of the first frame, once there was a row.
    first: Option<f64>,
}

impl<W: Write> CsvWriter<W> {
    /// Writes through this.
    pub fn new(writer: W) -> Self {
        Self { writer, units: None, first: None }
    }

    /// Appends the rows of a block; before the first, the names of the columns.
    ///
    /// # Errors
    /// As the writer; [`io::ErrorKind::InvalidInput`] with [`TableError::Name`] or [`TableError::Row`] for names and words that would not be
    /// read again as they are.
    pub fn write(&mut self, block: &Table) -> io::Result<()> {
        let units = match self.units {
            Some(units) => units,
            None => {
                let units = block.columns.iter().any(|column| column.is_of(Dimension::Length));
                writeln!(self.writer, "{}", header(&block.columns).map_err(refused)?)?;
                *self.units.insert(units)
            }
        };
        let rows = block.rows();
        if self.first.is_none() && rows > 0 {
            // As the reader takes it: ids from 0 go with frames from 0.
            let id = block.column(Meaning::Id).map(|column| column.values[0]);
            self.first = Some(if units && id != Some(0.0) { 1.0 } else { 0.0 });
        }
        let first = self.first.unwrap_or(0.0);
        block.columns.iter().try_for_each(check_words).map_err(refused)?;
        let columns: Vec<Written<'_>> =
            block.columns.iter().map(|column| Written::new(column, block, first)).collect();
        lines(&columns, rows).iter().try_for_each(|piece| self.writer.write_all(piece))
    }

    /// What is written through.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.writer
    }

    /// Ends the table.
    ///
    /// # Errors
    /// As the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.writer.flush()?;
        Ok(self.writer)
    }
}

/// All rows, in pieces. In a function of its own, which is not compiled for each type of writer.
fn lines(columns: &[Written<'_>], rows: usize) -> Vec<Vec<u8>> {
    let step = 1 << 12;
    let piece = |piece: usize| {
        let mut text = Vec::with_capacity(step * 12 * columns.len());
        for row in piece * step..rows.min((piece + 1) * step) {
            for (index, column) in columns.iter().enumerate() {
                if index > 0 {
                    text.push(b',');
                }
                column.value(row, &mut text);
            }
            text.push(b'\n');
        }
        text
    };
    of_each(rows.div_ceil(step), &piece)
}

/// The name of a column in a CSV table, with its unit.
pub(in crate::table) fn title(column: &Column) -> String {
    let name = column.meaning().map_or(column.name.as_str(), |meaning| meaning.csv()[0]);
    match column.unit.symbol() {
        "" => name.to_owned(),
        symbol => format!("{name} [{symbol}]"),
    }
}

/// The line with the names of columns, in quotes as ThunderSTORM writes them. It is read again, so that no name becomes another.
fn header(columns: &[Column]) -> Result<String, TableError> {
    let titles: Vec<String> = columns.iter().map(title).collect();
    let quoted: Vec<String> = titles.iter().map(|title| super::header::quoted(title)).collect();
    let line = quoted.join(",");
    let broken = |column: &&Column| column.name.contains(['\n', '\r']);
    if let Some(column) = columns.iter().find(broken) {
        return Err(TableError::name(&column.name, "a name in a CSV table has no line breaks"));
    }
    let (found, _) = super::header::headers(line.as_bytes(), None).unwrap_or_default();
    for ((column, title), found) in columns.iter().zip(&titles).zip(&found) {
        let read = names::known(found).map_or(&**found, |(known, ..)| known.name());
        let meant = if column.meaning().is_some() { &column.name } else { title };
        if read != meant {
            let reason = format!("a CSV table with this name would be read as one of '{read}'");
            return Err(TableError::name(&column.name, reason));
        }
    }
    match columns.first() {
        Some(first) if found.len() != columns.len() || line.len() > LONGEST_ROW => {
            Err(TableError::name(&first.name, "the names of the columns would not be read again"))
        }
        _ => Ok(line),
    }
}

/// An error for a word with a line break: rows are lines.
fn check_words(column: &Column) -> Result<(), TableError> {
    let Kind::Words(words) = &column.kind else { return Ok(()) };
    let broken = words.iter().position(|word| word.contains(['\n', '\r']));
    let used = broken.and_then(|broken| {
        let row = column.values.iter().position(|&value| value as usize == broken)?;
        Some((row, &words[broken]))
    });
    used.map_or(Ok(()), |(row, word)| {
        let needed = "a word without line breaks, as rows of CSV tables have them";
        Err(TableError::word(row, &column.name, &word.escape_debug().to_string(), needed))
    })
}

fn refused(error: TableError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error)
}

/// A column that is written.
struct Written<'a> {
    column: &'a Column,
    /// What is added: whoever reads the file takes it away.
    offset: f64,
    digits: Digits,
    /// The errors of its numbers.
    errors: Option<&'a [f64]>,
}

impl<'a> Written<'a> {
    fn new(column: &'a Column, block: &'a Table, first: f64) -> Self {
        let meaning = column.meaning();
        // With −0 also 0 and −0 stay what they are.
        let offset = if meaning == Some(Meaning::Frame) { first } else { -0.0 };
        let usual = match column.kind {
            Kind::Rounded(decimals) => decimals,
            _ => 0,
        };
        let known = meaning.map_or(&[][..], Meaning::errors).iter();
        let error = known.filter_map(|&error| block.column(error)).next();
        let error = error.or_else(|| block.column(format!("{}_error", column.name)));
        let error = error.filter(|error| error.unit == column.unit);
        let errors = error.map(|error| &error.values[..]);
        Self { column, offset, digits: Digits::new(usual), errors }
    }

    fn value(&self, row: usize, text: &mut Vec<u8>) {
        let value = self.column.values[row];
        match &self.column.kind {
            Kind::Words(words) => word(&words[value as usize], text),
            Kind::Rounded(_) => {
                let error = self.errors.map(|errors| errors[row]);
                self.digits.write(value + self.offset, error, text);
            }
            Kind::Single => number::write_single(value + self.offset, text),
            Kind::Double | Kind::Whole => number::write(value + self.offset, text),
        }
    }
}

fn word(word: &str, text: &mut Vec<u8>) {
    let ends = [word.chars().next(), word.chars().next_back()];
    if word.contains([',', '"']) || ends.iter().flatten().any(|end| end.is_whitespace()) {
        text.extend_from_slice(super::header::quoted(word).as_bytes());
    } else {
        text.extend_from_slice(word.as_bytes());
    }
}
