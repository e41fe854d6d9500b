//! Fitted curves as CSV or NPY.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::StepError;
use super::curve_part::quoted;
use super::outcomes::{OutcomeFormat, STATUS};
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
        let names: Vec<String> = parameters
            .iter()
            .cloned()
            .chain(parameters.iter().map(|name| format!("{name}_error")))
            .chain([cost.to_owned()])
            .collect();
        let mut head = Vec::new();
        match format {
            OutcomeFormat::Csv => {
                let more: String =
                    more.iter().map(|(name, _)| format!(",{}", quoted(name))).collect();
                let line = format!("fit,{},degrees,iterations,status{more}\n", names.join(","));
                head.extend_from_slice(line.as_bytes());
            }
            OutcomeFormat::Npy => {
                let numbers: String =
                    names.iter().map(|name| format!("('{name}', '<f8'), ")).collect();
                let kind = |is_word: bool| match is_word {
                    true => format!("<U{WORD_WIDTH}"),
                    false => "<f8".to_owned(),
                };
                let more =
                    more.iter().map(|(name, word)| format!(", ('{name}', '{}')", kind(*word)));
                let more: String = more.collect();
                let descr = format!(
                    "[('fit', '<u8'), {numbers}('degrees', '<u4'), ('iterations', '<u4'), ('status', '<U{STATUS}'){more}]"
                );
                write_header(&mut head, &descr, &[count])?;
            }
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
        let mut text = String::new();
        for row in 0..fits.len() {
            let parameters = fits.parameters.row(row);
            let errors = fits.errors.row(row);
            let numbers = parameters.iter().chain(&errors).chain([&fits.chi2[row]]);
            match self.format {
                OutcomeFormat::Csv => {
                    text.clear();
                    let mut write = |of: std::fmt::Arguments<'_>| {
                        let written = text.write_fmt(of);
                        debug_assert!(written.is_ok(), "writing to a string cannot fail");
                    };
                    match self.names.get(self.fit).filter(|name| !name.is_empty()) {
                        Some(name) => write(format_args!("{name}")),
                        None => write(format_args!("{}", self.fit)),
                    }
                    // Debug formatting is the shortest text that reads back as the same number.
                    numbers.for_each(|number| write(format_args!(",{number:?}")));
                    let (degrees, iterations) = (fits.degrees[row], fits.iterations[row]);
                    write(format_args!(",{degrees},{iterations},{}", fits.statuses[row]));
                    for column in more {
                        match &column.values {
                            AnswerValues::Numbers(all) if all[row].is_nan() => {
                                write(format_args!(","));
                            }
                            AnswerValues::Numbers(all) => write(format_args!(",{:?}", all[row])),
                            AnswerValues::Words(all) => write(format_args!(",{}", all[row])),
                        }
                    }
                    write(format_args!("\n"));
                    self.bytes.extend_from_slice(text.as_bytes());
                }
                OutcomeFormat::Npy => {
                    self.bytes.extend_from_slice(&(self.fit as u64).to_le_bytes());
                    numbers.for_each(|number| self.bytes.extend_from_slice(&number.to_le_bytes()));
                    self.bytes.extend_from_slice(&fits.degrees[row].to_le_bytes());
                    self.bytes.extend_from_slice(&fits.iterations[row].to_le_bytes());
                    put_word(&mut self.bytes, fits.statuses[row].name(), STATUS);
                    for column in more {
                        match &column.values {
                            AnswerValues::Numbers(all) => {
                                self.bytes.extend_from_slice(&all[row].to_le_bytes());
                            }
                            AnswerValues::Words(all) => {
                                put_word(&mut self.bytes, &all[row], WORD_WIDTH);
                            }
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

/// A word of an NPY file, of so many letters.
fn put_word(bytes: &mut Vec<u8>, word: &str, width: usize) {
    let letters = word.chars().chain(std::iter::repeat('\0')).take(width);
    bytes.extend(letters.flat_map(|letter| u32::from(letter).to_le_bytes()));
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
