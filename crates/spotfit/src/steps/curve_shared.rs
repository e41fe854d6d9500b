//! What is told of parameters that data sets share.

use std::fmt;

use crate::Status;
use crate::model::{Model, SharedFits};

/// The values that a report shows at most.
const MOST_SHOWN: usize = 20;

/// A value that data sets share, as it is told.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct ToldValue {
    /// The parameter.
    pub parameter: String,
    /// Its group, if it has groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The value; nothing if no data set with it could be fitted.
    pub value: Option<f64>,
    /// Its standard error; nothing if the data do not determine it.
    pub error: Option<f64>,
    /// How the search for it ended.
    pub status: &'static str,
}

/// The report of what data sets share.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct SharedReport {
    /// The shared values.
    pub values: Vec<ToldValue>,
    /// χ² or the deviance of all data sets together, with the priors.
    pub chi2: f64,
    /// Points and priors minus all free parameters.
    pub degrees: u64,
    /// Data sets that were left out.
    pub left_out: usize,
}

impl SharedReport {
    /// Of fits of a model; `groups` are the names of the groups of each parameter that has some, by its number.
    pub fn of(model: &Model, fits: &SharedFits, groups: &[(usize, Vec<String>)]) -> Self {
        let values = fits.values.iter().map(|value| {
            let names = groups.iter().find(|(parameter, _)| *parameter == value.parameter);
            let finite = |number: f64| Some(number).filter(|number| number.is_finite());
            let status = fits.parts.get(value.part).map_or(Status::Invalid, |part| part.status);
            ToldValue {
                parameter: model.parameters().get(value.parameter).cloned().unwrap_or_default(),
                group: names.and_then(|(_, names)| names.get(value.group).cloned()),
                value: finite(value.value),
                error: finite(value.error),
                status: status.name(),
            }
        });
        let (chi2, degrees, left_out) = (fits.chi2(), fits.degrees(), fits.left_out());
        Self { values: values.collect(), chi2, degrees, left_out }
    }

    /// Adds what came of further data sets that share nothing with these.
    pub(super) fn add(&mut self, other: Self) {
        self.values.extend(other.values);
        self.chi2 += other.chi2;
        self.degrees += other.degrees;
        self.left_out += other.left_out;
    }
}

/// A number of so many digits, in any unit.
fn rounded(number: f64, digits: usize) -> String {
    let short = format!("{number:.*e}", digits.saturating_sub(1));
    let told = short.parse().map_or(short, |number: f64| format!("{number:?}"));
    told.strip_suffix(".0").map_or(told.clone(), str::to_owned)
}

impl fmt::Display for SharedReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { values, chi2, degrees, left_out } = self;
        for ToldValue { parameter, group, value, error, status } in values.iter().take(MOST_SHOWN) {
            let group = group.as_ref().map(|group| format!(" of {group}")).unwrap_or_default();
            let told = match (value, error) {
                (Some(value), Some(error)) => {
                    format!(" = {} ± {}", rounded(*value, 7), rounded(*error, 3))
                }
                (Some(value), None) => {
                    format!(" = {}, which the data do not determine", rounded(*value, 7))
                }
                (None, _) => ": no data set could be fitted".to_owned(),
            };
            writeln!(f, "shared {parameter}{group}{told} ({status})")?;
        }
        if values.len() > MOST_SHOWN {
            writeln!(f, "… and {} more shared values", values.len() - MOST_SHOWN)?;
        }
        write!(f, "all together: χ² {} with {degrees} degrees of freedom", rounded(*chi2, 7))?;
        match left_out {
            0 => Ok(()),
            1 => write!(f, "; 1 data set was left out"),
            _ => write!(f, "; {left_out} data sets were left out"),
        }
    }
}
