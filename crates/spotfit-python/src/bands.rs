//! Bands around fitted curves, as a table, and fits as whoever draws them has them.

use numpy::ndarray::{Array2, Axis, s};
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use spotfit::Status;
use spotfit::model::answers::{BandFit, CurveBands, datum_weights};
use spotfit::model::{CurveOptions, WeightRule};

use crate::keywords::Keywords;
use crate::model::Model;
use crate::noise::rule_of;
use crate::numbers::numbers;
use crate::options;
use crate::outcomes::statuses;

/// Fits of a model, their points (fit, variable, point), and weights (fit, point).
pub(crate) struct FittedCurves<'py> {
    pub(crate) parameters: PyReadonlyArray2<'py, f64>,
    /// (fit, parameter, parameter)
    pub(crate) covariance: Option<PyReadonlyArray3<'py, f64>>,
    pub(crate) chi2: Vec<f64>,
    pub(crate) degrees: Vec<u32>,
    pub(crate) statuses: Vec<Status>,
    pub(crate) points: PyReadonlyArray3<'py, f64>,
    pub(crate) weights: Option<PyReadonlyArray2<'py, f64>>,
    pub(crate) rule: Option<WeightRule>,
    /// The level of bands, if they are wanted.
    pub(crate) level: Option<f64>,
    pub(crate) options: CurveOptions,
}

impl<'py> FittedCurves<'py> {
    pub(crate) fn of(model: &spotfit::model::Model, keywords: &Keywords<'py>) -> PyResult<Self> {
        let level: Option<f64> = keywords.get("level")?;
        if level.is_some_and(|level| !(level > 0.0 && level < 1.0)) {
            return Err(PyValueError::new_err("bands must be a level above 0 and below 1"));
        }
        let given = |name: &str| keywords.get::<Option<Bound<'py, PyAny>>>(name);
        let covariance = given("covariance")?.filter(|_| level.is_some());
        let covariance =
            covariance.map(|of| numbers("covariance", &of, "(n, k, k)")).transpose()?;
        let weights = given("weights")?;
        let weights = weights.map(|of| numbers("weights", &of, "(n, points)")).transpose()?;
        let rule: Option<String> = keywords.get("rule")?;
        let estimator = options::estimator(&keywords.word("estimator")?)?;
        let options = model.options().with_absolute(keywords.get("absolute")?);
        Ok(Self {
            parameters: numbers("parameters", &keywords.get("parameters")?, "(n, k)")?,
            covariance,
            chi2: keywords.get("chi2")?,
            degrees: keywords.get("degrees")?,
            statuses: statuses(&keywords.get("status")?)?,
            points: numbers("x", &keywords.get("points")?, "(n, variables, points)")?,
            weights,
            rule: rule.map(rule_of).transpose()?,
            level,
            options: options.with_estimator(estimator),
        })
    }

    /// Fits and points.
    pub(crate) fn shape(&self) -> [usize; 2] {
        [self.statuses.len(), self.points.shape()[2]]
    }

    /// Whether all are of the same data sets.
    pub(crate) fn are_together(&self, model: &spotfit::model::Model) -> bool {
        let [count, length] = self.shape();
        let width = model.parameters().len();
        let squares = [count, width, width];
        self.parameters.shape() == [count, width]
            && self.covariance.as_ref().is_none_or(|of| of.shape() == squares)
            && self.points.shape() == [count, model.variables().len(), length]
            && self.weights.as_ref().is_none_or(|weights| weights.shape() == [count, length])
            && [self.chi2.len(), self.degrees.len()] == [count; 2]
    }

    /// The points of a fit.
    pub(crate) fn places(&self, fit: usize) -> Vec<Vec<f64>> {
        let points = self.points.as_array();
        (0..self.shape()[1]).map(|point| points.slice(s![fit, .., point]).to_vec()).collect()
    }

    /// The covariance of a fit, row by row.
    pub(crate) fn spread(&self, fit: usize) -> Option<Vec<f64>> {
        let all = self.covariance.as_ref()?;
        Some(all.as_array().index_axis(Axis(0), fit).iter().copied().collect())
    }
}

/// Value, ends of the band of confidence and of that of prediction (fit, point); NaN for fits that were not found.
#[pyfunction]
pub(crate) fn bands_table<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
    keywords: Keywords<'py>,
) -> PyResult<[Bound<'py, PyArray2<f64>>; 5]> {
    let model = &model.get().0;
    let fits = FittedCurves::of(model, &keywords)?;
    if !fits.are_together(model) {
        return Err(PyValueError::new_err("fits, x and weights must be of the same data sets"));
    }
    let level = fits.level.unwrap_or_default();
    let bands = CurveBands::new(model, &fits.options, level).with_rule(fits.rule);
    let [count, length] = fits.shape();
    let mut all: [Array2<f64>; 5] =
        std::array::from_fn(|_| Array2::from_elem((count, length), f64::NAN));
    for (fit, status) in fits.statuses.iter().enumerate() {
        if !(status.is_converged() || *status == Status::AtLimit) {
            continue;
        }
        let own = fits.parameters.as_array().row(fit).to_vec();
        let spread = fits.spread(fit).unwrap_or_default();
        let known = BandFit::new(&own, &spread, fits.chi2[fit], fits.degrees[fit]);
        let own = fits.weights.as_ref().map_or_else(
            || vec![1.0; length],
            |weights| datum_weights(&weights.as_array().row(fit).to_vec()),
        );
        let found = bands.at(&known, &fits.places(fit), |point| own[point]);
        for (point, at) in found.into_iter().enumerate() {
            let ends = at.confidence.into_iter().chain(at.prediction);
            for (table, number) in all.iter_mut().zip(std::iter::once(at.value).chain(ends)) {
                table[[fit, point]] = number;
            }
        }
    }
    Ok(all.map(|table| table.into_pyarray(py)))
}
