//! Losses of data sets that share parameters: one scale for all that depend on each other.

use fit_core::Status;
use fit_curves::{CurveOptions, CurvePrecision, CurveStart, Curves, Sharing};
use ndarray::Array2;
use spotfit_files::private::sort_by_key;

use super::loss::Loss;
use super::outliers::{self, Outlier};
use super::robust::{MOST_ROUNDS, NEAR, Robust, STEADY};
use super::rounds::{Phase, Seen, Task, shift};
use super::scales::{half_scale, lower_scale};
use super::{CurveNoise, NoiseFits, UnweightedPoints, weights_of_data};
use crate::model::copies::{weighted, within};
use crate::model::shared::parts_of;
use crate::model::{CurveFitter, Model, ModelError, SharedFits, SharedModelFits};

/// The outcomes of fits with a loss that share parameters.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SharedNoiseFits {
    /// The outcomes. With a loss, χ² is 2s²·Σρ(u).
    pub fits: SharedModelFits,
    /// The scale of each data set, with a loss: that of all which depend on each other.
    pub scales: Vec<f64>,
    /// Outliers, by data sets and points.
    pub outliers: Vec<Outlier>,
    /// Points that are left out: those of 0 by a rule for the data.
    pub left_out: UnweightedPoints,
    loss: Option<(Loss, super::LossScale)>,
    own: Option<Array2<f64>>,
}

impl SharedNoiseFits {
    /// Those whose weights say all.
    fn plain(fits: SharedModelFits, own: Option<Array2<f64>>, left_out: UnweightedPoints) -> Self {
        Self { fits, scales: Vec::new(), outliers: Vec::new(), left_out, loss: None, own }
    }

    /// The outcomes of the data sets, as those of separate fits.
    pub fn into_fits(self) -> NoiseFits {
        let Self { fits, scales, outliers, left_out, loss, own } = self;
        let weights = if loss.is_some() { None } else { own.clone() };
        let plain = NoiseFits::plain(fits.into_fits());
        NoiseFits { scales, outliers, left_out, loss, own, weights, ..plain }
    }
}

/// Where a search for the lowest loss came to.
struct Ended {
    parameters: Array2<f64>,
    /// ψ(u)/u of each point.
    shares: Array2<f64>,
    /// Of each part: its scale, that of half of its points, and whether it ended.
    scales: Vec<[f64; 2]>,
    is_ended: Vec<bool>,
}

/// All that fits which share parameters need.
struct Together<'a> {
    task: Task<'a>,
    robust: Robust,
    sharing: &'a Sharing,
    /// The data sets of each part, but for those that are left out, and how many parameters it finds.
    parts: Vec<(Vec<usize>, usize)>,
    /// Which data sets belong to one.
    is_there: Vec<bool>,
}

impl Model {
    /// [`Model::fit_shared`], with a loss, or with weights by a rule for the data. All data sets that depend on each other have one scale.
    ///
    /// Fits are repeated with the weights of the loss from the shared fit of least squares and from the separate fits of the loss; that which ends
    /// lower is taken.
    ///
    /// # Errors
    /// As [`Model::fit_shared`], and for other noise, and for a loss beside priors, which weigh against squares.
    pub fn fit_shared_noise(
        &self,
        fitter: &CurveFitter,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
        sharing: &Sharing,
        noise: &CurveNoise<'_>,
    ) -> Result<SharedNoiseFits, ModelError> {
        noise.check(options)?;
        noise.refuse_sharing(sharing)?;
        let own = noise.weights.map(|rule| weights_of_data(curves, rule)).transpose()?;
        let (own, left_out) = own.unzip();
        let left_out = left_out.unwrap_or_default();
        let weighted = weighted(curves.reborrow(), own.as_ref());
        let plain = self.fit_shared(fitter, &weighted, start, options, sharing)?;
        let Some(loss) = noise.loss else {
            return Ok(SharedNoiseFits::plain(plain, own, left_out));
        };
        if sharing.is_empty() {
            let reason = "no parameter is shared: data sets with a loss are fitted one by one";
            return Err(ModelError::Shared(reason.into()));
        }
        let robust = Robust { loss, scale: noise.scale };
        let task = Task::new(self, fitter, &weighted, options).precise();
        let parts = counted(&plain.shared, options, sharing);
        let is_there = plain.shared.fits.statuses.iter().map(|status| *status != Status::Invalid);
        let is_there = is_there.collect();
        let together = Together { task, robust, sharing, parts, is_there };
        let first = within(&plain.shared.fits.parameters, options);
        let mut best = together.search(first.clone(), Phase::Absolute)?;
        // Data sets that do not tell all of their parameters have no separate fits.
        let alone = CurveNoise { outlier_rate: None, weights: None, ..*noise };
        let fine = options.clone().with_precision(CurvePrecision::F64);
        if let Ok(alone) = self.fit_noise(fitter, &weighted, start, &fine, &alone) {
            let mut from = first;
            let fits = &alone.fits.fits;
            for fit in (0..fits.len()).filter(|&fit| fits.is_found(fit)) {
                from.row_mut(fit).assign(&fits.parameters.row(fit));
            }
            let other = together.search(from, Phase::Trimmed)?;
            together.choose(&mut best, other);
        }
        let (shared, scales, outliers) = together.told(&best, noise.outlier_rate)?;
        let fits = SharedModelFits::new(self, shared);
        let loss = Some((loss, noise.scale));
        Ok(SharedNoiseFits { fits, scales, outliers, left_out, loss, own })
    }
}

