//! Fits with a loss.

use fit_core::Status;
use fit_curves::CurveFits;
use ndarray::{Array2, Axis};

use super::loss::{Loss, LossScale};
use super::outliers::{self, Outlier};
use super::rounds::{Phase, Scheme, Seen, State, Task};
use super::scales::{biweight, reach, spread};
use super::subsets;
use super::triangle::Triangle;
use crate::model::ModelError;

/// The knee of the loss that fits begin with, in scales: nearly least absolute deviations, which outliers change less than all
/// losses that are efficient and convex.
const KNEE: f64 = 0.3;
/// The scale is looked for until it changes by less than this share.
pub(super) const STEADY: f64 = 1e-3;
/// So near, in errors, fits come before the next phase, or so many times they are repeated in the phases before the last.
pub(super) const NEAR: f64 = 0.01;
pub(super) const MOST_ROUNDS: [u32; 2] = [15, 25];

/// The weights of the last fits, the scale of each data set, and outliers.
type Found = (Array2<f64>, Vec<f64>, Vec<Outlier>);

/// What 2s²·Σρ is measured by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::model) struct LossUnit {
    /// By how much it is above its minimum where a parameter is one standard error away, others following: s²E\[ψ²\]/E\[ψ′\] with what few
    /// points add.
    pub(in crate::model) step: f64,
    /// s²E\[ψ²\]/E\[ψ′\], in which its differences are those of twice the logarithm of a likelihood (Ronchetti 1985).
    pub(in crate::model) deviance: f64,
}

impl LossUnit {
    const UNKNOWN: Self = Self { step: f64::NAN, deviance: f64::NAN };
}

/// A loss with its scale.
pub(super) struct Robust {
    pub(super) loss: Loss,
    pub(super) scale: LossScale,
}

impl Robust {
    /// The scale that is given.
    pub(super) fn held(&self, task: &Task<'_>) -> Option<f64> {
        match self.scale {
            LossScale::Held(scale) => Some(scale),
            LossScale::Auto => task.options.absolute.then_some(1.0),
        }
    }

    /// The share of its weight that a point keeps in a phase, with a residual in scales.
    pub(super) fn share(&self, phase: Phase, u: f64) -> f64 {
        match phase {
            Phase::Absolute => 1.0 / (u.abs() / KNEE).max(1.0),
            Phase::Trimmed => Loss::Tukey.weight(u),
            Phase::Last => self.loss.weight(u),
        }
    }

    /// Fits with the loss, from what least squares found, or from the start values where these lead to smaller absolute deviations.
    pub(super) fn fit(
        &self,
        task: &Task<'_>,
        fits: &mut CurveFits,
        start: Option<Array2<f64>>,
        rate: Option<f64>,
    ) -> Result<Found, ModelError> {
        let mut states = vec![State::default(); fits.len()];
        let mut others = start.as_ref().map(|start| {
            let mut others = fits.clone();
            others.parameters.assign(start);
            others
        });
        task.rounds(&Beginning(self), fits, &mut states)?;
        if let Some(others) = &mut others {
            let mut own = vec![State::default(); fits.len()];
            task.rounds(&Beginning(self), others, &mut own)?;
            self.choose(task, fits, others, &mut states, own);
        }
        let next = if self.held(task).is_some() { Phase::Last } else { Phase::Trimmed };
        states.iter_mut().for_each(|state| state.phase = next);
        let mut weights = task.rounds(self, fits, &mut states)?;
        subsets::search(self, task, fits, start.as_ref(), &mut states, &mut weights)?;
        let scales = states.iter().map(|state| state.scale);
        let is_there = |fit: usize| fits.statuses[fit] != Status::Invalid;
        let scales: Vec<f64> =
            scales.enumerate().map(|(fit, s)| if is_there(fit) { s } else { f64::NAN }).collect();
        let (outliers, _) = self.tell(task, fits, &scales, rate);
        Ok((weights, scales, outliers))
    }

