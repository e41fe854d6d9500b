//! Fits with weights that depend on what they find, repeated until nothing changes.

use std::sync::Arc;

use fit_core::Status;
use fit_curves::{CurveFits, CurveOptions, Curves, Points};
use fit_formula::{Axes, Evaluator, Program};
use ndarray::{Array2, ArrayView1, Axis};

use super::super::{Model, ModelError};
use crate::backend::Backend;
use crate::model::CurveFitter;
use crate::model::copies::{Copies, data_and_weights, options_of};

/// Rounds after which weights move only half way, so that they cannot jump to and fro.
const ROUNDS: u32 = 10;

/// Data sets and all that their fits need.
pub(super) struct Task<'a> {
    pub(super) model: &'a Model,
    pub(super) fitter: &'a CurveFitter,
    pub(super) curves: Curves<'a>,
    pub(super) options: &'a CurveOptions,
    /// Whether fits are in double precision on any backend.
    precise: bool,
    program: Arc<Program>,
    /// The points, where they are the same for all fits.
    shared: Option<Vec<f64>>,
}

/// What is known of a fit before it is weighed.
pub(super) struct Seen {
    pub(super) fit: usize,
    pub(super) data: Vec<f64>,
    /// As they are given: 0 for what is left out.
    pub(super) weights: Vec<f64>,
    /// The variables of the points, one after the other.
    pub(super) places: Vec<f64>,
    pub(super) parameters: Vec<f64>,
    /// Parameters that are found.
    pub(super) free: usize,
}

impl Seen {
    /// Of a number for each point those that count.
    pub(super) fn used<'s>(&'s self, of: &'s [f64]) -> impl Iterator<Item = f64> + Clone + 's {
        of.iter().zip(&self.weights).filter(|pair| *pair.1 > 0.0).map(|pair| *pair.0)
    }

    /// The weights, each times what the residual of the point makes of it.
    pub(super) fn weighed(&self, residuals: &[f64], share: impl Fn(f64) -> f64) -> Vec<f64> {
        let pairs = self.weights.iter().zip(residuals);
        pairs
            .map(|(&weight, &left)| if weight > 0.0 { weight * share(left) } else { 0.0 })
            .collect()
    }
}

/// How far a fit with a loss has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nearly least absolute deviations.
    #[default]
    Absolute,
    /// Without what lies far beyond the scale, which is looked for.
    Trimmed,
    /// With the loss, and a scale that stays.
    Last,
}

/// What a fit keeps from round to round.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) scale: f64,
    /// By which share the scale has changed.
    pub(super) change: f64,
    pub(super) phase: Phase,
    /// Whether the scale stays.
    pub(super) is_held: bool,
    pub(super) rounds: u32,
    /// The weights before.
    pub(super) before: Vec<f64>,
}

/// How a fit is weighed.
pub(super) trait Scheme: Sync {
    /// The weights that the next fit gets; `None` where the model has no numbers.
    fn weigh(&self, task: &Task<'_>, seen: &Seen, state: &mut State) -> Option<Vec<f64>>;

    /// A fit has moved by so many errors, beside those at which it may end; whether it ends.
    fn ends(&self, shift: f64, most: f64, _: &mut State) -> bool {
        shift <= most
    }
}

impl<'a> Task<'a> {
    pub(super) fn new(
        model: &'a Model,
        fitter: &'a CurveFitter,
        curves: &'a Curves<'_>,
        options: &'a CurveOptions,
    ) -> Self {
        let curves = curves.reborrow();
        let program = model.formula.program(Axes::Together, &vec![true; options.parameters()]);
        let precise = fitter.backend() == Backend::Reference;
        let mut task = Self { model, fitter, curves, options, precise, program, shared: None };
        if !matches!(curves.points, Points::PerFit(_)) && curves.count() > 0 {
            task.shared = Some(task.read_places(0));
        }
        task
    }

