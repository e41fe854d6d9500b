//! Intervals and comparisons of fits that share parameters.

use ndarray::Array2;
use spotfit_files::private::sort_by_key;

use super::compare::ModelComparison;
use super::distributions::{knows_errors, quantile_of};
use super::intervals::ProfileInterval;
use super::side::Side;
use super::statistics::FitStatistics;
use crate::Status;
use crate::model::copies::{Copies, data_and_weights, within};
use crate::model::shared::parts_of;
use crate::model::{
    CurveFits, CurveFitter, CurveLimits, CurveOptions, CurveStart, Curves, Linear, Model,
    ModelError, SharedFits, Sharing,
};

/// The most values that a step of all intervals may fit: each parameter is held while all data sets that depend on it are fitted again.
const MOST: usize = 1 << 26;
/// Those that are fitted at a time.
const CHUNK: usize = 1 << 21;

/// As [`CurveFits::is_found`].
fn is_found(status: Status) -> bool {
    status.is_converged() || status == Status::AtLimit
}

/// Data sets that are fitted together.
#[derive(Clone, Copy)]
pub(super) struct Sharers<'a, 'c> {
    pub(super) model: &'a Model,
    pub(super) fitter: &'a CurveFitter,
    pub(super) curves: &'a Curves<'c>,
    pub(super) sharing: &'a Sharing,
}

/// A value whose interval is looked for.
struct Target {
    parameter: usize,
    /// The part that it belongs to, and the data sets in it that have it, by their places in the part.
    part: usize,
    places: Vec<usize>,
}

impl Sharers<'_, '_> {
    /// The intervals of the free parameters, as [`super::profile_intervals`]: while a value is held, all data sets that depend on it are fitted again.
    pub(super) fn intervals(
        &self,
        fits: &CurveFits,
        options: &CurveOptions,
        level: f64,
    ) -> Result<Vec<Vec<Option<ProfileInterval>>>, ModelError> {
        let (count, width) = (fits.len(), options.parameters());
        let mut all = vec![vec![None; count]; width];
        let precise = options
            .clone()
            .with_covariance(false)
            .with_tolerance(options.tolerance.min(1e-3))
            .with_linear(Linear::Searched);
        let start = within(&fits.parameters, options);
        let from = CurveStart::PerFit(start.view().into());
        let formula = &self.model.formula;
        let best =
            self.fitter.double().fit_shared(formula, self.curves, from, &precise, self.sharing)?;
        let parts = parts_of(self.sharing, count);
        let targets: Vec<Target> = (0..parts.len())
            .flat_map(|part| self.targets(part, &parts[part], &best.fits, options))
            .collect();
        let each = |target: &Target| 2 * parts[target.part].len() * self.curves.points();
        let work = targets.iter().map(each).sum::<usize>();
        if work > MOST {
            let reason = format!(
                "intervals of data sets that share parameters fit all of them again for each parameter: {work} values a step, of at most {MOST}"
            );
            return Err(ModelError::Shared(reason));
        }
        let known = knows_errors(options);
        let known_values = within(&best.fits.parameters, options);
        let begin = |target: &Target, direction: f64| {
            let Target { parameter, part, places } = target;
            let rows = &parts[*part];
            let first = rows[places[0]];
            let mut limits = places.iter().map(|&place| options.limit(rows[place], *parameter));
            let limit = match direction < 0.0 {
                true => limits.fold(f64::NEG_INFINITY, |most, own| most.max(own[0])),
                false => limits.by_ref().fold(f64::INFINITY, |least, own| least.min(own[1])),
            };
            let values = rows.iter().flat_map(|&fit| known_values.row(fit).to_vec());
            let values: Vec<f64> = values.collect();
            let still = vec![0.0; values.len()];
            let degrees = best.parts[*part].degrees as f64;
            let unit = if known { 1.0 } else { best.parts[*part].chi2 / degrees };
            let quantile = quantile_of(options, level, degrees);
            let threshold = match degrees > 0.0 || known {
                true => unit * quantile * quantile,
                false => f64::INFINITY,
            };
            let step = best.fits.errors[[first, *parameter]] * quantile;
            let own = places[0] * width + parameter;
            Side::new(own, direction, limit, values, still, step, threshold)
        };
        let is_found = |part: &usize| is_found(best.parts[*part].status);
        let targets: Vec<Target> =
            targets.into_iter().filter(|target| is_found(&target.part)).collect();
        let mut sides: Vec<Side> = targets
            .iter()
            .flat_map(|target| [-1.0, 1.0].map(|direction| begin(target, direction)))
            .collect();
        loop {
            let active: Vec<usize> = (0..sides.len()).filter(|&at| sides[at].goes_on()).collect();
            if active.is_empty() {
                break;
            }
            let mut rest = &active[..];
            while !rest.is_empty() {
                let mut values = 0;
                let fits = rest.iter().take_while(|&&at| {
                    let before = values;
                    values += parts[targets[at / 2].part].len() * self.curves.points();
                    before == 0 || values <= CHUNK
                });
                let (now, later) = rest.split_at(fits.count());
                self.step(now, &targets, &parts, &mut sides, &best, &precise)?;
                rest = later;
            }
        }
        for (target, pair) in targets.iter().zip(sides.chunks_exact(2)) {
            let interval = ProfileInterval::between([&pair[0], &pair[1]]);
            for &place in &target.places {
                all[target.parameter][parts[target.part][place]] = Some(interval);
            }
        }
        Ok(all)
    }

