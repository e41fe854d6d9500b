//! Outcomes of fits as tables and reports: those of the command.

use std::path::{Path, PathBuf};

use fit_core::{Fit, Options, Size, Status};
use numpy::PyReadonlyArray1;
use numpy::ndarray::Array2;
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use spotfit::model::CurveFits;
use spotfit::output::{Output, OutputError};
use spotfit::steps::OutcomeFormat;
use spotfit::steps::curve::{CurveReport, CurveTable, check_columns};
use spotfit::steps::fit::{FitReport, FitTable, SetLimits, StandardErrors};

use crate::error::of_io;
use crate::numbers::{fill, numbers};
use crate::options;
use crate::steps::{json, of_step};
use crate::threads;

/// Standard errors (n, 7) of the parameters, of the photons, and the goodness.
type GivenErrors<'py> = [Bound<'py, PyAny>; 3];

pub(crate) fn statuses(given: &Bound<'_, PyAny>) -> PyResult<Vec<Status>> {
    let given: PyReadonlyArray1<'_, u8> = numbers("status", given, "(n)")?;
    let of = |&code: &u8| {
        let wrong = || PyValueError::new_err(format!("status = {code} is none of a fit"));
        Status::from_code(code).ok_or_else(wrong)
    };
    given.as_slice()?.iter().map(of).collect()
}

/// The fits of the rows that Python has.
fn fits(rows: &Bound<'_, PyAny>) -> PyResult<Vec<Fit<f64>>> {
    let made = |status| {
        let mut fit = Fit::invalid();
        fit.status = status;
        fit
    };
    let mut fits: Vec<_> = statuses(&rows.get_item("status")?)?.into_iter().map(made).collect();
    fill!(rows => fits, f64; x, y, sigma, sigma_x, sigma_y, angle, amplitude, background);
    fill!(rows => fits, f64; offset_x, offset_y, chi2);
    fill!(rows => fits, u32; iterations, evaluations);
    Ok(fits)
}

fn standard_errors(
    [parameters, photons, goodness]: &GivenErrors<'_>,
) -> PyResult<Vec<StandardErrors>> {
    let parameters: PyReadonlyArray2<'_, f32> = numbers("errors", parameters, "(n, 7)")?;
    if parameters.shape()[1] != 7 {
        return Err(PyValueError::new_err("errors must be (n, 7)"));
    }
    let photons: PyReadonlyArray1<'_, f32> = numbers("photons", photons, "(n)")?;
    let goodness: PyReadonlyArray1<'_, f32> = numbers("goodness", goodness, "(n)")?;
    let (rows, _) = parameters.as_slice()?.as_chunks();
    let scalars = photons.as_slice()?.iter().zip(goodness.as_slice()?);
    let of =
        |(&parameters, (&photons, &goodness))| StandardErrors { parameters, photons, goodness };
    Ok(rows.iter().zip(scalars).map(of).collect())
}

/// The format of a table by the ending of its name.
pub(crate) fn format_of(path: &Path) -> PyResult<OutcomeFormat> {
    OutcomeFormat::of(path).ok_or_else(|| {
        let told = format!("{}: the name of a table of fits ends in .csv or .npy", path.display());
        PyValueError::new_err(told)
    })
}