    /// The same in double precision.
    pub(super) fn precise(self) -> Self {
        Self { precise: true, ..self }
    }

    fn read_places(&self, fit: usize) -> Vec<f64> {
        let (points, variables) = (self.curves.points(), self.model.variables().len());
        let of = |variable: usize, point: usize| match self.curves.points {
            Points::Grid { width, .. } if variable == 0 => (point % width) as f64,
            Points::Grid { width, .. } => (point / width) as f64,
            Points::Shared(at) => at.get([variable, point]),
            Points::PerFit(at) => at.get([fit, variable, point]),
            _ => point as f64,
        };
        (0..variables * points).map(|number| of(number / points, number % points)).collect()
    }

    /// Data and weights of a fit, with these parameters.
    pub(super) fn see(&self, fit: usize, parameters: Vec<f64>) -> Seen {
        let [data, weights] = data_and_weights(&self.curves, fit);
        let places = self.shared.clone().unwrap_or_else(|| self.read_places(fit));
        let free = self.options.fixed.iter().filter(|fixed| !**fixed).count();
        Seen { fit, data, weights, places, parameters, free }
    }

    /// The model at places.
    pub(super) fn values(&self, parameters: &[f64], places: &[f64]) -> Vec<f64> {
        let mut evaluator = Evaluator::new(&self.program);
        evaluator.set_parameters(parameters);
        let points = self.curves.points();
        let mut at = vec![0.0; self.model.variables().len()];
        let value = |point| {
            at.iter_mut().zip(0..).for_each(|(to, k): (_, usize)| *to = places[k * points + point]);
            evaluator.value(&at)
        };
        (0..points).map(value).collect()
    }

    /// The derivatives by the parameters that are wanted, a column for each.
    pub(super) fn columns(&self, seen: &Seen, wanted: &[usize]) -> Vec<Vec<f64>> {
        let mut evaluator = Evaluator::new(&self.program);
        evaluator.set_parameters(&seen.parameters);
        let points = self.curves.points();
        let mut at = vec![0.0; self.model.variables().len()];
        let mut all = vec![0.0; seen.parameters.len()];
        let mut columns = vec![Vec::with_capacity(points); wanted.len()];
        for point in 0..points {
            let places = |k: usize| seen.places[k * points + point];
            at.iter_mut().enumerate().for_each(|(k, to)| *to = places(k));
            evaluator.value(&at);
            evaluator.derivatives(&mut all);
            columns.iter_mut().zip(wanted).for_each(|(column, &j)| column.push(all[j]));
        }
        columns
    }

    /// How exact the fits of rounds are, and the shift at which they end: both well below what is asked for where double
    /// precision can tell.
    fn exactness(&self) -> [f64; 2] {
        let asked = self.options.tolerance;
        let finer = 0.1 * asked;
        if self.precise {
            return [finer, finer];
        }
        // What single precision can do.
        [if asked >= 1e-4 { finer.max(1e-4) } else { finer }, asked.max(1e-3)]
    }

