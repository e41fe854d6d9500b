//! The localizations that are compared, in units of their precision.

use super::{DriftError, DriftOptions, Positions};
use crate::link::{LinkOptions, link};
use crate::median::median;
use crate::near::{Cells, Grid};

/// Localizations in the order of time. Lengths are in units of the precision.
#[derive(Clone, Debug)]
pub(super) struct Points {
    pub(super) frames: Vec<u32>,
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
    /// Empty if there is none.
    pub(super) z: Vec<f64>,
    /// Squares of the uncertainties.
    pub(super) variance: Vec<f64>,
}

/// Fewer localizations say nothing.
pub(super) const LEAST: usize = 100;
/// Blinks are merged where at most such a share of the localizations has another one of the same frame beside it.
const CROWDED: f64 = 0.1;
/// Localizations of a sample that tells how many pairs there are.
const SAMPLE: f64 = 8e3;
/// How far a blink's localizations lie from their mean, in units of the precision.
const BLINK: f64 = 4.0;
/// Into so many parts at least a movie is cut by the longest blinks: what stays on is seen again and again.
const PARTS: u32 = 256;
const LONGEST: u32 = 5;

impl Points {
    /// Those that are finite, by frame and place: in whatever order they were.
    pub(super) fn new(
        positions: &Positions<'_>,
        frames: u32,
        options: &DriftOptions,
    ) -> Result<Self, DriftError> {
        let Positions { frames: of, x, y, z, uncertainty, uncertainty_z } = *positions;
        let rows = |column: Option<&[f64]>| column.map_or(x.len(), <[f64]>::len);
        let columns = [
            ("frame", of.len()),
            ("y", y.len()),
            ("z", rows(z)),
            ("uncertainty", rows(uncertainty)),
            ("uncertainty_z", rows(uncertainty_z)),
        ];
        crate::near::check_rows(x, &columns)?;
        let mut order = crate::near::by_frame(of);
        order.retain(|&row| {
            let row = row as usize;
            let finite = x[row].is_finite() && y[row].is_finite();
            finite && z.is_none_or(|z| z[row].is_finite()) && of[row] < frames
        });
        let place = |row: u32| {
            let row = row as usize;
            [x[row], y[row], z.map_or(0.0, |z| z[row])]
        };
        let by_place = |&a: &u32, &b: &u32| {
            let pairs = place(a).into_iter().zip(place(b));
            pairs.map(|(a, b)| a.total_cmp(&b)).find(|order| order.is_ne()).unwrap_or(a.cmp(&b))
        };
        let same = |a: &u32, b: &u32| of[*a as usize] == of[*b as usize];
        order.chunk_by_mut(same).for_each(|rows| rows.sort_unstable_by(by_place));
        let gather = |from: &[f64], unit: f64| -> Vec<f64> {
            order.iter().map(|&row| from[row as usize] / unit).collect()
        };
        let frames: Vec<u32> = order.iter().map(|&row| of[row as usize]).collect();
        let seen = frames.chunk_by(|a, b| a == b).count();
        if order.len() < LEAST || seen < 2 {
            return Err(DriftError::Few { found: order.len(), frames: seen, needed: LEAST });
        }
        let good = |error: &f64| *error > 0.0 && error.is_finite();
        let errors = uncertainty.map(|all| gather(all, options.precision));
        let usual = errors.as_ref().map(|all| median(all.iter().copied().filter(good)));
        let usual = usual.filter(good).unwrap_or(1.0);
        let square = |error: f64| if good(&error) { error * error } else { usual * usual };
        let variance = errors
            .map_or_else(|| vec![1.0; order.len()], |all| all.into_iter().map(square).collect());
        Ok(Self {
            x: gather(x, options.precision),
            y: gather(y, options.precision),
            z: z.map(|z| gather(z, options.precision_z)).unwrap_or_default(),
            frames,
            variance,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.x.len()
    }

    /// The number of axes that drift is looked for along.
    pub(super) fn axes(&self) -> usize {
        if self.z.is_empty() { 2 } else { 3 }
    }

    /// Those of the given rows.
    pub(super) fn of(&self, rows: impl Iterator<Item = usize> + Clone) -> Self {
        let gather = |from: &[f64]| match from.is_empty() {
            true => Vec::new(),
            false => rows.clone().map(|row| from[row]).collect(),
        };
        Self {
            frames: rows.clone().map(|row| self.frames[row]).collect(),
            x: gather(&self.x),
            y: gather(&self.y),
            z: gather(&self.z),
            variance: gather(&self.variance),
        }
    }

    /// The same less a drift, given for each axis and frame; no more than their places.
    pub(super) fn less(&self, drift: &[Vec<f64>]) -> Self {
        let less = |of: &[f64], axis: usize| -> Vec<f64> {
            let rows = of.iter().zip(&self.frames);
            rows.map(|(of, &frame)| of - drift[axis][frame as usize]).collect()
        };
        Self {
            x: less(&self.x, 0),
            y: less(&self.y, 1),
            z: less(&self.z, 2),
            frames: Vec::new(),
            variance: Vec::new(),
        }
    }

    /// A share of them, the same in every run.
    pub(super) fn thinned(&self, share: f64) -> Self {
        if share >= 1.0 {
            return self.clone();
        }
        // The golden ratio spreads whole numbers evenly over 2⁶⁴, whatever share is taken.
        let limit = (share * 2f64.powi(64)) as u64;
        let kept = |row: &usize| (*row as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) < limit;
        self.of((0..self.len()).filter(kept))
    }

    /// About how many pairs are within a radius of each other, from a sample.
    pub(super) fn pairs_within(&self, radius: f64) -> f64 {
        let sample = self.thinned(SAMPLE / self.len() as f64);
        let share = sample.len() as f64 / self.len() as f64;
        let cells = sample.cells(radius);
        let mut count = 0usize;
        for row in 0..sample.len() {
            count += cells.within(sample.x[row], sample.y[row], radius).count() - 1;
        }
        0.5 * count as f64 / (share * share)
    }

    pub(super) fn cells(&self, side: f64) -> Cells {
        let grid = Grid::new(&self.x, &self.y, side);
        Cells::new(grid, &self.x, &self.y, 0..self.len() as u32)
    }

    /// The usual uncertainty.
    pub(super) fn precision(&self) -> f64 {
        median(self.variance.iter().copied()).sqrt()
    }

    /// Localizations of one blink become one, where that can be told: their errors and those of their neighbours in
    /// time are the same thing said several times.
    pub(super) fn merged(&self, span: u32) -> Self {
        if self.crowded() > CROWDED {
            return self.clone();
        }
        let options = LinkOptions { radius: BLINK, radius_z: BLINK, gap: 1 };
        let z = Some(&self.z[..]).filter(|z| !z.is_empty());
        let Ok(links) = link(&self.frames, &self.x, &self.y, z, &options) else {
            return self.clone();
        };
        let longest = (span / PARTS).max(LONGEST);
        // The open part of each group: its number and its first frame.
        let mut open = vec![(u32::MAX, 0u32); links.count];
        let (mut firsts, mut sums) = (Vec::<u32>::new(), Vec::<[f64; 5]>::new());
        for row in 0..self.len() {
            let part = &mut open[links.groups[row] as usize];
            let frame = self.frames[row];
            if part.0 == u32::MAX || frame - part.1 >= longest {
                *part = (sums.len() as u32, frame);
                firsts.push(frame);
                sums.push([0.0; 5]);
            }
            let weight = 1.0 / self.variance[row];
            let first = firsts[part.0 as usize];
            let z = self.z.get(row).copied().unwrap_or(0.0);
            let values = [1.0, self.x[row], self.y[row], z, f64::from(frame - first)];
            let sums = &mut sums[part.0 as usize];
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
        }
        let frame = |part: usize| firsts[part] + (sums[part][4] / sums[part][0]).round() as u32;
        let mut order: Vec<(u32, u32)> =
            (0..sums.len()).map(|part| (frame(part), part as u32)).collect();
        order.sort_unstable();
        let mean = |k: usize| -> Vec<f64> {
            order.iter().map(|&(_, part)| sums[part as usize][k] / sums[part as usize][0]).collect()
        };
        Self {
            x: mean(1),
            y: mean(2),
            z: if self.z.is_empty() { Vec::new() } else { mean(3) },
            variance: order.iter().map(|&(_, part)| 1.0 / sums[part as usize][0]).collect(),
            frames: order.iter().map(|&(frame, _)| frame).collect(),
        }
    }

    /// In a sample of the frames, the share of localizations that have another one of the same frame beside them.
    fn crowded(&self) -> f64 {
        let (mut beside, mut all) = (0usize, 0usize);
        for rows in super::runs(&self.frames) {
            if all > 20_000 {
                break;
            }
            // In the order of x.
            let near = |row: usize| {
                let far = |other: usize| {
                    (self.x[other] - self.x[row]).hypot(self.y[other] - self.y[row]) < BLINK
                };
                (row + 1..rows.end)
                    .take_while(|&other| self.x[other] - self.x[row] < BLINK)
                    .any(far)
            };
            beside += rows.clone().filter(|&row| near(row)).count();
            all += rows.len();
        }
        beside as f64 / all.max(1) as f64
    }
}
