//! Values of a model at the points of many data sets.

use fit_formula::{Axes, Evaluator};
use numpy::ndarray::ArrayView2;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use spotfit::model::Model;

use crate::curves::Places;
use crate::error::room;
use crate::threads;
use crate::work::check_signals;

/// Values that are computed between two looks at Ctrl-C, and those that one thread computes at a time.
const BLOCK: usize = 1 << 20;
const PART: usize = 1 << 12;

/// What is to be computed.
pub(crate) struct Prediction<'a> {
    model: &'a Model,
    parameters: ArrayView2<'a, f64>,
    places: &'a Places,
    /// Points of a data set.
    points: usize,
}

impl<'a> Prediction<'a> {
    /// For parameters (fit, parameter); `length` is the number of points where they are counted.
    pub(crate) fn new(
        model: &'a Model,
        parameters: ArrayView2<'a, f64>,
        places: &'a Places,
        length: usize,
    ) -> PyResult<Self> {
        let (count, given) = parameters.dim();
        let [wanted, variables] = [model.parameters().len(), model.variables().len()];
        let wrong = |told: String| Err(PyValueError::new_err(told));
        if given != wanted {
            return wrong(format!("{given} parameters are given, the model has {wanted}"));
        }
        let (has, points) = match places {
            Places::Index => (1, length),
            Places::Grid { width, height } => (2, width * height),
            Places::Shared(at) => at.dim(),
            Places::PerFit(at) if at.dim().0 != count => {
                return wrong(format!(
                    "x has the points of {} data sets, not of {count}",
                    at.dim().0
                ));
            }
            Places::PerFit(at) => (at.dim().1, at.dim().2),
        };
        if has != variables {
            return wrong(format!("points must have {variables} variables, not {has}"));
        }
        Ok(Self { model, parameters, places, points })
    }

    pub(crate) fn run<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (fits, points) = (self.parameters.nrows(), self.points);
        let count = fits.saturating_mul(points);
        let mut values: Vec<f64> = room(count, "values")?;
        let held = vec![false; self.model.parameters().len()];
        let program = self.model.as_formula().program(Axes::Together, &held);
        let mut evaluator = Evaluator::new(&program);
        if count <= PART {
            values.resize(count, 0.0);
            self.fill(&mut evaluator, 0, &mut values);
            return PyArray1::from_vec(py, values).reshape([fits, points]);
        }
        let pool = threads::pool()?;
        for start in (0..count).step_by(BLOCK) {
            check_signals(py)?;
            let end = count.min(start + BLOCK);
            let all = &mut values;
            py.detach(|| {
                all.resize(end, 0.0);
                let block = &mut all[start..];
                pool.install(|| {
                    block.par_chunks_mut(PART).enumerate().for_each_init(
                        || evaluator.clone(),
                        |evaluator, (part, values)| {
                            self.fill(evaluator, start + part * PART, values);
                        },
                    );
                });
            });
        }
        PyArray1::from_vec(py, values).reshape([fits, points])
    }

    /// Computes the values from the one with this number, counted over all data sets.
    fn fill(&self, evaluator: &mut Evaluator<'_>, first: usize, values: &mut [f64]) {
        let mut variables = vec![0.0; self.model.variables().len()];
        let mut last = None;
        for (number, value) in (first..).zip(values) {
            let (fit, point) = (number / self.points, number % self.points);
            if last != Some(fit) {
                evaluator.set_parameters(&self.parameters.row(fit).to_vec());
                last = Some(fit);
            }
            self.at(fit, point, &mut variables);
            *value = evaluator.value(&variables);
        }
    }

    /// The variables at a point.
    fn at(&self, fit: usize, point: usize, variables: &mut [f64]) {
        match self.places {
            Places::Index => variables[0] = point as f64,
            Places::Grid { width, .. } => {
                variables[0] = (point % width) as f64;
                variables[1] = (point / width) as f64;
            }
            Places::Shared(at) => {
                variables.iter_mut().zip(at.column(point)).for_each(|(to, &of)| *to = of);
            }
            Places::PerFit(at) => {
                for (axis, to) in variables.iter_mut().enumerate() {
                    *to = at[[fit, axis, point]];
                }
            }
        }
    }
}
