//! Noise of other kinds than weights tell.

use numpy::ndarray::{Array2, Array3, Axis, Ix2, Ix3, Slice};
use numpy::{PyArray1, PyArray2, PyReadonlyArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use spotfit::model::{
    CurveNoise, Loss, LossScale, NoiseFits, Outlier, Spread, UnweightedPoints, Values, WeightRule,
};

use crate::numbers::{array, numbers};

/// What is given of the noise: loss, scale, the rate of outliers, a rule for weights, trials and errors of x.
pub(crate) type Given<'py> = (
    Option<String>,
    Option<f64>,
    Option<f64>,
    Option<String>,
    Option<Bound<'py, PyAny>>,
    Option<Bound<'py, PyAny>>,
);

/// The same without the interpreter.
pub(crate) struct OwnNoise {
    loss: Option<Loss>,
    scale: LossScale,
    outlier_rate: Option<f64>,
    rule: Option<WeightRule>,
    trials: Option<Array2<f64>>,
    x_errors: Option<Errors>,
}

enum Errors {
    All(f64),
    Each(Array3<f64>),
}

impl OwnNoise {
    pub(crate) fn of(
        (loss, scale, outlier_rate, rule, trials, x_errors): Given<'_>,
    ) -> PyResult<Self> {
        let wrong = |told: String| PyValueError::new_err(told);
        let loss = loss.map(|word| word.parse()).transpose();
        let loss = loss.map_err(|error| wrong(format!("loss: {error}")))?;
        let rule = rule.map(rule_of).transpose()?;
        let trials = trials.map(|given| -> PyResult<_> {
            let shape = "(1, points) or (n, points)";
            let given: PyReadonlyArray<'_, f64, Ix2> = numbers("trials", &given, shape)?;
            Ok(given.as_array().to_owned())
        });
        let x_errors = x_errors.map(|given| -> PyResult<_> {
            if let Ok(number) = given.extract::<f64>() {
                return Ok(Errors::All(number));
            }
            let shape = "(1, variables, points) or (n, variables, points)";
            if array("x_errors", &given)?.ndim() != 3 {
                return Err(wrong(format!("x_errors must be {shape}")));
            }
            let given: PyReadonlyArray<'_, f64, Ix3> = numbers("x_errors", &given, shape)?;
            Ok(Errors::Each(given.as_array().to_owned()))
        });
        let scale = scale.map_or(LossScale::Auto, LossScale::Held);
        let (trials, x_errors) = (trials.transpose()?, x_errors.transpose()?);
        Ok(Self { loss, scale, outlier_rate, rule, trials, x_errors })
    }

    /// What belongs to the data sets from `start` to before `end` of so many.
    pub(crate) fn part(&self, count: usize, start: usize, end: usize) -> CurveNoise<'_> {
        // Arrays of another length are judged as they are.
        let cut = |length: usize| {
            if length == count && length > 1 { Slice::from(start..end) } else { Slice::from(..) }
        };
        let mut noise = CurveNoise::default()
            .with_loss(self.loss)
            .with_scale(self.scale)
            .with_outlier_rate(self.outlier_rate)
            .with_weights(self.rule);
        if let Some(trials) = &self.trials {
            noise = noise.with_trials(trials.slice_axis(Axis(0), cut(trials.nrows())));
        }
        match &self.x_errors {
            None => noise,
            Some(Errors::All(error)) => noise.with_x_errors(*error),
            Some(Errors::Each(errors)) => {
                let part = errors.slice_axis(Axis(0), cut(errors.dim().0));
                noise.with_x_errors(Spread::Each(Values::from(part)))
            }
        }
    }
}

/// What is known besides of fits with noise: the scale of each data set, whether points (fit, point) are outliers, and what is said of points
/// that are left out.
pub(crate) type Beside<'py> =
    (Option<Bound<'py, PyArray1<f64>>>, Option<Bound<'py, PyArray2<bool>>>, Option<String>);

/// A rule for weights by its words.
pub(crate) fn rule_of(word: String) -> PyResult<WeightRule> {
    let found = WeightRule::ALL.into_iter().find(|rule| rule.name() == word);
    let rules = WeightRule::ALL.map(|rule| format!("'{}'", rule.name())).join(", ");
    found.ok_or_else(|| PyValueError::new_err(format!("weights = '{word}' is none of {rules}")))
}

/// The same as it is found.
#[derive(Default)]
pub(crate) struct FoundBeside {
    scales: Vec<f64>,
    outliers: Vec<(usize, usize)>,
    left_out: UnweightedPoints,
    fits: usize,
}

impl FoundBeside {
    pub(crate) fn add(&mut self, found: &NoiseFits) {
        self.scales.extend(&found.scales);
        let place = |outlier: &Outlier| (outlier.fit + self.fits, outlier.point);
        self.outliers.extend(found.outliers.iter().map(place));
        self.left_out.add(found.left_out);
        self.fits += found.fits.fits.len();
    }

    pub(crate) fn arrays<'py>(
        self,
        py: Python<'py>,
        noise: &OwnNoise,
        points: usize,
    ) -> Beside<'py> {
        let scales = noise.loss.map(|_| PyArray1::from_vec(py, self.scales));
        let outliers = noise.outlier_rate.map(|_| {
            let mut all = Array2::from_elem((self.fits, points), false);
            self.outliers.into_iter().for_each(|place| all[place] = true);
            PyArray2::from_owned_array(py, all)
        });
        (scales, outliers, (self.left_out.points > 0).then(|| self.left_out.to_string()))
    }
}
