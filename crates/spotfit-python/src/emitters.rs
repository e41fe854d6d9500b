//! Several emitters a window.

use std::path::PathBuf;

use fit_core::Status;
use numpy::ndarray::Array2;
use numpy::{PyArray2, PyReadonlyArray2, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use spotfit::output::Output;
use spotfit::steps::fit::FitReport;
use spotfit::steps::fit_emitters::{EmitterCounts, EmitterTable, backend};
use spotfit::{AnyWindows, EmitterFit, EmitterFitter, StatusCounts};

use crate::error;
use crate::fitter::Fitter;
use crate::numbers::numbers;
use crate::options;
use crate::outcomes::{format_of, of_io, of_output};
use crate::pixels::{Place, View};
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

/// An emitter of these numbers.
fn of_numbers(told: &[f64; NUMBERS]) -> PyResult<EmitterFit> {
    let mut fit = EmitterFit::none(told[0] as usize);
    fit.emitter = told[1] as u32;
    [fit.x, fit.y, fit.sigma, fit.sigma_x, fit.sigma_y] =
        [told[2], told[3], told[4], told[5], told[6]];
    [fit.photons, fit.amplitude, fit.background] = [told[7], told[8], told[9]];
    [fit.goodness, fit.neighbour] = [told[10], told[11]];
    fit.crowd = told[12] != 0.0;
    let wrong = || PyValueError::new_err(format!("status = {} is none of a fit", told[13]));
    fit.status = Status::from_code(told[13] as u8).ok_or_else(wrong)?;
    [fit.errors.x, fit.errors.y, fit.errors.sigma] = [told[14], told[15], told[16]];
    [fit.errors.photons, fit.errors.amplitude, fit.errors.background] =
        [told[17], told[18], told[19]];
    Ok(fit)
}

/// Windows that are fitted part by part.
pub(crate) struct Parts<'a> {
    pub(crate) view: View<'a>,
    pub(crate) place: Place<'a>,
    pub(crate) count: usize,
    /// Where the windows of a stack lie in the map.
    pub(crate) corners: Option<&'a [fit_core::Corner]>,
    pub(crate) map: Option<&'a spotfit::CameraMap>,
}

impl<'a> Parts<'a> {
    fn windows(&self, start: usize, end: usize) -> AnyWindows<'a> {
        let mut windows = self.view.windows(self.place, start, end);
        if let Some(corners) = self.corners {
            windows = windows.with_corners(corners.get(start..end).unwrap_or(corners));
        }
        match self.map {
            Some(map) => windows.with_map(map),
            None => windows,
        }
    }

    /// The emitters as numbers, and what computed.
    pub(crate) fn fit<'py>(
        &self,
        py: Python<'py>,
        fitter: &Fitter,
        emitters: &str,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, String)> {
        let emitters = emitters.parse().map_err(error::of_option)?;
        let made = EmitterFitter::new(fitter.options(), emitters);
        let mut fitter = made.map_err(error::of_fit)?;
        let found = py.detach(|| {
            fitter.find_sigma(self.windows(0, self.count)).map_err(error::of_fit)?;
            let mut all = Vec::new();
            for start in (0..self.count).step_by(BLOCK) {
                Python::attach(check_signals)?;
                let end = self.count.min(start + BLOCK);
                let part = fitter.fit(self.windows(start, end)).map_err(error::of_fit)?;
                for mut fit in part {
                    fit.spot += start;
                    all.push(told(&fit));
                }
            }
            PyResult::Ok(all)
        })?;
        let rows = found.len();
        let flat = Array2::from_shape_vec((rows, NUMBERS), found.into_flattened());
        let table = flat.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok((table.to_pyarray(py), backend(&fitter)))
    }
}

fn fits(given: &Bound<'_, PyAny>) -> PyResult<Vec<EmitterFit>> {
    let given: PyReadonlyArray2<'_, f64> = numbers("fits", given, "(n, numbers)")?;
    let (rows, rest) = given.as_slice()?.as_chunks();
    if given.as_array().dim().1 != NUMBERS || !rest.is_empty() {
        return Err(PyValueError::new_err(format!("fits must be (n, {NUMBERS})")));
    }
    rows.iter().map(of_numbers).collect()
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
