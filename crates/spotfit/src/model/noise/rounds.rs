//! Fits with weights that depend on what they find, repeated until nothing changes.

use std::sync::Arc;

use fit_core::Status;
use fit_curves::{CurveFits, CurveLimits, CurveOptions, Curves, Points, clean};
use fit_formula::{Axes, Evaluator, Program};
use ndarray::{Array2, Array3, ArrayView1, Axis};

use super::super::{Model, ModelError};
use super::NoiseError;
use crate::backend::Backend;
use crate::model::CurveFitter;

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
    slopes: Vec<Program>,
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
    /// Points in place of the given ones.
    pub(super) places: Vec<f64>,
}

/// What the next fit gets.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) weights: Vec<f64>,
    /// Other data and points.
    pub(super) moved: Option<(Vec<f64>, Vec<f64>)>,
}

/// How a fit is weighed.
pub(super) trait Scheme: Sync {
    /// What the next fit gets; `None` where the model has no numbers.
    fn weigh(&self, task: &Task<'_>, seen: &Seen, state: &mut State) -> Option<Rows>;

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
        let (precise, slopes, shared) = (fitter.backend() == Backend::Reference, Vec::new(), None);
        let mut task = Self { model, fitter, curves, options, precise, program, slopes, shared };
        if !matches!(curves.points, Points::PerFit(_)) && curves.count() > 0 {
            task.shared = Some(task.read_places(0));
        }
        task
    }

    /// The same in double precision.
    pub(super) fn precise(self) -> Self {
        Self { precise: true, ..self }
    }

    /// The same with the slopes along the variables.
    pub(super) fn with_slopes(mut self) -> Result<Self, NoiseError> {
        let all = (0..self.model.variables().len())
            .map(|variable| self.model.formula.slope(variable).ok_or(NoiseError::NoSlope));
        self.slopes = all.collect::<Result<_, _>>()?;
        Ok(self)
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
        let points = self.curves.points();
        let (mut data, mut weights) = (vec![0.0; points], vec![1.0; points]);
        self.curves.data.row(fit, &mut data);
        if let Some(values) = self.curves.weights {
            values.row(if values.shape()[0] == 1 { 0 } else { fit }, &mut weights);
            clean(&mut weights);
        }
        let places = self.shared.clone().unwrap_or_else(|| self.read_places(fit));
        let free = self.options.fixed.iter().filter(|fixed| !**fixed).count();
        Seen { fit, data, weights, places, parameters, free }
    }

    fn run(&self, program: &Program, parameters: &[f64], places: &[f64]) -> Vec<f64> {
        let mut evaluator = Evaluator::new(program);
        evaluator.set_parameters(parameters);
        let points = self.curves.points();
        let mut at = vec![0.0; self.model.variables().len()];
        let value = |point| {
            at.iter_mut().zip(0..).for_each(|(to, k): (_, usize)| *to = places[k * points + point]);
            evaluator.value(&at)
        };
        (0..points).map(value).collect()
    }

    /// The model at places.
    pub(super) fn values(&self, parameters: &[f64], places: &[f64]) -> Vec<f64> {
        self.run(&self.program, parameters, places)
    }

