//! Where the fits of a model begin, if it is not said.

use fit_core::Estimator;
use fit_cpu::BatchError;
use fit_curves::{Frame, Sharing};
use ndarray::Array2;

use super::named::Kind;
use super::search;
use super::start::Candidates;
use super::{CurveError, CurveFitter, CurveOptions, Curves, Model, ModelError, Points, points};

impl Model {
    /// Start values for each data set (fit, parameter), within the limits: the best of several candidates for the
    /// nonlinear parameters, by least squares. For a formula they are the best of 4096 candidates, whose sizes follow from the points;
    /// where a fit begins by itself ([`CurveStart::Estimate`](super::CurveStart::Estimate)), the best of each eighth of them is fitted,
    /// and the best fit kept.
    ///
    /// # Errors
    /// If the request is invalid, or a parameter of a formula is held.
    pub fn start(
        &self,
        fitter: &CurveFitter,
        curves: &Curves<'_>,
        options: &CurveOptions,
    ) -> Result<Array2<f64>, ModelError> {
        self.start_beside(fitter, curves, options, &Sharing::default())
    }

    /// The same for data sets that need not determine what they share.
    pub(super) fn start_beside(
        &self,
        fitter: &CurveFitter,
        curves: &Curves<'_>,
        options: &CurveOptions,
        sharing: &Sharing,
    ) -> Result<Array2<f64>, ModelError> {
        let mut all = self.starts_of(fitter, curves, options, sharing, 1, 0)?;
        Ok(all.pop().unwrap_or_default())
    }

    /// As many for each data set as are fitted.
    pub(super) fn starts(
        &self,
        fitter: &CurveFitter,
        curves: &Curves<'_>,
        options: &CurveOptions,
    ) -> Result<Vec<Array2<f64>>, ModelError> {
        let parts = if self.kinds().is_some() { 1 } else { search::STARTS };
        self.starts_of(fitter, curves, options, &Sharing::default(), parts, 0)
    }

    /// Of a formula, those of further candidates.
    pub(super) fn starts_again(
        &self,
        fitter: &CurveFitter,
        curves: &Curves<'_>,
        options: &CurveOptions,
        turn: usize,
    ) -> Result<Vec<Array2<f64>>, ModelError> {
        self.starts_of(fitter, curves, options, &Sharing::default(), search::STARTS, turn)
    }

    /// What the parameters of a model with a name are, unless ties have made nonlinear what was linear.
    pub(super) fn kinds(&self) -> Option<Vec<Kind>> {
        let linear = self.formula.linear();
        let known = self.named?.parameters.iter().filter_map(|&(name, kind)| {
            self.parameter(name).ok().map(|number| (linear[number], kind))
        });
        let known: Vec<(bool, Kind)> = known.collect();
        let stays = |&(linear, kind): &(bool, Kind)| linear || kind != Kind::Linear;
        known.iter().all(stays).then(|| known.iter().map(|known| known.1).collect())
    }

    fn starts_of(
        &self,
        fitter: &CurveFitter,
        curves: &Curves<'_>,
        options: &CurveOptions,
        sharing: &Sharing,
        parts: usize,
        turn: usize,
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
        let above: Vec<bool> = match curves.count() {
            0 => vec![false; count],
            _ => (0..count).map(|j| options.limit(0, j)[0] >= 0.0).collect(),
        };
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
                    let all = search::candidates(&self.formula, &linear, &above, &points, turn);
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
