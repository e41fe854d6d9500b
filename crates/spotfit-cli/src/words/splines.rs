//! Splines for formulas: `--spline NAME=SAMPLES.npy`.

use std::path::Path;

use spotfit::model::{Model, Spline};

use crate::error::CliError;
use crate::words::data;

/// Splines, with the names by which formulas call them.
pub(crate) struct Splines(Vec<(String, Spline)>);

impl Splines {
    /// Reads the samples of each.
    pub(crate) fn read(given: &[String]) -> Result<Self, CliError> {
        given.iter().map(|text| one(text)).collect::<Result<_, _>>().map(Self)
    }

    /// The names, and what they stand for.
    pub(crate) fn named(&self) -> Vec<(&str, &Spline)> {
        self.0.iter().map(|(name, spline)| (name.as_str(), spline)).collect()
    }
}

/// The file of a spline, and its axes of channels.
fn parts(file: &str) -> (&str, Vec<usize>) {
    let axes = |text: &str| text.split(',').map(str::parse).collect::<Result<Vec<usize>, _>>();
    match file.rsplit_once(':').map(|(file, text)| (file, axes(text))) {
        Some((file, Ok(channels))) => (file, channels),
        _ => (file, Vec::new()),
    }
}

/// The files that splines are read from.
pub(crate) fn files(given: &[String]) -> impl Iterator<Item = &Path> {
    given.iter().filter_map(|text| Some(Path::new(parts(text.split_once('=')?.1).0)))
}

fn one(text: &str) -> Result<(String, Spline), CliError> {
    let wrong = |reason: String| CliError::Other(format!("--spline '{text}': {reason}"));
    let Some((name, file)) = text.split_once('=') else {
        return Err(wrong("NAME=SAMPLES.npy is needed".to_owned()));
    };
    let (file, channels) = parts(file);
    let samples = data::read_all(Path::new(file))?;
    let count = samples.shape.len();
    if let Some(axis) = channels.iter().find(|&&axis| axis >= count) {
        return Err(wrong(format!(
            "there is no axis {axis}; they are counted from 0 to {}",
            count - 1
        )));
    }
    let axes = Model::spline_axes(&samples.shape, &channels);
    let spline = Spline::through(&axes, &samples.into_values());
    Ok((name.trim().to_owned(), spline.map_err(|error| wrong(error.to_string()))?))
}
