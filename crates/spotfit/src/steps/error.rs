//! What can be wrong with an operation.

use crate::OutOfRange;
use crate::model::FormulaError;
use crate::table::TableError;

/// An operation has no result.
///
/// Where an option is named that would help, its name stands in backticks, as in `` `radius` ``.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// A table cannot be read, or is not one that the operation can use.
    #[error("{name}: {source}")]
    Table {
        /// The table's name.
        name: String,
        /// What is wrong.
        source: TableError,
    },
    /// Something is wrong with an input, or it lacks something.
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
    /// A condition means nothing.
    #[error("the condition: {}", .error.shown_in(.text))]
    Condition {
        /// The condition.
        text: String,
        /// What is wrong.
        error: FormulaError,
    },
    /// The result cannot be written.
    #[error("cannot write the table: {0}")]
    Write(#[source] TableError),
    /// The listener has ended the operation.
    #[error("the operation was interrupted")]
    Cancelled,
}

impl StepError {
    /// An input of this name is not as it must be.
    pub(crate) fn input(name: &str, reason: impl Into<String>) -> Self {
        Self::Input { name: name.to_owned(), reason: reason.into() }
    }
}
