//! Models of any kind: formulas, and named models.
//!
//! ```
//! use ndarray::Array2;
//! use spotfit::model::{CurveStart, Curves, Model, Points};
//!
//! let model = Model::formula("a*exp(-x/t) + c", &["x"], &["a", "t", "c"])?;
//! let truth = |x: f64| 5.0 * (-x / 3.0).exp() + 1.0;
//! let data = Array2::from_shape_fn((1000, 20), |(_, x)| truth(x as f64));
//! let curves = Curves::new(data.view(), Points::Index);
//! let fits = model.fit(&curves, (&[1.0, 1.0, 0.0]).into(), &model.options())?;
//! assert!((fits.of("t").unwrap()[0] - 3.0).abs() < 1e-9);
//!
//! // Models with names find their own start.
//! let model = Model::named("exponential")?;
//! let fits = model.fit(&curves, CurveStart::Estimate, &model.options())?;
//! assert!((fits.of("a").unwrap()[999] - 5.0).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod answers;
mod fitter;
mod named;
mod noise;
mod search;
mod shared;
mod start;
mod ties;

use fit_core::Estimator;
use fit_cpu::BatchError;
use fit_curves::Frame;
use fit_formula::{Evaluator, Formula};
use ndarray::{Array2, ArrayView1};

pub use fit_cpu::{SharedFits, SharedPart, SharedValue};
pub use fit_curves::{
    At, CompiledModel, CurveError, CurveFits, CurveLimits, CurveNumber, CurveOptions, CurveStart,
    Curves, Linear, Points, Prior, Sharing, Values,
};
pub use fit_formula::{Axes, FormulaError, Spline, SplineAxis, SplineError, functions};
pub use fitter::CurveFitter;
pub use noise::{
    CurveNoise, Loss, LossScale, NoiseError, NoiseFits, Outlier, Spread, UnknownLoss, WeightRule,
};
pub use shared::{SharedModelFits, groups_of, read_groups, read_prior};
pub use ties::Tie;

use crate::backend::Backend;

use named::{Kind, MODELS, Named};
use start::Candidates;

