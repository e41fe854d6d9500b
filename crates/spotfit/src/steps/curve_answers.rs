//! What came of the answers about many fits.

use std::collections::BTreeMap;
use std::fmt;

use spotfit_locs::private::median;

use crate::model::answers::{AnswerColumn, AnswerValues};
use crate::report::number::five_digits;

/// Counts and medians of answers.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct AnswerSummary {
    /// The median of R², if it was asked for and is known of some fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r_squared: Option<f64>,
    /// How many intervals ended in which way, of all parameters.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub intervals: BTreeMap<String, usize>,
    /// How many data sets prefer which model.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub preferred: BTreeMap<String, usize>,
    #[serde(skip)]
    shares: Vec<f64>,
}

impl AnswerSummary {
    /// Counts those of further fits.
    pub fn add(&mut self, columns: &[AnswerColumn]) {
        for column in columns {
            match &column.values {
                AnswerValues::Numbers(all) if column.name == "r_squared" => {
                    self.shares.extend(all.iter().filter(|share| !share.is_nan()));
                    let middle = median(self.shares.iter().copied());
                    self.r_squared = Some(middle).filter(|middle| !middle.is_nan());
                }
                AnswerValues::Words(all) if column.name == "preferred" => {
                    all.iter().for_each(|word| count(&mut self.preferred, word));
                }
                AnswerValues::Words(all) if column.name.ends_with("_interval") => {
                    all.iter().for_each(|word| count(&mut self.intervals, word));
                }
                _ => {}
            }
        }
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.r_squared.is_none() && self.intervals.is_empty() && self.preferred.is_empty()
    }
}

/// Counts a word.
fn count(all: &mut BTreeMap<String, usize>, word: &str) {
    match all.get_mut(word) {
        Some(count) => *count += 1,
        None => drop(all.insert(word.to_owned(), 1)),
    }
}

impl fmt::Display for AnswerSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = Vec::new();
        let counts = |all: &BTreeMap<String, usize>| {
            let each = all.iter().map(|(word, count)| format!("{count} {word}"));
            each.collect::<Vec<_>>().join(", ")
        };
        said.extend(self.r_squared.map(|median| format!("median of R² {}", five_digits(median))));
        if !self.intervals.is_empty() {
            said.push(format!("intervals: {}", counts(&self.intervals)));
        }
        if !self.preferred.is_empty() {
            said.push(format!("preferred: {}", counts(&self.preferred)));
        }
        write!(f, "{}", said.join("; "))
    }
}
