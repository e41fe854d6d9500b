//! The localizations that are compared, in units of their precision.

use std::borrow::Cow;

use rayon::prelude::*;

use super::error::DriftError;
use super::options::{DriftInput, DriftOptions};
use crate::averages::median;
use crate::link::{LinkOptions, link};
use crate::near::{Cells, Grid};

/// A column of coordinates, and what of it is no more than junk.
struct Near<'a> {
    column: &'a [f64],
    middle: f64,
    far: f64,
}

/// What lies further from the median, in units of the precision, is left out as what is not finite is.
const FAR: f64 = 1e9;

impl<'a> Near<'a> {
    fn new(column: &'a [f64], precision: f64) -> Self {
        let rows = sample(column.len(), SAMPLE / column.len() as f64);
        let finite = rows.into_iter().map(|row| column[row]).filter(|value| value.is_finite());
        Self { column, middle: median(finite), far: FAR * precision }
    }

    fn holds(&self, row: usize) -> bool {
        (self.column[row] - self.middle).abs() <= self.far
    }
}

/// Where successive frames are the same, the rows of each.
fn runs(frames: &[u32]) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
    let mut start = 0;
    frames.chunk_by(|a, b| a == b).map(move |rows| {
        start += rows.len();
        start - rows.len()..start
    })
}

/// A share of so many rows, the same in every run.
fn sample(rows: usize, share: f64) -> Vec<usize> {
    if share >= 1.0 {
        return (0..rows).collect();
    }
    let limit = (share * 2f64.powi(64)) as u64;
    (0..rows).filter(|&row| mixed(row as u64) < limit).collect()
}

/// Numbers that look like chance, one for each number.
pub(super) fn mixed(number: u64) -> u64 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// The number of the square of a side that a place is in, mixed.
pub(super) fn square_of(x: f64, y: f64, side: f64) -> u64 {
    let number = |at: f64| (at / side).floor() as i64 as u64;
    mixed(number(x) ^ mixed(number(y)))
}

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

/// Checks that the columns are of the same rows.
pub(super) fn check_columns(positions: &DriftInput<'_>) -> Result<(), DriftError> {
    let DriftInput { frames, x, y, z, uncertainty, uncertainty_z } = *positions;
    let rows = |column: Option<&[f64]>| column.map_or(x.len(), <[f64]>::len);
    let columns = [
        ("frame", frames.len()),
        ("y", y.len()),
        ("z", rows(z)),
        ("uncertainty", rows(uncertainty)),
        ("uncertainty_z", rows(uncertainty_z)),
    ];
    Ok(crate::near::check_rows(x, &columns)?)
}

/// Fewer localizations say nothing.
const LEAST: usize = 100;
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
        positions: &DriftInput<'_>,
        frames: u32,
        options: &DriftOptions,
    ) -> Result<Self, DriftError> {
        let DriftInput { frames: of, x, y, z, uncertainty, .. } = *positions;
        check_columns(positions)?;
        let mut order = crate::near::by_frame(of);
        let near_x = Near::new(x, options.precision);
        let near_y = Near::new(y, options.precision);
        let near_z = z.map(|z| Near::new(z, options.precision_z));
        order.retain(|&row| {
            let row = row as usize;
            let deep = near_z.as_ref().is_none_or(|near| near.holds(row));
            near_x.holds(row) && near_y.holds(row) && deep && of[row] < frames
        });
        let place = |row: u32| {
            let row = row as usize;
            let [z, error] = [z, uncertainty].map(|column| column.map_or(0.0, |of| of[row]));
            [x[row], y[row], z, error]
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
        let usual = usual.filter(good).map_or(1.0, |usual| usual.clamp(1e-6, 1e6));
        let square = |error: f64| {
            let error = if good(&error) { error } else { usual };
            // None counts for more than a million others, or for nothing.
            error.clamp(1e-3 * usual, 1e3 * usual).powi(2)
        };
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

    /// Where they are less a drift, which is given for each axis and frame.
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
        self.of(sample(self.len(), share).into_iter())
    }

    /// About how many pairs are within a radius of each other, from a sample.
    pub(super) fn pairs_within(&self, radius: f64) -> f64 {
        let share = SAMPLE / self.len() as f64;
        let rows = sample(self.len(), share);
        let gather = |of: &[f64]| rows.iter().map(|&row| of[row]).collect::<Vec<f64>>();
        let (x, y) = (gather(&self.x), gather(&self.y));
        let cells = Cells::new(Grid::new(&x, &y, radius), &x, &y, 0..x.len() as u32);
        let pairs = |row: usize| cells.within(x[row], y[row], radius).count().saturating_sub(1);
        let count = (0..x.len()).into_par_iter().map(pairs).sum::<usize>();
        let share = rows.len() as f64 / self.len() as f64;
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
    pub(super) fn merged(&self, span: u32) -> Cow<'_, Self> {
        if self.crowded() > CROWDED {
            return Cow::Borrowed(self);
        }
        let options = LinkOptions::new(BLINK, BLINK).with_gap(1);
        let z = Some(&self.z[..]).filter(|z| !z.is_empty());
        let Ok(links) = link(&self.frames, &self.x, &self.y, z, &options) else {
            return Cow::Borrowed(self);
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
        drop((open, links));
        let frame = |part: usize| firsts[part] + (sums[part][4] / sums[part][0]).round() as u32;
        let mut order: Vec<(u32, u32)> =
            (0..sums.len()).map(|part| (frame(part), part as u32)).collect();
        order.sort_unstable();
        let mean = |k: usize| -> Vec<f64> {
            order.iter().map(|&(_, part)| sums[part as usize][k] / sums[part as usize][0]).collect()
        };
        Cow::Owned(Self {
            x: mean(1),
            y: mean(2),
            z: if self.z.is_empty() { Vec::new() } else { mean(3) },
            variance: order.iter().map(|&(_, part)| 1.0 / sums[part as usize][0]).collect(),
            frames: order.iter().map(|&(frame, _)| frame).collect(),
        })
    }

    /// In a sample of the frames, the share of localizations that have another one of the same frame beside them.
    fn crowded(&self) -> f64 {
        let (mut beside, mut all) = (0usize, 0usize);
        // Localizations of frames all over the movie: at its beginning there may be more.
        let step = self.len().div_ceil(SAMPLE as usize);
        for rows in runs(&self.frames).step_by(step.max(1)) {
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