/// Why a model cannot be fitted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The batch is invalid.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// The GPU cannot be used.
    #[cfg(feature = "gpu")]
    #[error("the GPU cannot be used: {0}")]
    Gpu(#[source] fit_gpu::GpuError),
    /// This was built without the GPU backend.
    #[error("the GPU cannot be used: this was built without the feature 'gpu'")]
    NoGpuSupport,
    /// The noise is not what it can be.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// There is no such model.
    #[error("there is no model '{0}'")]
    UnknownModel(String),
    /// A model calls splines, which must be given.
    #[error("the model '{model}' calls {}: a spline for each must be given, and no other", needed.join(", "))]
    NeedsSplines {
        /// The model.
        model: String,
        /// The names of its splines.
        needed: Vec<&'static str>,
    },
    /// A model calls no splines.
    #[error("the model '{0}' calls no splines")]
    NoSplines(String),
    /// The model cannot call a spline that is given.
    #[error("the model '{model}' cannot call its splines: {reason}")]
    Spline {
        /// The model.
        model: String,
        /// Why.
        reason: FormulaError,
    },
    /// What data sets share, or a prior, is not what it can be.
    #[error("{0}")]
    Shared(String),
    /// A parameter cannot be tied to others.
    #[error("'{tie}': {reason}")]
    Tie {
        /// What was given.
        tie: String,
        /// Why.
        reason: String,
    },
    /// There is no such parameter.
    #[error("the model has no parameter '{name}' (it has {})", known.join(", "))]
    UnknownParameter {
        /// The name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
}

#[cfg(feature = "gpu")]
impl From<fit_gpu::GpuError> for ModelError {
    fn from(error: fit_gpu::GpuError) -> Self {
        match error {
            // It is not the GPU's.
            fit_gpu::GpuError::Curve(error) => Self::Batch(error.into()),
            error => Self::Gpu(error),
        }
    }
}

/// A model function with parameters.
#[derive(Clone, Debug)]
pub struct Model {
    formula: Formula,
    named: Option<&'static Named>,
    ties: Vec<Tie>,
}

impl Model {
    /// A formula with these variables and parameters.
    ///
    /// # Errors
    /// The error in the text, with its position.
    pub fn formula(
        text: &str,
        variables: &[&str],
        parameters: &[&str],
    ) -> Result<Self, FormulaError> {
        Self::formula_with_splines(text, variables, parameters, &[])
    }

    /// A formula that calls splines with these names, like functions: `a*psf(x - x0, y - y0) + b`.
    ///
    /// # Errors
    /// The error in the text, with its position.
    pub fn formula_with_splines(
        text: &str,
        variables: &[&str],
        parameters: &[&str],
        splines: &[(&str, &Spline)],
    ) -> Result<Self, FormulaError> {
        let formula = Formula::with_splines(text, variables, parameters, splines)?;
        Ok(Self::of(formula, None))
    }

    /// A formula in which all names except these variables are parameters, in the order in which they appear.
    ///
    /// # Errors
    /// The error in the text, with its position.
    pub fn of_variables(text: &str, variables: &[&str]) -> Result<Self, FormulaError> {
        Self::of_variables_with_splines(text, variables, &[])
    }

    /// The same for a formula that calls splines.
    ///
    /// # Errors
    /// The error in the text, with its position.
    pub fn of_variables_with_splines(
        text: &str,
        variables: &[&str],
        splines: &[(&str, &Spline)],
    ) -> Result<Self, FormulaError> {
        let formula = Formula::of_variables_with_splines(text, variables, splines)?;
        Ok(Self::of(formula, None))
    }

    fn of(formula: Formula, named: Option<&'static Named>) -> Self {
        Self { formula, named, ties: Vec::new() }
    }

    /// A model with a name; [`Model::all`] lists them.
    ///
    /// # Errors
    /// If there is none of this name, or if it calls splines.
    pub fn named(name: &str) -> Result<Self, ModelError> {
        Self::named_with_splines(name, &[])
    }

    /// A model with a name, which calls these splines.
    ///
    /// ```
    /// use spotfit::model::{Model, Spline, SplineAxis};
    ///
    /// let square = |at: usize| (at as f64 - 10.0).powi(2);
    /// let sample = |at: usize| (-0.1 * (square(at % 21) + square(at / 21))).exp();
    /// let psf: Vec<f64> = (0..21 * 21).map(sample).collect();
    /// let psf = Spline::through(&[SplineAxis::Cubic(20); 2], &psf)?;
    /// let model = Model::named_with_splines("spline_2d", &[("f", &psf)])?;
    /// assert_eq!(model.parameters(), ["a", "x0", "y0", "b"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is none of this name, or if it calls other splines.
    pub fn named_with_splines(name: &str, splines: &[(&str, &Spline)]) -> Result<Self, ModelError> {
        let named = MODELS.iter().find(|model| model.name == name);
        let named = named.ok_or_else(|| ModelError::UnknownModel(name.to_owned()))?;
        let given = |needed: &&str| splines.iter().any(|(given, _)| given == needed);
        if splines.len() != named.splines.len() || !named.splines.iter().all(given) {
            let (model, needed) = (name.to_owned(), named.splines.to_vec());
            return Err(if needed.is_empty() {
                ModelError::NoSplines(model)
            } else {
                ModelError::NeedsSplines { model, needed }
            });
        }
        let parameters: Vec<&str> = named.parameters.iter().map(|parameter| parameter.0).collect();
        let formula = Formula::with_splines(named.formula, named.variables, &parameters, splines);
        let formula = formula.map_err(|reason| {
            assert!(!splines.is_empty(), "{name}: {reason}");
            ModelError::Spline { model: name.to_owned(), reason }
        })?;
        Ok(Self::of(formula, Some(named)))
    }

    /// The named models: name, formula, and description. [`Model::named_with_splines`] makes those that call splines,
    /// `f(…)`.
    pub fn all() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
        MODELS.iter().map(|model| (model.name, model.formula, model.about))
    }

    /// The axes of a spline through samples of this shape: cubic ones, but for those that count channels, by their numbers.
    pub fn spline_axes(shape: &[usize], channels: &[usize]) -> Vec<SplineAxis> {
        let of = |(axis, &length): (usize, &usize)| {
            if channels.contains(&axis) {
                SplineAxis::Steps(length)
            } else {
                SplineAxis::Cubic(length.saturating_sub(1))
            }
        };
        shape.iter().enumerate().map(of).collect()
    }

    /// The formula.
    pub fn text(&self) -> &str {
        self.formula.text()
    }

    /// The formula with its derivatives, ready to be evaluated or shown.
    pub fn as_formula(&self) -> &Formula {
        &self.formula
    }

    /// The names of the variables.
    pub fn variables(&self) -> &[String] {
        self.formula.variables()
    }

    /// The names of the parameters.
    pub fn parameters(&self) -> &[String] {
        self.formula.parameters()
    }

    /// The number of a parameter, for options.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn parameter(&self, name: &str) -> Result<usize, ModelError> {
        if let Some(tie) = self.ties.iter().find(|tie| tie.name == name) {
            let reason = format!("'{name}' follows from others, and is no parameter any more");
            return Err(ModelError::Tie { tie: tie.to_string(), reason });
        }
        let found = self.parameters().iter().position(|parameter| parameter == name);
        found.ok_or_else(|| ModelError::UnknownParameter {
            name: name.to_owned(),
            known: self.parameters().to_vec(),
        })
    }

    /// Options for this model: least squares without limits.
    pub fn options(&self) -> CurveOptions {
        CurveOptions::new(self.parameters().len())
    }

    /// Whether the model can find its start values from the data.
    pub fn finds_its_start(&self) -> bool {
        self.named.is_some()
    }

    /// Fits curves, on all processors, in double precision.
    ///
    /// # Errors
    /// If the request is invalid. A fit that fails is not an error; its status says how it ended.
    pub fn fit(
        &self,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
    ) -> Result<ModelFits, ModelError> {
        self.fit_with(&CurveFitter::new(Backend::Reference, 0)?, curves, start, options)
    }

    /// [`Model::fit`] on another backend, or on threads that were started before.
    ///
    /// # Errors
    /// As [`Model::fit`].
    pub fn fit_with(
        &self,
        fitter: &CurveFitter,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
    ) -> Result<ModelFits, ModelError> {
        let CurveStart::Estimate = start else {
            let fits = fitter.fit(&self.formula, curves, start, options)?;
            return Ok(ModelFits { names: self.parameters().to_vec(), fits });
        };
        let mut starts = self.starts(fitter, curves, options)?.into_iter();
        let first = starts.next().unwrap_or_default();
        let mut fits = fitter.fit(&self.formula, curves, first.view().into(), options)?;
        for start in starts {
            let others = fitter.fit(&self.formula, curves, start.view().into(), options)?;
            fits.keep_better(&others);
        }
        Ok(ModelFits { names: self.parameters().to_vec(), fits })
    }

    /// Start values for each data set (fit, parameter), within the limits: the best of several candidates for the
    /// nonlinear parameters, by least squares. For a formula they are the best of 4096 candidates, whose sizes follow from the points; where
    /// a fit begins by itself ([`CurveStart::Estimate`]), the best of each eighth of them is fitted, and the best fit kept.
    ///
    /// # Errors
    /// If the request is invalid, or a parameter of a formula is held.
    pub fn start(
        &self,
        fitter: &CurveFitter,
        curves: &Curves<'_>,
        options: &CurveOptions,
    ) -> Result<Array2<f64>, ModelError> {
        let mut all = self.starts_of(fitter, curves, options, &Sharing::default(), 1)?;
        Ok(all.pop().unwrap_or_default())
    }

    /// As many for each data set as are fitted.
    fn starts(
        &self,
        fitter: &CurveFitter,
        curves: &Curves<'_>,
        options: &CurveOptions,
    ) -> Result<Vec<Array2<f64>>, ModelError> {
        let parts = if self.kinds().is_some() { 1 } else { search::STARTS };
        self.starts_of(fitter, curves, options, &Sharing::default(), parts)
    }

    /// What the parameters of a model with a name are, unless ties have made nonlinear what was linear.
    fn kinds(&self) -> Option<Vec<Kind>> {
        let linear = self.formula.linear();
        let known = self.named?.parameters.iter().filter_map(|&(name, kind)| {
            self.parameter(name).ok().map(|number| (linear[number], kind))
        });
        let known: Vec<(bool, Kind)> = known.collect();
        let stays = |&(linear, kind): &(bool, Kind)| linear || kind != Kind::Linear;
        known.iter().all(stays).then(|| known.iter().map(|known| known.1).collect())
    }

    /// The same for data sets that need not determine what they share.
    fn starts_of(
        &self,
        fitter: &CurveFitter,
        curves: &Curves<'_>,
        options: &CurveOptions,
        sharing: &Sharing,
        parts: usize,
    ) -> Result<Vec<Array2<f64>>, ModelError> {
        let kinds = self.kinds();
        if kinds.is_none() && options.fixed.contains(&true) {
            return Err(BatchError::from(CurveError::NoStart).into());
        }
        let count = self.parameters().len();
        let anything = vec![0.0; count];
        options
            .validate()
            .and_then(|()| options.check_count(curves.count()))
            .map_err(|error| BatchError::from(error.with_names(self.parameters())))?;
        let mut free = options.clone().with_limits(self.options().limits);
        let known = sharing.priors.iter().map(|prior| prior.parameter);
        for j in sharing.shared.iter().map(|shared| shared.0).chain(known) {
            free.fixed.get_mut(j).into_iter().for_each(|fixed| *fixed = true);
        }
        let variables = self.variables().len();
        curves.validate(variables, &anything[..].into(), &free).map_err(BatchError::from)?;
        let linear = self.formula.linear();
        let above: Vec<bool> = (0..count).map(|j| options.limit(0, j)[0] >= 0.0).collect();
        // Near 0, where candidates can be told from each other.
        let invariance = self.formula.invariance();
        let can_shift: Vec<bool> =
            (0..variables).map(|variable| invariance.translation(variable).is_some()).collect();
        let candidates = |fit: usize| {
            let origin = curves.origin(fit, &can_shift);
            let mut points = thinned(points(curves, variables, fit));
            for point in &mut points {
                point.iter_mut().zip(&origin).for_each(|(at, origin)| *at -= origin);
            }
            let found = match &kinds {
                Some(kinds) => Candidates::new(&self.formula, kinds, &points),
                None => {
                    let points = spread(points, FEW_POINTS);
                    let all = search::candidates(&self.formula, &linear, &above, &points);
                    Candidates::of(&self.formula, &linear, all, &points)
                }
            };
            (found, origin)
        };
        let shared = match curves.points {
            Points::PerFit(_) => None,
            _ => Some(candidates(0)),
        };
        let positive = options.estimator == Estimator::MaximumLikelihood;
        let of_fit = |fit: usize| {
            let (mut data, mut weights) = (vec![0.0; curves.points()], vec![1.0; curves.points()]);
            curves.data.row(fit, &mut data);
            if let Some(values) = curves.weights {
                values.row(if values.shape()[0] == 1 { 0 } else { fit }, &mut weights);
            }
            fill(&mut data, &weights);
            let mut data = thinned(data);
            if kinds.is_none() {
                data = spread(data, FEW_POINTS);
            }
            let own = shared.is_none().then(|| candidates(fit));
            let Some((from, origin)) = shared.as_ref().or(own.as_ref()) else {
                return vec![vec![1.0; count]; parts];
            };
            let none = [f64::INFINITY, f64::NEG_INFINITY];
            let extent = data.iter().fold(none, |[low, high], &d| [low.min(d), high.max(d)]);
            let frame = Frame::new(invariance, origin, extent, positive);
            let level = frame.as_ref().map_or(0.0, Frame::level);
            data.iter_mut().for_each(|datum| *datum -= level);
            let best = match &kinds {
                Some(_) => vec![Some(from.best(&data, positive))],
                None => from.best_of_parts(&data, positive, parts),
            };
            let whole = |best: Option<Vec<f64>>| {
                let mut best = best.unwrap_or_else(|| vec![1.0; count]);
                if let Some(frame) = &frame {
                    frame.leave(&mut best);
                }
                for (j, value) in best.iter_mut().enumerate() {
                    let [lower, upper] = options.limit(fit, j);
                    *value = if value.is_finite() { *value } else { 1.0 }.clamp(lower, upper);
                }
                best
            };
            best.into_iter().map(whole).collect()
        };
        let all: Vec<Vec<Vec<f64>>> = fitter.reference().map(curves.count(), of_fit);
        let part = |part: usize| {
            Array2::from_shape_fn((curves.count(), count), |(fit, j)| all[fit][part][j])
        };
        Ok((0..parts).map(part).collect())
    }

    /// The model's values at points, for some parameters.
    ///
    /// # Panics
    /// If there are not as many parameters or variables as the model has.
    pub fn values(&self, parameters: &[f64], points: &[Vec<f64>]) -> Vec<f64> {
        let none = vec![false; self.parameters().len()];
        let program = self.formula.program(Axes::Together, &none);
        let mut evaluator = Evaluator::new(&program);
        evaluator.set_parameters(parameters);
        points.iter().map(|point| evaluator.value(point)).collect()
    }
}

