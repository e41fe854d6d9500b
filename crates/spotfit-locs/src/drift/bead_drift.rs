//! The drift of beads that were followed.

use rayon::prelude::*;

use super::beads::BeadTrack;
use super::common::{CommonDrift, SeenPlace};
use super::error::DriftError;
use super::movement::Drift;
use super::options::{DriftInput, check_frames};
use crate::averages::median;

/// Rounds of finding the drift from the beads' places and the reverse, by all localizations, by medians, and by those that agree.
const ROUNDS: usize = 12;
const MEDIAN_ROUNDS: usize = 3;
const AGREEING_ROUNDS: usize = 4;
/// A localization that is so many standard deviations from where its bead should be is not the bead. As the tracker has it.
const JUMP: f64 = 5.0;
/// The median of the square of a normal deviate.
const MEDIAN_SQUARE: f64 = 0.4549;
/// Frames that a thread takes at once.
const FRAMES: usize = 1024;

impl Drift {
    /// The drift of beads: in each frame the mean over those that are seen, weighted by their uncertainties if there
    /// are any. Beads that move against the others lose their weight, and a localization that is five standard deviations from where its
    /// bead should be, because another spot was taken for it, is left out ([`CommonDrift`]). In frames without beads the drift is
    /// interpolated linearly.
    ///
    /// The errors are those of the means: estimated from the differences between the beads if there are several, or
    /// from the uncertainties if there is one. For a single bead without uncertainties they are unknown, and empty.
    ///
    /// # Errors
    /// [`DriftError`].
    ///
    /// # Panics
    /// If a bead has a row or a frame that does not exist.
    pub fn from_beads(
        positions: &DriftInput<'_>,
        beads: &[BeadTrack],
        frames: u32,
    ) -> Result<Self, DriftError> {
        check_frames(frames)?;
        super::points::check_columns(positions)?;
        if beads.is_empty() || frames == 0 {
            return Err(DriftError::NoBeads { share: 0.0, frames });
        }
        let mut all = Together::new(positions, beads, frames as usize);
        all.leave_out();
        let [(x, x_error), (y, y_error), (z, z_error)] = all.axes.map(Axis::into_drift);
        let mut drift = Self { x, y, z, x_error, y_error, z_error };
        drift.begin_at_zero();
        Ok(drift)
    }
}

/// The drift along an axis, and what it rests on.
#[derive(Debug)]
struct Axis<'a> {
    /// Places and their standard errors; none if there is no such column.
    values: Option<&'a [f64]>,
    errors: Option<&'a [f64]>,
    /// The drift in each frame; empty without a column.
    drift: Vec<f64>,
    /// Its variance, as far as frames have beads; infinite elsewhere.
    variance: Vec<f64>,
    /// What the weight of each bead is multiplied by.
    trust: Vec<f64>,
    /// The variance of a localization of weight 1, if that is known.
    unit: Option<f64>,
}

impl<'a> Axis<'a> {
    fn new(values: Option<&'a [f64]>, errors: Option<&'a [f64]>) -> Self {
        Self { values, errors, drift: vec![], variance: vec![], trust: vec![], unit: None }
    }

    /// The weight of a row, 1/σ². Rows whose σ is no number have none, unless no row has one.
    fn weight(&self, row: u32) -> f64 {
        match self.errors.map(|all| all[row as usize]) {
            Some(error) if error > 0.0 && (1.0 / (error * error)).is_normal() => {
                1.0 / (error * error)
            }
            Some(_) => 0.0,
            None => 1.0,
        }
    }

    /// The variance of a row of a bead.
    fn noise(&self, row: u32, bead: usize) -> f64 {
        self.unit.unwrap_or(f64::INFINITY) / (self.weight(row) * self.trust[bead])
    }

    fn into_drift(self) -> (Vec<f64>, Vec<f64>) {
        let Self { drift, variance, unit, .. } = self;
        let errors = if unit.is_some() { errors(&variance, &drift) } else { Vec::new() };
        (drift, errors)
    }
}

/// All beads.
struct Together<'a> {
    positions: &'a DriftInput<'a>,
    beads: &'a [BeadTrack],
    axes: [Axis<'a>; 3],
    /// Of each bead, which of its rows agree in the plane, and along z.
    agrees: Vec<Vec<[bool; 2]>>,
}

