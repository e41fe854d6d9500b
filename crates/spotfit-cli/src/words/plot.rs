//! Plots: SVG or PNG, as the name ends.

use std::path::Path;

use crate::error::CliError;
use crate::words::output::Output;
use crate::words::paths::refuse_ending;
use spotfit::report::figure::{Drawing, FigureFormat};

/// Refuses a name that is none of a plot, before any work is done for it.
pub(crate) fn refuse_plot(path: Option<&Path>) -> Result<(), CliError> {
    path.map_or(Ok(()), |path| refuse_ending(path, FigureFormat::ENDINGS, "a plot"))
}

/// Writes a plot, if there is to be one; it appears when its output is finished. Standard output has SVG.
pub(crate) fn draw_plot(
    path: Option<&Path>,
    draw: impl FnOnce() -> Drawing,
) -> Result<Option<Output>, CliError> {
    let Some(path) = path else { return Ok(None) };
    let mut output = Output::create(path)?;
    write_drawing(&mut output, path, &draw(), FigureFormat::Svg)?;
    Ok(Some(output))
}

/// Writes a drawing to an output of this name, which on standard output has a format of its own.
pub(crate) fn write_drawing(
    output: &mut Output,
    path: &Path,
    drawing: &Drawing,
    streamed: FigureFormat,
) -> Result<(), CliError> {
    let file = drawing.file(FigureFormat::of(path).unwrap_or(streamed));
    let file =
        file.map_err(|error| CliError::file(&path.display().to_string(), error.to_string()))?;
    output.write_all(&file)
}
