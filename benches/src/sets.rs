//! Simulated data sets of a model, to be fitted.

use fit_formula::Formula;
use fit_tests::models::{SIMULATED, Simulated, model};
use ndarray::{Array2, ArrayView2, s};
use spotfit::model::{CurveStart, Curves};

/// Data sets with noise, and where their fits start.
pub struct Sets {
    /// The model.
    pub formula: Formula,
    /// The data: (fit, point).
    pub data: Array2<f32>,
    /// The parameters of all.
    pub truth: Vec<f64>,
    /// The start values of all.
    pub start: Vec<f64>,
    case: &'static Simulated,
    at: Array2<f64>,
}

impl Sets {
    /// So many of a case.
    pub fn new(case: &'static Simulated, count: usize) -> Self {
        let formula = model(case.name).as_formula().clone();
        let (data, truth, start) = (case.data(count), case.truth.to_vec(), case.start());
        Self { formula, data, truth, start, case, at: case.at() }
    }

    /// So many of the case of that name.
    ///
    /// # Panics
    /// If there is none.
    pub fn named(name: &str, count: usize) -> Self {
        let case = SIMULATED.iter().find(|case| case.name == name);
        Self::new(case.expect("a case of that name"), count)
    }

    /// The first of them.
    pub fn curves(&self, count: usize) -> Curves<'_> {
        self.of(self.data.slice(s![..count, ..]))
    }

    /// Other data at the same points.
    pub fn of<'a>(&'a self, data: ArrayView2<'a, f32>) -> Curves<'a> {
        Curves::new(data, self.case.points(&self.at))
    }

    /// The start values of all.
    pub fn start(&self) -> CurveStart<'_> {
        CurveStart::Shared(&self.start)
    }
}