impl<'a> Together<'a> {
    /// The drift by all localizations.
    fn new(positions: &'a DriftInput<'a>, beads: &'a [BeadTrack], frames: usize) -> Self {
        let axis = |values, errors: Option<&'a [f64]>| {
            let mut axis = Axis::new(values, errors);
            let weighs = |&row: &u32| axis.weight(row) > 0.0;
            if !beads.iter().flat_map(|bead| &bead.rows).any(weighs) {
                axis.errors = None;
            }
            axis.begin(positions, beads, frames);
            axis
        };
        let DriftInput { x, y, z, uncertainty, uncertainty_z, .. } = *positions;
        let axes = [axis(Some(x), uncertainty), axis(Some(y), uncertainty), axis(z, uncertainty_z)];
        let agrees = beads.iter().map(|bead| vec![[true; 2]; bead.rows.len()]).collect();
        Self { positions, beads, axes, agrees }
    }

    /// Leaves out the localizations that disagree, if so many beads are seen that it can be said which.
    fn leave_out(&mut self) {
        let known = |axis: &Axis<'_>| axis.values.is_none() || axis.unit.is_some();
        if self.beads.len() < 3 || !self.axes.iter().all(known) {
            return;
        }
        // Means follow what is far off, medians do not.
        for _ in 0..MEDIAN_ROUNDS {
            self.find(&self.places(true), true);
        }
        for round in 0..=AGREEING_ROUNDS {
            let reference = self.places(round == 0);
            let units = [0, 1, 2].map(|k| self.weigh(k, &reference, round == 0));
            for (axis, unit) in
                self.axes.iter_mut().zip(units).filter(|(axis, _)| axis.unit.is_some())
            {
                // Those without noise are as they should be.
                let Some(unit) = unit else { return };
                let before = axis.unit.replace(unit).unwrap_or(unit);
                axis.variance.iter_mut().for_each(|variance| *variance *= unit / before);
            }
            if round < AGREEING_ROUNDS {
                self.find(&reference, false);
            }
        }
    }

    /// Where the beads are without drift: the medians of their localizations, or the means of those that agree.
    fn places(&self, medians: bool) -> Vec<[f64; 3]> {
        let place = |(bead, agrees): (&BeadTrack, &Vec<[bool; 2]>)| {
            [0, 1, 2].map(|k| {
                let axis = &self.axes[k];
                let Some(values) = axis.values else { return 0.0 };
                let off =
                    |row: u32| values[row as usize] - axis.drift[frame_of(self.positions, row)];
                let weighs = |row: &u32| axis.weight(*row) > 0.0;
                let (mut sum, mut weights) = (0.0, 0.0);
                for (&row, _) in bead.rows.iter().zip(agrees).filter(|(_, agrees)| agrees[k / 2]) {
                    sum += axis.weight(row) * off(row);
                    weights += axis.weight(row);
                }
                if medians || weights == 0.0 {
                    median(bead.rows.iter().copied().filter(weighs).map(off))
                } else {
                    sum / weights
                }
            })
        };
        self.beads.par_iter().zip(&self.agrees).map(place).collect()
    }

    /// Finds how far each bead can be trusted along an axis, by the median of its squares, and the variance of a localization of weight 1,
    /// by those that agree; at `first`, by the median bead.
    fn weigh(&mut self, k: usize, reference: &[[f64; 3]], first: bool) -> Option<f64> {
        let Self { positions, beads, axes, agrees } = self;
        let axis = &mut axes[k];
        let values = axis.values?;
        let square = |row: u32, bead: usize| {
            let off = values[row as usize] - axis.drift[frame_of(positions, row)];
            axis.weight(row) * (off - reference[bead][k]).powi(2)
        };
        let spread = |bead: usize| {
            let rows = beads[bead].rows.iter().filter(|&&row| axis.weight(row) > 0.0);
            median(rows.map(|&row| square(row, bead))) / MEDIAN_SQUARE
        };
        let spreads: Vec<f64> = (0..beads.len()).into_par_iter().map(spread).collect();
        let usual = median(spreads.iter().copied().filter(|spread| *spread > 0.0));
        let trust: Vec<f64> = spreads
            .iter()
            .map(|&spread| if spread > 4.0 * usual { usual / spread } else { 1.0 })
            .collect();
        let unit = if first {
            // The mean follows each of them.
            usual * beads.len() as f64 / (beads.len() - 1) as f64
        } else {
            let (mut sum, mut used) = (0.0, 0.0);
            for (bead, (BeadTrack { rows }, agrees)) in beads.iter().zip(&*agrees).enumerate() {
                for (&row, _) in rows.iter().zip(agrees).filter(|(_, agrees)| agrees[k / 2]) {
                    sum += trust[bead] * square(row, bead);
                    used += 1.0;
                }
            }
            let seen = axis.variance.iter().filter(|variance| variance.is_finite()).count();
            sum / (used + 1.0 - (seen + beads.len()) as f64)
        };
        axis.trust = trust;
        (unit > 0.0 && unit.is_finite()).then_some(unit)
    }

    /// Finds the drift of each frame by the localizations that agree, given where the beads are; or by the median of all.
    fn find(&mut self, reference: &[[f64; 3]], median: bool) {
        let Self { positions, beads, axes, agrees } = self;
        let frames = axes[0].drift.len();
        let starts: Vec<usize> = (0..frames).step_by(FRAMES).collect();
        let found: Vec<Vec<Found>> = starts
            .par_iter()
            .map(|&first| {
                let next = |bead: &BeadTrack| {
                    bead.rows.partition_point(|&row| frame_of(positions, row) < first)
                };
                let mut next: Vec<usize> = beads.iter().map(next).collect();
                let mut common = CommonDrift::new([0.0; 2], [false; 2], JUMP, beads.len());
                let mut seen = Vec::with_capacity(beads.len());
                (first..frames.min(first + FRAMES))
                    .map(|frame| {
                        see(positions, beads, axes, reference, (frame, &mut next), &mut seen);
                        if median {
                            let by = [0, 1, 2].map(|axis| common.median(&seen, axis));
                            let shift = (!seen.is_empty()).then_some((by, [1.0; 3]));
                            return Found { shift, agree: Vec::new() };
                        }
                        // As in a track, half of them must agree.
                        let shift = common.find(&mut seen, [0.0; 3]);
                        let shift = shift.filter(|shift| 2 * shift.beads >= seen.len());
                        let agree = seen.iter().map(|seen| (seen.bead, seen.agrees)).collect();
                        Found { shift: shift.map(|shift| (shift.by, shift.variance)), agree }
                    })
                    .collect()
            })
            .collect();
        let found = found.into_iter().flatten().enumerate();
        if median {
            for (frame, Found { shift, .. }) in found {
                let Some((by, _)) = shift else { continue };
                for (axis, by) in axes.iter_mut().zip(by) {
                    // Along z there may be none.
                    if axis.variance.get(frame).is_some_and(|variance| variance.is_finite()) {
                        axis.drift[frame] = by;
                    }
                }
            }
        } else {
            agrees.iter_mut().for_each(|agrees| agrees.fill([false; 2]));
            let mut next = vec![0; beads.len()];
            for (frame, Found { shift, agree }) in found {
                let (by, variance) = shift.unwrap_or(([0.0; 3], [f64::INFINITY; 3]));
                let known = axes.iter_mut().enumerate().filter(|(_, axis)| axis.values.is_some());
                for (k, axis) in known {
                    (axis.drift[frame], axis.variance[frame]) = (by[k], variance[k]);
                }
                for (bead, agree) in agree.into_iter().filter(|_| shift.is_some()) {
                    let rows = beads[bead].rows[next[bead]..].iter();
                    next[bead] += rows.take_while(|&&row| frame_of(positions, row) < frame).count();
                    agrees[bead][next[bead]] = agree;
                }
            }
        }
        for axis in axes.iter_mut().filter(|axis| axis.values.is_some()) {
            fill(&axis.variance, &mut axis.drift);
        }
    }
}

