//! Pairs of localizations of different times, and what they say of the drift between those.
//!
//! A pair at the distance r counts (1 − r²/R²)³ within the reach R, close to exp(−r²/2s²) with s² = R²/6, and nothing beyond: no
//! exponential is taken, and pairs further apart need not be looked at.

use super::points::{Points, mixed, square_of};
use crate::near::{Cells, Grid};
use crate::parallel::of_each;

/// Parts of the movie, alike in length. The drift is given in their middles, and on lines between those.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bins {
    pub(super) count: usize,
    pub(super) span: u32,
}

impl Bins {
    /// The one that a frame is in.
    pub(super) fn of(&self, frame: u32) -> usize {
        (u64::from(frame) * self.count as u64 / u64::from(self.span)) as usize
    }

    /// The one of each frame.
    fn of_frames(&self) -> Vec<u32> {
        (0..self.span).map(|frame| self.of(frame) as u32).collect()
    }

    /// The first frame of one.
    fn first(&self, bin: usize) -> u32 {
        (bin as u64 * u64::from(self.span)).div_ceil(self.count as u64) as u32
    }

    /// Frames of one.
    pub(super) fn length(&self) -> f64 {
        f64::from(self.span) / self.count as f64
    }

    /// The middle of one, in frames.
    pub(super) fn middle(&self, bin: usize) -> f64 {
        (bin as f64 + 0.5) * self.length() - 0.5
    }

    /// The two bins between whose middles a frame is, and the share of the second; outside, lines go on.
    pub(super) fn around(&self, frame: f64) -> (usize, f64) {
        if self.count < 2 {
            return (0, 0.0);
        }
        let place = (frame + 0.5) / self.length() - 0.5;
        let first = (place.max(0.0) as usize).min(self.count - 2);
        (first, place - first as f64)
    }

    /// The value of a curve, which is given in these bins, at a frame.
    pub(super) fn value(&self, curve: &[f64], frame: f64) -> f64 {
        let (first, share) = self.around(frame);
        let second = curve.get(first + 1).copied().unwrap_or(curve[first]);
        curve[first] + share * (second - curve[first])
    }

    /// The values of a curve in all frames.
    pub(super) fn values(&self, curve: &[f64]) -> Vec<f64> {
        (0..self.span).map(|frame| self.value(curve, f64::from(frame))).collect()
    }

    /// The curve in other bins.
    pub(super) fn again(&self, curve: &[f64], other: Bins) -> Vec<f64> {
        (0..other.count).map(|bin| self.value(curve, other.middle(bin))).collect()
    }
}

/// A pair: the earlier one comes first.
#[derive(Clone, Copy, Debug)]
struct Pair {
    frames: [u32; 2],
    weight: f32,
    /// Position of the second minus that of the first.
    by: [f32; 3],
    /// The part of the field that it lies in.
    cell: u16,
}

/// How far the last steps are from Newton's, which go too far where pairs are not yet near.
pub(super) const DAMPING: f64 = 0.1;
/// A bin is held by such a share of the mean at least.
const LEAST_DEGREE: f64 = 0.02;
/// Parts of the field, of which many share a number.
pub(super) const CELLS: usize = 512;
/// The side of a part, in units of the reach.
const SIDE: f64 = 4.0;
/// So many parts tell how much pulls vary.
const ENOUGH: usize = 64;

/// The pairs that are near each other, for each bin of the earlier.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    bins: Bins,
    rows: Vec<Vec<Pair>>,
    axes: usize,
}

/// Which pairs are listed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// How far apart they may be, after the drift is taken off; in z in units of its precision.
    pub(super) reach: f64,
    /// How many frames may lie between them.
    pub(super) lags: [u32; 2],
    /// About how many are taken at most.
    pub(super) most: f64,
    /// About how many there are, where that is not to be found out.
    pub(super) near: Option<f64>,
    /// Whether each point has some, with a share of the others, rather than a share of the points all theirs.
    pub(super) each: bool,
}

