//! Bands around a fitted curve: where the model lies, and where another datum would.

use std::sync::Arc;

use fit_formula::{Axes, Evaluator, Program};

use super::derived::delta;
use super::distributions::{normal_quantile, student_quantile};
use crate::Estimator;
use crate::model::{CurveOptions, Model, WeightRule};

/// What a fit leaves to know of its model, from which bands follow.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct BandFit<'a> {
    /// What was found.
    pub parameters: &'a [f64],
    /// The covariance, row after row.
    pub covariance: &'a [f64],
    /// χ² or the deviance.
    pub chi2: f64,
    /// Degrees of freedom.
    pub degrees: u32,
}

impl<'a> BandFit<'a> {
    /// Of a fit with these outcomes.
    pub fn new(parameters: &'a [f64], covariance: &'a [f64], chi2: f64, degrees: u32) -> Self {
        Self { parameters, covariance, chi2, degrees }
    }
}

/// The bands at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct BandAt {
    /// The value of the model.
    pub value: f64,
    /// Where the model lies, at the level of confidence.
    pub confidence: [f64; 2],
    /// Where another datum lies.
    pub prediction: [f64; 2],
}

/// Confidence and prediction bands of a model, by the delta method: value ± q·√(gᵀCg), and ± q·√(gᵀCg + v) with the variance v of a
/// datum. That is χ²/degrees over the weight, and q a quantile of Student's t, where residuals scale the errors; 1/weight with
/// absolute weights, and the value itself of counts, with the normal quantile. The weight is the one that a datum at the place has, as
/// [`datum_weights`] says of the points of the data, times that of a rule for the value of the model there, if a rule made the weights.
#[derive(Clone, Debug)]
pub struct CurveBands {
    program: Arc<Program>,
    parameters: usize,
    level: f64,
    poisson: bool,
    absolute: bool,
    rule: Option<WeightRule>,
}

/// The weight that another datum would have at each point of a data set with these weights: the point's own. Where all points that count
/// have the same one, it is that of those that were left out, too; otherwise theirs is 0, as nobody knows it.
pub fn datum_weights(weights: &[f64]) -> Vec<f64> {
    let counts = |weight: &f64| *weight > 0.0 && weight.is_finite();
    let mut used = weights.iter().copied().filter(counts);
    let first = used.next().unwrap_or(0.0);
    if used.all(|weight| weight == first) {
        return vec![first; weights.len()];
    }
    weights.iter().map(|weight| if counts(weight) { *weight } else { 0.0 }).collect()
}

impl CurveBands {
    /// For fits with these options, at a level between 0 and 1.
    pub fn new(model: &Model, options: &CurveOptions, level: f64) -> Self {
        let parameters = model.parameters().len();
        let program = model.as_formula().program(Axes::Together, &vec![true; parameters]);
        let poisson = options.estimator == Estimator::MaximumLikelihood;
        Self { program, parameters, level, poisson, absolute: options.absolute, rule: None }
    }

    /// The same where this rule made the weights, beside those that are given.
    #[must_use]
    pub fn with_rule(self, rule: impl Into<Option<WeightRule>>) -> Self {
        Self { rule: rule.into(), ..self }
    }

    /// The level.
    pub fn level(&self) -> f64 {
        self.level
    }

    /// The bands of a fit at places, each with the weight that a datum there has, without that of a rule. They are infinite where the data
    /// do not determine the model, and those of prediction where the weight is 0.
    ///
    /// # Panics
    /// If the model has other parameters or variables.
    pub fn at(
        &self,
        fit: &BandFit<'_>,
        places: &[Vec<f64>],
        weight: impl Fn(usize) -> f64,
    ) -> Vec<BandAt> {
        let mut evaluator = Evaluator::new(&self.program);
        evaluator.set_parameters(fit.parameters);
        let known = self.poisson || self.absolute;
        let degrees = f64::from(fit.degrees);
        let quantile =
            if known { normal_quantile(self.level) } else { student_quantile(self.level, degrees) };
        let scale = if known { 1.0 } else { fit.chi2 / degrees };
        let mut slopes = vec![0.0; self.parameters];
        let mut at = |(number, place): (usize, &Vec<f64>)| {
            let value = evaluator.value(place);
            evaluator.derivatives(&mut slopes);
            let own = delta(&slopes, |j, k| fit.covariance[j * self.parameters + k]);
            let variance = match self.poisson {
                true => value.max(0.0),
                // Nothing is known of the spread of what does not count.
                false if weight(number) == 0.0 => f64::INFINITY,
                false => {
                    let ruled = self.rule.map_or(1.0, |rule| rule.weight(value));
                    scale / (weight(number) * ruled)
                }
            };
            let around = |width: f64| {
                // Without degrees of freedom nothing is known of the spread.
                let width = if width.is_nan() { f64::INFINITY } else { width };
                [value - width, value + width]
            };
            let confidence = around(quantile * own);
            let prediction = around(quantile * (own * own + variance).sqrt());
            BandAt { value, confidence, prediction }
        };
        places.iter().enumerate().map(&mut at).collect()
    }
}
