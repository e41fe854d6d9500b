//! Models of any kind: formulas, and models with names.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use numpy::{PyArray2, PyReadonlyArray2, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use spotfit::model::{CurveFitter, FormulaError, ModelError, Spline};
use spotfit::{BatchError, FitterOptions};

use crate::curves::{Data, Job, Outcomes, Places, Task};
use crate::keywords::Keywords;
use crate::numbers::numbers;
use crate::options;
use crate::predict::Prediction;
use crate::threads::Own;

/// What computes the fits of models.
#[pyclass(frozen, module = "spotfit._spotfit")]
pub(crate) struct ModelFitter {
    options: FitterOptions,
    fitter: Own<CurveFitter>,
}

#[pymethods]
impl ModelFitter {
    #[new]
    fn new(
        backend: &str,
        instruction_set: Option<&str>,
        device: usize,
        threads: usize,
    ) -> PyResult<Self> {
        let (options, devices) = (FitterOptions::default(), vec![device]);
        let options = options::backend(options, backend, instruction_set, devices, threads)?;
        let fitter = Self { options, fitter: Own::new() };
        fitter.own()?;
        Ok(fitter)
    }

    /// The number of threads that fit.
    #[getter]
    fn threads(&self) -> PyResult<usize> {
        Ok(self.own()?.threads())
    }
}

impl ModelFitter {
    pub(crate) fn own(&self) -> PyResult<Arc<CurveFitter>> {
        self.fitter.get(|| CurveFitter::with_options(&self.options).map_err(of_model))
    }
}

/// The exception for what a model cannot do.
pub(crate) fn of_model(error: ModelError) -> PyErr {
    let told = error.to_string();
    match error {
        ModelError::Batch(BatchError::Threads(_)) => PyRuntimeError::new_err(told),
        ModelError::Gpu(spotfit::gpu::GpuError::OutOfMemory { .. }) => PyMemoryError::new_err(told),
        ModelError::Gpu(_) | ModelError::NoGpuSupport => PyRuntimeError::new_err(told),
        _ => PyValueError::new_err(told),
    }
}

/// The exception for a formula that cannot be read: the text, and below it where it is wrong.
pub(crate) fn of_formula(text: &str, error: &FormulaError) -> PyErr {
    let before = text.get(..error.at.start).unwrap_or(text);
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    let shown = text[line..].lines().next().unwrap_or_default();
    let indent = " ".repeat(before[line..].chars().count());
    PyValueError::new_err(format!("{error}\n  {shown}\n  {indent}^"))
}

/// Splines that a formula calls: the name, samples at 0, 1, 2, … along each axis, and the axes that count channels.
type Splines<'py> = Vec<(String, Bound<'py, PyAny>, Vec<usize>)>;

fn splines(given: &Splines<'_>) -> PyResult<Vec<(String, Spline)>> {
    let one = |(name, samples, channels): &(String, Bound<'_, PyAny>, Vec<usize>)| {
        let told = format!("spline {name}");
        let samples: PyReadonlyArrayDyn<'_, f64> = numbers(&told, samples, "of one to five axes")?;
        let axes = samples.ndim();
        if let Some(axis) = channels.iter().find(|&&axis| axis >= axes) {
            let last = axes.saturating_sub(1);
            let reason = format!("there is no axis {axis}; they are counted from 0 to {last}");
            return Err(PyValueError::new_err(format!("{told}: {reason}")));
        }
        let axes = spotfit::model::Model::spline_axes(samples.shape(), channels);
        let spline = Spline::through(&axes, samples.as_slice()?);
        let wrong = |error| PyValueError::new_err(format!("{told}: {error}"));
        Ok((name.clone(), spline.map_err(wrong)?))
    };
    given.iter().map(one).collect()
}

fn borrowed(splines: &[(String, Spline)]) -> Vec<(&str, &Spline)> {
    splines.iter().map(|(name, spline)| (name.as_str(), spline)).collect()
}

