//! Cubic B-splines at the pixels of a window, which all are at one place between knots.

use core::ops::Range;

use crate::lanes::LANES;
use crate::spline::basis;

/// Where the pixels of a window are in a spline; axes are z, y, x.
#[derive(Clone, Debug)]
pub struct LatticePlace {
    /// The first knot of the first pixel that the spline covers.
    first: [usize; 3],
    /// Weights, slopes and bends along each axis.
    basis: [[[f64; 4]; 3]; 3],
    /// The rows that the spline covers.
    pub rows: Range<usize>,
    /// The columns.
    pub columns: Range<usize>,
}

impl LatticePlace {
    /// Of a window (rows, columns) whose first pixel is at this plane, row and column, counted in intervals between knots
    /// from where the spline begins. `shape` is that of the coefficients.
    pub fn new(shape: [usize; 3], at: [f64; 3], window: [usize; 2]) -> Self {
        // A spot that is nowhere covers nothing.
        let at = if at.iter().any(|at| at.is_nan()) { [0.0, 1e9, 1e9] } else { at };
        let plane = at[0].clamp(0.0, (shape[0] - 3) as f64);
        let piece = (plane as usize).min(shape[0] - 4);
        let mut first = [piece, 0, 0];
        let mut all = [basis(plane - piece as f64), [[0.0; 4]; 3], [[0.0; 4]; 3]];
        let mut covered = [0..0, 0..0];
        for axis in 0..2 {
            // What is far off covers nothing, and stays a number.
            let from = at[axis + 1].floor().clamp(-1e9, 1e9);
            let intervals = (shape[axis + 1] - 3) as i64;
            let begin = (-(from as i64)).clamp(0, window[axis] as i64);
            let end = (intervals - from as i64).clamp(begin, window[axis] as i64);
            covered[axis] = begin as usize..end as usize;
            first[axis + 1] = if begin < end { (from as i64 + begin) as usize } else { 0 };
            all[axis + 1] = basis((at[axis + 1] - from).clamp(0.0, 1.0));
        }
        let [rows, columns] = covered;
        Self { first, basis: all, rows, columns }
    }

    /// Rows and columns that the spline covers.
    pub fn size(&self) -> [usize; 2] {
        [self.rows.len(), self.columns.len()]
    }
}

/// Values and slopes at the pixels that a spline covers, row after row, and room for what is computed on the way.
#[derive(Clone, Debug, Default)]
pub struct Patch {
    /// The values.
    pub value: Vec<f64>,
    /// The slopes along z, y and x, by knots, if they were asked for.
    pub slopes: [Vec<f64>; 3],
    planes: [Vec<f64>; 2],
    lines: [Vec<f64>; 3],
}

/// Σ weights times four lines of numbers that are `step` apart.
#[inline(always)]
fn sum_lines(to: &mut [f64], from: &[f64], step: usize, weights: &[f64; 4]) {
    let count = to.len();
    let (a, b) = (&from[..count], &from[step..][..count]);
    let (c, d) = (&from[2 * step..][..count], &from[3 * step..][..count]);
    for (i, to) in to.iter_mut().enumerate() {
        *to = (weights[0] * a[i] + weights[1] * b[i]) + (weights[2] * c[i] + weights[3] * d[i]);
    }
}

/// Adds a line of numbers, times weights, to four lines that are `step` apart.
#[inline(always)]
fn spread_line(from: &[f64], to: &mut [f64], step: usize, weights: &[f64; 4]) {
    for k in 0..4 {
        let to = &mut to[k * step..][..from.len()];
        for i in 0..from.len() {
            to[i] += weights[k] * from[i];
        }
    }
}

impl Patch {
    /// Evaluates the spline with these coefficients, (plane, row, column), of this shape.
    pub fn evaluate(
        &mut self,
        knots: &[f64],
        shape: [usize; 3],
        place: &LatticePlace,
        slopes: bool,
    ) {
        evaluate(self, knots, shape, place, slopes);
    }

    /// The adjoint of evaluating: adds each number, one for each covered pixel, to the coefficients that its pixel depends
    /// on, times their weights, or the squares of the weights.
    pub fn spread(
        &mut self,
        numbers: &[f64],
        into: &mut [f64],
        shape: [usize; 3],
        place: &LatticePlace,
        squares: bool,
    ) {
        spread(self, (numbers, into), shape, place, squares);
    }
}