    /// Its slope along a variable.
    pub(super) fn slope(&self, variable: usize, parameters: &[f64], places: &[f64]) -> Vec<f64> {
        self.run(&self.slopes[variable], parameters, places)
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
            let made = self.fitter.reference().map(active.len(), |place| {
                let fit = active[place];
                let mut state = states[fit].clone();
                state.rounds += 1;
                let seen = self.see(fit, parameters(fit));
                scheme.weigh(self, &seen, &mut state).map(|rows| (rows, state))
            });
            let mut batch = Vec::with_capacity(active.len());
            let mut all = Vec::with_capacity(active.len());
            for (fit, made) in active.iter().copied().zip(made) {
                let Some((rows, state)) = made.filter(|(rows, _)| is_sound(&rows.weights)) else {
                    fits.statuses[fit] = Status::NotConverged;
                    continue;
                };
                states[fit] = state;
                weights.row_mut(fit).iter_mut().zip(&rows.weights).for_each(|(to, of)| *to = *of);
                batch.push(fit);
                all.push(rows);
            }
            if batch.is_empty() {
                return Ok(weights);
            }
            let found = self.fit(&batch, all, fits, &options)?;
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

    /// Fits some of the data sets again from where they are.
    fn fit(
        &self,
        batch: &[usize],
        rows: Vec<Rows>,
        fits: &CurveFits,
        options: &CurveOptions,
    ) -> Result<CurveFits, ModelError> {
        let (points, variables) = (self.curves.points(), self.model.variables().len());
        let moves = rows.first().is_some_and(|rows| rows.moved.is_some());
        let mut data = Vec::with_capacity(batch.len() * points);
        let mut places = Vec::new();
        let mut weights = Vec::with_capacity(batch.len() * points);
        for (rows, &fit) in rows.into_iter().zip(batch) {
            weights.extend(rows.weights);
            if let Some((own, at)) = rows.moved {
                data.extend(own);
                places.extend(at);
            } else {
                let first = data.len();
                data.resize(first + points, 0.0);
                self.curves.data.row(fit, &mut data[first..]);
                if let Points::PerFit(_) = self.curves.points {
                    places.extend(self.read_places(fit));
                }
            }
        }
        let shape = (batch.len(), points);
        let table = |numbers| Array2::from_shape_vec(shape, numbers).unwrap_or_default();
        let (data, weights) = (table(data), table(weights));
        let places = Array3::from_shape_vec((batch.len(), variables, points), places);
        let places = places.unwrap_or_default();
        let at = match self.curves.reborrow().points {
            Points::PerFit(_) => Points::PerFit(places.view().into()),
            _ if moves => Points::PerFit(places.view().into()),
            at => at,
        };
        let mut start = fits.parameters.select(Axis(0), batch);
        for (mut start, &fit) in start.rows_mut().into_iter().zip(batch) {
            for (j, value) in start.iter_mut().enumerate() {
                let [lower, upper] = self.options.limit(fit, j);
                *value = value.clamp(lower, upper);
            }
        }
        let curves = Curves::new(data.view(), at).with_weights(weights.view());
        match &self.options.limits {
            CurveLimits::PerFit(limits) => {
                let each = self.options.parameters();
                let own = |&fit: &usize| limits[fit * each..(fit + 1) * each].iter().copied();
                let own = CurveLimits::PerFit(batch.iter().flat_map(own).collect());
                let options = options.clone().with_limits(own);
                self.fit_from(&curves, &start, &options)
            }
            _ => self.fit_from(&curves, &start, options),
        }
    }

    fn fit_from(
        &self,
        curves: &Curves<'_>,
        start: &Array2<f64>,
        options: &CurveOptions,
    ) -> Result<CurveFits, ModelError> {
        let (formula, start) = (&self.model.formula, start.view().into());
        if self.precise {
            return self.fitter.fit_double(formula, curves, start, options);
        }
        self.fitter.fit(formula, curves, start, options)
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
    fits.iterations[fit] = fits.iterations[fit].saturating_add(found.iterations[place]);
    fits.evaluations[fit] = fits.evaluations[fit].saturating_add(found.evaluations[place]);
    if found.statuses[place] == Status::Invalid {
        fits.statuses[fit] = Status::NotConverged;
        return false;
    }
    fits.parameters.row_mut(fit).assign(&found.parameters.row(place));
    fits.errors.row_mut(fit).assign(&found.errors.row(place));
    if !fits.covariance.is_empty() {
        let own = found.covariance.index_axis(Axis(0), place);
        fits.covariance.index_axis_mut(Axis(0), fit).assign(&own);
    }
    fits.chi2[fit] = found.chi2[place];
    fits.degrees[fit] = found.degrees[place];
    fits.statuses[fit] = found.statuses[place];
    true
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
