//! What names in conditions on a table mean.

use fit_core::Status;

use super::{Column, Kind, Table, Unit, names};
use crate::depth::DepthStatus;

/// What a name in a condition means.
#[derive(Clone, Debug, PartialEq)]
pub struct Meaning {
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
        match column.name.as_str() {
            "status" => Status::ALL.iter().for_each(|status| add(status.name())),
            "z_status" => DepthStatus::ALL.iter().for_each(|status| add(status.name())),
            _ => {}
        }
    }
    all
}

/// All names that a condition may use. The first of two equal ones counts.
pub fn meanings(table: &Table) -> Vec<(String, Meaning)> {
    let mut all: Vec<(String, Meaning)> = Vec::new();
    let mut add = |name: String, column: &str, unit: Option<Unit>| {
        if !all.iter().any(|(known, _)| *known == name) {
            all.push((name, Meaning { column: column.to_owned(), unit, word: None }));
        }
    };
    let numbers = table.columns().iter().filter(|column| !matches!(column.kind, Kind::Words(_)));
    for column in numbers.clone() {
        add(column.name.clone(), &column.name, None);
    }
    let there = |name: &str| table.column(name).is_some();
    for (name, parts) in
        [("sigma", ["sigma_x", "sigma_y"]), ("uncertainty", ["uncertainty_x", "uncertainty_y"])]
    {
        if !there(name) && parts.into_iter().all(there) {
            add(name.to_owned(), name, None);
        }
        if there(name) {
            for part in parts {
                add(part.to_owned(), part, None);
            }
        }
    }
    for known in names::KNOWN.iter().filter(|known| known.quantity == names::Quantity::Length) {
        let lengths = table.length_unit().ok();
        let possible = |unit| lengths == Some(unit) || table.info.pixel_size.is_some();
        for (symbol, unit) in [("nm", Unit::Nanometre), ("px", Unit::Pixel)] {
            if possible(unit) && table.lengths(known.name, unit).is_ok() {
                add(format!("{}_{symbol}", known.name), known.name, Some(unit));
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
    let mut all = vec![super::csv::header(column).trim_matches('"').to_owned()];
    if let Some(known) = names::find(&column.name) {
        all.extend(known.csv.iter().chain(&known.picasso).map(|&name| name.to_owned()));
    }
    all
}
