//! Writing CSV tables.

use std::io::{self, Write};

use rayon::prelude::*;

use crate::table::{Column, Dimension, Kind, Meaning, Table, number};

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
    /// As the writer.
    pub fn write(&mut self, block: &Table) -> io::Result<()> {
        let units = match self.units {
            Some(units) => units,
            None => {
                let lengths = |column: &Column| {
                    column.meaning().is_some_and(|one| one.dimension() == Dimension::Length)
                };
                let units = block.columns.iter().any(lengths);
                let header: Vec<String> = block.columns.iter().map(header).collect();
                writeln!(self.writer, "{}", header.join(","))?;
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
        let step = 1 << 12;
        let pieces: Vec<Vec<u8>> = (0..rows.div_ceil(step))
            .into_par_iter()
            .map(|piece| {
                let mut text = Vec::with_capacity(step * 12 * block.columns.len());
                for row in piece * step..rows.min((piece + 1) * step) {
                    for (index, column) in block.columns.iter().enumerate() {
                        if index > 0 {
                            text.push(b',');
                        }
                        value(column, row, first, &mut text);
                    }
                    text.push(b'\n');
                }
                text
            })
            .collect();
        pieces.iter().try_for_each(|piece| self.writer.write_all(piece))
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

/// The name of a column with its unit, in quotes as ThunderSTORM writes it.
pub(in crate::table) fn header(column: &Column) -> String {
    let name = column.meaning().map_or(column.name.as_str(), |meaning| meaning.csv()[0]);
    let unit = column.unit.symbol().map_or_else(String::new, |symbol| format!(" [{symbol}]"));
    format!("\"{}{unit}\"", name.replace('"', "'"))
}

fn value(column: &Column, row: usize, first: f64, text: &mut Vec<u8>) {
    // Whoever reads the file takes it away, whatever the kind of the column was.
    let value = match column.values[row] {
        frame if column.name == "frame" => frame + first,
        value => value,
    };
    match &column.kind {
        Kind::Words(words) => {
            let word = &words[column.values[row] as usize];
            if word.contains([',', '"', '\n', '\r']) {
                text.extend_from_slice(format!("\"{}\"", word.replace('"', "'")).as_bytes());
            } else {
                text.extend_from_slice(word.as_bytes());
            }
        }
        Kind::Rounded(decimals) => number::write_rounded(value, usize::from(*decimals), text),
        Kind::Single => number::write_single(value, text),
        Kind::Double | Kind::Whole => number::write(value, text),
    }
}
