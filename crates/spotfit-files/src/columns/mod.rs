//! Columns of numbers in text, as instruments, Excel and Prism export them, and in workbooks of Excel (`.xlsx`).
//!
//! A sheet of a workbook is read as a text with its cells would be; cells with formulas have the values that Excel stored.
//! Of a text:
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
mod roles;
mod sets;
mod workbook;

use ndarray::Array2;

use cells::{Cell, Dialect, Line};
use encoding::decoded;
use roles::{Head, Roles};

pub use sets::DataSets;

use crate::excerpt::excerpt;
use crate::no_text::no_text;

/// What is read of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnOptions {
    /// So many lines at the start are not looked at.
    pub skip: usize,
    /// The columns that are read, in this order, by their names or numbers from 1. Empty: all of them.
    pub columns: Vec<String>,
    /// The columns of the variables, where there are several; then `columns` has data sets only. For [`DataSets`].
    pub x_columns: Vec<String>,
    /// A long table: each value of these columns, which may be words, is a data set. For [`DataSets`].
    pub by: Vec<String>,
    /// The columns of the standard deviations of y: one for each data set, or what their names have behind those of the data
    /// sets. For [`DataSets`].
    pub error_columns: Vec<String>,
    /// The column of trials. For [`DataSets`].
    pub trials: Option<String>,
    /// The sheet of a workbook, by its name or number from 1; the first by default.
    pub sheet: Option<String>,
    /// The column of the standard deviations of x. For [`DataSets`].
    pub x_errors: Option<String>,
}

impl ColumnOptions {
    fit_core::__setters! {
        const with_skip: skip: usize,
        with_columns: columns: Vec<String>,
        with_x_columns: x_columns: Vec<String>,
        with_by: by: Vec<String>,
        with_error_columns: error_columns: Vec<String>,
        with_trials: trials: Option<String>,
        with_sheet: sheet: Option<String>,
        with_x_errors: x_errors: Option<String>,
    }

    /// Whether two numbers make a row of numbers, wherever they are.
    fn anywhere(&self) -> bool {
        !(self.columns.is_empty() && self.x_columns.is_empty() && self.by.is_empty())
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
    /// A column has two tasks.
    #[error("column '{name}' cannot be {first} and {second}")]
    Twice {
        /// Its name or number.
        name: String,
        /// One task.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// There are not as many columns of errors as data sets.
    #[error("{errors} columns of errors are given for {sets} data sets")]
    Errors {
        /// The columns of errors.
        errors: usize,
        /// The data sets.
        sets: usize,
    },
    /// A workbook cannot be read.
    #[error("the workbook cannot be read: {0}")]
    Workbook(String),
    /// It is no text: what it is, and what to do.
    #[error("{0}")]
    NoText(String),
    /// A sheet is chosen of what is no workbook.
    #[error("it is text, without sheets")]
    NoSheets,
    /// Data sets of very unequal length cannot be held.
    #[error("{sets} data sets, the longest of which has {longest} points, are too many to hold")]
    TooLong {
        /// The data sets.
        sets: usize,
        /// The points of the longest.
        longest: usize,
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
        let basic = ColumnOptions::default()
            .with_skip(options.skip)
            .with_columns(options.columns.clone())
            .with_sheet(options.sheet.clone());
        let table = Numbers::read(bytes, &basic)?;
        let anywhere = basic.anywhere();
        let values = table.values();
        let Numbers { head: Head { names, units, mut notes, .. }, chosen, .. } = table;
        let count = values.ncols();
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
    head: Head,
    roles: Roles,
    /// The columns that are read.
    chosen: Vec<usize>,
    /// The chosen numbers, row by row.
    rows: Vec<f64>,
    /// The words of each row by which it belongs to a data set.
    keys: Vec<String>,
}

impl Numbers {
    fn read(bytes: &[u8], options: &ColumnOptions) -> Result<Self, ColumnError> {
        let sheet = options.sheet.as_deref();
        let (text, notes) = match workbook::is_workbook(bytes) {
            true => workbook::text(bytes, sheet).map(|(text, notes)| (text.into(), notes))?,
            false => {
                if let Some(what) = no_text(bytes) {
                    return Err(ColumnError::NoText(what));
                }
                if sheet.is_some() {
                    return Err(ColumnError::NoSheets);
                }
                (decoded(bytes), Vec::new())
            }
        };
        let dialect = Dialect::of(&text, options.skip);
        let anywhere = options.anywhere();
        let (mut head, mut table, mut wrong) = (Vec::new(), None, None);
        dialect.lines(&text, options.skip, |line| {
            let result = match &mut table {
                _ if wrong.is_some() => return,
                None if !line.begins(dialect.comma, anywhere) => {
                    head.push(line);
                    return;
                }
                None => Self::begin(std::mem::take(&mut head), &line, options)
                    .and_then(|begun| table.insert(begun).add(&line, dialect.comma)),
                Some(table) => table.add(&line, dialect.comma),
            };
            wrong = result.err();
        });
        let mut table = wrong.map_or_else(|| table.ok_or(ColumnError::Empty), Err)?;
        table.head.notes.splice(..0, notes);
        Ok(table)
    }

    /// Begins below the lines of a head, with the first row.
    fn begin(head: Vec<Line>, first: &Line, options: &ColumnOptions) -> Result<Self, ColumnError> {
        let width = first.cells.len();
        let (names, units, notes) = names(head, width);
        let head = Head::new(names, units, notes, width);
        let roles = Roles::of(&head, options)?;
        let chosen = roles.chosen(head.width);
        Ok(Self { head, roles, chosen, rows: Vec::new(), keys: Vec::new() })
    }

    /// (column, row), of the chosen ones.
    fn values(&self) -> Array2<f64> {
        let count = self.rows.len() / self.chosen.len().max(1);
        let values = Array2::from_shape_vec((count, self.chosen.len()), self.rows.clone());
        values.unwrap_or_default().reversed_axes()
    }

    fn add(&mut self, row: &Line, comma: bool) -> Result<(), ColumnError> {
        let Line { line, cells } = row;
        let used = cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
        let expected = self.head.width;
        if used > expected {
            return Err(ColumnError::Length { line: *line, found: used, expected });
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
        let word = |&column: &usize| cells.get(column).map_or("", String::as_str);
        self.keys.extend(self.roles.keys.iter().map(word).map(str::to_owned));
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