/// Most pairs that are looked at.
const MOST_LOOKED_AT: f64 = 6e7;
/// For each that is taken, so many are looked at, at most.
const LOOKED_AT: f64 = 6.0;

impl Pairs {
    /// Lists pairs of points from which a drift (for each axis and frame) was taken off.
    pub(super) fn list(points: &Points, bins: Bins, drift: &[Vec<f64>], wanted: &Wanted) -> Self {
        let whole = points.less(drift);
        let near = wanted.near.unwrap_or_else(|| {
            let lag = f64::from(wanted.lags[1]) / f64::from(bins.span);
            whole.pairs_within(wanted.reach) * (2.0 * lag).min(1.0)
        });
        let looked_at = MOST_LOOKED_AT.min(LOOKED_AT * wanted.most);
        let each = wanted.each && near > looked_at;
        let thin = if each { 1.0 } else { (looked_at / near).sqrt() };
        let thinned;
        let (points, moved) = match thin < 1.0 {
            true => {
                thinned = points.thinned(thin);
                (&thinned, thinned.less(drift))
            }
            false => (points, whole),
        };
        let others = if each { (0.5 * looked_at / near * 2f64.powi(64)) as u64 } else { u64::MAX };
        let other = |row: u32| mixed(u64::from(row)) <= others;
        let share = wanted.most / near.min(looked_at);
        let limit = if share < 1.0 { (share * 2f64.powi(32)) as u64 } else { u64::MAX };
        let axes = points.axes();
        let rows: Vec<u32> = (0..points.len() as u32).filter(|row| other(*row)).collect();
        let grid = Grid::new(&moved.x, &moved.y, wanted.reach);
        let cells = Cells::new(grid, &moved.x, &moved.y, rows.into_iter());
        let usual = points.precision().powi(2);
        let weights: Vec<f32> =
            points.variance.iter().map(|v| (2.0 * usual / (usual + v)) as f32).collect();
        let starts: Vec<usize> = (0..=bins.count)
            .map(|bin| points.frames.partition_point(|&frame| bins.of(frame) < bin))
            .collect();
        let side = side_of_parts(&moved, wanted.reach);
        let row = |bin: usize| {
            let mut found = Vec::new();
            for one in starts[bin]..starts[bin + 1] {
                let frame = points.frames[one];
                let (x, y) = (moved.x[one], moved.y[one]);
                let cell = (square_of(x, y, side) % CELLS as u64) as u16;
                let later = starts[bin + 1]
                    .max(points.frames.partition_point(|&other| other < frame + wanted.lags[0]))
                    as u32;
                let beyond = frame.saturating_add(wanted.lags[1]);
                // Pairs with one that has no others of its own may go back in time.
                let back = each && !other(one as u32);
                let first = if back { 0 } else { later };
                each_within(&cells, (x, y), wanted.reach, first, |other| {
                    let near_in_time = (starts[bin] as u32..later).contains(&other);
                    if points.frames[other as usize] > beyond || near_in_time {
                        return;
                    }
                    let z = moved.z.get(one).map_or(0.0, |z| moved.z[other as usize] - z);
                    if z.abs() > wanted.reach || chosen(one as u32, other) >= limit {
                        return;
                    }
                    let other = other as usize;
                    let depth = points.z.get(one).map_or(0.0, |z| points.z[other] - z);
                    found.push(Pair {
                        frames: [frame, points.frames[other]],
                        weight: weights[one] * weights[other],
                        by: [
                            (points.x[other] - points.x[one]) as f32,
                            (points.y[other] - points.y[one]) as f32,
                            depth as f32,
                        ],
                        cell,
                    });
                });
            }
            found
        };
        let rows = of_each(bins.count, &row);
        Self { bins, rows, axes }
    }

