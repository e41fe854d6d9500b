//! Conditions on the columns of a table.

use crate::error::CliError;
use spotfit::table::{Filter, Table};

/// Reads a condition on the columns of a table.
pub(crate) fn parse(text: &str, layout: &Table) -> Result<Filter, CliError> {
    Filter::new(text, layout).map_err(|error| CliError::formula("the condition", text, &error))
}