/// The data sets of each part that were fitted, and how many parameters it finds.
fn counted(
    found: &SharedFits,
    options: &CurveOptions,
    sharing: &Sharing,
) -> Vec<(Vec<usize>, usize)> {
    let is_shared = |j: usize| sharing.shared.iter().any(|shared| shared.0 == j);
    let fixed = &options.fixed;
    let alone = (0..fixed.len()).filter(|&j| !fixed[j] && !is_shared(j)).count();
    let one = |part: Vec<usize>| {
        let there = |fit: &usize| found.fits.statuses[*fit] != Status::Invalid;
        let fits: Vec<usize> = part.into_iter().filter(there).collect();
        let groups = |groups: &Option<Vec<usize>>| match groups {
            None => 1,
            Some(groups) => {
                let mut own: Vec<usize> = fits.iter().map(|&fit| groups[fit]).collect();
                own.sort_unstable();
                own.dedup();
                own.len()
            }
        };
        let free = sharing.shared.iter().map(|shared| groups(&shared.1)).sum::<usize>();
        let free = free + fits.len() * alone;
        (fits, free)
    };
    let parts = parts_of(sharing, found.fits.len()).into_iter().map(one);
    parts.collect()
}

impl Together<'_> {
    /// The residuals of all data sets of a part, one after the other; `None` where one of them is no number.
    fn residuals(&self, part: usize, parameters: &Array2<f64>) -> Option<(Seen, Vec<f64>)> {
        let (fits, free) = &self.parts[part];
        let mut all: Option<Seen> = None;
        let mut residuals = Vec::with_capacity(fits.len() * self.task.curves.points());
        for &fit in fits {
            let seen = self.task.see(fit, parameters.row(fit).to_vec());
            residuals.extend(seen.residuals(&self.task)?);
            match &mut all {
                Some(all) => {
                    all.data.extend(seen.data);
                    all.weights.extend(seen.weights);
                }
                None => all = Some(Seen { free: *free, ..seen }),
            }
        }
        Some((all?, residuals))
    }

    /// Repeats the fit of all with new weights until nothing changes.
    fn search(&self, parameters: Array2<f64>, phase: Phase) -> Result<Ended, ModelError> {
        let options = self.task.options;
        let points = self.task.curves.points();
        let held = self.robust.held(&self.task);
        let finer = options.clone().with_tolerance(0.1 * options.tolerance).with_covariance(false);
        let count = self.parts.len();
        let mut ended = Ended {
            shares: Array2::ones((parameters.nrows(), points)),
            parameters,
            scales: vec![[f64::INFINITY; 2]; count],
            is_ended: vec![false; count],
        };
        // Those without a value stay as they are.
        let mut is_lost = vec![false; count];
        let mut phases = vec![phase; count];
        let mut rounds = vec![0; count];
        let reference = self.task.fitter.double();
        for _ in 0..options.max_iterations {
            let active: Vec<usize> =
                (0..count).filter(|&part| !ended.is_ended[part] && !is_lost[part]).collect();
            if active.is_empty() {
                break;
            }
            let made = reference.map(active.len(), |at| {
                let part = active[at];
                let (seen, residuals) = self.residuals(part, &ended.parameters)?;
                let before = ended.scales[part][0];
                let scale = match (held, phases[part]) {
                    (Some(scale), _) => scale,
                    // It stays, but for the first of the last phase.
                    (None, Phase::Last) if rounds[part] > 0 => before,
                    (None, phase) => phase.scale(&seen, &residuals, before),
                };
                let share = |left: f64| self.robust.share(phases[part], left / scale);
                let half = half_scale(&seen, &residuals);
                Some((scale, half, residuals.into_iter().map(share).collect::<Vec<f64>>()))
            });
            let mut changes = vec![0.0; count];
            for (&part, made) in active.iter().zip(made) {
                let Some((scale, half, shares)) = made else {
                    is_lost[part] = true;
                    continue;
                };
                changes[part] = (scale / ended.scales[part][0] - 1.0).abs();
                ended.scales[part] = [scale, half];
                for (fit, row) in self.parts[part].0.iter().zip(shares.chunks_exact(points)) {
                    ended.shares.row_mut(*fit).iter_mut().zip(row).for_each(|(to, of)| *to = *of);
                }
            }
            let mut weights = ended.shares.clone();
            for (fit, mut row) in weights.rows_mut().into_iter().enumerate() {
                // What was left out stays so.
                let given = match self.is_there[fit] {
                    true => self.task.see(fit, Vec::new()).weights,
                    false => vec![0.0; points],
                };
                row.iter_mut().zip(given).for_each(|(to, given)| *to *= given);
            }
            let curves = self.task.curves.reborrow().with_weights(weights.view());
            let from = ended.parameters.view().into();
            let formula = &self.task.model.formula;
            let found = reference.fit_shared(formula, &curves, from, &finer, self.sharing)?;
            for part in active {
                if is_lost[part] {
                    continue;
                }
                rounds[part] += 1;
                let mut most = 0.0_f64;
                for &fit in &self.parts[part].0 {
                    if found.fits.statuses[fit] == Status::Invalid {
                        is_lost[part] = true;
                        continue;
                    }
                    let own = found.fits.parameters.row(fit);
                    let step = shift(ended.parameters.row(fit), own, found.fits.errors.row(fit));
                    most = most.max(step);
                    ended.parameters.row_mut(fit).assign(&own);
                }
                let is_steady = changes[part] <= STEADY && most <= NEAR;
                let next = match phases[part] {
                    Phase::Absolute if is_steady || rounds[part] >= MOST_ROUNDS[0] => {
                        if held.is_some() { Phase::Last } else { Phase::Trimmed }
                    }
                    Phase::Trimmed if is_steady || rounds[part] >= MOST_ROUNDS[1] => Phase::Last,
                    Phase::Last if most <= 0.1 * options.tolerance => {
                        ended.is_ended[part] = true;
                        Phase::Last
                    }
                    phase => phase,
                };
                if next != phases[part] {
                    (phases[part], rounds[part]) = (next, 0);
                }
            }
        }
        Ok(ended)
    }

    /// Takes the parts whose loss is lower there.
    fn choose(&self, best: &mut Ended, other: Ended) {
        for part in 0..self.parts.len() {
            let [own, others] = [&*best, &other].map(|ended| ended.scales[part]);
            let scale = lower_scale(own, others);
            let cost = |ended: &Ended| {
                let (_, residuals) = self.residuals(part, &ended.parameters)?;
                Some(residuals.iter().map(|left| self.robust.loss.cost(left / scale)).sum::<f64>())
            };
            let is_better = match (cost(best), cost(&other)) {
                _ if !other.is_ended[part] => false,
                (Some(here), Some(there)) if best.is_ended[part] => there < here * (1.0 - 1e-6),
                (_, there) => there.is_some(),
            };
            if is_better {
                for &fit in &self.parts[part].0 {
                    best.parameters.row_mut(fit).assign(&other.parameters.row(fit));
                    best.shares.row_mut(fit).assign(&other.shares.row(fit));
                }
                best.scales[part] = others;
                best.is_ended[part] = true;
            }
        }
    }

    /// Errors and losses of what was found.
    ///
    /// A fit of f + ψ/√w in place of the data, of weights as they are given, ends where the loss does, at the same limits (Huber's pseudo-values):
    /// its errors are those of the matrix that the loss has, but for a factor.
    fn told(
        &self,
        ended: &Ended,
        rate: Option<f64>,
    ) -> Result<(SharedFits, Vec<f64>, Vec<Outlier>), ModelError> {
        let Task { model, fitter, options, .. } = &self.task;
        let curves = self.task.curves.reborrow();
        let (count, points) = (curves.count(), curves.points());
        let mut data = Array2::zeros((count, points));
        data.fill(f64::NAN);
        for fit in (0..count).filter(|&fit| self.is_there[fit]) {
            let seen = self.task.see(fit, ended.parameters.row(fit).to_vec());
            let values = self.task.values(&seen.parameters, &seen.places);
            for point in 0..points {
                let (datum, value) = (seen.data[point], values[point]);
                let is_used = seen.weights[point] > 0.0 && value.is_finite();
                let share = ended.shares[[fit, point]];
                data[[fit, point]] = if is_used { value + share * (datum - value) } else { datum };
            }
        }
        let mut pseudo = curves.reborrow();
        pseudo.data = data.view().into();
        let from = ended.parameters.view().into();
        let known = (*options).clone().with_absolute(true);
        let formula = &model.formula;
        let mut shared =
            fitter.double().fit_shared(formula, &pseudo, from, &known, self.sharing)?;
        let mut scales = vec![f64::NAN; count];
        let mut outliers = Vec::new();
        for (part, (fits, _)) in self.parts.iter().enumerate() {
            let scale = ended.scales[part][0];
            let degrees = shared.parts[part].degrees as f64;
            let Some((seen, residuals)) = self.residuals(part, &ended.parameters) else { continue };
            let sums = self.robust.sums(&self.task, &seen, &residuals, scale, degrees);
            let factor = sums.factor;
            shared.parts[part].chi2 = 0.0;
            for (&fit, own) in fits.iter().zip(residuals.chunks_exact(points)) {
                let cost = own.iter().map(|left| self.robust.loss.cost(left / scale)).sum::<f64>();
                let seen = self.task.see(fit, Vec::new());
                scales[fit] = scale;
                shared.fits.chi2[fit] = 2.0 * scale * scale * cost;
                shared.parts[part].chi2 += shared.fits.chi2[fit];
                times(shared.fits.errors.row_mut(fit).iter_mut(), factor);
                if !shared.fits.covariance.is_empty() {
                    let mut own = shared.fits.covariance.index_axis_mut(ndarray::Axis(0), fit);
                    times(own.iter_mut(), factor * factor);
                }
                shared.fits.parameters.row_mut(fit).assign(&ended.parameters.row(fit));
                if !ended.is_ended[part] {
                    shared.fits.statuses[fit] = Status::NotConverged;
                }
                if let Some(rate) = rate {
                    let found = outliers::found(fit, own, &seen.weights, scale, degrees, rate);
                    outliers.extend(found);
                }
            }
            times(shared.parts[part].covariance.iter_mut(), factor * factor);
            if !ended.is_ended[part] {
                shared.parts[part].status = Status::NotConverged;
            }
            let values = shared.values.iter_mut().filter(|value| value.part == part);
            times(values.map(|value| &mut value.error), factor);
        }
        sort_by_key(&mut outliers, |outlier| (outlier.fit, outlier.point));
        Ok((shared, scales, outliers))
    }
}

/// What is infinite stays so.
fn times<'a>(numbers: impl Iterator<Item = &'a mut f64>, factor: f64) {
    numbers
        .filter(|number| number.is_finite() && **number != 0.0)
        .for_each(|number| *number *= factor);
}

impl CurveNoise<'_> {
    /// Refuses what cannot be fitted with shared parameters or priors.
    fn refuse_sharing(&self, sharing: &Sharing) -> Result<(), ModelError> {
        let of_model = self.weights.is_some_and(super::WeightRule::is_of_model);
        let reason = if of_model || self.trials.is_some() || self.x_errors.is_some() {
            "shared parameters and priors are fitted without trials, errors of x, and weights that follow the model"
        } else if self.loss.is_some() && !sharing.priors.is_empty() {
            "a prior weighs against squares of residuals, not against a loss"
        } else {
            return Ok(());
        };
        Err(ModelError::Shared(reason.into()))
    }
}