    /// The values of a part that are neither held nor the same as another.
    fn targets(
        &self,
        part: usize,
        rows: &[usize],
        fits: &CurveFits,
        options: &CurveOptions,
    ) -> Vec<Target> {
        let mut all = Vec::new();
        for parameter in (0..options.parameters()).filter(|&j| !options.fixed[j]) {
            let shared = self.sharing.shared.iter().find(|shared| shared.0 == parameter);
            let group = |place: usize| match shared {
                None => place,
                Some((_, None)) => 0,
                Some((_, Some(groups))) => groups[rows[place]],
            };
            let there = |place: &usize| fits.statuses[rows[*place]] != Status::Invalid;
            let mut places: Vec<usize> = (0..rows.len()).filter(there).collect();
            sort_by_key(&mut places, |&place| group(place));
            for own in places.chunk_by(|&a, &b| group(a) == group(b)) {
                all.push(Target { parameter, part, places: own.to_vec() });
            }
        }
        all
    }

    /// A step of some sides: a copy of all data sets for each.
    fn step(
        &self,
        active: &[usize],
        targets: &[Target],
        parts: &[Vec<usize>],
        sides: &mut [Side],
        best: &SharedFits,
        precise: &CurveOptions,
    ) -> Result<(), ModelError> {
        let width = precise.parameters();
        let rows: Vec<usize> =
            active.iter().flat_map(|&at| parts[targets[at / 2].part].iter().copied()).collect();
        let copies = Copies::of(self.curves, self.model.variables().len(), &rows);
        let mut start = Array2::zeros((rows.len(), width));
        let mut limits = Vec::with_capacity(rows.len() * width);
        let mut copy_of = Vec::with_capacity(rows.len());
        let mut first = 0;
        for (copy, &at) in active.iter().enumerate() {
            let target = &targets[at / 2];
            let guess = sides[at].guess();
            let held = guess[target.places[0] * width + target.parameter];
            for (place, &fit) in parts[target.part].iter().enumerate() {
                for j in 0..width {
                    let is_held = j == target.parameter && target.places.contains(&place);
                    let [low, high] = if is_held { [held; 2] } else { precise.limit(fit, j) };
                    limits.push([low, high]);
                    let value = guess[place * width + j];
                    start[[first, j]] =
                        if precise.fixed[j] { value } else { value.clamp(low, high) };
                }
                copy_of.push(copy);
                first += 1;
            }
        }
        let mut sharing = Sharing::default();
        for (parameter, groups) in &self.sharing.shared {
            let most =
                groups.as_ref().and_then(|groups| groups.iter().max()).map_or(1, |most| most + 1);
            let own = |(row, copy): (&usize, &usize)| {
                copy * most + groups.as_ref().map_or(0, |groups| groups[*row])
            };
            sharing = sharing.with_groups(*parameter, rows.iter().zip(&copy_of).map(own).collect());
        }
        let options = precise.clone().with_limits(CurveLimits::PerFit(limits));
        let from = CurveStart::PerFit(start.view().into());
        let formula = &self.model.formula;
        let found =
            self.fitter.double().fit_shared(formula, &copies.curves(), from, &options, &sharing)?;
        let told = within(&found.fits.parameters, &options);
        let mut first = 0;
        for (copy, &at) in active.iter().enumerate() {
            let part = targets[at / 2].part;
            let count = parts[part].len();
            let values = (first..first + count).flat_map(|row| told.row(row).to_vec());
            let own = &found.parts[copy];
            let above = own.chi2 - best.parts[part].chi2;
            sides[at].take(values.collect(), above, is_found(own.status));
            first += count;
        }
        Ok(())
    }

