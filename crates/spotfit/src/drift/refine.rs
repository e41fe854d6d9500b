//! The curve at which localizations of all times lie nearest to each other.
//!
//! With d the drift, pᵢ the positions and tᵢ the frames, it maximizes Σ exp(−r²/2s²) over pairs, r = pᵢ − pⱼ − d(tᵢ) + d(tⱼ),
//! by Newton's method: pairs of one molecule, or of one structure, pull, and those that are near by chance cancel out. The
//! scale s goes down to what the uncertainty of two localizations gives.

use rayon::prelude::*;

use super::segments::Rough;
use super::spline::{Spline, solve};
use super::{Drift, DriftError, DriftOptions, Points};

/// Most pairs of localizations in a step.
const MOST_PAIRS: f64 = 2e6;
/// So many localizations for each knot, as far as the numbers of knots allow.
const FOR_A_KNOT: usize = 250;
const MOST_KNOTS: usize = 150;
/// The scales, in units of the last.
const SCALES: [f64; 3] = [4.0, 2.0, 1.0];
/// The last scale in units of the uncertainty of a distance.
const LAST: f64 = 1.4;
/// Steps at each scale.
const STEPS: usize = 7;
/// Smaller changes of the curve end the steps of a scale, in units of the uncertainty.
const NEGLIGIBLE: f64 = 0.02;
/// The weight of second differences of the coefficients, in units of what localizations say of a coefficient on average: the ends
/// of the movie, and frames without localizations, follow their neighbours.
const STIFFNESS: f64 = 0.02;
/// Pairs further apart than so many scales do not count.
const REACH: f64 = 3.0;

pub(super) fn refine(
    points: &Points,
    frames: u32,
    rough: &Rough,
    options: &DriftOptions,
) -> Result<Drift, DriftError> {
    let knots = match options.knots {
        Some(length) => f64::from(frames) / f64::from(length),
        None => (points.len() / FOR_A_KNOT) as f64,
    };
    let knots = knots.clamp(4.0, MOST_KNOTS as f64).min(f64::from(frames));
    let spline = Spline::new(frames, f64::from(frames) / knots);
    let mut curve = fitted(&spline, rough);
    for scale in SCALES {
        let scale = Scale {
            plane: scale * LAST * std::f64::consts::SQRT_2 * options.precision,
            depth: scale * LAST * std::f64::consts::SQRT_2 * options.precision_z,
        };
        let pairs = points.pairs_within(REACH * scale.plane);
        let points = points.thinned((MOST_PAIRS / pairs).sqrt());
        for _ in 0..STEPS {
            let Some(longest) = step(&points, &spline, &mut curve, scale) else { break };
            if longest < NEGLIGIBLE * options.precision {
                break;
            }
        }
    }
    let values = |k: usize| {
        let of: Vec<f64> = curve.iter().map(|coefficients| coefficients[k]).collect();
        (0..frames).map(|frame| spline.value(&of, f64::from(frame))).collect()
    };
    let z = if points.has_depth() { values(2) } else { Vec::new() };
    Ok(Drift { x: values(0), y: values(1), z })
}

/// Standard deviations in the plane and along the axis.
#[derive(Clone, Copy, Debug)]
struct Scale {
    plane: f64,
    depth: f64,
}

/// The smooth curve through the first estimate.
fn fitted(spline: &Spline, rough: &Rough) -> Vec<[f64; 3]> {
    let count = spline.len();
    let (mut matrix, mut sides) = (vec![0.0; count * count], vec![[0.0; 3]; count]);
    let values = |k: usize| match k {
        0 => &rough.x,
        1 => &rough.y,
        _ => &rough.z,
    };
    // The estimates are of segments: lines between their middles.
    for step in 0..=4 * count {
        let frame = spline.total() * step as f64 / (4 * count) as f64;
        let (first, weights) = spline.at(frame);
        let value: [f64; 3] = std::array::from_fn(|k| between(&rough.frames, values(k), frame));
        for (i, a) in weights.iter().enumerate() {
            for (j, b) in weights.iter().enumerate() {
                matrix[(first + i) * count + first + j] += a * b;
            }
            for k in 0..3 {
                sides[first + i][k] += a * value[k];
            }
        }
    }
    stiffen(&mut matrix, count, 1e-3, false);
    solve(&mut matrix, &mut sides, count);
    sides
}

