//! Conditions on the columns of a table.

use crate::error::CliError;
use spotfit::steps::filter::condition;
use spotfit::table::{Filter, Table};

/// Reads a condition on the columns of a table.
pub(crate) fn parse(text: &str, layout: &Table) -> Result<Filter, CliError> {
    Ok(condition(text, layout)?)
}