    /// What they say of the drift in bins, at one that is given for each axis and frame.
    pub(super) fn sums(&self, bins: Bins, drift: &[Vec<f64>], reach: f64, damping: f64) -> Sums {
        let (count, axes) = (bins.count, self.axes);
        let bin_of = bins.of_frames();
        let drift = Moved::new(drift);
        let row = |bin: usize| {
            let mut row = Row {
                bend: vec![vec![0.0; count]; axes],
                pull: vec![vec![0.0; count]; axes],
                value: 0.0,
            };
            let turn = (4.0 * (1.0 - damping)) as f32;
            let frames = [bin, bin + 1].map(|bin| bins.first(bin));
            let listed = self.bins.of(frames[0])..self.bins.of(frames[1].max(1) - 1) + 1;
            let own = |pair: &&Pair| bin_of[pair.frames[0] as usize] as usize == bin;
            for pair in self.rows[listed].iter().flatten().filter(own) {
                let Some(near) = drift.near(pair, axes, reach as f32) else { continue };
                let to = bin_of[pair.frames[1] as usize] as usize;
                let slope = pair.weight * near.left * near.left;
                row.value += f64::from(slope * near.left);
                let inner = pair.weight * near.left * turn;
                for axis in 0..axes {
                    let off = near.off[axis];
                    row.pull[axis][to] += slope * off;
                    row.bend[axis][to] += slope - inner * off * off;
                }
            }
            row
        };
        let rows = of_each(count, &row);
        let mut sums = Sums {
            count,
            value: rows.iter().map(|row| row.value).sum(),
            bend: Vec::new(),
            degree: Vec::new(),
            within: Vec::new(),
            pull: Vec::new(),
        };
        // d/dδ of Σ(1 − u)³ with u = r²/R².
        let unit = 6.0 / (reach * reach);
        for axis in 0..axes {
            // By chance, some bins push each other away. Without those the matrix is always positive; the others lose as much.
            let ties = rows.iter().flat_map(|row| &row.bend[axis]);
            let (all, positive) = ties.fold((0.0, 0.0), |(all, positive), &tie| {
                (all + f64::from(tie), positive + f64::from(tie.max(0.0)))
            });
            let share = if all > 0.0 { all / positive } else { 0.1 };
            let (mut pull, mut degree) = (vec![0.0; count], vec![0.0; count]);
            let mut bend = vec![0f32; count * count];
            let mut within = vec![0.0; count];
            for (one, row) in rows.iter().enumerate() {
                within[one] = 2.0 * unit * share * f64::from(row.bend[axis][one].max(0.0));
                for other in (0..count).filter(|other| *other != one) {
                    let force = unit * reach * f64::from(row.pull[axis][other]);
                    let weight = unit * share * f64::from(row.bend[axis][other].max(0.0));
                    pull[one] -= force;
                    pull[other] += force;
                    degree[one] += weight;
                    degree[other] += weight;
                    bend[one * count + other] += weight as f32;
                    bend[other * count + one] += weight as f32;
                }
            }
            sums.pull.push(pull);
            sums.degree.push(degree);
            sums.within.push(within);
            sums.bend.push(bend);
        }
        sums
    }

    /// The pull in each bin (for each axis) of each part of the field.
    pub(super) fn parts(&self, bins: Bins, drift: &[Vec<f64>], reach: f64) -> Vec<Vec<f64>> {
        self.alone(bins, drift, reach, DAMPING, CELLS).1
    }