/// What was found in a frame.
struct Found {
    /// The drift and its variance.
    shift: Option<([f64; 3], [f64; 3])>,
    /// Which beads agree.
    agree: Vec<(usize, [bool; 2])>,
}

fn frame_of(positions: &DriftInput<'_>, row: u32) -> usize {
    positions.frames[row as usize] as usize
}

/// Gathers the beads that are seen in a frame. `rows` are the next rows of the beads.
fn see(
    positions: &DriftInput<'_>,
    beads: &[BeadTrack],
    axes: &[Axis<'_>; 3],
    reference: &[[f64; 3]],
    (frame, rows): (usize, &mut [usize]),
    seen: &mut Vec<SeenPlace>,
) {
    seen.clear();
    for (bead, next) in rows.iter_mut().enumerate() {
        let Some(&row) = beads[bead].rows.get(*next) else { continue };
        if frame_of(positions, row) != frame {
            continue;
        }
        *next += 1;
        let noise = [0, 1, 2].map(|k| match axes[k].values {
            Some(_) => axes[k].noise(row, bead),
            None => f64::INFINITY,
        });
        if !(noise[0].is_finite() && noise[1].is_finite()) {
            continue;
        }
        let place = [0, 1, 2].map(|k| axes[k].values.map_or(0.0, |values| values[row as usize]));
        seen.push(SeenPlace::new(bead, place, noise, reference[bead]));
    }
}

impl Axis<'_> {
    /// The drift by all localizations, and how far each bead can be trusted.
    fn begin(&mut self, positions: &DriftInput<'_>, beads: &[BeadTrack], frames: usize) {
        let Some(values) = self.values else { return };
        let rows: Vec<Vec<(usize, f64, f64)>> = beads
            .iter()
            .map(|bead| {
                let row =
                    |&row: &u32| (frame_of(positions, row), values[row as usize], self.weight(row));
                bead.rows.iter().map(row).collect()
            })
            .collect();
        let mut drift = vec![0.0; frames];
        let mut trust = vec![1.0; beads.len()];
        let (mut weights, mut scatter) = (Vec::new(), 0.0);
        for round in 0..ROUNDS {
            let mut sums = vec![(0.0, 0.0); frames];
            let mut spreads = Vec::new();
            for (rows, trust) in rows.iter().zip(&trust) {
                // The bead's place, from its whole path: less the drift as it is known by now.
                let all: f64 = rows.iter().map(|row| row.2).sum();
                let place = rows
                    .iter()
                    .map(|&(frame, value, weight)| weight * (value - drift[frame]))
                    .sum::<f64>()
                    / all.max(f64::MIN_POSITIVE);
                let mut square = 0.0;
                for &(frame, value, weight) in rows {
                    let off = value - place;
                    sums[frame].0 += trust * weight * off;
                    sums[frame].1 += trust * weight;
                    square += weight * (off - drift[frame]).powi(2);
                }
                spreads.push(square / rows.len().max(1) as f64);
            }
            weights = sums.iter().map(|sum| sum.1).collect();
            for (drift, (sum, weight)) in drift.iter_mut().zip(&sums) {
                if *weight > 0.0 {
                    *drift = sum / weight;
                }
            }
            fill(&weights.iter().map(|weight| 1.0 / weight).collect::<Vec<_>>(), &mut drift);
            scatter = spreads
                .iter()
                .zip(&rows)
                .zip(&trust)
                .map(|((s, rows), t)| t * s * rows.len() as f64)
                .sum();
            if round > 0 && beads.len() > 2 {
                // A bead that does not move with the others spreads more than they do.
                // Those without a weight say nothing.
                let spread = spreads.iter().copied().filter(|spread| *spread > 0.0);
                let usual = median(spread).max(f64::MIN_POSITIVE);
                for (trust, spread) in trust.iter_mut().zip(&spreads) {
                    *trust = if *spread > 4.0 * usual { usual / spread } else { 1.0 };
                }
            }
        }
        let seen = weights.iter().filter(|weight| **weight > 0.0).count();
        let all: usize = rows.iter().map(Vec::len).sum();
        // A mean for each frame and a place for each bead, but where all lie is free.
        self.unit = match (all + 1).checked_sub(seen + beads.len()) {
            Some(freedom) if beads.len() > 1 && freedom > 0 => Some(scatter / freedom as f64),
            _ => self.errors.is_some().then_some(1.0),
        };
        let unit = self.unit.unwrap_or(1.0);
        self.variance = weights.iter().map(|weight| unit / weight).collect();
        (self.drift, self.trust) = (drift, trust);
    }
}