    /// Puts what residuals say of fits that have ended into them: outliers, and units of loss.
    pub(super) fn tell(
        &self,
        task: &Task<'_>,
        fits: &mut CurveFits,
        scales: &[f64],
        rate: Option<f64>,
    ) -> (Vec<Outlier>, Vec<LossUnit>) {
        let judged = task.fitter.double().map(fits.len(), |fit| {
            let is_there = fits.statuses[fit] != Status::Invalid;
            is_there.then(|| self.judge(task, fits, fit, scales[fit], rate))?
        });
        let mut outliers = Vec::new();
        let mut units = vec![LossUnit::UNKNOWN; fits.len()];
        for (fit, judged) in judged.into_iter().enumerate() {
            let Some(judged) = judged else { continue };
            units[fit] = judged.unit;
            fits.chi2[fit] = judged.cost;
            fits.degrees[fit] = judged.degrees;
            let infinite = fits.errors.row(fit).mapv(|error| error == f64::INFINITY);
            for (j, error) in fits.errors.row_mut(fit).iter_mut().enumerate() {
                let own = judged.inverse.iter().position(|(k, _)| *k == j);
                *error = match own {
                    _ if infinite[j] => f64::INFINITY,
                    Some(at) => judged.inverse[at].1[at].sqrt() * judged.factor,
                    None => 0.0,
                };
            }
            if !fits.covariance.is_empty() {
                let mut covariance = fits.covariance.index_axis_mut(Axis(0), fit);
                covariance.fill(0.0);
                for (j, row) in &judged.inverse {
                    for ((k, _), value) in judged.inverse.iter().zip(row) {
                        covariance[[*j, *k]] = value * judged.factor * judged.factor;
                    }
                }
                for j in (0..infinite.len()).filter(|&j| infinite[j]) {
                    covariance[[j, j]] = f64::INFINITY;
                }
            }
            outliers.extend(judged.outliers);
        }
        (outliers, units)
    }

    /// Takes the others where they lie nearer to the data.
    fn choose(
        &self,
        task: &Task<'_>,
        fits: &mut CurveFits,
        others: &CurveFits,
        states: &mut [State],
        own: Vec<State>,
    ) {
        let size = |fits: &CurveFits, fit: usize| {
            let seen = task.see(fit, fits.parameters.row(fit).to_vec());
            let residuals = seen.residuals(task);
            residuals.map_or(f64::INFINITY, |all| all.iter().map(|left| left.abs()).sum())
        };
        let is_other = task.fitter.double().map(fits.len(), |fit| {
            fits.statuses[fit] != Status::Invalid && size(others, fit) < size(fits, fit)
        });
        for (fit, state) in own.into_iter().enumerate().filter(|(fit, _)| is_other[*fit]) {
            fits.parameters.row_mut(fit).assign(&others.parameters.row(fit));
            states[fit] = state;
        }
    }

    /// What the residuals of a fit that has ended say.
    fn judge(
        &self,
        task: &Task<'_>,
        fits: &CurveFits,
        fit: usize,
        scale: f64,
        rate: Option<f64>,
    ) -> Option<Judged> {
        let seen = task.see(fit, fits.parameters.row(fit).to_vec());
        // What a limit holds has no error.
        let is_free = |&j: &usize| !task.options.fixed[j] && fits.errors[[fit, j]] != 0.0;
        let free = (0..seen.parameters.len()).filter(is_free);
        let free: Vec<usize> = free.collect();
        let residuals = seen.residuals(task)?;
        let used = seen.weights.iter().filter(|weight| **weight > 0.0).count();
        let degrees = used as f64 - free.len() as f64;
        let Sums { cost, factor, unit } = self.sums(task, &seen, &residuals, scale, degrees);
        let roots: Vec<f64> = seen.weights.iter().map(|weight| weight.sqrt()).collect();
        let columns = task.columns(&seen, &free);
        let inverse = Triangle::of(columns, &roots).inverse();
        let inverse = free.iter().copied().zip(inverse).collect();
        let found = match rate {
            Some(rate) => outliers::found(fit, &residuals, &seen.weights, scale, degrees, rate),
            None => Vec::new(),
        };
        let degrees = degrees.max(0.0) as u32;
        Some(Judged { cost, degrees, factor, unit, inverse, outliers: found })
    }

