//! Smooth curves over the frames, and the linear systems that fit them.

/// A uniform cubic B-spline over frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spline {
    /// Frames between two knots.
    spacing: f64,
    intervals: usize,
}

impl Spline {
    /// One over so many frames, with about so many frames between knots.
    pub(super) fn new(frames: u32, spacing: f64) -> Self {
        let intervals = (f64::from(frames) / spacing).round().max(1.0);
        Self { spacing: f64::from(frames) / intervals, intervals: intervals as usize }
    }

    /// The frames that it is over.
    pub(super) fn total(&self) -> f64 {
        self.spacing * self.intervals as f64
    }

    /// The number of its coefficients.
    pub(super) fn len(&self) -> usize {
        self.intervals + 3
    }

    /// The first of the four coefficients that matter at a frame, and their weights.
    pub(super) fn at(&self, frame: f64) -> (usize, [f64; 4]) {
        let place = (frame + 0.5) / self.spacing;
        let first = (place as usize).min(self.intervals - 1);
        let t = place - first as f64;
        let (s, square) = (1.0 - t, t * t);
        let weights = [
            s * s * s / 6.0,
            (3.0 * square * t - 6.0 * square + 4.0) / 6.0,
            (3.0 * s * s * s - 6.0 * s * s + 4.0) / 6.0,
            square * t / 6.0,
        ];
        (first, weights)
    }

    /// The value at a frame.
    pub(super) fn value(&self, coefficients: &[f64], frame: f64) -> f64 {
        let (first, weights) = self.at(frame);
        weights.iter().zip(&coefficients[first..]).map(|(weight, c)| weight * c).sum()
    }
}

/// Solves a symmetric, positive definite system for several right sides, in place, by Cholesky's decomposition; false if it
/// is not one.
pub(super) fn solve<const K: usize>(
    matrix: &mut [f64],
    sides: &mut [[f64; K]],
    count: usize,
) -> bool {
    for column in 0..count {
        for row in column..count {
            let (above, own) = matrix.split_at(row * count);
            let left =
                if row == column { &own[..column] } else { &above[column * count..][..column] };
            let sum: f64 = own[..column].iter().zip(left).map(|(a, b)| a * b).sum();
            let value = matrix[row * count + column] - sum;
            if row == column {
                if value.is_nan() || value <= 0.0 || value.is_infinite() {
                    return false;
                }
                matrix[row * count + column] = value.sqrt();
            } else {
                matrix[row * count + column] = value / matrix[column * count + column];
            }
        }
    }
    for row in 0..count {
        for column in 0..row {
            let factor = matrix[row * count + column];
            for k in 0..K {
                sides[row][k] -= factor * sides[column][k];
            }
        }
        sides[row].iter_mut().for_each(|side| *side /= matrix[row * count + row]);
    }
    for row in (0..count).rev() {
        for column in row + 1..count {
            let factor = matrix[column * count + row];
            for k in 0..K {
                sides[row][k] -= factor * sides[column][k];
            }
        }
        sides[row].iter_mut().for_each(|side| *side /= matrix[row * count + row]);
    }
    true
}
