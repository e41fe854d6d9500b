//! What is wrong with a table.

use std::io;

use spotfit_files::private::excerpt;

use super::{Column, Unit};

/// The longest row with its line end, in bytes.
pub(super) const LONGEST_ROW: usize = 1 << 16;

/// What is wrong with a table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The line with the names of the columns cannot be read, or the file is no text.
    #[error("the first line has no names of columns: {0}")]
    Header(String),
    /// A column is missing.
    #[error("there is no column '{0}'")]
    Column(String),
    /// Two columns have one name.
    #[error("there are two columns '{0}'")]
    TwoColumns(String),
    /// A format cannot hold the name of a column.
    #[error("the column '{column}' cannot be written: {reason}")]
    Name {
        /// The column's name, with escapes for what cannot be shown.
        column: String,
        /// Why.
        reason: String,
    },
    /// x and y are in different units, and the size of a pixel is not known.
    #[error("x is in {x}, and y is in {y}; the size of a pixel is not known")]
    MixedUnits {
        /// The unit of x.
        x: Unit,
        /// The unit of y.
        y: Unit,
    },
    /// A row has more or fewer fields than there are columns.
    #[error("line {line}: {found} fields, but there are {columns} columns")]
    Fields {
        /// The line, from 1.
        line: u64,
        /// The fields of the row.
        found: usize,
        /// The columns of the table.
        columns: usize,
    },
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
    /// A value in a row is not what it should be.
    #[error("row {row}: {column} = {value} is not {needed}")]
    Row {
        /// The row, from 1.
        row: u64,
        /// The column's name.
        column: String,
        /// The number, or the word in quotes; the beginning of it, if it is long.
        value: String,
        /// What is expected instead.
        needed: &'static str,
    },
    /// A row is too long for a table of numbers.
    #[error("line {line}: no row ends within {} KiB; is this a table?", LONGEST_ROW >> 10)]
    LongRow {
        /// The line with which the row begins, from 1.
        line: u64,
    },
    /// The file cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Lengths are in one unit and needed in the other, and the size of a pixel is not known.
    #[error("{column} is in {found}, and is needed in {needed}; the size of a pixel is not known")]
    PixelSize {
        /// The column's name.
        column: String,
        /// Its unit.
        found: Unit,
        /// The unit needed.
        needed: Unit,
    },
    /// The table is for Picasso 1.0, and the size of a pixel is not known.
    #[error("Picasso 1.0 reads no table without it: the size of a pixel is not known")]
    NoPixelSize,
    /// This is no unit of lengths in the plane.
    #[error("lengths are in pixels or nanometres; {0} is asked for")]
    NoLength(Unit),
    /// There are more rows than fit into memory.
    #[error("there are more than {most} rows; work on a part of them at a time")]
    ManyRows {
        /// The largest number allowed.
        most: usize,
    },
    /// The HDF5 file is wrong.
    #[error(transparent)]
    Hdf5(#[from] spotfit_files::hdf5::H5Error),
    /// A file is none of the tables that are read, or does not tell what its numbers are.
    #[error("{0}")]
    Unreadable(String),
    /// The YAML file beside a table is wrong.
    #[error("the file {file} that belongs to this table: {reason}")]
    Beside {
        /// Its name.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// The YAML file that belongs beside the table already exists, and Spotfit did not write it.
    #[error("{file} is there already, and Spotfit did not write it")]
    Stranger {
        /// Its name.
        file: String,
    },
    /// The YAML file that belongs beside a table is that of another table, whose name differs only in its ending.
    #[error(
        "{file} belongs to {other}, which is there already; choose a name with another beginning"
    )]
    Shared {
        /// The name of the YAML file.
        file: String,
        /// The name of the other table.
        other: String,
    },
    /// The name of a file does not say how a table is to be written.
    #[error("a table's name ends in .csv, or in .hdf5 or .h5")]
    Format,
    /// The columns of two parts of a table differ.
    #[error("the columns of the parts of this table differ: {0}")]
    Parts(String),
}

impl TableError {
    /// A value in a row, counted from 0, is not what it should be.
    pub fn row(row: usize, column: impl AsRef<str>, value: f64, needed: &'static str) -> Self {
        Self::Row {
            row: row as u64 + 1,
            column: column.as_ref().to_owned(),
            value: value.to_string(),
            needed,
        }
    }

    /// A word in a row, counted from 0, is not what it should be.
    pub fn word(row: usize, column: impl AsRef<str>, value: &str, needed: &'static str) -> Self {
        let value = format!("'{}'", excerpt(value));
        Self::Row { row: row as u64 + 1, column: column.as_ref().to_owned(), value, needed }
    }

    /// A column is needed in another unit, and the size of a pixel is not known.
    pub fn no_pixel_size(column: &Column, needed: Unit) -> Self {
        Self::PixelSize { column: column.name.clone(), found: column.unit, needed }
    }

    /// A format cannot hold the name of a column.
    pub(super) fn name(column: &str, reason: impl Into<String>) -> Self {
        Self::Name { column: excerpt(&column.escape_debug().to_string()), reason: reason.into() }
    }

    /// The same in a text of which this part begins after so many lines.
    pub(super) fn after(mut self, lines: u64) -> Self {
        if let Self::LongRow { line } | Self::Fields { line, .. } | Self::Value { line, .. } =
            &mut self
        {
            *line += lines;
        }
        self
    }
}
