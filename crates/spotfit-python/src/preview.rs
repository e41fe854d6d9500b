//! Looking at a frame before a movie is localized, and presets.

use std::path::PathBuf;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use spotfit::steps::preset::PresetValue;
use spotfit::steps::preview::{self, PreviewOptions, Previewer};
use spotfit::steps::{Stack, StepError, preset};
use spotfit::table::TableFormat;

use crate::calibrate::{Chosen, movie_options};
use crate::error;
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
    fn of_movie(
        py: Python<'_>,
        options: &Bound<'_, LocalizeOptions>,
        path: PathBuf,
        chosen: Chosen,
        frame: usize,
        colour_by: String,
        filter: Option<String>,
    ) -> PyResult<Self> {
        let chosen = movie_options(chosen);
        let what = (frame, colour_by, filter);
        looked(py, options.get(), what, || Stack::open(&path, &chosen))
    }

    /// Of frames that Python has.
    #[staticmethod]
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
        let made = made.map_err(error::wrong)?;
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
    let all = read.values().iter().map(|(key, value)| {
        let given = match value {
            PresetValue::Flag(on) => on.into_py_any(py),
            PresetValue::List(parts) => parts.into_py_any(py),
            PresetValue::Number(text) => text.into_py_any(py),
            other => other.typed().into_py_any(py),
        };
        Ok((key.clone(), given?, matches!(value, PresetValue::Number(_))))
    });
    all.collect()
}
