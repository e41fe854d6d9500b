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

mod again;
pub mod answers;
mod copies;
mod fitter;
mod named;
mod noise;
mod search;
mod shared;
mod spectrum;
mod start;
mod starts;
mod ties;

use fit_cpu::BatchError;
use fit_formula::{Evaluator, Formula};
use ndarray::ArrayView1;

pub use fit_cpu::{SharedFits, SharedPart, SharedValue};
pub use fit_curves::{
    At, CompiledModel, CurveError, CurveFits, CurveLimits, CurveNumber, CurveOptions,
    CurvePrecision, CurveStart, Curves, Linear, Points, Prior, Sharing, Values,
};
pub use fit_formula::{Axes, FormulaError, Spline, SplineAxis, SplineError, functions};
pub use fitter::CurveFitter;
pub use noise::{
    CurveNoise, Loss, LossScale, NoiseError, NoiseFits, Outlier, SharedNoiseFits, Spread,
    UnknownLoss, UnweightedPoints, WeightRule,
};
pub use shared::{SharedModelFits, groups_of, read_groups, read_prior};
pub use ties::Tie;

use crate::Estimator;
use crate::backend::Backend;

use named::{MODELS, Named};

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
    /// As [`Model::fit`], and [`NoiseError::Absolute`].
    pub fn fit_with(
        &self,
        fitter: &CurveFitter,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
    ) -> Result<ModelFits, ModelError> {
        check_absolute(curves, options)?;
        self.fit_given(fitter, curves, start, options)
    }

    /// The same where weights come from elsewhere.
    fn fit_given(
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
        let mut starts = self.starts(fitter, curves, options, 0)?.into_iter();
        let first = starts.next().unwrap_or_default();
        let mut fits = fitter.fit(&self.formula, curves, first.view().into(), options)?;
        for start in starts {
            let others = fitter.fit(&self.formula, curves, start.view().into(), options)?;
            fits.keep_better(&others);
        }
        self.search_again(fitter, curves, options, &mut fits)?;
        Ok(ModelFits { names: self.parameters().to_vec(), fits })
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

/// Refuses absolute errors of least squares where no weights say how large those of the points are.
fn check_absolute(curves: &Curves<'_>, options: &CurveOptions) -> Result<(), NoiseError> {
    let scaled = !options.absolute || options.estimator == Estimator::MaximumLikelihood;
    if scaled || curves.weights.is_some() { Ok(()) } else { Err(NoiseError::Absolute) }
}

/// The variables at each point of a fit.
pub fn points(curves: &Curves<'_>, variables: usize, fit: usize) -> Vec<Vec<f64>> {
    (0..curves.points()).map(|at| point(curves, variables, fit, at)).collect()
}

/// The variables at one of them.
fn point(curves: &Curves<'_>, variables: usize, fit: usize, point: usize) -> Vec<f64> {
    match curves.points {
        Points::Grid { width, .. } => vec![(point % width) as f64, (point / width) as f64],
        Points::Shared(at) => (0..variables).map(|k| at.get([k, point])).collect(),
        Points::PerFit(at) => (0..variables).map(|k| at.get([fit, k, point])).collect(),
        _ => vec![point as f64],
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
