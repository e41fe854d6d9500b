//! Fits in which data sets share parameters, or in which something is known of parameters beforehand.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use spotfit::model::answers::AnswerColumn;
use spotfit::model::{Linear, NoiseFits, SharedFits, Sharing};

use crate::answers::{self, Asked};
use crate::curves::{Data, Known, limits};
use crate::model::{Model, ModelFitter, of_model};
use crate::noise::{Beside, FoundBeside, Given, OwnNoise};
use crate::options::{self, choose};
use crate::work::aside;

/// Each data set as [`crate::curves::Outcomes`] has them.
type Outcomes<'py> = (
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
    Option<Bound<'py, PyArray3<f64>>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u8>>,
    Beside<'py>,
    Option<Bound<'py, PyDict>>,
);

/// Parameter, group, value, error and status of each shared value; χ² and degrees of freedom of all; and how many were left out.
type Shared = (Vec<(usize, usize, f64, f64, u8)>, f64, u64, usize);

/// Fits curves that share parameters; `shared` has parameters with the group of each data set, or none, `priors` parameters with mean and
/// standard deviation.
#[pyfunction]
#[pyo3(signature = (
    model, fitter, data, *, grid, points, start, bounds, fixed, weights, estimator, absolute, linear, precision, max_iterations,
    tolerance, covariance, noise, answers, shared, priors
))]
#[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
pub(crate) fn fit_shared<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
    fitter: &Bound<'py, ModelFitter>,
    data: &Bound<'py, PyAny>,
    grid: Option<(usize, usize)>,
    points: Option<&Bound<'py, PyAny>>,
    start: Option<&Bound<'py, PyAny>>,
    bounds: &Bound<'py, PyAny>,
    fixed: Vec<bool>,
    weights: Option<&Bound<'py, PyAny>>,
    estimator: &str,
    absolute: bool,
    linear: &str,
    precision: &str,
    max_iterations: u32,
    tolerance: f64,
    covariance: bool,
    noise: Given<'py>,
    answers: Option<Asked<'py>>,
    shared: Vec<(usize, Option<Vec<usize>>)>,
    priors: Vec<(usize, f64, f64)>,
) -> PyResult<(Outcomes<'py>, Shared)> {
    let model = model.get().0.clone();
    let ways = [
        ("auto", Linear::Auto),
        ("eliminated", Linear::Eliminated),
        ("searched", Linear::Searched),
    ];
    let answers = answers::of(&model, answers, &fixed)?;
    let mut chosen = model
        .options()
        .with_estimator(options::estimator(estimator)?)
        .with_absolute(absolute)
        .with_linear(choose("linear", linear, &ways)?)
        .with_precision(options::precision(precision)?)
        .with_max_iterations(max_iterations)
        .with_tolerance(tolerance)
        .with_covariance(covariance || answers.needs_covariance());
    chosen.fixed = fixed;
    chosen.limits = limits(bounds)?;
    let mut sharing = Sharing::default();
    for (parameter, groups) in shared {
        sharing = match groups {
            Some(groups) => sharing.with_groups(parameter, groups),
            None => sharing.with_shared(parameter),
        };
    }
    for (parameter, mean, deviation) in priors {
        sharing = sharing.with_prior(parameter, mean, deviation);
    }
    let data = Data::of(data)?;
    let (count, length) = data.view().dim();
    let own = data.view().own_part(0, count);
    let known = Known::of(grid, points, start, weights)?;
    let fitter = fitter.get().own()?;
    let has_covariance = chosen.covariance;
    let noise = std::sync::Arc::new(OwnNoise::of(noise)?);
    let told = noise.clone();
    let found = aside(py, move |_| {
        known.with_all(own.values(), |curves, start| {
            let noise = noise.part(count, 0, count);
            answers.check_sharing(noise.loss.is_some(), &sharing)?;
            let found =
                model.fit_shared_noise(&fitter, curves, start, &chosen, &sharing, &noise)?;
            let shared = found.fits.shared.clone();
            let found = found.into_fits();
            let columns = answers.columns(&model, &fitter, curves, &found, &chosen, &sharing)?;
            Ok((shared, found, columns))
        })
    })?;
    let (found, noisy, columns): (SharedFits, NoiseFits, Vec<AnswerColumn>) =
        found.map_err(of_model)?;
    let mut beside = FoundBeside::default();
    beside.add(&noisy);
    let (chi2, degrees, left_out) = (found.chi2(), found.degrees(), found.left_out());
    let SharedFits { fits, values, parts, .. } = found;
    let values = values.iter().map(|value| {
        let status = parts.get(value.part).map_or(0, |part| part.status as u8);
        (value.parameter, value.group, value.value, value.error, status)
    });
    let statuses: Vec<u8> = fits.statuses.iter().map(|&status| status as u8).collect();
    let outcomes = (
        fits.parameters.into_pyarray(py),
        fits.errors.into_pyarray(py),
        has_covariance.then(|| fits.covariance.into_pyarray(py)),
        PyArray1::from_vec(py, fits.chi2),
        PyArray1::from_vec(py, fits.degrees),
        PyArray1::from_vec(py, fits.iterations),
        PyArray1::from_vec(py, fits.evaluations),
        PyArray1::from_vec(py, statuses),
        beside.arrays(py, &told, length),
        answers::columns(py, columns)?,
    );
    Ok((outcomes, (values.collect(), chi2, degrees, left_out)))
}
