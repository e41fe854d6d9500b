//! The first estimate: segments of the movie compared with each other.

use std::ops::Range;

use super::matrix::Cholesky;
use super::pairs::Bins;
use super::points::Points;
use crate::near::{Cells, Grid};
use crate::parallel::of_all;

/// The drift of segments: the mean frame of each, and how far it is from the others.
#[derive(Clone, Debug)]
pub(super) struct Rough {
    pub(super) frames: Vec<f64>,
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
    pub(super) z: Vec<f64>,
}

/// Most pairs of localizations that are compared.
const MOST_PAIRS: f64 = 2e7;

/// What is looked for, in units of the precision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comparison {
    /// The number of segments.
    pub(super) count: usize,
    /// The largest drift between two segments, in x and y and in z.
    pub(super) range: [f64; 2],
}

impl Rough {
    /// The drift at a frame along an axis, on lines between the middles of segments.
    pub(super) fn at(&self, axis: usize, frame: f64) -> f64 {
        let values = [&self.x, &self.y, &self.z][axis];
        let (Some(first), Some(last)) = (values.first(), values.last()) else { return 0.0 };
        let after = self.frames.partition_point(|&other| other <= frame);
        if after == 0 {
            return *first;
        }
        if after == values.len() {
            return *last;
        }
        let (from, to) = (self.frames[after - 1], self.frames[after]);
        values[after - 1] + (frame - from) / (to - from) * (values[after] - values[after - 1])
    }
}

/// Compares all segments with all others.
pub(super) fn compare(points: &Points, comparison: &Comparison) -> Rough {
    let pairs = points.pairs_within(comparison.range[0]);
    let points = points.thinned((MOST_PAIRS / pairs).sqrt());
    let segments = cut(&points, comparison.count);
    let centres = segments.iter().map(|rows| {
        let frames = points.frames[rows.clone()].iter().map(|&frame| f64::from(frame));
        frames.sum::<f64>() / rows.len() as f64
    });
    let mut rough =
        Rough { frames: centres.collect(), x: Vec::new(), y: Vec::new(), z: Vec::new() };
    let shifts = in_plane(&points, &segments, comparison);
    let tolerance = 2.0 * points.precision();
    let solved = solve(&shifts, segments.len(), tolerance);
    rough.x = solved.iter().map(|shift| shift[0]).collect();
    rough.y = solved.iter().map(|shift| shift[1]).collect();
    if points.axes() == 3 {
        let shifts = in_depth(&points, &segments, &rough, comparison);
        let solved = solve(&shifts, segments.len(), tolerance);
        rough.z = solved.iter().map(|shift| shift[0]).collect();
    }
    rough
}

/// Cuts points, which are in the order of frames, into parts of about as many each; no frame is in two.
fn cut(points: &Points, count: usize) -> Vec<Range<usize>> {
    let mut segments: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for part in 1..=count {
        let mut end = points.len() * part / count;
        while end > start && end < points.len() && points.frames[end] == points.frames[end - 1] {
            end += 1;
        }
        if end > start {
            segments.push(start..end);
            start = end;
        }
    }
    segments
}

/// How far two segments are apart.
#[derive(Clone, Copy, Debug)]
struct Shift {
    /// Their numbers.
    of: [usize; 2],
    /// Position in the second minus position in the first.
    by: [f64; 2],
    /// Pairs in the peak of the correlation.
    weight: f64,
}

/// The peaks of the correlations of all segments in x and y.
fn in_plane(points: &Points, segments: &[Range<usize>], comparison: &Comparison) -> Vec<Shift> {
    let range = comparison.range[0];
    let bin = BIN * points.precision().max(range / 150.0);
    let half = (range / bin).ceil() as usize;
    let side = 2 * half + 1;
    let grid = Grid::new(&points.x, &points.y, range);
    let of_segment = |rows: &Range<usize>| {
        let rows = rows.start as u32..rows.end as u32;
        Cells::new(grid, &points.x, &points.y, rows.into_iter())
    };
    let cells = of_all(segments, of_segment);
    let pairs = pairs_of(segments.len());
    let shift = |&[a, b]: &[usize; 2]| {
        let mut counts = vec![0f32; side * side];
        for row in segments[a].clone() {
            let (x, y) = (points.x[row], points.y[row]);
            for other in cells[b].around(x, y).into_iter().flatten() {
                let column = ((cells[b].x[other] - x) / bin).round() + half as f64;
                let line = ((cells[b].y[other] - y) / bin).round() + half as f64;
                let inside = |at: f64| at >= 0.0 && at < side as f64;
                if inside(column) && inside(line) {
                    counts[line as usize * side + column as usize] += 1.0;
                }
            }
        }
        let (by, weight) = peak(&mut counts, side, side);
        let by = by.map(|at| (at - half as f64) * bin);
        Shift { of: [a, b], by, weight }
    };
    of_all(&pairs, shift).into_iter().filter(|shift| shift.weight > 0.0).collect()
}