    /// What residuals say together, of fits that leave so many degrees of freedom.
    pub(super) fn sums(
        &self,
        task: &Task<'_>,
        seen: &Seen,
        residuals: &[f64],
        scale: f64,
        degrees: f64,
    ) -> Sums {
        let used: Vec<f64> = seen.used(residuals).map(|left| left / scale).collect();
        let points = used.len() as f64;
        let parameters = points - degrees;
        let sum = |of: &dyn Fn(f64) -> f64| used.iter().map(|&u| of(u)).sum::<f64>();
        let cost = 2.0 * scale * scale * sum(&|u| self.loss.cost(u));
        // ψ² in units of data and ψ′ as they are.
        let (squares, slope, freedom, correction) = if task.options.absolute {
            let [square, slope] = self.loss.expected(scale);
            (square, slope, square, 1.0)
        } else {
            // Huber, Robust Statistics (1981), 7.6: Σψ²/(n − p)/(mean of ψ′)², with a correction for few points.
            let slope = sum(&|u| self.loss.curvature(u)) / points;
            let square = sum(&|u| (u * self.loss.weight(u)).powi(2)) * scale * scale;
            let spread = sum(&|u| (self.loss.curvature(u) - slope).powi(2)) / points;
            let correction = 1.0 + parameters / points * spread / (slope * slope);
            (square / points, slope, square / degrees, correction)
        };
        let variance = freedom * (correction / slope).powi(2);
        // Where the loss curves down at most points, the residuals tell no error.
        let is_told = slope > 0.0 && (degrees > 0.0 || task.options.absolute);
        let is_told = is_told && variance.is_finite();
        let factor = if is_told { variance.sqrt() } else { f64::INFINITY };
        let unit = match is_told {
            true => LossUnit { step: variance * slope, deviance: squares / slope },
            false => LossUnit::UNKNOWN,
        };
        Sums { cost, factor, unit }
    }
}

/// What the residuals of a fit say together.
pub(super) struct Sums {
    /// 2s²·Σρ.
    cost: f64,
    /// Errors beside those of the given weights.
    pub(super) factor: f64,
    unit: LossUnit,
}

/// What is told of a fit.
struct Judged {
    cost: f64,
    degrees: u32,
    /// Errors beside those of the given weights.
    factor: f64,
    unit: LossUnit,
    /// Of the sum of squares of derivatives: by parameters that were found.
    inverse: Vec<(usize, Vec<f64>)>,
    outliers: Vec<Outlier>,
}

impl Phase {
    /// The scale of residuals, after that which the phase before had.
    pub(super) fn scale(self, seen: &Seen, residuals: &[f64], before: f64) -> f64 {
        match self {
            Self::Absolute => spread(seen, residuals, f64::INFINITY),
            Self::Trimmed => spread(seen, residuals, reach(before)),
            Self::Last => biweight(seen, residuals, before),
        }
    }
}

impl Scheme for Robust {
    fn weigh(&self, task: &Task<'_>, seen: &Seen, state: &mut State) -> Option<Vec<f64>> {
        let residuals = seen.residuals(task)?;
        let held = self.held(task);
        // In the last phase it stays.
        let scale = match held {
            _ if state.is_held => state.scale,
            Some(scale) => scale,
            None => state.phase.scale(seen, &residuals, state.scale),
        };
        state.change = (scale / state.scale - 1.0).abs();
        state.scale = scale;
        state.is_held = state.phase == Phase::Last;
        Some(seen.weighed(&residuals, |left| self.share(state.phase, left / scale)))
    }

    fn ends(&self, shift: f64, most: f64, state: &mut State) -> bool {
        let is_steady = state.change <= STEADY && shift <= NEAR;
        state.phase = match state.phase {
            Phase::Last => return shift <= most,
            Phase::Trimmed if is_steady || state.rounds >= MOST_ROUNDS[1] => Phase::Last,
            phase => phase,
        };
        false
    }
}

/// The first phase alone.
struct Beginning<'a>(&'a Robust);

impl Scheme for Beginning<'_> {
    fn weigh(&self, task: &Task<'_>, seen: &Seen, state: &mut State) -> Option<Vec<f64>> {
        self.0.weigh(task, seen, state)
    }

    fn ends(&self, shift: f64, _: f64, state: &mut State) -> bool {
        state.change <= STEADY && shift <= NEAR || state.rounds >= MOST_ROUNDS[0]
    }
}

impl Seen {
    /// √w·(y − f), 0 for points that are left out; `None` where one of them is no number.
    pub(super) fn residuals(&self, task: &Task<'_>) -> Option<Vec<f64>> {
        let values = task.values(&self.parameters, &self.places);
        let all = values.iter().zip(&self.data).zip(&self.weights);
        let of = |((value, datum), weight): ((&f64, &f64), &f64)| match *weight > 0.0 {
            true => Some(weight.sqrt() * (datum - value)).filter(|number| number.is_finite()),
            false => Some(0.0),
        };
        all.map(of).collect()
    }
}
