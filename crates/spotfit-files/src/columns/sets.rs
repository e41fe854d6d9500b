//! Data sets in columns: each in one, or in rows of a long table.

use std::collections::HashMap;

use ndarray::{Array2, Array3};

use super::roles::{Errors, Head, Roles};
use super::{ColumnError, ColumnOptions, Numbers, told};
use crate::excerpt::excerpt;

/// The most numbers that are held where data sets have different lengths.
const MOST: usize = 1 << 28;

/// Data sets of a text, with their points, and errors and trials if it has some.
///
/// ```
/// use spotfit_files::columns::{ColumnOptions, DataSets};
///
/// let text = "well,time,signal,signal_sd\nA1,0,5,0.1\nA1,1,4,0.2\nB2,0,7,0.1\n";
/// let options = ColumnOptions::default()
///     .with_by(vec!["well".to_owned()])
///     .with_error_columns(vec!["_sd".to_owned()]);
/// let sets = DataSets::read(text.as_bytes(), &options)?;
/// assert_eq!(sets.names, ["A1", "B2"]);
/// assert_eq!(sets.y.dim(), (2, 2));
/// assert!(sets.y[[1, 1]].is_nan());
/// assert_eq!(sets.errors.unwrap()[[0, 1]], 0.2);
/// # Ok::<(), spotfit_files::columns::ColumnError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DataSets {
    /// The names of the data sets; empty where the text has none.
    pub names: Vec<String>,
    /// The names of the variables; empty where the text has none.
    pub x_names: Vec<String>,
    /// The units of the variables and then of the data sets, if the text has them; of a long table those of the variables only.
    pub units: Vec<String>,
    /// The points: (1, variable, point), or (set, variable, point) where they differ.
    pub x: Array3<f64>,
    /// The data (set, point): NaN where there is none.
    pub y: Array2<f64>,
    /// Their standard deviations (set, point).
    pub errors: Option<Array2<f64>>,
    /// The trials (1, point) or (set, point).
    pub trials: Option<Array2<f64>>,
    /// The standard deviations of x (1, point) or (set, point).
    pub x_errors: Option<Array2<f64>>,
    /// What was left out, in words.
    pub notes: Vec<String>,
}

impl DataSets {
    /// Reads the data sets of a text.
    ///
    /// # Errors
    /// [`ColumnError`].
    pub fn read(bytes: &[u8], options: &ColumnOptions) -> Result<Self, ColumnError> {
        let table = Numbers::read(bytes, options)?;
        let values = table.values();
        let Numbers { head, roles, chosen, keys, .. } = table;
        let mut places = vec![0; head.width];
        chosen.iter().enumerate().for_each(|(place, &column)| places[column] = place);
        let mut table = Table { places, values, notes: head.notes.clone() };
        let (x, y) = table.roles(&head, &roles)?;
        let errors = table.errors(&head, &roles, &y)?;
        let rows = table.rows(&x, &y);
        let each = roles.keys.len();
        let groups = if each == 0 { None } else { Some(table.groups(&rows, &keys, each)) };
        let name = |column: &usize| head.names.get(*column).cloned().unwrap_or_default();
        let x_names = x.iter().map(name).collect();
        let unit = |column: &usize| head.units.get(*column).cloned().unwrap_or_default();
        let of_y = if groups.is_some() { &[][..] } else { &y };
        let units = x.iter().chain(of_y).map(unit);
        let units = if head.units.is_empty() { Vec::new() } else { units.collect() };
        let (names, places) = match groups {
            None => (y.iter().map(name).collect(), vec![rows]),
            Some((words, groups)) => {
                let mut names = Vec::with_capacity(words.len() * y.len());
                for word in words {
                    names.extend(y.iter().map(|column| match y.len() {
                        1 => word.clone(),
                        _ => format!("{word} {}", head.called(*column)),
                    }));
                }
                (names, groups)
            }
        };
        let longest = places.iter().map(Vec::len).max().unwrap_or(0);
        let sets = places.len() * y.len();
        let held = places.len().saturating_mul(longest).saturating_mul(x.len() + y.len());
        if held > MOST {
            return Err(ColumnError(format!(
                "{sets} data sets, the longest of which has {longest} points, are too many to hold"
            )));
        }
        if longest == 0 {
            return Err(ColumnError::empty());
        }
        // Places of a long table have their points for each of their data sets.
        let times = if each > 0 { y.len() } else { 1 };
        let x =
            Array3::from_shape_fn((places.len() * times, x.len(), longest), |(set, k, point)| {
                let rows = &places[set / times];
                // What is not there lies where the last point does.
                let row = rows.get(point).or(rows.last());
                row.map_or(0.0, |&row| table.at(x[k], row))
            });
        let number = |column: usize, place: usize, point: usize| {
            places[place].get(point).map_or(f64::NAN, |&row| table.at(column, row))
        };
        let of = |columns: &[usize]| {
            Array2::from_shape_fn((sets, longest), |(set, point)| {
                number(columns[set % y.len()], set / y.len(), point)
            })
        };
        let own = |column: usize| {
            Array2::from_shape_fn((places.len() * times, longest), |(set, point)| {
                number(column, set / times, point)
            })
        };
        let (data, errors) = (of(&y), errors.as_deref().map(of));
        let (trials, x_errors) = (roles.trials.map(own), roles.x_errors.map(own));
        let mut notes = table.notes;
        let used = |place: usize| places[place].len();
        let missing = data
            .indexed_iter()
            .filter(|((set, point), value)| value.is_nan() && *point < used(set / y.len()));
        notes.extend(told(
            "cell without a number is",
            "cells without a number are",
            missing.count(),
        ));
        if let Some(errors) = &errors {
            let pairs = errors.iter().zip(&data);
            let is_none = |error: f64| error.is_nan() || error <= 0.0;
            let without =
                pairs.filter(|(error, value)| !value.is_nan() && is_none(**error)).count();
            let (one, many) =
                ("point without an error above 0 is", "points without an error above 0 are");
            notes.extend(told(one, many, without));
        }
        Ok(Self { names, x_names, units, x, y: data, errors, trials, x_errors, notes })
    }

