//! Errors of operations.

use crate::detect::DetectError;
use crate::localize::LocalizeError;
use crate::model::FormulaError;
use crate::movie::MovieError;
use crate::output::OutputError;
use crate::table::TableError;
use crate::{ArgumentError, BatchError, FitError, OutOfRange};

/// Why an operation failed.
///
/// Messages put the names of options in backticks, as in `` `radius` ``.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// A table cannot be read, or the operation cannot use it.
    #[error("{name}: {source}")]
    Table {
        /// The table's name.
        name: String,
        /// What is wrong.
        source: TableError,
    },
    /// An input is wrong or incomplete.
    #[error("{name}: {reason}")]
    Input {
        /// The name of the table or file.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A file that an option names cannot be read.
    #[error("{name}: {source}")]
    Read {
        /// The name of the file.
        name: String,
        /// Why not.
        source: std::io::Error,
    },
    /// A movie cannot be read.
    #[error("cannot read {name}: {source}")]
    Movie {
        /// The movie's name.
        name: String,
        /// What is wrong.
        source: MovieError,
    },
    /// The value of an option is out of its range.
    #[error(transparent)]
    Option(#[from] OutOfRange),
    /// There is no memory for the result.
    #[error("{name}: {reason}")]
    Memory {
        /// The name of the table.
        name: String,
        /// How much would be needed.
        reason: String,
    },
    /// Options do not go together.
    #[error("{0}")]
    Options(String),
    /// A condition is invalid.
    #[error("the condition: {}", .error.shown_in(.text))]
    Condition {
        /// The condition.
        text: String,
        /// What is wrong.
        error: FormulaError,
    },
    /// There is no result, which is no fault of one input or option.
    #[error("{0}")]
    Refused(String),
    /// The result cannot be written.
    #[error("cannot write the table: {0}")]
    Write(#[source] TableError),
    /// A file does not become final.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The listener has ended the operation.
    #[error("the operation was interrupted")]
    Cancelled,
}

impl StepError {
    /// An input of this name is not as it must be.
    pub(crate) fn input(name: &str, reason: impl Into<String>) -> Self {
        Self::Input { name: name.to_owned(), reason: reason.into() }
    }

    /// There is no result, for this reason.
    pub(crate) fn refused(reason: impl ToString) -> Self {
        Self::Refused(reason.to_string())
    }

    /// Localizing failed, a movie of this name if there is one yet.
    pub(crate) fn localize(name: Option<&str>) -> impl FnOnce(LocalizeError) -> Self {
        move |error| match (option(&error), error, name) {
            (Some(option), ..) => Self::Option(option),
            (None, LocalizeError::Movie(source), name) => {
                Self::Movie { name: name.unwrap_or("the movie").to_owned(), source }
            }
            (None, error, Some(name)) => Self::input(name, error.to_string()),
            (None, error, None) => Self::refused(error),
        }
    }
}

/// The option that is out of its range, if that is what is wrong.
fn option(error: &LocalizeError) -> Option<OutOfRange> {
    match error {
        LocalizeError::Option(error) | LocalizeError::Detect(DetectError::Option(error)) => {
            Some(error.clone())
        }
        LocalizeError::Fit(FitError::Batch(BatchError::Argument(ArgumentError::Option {
            name,
            value,
            range,
        }))) => Some(OutOfRange { name, value: number(*value), range: (*range).to_owned() }),
        _ => None,
    }
}

/// A number as it may have been written.
fn number(value: f64) -> String {
    let text = value.to_string();
    if text.len() > 20 { format!("{value:e}") } else { text }
}