/// The variables at each point of a fit.
pub fn points(curves: &Curves<'_>, variables: usize, fit: usize) -> Vec<Vec<f64>> {
    let of = |point: usize| -> Vec<f64> {
        match curves.points {
            Points::Grid { width, .. } => vec![(point % width) as f64, (point / width) as f64],
            Points::Shared(at) => (0..variables).map(|k| at.get([k, point])).collect(),
            Points::PerFit(at) => (0..variables).map(|k| at.get([fit, k, point])).collect(),
            _ => vec![point as f64],
        }
    };
    (0..curves.points()).map(of).collect()
}

/// The most points that start values are found from.
const MOST_POINTS: usize = 1000;

/// The most points at which the candidates of a formula, which are many, are tried.
const FEW_POINTS: usize = 250;

/// Some of many points, as far from each other as possible.
fn thinned<T>(all: Vec<T>) -> Vec<T> {
    spread(all, MOST_POINTS)
}

/// The same, at most so many.
fn spread<T>(all: Vec<T>, most: usize) -> Vec<T> {
    let step = all.len().div_ceil(most).max(1);
    all.into_iter().step_by(step).collect()
}

/// Replaces what is not seen by what was seen before it.
fn fill(data: &mut [f64], weights: &[f64]) {
    let seen = |&(&value, &weight): &(&f64, &f64)| value.is_finite() && weight > 0.0;
    let mut last = data.iter().zip(weights).find(seen).map_or(0.0, |point| *point.0);
    for (value, weight) in data.iter_mut().zip(weights) {
        if value.is_finite() && *weight > 0.0 {
            last = *value;
        } else {
            *value = last;
        }
    }
}

/// The outcomes of fits, by the names of the parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelFits {
    names: Vec<String>,
    /// The outcomes of all fits.
    pub fits: CurveFits,
}

impl ModelFits {
    /// The names of the parameters.
    pub fn parameters(&self) -> &[String] {
        &self.names
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|parameter| parameter == name)
    }

    /// The values of a parameter, for all fits.
    pub fn of(&self, name: &str) -> Option<ArrayView1<'_, f64>> {
        Some(self.fits.parameters.column(self.number(name)?))
    }

    /// Its standard errors.
    pub fn error_of(&self, name: &str) -> Option<ArrayView1<'_, f64>> {
        Some(self.fits.errors.column(self.number(name)?))
    }
}