/// A model function with parameters.
#[pyclass(frozen, module = "spotfit._spotfit")]
pub(crate) struct Model(pub(crate) spotfit::model::Model);

#[pymethods]
impl Model {
    #[new]
    fn new(
        text: &str,
        variables: Vec<String>,
        parameters: Option<Vec<String>>,
        splines: Splines<'_>,
    ) -> PyResult<Self> {
        let splines = self::splines(&splines)?;
        let splines = borrowed(&splines);
        let variables: Vec<&str> = variables.iter().map(String::as_str).collect();
        let made = match &parameters {
            Some(names) => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                spotfit::model::Model::formula_with_splines(text, &variables, &names, &splines)
            }
            None => spotfit::model::Model::of_variables_with_splines(text, &variables, &splines),
        };
        made.map(Self).map_err(|error| of_formula(text, &error))
    }

    /// A model with a name.
    #[staticmethod]
    fn named(name: &str, splines: Splines<'_>) -> PyResult<Self> {
        let splines = self::splines(&splines)?;
        let made = spotfit::model::Model::named_with_splines(name, &borrowed(&splines));
        made.map(Self).map_err(of_model)
    }

    /// The same with parameters that follow from others.
    fn with_ties(&self, ties: Vec<String>) -> PyResult<Self> {
        let ties: Vec<&str> = ties.iter().map(String::as_str).collect();
        self.0.with_ties(&ties).map(Self).map_err(of_model)
    }

    /// Parameters that follow from others, as quantities that are derived.
    fn tie_formulas(&self) -> Vec<String> {
        self.0.tie_formulas()
    }

    /// The models with names that need nothing else: formula, and what it is.
    #[staticmethod]
    fn all() -> HashMap<&'static str, (&'static str, &'static str)> {
        static WHOLE: OnceLock<Vec<(&str, &str, &str)>> = OnceLock::new();
        let whole = WHOLE.get_or_init(|| {
            let all = spotfit::model::Model::all();
            all.filter(|(name, ..)| spotfit::model::Model::named(name).is_ok()).collect()
        });
        whole.iter().map(|&(name, formula, about)| (name, (formula, about))).collect()
    }

    /// The names of the models that call splines.
    #[staticmethod]
    fn with_splines() -> Vec<&'static str> {
        let whole = Self::all();
        let all = spotfit::model::Model::all();
        all.map(|(name, ..)| name).filter(|name| !whole.contains_key(name)).collect()
    }

    /// The formula.
    #[getter]
    fn text(&self) -> &str {
        self.0.text()
    }

    /// The names of the variables.
    #[getter]
    fn variables(&self) -> Vec<String> {
        self.0.variables().to_vec()
    }

    /// The names of the parameters.
    #[getter]
    fn parameters(&self) -> Vec<String> {
        self.0.parameters().to_vec()
    }

    /// Whether start values are found in data.
    #[getter]
    fn finds_its_start(&self) -> bool {
        self.0.finds_its_start()
    }

    /// The values (fit, point) with parameters (fit, parameter): at points as [`Known`] has them, or so many of them.
    #[pyo3(signature = (parameters, *, grid, points, length))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        parameters: &Bound<'py, PyAny>,
        grid: Option<(usize, usize)>,
        points: Option<&Bound<'py, PyAny>>,
        length: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let parameters: PyReadonlyArray2<'py, f64> =
            numbers("parameters", parameters, "(n, parameters)")?;
        let places = Places::of(grid, points)?;
        Prediction::new(&self.0, parameters.as_array(), &places, length)?.run(py)
    }

    /// Fits curves.
    fn fit<'py>(
        &self,
        py: Python<'py>,
        fitter: &Bound<'py, ModelFitter>,
        data: &Bound<'py, PyAny>,
        keywords: Keywords<'py>,
    ) -> PyResult<Outcomes<'py>> {
        let task = Task::of(&self.0, fitter.get(), &keywords)?;
        let data = Data::of(data)?;
        Job { data: data.view(), task: Arc::new(task) }.run(py)
    }
}
