//! Which data sets depend on each other, and where their fit begins.

use std::collections::HashMap;

use fit_core::Estimator;
use fit_curves::{CurveBatch, CurveError, Frame, Sharing};

use super::super::engine::scales;
use super::super::summary::DataSummary;
use super::part::{Found, Part, Works};
use super::set::Common;

/// The most shared values that depend on each other: their equations are dense.
const MOST: usize = 4096;

/// All data sets of a batch.
pub(super) struct Layout<'b, 'c, 's, 'o> {
    pub(super) batch: &'b CurveBatch<'c, 's, 'o>,
    works: &'b Works<'b, 'c, 's, 'o>,
    pub(super) sharing: &'b Sharing,
    /// The group of each data set for each shared parameter, by its number as they appear.
    pub(super) groups: Vec<Vec<u32>>,
    /// The groups' own numbers.
    pub(super) names: Vec<Vec<usize>>,
    /// The part and the place in it of each group's value.
    pub(super) places: Vec<Vec<(u32, u32)>>,
    /// The data sets of each part.
    pub(super) parts: Vec<Vec<usize>>,
    /// Shared values of each part.
    counts: Vec<usize>,
    seen: Vec<DataSummary>,
}

/// What came of a part.
pub(super) struct Fitted<'b, 'c, 's, 'o> {
    pub(super) part: Part<'b, 'c, 's, 'o>,
    /// Nothing if it has fewer points than parameters.
    pub(super) found: Option<Found>,
}

impl<'b, 'c, 's, 'o> Layout<'b, 'c, 's, 'o> {
    pub(super) fn new(
        batch: &'b CurveBatch<'c, 's, 'o>,
        works: &'b Works<'b, 'c, 's, 'o>,
        sharing: &'b Sharing,
    ) -> Result<Self, CurveError> {
        let count = batch.curves.count();
        let (mut groups, mut names) = (Vec::new(), Vec::new());
        for (_, given) in &sharing.shared {
            let (mut known, mut name) = (HashMap::new(), Vec::new());
            let number = |fit: usize| {
                let group = given.as_ref().map_or(0, |given| given[fit]);
                *known.entry(group).or_insert_with(|| {
                    name.push(group);
                    name.len() as u32 - 1
                })
            };
            groups.push((0..count).map(number).collect::<Vec<u32>>());
            names.push(name);
        }
        // Each data set belongs to the first one that it depends on.
        let mut parents: Vec<usize> = (0..count).collect();
        for of in &groups {
            let mut first: Vec<Option<usize>> = vec![None; count];
            for (fit, &group) in of.iter().enumerate() {
                match first[group as usize] {
                    None => first[group as usize] = Some(fit),
                    Some(other) => join(&mut parents, fit, other),
                }
            }
        }
        let mut parts: Vec<Vec<usize>> = Vec::new();
        let mut part_of = vec![0; count];
        for fit in 0..count {
            let root = root(&mut parents, fit);
            if root == fit {
                part_of[fit] = parts.len();
                parts.push(Vec::new());
            }
            part_of[fit] = part_of[root];
            parts[part_of[fit]].push(fit);
        }
        let mut counts = vec![0; parts.len()];
        let mut places = Vec::new();
        for (of, name) in groups.iter().zip(&names) {
            let mut place = vec![None; name.len()];
            for (fit, &group) in of.iter().enumerate() {
                place[group as usize].get_or_insert_with(|| {
                    let part = part_of[fit];
                    counts[part] += 1;
                    (part as u32, counts[part] as u32 - 1)
                });
            }
            places.push(place.into_iter().flatten().collect());
        }
        if let Some(&found) = counts.iter().find(|&&count| count > MOST) {
            return Err(CurveError::TooManyShared { found, most: MOST });
        }
        let poisson = batch.options.estimator == Estimator::MaximumLikelihood;
        let seen = works.each(count, |work, fit| {
            work.take(batch, fit);
            work.see(poisson)
        });
        let layout = Self { batch, works, sharing, groups, names, places, parts, counts, seen };
        for part in 0..layout.parts.len() {
            let limits = layout.limits(part);
            if let Some(slot) = limits.iter().position(|[lower, upper]| lower > upper) {
                let reason = "has limits in its group that leave nothing between them";
                let shared = (0..layout.sharing.shared.len())
                    .find(|&k| layout.places[k].contains(&(part as u32, slot as u32)));
                let parameter = shared.map_or(0, |k| layout.sharing.shared[k].0);
                return Err(CurveError::Sharing { parameter, name: None, reason });
            }
        }
        Ok(layout)
    }