/// [`Patch::evaluate`] by the widest registers of the processor.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn evaluate(
    patch: &mut Patch,
    knots: &[f64],
    shape: [usize; 3],
    place: &LatticePlace,
    slopes: bool,
) {
    let [height, width] = place.size();
    let (down, across) = (height + 3, width + 3);
    let of = |axis: usize, slope: bool| &place.basis[axis][usize::from(slope)];
    let Patch { value, slopes: along, planes, lines } = patch;
    for (slope, plane) in planes.iter_mut().enumerate().take(1 + usize::from(slopes)) {
        plane.resize(down * across, 0.0);
        for (row, to) in plane.chunks_exact_mut(across).enumerate() {
            let from = (place.first[0] * shape[1] + place.first[1] + row) * shape[2];
            let from = &knots[from + place.first[2]..];
            sum_lines(to, from, shape[1] * shape[2], of(0, slope == 1));
        }
    }
    // The value, the slope along z, and that along y.
    let parts = [(0, false), (1, false), (0, true)];
    let wanted = if slopes { 3 } else { 1 };
    for (lines, (plane, slope)) in lines.iter_mut().zip(parts).take(wanted) {
        lines.resize(height * across, 0.0);
        for (row, to) in lines.chunks_exact_mut(across).enumerate() {
            sum_lines(to, &planes[plane][row * across..], across, of(1, slope));
        }
    }
    let [along_z, along_y, along_x] = along;
    let all = [(0, false, value), (1, false, along_z), (2, false, along_y), (0, true, along_x)];
    for (number, slope, to) in all.into_iter().take(if slopes { 4 } else { 1 }) {
        to.resize(height * width, 0.0);
        for (to, line) in to.chunks_exact_mut(width.max(1)).zip(lines[number].chunks_exact(across))
        {
            sum_lines(to, line, 1, of(2, slope));
        }
    }
}

/// [`Patch::spread`], likewise.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn spread(
    patch: &mut Patch,
    (numbers, into): (&[f64], &mut [f64]),
    shape: [usize; 3],
    place: &LatticePlace,
    squares: bool,
) {
    let [height, width] = place.size();
    let (down, across) = (height + 3, width + 3);
    let weights = |axis: usize| {
        place.basis[axis][0].map(|weight| if squares { weight * weight } else { weight })
    };
    let (lines, plane) = (&mut patch.lines[0], &mut patch.planes[0]);
    lines.clear();
    lines.resize(height * across, 0.0);
    let own = weights(2);
    for (from, to) in numbers.chunks_exact(width.max(1)).zip(lines.chunks_exact_mut(across)) {
        spread_line(from, to, 1, &own);
    }
    plane.clear();
    plane.resize(down * across, 0.0);
    let own = weights(1);
    for (row, from) in lines.chunks_exact(across).enumerate() {
        spread_line(from, &mut plane[row * across..], across, &own);
    }
    let own = weights(0);
    for (row, from) in plane.chunks_exact(across).enumerate() {
        let to = (place.first[0] * shape[1] + place.first[1] + row) * shape[2];
        spread_line(from, &mut into[to + place.first[2]..], shape[1] * shape[2], &own);
    }
}

/// Sums that [`add_pixels`] adds up: six of the gradient, and those of a symmetric matrix.
pub const PAIRS: usize = 6 + 21;
/// Numbers that are added up side by side.
pub const WIDE: usize = LANES;
/// The most columns of a window.
const MOST_SIDE: usize = 32;
/// No pixel of the model is darker, in photons.
pub const LEAST: f64 = 0.5;
/// No datum is less.
pub const LEAST_DATUM: f64 = 1e-3;

/// The pixels of a square window, row after row.
#[derive(Clone, Copy, Debug)]
pub struct Lit<'a> {
    /// Photons.
    pub pixels: &'a [f64],
    /// The light of others.
    pub others: &'a [f64],
    /// Whether a pixel counts.
    pub counts: &'a [bool],
    /// The variance of the read noise, in photons squared.
    pub read_noise: f64,
    /// Columns, 32 at most.
    pub side: usize,
}

