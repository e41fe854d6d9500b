//! The files of defective pixels.

use std::path::Path;

use spotfit::localize::Defects;

use crate::error::CliError;
use crate::words::output::Output;

/// Writes the mask of defective pixels to its file, which is to be completed with others.
pub(crate) fn write_defects(path: &Path, defects: &Defects) -> Result<Output, CliError> {
    let mut output = Output::create(path)?;
    let mut bytes = Vec::new();
    defects.write(&mut bytes).map_err(CliError::write(output.name()))?;
    output.write_all(&bytes)?;
    Ok(output)
}