    /// The fits of another model, which shares what it has of the same names, and a comparison of all data sets that depend on each other for
    /// each of them.
    pub(super) fn compare(
        &self,
        found: &CurveFits,
        options: &CurveOptions,
        (other, start, own): (&Model, CurveStart<'_>, &CurveOptions),
    ) -> Result<(CurveFits, Vec<ModelComparison>), ModelError> {
        let names = self.model.parameters();
        let mut sharing = Sharing::default();
        for (parameter, groups) in &self.sharing.shared {
            let same = other.parameters().iter().position(|name| *name == names[*parameter]);
            sharing = match (same, groups) {
                (None, _) => sharing,
                (Some(same), None) => sharing.with_shared(same),
                (Some(same), Some(groups)) => sharing.with_groups(same, groups.clone()),
            };
        }
        let begin = within(&found.parameters, options);
        let from = CurveStart::PerFit(begin.view().into());
        let formula = &self.model.formula;
        let first =
            self.fitter.double().fit_shared(formula, self.curves, from, options, self.sharing)?;
        let second = other.fit_shared(self.fitter, self.curves, start, own, &sharing)?.shared;
        let count = found.len();
        let inner = parts_of(&sharing, count);
        let nothing = ModelComparison::of([None; 2], f64::NAN);
        let mut all = vec![nothing; count];
        let scaled = !knows_errors(options);
        for (part, rows) in parts_of(self.sharing, count).into_iter().enumerate() {
            let of_second: Vec<usize> =
                (0..inner.len()).filter(|&at| rows.contains(&inner[at][0])).collect();
            let is_there = |fits: &CurveFits, fit: usize| fits.statuses[fit] != Status::Invalid;
            let there = |fits: &CurveFits| -> Vec<usize> {
                rows.iter().copied().filter(|&fit| is_there(fits, fit)).collect()
            };
            let used = there(&first.fits);
            if used != there(&second.fits) {
                continue;
            }
            let (mut data, mut weights) = (Vec::new(), Vec::new());
            for &fit in &used {
                let [own, beside] = data_and_weights(self.curves, fit);
                data.extend(own);
                weights.extend(beside);
            }
            let fitted = |at: &&usize| second.parts[**at].status != Status::Invalid;
            let chi2 =
                of_second.iter().filter(fitted).map(|&at| second.parts[at].chi2).sum::<f64>();
            let degrees =
                of_second.iter().filter(fitted).map(|&at| second.parts[at].degrees).sum::<u64>();
            let chi2 = [first.parts[part].chi2, chi2];
            let degrees =
                [first.parts[part].degrees, degrees].map(|all| all.min(u64::from(u32::MAX)) as u32);
            let found = [
                is_found(first.parts[part].status),
                of_second.iter().filter(fitted).all(|&at| is_found(second.parts[at].status)),
            ];
            let aicc = [0, 1].map(|at: usize| {
                let known = FitStatistics::new(&data, &weights, chi2[at], degrees[at], options);
                found[at].then_some(known.aicc).filter(|aicc| !aicc.is_nan())
            });
            let compared = ModelComparison::new(aicc, chi2, degrees, scaled);
            used.into_iter().for_each(|fit| all[fit] = compared);
        }
        Ok((second.fits, all))
    }
}