/// The value on the lines between points, and as at the ends beyond them.
fn between(at: &[f64], values: &[f64], place: f64) -> f64 {
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return 0.0 };
    let after = at.partition_point(|&other| other <= place);
    if after == 0 {
        return *first;
    }
    if after == at.len() {
        return *last;
    }
    let share = (place - at[after - 1]) / (at[after] - at[after - 1]);
    values[after - 1] + share * (values[after] - values[after - 1])
}

/// Times at which pairs are counted, between two knots.
const TIMES: usize = 4;

/// The pairs of two times: the sums of weights, of weights for Newton's method in the plane and along the axis, and of weighted
/// distances.
type Between = [f64; 6];

/// The sums of a step: for each time and each later one.
struct Sums {
    times: usize,
    pairs: Vec<Between>,
}

impl Sums {
    fn new(times: usize) -> Self {
        Self { times, pairs: vec![[0.0; 6]; times * times] }
    }

    fn add(mut self, other: &Self) -> Self {
        for (to, from) in self.pairs.iter_mut().zip(&other.pairs) {
            to.iter_mut().zip(from).for_each(|(a, b)| *a += b);
        }
        self
    }

    /// The system for the coefficients.
    fn system(&self, spline: &Spline) -> System {
        let count = spline.len();
        let square = || vec![0.0; count * count];
        let mut system = System {
            plane: square(),
            depth: square(),
            safe: square(),
            sides: vec![[0.0; 3]; count],
        };
        let middle = |time: usize| (time as f64 + 0.5) * spline.total() / self.times as f64 - 0.5;
        let weights: Vec<_> = (0..self.times).map(|time| spline.at(middle(time))).collect();
        for one in 0..self.times {
            for other in one..self.times {
                let sums = &self.pairs[one * self.times + other];
                if sums[0] > 0.0 {
                    system.add(&weights[one], &weights[other], sums);
                }
            }
        }
        system
    }
}

/// Linear systems for the coefficients of the curve.
struct System {
    /// Second derivatives by the coefficients, in x and y alike.
    plane: Vec<f64>,
    /// Along z.
    depth: Vec<f64>,
    /// The same without what makes chance cancel: always positive.
    safe: Vec<f64>,
    sides: Vec<[f64; 3]>,
}

impl System {
    /// Adds pairs: the drift at the second time minus that at the first takes their distances away.
    fn add(&mut self, one: &(usize, [f64; 4]), other: &(usize, [f64; 4]), sums: &Between) {
        let count = self.sides.len();
        let mut places = [(0, 0.0); 8];
        for k in 0..4 {
            places[k] = (one.0 + k, -one.1[k]);
            places[4 + k] = (other.0 + k, other.1[k]);
        }
        let [safe, plane, depth, off @ ..] = *sums;
        for (i, p) in places {
            for k in 0..3 {
                self.sides[i][k] += p * off[k];
            }
            for (j, q) in places {
                self.plane[i * count + j] += p * q * plane;
                self.depth[i * count + j] += p * q * depth;
                self.safe[i * count + j] += p * q * safe;
            }
        }
    }
}