/// Standard errors of means with the given variances; between frames with beads, of lines, which the drift may leave by as much
/// as it moves.
fn errors(variance: &[f64], drift: &[f64]) -> Vec<f64> {
    let known: Vec<usize> =
        (0..variance.len()).filter(|&frame| variance[frame].is_finite()).collect();
    let of = |frame: usize| {
        let after = known.partition_point(|&other| other < frame);
        match (after.checked_sub(1).map(|k| known[k]), known.get(after)) {
            (_, Some(&own)) if own == frame => variance[own],
            (Some(before), Some(&after)) => {
                let share = (frame - before) as f64 / (after - before) as f64;
                let step = drift[after] - drift[before];
                let ends = variance[before] + share * (variance[after] - variance[before]);
                ends + share * (1.0 - share) * step * step
            }
            (Some(only), None) | (None, Some(&only)) => variance[only],
            (None, None) => 0.0,
        }
    };
    (0..variance.len()).map(|frame| of(frame).sqrt()).collect()
}

/// Draws lines between frames with beads, and goes on level before the first and after the last of them.
fn fill(variance: &[f64], drift: &mut [f64]) {
    let mut last: Option<usize> = None;
    for frame in 0..drift.len() {
        if !variance[frame].is_finite() {
            continue;
        }
        let from = last.map_or(0, |last| last + 1);
        for gap in from..frame {
            drift[gap] = match last {
                Some(last) => {
                    let share = (gap - last) as f64 / (frame - last) as f64;
                    drift[last] + share * (drift[frame] - drift[last])
                }
                None => drift[frame],
            };
        }
        last = Some(frame);
    }
    if let Some(last) = last {
        let value = drift[last];
        drift[last + 1..].fill(value);
    }
}