/// The peaks of the correlations in z, of points that are near each other in the plane.
fn in_depth(
    points: &Points,
    segments: &[Range<usize>],
    rough: &Rough,
    comparison: &Comparison,
) -> Vec<Shift> {
    let mut points = points.clone();
    for (segment, rows) in segments.iter().enumerate() {
        points.x[rows.clone()].iter_mut().for_each(|x| *x -= rough.x[segment]);
        points.y[rows.clone()].iter_mut().for_each(|y| *y -= rough.y[segment]);
    }
    let near = 4.0 * points.precision();
    let bin = points.precision().max(comparison.range[1] / 500.0);
    let half = (comparison.range[1] / bin).ceil() as usize;
    let side = 2 * half + 1;
    let grid = Grid::new(&points.x, &points.y, near);
    let of_segment = |rows: &Range<usize>| {
        let rows = rows.start as u32..rows.end as u32;
        Cells::new(grid, &points.x, &points.y, rows.into_iter())
    };
    let cells = of_all(segments, of_segment);
    let shift = |&[a, b]: &[usize; 2]| {
        let mut counts = vec![0f32; side];
        for row in segments[a].clone() {
            for (other, _) in cells[b].within(points.x[row], points.y[row], near) {
                let z = points.z[cells[b].rows[other] as usize] - points.z[row];
                let at = (z / bin).round() + half as f64;
                if at >= 0.0 && at < side as f64 {
                    counts[at as usize] += 1.0;
                }
            }
        }
        let ([at, _], weight) = peak(&mut counts, side, 1);
        Shift { of: [a, b], by: [(at - half as f64) * bin, 0.0], weight }
    };
    let pairs = pairs_of(segments.len());
    of_all(&pairs, shift).into_iter().filter(|shift| shift.weight > 0.0).collect()
}

fn pairs_of(count: usize) -> Vec<[usize; 2]> {
    (0..count).flat_map(|a| (a + 1..count).map(move |b| [a, b])).collect()
}

/// Bins of a curve that lie elsewhere: where the localizations of one, from which the curve was taken off, fit to all others
/// so much better that it is no chance. The number of the bin, and how far it is off.
///
/// `share` makes a log-likelihood of the number of pairs.
pub(super) fn strays(
    points: &Points,
    drift: &[Vec<f64>],
    bins: Bins,
    looked_at: &[usize],
    range: f64,
    share: f64,
) -> Vec<(usize, [f64; 2])> {
    let moved = points.less(drift);
    let most = (MOST_PAIRS / (2.0 * points.pairs_within(range))).min(1.0);
    let limit = (most * f64::from(u32::MAX)) as u32;
    // A share of the others is enough.
    let kept = |row: &u32| row.wrapping_mul(0x9E37_79B9) <= limit;
    let rows: Vec<u32> = (0..points.len() as u32).filter(kept).collect();
    let grid = Grid::new(&moved.x, &moved.y, range);
    let cells = Cells::new(grid, &moved.x, &moved.y, rows.into_iter());
    let bin_size = BIN * points.precision().max(range / 150.0);
    let half = (range / bin_size).ceil() as usize;
    let side = 2 * half + 1;
    let stray = |bin: usize| {
        let own = |frame: u32| bins.of(frame);
        let rows = points.frames.partition_point(|&frame| own(frame) < bin)
            ..points.frames.partition_point(|&frame| own(frame) <= bin);
        let mut counts = vec![0f32; side * side];
        for row in rows {
            let (x, y) = (moved.x[row], moved.y[row]);
            for other in cells.around(x, y).into_iter().flatten() {
                if own(points.frames[cells.rows[other] as usize]).abs_diff(bin) < 2 {
                    continue;
                }
                let column = ((x - cells.x[other]) / bin_size).round() + half as f64;
                let line = ((y - cells.y[other]) / bin_size).round() + half as f64;
                let inside = |at: f64| at >= 0.0 && at < side as f64;
                if inside(column) && inside(line) {
                    counts[line as usize * side + column as usize] += 1.0;
                }
            }
        }
        let (at, weight) = peak(&mut counts, side, side);
        if weight <= 0.0 {
            return None;
        }
        let off = at.map(|at| (at - half as f64) * bin_size);
        let [column, line] = at.map(|at| at.round() as usize);
        let (there, here) = (counts[line * side + column], counts[half * side + half]);
        let gain = f64::from(there - here) / most;
        let chance = 6.0 * (f64::from(there) / most).sqrt() / most.sqrt();
        let far = off[0].hypot(off[1]) > STRAY * points.precision();
        (far && share * gain > LEAST_GAIN && gain > chance).then_some((bin, off))
    };
    of_all(looked_at, |&bin| stray(bin)).into_iter().flatten().collect()
}

/// What is nearer, in units of the precision, is found by small steps.
const STRAY: f64 = 4.0;
/// By so much the logarithm of the likelihood grows at least.
const LEAST_GAIN: f64 = 15.0;

/// Half of the width of the smoothing, in bins.
const BLUR: usize = 3;
/// Its standard deviation, in bins.
const BLURRED: f32 = 1.1;
/// Bins in units of the precision.
const BIN: f64 = 1.6;