/// One step of the curve; how far it moved at most, in the plane. `None` if there is nothing to go by.
fn step(points: &Points, spline: &Spline, curve: &mut [[f64; 3]], scale: Scale) -> Option<f64> {
    let count = spline.len();
    let depth = points.has_depth();
    let mut moved = points.clone();
    for row in 0..points.len() {
        let (first, weights) = spline.at(f64::from(points.frames[row]));
        let drift: [f64; 3] = std::array::from_fn(|k| {
            weights.iter().zip(&curve[first..]).map(|(weight, c)| weight * c[k]).sum()
        });
        moved.x[row] -= drift[0];
        moved.y[row] -= drift[1];
        if depth {
            moved.z[row] -= drift[2];
        }
    }
    let reach = REACH * scale.plane;
    let cells = moved.cells(reach);
    let size = points.len().div_ceil(rayon::current_num_threads()).max(1);
    let parts: Vec<_> = (0..points.len()).step_by(size).collect();
    let times = TIMES * count;
    let time: Vec<u32> = points
        .frames
        .iter()
        .map(|&frame| ((f64::from(frame) + 0.5) / spline.total() * times as f64) as u32)
        .collect();
    let part = |&start: &usize| {
        let mut sums = Sums::new(times);
        for row in start..points.len().min(start + size) {
            for (other, square) in cells.within(moved.x[row], moved.y[row], reach) {
                let far = cells.rows[other] as usize;
                // Each pair once: points are in the order of time. Pairs of one time say nothing.
                if far <= row || time[far] == time[row] {
                    continue;
                }
                let z = if depth { moved.z[far] - moved.z[row] } else { 0.0 };
                let (square, deep) = (square / scale.plane.powi(2), (z / scale.depth).powi(2));
                if deep > REACH * REACH {
                    continue;
                }
                let weight = (-0.5 * (square + deep)).exp();
                let (x, y) = (cells.x[other] - moved.x[row], cells.y[other] - moved.y[row]);
                let to = &mut sums.pairs[time[row] as usize * times + time[far] as usize];
                to[0] += weight;
                to[1] += weight * (1.0 - 0.5 * square);
                to[2] += weight * (1.0 - deep);
                to[3] += weight * x;
                to[4] += weight * y;
                to[5] += weight * z;
            }
        }
        sums
    };
    let sums = parts.par_iter().map(part).reduce_with(|a, b| a.add(&b))?.system(spline);
    let mut found = sums.sides.clone();
    let trace = (0..count).map(|k| sums.safe[k * count + k]).sum::<f64>() / count as f64;
    if trace.is_nan() || trace <= 0.0 {
        return None;
    }
    let stiffness = STIFFNESS * trace;
    let mut wanted = sums.sides.clone();
    bend(curve, stiffness, &mut wanted);
    let solved = |hessian: &[f64], share: f64| {
        let mut matrix: Vec<f64> =
            hessian.iter().zip(&sums.safe).map(|(a, safe)| a + share * safe).collect();
        stiffen(&mut matrix, count, stiffness, true);
        let mut sides = wanted.clone();
        solve(&mut matrix, &mut sides, count).then_some(sides)
    };
    // Where Newton's matrix is not positive, more of the safe one makes it so.
    let any =
        |hessian: &[f64]| [0.05, 0.2, 1.0].into_iter().find_map(|share| solved(hessian, share));
    let plane = any(&sums.plane)?;
    let along = if depth { any(&sums.depth)? } else { plane.clone() };
    for ((to, plane), along) in found.iter_mut().zip(&plane).zip(&along) {
        *to = [plane[0], plane[1], along[2]];
    }
    for (coefficients, change) in curve.iter_mut().zip(&mut found) {
        for k in 0..3 {
            let most = if k < 2 { scale.plane } else { scale.depth };
            change[k] = change[k].clamp(-most, most);
            coefficients[k] += change[k];
        }
    }
    // At the knots: coefficients beyond the ends matter little, and move much.
    let at_knot = |knot: usize, k: usize| {
        let [low, middle, high] = [0, 1, 2].map(|near| found[knot + near][k]);
        ((low + 4.0 * middle + high) / 6.0).abs()
    };
    Some((0..count - 2).map(|knot| at_knot(knot, 0).max(at_knot(knot, 1))).fold(0.0, f64::max))
}

/// What second differences of the curve that have a weight ask of a step.
fn bend(curve: &[[f64; 3]], weight: f64, sides: &mut [[f64; 3]]) {
    for middle in 1..curve.len() - 1 {
        for k in 0..3 {
            let second = curve[middle - 1][k] - 2.0 * curve[middle][k] + curve[middle + 1][k];
            for (i, p) in [(middle - 1, 1.0), (middle, -2.0), (middle + 1, 1.0)] {
                sides[i][k] -= weight * p * second;
            }
        }
    }
}

/// Adds the weight of second differences, so that frames without localizations follow their neighbours, and, if the
/// system leaves the mean open, of the mean.
fn stiffen(matrix: &mut [f64], count: usize, weight: f64, mean: bool) {
    for middle in 1..count - 1 {
        let places = [(middle - 1, 1.0), (middle, -2.0), (middle + 1, 1.0)];
        for (i, p) in places {
            for (j, q) in places {
                matrix[i * count + j] += weight * p * q;
            }
        }
    }
    if mean {
        let share = weight / count as f64;
        matrix.iter_mut().for_each(|entry| *entry += share);
    }
}