    /// Repeats fits until they end; gives the weights of the last ones (fit, point).
    pub(super) fn rounds(
        &self,
        scheme: &dyn Scheme,
        fits: &mut CurveFits,
        states: &mut [State],
    ) -> Result<Array2<f64>, ModelError> {
        let [tolerance, most] = self.exactness();
        let options = self.options.clone().with_tolerance(tolerance);
        let mut weights = Array2::zeros((self.curves.count(), self.curves.points()));
        let is_there = |fit: &usize| fits.statuses[*fit] != Status::Invalid;
        let mut active: Vec<usize> = (0..self.curves.count()).filter(is_there).collect();
        for _ in 0..options.max_iterations {
            let parameters = |fit: usize| fits.parameters.row(fit).to_vec();
            let made = self.fitter.double().map(active.len(), |place| {
                let fit = active[place];
                let mut state = states[fit].clone();
                state.rounds += 1;
                let seen = self.see(fit, parameters(fit));
                scheme.weigh(self, &seen, &mut state).map(|own| (own, state))
            });
            let mut batch = Vec::with_capacity(active.len());
            for (fit, made) in active.iter().copied().zip(made) {
                let Some((own, state)) = made.filter(|(own, _)| is_sound(own)) else {
                    fits.statuses[fit] = Status::NotConverged;
                    continue;
                };
                states[fit] = state;
                weights.row_mut(fit).iter_mut().zip(own).for_each(|(to, of)| *to = of);
                batch.push(fit);
            }
            if batch.is_empty() {
                return Ok(weights);
            }
            let found = self.fit(&batch, &weights, fits, &options)?;
            active.clear();
            for (place, &fit) in batch.iter().enumerate() {
                let [from, to] = [fits.parameters.row(fit), found.parameters.row(place)];
                let shift = shift(from, to, found.errors.row(place));
                if take(fits, fit, &found, place) && !scheme.ends(shift, most, &mut states[fit]) {
                    active.push(fit);
                }
            }
        }
        active.iter().for_each(|&fit| fits.statuses[fit] = Status::MaxIterations);
        Ok(weights)
    }

    /// Fits some of the data sets again from where they are, with these weights (fit, point) of all.
    fn fit(
        &self,
        batch: &[usize],
        weights: &Array2<f64>,
        fits: &CurveFits,
        options: &CurveOptions,
    ) -> Result<CurveFits, ModelError> {
        let weighted = self.curves.reborrow().with_weights(weights.view());
        let copies = Copies::of(&weighted, self.model.variables().len(), batch);
        let options = options_of(options, batch);
        let mut start = fits.parameters.select(Axis(0), batch);
        for ((row, j), value) in start.indexed_iter_mut() {
            let [lower, upper] = options.limit(row, j);
            *value = value.clamp(lower, upper);
        }
        let (formula, start) = (&self.model.formula, start.view().into());
        if self.precise {
            return Ok(self.fitter.double().fit(formula, &copies.curves(), start, &options)?);
        }
        self.fitter.fit(formula, &copies.curves(), start, &options)
    }
}

/// Weights that a fit takes: some points have one.
fn is_sound(weights: &[f64]) -> bool {
    weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0)
        && weights.iter().any(|weight| *weight > 0.0)
}

/// The largest step of a parameter, beside its error.
pub(super) fn shift(
    from: ArrayView1<'_, f64>,
    to: ArrayView1<'_, f64>,
    errors: ArrayView1<'_, f64>,
) -> f64 {
    let steps = from.iter().zip(to).zip(errors).map(|((from, to), error)| {
        let step = (to - from).abs();
        // What rounding moves, where residuals are nothing.
        let least = 16.0 * f64::EPSILON * to.abs();
        if step <= least { 0.0 } else { step / error }
    });
    steps.fold(0.0, f64::max)
}

/// Takes over what was found; false, and nothing else, where nothing was.
pub(super) fn take(fits: &mut CurveFits, fit: usize, found: &CurveFits, place: usize) -> bool {
    let iterations = fits.iterations[fit].saturating_add(found.iterations[place]);
    let evaluations = fits.evaluations[fit].saturating_add(found.evaluations[place]);
    let is_found = found.statuses[place] != Status::Invalid;
    if is_found {
        fits.take(fit, found, place);
    } else {
        fits.statuses[fit] = Status::NotConverged;
    }
    (fits.iterations[fit], fits.evaluations[fit]) = (iterations, evaluations);
    is_found
}

/// Weights that have moved only half way, after some rounds.
pub(super) fn damp(weights: &mut [f64], state: &mut State) {
    if state.before.len() == weights.len() {
        let pairs = weights.iter_mut().zip(&state.before);
        pairs.for_each(|(weight, before)| *weight = weight.sqrt() * before.sqrt());
    }
    if state.rounds >= ROUNDS {
        state.before = weights.to_vec();
    }
}