/// Adds the slopes of a spot of some photons on a background (of the middle pixel, with its slopes along x and y) by x, y, photons and those
/// of the background, times what is left of the data, and their products, over all pixels.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub fn add_pixels<'a>(
    window: &Lit<'a>,
    [photons, background, by_x, by_y]: [f64; 4],
    patch: &Patch,
    sums: &mut [[f64; WIDE]; PAIRS],
) {
    let (value, [_, along_y, along_x]) = (&patch.value, &patch.slopes);
    let side = window.side.min(MOST_SIDE);
    let half = 0.5 * (side - 1) as f64;
    let mut columns = [[0.0; MOST_SIDE]; 7];
    let mut rest = [0.0; MOST_SIDE];
    for row in 0..side {
        for column in 0..side {
            let pixel = row * side + column;
            let (dx, dy) = (column as f64 - half, row as f64 - half);
            let light = photons * value[pixel] + background + by_x * dx + by_y * dy;
            let light = light + window.others[pixel];
            let light = if light > LEAST { light } else { LEAST };
            let mean = light + window.read_noise;
            let datum = window.pixels[pixel] + window.read_noise;
            let datum = if datum > LEAST_DATUM { datum } else { LEAST_DATUM };
            let counts = if window.counts[pixel] { 1.0 } else { 0.0 };
            let own =
                [-photons * along_x[pixel], -photons * along_y[pixel], value[pixel], 1.0, dx, dy];
            for j in 0..6 {
                columns[j][column] = own[j];
            }
            columns[6][column] = counts / mean;
            rest[column] = datum - mean;
        }
        for first in (0..side).step_by(WIDE) {
            let mut pair = 6;
            for j in 0..6 {
                let mut weighted = [0.0; WIDE];
                for lane in 0..WIDE {
                    weighted[lane] = columns[j][first + lane] * columns[6][first + lane];
                    sums[j][lane] += weighted[lane] * rest[first + lane];
                }
                for k in j..6 {
                    for lane in 0..WIDE {
                        sums[pair][lane] += weighted[lane] * columns[k][first + lane];
                    }
                    pair += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fit_sim::Random;

    /// Proves that values and slopes are those of the sum over all 64 coefficients, with slopes by differences, at windows
    /// that lie in part beyond the spline too, and that spreading is the adjoint of evaluating.
    #[test]
    fn patches_are_sums_over_coefficients() {
        let mut random = Random::new(5, 0);
        let shape = [6, 9, 8];
        let knots: Vec<f64> = (0..6 * 9 * 8).map(|_| random.normal()).collect();
        let at = |z: f64, y: f64, x: f64| {
            let axis = |t: f64, count: usize| {
                let piece = (t as usize).min(count - 4);
                (piece, basis(t - piece as f64)[0])
            };
            let ((k, wz), (j, wy), (i, wx)) =
                (axis(z, shape[0]), axis(y, shape[1]), axis(x, shape[2]));
            let mut sum = 0.0;
            for a in 0..64 {
                let [c, b, a] = [a / 16, a / 4 % 4, a % 4];
                let place = ((k + c) * shape[1] + j + b) * shape[2] + i + a;
                sum += wz[c] * wy[b] * wx[a] * knots[place];
            }
            sum
        };
        let mut patch = Patch::default();
        for from in [[1.3, 0.4, 0.7], [2.9, -1.6, -0.2], [0.0, 3.5, 2.1], [3.0, 9.0, 0.5]] {
            let window = [4, 5];
            let place = LatticePlace::new(shape, from, window);
            patch.evaluate(&knots, shape, &place, true);
            let [height, width] = place.size();
            let inside = |t: f64, intervals: f64| (0.0..intervals).contains(&t);
            let rows = (0..4).filter(|&row| inside((from[1] + f64::from(row)).floor(), 6.0));
            assert_eq!(place.rows.len(), rows.count());
            for (number, value) in patch.value.iter().enumerate().take(height * width) {
                let y = from[1] + (place.rows.start + number / width) as f64;
                let x = from[2] + (place.columns.start + number % width) as f64;
                assert!((value - at(from[0], y, x)).abs() < 1e-12);
                let h = 1e-6;
                let z = from[0].clamp(h, 3.0 - h);
                let slopes = [
                    at(z + h, y, x) - at(z - h, y, x),
                    at(from[0], y + h, x) - at(from[0], y - h, x),
                    at(from[0], y, x + h) - at(from[0], y, x - h),
                ];
                for (slope, exact) in patch.slopes.iter().zip(slopes) {
                    assert!((slope[number] - exact / (2.0 * h)).abs() < 1e-4);
                }
            }
            // ⟨g, B·c⟩ = ⟨Bᵀ·g, c⟩.
            let g: Vec<f64> = (0..height * width).map(|_| random.normal()).collect();
            let left: f64 = g.iter().zip(&patch.value).map(|(g, value)| g * value).sum();
            let mut spread = vec![0.0; knots.len()];
            patch.spread(&g, &mut spread, shape, &place, false);
            let right: f64 = spread.iter().zip(&knots).map(|(s, c)| s * c).sum();
            assert!((left - right).abs() < 1e-10 * (1.0 + left.abs()));
        }
    }
}