    /// The place of a shared value of a data set in its part.
    fn slot(&self, shared: usize, fit: usize) -> usize {
        self.places[shared][self.groups[shared][fit] as usize].1 as usize
    }

    /// The limits of the shared values of a part: those of all its data sets.
    fn limits(&self, part: usize) -> Vec<[f64; 2]> {
        let mut all = vec![[f64::NEG_INFINITY, f64::INFINITY]; self.counts[part]];
        for &fit in &self.parts[part] {
            for (k, &(parameter, _)) in self.sharing.shared.iter().enumerate() {
                let [low, high] = self.batch.options.limit(fit, parameter);
                let to = &mut all[self.slot(k, fit)];
                *to = [to[0].max(low), to[1].min(high)];
            }
        }
        all
    }

    /// The points of a data set that are not left out.
    pub(super) fn points(&self, fit: usize) -> usize {
        self.seen[fit].points
    }

    fn is_shared(&self, parameter: usize) -> bool {
        self.sharing.shared.iter().any(|shared| shared.0 == parameter)
    }

    /// A data set's own parameters that are not held.
    fn own(&self, fit: usize) -> usize {
        let open = |&j: &usize| {
            let [lower, upper] = self.batch.limit(fit, j);
            !self.is_shared(j) && lower < upper
        };
        (0..self.batch.options.parameters()).filter(open).count()
    }

    /// Fits a part.
    pub(super) fn fit(&self, part: usize) -> Fitted<'b, 'c, 's, 'o> {
        let priors = self.sharing.priors.iter().filter(|prior| !self.is_shared(prior.parameter));
        let known = priors.clone().count();
        let usable = |&fit: &usize| {
            let seen = &self.seen[fit];
            seen.sound && seen.points > 0 && seen.points + known >= self.own(fit)
        };
        let mut sets: Vec<usize> = self.parts[part].iter().copied().filter(usable).collect();
        loop {
            let fitted = self.fit_sets(part, sets);
            let Some(found) = &fitted.found else { return fitted };
            let sound = |(_, answer): &(&usize, &super::set::ReducedProblem)| answer.sound;
            let answered = fitted.part.sets.iter().zip(&found.state.answers);
            let fine: Vec<usize> = answered.filter(sound).map(|(&fit, _)| fit).collect();
            // A data set for which the model has no value at its start must not hold up the others.
            if found.iterations > 0 || fine.is_empty() || fine.len() == fitted.part.sets.len() {
                return fitted;
            }
            sets = fine;
        }
    }