    /// What pairs say of each bin while all the others stay, and the pull in each bin (for each axis) of each of so many parts of the
    /// field: what varies by chance from one to the next.
    pub(super) fn alone(
        &self,
        bins: Bins,
        drift: &[Vec<f64>],
        reach: f64,
        damping: f64,
        cells: usize,
    ) -> (Sums, Vec<Vec<f64>>) {
        let (count, axes) = (bins.count, self.axes);
        let drift = Moved::new(drift);
        let bin_of = bins.of_frames();
        let (unit, turn) = ((6.0 / reach) as f32, (4.0 * (1.0 - damping)) as f32);
        let mut parts = vec![vec![0.0; cells * count]; axes];
        let mut degrees = vec![vec![0.0; count]; axes];
        for pair in self.rows.iter().flatten() {
            let Some(near) = drift.near(pair, axes, reach as f32) else { continue };
            let [from, to] = pair.frames.map(|frame| bin_of[frame as usize] as usize);
            if from == to {
                continue;
            }
            let slope = unit * pair.weight * near.left * near.left;
            let inner = unit * pair.weight * near.left * turn;
            let cell = usize::from(pair.cell) % cells;
            for (axis, (parts, degree)) in parts.iter_mut().zip(&mut degrees).enumerate() {
                let off = near.off[axis];
                let force = f64::from(slope * off);
                parts[cell * count + from] -= force;
                parts[cell * count + to] += force;
                let bend = f64::from(slope - inner * off * off) / reach;
                degree[from] += bend;
                degree[to] += bend;
            }
        }
        // By chance, some bins are pushed away.
        for degree in &mut degrees {
            let least = LEAST_DEGREE * degree.iter().sum::<f64>() / count as f64;
            degree.iter_mut().for_each(|degree| *degree = degree.max(least));
        }
        let pull = |parts: &Vec<f64>| {
            let mut pull = vec![0.0; count];
            for part in parts.chunks(count) {
                pull.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            }
            pull
        };
        let pull = parts.iter().map(pull).collect();
        let (bend, within) = (vec![Vec::new(); axes], vec![Vec::new(); axes]);
        let sums = Sums { count, value: 0.0, bend, degree: degrees, within, pull };
        (sums, parts)
    }

    /// What pairs say of many bins, with ties as those between fewer, in shares.
    pub(super) fn shared(&self, bins: Bins, few: Bins, drift: &[Vec<f64>], reach: f64) -> Shared {
        let (mut own, _) = self.alone(bins, drift, reach, DAMPING, 1);
        let ties = self.sums(few, drift, reach, DAMPING);
        let part = |bin: usize| few.of(bins.middle(bin).max(0.0) as u32).min(few.count - 1);
        let to: Vec<usize> = (0..bins.count).map(part).collect();
        for (axis, degree) in own.degree.iter_mut().enumerate() {
            let mut sums = vec![0.0; few.count];
            to.iter().zip(&*degree).for_each(|(&to, degree)| sums[to] += degree);
            for (&to, degree) in to.iter().zip(degree) {
                *degree *= (ties.degree[axis][to] + ties.within[axis][to])
                    / sums[to].max(f64::MIN_POSITIVE);
            }
        }
        Shared { own, ties, to }
    }
}

/// What pairs say of many bins.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    /// Of each, while all the others stay.
    pub(super) own: Sums,
    /// The ties between fewer bins.
    pub(super) ties: Sums,
    /// Of these, the one of each.
    to: Vec<usize>,
}

impl Shared {
    /// The product of the ties along an axis with a curve.
    pub(super) fn tied(&self, axis: usize, curve: &[f64]) -> Vec<f64> {
        let count = self.ties.count;
        let (degree, within) = (&self.ties.degree[axis], &self.ties.within[axis]);
        let share = |bin: usize| {
            let to = self.to[bin];
            self.own.degree[axis][bin] / (degree[to] + within[to]).max(f64::MIN_POSITIVE)
        };
        let mut few = vec![0.0; count];
        for (bin, value) in curve.iter().enumerate() {
            few[self.to[bin]] += share(bin) * value;
        }
        let rows = self.ties.bend[axis].chunks(count).enumerate();
        let tied = rows.map(|(one, row)| {
            let others: f64 = row.iter().zip(&few).map(|(tie, of)| f64::from(*tie) * of).sum();
            others + within[one] * few[one]
        });
        let tied: Vec<f64> = tied.collect();
        (0..curve.len()).map(|bin| share(bin) * tied[self.to[bin]]).collect()
    }
}

/// How near the two of a pair are, in units of the reach.
struct Near {
    off: [f32; 3],
    /// 1 − r²/R².
    left: f32,
}

/// The drift of all frames, as pairs need it.
struct Moved {
    drift: Vec<[f32; 3]>,
}

