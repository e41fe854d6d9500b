//! Quantities that follow from the parameters of a fit.

use fit_formula::{Axes, Evaluator, Formula, FormulaError};

use crate::model::{CurveFits, Model};

/// Why a quantity cannot be derived.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DerivedError {
    /// It is not NAME=FORMULA.
    #[error("'{0}' is not NAME=FORMULA")]
    NoName(String),
    /// Its name cannot be that of a column.
    #[error("'{0}' is no name: letters, digits and _ are, the first no digit")]
    Name(String),
    /// The formula cannot be read.
    #[error("'{text}': {error}")]
    Formula {
        /// The formula.
        text: String,
        /// What is wrong.
        error: FormulaError,
    },
    /// The formula has a name that is no parameter.
    #[error("'{name}' is no parameter of the model (it has {})", known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// The parameters that there are.
        known: Vec<String>,
    },
    /// No parameter changes it.
    #[error("'{0}' depends on no parameter")]
    Constant(String),
}

/// A quantity that is a function of the parameters, such as `half_life = t*ln(2)`.
#[derive(Clone, Debug)]
pub struct DerivedQuantity {
    name: String,
    formula: Formula,
    /// The numbers of the parameters that it depends on, in the order of the formula.
    of: Vec<usize>,
}

impl DerivedQuantity {
    /// From `NAME=FORMULA`, for a model.
    ///
    /// # Errors
    /// If the formula cannot be read, or has names that are no parameters.
    pub fn read(text: &str, model: &Model) -> Result<Self, DerivedError> {
        let (name, formula) =
            text.split_once('=').ok_or_else(|| DerivedError::NoName(text.to_owned()))?;
        let (name, formula) = (name.trim(), formula.trim());
        let is_letter = |letter: char| letter.is_alphabetic() || letter == '_';
        let is_name = name.starts_with(is_letter)
            && name.chars().all(|letter| is_letter(letter) || letter.is_numeric());
        if !is_name {
            return Err(DerivedError::Name(name.to_owned()));
        }
        let read = Formula::of_variables(formula, &[]);
        let formula =
            read.map_err(|error| DerivedError::Formula { text: formula.to_owned(), error })?;
        let number = |used: &String| {
            let found = model.parameters().iter().position(|parameter| parameter == used);
            found.ok_or_else(|| DerivedError::Unknown {
                name: used.clone(),
                known: model.parameters().to_vec(),
            })
        };
        let of: Vec<usize> = formula.parameters().iter().map(number).collect::<Result<_, _>>()?;
        if of.is_empty() {
            return Err(DerivedError::Constant(formula.text().to_owned()));
        }
        Ok(Self { name: name.to_owned(), formula, of })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its formula.
    pub fn text(&self) -> &str {
        self.formula.text()
    }

    /// Its value for each fit, and the standard error that follows from the covariance of the fits (the delta method): √(gᵀCg) with
    /// the exact derivatives g. The error is infinite where the data do not determine a parameter that it depends on, and NaN if fits
    /// have no covariance.
    pub fn of(&self, fits: &CurveFits) -> [Vec<f64>; 2] {
        let program = self.formula.program(Axes::Together, &vec![true; self.of.len()]);
        let mut evaluator = Evaluator::new(&program);
        let (mut values, mut errors) = (Vec::new(), Vec::new());
        let mut slopes = vec![0.0; self.of.len()];
        for fit in 0..fits.len() {
            let own: Vec<f64> = self.of.iter().map(|&j| fits.parameters[[fit, j]]).collect();
            evaluator.set_parameters(&own);
            values.push(evaluator.value(&[]));
            evaluator.derivatives(&mut slopes);
            let covariance = |j: usize, k: usize| match fits.covariance.is_empty() {
                true => f64::NAN,
                false => fits.covariance[[fit, self.of[j], self.of[k]]],
            };
            errors.push(delta(&slopes, covariance));
        }
        [values, errors]
    }
}

/// √(gᵀCg); infinite where an infinite variance matters.
pub(super) fn delta(slopes: &[f64], covariance: impl Fn(usize, usize) -> f64) -> f64 {
    let matters = |j: usize| slopes[j] != 0.0;
    let used: Vec<usize> = (0..slopes.len()).filter(|&j| matters(j)).collect();
    if used.iter().any(|&j| covariance(j, j) == f64::INFINITY) {
        return f64::INFINITY;
    }
    let mut sum = 0.0;
    for &j in &used {
        for &k in &used {
            sum += slopes[j] * slopes[k] * covariance(j, k);
        }
    }
    // Rounding may leave less than nothing of parameters that are nearly alike.
    if sum.is_nan() { sum } else { sum.max(0.0).sqrt() }
}
