//! Plots: SVG or PNG, as the name ends.

use std::path::Path;

use crate::error::CliError;
use crate::words::output::Output;
use crate::words::paths::refuse_ending;
use spotfit::report::figure::{Drawing, FigureFormat};

/// Refuses a name that is none of a plot, before any work is done for it.
pub(crate) fn refuse_plot(path: &Path) -> Result<(), CliError> {
    refuse_ending(path, FigureFormat::ENDINGS, "a plot")
}

/// Writes a plot, which appears when its output is finished. Standard output has SVG.
pub(crate) fn draw_plot(path: &Path, drawing: &Drawing) -> Result<Output, CliError> {
    let mut output = Output::create(path)?;
    write_drawing(&mut output, path, drawing)?;
    Ok(output)
}

/// Writes a plot to an output of this name.
pub(crate) fn write_drawing(
    output: &mut Output,
    path: &Path,
    drawing: &Drawing,
) -> Result<(), CliError> {
    let format = FigureFormat::of(path).unwrap_or(FigureFormat::Svg);
    let file = drawing.file(format);
    let file =
        file.map_err(|error| CliError::file(&path.display().to_string(), error.to_string()))?;
    output.write_all(&file)
}