    /// The weights of the data, (set, point): 1/error², or 1 where there are no errors; 0 for what is left out.
    pub fn weights(&self) -> Array2<f64> {
        let there = self.y.mapv(|value| f64::from(u8::from(!value.is_nan())));
        let Some(errors) = &self.errors else { return there };
        let weight = |error: f64| {
            let weight = 1.0 / (error * error);
            if error > 0.0 && weight.is_finite() { weight } else { 0.0 }
        };
        there * errors.mapv(weight)
    }

    /// Whether some points are left out.
    pub fn has_gaps(&self) -> bool {
        self.y.iter().any(|value| value.is_nan())
    }
}

/// The numbers of the columns that were read.
struct Table {
    /// Where the numbers of a column are.
    places: Vec<usize>,
    /// (place, row).
    values: Array2<f64>,
    notes: Vec<String>,
}

impl Table {
    fn at(&self, column: usize, row: usize) -> f64 {
        self.values[[self.places[column], row]]
    }

    /// The columns of x and those of data sets.
    fn roles(
        &mut self,
        head: &Head,
        roles: &Roles,
    ) -> Result<(Vec<usize>, Vec<usize>), ColumnError> {
        let mut x = roles.x.clone();
        let y = if let Some(y) = &roles.y {
            y.clone()
        } else {
            let mut others: Vec<bool> = vec![false; head.width];
            others[0] = head.index;
            let listed = match &roles.errors {
                Errors::Listed(listed) => &listed[..],
                _ => &[],
            };
            let known = x.iter().chain(&roles.keys).chain(listed).chain(&roles.trials);
            let known = known.chain(&roles.x_errors).chain(roles.error_of.values());
            known.for_each(|&column| others[column] = true);
            let rest: Vec<usize> = (0..head.width).filter(|&column| !others[column]).collect();
            let has_numbers = |column: &usize| {
                let row = self.values.row(self.places[*column]);
                row.iter().any(|value| !value.is_nan())
            };
            let mut kept: Vec<usize> = rest.iter().copied().filter(has_numbers).collect();
            let empty = rest.len() - kept.len();
            let (one, many) = ("column without numbers is", "columns without numbers are");
            self.notes.extend(told(one, many, empty));
            if x.is_empty() && !kept.is_empty() {
                x.push(kept.remove(0));
            }
            kept
        };
        if x.is_empty() || y.is_empty() { Err(ColumnError::empty()) } else { Ok((x, y)) }
    }

    /// The columns of the errors of data sets.
    fn errors(
        &self,
        head: &Head,
        roles: &Roles,
        y: &[usize],
    ) -> Result<Option<Vec<usize>>, ColumnError> {
        match &roles.errors {
            Errors::None => Ok(None),
            Errors::Listed(listed) if listed.len() == y.len() => Ok(Some(listed.clone())),
            Errors::Listed(listed) => {
                let (errors, sets) = (listed.len(), y.len());
                Err(ColumnError(format!(
                    "{errors} columns of errors are given for {sets} data sets"
                )))
            }
            Errors::Suffix(suffix) => {
                let of = |column: &usize| {
                    let missing = || {
                        let name = format!("{}{suffix}", head.called(*column));
                        ColumnError::no_such(&name, &excerpt(&head.names.join(", ")))
                    };
                    roles.error_of.get(column).copied().ok_or_else(missing)
                };
                y.iter().map(of).collect::<Result<_, _>>().map(Some)
            }
        }
    }

    /// The rows with all of x, without which a row says nothing.
    fn rows(&mut self, x: &[usize], y: &[usize]) -> Vec<usize> {
        let is_there = |column: &usize, row: usize| !self.at(*column, row).is_nan();
        let mut blank = 0;
        let mut rows = Vec::new();
        for row in 0..self.values.ncols() {
            if x.iter().all(|column| is_there(column, row)) {
                rows.push(row);
            } else if x.iter().chain(y).any(|column| is_there(column, row)) {
                blank += 1;
            }
        }
        self.notes.extend(told("row without x is", "rows without x are", blank));
        rows
    }

    /// The rows of each data set of a long table, in the order in which they first come, and what tells them.
    fn groups(
        &mut self,
        rows: &[usize],
        keys: &[String],
        each: usize,
    ) -> (Vec<String>, Vec<Vec<usize>>) {
        let mut numbers: HashMap<&[String], usize> = HashMap::new();
        let (mut names, mut groups, mut without) = (Vec::new(), Vec::<Vec<usize>>::new(), 0);
        for &row in rows {
            let key = &keys[row * each..(row + 1) * each];
            if key.iter().all(String::is_empty) {
                without += 1;
                continue;
            }
            let number = *numbers.entry(key).or_insert_with(|| {
                names.push(key.join(" "));
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[number].push(row);
        }
        self.notes.extend(told("row of no data set is", "rows of no data set are", without));
        (names, groups)
    }
}
