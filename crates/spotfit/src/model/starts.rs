//! Where the fits of a model begin, if it is not said.

use std::sync::OnceLock;

use fit_core::Estimator;
use fit_cpu::BatchError;
use fit_curves::{Frame, Sharing};
use ndarray::Array2;
use spotfit_locs::private::ends;

use super::copies::weights_of;
use super::named::{Kind, WaveParameters};
use super::search::{self, Search};
use super::spectrum::{Spectrum, spread};
use super::start::{Candidates, SCALES};
use super::{CurveError, CurveFitter, CurveOptions, Curves, Model, ModelError, Points, point};

impl Model {
    /// Start values for each data set (fit, parameter), within the limits: the best of several candidates for the
    /// nonlinear parameters, by least squares; of a sine the highest peak of the data's spectrum. For a formula they are the best of 4096
    /// candidates, whose sizes follow from the points and, for frequencies and periods, from the spectrum;
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

    /// As many for each data set as are fitted; of a formula, those of further candidates at each turn.
    pub(super) fn starts(
        &self,
        fitter: &CurveFitter,
        curves: &Curves<'_>,
        options: &CurveOptions,
        turn: usize,
    ) -> Result<Vec<Array2<f64>>, ModelError> {
        let parts = if self.kinds().is_some() { 1 } else { search::STARTS };
        self.starts_of(fitter, curves, options, &Sharing::default(), parts, turn)
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
        // What ties have left of a wave is searched for as any formula is.
        let is_whole = |kinds: &Vec<Kind>| {
            !kinds.contains(&Kind::Frequency)
                || WaveParameters::of(kinds).is_some()
                || options.fixed.contains(&true)
        };
        let kinds = self.kinds().filter(is_whole);
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
        let few = spread(curves.points(), if kinds.is_some() { MOST_POINTS } else { FEW_POINTS });
        let places = |fit: usize, at: &[usize], origin: &[f64]| -> Vec<Vec<f64>> {
            let of = |&at: &usize| {
                let place = point(curves, variables, fit, at);
                place.iter().zip(origin).map(|(at, origin)| at - origin).collect()
            };
            at.iter().map(of).collect()
        };
        let search = kinds.is_none().then(|| Search::new(&self.formula, &linear));
        let wave = kinds.as_deref().and_then(WaveParameters::of);
        let phases: Vec<Option<f64>> = match (&search, wave) {
            (Some(search), _) => search.periods(),
            (None, wave) => {
                let is_phase = |j| wave.is_some_and(|wave| wave.phase == j);
                (0..count).map(|j| is_phase(j).then_some(std::f64::consts::TAU)).collect()
            }
        };
        let candidates = |fit: usize, origin: &[f64]| {
            let points = places(fit, &few, origin);
            let found = match (&kinds, &search) {
                (None, Some(search)) => {
                    let all = search.candidates(&above, &points, turn);
                    Candidates::of(&self.formula, &linear, all, &points)
                }
                (kinds, _) => {
                    Candidates::new(&self.formula, kinds.as_deref().unwrap_or_default(), &points)
                }
            };
            (found, points)
        };
        let spectrum = |fit: usize, origin: &[f64], weights: &[f64]| {
            // Those without weight may lie anywhere.
            let any = weights.iter().position(|weight| *weight > 0.0).unwrap_or(0);
            let x = weights.iter().enumerate().map(|(at, weight)| {
                point(curves, 1, fit, if *weight > 0.0 { at } else { any })[0] - origin[0]
            });
            match (&search, wave) {
                (Some(search), _) if search.turns() => {
                    search.spectrum(&x.collect::<Vec<_>>(), weights)
                }
                (_, Some(wave)) => {
                    let shares = if wave.time.is_some() { &SCALES[..] } else { &[f64::INFINITY] };
                    Spectrum::new(&x.collect::<Vec<_>>(), weights, &[], shares)
                }
                _ => None,
            }
        };
        let seen = |fit: usize, data: &[f64]| {
            let mut weights = weights_of(curves, fit);
            for (weight, _) in weights.iter_mut().zip(data).filter(|(_, datum)| !datum.is_finite())
            {
                *weight = 0.0;
            }
            weights
        };
        let is_shared = !matches!(curves.points, Points::PerFit(_)) && curves.count() > 0;
        let shared_origin = is_shared.then(|| curves.origin(0, &can_shift));
        let shared_candidates = OnceLock::new();
        let shared_spectrum = OnceLock::new();
        let positive = options.estimator == Estimator::MaximumLikelihood;
        let of_fit = |fit: usize| {
            let mut data = vec![0.0; curves.points()];
            curves.data.row(fit, &mut data);
            let weights = seen(fit, &data);
            let origin = shared_origin.clone().unwrap_or_else(|| curves.origin(fit, &can_shift));
            let own_spectrum;
            let is_common = curves.weights.is_none_or(|weights| weights.shape()[0] == 1)
                && data.iter().all(|datum| datum.is_finite());
            let spectrum = if is_shared && is_common {
                shared_spectrum.get_or_init(|| spectrum(fit, &origin, &weights))
            } else {
                own_spectrum = spectrum(fit, &origin, &weights);
                &own_spectrum
            };
            let limit = |j: usize| options.limit(fit, j);
            fill(&mut data, &weights);
            let extent = ends(data.iter().copied());
            let frame = Frame::new(invariance, &origin, extent, positive);
            let level = frame.as_ref().map_or(0.0, Frame::level);
            data.iter_mut().for_each(|datum| *datum -= level);
            let waved = wave.zip(spectrum.as_ref()).and_then(|(wave, spectrum)| {
                let [low, high] = limit(wave.frequency);
                let found = spectrum.wave(&data, &(low..=high))?;
                let [sine, cosine, mean] = spectrum.fitted(&data, &found, positive)?;
                if positive && mean <= 0.0 {
                    return None;
                }
                let mut parameters = vec![0.0; count];
                // Either sign, half a turn apart.
                let sign = if limit(wave.amplitude)[1] <= 0.0 { -1.0 } else { 1.0 };
                parameters[wave.amplitude] = sign * sine.hypot(cosine);
                parameters[wave.frequency] = found.frequency;
                parameters[wave.phase] = (sign * cosine).atan2(sign * sine);
                parameters[wave.offset] = mean;
                if let Some(time) = wave.time {
                    parameters[time] = found.time;
                }
                Some(parameters)
            });
            let best = if let Some(waved) = waved {
                vec![Some(waved)]
            } else {
                let own;
                let (from, points) = if is_shared {
                    shared_candidates.get_or_init(|| candidates(fit, &origin))
                } else {
                    own = candidates(fit, &origin);
                    &own
                };
                let some: Vec<f64> = few.iter().map(|&at| data[at]).collect();
                let mut found = match (&search, spectrum) {
                    (Some(search), Some(spectrum)) => {
                        let all =
                            search.at_frequencies(spectrum, &data, &above, limit, points, turn);
                        let choices = if all.is_empty() { 0 } else { parts.min(search::CHOICES) };
                        let all = Candidates::of(&self.formula, &linear, all, points);
                        all.best_of_parts(&some, positive, choices)
                    }
                    _ => Vec::new(),
                };
                if parts == 1 {
                    found.extend(from.best_of_parts(&some, positive, 1));
                    let sound = found.into_iter().flatten();
                    found = vec![sound.min_by(|a, b| a.0.total_cmp(&b.0))];
                } else {
                    found.extend(from.best_of_parts(&some, positive, parts - found.len()));
                }
                found.into_iter().map(|found| found.map(|found| found.1)).collect()
            };
            let whole = |best: Option<Vec<f64>>| {
                let mut best = best.unwrap_or_else(|| vec![1.0; count]);
                if let Some(frame) = &frame {
                    frame.leave(&mut best);
                }
                for (j, value) in best.iter_mut().enumerate() {
                    let [lower, upper] = options.limit(fit, j);
                    if let Some(period) = phases[j].filter(|_| *value < lower || *value > upper) {
                        let from = if lower.is_finite() { lower } else { upper - period };
                        *value = from + (*value - from).rem_euclid(period);
                    }
                    *value = if value.is_finite() { *value } else { 1.0 }.clamp(lower, upper);
                }
                best
            };
            best.into_iter().map(whole).collect()
        };
        let all: Vec<Vec<Vec<f64>>> = fitter.double().map(curves.count(), of_fit);
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