/// The place of the highest peak of smoothed counts, in columns and lines, and about how many counts it has above
/// what lies around it; 0 if that is less than chance.
fn peak(counts: &mut [f32], width: usize, height: usize) -> ([f64; 2], f64) {
    let weights: [f32; BLUR + 1] =
        std::array::from_fn(|at| (-0.5 * (at as f32 / BLURRED).powi(2)).exp());
    blur(counts, width, height, &weights);
    let sum: f32 = weights[0] + 2.0 * weights[1..].iter().sum::<f32>();
    let area = if height > 1 { sum * sum } else { sum };
    let highest = (0..counts.len()).max_by(|&a, &b| counts[a].total_cmp(&counts[b])).unwrap_or(0);
    let mut sorted: Vec<f32> = counts.to_vec();
    let middle = sorted.len() / 2;
    let usual = *sorted.select_nth_unstable_by(middle, f32::total_cmp).1;
    // Smoothed with these weights, one count at a place is 1 there; noise adds up as the square root.
    let above = counts[highest] - usual;
    let spread = (usual.max(0.0) * if height > 1 { 0.5 } else { 0.7 }).sqrt().max(1.0);
    if above < 3.0 * spread {
        return ([0.0; 2], 0.0);
    }
    let (column, line) = (highest % width, highest / width);
    let value = |column: usize, line: usize| f64::from(counts[line * width + column]);
    let middle = |low: f64, mid: f64, high: f64| {
        let bend = low - 2.0 * mid + high;
        if bend < 0.0 { (0.5 * (low - high) / bend).clamp(-0.5, 0.5) } else { 0.0 }
    };
    let mut at = [column as f64, line as f64];
    if column > 0 && column + 1 < width {
        at[0] += middle(value(column - 1, line), value(column, line), value(column + 1, line));
    }
    if line > 0 && line + 1 < height {
        at[1] += middle(value(column, line - 1), value(column, line), value(column, line + 1));
    }
    (at, f64::from(above) * f64::from(area).sqrt())
}

fn blur(counts: &mut [f32], width: usize, height: usize, weights: &[f32]) {
    let mut line = Vec::new();
    let mut along = |counts: &mut [f32], start: usize, step: usize, length: usize| {
        line.clear();
        line.extend((0..length).map(|at| counts[start + at * step]));
        for at in 0..length {
            let mut sum = weights[0] * line[at];
            for (far, weight) in weights.iter().enumerate().skip(1) {
                let low = if at >= far { line[at - far] } else { 0.0 };
                sum += weight * (low + line.get(at + far).copied().unwrap_or(0.0));
            }
            counts[start + at * step] = sum;
        }
    };
    (0..height).for_each(|row| along(counts, row * width, 1, width));
    if height > 1 {
        (0..width).for_each(|column| along(counts, column, width, height));
    }
}

/// The drift of each segment that agrees best with the shifts between all of them; wrong ones lose their weight.
fn solve(shifts: &[Shift], count: usize, tolerance: f64) -> Vec<[f64; 2]> {
    let mut drift = vec![[0.0; 2]; count];
    // Neighbours in time are least likely to be wrong: they say where to begin.
    for next in 1..count {
        let nearest = shifts.iter().filter(|shift| shift.of[1] == next);
        let best = nearest.max_by_key(|shift| (shift.of[0], shift.weight as u64));
        drift[next] = best.map_or(drift[next - 1], |shift| {
            let from = drift[shift.of[0]];
            [from[0] + shift.by[0], from[1] + shift.by[1]]
        });
    }
    let mut width = 20.0 * tolerance;
    for _ in 0..60 {
        let mut matrix = vec![0.0; count * count];
        let mut sides = vec![[0.0; 2]; count];
        for shift in shifts {
            let [a, b] = shift.of;
            let off = [0, 1].map(|k| shift.by[k] - (drift[b][k] - drift[a][k]));
            let square = (off[0] * off[0] + off[1] * off[1]) / (width * width);
            let weight = shift.weight / (1.0 + square).powi(2);
            matrix[a * count + a] += weight;
            matrix[b * count + b] += weight;
            matrix[a * count + b] -= weight;
            matrix[b * count + a] -= weight;
            for k in 0..2 {
                sides[a][k] -= weight * shift.by[k];
                sides[b][k] += weight * shift.by[k];
            }
        }
        let size = (0..count).map(|k| matrix[k * count + k]).sum::<f64>() / count as f64;
        // Segments that nothing ties to the others stay where their neighbours are.
        let tie = 1e-6 * size.max(f64::MIN_POSITIVE);
        for next in 1..count {
            let [a, b] = [next - 1, next];
            matrix[a * count + a] += tie;
            matrix[b * count + b] += tie;
            matrix[a * count + b] -= tie;
            matrix[b * count + a] -= tie;
        }
        matrix[0] += size;
        let Some(matrix) = Cholesky::new(matrix, count) else { break };
        for k in 0..2 {
            let mut side: Vec<f64> = sides.iter().map(|side| side[k]).collect();
            matrix.solve(&mut side);
            drift.iter_mut().zip(side).for_each(|(drift, side)| drift[k] = side);
        }
        width = (0.8 * width).max(tolerance);
    }
    drift
}
