//! Calibrations that verbs read.

use std::path::Path;

use crate::error::CliError;
use spotfit::astigmatism::file::{CalibrationFileError, load_with_pixel_size};
use spotfit::astigmatism::find::Finder;

/// Reads a calibration of widths.
pub(crate) fn finder(path: &Path, pixel_size: Option<f64>) -> Result<Finder, CliError> {
    let name = path.display().to_string();
    load_with_pixel_size(path, pixel_size).map_err(|error| {
        let advice = match error {
            CalibrationFileError::PixelSize => "; give --pixel-size",
            _ => "",
        };
        CliError::file(&name, format!("{error}{advice}"))
    })
}
