//! Cubic B-splines at the pixels of a window, which all are at one place between knots.

use std::ops::Range;

use fit_crowd::private::basis;

/// Where the pixels of a window are in a spline; axes are z, y, x.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The first knot of the first pixel that the spline covers.
    first: [usize; 3],
    /// Weights, slopes and bends along each axis.
    basis: [[[f64; 4]; 3]; 3],
    /// The pixels that the spline covers.
    pub(super) rows: Range<usize>,
    pub(super) columns: Range<usize>,
}

impl Place {
    /// Of a window (rows, columns) whose first pixel is at this plane, row and column, counted in intervals between knots
    /// from where the spline begins. `shape` is that of the coefficients.
    pub(super) fn new(shape: [usize; 3], at: [f64; 3], window: [usize; 2]) -> Self {
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
    pub(super) fn size(&self) -> [usize; 2] {
        [self.rows.len(), self.columns.len()]
    }
}

/// Values and slopes at the pixels that a spline covers, row after row, and room for what is computed on the way.
#[derive(Clone, Debug, Default)]
pub(super) struct Patch {
    pub(super) value: Vec<f64>,
    /// The slopes along z, y and x, by knots, if they were asked for.
    pub(super) slopes: [Vec<f64>; 3],
    planes: [Vec<f64>; 2],
    lines: [Vec<f64>; 3],
}

/// Σ weights times four lines of numbers that are `step` apart.
fn sum_lines(to: &mut [f64], from: &[f64], step: usize, weights: &[f64; 4]) {
    let count = to.len();
    let (a, b) = (&from[..count], &from[step..][..count]);
    let (c, d) = (&from[2 * step..][..count], &from[3 * step..][..count]);
    for (i, to) in to.iter_mut().enumerate() {
        *to = (weights[0] * a[i] + weights[1] * b[i]) + (weights[2] * c[i] + weights[3] * d[i]);
    }
}

/// Adds a line of numbers, times weights, to four lines that are `step` apart.
fn spread_line(from: &[f64], to: &mut [f64], step: usize, weights: &[f64; 4]) {
    for (k, weight) in weights.iter().enumerate() {
        for (to, from) in to[k * step..].iter_mut().zip(from) {
            *to += weight * from;
        }
    }
}

impl Patch {
    /// Evaluates the spline with these coefficients, (plane, row, column), of this shape.
    pub(super) fn evaluate(
        &mut self,
        knots: &[f64],
        shape: [usize; 3],
        place: &Place,
        slopes: bool,
    ) {
        let [height, width] = place.size();
        let (down, across) = (height + 3, width + 3);
        let of = |axis: usize, slope: bool| &place.basis[axis][usize::from(slope)];
        let Self { value, slopes: along, planes, lines } = self;
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
            for (to, line) in
                to.chunks_exact_mut(width.max(1)).zip(lines[number].chunks_exact(across))
            {
                sum_lines(to, line, 1, of(2, slope));
            }
        }
    }

    /// The adjoint of evaluating: adds each number, one for each covered pixel, to the coefficients that its pixel depends
    /// on, times their weights, or the squares of the weights.
    pub(super) fn spread(
        &mut self,
        numbers: &[f64],
        into: &mut [f64],
        shape: [usize; 3],
        place: &Place,
        squares: bool,
    ) {
        let [height, width] = place.size();
        let (down, across) = (height + 3, width + 3);
        let weights = |axis: usize| {
            place.basis[axis][0].map(|weight| if squares { weight * weight } else { weight })
        };
        let (lines, plane) = (&mut self.lines[0], &mut self.planes[0]);
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
            let place = Place::new(shape, from, window);
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
