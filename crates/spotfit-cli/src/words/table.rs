//! The names of tables of outcomes.

use std::path::Path;

use crate::error::CliError;
use crate::words::paths::{is_stream, refuse_folder};
use spotfit::steps::OutcomeFormat;

/// The format of a table, by the ending of its name; CSV on standard output.
pub(crate) fn format_of(path: &Path) -> Result<OutcomeFormat, CliError> {
    refuse_folder(path)?;
    match OutcomeFormat::of(path) {
        _ if path == Path::new("-") => Ok(OutcomeFormat::Csv),
        Some(format) => Ok(format),
        None if is_stream(path) => Ok(OutcomeFormat::Csv),
        None => {
            let reason = "the output's name must end in .csv or .npy";
            Err(CliError::file(&path.display().to_string(), reason))
        }
    }
}
