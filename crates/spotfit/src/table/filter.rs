//! Rows for which a condition holds.

use std::borrow::Cow;
use std::collections::HashSet;

use fit_formula::{Condition, FormulaError};
use spotfit_locs::private::change_parts;
use spotfit_locs::private::{Operand, operands, words};

use super::{Column, Kind, Meaning, Table, TableError, Unit};

/// A condition on the columns of a table, such as `photons > 300 & uncertainty < 20 & 80 < sigma`.
///
/// Columns have the names of this [tables](spotfit_locs::table), those of their file, with their unit (in quotes:
/// `"intensity [photon]" > 300`) or without (`intensity`, `offset`), and Picasso's. Lengths are in the unit of the table; `x_nm`, `sigma_nm`, `uncertainty_px` and so on are in the unit
/// that the name says. `sigma` and `uncertainty` are there if those of x and y are. A comparison with NaN does not hold.
/// Columns of words are compared with words: `z_status == found`. Frames are counted from 1, whatever the table: `frame == 1` is
/// the first.
///
/// ```
/// use spotfit::table::{CsvReader, Filter};
///
/// let text = "frame,x [nm],y [nm],intensity [photon]\n1,10,20,500\n1,90,20,100\n";
/// let mut table = CsvReader::new(text.as_bytes())?.read_all(1000)?;
/// let filter = Filter::new("photons > 300", &table)?;
/// let keep = filter.keep(&table)?;
/// table.retain(&keep);
/// assert_eq!(table.values("x")?, [10.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Filter {
    condition: Condition,
    /// What each of its columns is.
    of: Vec<Operand>,
    /// All words that columns may have; one is the number of its place.
    words: Vec<String>,
}

impl Filter {
    /// Reads a condition on the columns of a table like this one.
    ///
    /// # Errors
    /// [`FormulaError`], with the place in the text.
    pub fn new(text: &str, like: &Table) -> Result<Self, FormulaError> {
        let words = words(like);
        let mut known = operands(like);
        // A column of words alone says nothing: with a number it would be compared in vain.
        let mentioned = |word: &&String| text.contains(word.as_str());
        if words.iter().any(|word| mentioned(&word)) {
            for column in like.columns().iter().filter(|column| is_words(column)) {
                let (name, unit, word) = (column.name.clone(), None, None);
                known.push((name.clone(), Operand { column: name, unit, word }));
            }
            for (number, word) in words.iter().enumerate().filter(|(_, word)| mentioned(word)) {
                let meaning = Operand { column: String::new(), unit: None, word: Some(number) };
                known.push((word.clone(), meaning));
            }
        }
        // The first of two equal ones counts.
        let mut seen = HashSet::new();
        known.retain(|(name, _)| seen.insert(name.clone()));
        let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
        let condition = Condition::new(text, &names)?;
        let meaning = |name: &String| {
            let found = known.iter().find(|(known, _)| known == name);
            found.map(|(_, meaning)| meaning.clone()).unwrap_or(Operand {
                column: name.clone(),
                unit: None,
                word: None,
            })
        };
        let of = condition.columns().iter().map(meaning).collect();
        Ok(Self { condition, of, words })
    }

    /// The names that a condition on a table like this one may use.
    pub fn names(like: &Table) -> Vec<String> {
        operands(like).into_iter().map(|(name, _)| name).collect()
    }

    /// The condition as it was given.
    pub fn text(&self) -> &str {
        self.condition.text()
    }

    /// The columns of a table that the condition is on, as far as it may have them; x is among them, for its unit.
    pub fn columns(&self) -> Vec<&str> {
        let mut all: Vec<&str> = vec![Meaning::X.name()];
        for Operand { column, .. } in self.of.iter().filter(|of| of.word.is_none()) {
            let meaning = Meaning::of(column);
            let axes = meaning.and_then(Meaning::axes).into_iter().flatten();
            let others = axes.chain(meaning.and_then(Meaning::of_both_axes));
            all.push(column);
            others.for_each(|other| all.push(other.name()));
        }
        let mut seen = HashSet::new();
        all.retain(|name| seen.insert(*name));
        all
    }

    /// The names that the condition has for numbers, each with the unit in which it takes them from a table like this one.
    pub fn units(&self, like: &Table) -> Vec<(&str, Unit)> {
        let own = |column: &str, unit: Option<Unit>| {
            let own = unit.or_else(|| like.column(column).map(|column| column.unit));
            // `sigma` and `uncertainty` may be those of x and y.
            own.or_else(|| like.length_unit().ok()).unwrap_or_default()
        };
        let named = self.condition.columns().iter().zip(&self.of);
        let numbers = named.filter(|(_, of)| of.word.is_none());
        numbers.map(|(name, of)| (name.as_str(), own(&of.column, of.unit))).collect()
    }

    /// For each row whether the condition holds.
    ///
    /// # Errors
    /// [`TableError`] if a column is missing, or its unit cannot be converted.
    pub fn keep(&self, table: &Table) -> Result<Vec<bool>, TableError> {
        let columns: Vec<Cow<'_, [f64]>> = self
            .of
            .iter()
            .map(|Operand { column, unit, word }| match (unit, table.column(column)) {
                _ if word.is_some() => Ok(Cow::Owned(vec![self.number(*word); table.rows()])),
                (None, Some(found)) if is_words(found) => Ok(self.numbers(found)),
                // Whoever writes a condition counts frames from 1, as CSV tables do.
                (None, Some(found)) if found.meaning() == Some(Meaning::Frame) => {
                    Ok(found.values.iter().map(|frame| frame + 1.0).collect())
                }
                (None, Some(found)) => Ok(Cow::Borrowed(&found.values[..])),
                (unit, found) => {
                    let unit = unit.or(found.map(|found| found.unit));
                    table.lengths(column, unit.map_or_else(|| table.length_unit(), Ok)?)
                }
            })
            .collect::<Result<_, TableError>>()?;
        let mut keep = vec![false; table.rows()];
        let size = 1 << 14;
        change_parts(&mut keep, size, &|part, keep| {
            let mut evaluator = self.condition.evaluator();
            let mut values = vec![0.0; columns.len()];
            for (row, keep) in (part * size..).zip(keep) {
                for (value, column) in values.iter_mut().zip(&columns) {
                    *value = column[row];
                }
                *keep = evaluator.value(&values) != 0.0;
            }
        });
        Ok(keep)
    }
}

impl Filter {
    /// A word as a number, which is none that anybody would write.
    fn number(&self, word: Option<usize>) -> f64 {
        1e6 + 0.5 + word.unwrap_or(self.words.len()) as f64
    }

    /// A column of words as numbers.
    fn numbers<'a>(&self, column: &Column) -> Cow<'a, [f64]> {
        let Kind::Words(own) = &column.kind else { return Cow::Owned(Vec::new()) };
        let place = |word: &String| self.words.iter().position(|known| known == word);
        let numbers: Vec<f64> = own.iter().map(|word| self.number(place(word))).collect();
        let number = |&value: &f64| numbers.get(value as usize).copied().unwrap_or(f64::NAN);
        Cow::Owned(column.values.iter().map(number).collect())
    }
}

fn is_words(column: &Column) -> bool {
    matches!(column.kind, Kind::Words(_))
}
