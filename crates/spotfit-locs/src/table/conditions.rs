//! What names in conditions on a table mean.

use super::{Column, Dimension, Kind, Meaning, Table, Unit};

/// What a name in a condition means.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    /// The column's name in the table.
    pub column: String,
    /// The unit that is asked for.
    pub unit: Option<Unit>,
    /// The number that it is, if it is a word.
    pub word: Option<usize>,
}

/// The words that the columns of a table may have, whether they are in its first rows or not.
pub fn words(table: &Table) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut add = |word: &str| {
        if !all.iter().any(|known| known == word) {
            all.push(word.to_owned());
        }
    };
    for column in table.columns() {
        let Kind::Words(own) = &column.kind else { continue };
        own.iter().for_each(|word| add(word));
        let possible = column.meaning().and_then(Meaning::words).unwrap_or_default();
        possible.iter().for_each(|word| add(word));
    }
    all
}

/// All names that a condition may use. The first of two equal ones counts.
pub fn operands(table: &Table) -> Vec<(String, Operand)> {
    let mut all: Vec<(String, Operand)> = Vec::new();
    let mut add = |name: String, column: &str, unit: Option<Unit>| {
        if !all.iter().any(|(known, _)| *known == name) {
            all.push((name, Operand { column: column.to_owned(), unit, word: None }));
        }
    };
    let numbers = table.columns().iter().filter(|column| !matches!(column.kind, Kind::Words(_)));
    for column in numbers.clone() {
        add(column.name.clone(), &column.name, None);
    }
    let there = |meaning: Meaning| table.column(meaning).is_some();
    for &both in Meaning::ALL {
        let Some(axes) = both.axes() else { continue };
        if !there(both) && axes.into_iter().all(there) {
            add(both.name().to_owned(), both.name(), None);
        }
        if there(both) {
            for axis in axes {
                add(axis.name().to_owned(), axis.name(), None);
            }
        }
    }
    let lengths = table.length_unit().ok();
    let possible = |unit| lengths == Some(unit) || table.info.pixel_size.is_some();
    for meaning in Meaning::ALL.iter().filter(|one| one.dimension() == Dimension::Length) {
        for (symbol, unit) in [("nm", Unit::Nanometre), ("px", Unit::Pixel)] {
            if possible(unit) && table.lengths(meaning, unit).is_ok() {
                add(format!("{meaning}_{symbol}"), meaning.name(), Some(unit));
            }
        }
    }
    for column in numbers {
        for name in other_names(column) {
            add(name, &column.name, None);
        }
    }
    all
}

/// What a column is called in files: with its unit, by ThunderSTORM without, and by Picasso.
pub(super) fn other_names(column: &Column) -> Vec<String> {
    let mut all = vec![super::csv::title(column)];
    if let Some(meaning) = column.meaning() {
        all.extend(meaning.csv().iter().copied().chain(meaning.picasso()).map(str::to_owned));
    }
    all
}
