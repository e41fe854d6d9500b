//! What columns are for.

use std::collections::HashMap;

use super::{ColumnError, ColumnOptions};
use crate::excerpt::excerpt;

/// What is above the numbers.
pub(super) struct Head {
    pub(super) names: Vec<String>,
    pub(super) units: Vec<String>,
    pub(super) notes: Vec<String>,
    pub(super) width: usize,
    /// The first column has names of rows, which are no data.
    pub(super) index: bool,
    /// The first column of each name.
    places: HashMap<String, usize>,
}

impl Head {
    /// For so many columns of numbers, or more names.
    pub(super) fn new(
        names: Vec<String>,
        units: Vec<String>,
        notes: Vec<String>,
        width: usize,
    ) -> Self {
        let width = width.max(names.len());
        let mut places = HashMap::new();
        for (column, name) in names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            places.entry(name.clone()).or_insert(column);
        }
        Self { names, units, notes, width, index: false, places }
    }

    /// The name of a column, or its number from 1.
    pub(super) fn called(&self, column: usize) -> String {
        let name = self.names.get(column).filter(|name| !name.is_empty());
        name.map_or_else(|| (column + 1).to_string(), |name| excerpt(name))
    }

    fn named(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// The column with a name, or else a number from 1.
    fn find(&self, name: &str) -> Result<usize, ColumnError> {
        let width = self.width;
        let numbered =
            || name.parse::<usize>().ok()?.checked_sub(1).filter(|&column| column < width);
        self.named(name).or_else(numbered).ok_or_else(|| {
            let there = match self.names.iter().all(String::is_empty) {
                true => format!("columns 1 to {width}"),
                false => excerpt(&self.names.join(", ")),
            };
            ColumnError::no_such(&excerpt(name), &there)
        })
    }

    fn all(&self, names: &[String]) -> Result<Vec<usize>, ColumnError> {
        names.iter().map(|name| self.find(name)).collect()
    }
}

/// Where the errors of data sets are.
pub(super) enum Errors {
    None,
    /// One for each data set.
    Listed(Vec<usize>),
    /// In the columns whose names end so.
    Suffix(String),
}

/// What the columns are for.
pub(super) struct Roles {
    /// By which rows belong to data sets.
    pub(super) keys: Vec<usize>,
    /// The variables; none where it is the first column with numbers.
    pub(super) x: Vec<usize>,
    /// The data sets; none where it is every other column with numbers.
    pub(super) y: Option<Vec<usize>>,
    pub(super) errors: Errors,
    pub(super) trials: Option<usize>,
    pub(super) x_errors: Option<usize>,
    /// The columns of errors of each column, where their names say so.
    pub(super) error_of: HashMap<usize, usize>,
}

impl Roles {
    pub(super) fn of(head: &Head, options: &ColumnOptions) -> Result<Self, ColumnError> {
        let keys = head.all(&options.by)?;
        let columns = head.all(&options.columns)?;
        let (x, y) = match (head.all(&options.x_columns)?, columns.split_first()) {
            (x, None) => (x, None),
            (x, Some((first, rest))) if x.is_empty() => (vec![*first], Some(rest.to_vec())),
            (x, Some(_)) => (x, Some(columns)),
        };
        let mut error_of = HashMap::new();
        let errors = match &options.error_columns[..] {
            [] => Errors::None,
            [suffix] if head.find(suffix).is_err() => {
                for (column, name) in head.names.iter().enumerate().filter(|of| !of.1.is_empty()) {
                    if let Some(own) = head.named(&format!("{name}{suffix}")) {
                        error_of.insert(column, own);
                    }
                }
                if error_of.is_empty() {
                    // Neither a column nor the end of the name of one.
                    head.find(suffix)?;
                }
                Errors::Suffix(suffix.clone())
            }
            list => Errors::Listed(head.all(list)?),
        };
        let one = |name: &Option<String>| name.as_deref().map(|name| head.find(name)).transpose();
        let (trials, x_errors) = (one(&options.trials)?, one(&options.x_errors)?);
        let roles = Self { keys, x, y, errors, trials, x_errors, error_of };
        roles.check(head)?;
        Ok(roles)
    }

    /// Refuses a column with two tasks.
    fn check(&self, head: &Head) -> Result<(), ColumnError> {
        let none = Vec::new();
        let listed = match &self.errors {
            Errors::Listed(listed) => listed,
            _ => &none,
        };
        let given: [(&[usize], &'static str); 6] = [
            (&self.keys, "what data sets are told by"),
            (&self.x, "x"),
            (self.y.as_deref().unwrap_or_default(), "a data set"),
            (listed, "the errors of y"),
            (self.trials.as_slice(), "the trials"),
            (self.x_errors.as_slice(), "the errors of x"),
        ];
        let mut tasks = HashMap::new();
        for (columns, second) in given {
            for &column in columns {
                match tasks.insert(column, second) {
                    // The same column may be fitted twice.
                    Some(first) if first != second => {
                        let name = head.called(column);
                        return Err(ColumnError(format!(
                            "column '{name}' cannot be {first} and {second}"
                        )));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// The columns that are read as numbers.
    pub(super) fn chosen(&self, width: usize) -> Vec<usize> {
        let listed = match &self.errors {
            Errors::Listed(listed) => &listed[..],
            _ => &[],
        };
        let Some(y) = &self.y else {
            return (0..width).filter(|column| !self.keys.contains(column)).collect();
        };
        let errors = y.iter().filter_map(|column| self.error_of.get(column));
        let others = listed.iter().chain(errors).chain(&self.trials).chain(&self.x_errors);
        self.x.iter().chain(y).chain(others).copied().collect()
    }
}
