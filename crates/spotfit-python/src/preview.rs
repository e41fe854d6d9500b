//! Looking at a frame before a movie is localized, and presets.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use spotfit::movie::MovieOptions;
use spotfit::steps::preset::PresetValue;
use spotfit::steps::preview::{self, PreviewOptions, Previewer};
use spotfit::steps::{Stack, StepError, preset};
use spotfit::table::TableFormat;

use crate::localize::{LocalizeOptions, stored};
use crate::pixels::Pixels;
use crate::steps::{json, of_step};
use crate::tables::{Info, Made, columns};

/// What localizing would make of a frame.
#[pyclass(frozen, module = "spotfit._spotfit")]
pub(crate) struct Preview(preview::Preview);

/// Looks at a frame, counted from 0.
fn looked(
    py: Python<'_>,
    options: &LocalizeOptions,
    (frame, colour_by, filter): (usize, String, Option<String>),
    movie: impl FnOnce() -> Result<Stack, StepError> + Send,
) -> PyResult<Preview> {
    let options = PreviewOptions::default()
        .with_localize(options.whole().with_filter(filter))
        .with_colour_by(Some(colour_by))
        .with_format(TableFormat::Picasso)
        // Whoever made the options has told.
        .with_doubts(false);
    let found = py.detach(|| Previewer::new(movie()?)?.preview(&options, frame.saturating_add(1)));
    py.check_signals()?;
    found.map(Preview).map_err(of_step)
}

#[pymethods]
impl Preview {
    /// Of a file.
    #[staticmethod]
    #[pyo3(signature = (options, path, channel, slice, strict, parts, frame, colour_by, filter, position=None))]
    #[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
    fn of_movie(
        py: Python<'_>,
        options: &Bound<'_, LocalizeOptions>,
        path: PathBuf,
        channel: Option<usize>,
        slice: Option<usize>,
        strict: bool,
        parts: Vec<PathBuf>,
        frame: usize,
        colour_by: String,
        filter: Option<String>,
        position: Option<String>,
    ) -> PyResult<Self> {
        let chosen = MovieOptions::default()
            .with_channel(channel)
            .with_slice(slice)
            .with_strict(strict)
            .with_position(position)
            .with_parts(parts);
        let what = (frame, colour_by, filter);
        looked(py, options.get(), what, || Stack::open(&path, &chosen))
    }

    /// Of frames that Python has.
    #[staticmethod]
    #[pyo3(signature = (options, frames, frame, colour_by, filter))]
    fn of_frames(
        py: Python<'_>,
        options: &Bound<'_, LocalizeOptions>,
        frames: &Bound<'_, PyAny>,
        frame: usize,
        colour_by: String,
        filter: Option<String>,
    ) -> PyResult<Self> {
        let frames = Pixels::of("movie", frames)?;
        let pixels = stored(frames.view());
        let what = (frame, colour_by, filter);
        looked(py, options.get(), what, move || Ok(Stack::of("movie", pixels)))
    }

    /// What is kept.
    fn kept<'py>(&self, py: Python<'py>) -> Vec<Made<'py>> {
        columns(py, self.0.kept.clone())
    }

    /// What is dropped.
    fn dropped<'py>(&self, py: Python<'py>) -> Vec<Made<'py>> {
        columns(py, self.0.dropped.clone())
    }

    /// What is known of the movie.
    fn info(&self) -> Info {
        Info(self.0.kept.info.clone())
    }

    /// Everything as JSON.
    fn told(&self) -> PyResult<String> {
        json(&self.0)
    }

    /// In words.
    fn words(&self) -> String {
        self.0.in_words()
    }

    /// The picture.
    fn svg(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.svg())
    }

    /// The picture.
    fn png<'py>(&self, py: Python<'py>, scale: f64) -> PyResult<Bound<'py, PyBytes>> {
        let made = py.detach(|| self.0.png(scale));
        let made = made.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(PyBytes::new(py, &made))
    }
}

/// The options of a preset, by the names that are known: true or false, text, or a list of it; numbers are text, and marked as such.
#[pyfunction]
pub(crate) fn read_preset(
    py: Python<'_>,
    path: PathBuf,
    known: Vec<String>,
) -> PyResult<Vec<(String, Py<PyAny>, bool)>> {
    let read = py.detach(|| {
        let read = preset::Preset::read(&path)?;
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        read.check(&known)?;
        Ok(read)
    });
    let read = read.map_err(of_step)?;
    let value = |value: &PresetValue| -> PyResult<(Py<PyAny>, bool)> {
        Ok(match value {
            PresetValue::Flag(on) => (on.into_pyobject(py)?.to_owned().into_any().unbind(), false),
            PresetValue::List(parts) => (parts.into_pyobject(py)?.into_any().unbind(), false),
            PresetValue::Number(text) => (text.into_pyobject(py)?.into_any().unbind(), true),
            other => (other.typed().into_pyobject(py)?.into_any().unbind(), false),
        })
    };
    let all = read.values().iter().map(|(key, given)| {
        let (given, is_number) = value(given)?;
        Ok((key.clone(), given, is_number))
    });
    all.collect()
}
