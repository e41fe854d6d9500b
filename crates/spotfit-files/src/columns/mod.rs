//! Columns of numbers in text, as instruments, Excel and Prism export them.
//!
//! | of a file | what is read |
//! |---|---|
//! | encoding | UTF-8 and UTF-16 with or without a byte order mark; otherwise Latin-1 |
//! | ends of lines | of all systems |
//! | columns | between commas, semicolons, tabs or spaces, whichever makes columns of numbers; a line `sep=;` says it |
//! | numbers | with a decimal point, or with a decimal comma where that makes numbers |
//! | lines before the first number | the first with a name for each column has the names, the next ones units; others are left out |
//! | lines that begin with `#`, `%` or `!`, empty ones | left out |
//! | empty cells, `NaN`, `NA`, `N/A`, `null`, `-`, `#DIV/0!`, infinity | NaN: no number |
//! | columns without numbers | left out |
//!
//! What is left out is counted in [`Columns::notes`].

mod cells;
mod encoding;
#[cfg(test)]
mod tests;

use ndarray::Array2;

use cells::{Cell, Dialect, Line};
use encoding::decoded;

use crate::excerpt::excerpt;

/// What is read of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnOptions {
    /// So many lines at the start are not looked at.
    pub skip: usize,
    /// The columns that are read, in this order, by their names or numbers from 1. Empty: all of them.
    pub columns: Vec<String>,
}

impl ColumnOptions {
    fit_core::__setters! {
        const with_skip: skip: usize,
        with_columns: columns: Vec<String>,
    }
}

/// Why text has no columns of numbers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnError {
    /// A cell is neither a number nor empty.
    #[error("line {line}, column {column}: '{cell}' is not a number")]
    NotANumber {
        /// Its line, from 1.
        line: usize,
        /// Its column, from 1.
        column: usize,
        /// What it is.
        cell: String,
    },
    /// A line has more cells than the names or the first numbers have.
    #[error("line {line} has {found} columns, but {expected} are expected")]
    Length {
        /// Its number, from 1.
        line: usize,
        /// The cells that it has.
        found: usize,
        /// The columns that there are.
        expected: usize,
    },
    /// There are no two columns of numbers.
    #[error("it has no rows with x and at least one data set beside it")]
    Empty,
    /// A column that was chosen does not exist.
    #[error("there is no column '{name}': the file has {there}")]
    NoSuch {
        /// The name or number.
        name: String,
        /// The names that there are.
        there: String,
    },
}

/// Columns of numbers.
///
/// ```
/// use spotfit_files::columns::{ColumnOptions, Columns};
///
/// let text = "Zeit (s);Kontrolle;Behandelt\n0;11,0;10,0\n1;9,5;\n";
/// let columns = Columns::read(text.as_bytes(), &ColumnOptions::default())?;
/// assert_eq!(columns.names, ["Zeit (s)", "Kontrolle", "Behandelt"]);
/// assert_eq!(columns.values.dim(), (3, 2));
/// assert_eq!(columns.values[[1, 1]], 9.5);
/// assert!(columns.values[[2, 1]].is_nan());
/// # Ok::<(), spotfit_files::columns::ColumnError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Columns {
    /// The names of the columns; empty ones where the text has none.
    pub names: Vec<String>,
    /// Their units, if the text has a line of them below the names.
    pub units: Vec<String>,
    /// The numbers (column, row); NaN where there is none.
    pub values: Array2<f64>,
    /// What was left out, in words.
    pub notes: Vec<String>,
}