pub(crate) fn of_output(path: &Path) -> impl Fn(OutputError) -> PyErr {
    move |error| match error {
        OutputError::Write { source, .. } => of_io(path)(source),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// Writes the table of `spotfit fit`.
#[pyfunction]
#[pyo3(signature = (path, given, errors, *, shape, sigma, estimator, background, single))]
#[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
pub(crate) fn save_fits(
    py: Python<'_>,
    path: PathBuf,
    given: &Bound<'_, PyAny>,
    errors: Option<GivenErrors<'_>>,
    shape: &str,
    sigma: Option<Vec<f64>>,
    estimator: &str,
    background: Option<&str>,
    single: bool,
) -> PyResult<()> {
    let format = format_of(&path)?;
    let fits = fits(given)?;
    let errors = errors.as_ref().map(standard_errors).transpose()?;
    let estimator = options::estimator(estimator)?;
    let options = Options::default()
        .with_shape(options::shape(shape, sigma.as_deref())?)
        .with_estimator(estimator)
        .with_background(options::background(background, estimator)?);
    let pool = threads::pool()?;
    let save = || {
        let output = Output::create(&path).map_err(of_output(&path))?;
        let has_errors = errors.is_some();
        let table = FitTable::create(output, format, fits.len(), &options, single, has_errors);
        let mut table = table.map_err(of_io(&path))?;
        table.write(&fits, errors.as_deref().unwrap_or_default()).map_err(of_io(&path))?;
        table.into_inner().finish().map_err(of_output(&path))
    };
    py.detach(|| pool.install(save))
}

/// The report of `spotfit fit` as JSON, for windows of width and height and the limits that were set: of the centre, and of sigma.
#[pyfunction]
pub(crate) fn report_fits(
    given: &Bound<'_, PyAny>,
    size: (usize, usize),
    limits: [Option<f64>; 3],
    backend: String,
) -> PyResult<String> {
    let [margin, least, most] = limits;
    let limits =
        SetLimits::default().with_centre_margin(margin).with_sigma_min(least).with_sigma_max(most);
    let size = Size::new(size.0.max(1), size.1.max(1));
    json(&FitReport::of(&fits(given)?, size, &limits, backend))
}

/// Writes the table of `spotfit curve`.
#[pyfunction]
#[pyo3(signature = (path, names, parameters, errors, chi2, counts, status, *, estimator, answers=Vec::new()))]
#[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
pub(crate) fn save_curves(
    py: Python<'_>,
    path: PathBuf,
    names: Vec<String>,
    parameters: &Bound<'_, PyAny>,
    errors: &Bound<'_, PyAny>,
    chi2: &Bound<'_, PyAny>,
    counts: [Bound<'_, PyAny>; 2],
    status: &Bound<'_, PyAny>,
    estimator: &str,
    answers: Vec<(String, Bound<'_, PyAny>)>,
) -> PyResult<()> {
    let format = format_of(&path)?;
    check_columns(&names).map_err(of_step)?;
    let table = |name: &str, given: &Bound<'_, PyAny>| -> PyResult<Array2<f64>> {
        let given: PyReadonlyArray2<'_, f64> = numbers(name, given, "(n, parameters)")?;
        Ok(given.as_array().to_owned())
    };
    let count = |name: &str, given: &Bound<'_, PyAny>| -> PyResult<Vec<u32>> {
        let given: PyReadonlyArray1<'_, u32> = numbers(name, given, "(n)")?;
        Ok(given.as_slice()?.to_vec())
    };
    let (parameters, errors) = (table("parameters", parameters)?, table("errors", errors)?);
    let (degrees, iterations) = (count("degrees", &counts[0])?, count("iterations", &counts[1])?);
    let chi2: PyReadonlyArray1<'_, f64> = numbers("chi2", chi2, "(n)")?;
    let statuses = statuses(status)?;
    let shape = [statuses.len(), names.len()];
    let lengths = [chi2.len(), degrees.len(), iterations.len()];
    if [parameters.shape(), errors.shape()] != [shape; 2] || lengths != [shape[0]; 3] {
        return Err(PyValueError::new_err("arrays of fits must be as long as their status"));
    }
    let mut fits = CurveFits::invalid(statuses.len(), names.len(), false);
    fits.statuses = statuses;
    fits.parameters.assign(&parameters);
    fits.errors.assign(&errors);
    fits.chi2.copy_from_slice(chi2.as_slice()?);
    fits.degrees = degrees;
    fits.iterations = iterations;
    let estimator = options::estimator(estimator)?;
    let answers = crate::answers::read(&answers, fits.len())?;
    let heads: Vec<_> = answers.iter().map(spotfit::model::answers::AnswerColumn::head).collect();
    py.detach(|| {
        let output = Output::create(&path).map_err(of_output(&path))?;
        let table = CurveTable::create(output, format, fits.len(), &names, estimator, &heads);
        let mut table = table.map_err(of_io(&path))?;
        table.write(&fits, &answers).map_err(of_io(&path))?;
        table.into_inner().finish().map_err(of_output(&path))
    })
}

/// The report of `spotfit curve` as JSON.
#[pyfunction]
pub(crate) fn report_curves(status: &Bound<'_, PyAny>, threads: usize) -> PyResult<String> {
    json(&CurveReport::of(statuses(status)?, threads))
}
