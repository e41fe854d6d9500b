//! The drift of beads along an axis.

use super::beads::BeadTrack;
use super::options::DriftInput;
use crate::averages::median;

/// Rounds of finding the drift from the beads' places and the reverse.
const ROUNDS: usize = 12;

/// The drift along an axis, and what it rests on.
#[derive(Clone, Debug)]
pub(super) struct Axis<'a> {
    /// Places and their standard errors; none if there is no such column.
    pub(super) values: Option<&'a [f64]>,
    pub(super) errors: Option<&'a [f64]>,
    /// The drift in each frame; empty without a column.
    pub(super) drift: Vec<f64>,
    /// Its variance, as far as frames have beads; infinite elsewhere.
    pub(super) variance: Vec<f64>,
    /// What the weight of each bead is multiplied by.
    pub(super) trust: Vec<f64>,
    /// The variance of a localization of weight 1, if that is known.
    pub(super) unit: Option<f64>,
}

impl<'a> Axis<'a> {
    pub(super) fn new(values: Option<&'a [f64]>, errors: Option<&'a [f64]>) -> Self {
        Self { values, errors, drift: vec![], variance: vec![], trust: vec![], unit: None }
    }

    /// The weight of a row, 1/σ². Rows whose σ is no number have none, unless no row has one.
    pub(super) fn weight(&self, row: u32) -> f64 {
        match self.errors.map(|all| all[row as usize]) {
            Some(error) if error > 0.0 && (1.0 / (error * error)).is_normal() => {
                1.0 / (error * error)
            }
            Some(_) => 0.0,
            None => 1.0,
        }
    }

    /// The variance of a row of a bead.
    pub(super) fn noise(&self, row: u32, bead: usize) -> f64 {
        self.unit.unwrap_or(f64::INFINITY) / (self.weight(row) * self.trust[bead])
    }

    pub(super) fn into_drift(self) -> (Vec<f64>, Vec<f64>) {
        let Self { drift, variance, unit, .. } = self;
        let errors = if unit.is_some() { errors(&variance, &drift) } else { Vec::new() };
        (drift, errors)
    }
}

impl Axis<'_> {
    /// The drift by all localizations, and how far each bead can be trusted.
    pub(super) fn begin(&mut self, positions: &DriftInput<'_>, beads: &[BeadTrack], frames: usize) {
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
pub(super) fn fill(variance: &[f64], drift: &mut [f64]) {
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

/// The frame of a row.
pub(super) fn frame_of(positions: &DriftInput<'_>, row: u32) -> usize {
    positions.frames[row as usize] as usize
}
