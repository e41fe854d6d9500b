//! Fitted curves as CSV or NPY.

use std::io::{self, Write};

use super::StepError;
use super::curve_part::quoted;
use super::outcomes::{OutcomeFormat, STATUS, npy_fields, put_word};
use crate::Estimator;
use crate::model::CurveFits;
use crate::model::answers::{AnswerColumn, AnswerValues, FitAnswers, WORD_WIDTH};
use crate::npy::write_header;

/// Writes fits of a model in their order, as CSV or NPY.
#[derive(Debug)]
pub struct CurveTable<W> {
    output: W,
    format: OutcomeFormat,
    fit: usize,
    /// The names of the data sets, where they have some.
    names: Vec<String>,
    bytes: Vec<u8>,
}

impl<W: Write> CurveTable<W> {
    /// Begins a table of `count` rows for a model with these parameters, with more columns after the others, of which some have words
    /// ([`FitAnswers::names`]).
    ///
    /// # Errors
    /// Those of writing.
    pub fn create(
        mut output: W,
        format: OutcomeFormat,
        count: usize,
        parameters: &[String],
        estimator: Estimator,
        more: &[(String, bool)],
    ) -> io::Result<Self> {
        let cost = if estimator == Estimator::MaximumLikelihood { "deviance" } else { "chi2" };
        let errors = parameters.iter().map(|name| format!("{name}_error"));
        let numbers = parameters.iter().cloned().chain(errors).chain([cost.to_owned()]);
        let own = [("degrees", "<u4".to_owned()), ("iterations", "<u4".to_owned())];
        let own = own.into_iter().chain([("status", format!("<U{STATUS}"))]);
        let word = |is_word: bool| match is_word {
            true => format!("<U{WORD_WIDTH}"),
            false => "<f8".to_owned(),
        };
        let columns = [("fit".to_owned(), "<u8".to_owned())].into_iter();
        let columns = columns.chain(numbers.map(|name| (name, "<f8".to_owned())));
        let columns = columns.chain(own.map(|(name, kind)| (name.to_owned(), kind)));
        let columns = columns.chain(more.iter().map(|(name, is)| (name.clone(), word(*is))));
        let mut head = Vec::new();
        match format {
            OutcomeFormat::Csv => {
                let names: Vec<String> = columns.map(|(name, _)| quoted(&name)).collect();
                writeln!(head, "{}", names.join(","))?;
            }
            OutcomeFormat::Npy => write_header(&mut head, &npy_fields(columns), &[count])?,
        }
        output.write_all(&head)?;
        Ok(Self { output, format, fit: 0, names: Vec::new(), bytes: Vec::new() })
    }

    /// The same with the names of the data sets in place of their numbers, in CSV; one that is empty stays a number.
    #[must_use]
    pub fn with_names(self, names: &[String]) -> Self {
        Self { names: names.iter().map(|name| quoted(name)).collect(), ..self }
    }

    /// Appends the next fits, with the columns that the table was created with. A number that is not known is an empty cell, or NaN in NPY.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write(&mut self, fits: &CurveFits, more: &[AnswerColumn]) -> io::Result<()> {
        self.bytes.clear();
        for row in 0..fits.len() {
            let parameters = fits.parameters.row(row);
            let errors = fits.errors.row(row);
            let numbers = parameters.iter().chain(&errors).chain([&fits.chi2[row]]);
            let (degrees, iterations) = (fits.degrees[row], fits.iterations[row]);
            let (bytes, status) = (&mut self.bytes, fits.statuses[row].name());
            match self.format {
                OutcomeFormat::Csv => {
                    match self.names.get(self.fit).filter(|name| !name.is_empty()) {
                        Some(name) => write!(bytes, "{name}")?,
                        None => write!(bytes, "{}", self.fit)?,
                    }
                    // Debug formatting is the shortest text that reads back as the same number.
                    for number in numbers {
                        write!(bytes, ",{number:?}")?;
                    }
                    write!(bytes, ",{degrees},{iterations},{status}")?;
                    for column in more {
                        match &column.values {
                            AnswerValues::Numbers(all) if all[row].is_nan() => bytes.push(b','),
                            AnswerValues::Numbers(all) => write!(bytes, ",{:?}", all[row])?,
                            AnswerValues::Words(all) => write!(bytes, ",{}", all[row])?,
                        }
                    }
                    bytes.push(b'\n');
                }
                OutcomeFormat::Npy => {
                    bytes.extend_from_slice(&(self.fit as u64).to_le_bytes());
                    numbers.for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
                    bytes.extend_from_slice(&degrees.to_le_bytes());
                    bytes.extend_from_slice(&iterations.to_le_bytes());
                    put_word(bytes, status, STATUS);
                    for column in more {
                        match &column.values {
                            AnswerValues::Numbers(all) => {
                                bytes.extend_from_slice(&all[row].to_le_bytes());
                            }
                            AnswerValues::Words(all) => put_word(bytes, &all[row], WORD_WIDTH),
                        }
                    }
                }
            }
            self.fit += 1;
        }
        self.output.write_all(&self.bytes)
    }

    /// What was written to.
    pub fn into_inner(self) -> W {
        self.output
    }
}

/// Refuses answers whose columns have the name of another one.
///
/// # Errors
/// [`StepError::Refused`].
pub fn check_answers(
    parameters: &[String],
    fixed: &[bool],
    answers: &FitAnswers,
) -> Result<(), StepError> {
    let errors = parameters.iter().map(|name| format!("{name}_error"));
    let mut taken: Vec<String> = parameters.iter().cloned().chain(errors).collect();
    taken.extend(OWN.map(str::to_owned));
    for (name, _) in answers.names(parameters, fixed) {
        if taken.contains(&name) {
            return Err(StepError::Refused(format!(
                "the table has two columns '{name}'; choose another name"
            )));
        }
        taken.push(name);
    }
    Ok(())
}

/// The columns that are no parameters.
const OWN: [&str; 6] = ["fit", "chi2", "deviance", "degrees", "iterations", "status"];

/// Refuses parameters whose names cannot be those of columns beside the others.
///
/// # Errors
/// [`StepError::Refused`].
pub fn check_columns(parameters: &[String]) -> Result<(), StepError> {
    for name in parameters {
        let taken = OWN.contains(&name.as_str())
            || parameters.iter().any(|other| *name == format!("{other}_error"));
        if taken || name.contains(['\'', ',', '"']) {
            let reason =
                "the table has another column of that name, or cannot have it; choose another name";
            return Err(StepError::Refused(format!("`model`: parameter '{name}': {reason}")));
        }
    }
    Ok(())
}
