//! Fits whose weights follow from the model.

use ndarray::Ix2;

use super::WeightRule;
use super::rounds::{Scheme, Seen, State, Task, damp};
use crate::Backend;
use fit_curves::Values;

/// A value of the model counts as no smaller than this share of the largest, so that weights stay numbers.
const LEAST_VALUE: f64 = 1e-12;

/// Weights of the model's values.
pub(super) struct OfModel(pub(super) WeightRule);

impl Scheme for OfModel {
    fn weigh(&self, task: &Task<'_>, seen: &Seen, state: &mut State) -> Option<Vec<f64>> {
        let values = task.values(&seen.parameters, &seen.places);
        let most = seen.used(&values).fold(0.0_f64, |most, value| most.max(value.abs()));
        if most == 0.0 || seen.used(&values).any(|value| !value.is_finite()) {
            return None;
        }
        let share = |value: f64| self.0.weight((value.abs() / most).max(LEAST_VALUE));
        // In units of the largest value, in which no weight overflows.
        let unit = self.0.weight(most);
        let mut weights = seen.weighed(&values, share);
        weights.iter_mut().for_each(|weight| *weight *= unit);
        damp(&mut weights, state);
        Some(weights)
    }
}

/// How near to 0 or 1 a probability is taken to be for its weight: what double, and what single precision can tell.
const LEAST_PROBABILITY: [f64; 2] = [1e-12, 1e-6];

/// Successes among trials.
pub(super) struct Binomial<'a> {
    pub(super) trials: Values<'a, Ix2>,
}

impl Binomial<'_> {
    /// The trials of a fit.
    pub(super) fn trials(&self, fit: usize, points: usize) -> Vec<f64> {
        let mut trials = vec![0.0; points];
        self.trials.row(if self.trials.shape()[0] == 1 { 0 } else { fit }, &mut trials);
        trials
    }

    /// n/(p(1 − p)): the weight of a share of successes.
    pub(super) fn weight(trials: f64, p: f64, least: f64) -> f64 {
        let p = p.clamp(least, 1.0 - least);
        trials / (p * (1.0 - p))
    }

    /// The deviance of shares at probabilities; infinite where the model cannot be.
    pub(super) fn deviance(trials: &[f64], shares: &[f64], values: &[f64], weights: &[f64]) -> f64 {
        // k·log(k/np), 0 for 0.
        let part = |k: f64, p: f64| if k > 0.0 { k * (k / p).ln() } else { 0.0 };
        let points = trials.iter().zip(shares).zip(values).zip(weights);
        let used = points.filter(|(_, weight)| **weight > 0.0);
        2.0 * used
            .map(|(((&n, &share), &p), _)| match (0.0..=1.0).contains(&p) {
                true => n * (part(share, p) + part(1.0 - share, 1.0 - p)),
                false => f64::INFINITY,
            })
            .sum::<f64>()
    }
}

impl Scheme for Binomial<'_> {
    fn weigh(&self, task: &Task<'_>, seen: &Seen, state: &mut State) -> Option<Vec<f64>> {
        let values = task.values(&seen.parameters, &seen.places);
        let trials = self.trials(seen.fit, values.len());
        let is_double = task.fitter.backend() == Backend::Reference;
        let least = LEAST_PROBABILITY[usize::from(!is_double)];
        let all = values.iter().zip(&trials).zip(&seen.weights);
        // A weight that is given leaves out its point, or does not.
        let weight = |((p, trials), weight): ((&f64, &f64), &f64)| match *weight > 0.0 {
            true => Some(Self::weight(*trials, *p, least)).filter(|_| p.is_finite()),
            false => Some(0.0),
        };
        let mut weights = all.map(weight).collect::<Option<Vec<f64>>>()?;
        damp(&mut weights, state);
        Some(weights)
    }
}