impl Columns {
    /// Reads the columns of a text.
    ///
    /// # Errors
    /// [`ColumnError`].
    pub fn read(bytes: &[u8], options: &ColumnOptions) -> Result<Self, ColumnError> {
        let text = decoded(bytes);
        let dialect = Dialect::of(&text, options.skip);
        let anywhere = !options.columns.is_empty();
        let (mut head, mut table, mut wrong) = (Vec::new(), None, None);
        dialect.lines(&text, options.skip, |line| {
            let result = match &mut table {
                _ if wrong.is_some() => return,
                None if !line.begins(dialect.comma, anywhere) => {
                    head.push(line);
                    return;
                }
                None => Numbers::begin(std::mem::take(&mut head), &line, options)
                    .and_then(|begun| table.insert(begun).add(&line, dialect.comma)),
                Some(table) => table.add(&line, dialect.comma),
            };
            wrong = result.err();
        });
        if let Some(error) = wrong {
            return Err(error);
        }
        let Numbers { names, units, mut notes, chosen, rows, .. } =
            table.ok_or(ColumnError::Empty)?;
        let count = rows.len() / chosen.len().max(1);
        let values = Array2::from_shape_vec((count, chosen.len()), rows);
        let values = values.unwrap_or_default().reversed_axes();
        // A column that was asked for stays, whatever it has. From here on columns are places among the chosen ones.
        let has_numbers = |&place: &usize| values.row(place).iter().any(|value| !value.is_nan());
        let kept: Vec<usize> = match anywhere {
            true => (0..chosen.len()).collect(),
            false => (0..chosen.len()).filter(has_numbers).collect(),
        };
        if kept.len() < 2 {
            return Err(ColumnError::Empty);
        }
        notes.extend(told(
            "column without numbers is",
            "columns without numbers are",
            chosen.len() - kept.len(),
        ));
        let x = kept[0];
        // Without x a row says nothing.
        let places: Vec<usize> = (0..count).filter(|&row| !values[[x, row]].is_nan()).collect();
        let is_blank = |&row: &usize| {
            values[[x, row]].is_nan() && kept.iter().any(|&column| !values[[column, row]].is_nan())
        };
        let blank = (0..count).filter(is_blank).count();
        notes.extend(told("row without x is", "rows without x are", blank));
        let part = Array2::from_shape_fn((kept.len(), places.len()), |(column, row)| {
            values[[kept[column], places[row]]]
        });
        let missing = part.iter().filter(|value| value.is_nan()).count();
        notes.extend(told("cell without a number is", "cells without a number are", missing));
        let of = |texts: &[String]| {
            let text = |&place: &usize| texts.get(chosen[place]).cloned().unwrap_or_default();
            kept.iter().map(text).collect()
        };
        let units = if units.is_empty() { Vec::new() } else { of(&units) };
        Ok(Self { names: of(&names), units, values: part, notes })
    }
}

/// The rows of numbers as they come.
struct Numbers {
    names: Vec<String>,
    units: Vec<String>,
    notes: Vec<String>,
    width: usize,
    chosen: Vec<usize>,
    /// The chosen numbers, row by row.
    rows: Vec<f64>,
}

impl Numbers {
    /// Begins below the lines of a head, with the first row.
    fn begin(head: Vec<Line>, first: &Line, options: &ColumnOptions) -> Result<Self, ColumnError> {
        let width = first.cells.len();
        let (names, units, notes) = names(head, width);
        let width = width.max(names.len());
        let chosen = chosen(&names, width, &options.columns)?;
        Ok(Self { names, units, notes, width, chosen, rows: Vec::new() })
    }

    fn add(&mut self, row: &Line, comma: bool) -> Result<(), ColumnError> {
        let Line { line, cells } = row;
        let used = cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
        if used > self.width {
            return Err(ColumnError::Length { line: *line, found: used, expected: self.width });
        }
        for &column in &self.chosen {
            let cell = cells.get(column).map_or("", String::as_str);
            self.rows.push(match Cell::of(cell, comma) {
                Cell::Number(value) => value,
                Cell::Missing => f64::NAN,
                Cell::Text => {
                    let (line, column, cell) = (*line, column + 1, excerpt(cell));
                    return Err(ColumnError::NotANumber { line, column, cell });
                }
            });
        }
        Ok(())
    }
}

/// What is said of so many things that are left out.
fn told(one: &str, many: &str, count: usize) -> Option<String> {
    (count > 0).then(|| format!("{count} {} left out", if count == 1 { one } else { many }))
}

/// Names and units of the lines above the numbers, which have so many columns, and what is said of these lines.
fn names(head: Vec<Line>, width: usize) -> (Vec<String>, Vec<String>, Vec<String>) {
    let is_full = |line: &&Line| {
        let named = line.cells.iter().filter(|cell| !cell.is_empty()).count();
        named > 1 || width < 2
    };
    let mut full = head.iter().filter(is_full).map(|line| line.cells.clone());
    let names = full.next().unwrap_or_default();
    let units = full.next().unwrap_or_default();
    let used = usize::from(!names.is_empty()) + usize::from(!units.is_empty());
    let mut notes = Vec::new();
    if !units.is_empty() {
        notes.push("a row of units is left out".to_owned());
    }
    notes.extend(told("line above the names is", "lines above the numbers are", head.len() - used));
    (names, units, notes)
}

/// The columns that are asked for, from 0.
fn chosen(names: &[String], width: usize, asked: &[String]) -> Result<Vec<usize>, ColumnError> {
    if asked.is_empty() {
        return Ok((0..width).collect());
    }
    let find = |name: &String| {
        let named = names.iter().position(|own| own == name);
        let numbered =
            || name.parse::<usize>().ok()?.checked_sub(1).filter(|&column| column < width);
        named.or_else(numbered).ok_or_else(|| ColumnError::NoSuch {
            name: excerpt(name),
            there: match names.iter().all(String::is_empty) {
                true => format!("columns 1 to {width}"),
                false => excerpt(&names.join(", ")),
            },
        })
    };
    asked.iter().map(find).collect()
}
