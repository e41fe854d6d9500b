//! The heights at which emitters are looked for.

use crate::geometry::Geometry;
use crate::patch::Shape;
use crate::spline::MEAN;
use crate::thresholds::Roughness;

/// Heights at which the image is compared with its neighbours.
const SAMPLES: usize = 65;
/// The way of the image, scaled to Σg² = 1, from one plane that is looked at to the next: a spot half-way has lost 3 % of its score.
const APART: f64 = 0.5;
/// The fewest and the most planes.
const PLANES: [usize; 2] = [3, 9];

/// Heights to begin with, and how fast the image changes.
pub(crate) fn planes(
    shape: &Shape,
    [low, high]: [f64; 2],
    geometry: Geometry,
) -> (Vec<f64>, Roughness) {
    let height = |sample: usize| low + (high - low) * sample as f64 / (SAMPLES - 1) as f64;
    let centre = [geometry.half as f64; 2];
    let mut functions = vec![0.0; 3 * geometry.size()];
    let (mut before, mut way, mut in_plane) = (Vec::new(), vec![0.0], 0.0);
    for sample in 0..SAMPLES {
        shape.functions(MEAN, centre, height(sample), false, geometry, &mut functions);
        let lines = functions.chunks_exact(geometry.stride());
        let pixels: Vec<f64> =
            lines.flat_map(|line| &line[..geometry.rows]).map(|&value| value.into()).collect();
        let [g, x, y] = [0, 1, 2]
            .map(|i| &pixels[i * geometry.rows * geometry.rows..][..geometry.rows * geometry.rows]);
        let sum = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let all = sum(g, g).max(f64::MIN_POSITIVE);
        let product = |a: &[f64], b: &[f64]| (sum(a, b) - sum(a, g) * sum(b, g) / all) / all;
        let determinant = product(x, x) * product(y, y) - product(x, y) * product(x, y);
        in_plane += determinant.max(0.0).sqrt() / SAMPLES as f64;
        let scaled: Vec<f64> = g.iter().map(|value| value / all.sqrt()).collect();
        if sample > 0 {
            let squares = scaled.iter().zip(&before).map(|(a, b): (&f64, &f64)| (a - b) * (a - b));
            way.push(way[sample - 1] + squares.sum::<f64>().sqrt());
        }
        before = scaled;
    }
    let length = way[SAMPLES - 1];
    let count = (libm::ceil(length / APART) as usize).clamp(PLANES[0], PLANES[1]);
    let plane = |number: usize| {
        let at = length * (number as f64 + 0.5) / count as f64;
        let after = way.partition_point(|&way| way < at).clamp(1, SAMPLES - 1);
        let share = (at - way[after - 1]) / (way[after] - way[after - 1]).max(f64::MIN_POSITIVE);
        height(after - 1) + (height(after) - height(after - 1)) * share.clamp(0.0, 1.0)
    };
    ((0..count).map(plane).collect(), Roughness { in_plane, in_depth: length })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gaussian::{Gaussian, Widths};
    use crate::heights::WidthCurve;

    /// Proves that the way of a Gaussian whose widths change is ∫√(½(σx′/σx)² + ½(σy′/σy)²), that its change in the plane is
    /// 1/(2σxσy), and that planes are in rising order and cut that way in equal parts.
    #[test]
    fn roughness_is_that_of_gaussians() {
        let curve = WidthCurve::through([0.0, 1.0], |z| [1.5 + 0.5 * z, 2.0]).unwrap();
        let gaussian = Gaussian { integrated: false, widths: Widths::Curve(curve) };
        let (planes, roughness) = planes(&Shape::Gaussian(gaussian), [0.0, 1.0], Geometry::of(12));
        let expected = libm::log(2.0 / 1.5) * core::f64::consts::FRAC_1_SQRT_2;
        assert!((roughness.in_depth - expected).abs() < 0.01, "{roughness:?}");
        // The mean of 1/(4σx).
        let expected = libm::log(2.0 / 1.5) / (4.0 * 0.5);
        assert!((roughness.in_plane - expected).abs() < 0.01 * expected, "{roughness:?}");
        let logarithms: Vec<f64> = planes.iter().map(|z| libm::log(1.5 + 0.5 * z)).collect();
        assert_eq!(planes.len(), 3);
        let steps = [logarithms[1] - logarithms[0], logarithms[2] - logarithms[1]];
        assert!((steps[0] - steps[1]).abs() < 0.02 * steps[0], "{planes:?}");
    }
}