impl Moved {
    fn new(drift: &[Vec<f64>]) -> Self {
        let of = |frame: usize| {
            std::array::from_fn(|axis| drift.get(axis).map_or(0.0, |of| of[frame] as f32))
        };
        Self { drift: (0..drift[0].len()).map(of).collect() }
    }

    fn near(&self, pair: &Pair, axes: usize, reach: f32) -> Option<Near> {
        let [from, to] = pair.frames.map(|frame| &self.drift[frame as usize]);
        let mut off = [0.0; 3];
        let mut square = 0.0;
        for axis in 0..axes {
            off[axis] = (pair.by[axis] - (to[axis] - from[axis])) / reach;
            square += off[axis] * off[axis];
        }
        (square < 1.0).then_some(Near { off, left: 1.0 - square })
    }
}

/// The sums of one bin of the earlier.
struct Row {
    bend: Vec<Vec<f32>>,
    pull: Vec<Vec<f32>>,
    value: f64,
}

/// What pairs say at a drift: the first and second derivatives of the sum of what they count, for each axis.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    pub(super) count: usize,
    pub(super) value: f64,
    /// How strongly each two bins are tied, a full matrix.
    pub(super) bend: Vec<Vec<f32>>,
    /// The sums of its rows.
    pub(super) degree: Vec<Vec<f64>>,
    /// How strongly what is within each bin is tied.
    pub(super) within: Vec<Vec<f64>>,
    /// Derivatives by the drift of each bin.
    pub(super) pull: Vec<Vec<f64>>,
}

/// The side of parts of the field: as large as leaves enough of them.
fn side_of_parts(moved: &Points, reach: f64) -> f64 {
    let mut side = SIDE * reach;
    while side > reach {
        let mut seen = vec![false; CELLS];
        for (&x, &y) in moved.x.iter().zip(&moved.y) {
            seen[(square_of(x, y, side) % CELLS as u64) as usize] = true;
        }
        if seen.iter().filter(|seen| **seen).count() >= ENOUGH {
            break;
        }
        side *= 0.5;
    }
    side
}

/// A number from 0 to 2³² for each pair.
fn chosen(one: u32, other: u32) -> u64 {
    mixed((u64::from(one) << 32) | u64::from(other)) >> 32
}

/// The sum of what pairs count that are so many frames apart, of points from which a drift was taken off.
pub(super) fn value(points: &Points, frames: &[u32], reach: f64, least: u32) -> f64 {
    let cells = points.cells(reach);
    let part = |part: usize| {
        let rows = 512 * part..points.len().min(512 * (part + 1));
        let mut sum = 0.0;
        for one in rows {
            let first = frames.partition_point(|&frame| frame < frames[one] + least) as u32;
            each_within(&cells, (points.x[one], points.y[one]), reach, first, |other| {
                let other = other as usize;
                let off = [
                    points.x[other] - points.x[one],
                    points.y[other] - points.y[one],
                    points.z.get(one).map_or(0.0, |z| points.z[other] - z),
                ];
                let square: f64 = off.iter().map(|off| off * off).sum();
                sum += (1.0 - square / (reach * reach)).max(0.0).powi(3);
            });
        }
        sum
    };
    of_each(points.len().div_ceil(512), &part).iter().sum()
}

/// The points from a row on that are within the reach of a place.
fn each_within(
    cells: &Cells,
    (x, y): (f64, f64),
    reach: f64,
    first: u32,
    mut found: impl FnMut(u32),
) {
    let limit = reach * reach;
    for places in cells.around(x, y) {
        let columns = cells.x[places.clone()].iter().zip(&cells.y[places.clone()]);
        for ((other_x, other_y), &other) in columns.zip(&cells.rows[places]) {
            let (dx, dy) = (other_x - x, other_y - y);
            // One branch, which is seldom taken.
            if (dx * dx + dy * dy <= limit) & (other >= first) {
                found(other);
            }
        }
    }
}