    fn fit_sets(&self, part: usize, sets: Vec<usize>) -> Fitted<'b, 'c, 's, 'o> {
        let batch = self.batch;
        let shared: Vec<usize> = self.sharing.shared.iter().map(|shared| shared.0).collect();
        let mut common = Common {
            shared: shared.clone(),
            poisson: batch.options.estimator == Estimator::MaximumLikelihood,
            ..Common::default()
        };
        let own = |parameter: usize| !self.is_shared(parameter);
        let priors = self.sharing.priors.iter().copied();
        common.priors = priors.filter(|prior| own(prior.parameter)).collect();
        let extents = sets.iter().map(|&fit| self.seen[fit].extent);
        let all = extents.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], of| {
            [low.min(of[0]), high.max(of[1])]
        });
        common.extent = Some(all).filter(|_| batch.shares_level(self.sharing));
        common.scale = if common.poisson { None } else { self.scale(&sets, &common) };
        if !common.priors.is_empty() {
            common.scale = Some(common.scale.unwrap_or([1.0; 2]));
        }
        let points: usize = sets.iter().map(|&fit| self.seen[fit].points).sum();
        let held: usize = sets.iter().map(|&fit| self.own(fit)).sum();
        // The coordinates of the data sets, and where they begin.
        let count = self.counts[part];
        let mut limits = self.limits(part);
        let values = self.start(part, &sets, &limits);
        let begun = self.works.each(sets.len(), |work, at| {
            let fit = sets[at];
            work.take(batch, fit);
            let frame = common.frame(batch, &work.origin, self.seen[fit].extent);
            let mut row: Vec<f64> =
                (0..batch.options.parameters()).map(|j| batch.start(fit, j)).collect();
            let mut own = vec![[f64::NEG_INFINITY, f64::INFINITY]; row.len()];
            let mut means = own.clone();
            for (k, &j) in shared.iter().enumerate() {
                let slot = self.slot(k, fit);
                (row[j], own[j]) = (values[slot], limits[slot]);
            }
            for prior in &self.sharing.priors {
                means[prior.parameter] = [prior.mean; 2];
            }
            if let Some(frame) = &frame {
                frame.enter(&mut row);
                frame.enter_limits(&mut own);
                frame.enter_limits(&mut means);
            }
            let of_shared = |of: &[[f64; 2]]| shared.iter().map(|&j| of[j]).collect::<Vec<_>>();
            (row, of_shared(&own), of_shared(&means))
        });
        let width = batch.options.parameters();
        let (mut rows, mut slots) = (Vec::with_capacity(sets.len() * width), Vec::new());
        let (mut first, mut moved) = (vec![true; count], values);
        let mut of_priors = Vec::new();
        for (&fit, (row, own, means)) in sets.iter().zip(&begun) {
            for (k, &j) in shared.iter().enumerate() {
                let slot = self.slot(k, fit);
                slots.push(slot as u32);
                if std::mem::replace(&mut first[slot], false) {
                    (moved[slot], limits[slot]) = (row[j].clamp(own[k][0], own[k][1]), own[k]);
                    let priors = self.sharing.priors.iter().filter(|prior| prior.parameter == j);
                    of_priors
                        .extend(priors.map(|prior| {
                            (slot, fit_curves::Prior { mean: means[k][0], ..*prior })
                        }));
                }
            }
            rows.extend_from_slice(row);
        }
        for (limits, first) in limits.iter_mut().zip(&first) {
            // No data set has it.
            if *first {
                *limits = [0.0; 2];
            }
        }
        let known = common.priors.len() * sets.len() + of_priors.len();
        let degrees = (points + known) as i64 - held as i64;
        let free = limits.iter().filter(|limits| limits[0] < limits[1]).count();
        let part = Part {
            batch,
            works: self.works,
            sets,
            slots,
            common,
            degrees,
            points,
            priors: of_priors,
        };
        let enough = !part.sets.is_empty() && degrees >= free as i64;
        let found = enough.then(|| part.search(moved, rows, &limits));
        Fitted { part, found }
    }

    /// What data and weights must be multiplied by, for all alike.
    fn scale(&self, sets: &[usize], common: &Common) -> Option<[f64; 2]> {
        let (mut most, mut heaviest) = (0.0_f64, 0.0_f64);
        for &fit in sets {
            let seen = &self.seen[fit];
            let frame = common.frame(self.batch, &[], seen.extent);
            most = most.max(seen.most(frame.as_ref().map_or(0.0, Frame::level)));
            heaviest = heaviest.max(seen.heaviest);
        }
        scales(most, heaviest)
    }

    /// Where the shared values begin: at the median of the start values of their data sets.
    fn start(&self, part: usize, sets: &[usize], limits: &[[f64; 2]]) -> Vec<f64> {
        let mut all: Vec<Vec<f64>> = vec![Vec::new(); self.counts[part]];
        for &fit in sets {
            for (k, &(parameter, _)) in self.sharing.shared.iter().enumerate() {
                let start = self.batch.start(fit, parameter);
                let of = &mut all[self.slot(k, fit)];
                if !(self.batch.has_same_start() && of.len() == 1) {
                    of.push(start);
                }
            }
        }
        let middle = |(of, limits): (&mut Vec<f64>, &[f64; 2])| {
            of.sort_unstable_by(f64::total_cmp);
            let (low, high) = (of.get(of.len().saturating_sub(1) / 2), of.get(of.len() / 2));
            let middle = low.zip(high).map_or(1.0, |(low, high)| 0.5 * low + 0.5 * high);
            middle.clamp(limits[0], limits[1])
        };
        all.iter_mut().zip(limits).map(middle).collect()
    }
}

fn root(parents: &mut [usize], mut fit: usize) -> usize {
    while parents[fit] != fit {
        parents[fit] = parents[parents[fit]];
        fit = parents[fit];
    }
    fit
}

fn join(parents: &mut [usize], a: usize, b: usize) {
    let (a, b) = (root(parents, a), root(parents, b));
    // The first stays the first.
    parents[a.max(b)] = a.min(b);
}
