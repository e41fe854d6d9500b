//! Several emitters a window.

use std::path::PathBuf;

use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use spotfit::output::Output;
use spotfit::steps::fit::FitReport;
use spotfit::steps::fit_emitters::{EmitterCounts, EmitterTable, backend};
use spotfit::{EmitterFit, EmitterFitter, FitterOptions, StatusCounts};

use crate::error::{self, of_io};
use crate::numbers::{fill, numbers};
use crate::options;
use crate::outcomes::{format_of, of_output, statuses};
use crate::pixels::Stack;
use crate::steps::json;
use crate::work::check_signals;

/// Windows that are fitted at a time, so that Ctrl-C does not wait long.
const BLOCK: usize = 1 << 12;
/// Numbers of an emitter on their way.
const NUMBERS: usize = 20;

/// The numbers of an emitter, in the order that Python has.
fn told(fit: &EmitterFit) -> [f64; NUMBERS] {
    let errors = &fit.errors;
    [
        fit.spot as f64,
        fit.emitter.into(),
        fit.x,
        fit.y,
        fit.sigma,
        fit.sigma_x,
        fit.sigma_y,
        fit.photons,
        fit.amplitude,
        fit.background,
        fit.goodness,
        fit.neighbour,
        f64::from(u8::from(fit.crowd)),
        f64::from(fit.status as u8),
        errors.x,
        errors.y,
        errors.sigma,
        errors.photons,
        errors.amplitude,
        errors.background,
    ]
}

/// The emitters of windows, which are fitted part by part, as numbers, and what computed.
pub(crate) fn fit<'py>(
    py: Python<'py>,
    stack: Stack<'_>,
    options: &FitterOptions,
    emitters: &str,
) -> PyResult<(Bound<'py, PyArray2<f64>>, String)> {
    let emitters = emitters.parse().map_err(error::of_option)?;
    let mut fitter = EmitterFitter::new(options, emitters).map_err(error::of_fit)?;
    let found = py.detach(|| {
        fitter.find_sigma(stack.windows(0, stack.count)).map_err(error::of_fit)?;
        let mut all = Vec::new();
        for start in (0..stack.count).step_by(BLOCK) {
            Python::attach(check_signals)?;
            let end = stack.count.min(start + BLOCK);
            let part = fitter.fit(stack.windows(start, end)).map_err(error::of_fit)?;
            for mut fit in part {
                fit.spot += start;
                all.push(told(&fit));
            }
        }
        PyResult::Ok(all)
    })?;
    let table = Array2::from(found);
    Ok((table.into_pyarray(py), backend(&fitter)))
}

/// The emitters of the rows that Python has.
fn fits(rows: &Bound<'_, PyAny>) -> PyResult<Vec<EmitterFit>> {
    let statuses = statuses(&rows.get_item("status")?)?;
    let spots: PyReadonlyArray1<'_, u64> = numbers("spot", &rows.get_item("spot")?, "(n)")?;
    let made = |(&spot, status)| {
        let mut fit = EmitterFit::none(spot as usize);
        fit.status = status;
        fit
    };
    let mut fits: Vec<_> = spots.as_slice()?.iter().zip(statuses).map(made).collect();
    fill!(rows => fits, u32; emitter);
    fill!(rows => fits, f64; x, y, sigma, sigma_x, sigma_y, photons, amplitude, background);
    fill!(rows => fits, f64; goodness, neighbour);
    fill!(rows => fits, bool; crowd);
    fill!(rows => fits, errors; x, y, sigma, photons, amplitude, background);
    Ok(fits)
}

/// Writes the table of `spotfit fit --emitters`.
#[pyfunction]
#[pyo3(signature = (path, given, errors, *, shape, sigma))]
pub(crate) fn save_emitters(
    py: Python<'_>,
    path: PathBuf,
    given: &Bound<'_, PyAny>,
    errors: bool,
    shape: &str,
    sigma: Option<Vec<f64>>,
) -> PyResult<()> {
    let format = format_of(&path)?;
    let fits = fits(given)?;
    let shape = options::shape(shape, sigma.as_deref())?;
    let options = spotfit::Options::default().with_shape(shape);
    py.detach(|| {
        let output = Output::create(&path).map_err(of_output(&path))?;
        let table = EmitterTable::create(output, format, &options, errors);
        let mut table = table.map_err(of_io(&path))?;
        table.write(&fits).map_err(of_io(&path))?;
        table.finish().map_err(of_io(&path))?.finish().map_err(of_output(&path))
    })
}

/// The report of `spotfit fit --emitters` as JSON, of so many windows.
#[pyfunction]
pub(crate) fn report_emitters(
    given: &Bound<'_, PyAny>,
    spots: usize,
    backend: String,
) -> PyResult<String> {
    let fits = fits(given)?;
    let mut counts = EmitterCounts::default();
    counts.add(&fits);
    let mut statuses = StatusCounts::default();
    fits.iter().for_each(|fit| statuses.count(fit.status));
    json(&FitReport::of_emitters(spots, counts, statuses, backend))
}
