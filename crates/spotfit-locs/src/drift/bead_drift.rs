//! The drift of beads that were followed.

use super::bead_axis::{Axis, fill, frame_of};
use super::beads::BeadTrack;
use super::common::{CommonDrift, SeenPlace};
use super::error::DriftError;
use super::movement::Drift;
use super::options::{DriftInput, check_frames};
use crate::averages::median;
use crate::parallel::{of_all, of_each};

/// Rounds of finding the drift from the beads' places and the reverse, by medians, and by those that agree.
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
        // Those without noise are as they should be.
        let known =
            |axis: &Axis<'_>| axis.values.is_none() || axis.unit.is_some_and(|unit| unit > 0.0);
        if self.beads.len() < 3 || !self.axes.iter().all(known) {
            return;
        }
        let begun = self.axes.clone();
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
                let Some(unit) = unit else {
                    // Most places along it are the same: nothing says how far they may be apart.
                    self.axes = begun;
                    return;
                };
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
        let place = |bead: usize| {
            let (bead, agrees) = (&self.beads[bead], &self.agrees[bead]);
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
        of_each(self.beads.len(), &place)
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
        let spreads = of_each(beads.len(), &spread);
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
        let of_some = |&first: &usize| -> Vec<Found> {
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
                    // Of halves it cannot be said which is wrong.
                    let shift = common.find(&mut seen, [0.0; 3]);
                    let shift = shift.filter(|shift| 2 * shift.beads > seen.len());
                    let agree = seen.iter().map(|seen| (seen.bead, seen.agrees)).collect();
                    Found { shift: shift.map(|shift| (shift.by, shift.variance)), agree }
                })
                .collect()
        };
        let found = of_all(&starts, of_some).into_iter().flatten().enumerate();
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
