//! Fits of some of all data sets, which plots, pages and tables take as they come.

use crate::model::{CurveFits, Curves, Model};

/// Fits of a model to some of all data sets.
#[derive(Clone, Copy, Debug)]
pub struct CurvePart<'a> {
    /// The model.
    pub model: &'a Model,
    /// The data sets.
    pub curves: &'a Curves<'a>,
    /// The names of all data sets, where they have some.
    pub names: &'a [String],
    /// How many are before these.
    pub first: usize,
    /// The fits of these.
    pub fits: &'a CurveFits,
}

impl CurvePart<'_> {
    /// Those that are among the chosen ones, which are numbers of all data sets.
    pub(super) fn rows(&self, chosen: &[usize]) -> Vec<usize> {
        let own = chosen.iter().filter_map(|number| number.checked_sub(self.first));
        own.filter(|row| *row < self.fits.len()).collect()
    }

    /// What the data set of a row is called, or else its number.
    pub(super) fn name(&self, row: usize) -> Result<&str, usize> {
        name_of(self.names, self.first + row)
    }
}

/// What a data set is called, or else its number.
fn name_of(names: &[String], number: usize) -> Result<&str, usize> {
    names.get(number).map(String::as_str).filter(|name| !name.is_empty()).ok_or(number)
}

/// The cell that says which data set it is.
pub(super) fn cell_of(names: &[String], number: usize) -> String {
    name_of(names, number).map_or_else(|number| number.to_string(), quoted)
}

/// A cell of CSV that is text.
pub(super) fn quoted(name: &str) -> String {
    match name.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.to_owned(),
    }
}
