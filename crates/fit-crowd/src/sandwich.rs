//! Errors of spots that are not quite what their image says.
//!
//! The bound of Cramér and Rao holds for the image. Where the light is wider along x than the image, x is less certain than the bound says, and
//! y may be more. The variance of a fit by a model that is not quite right is H⁻¹·J·H⁻¹ (Huber 1967; White 1982, Econometrica 50:1), with the
//! curvature H of the likelihood at the pixels as they are, and the variance J of its slope. Both are the information I where the image is right.

use crate::scene::Scene;
use crate::spot::{Spot, clear_margin};

/// Factors of errors are within this range: beyond, what is seen is no spot.
const FACTORS: [f64; 2] = [0.5, 3.0];
/// The least curvature, as a share of the information.
const LEAST: f64 = 0.2;

/// By how many times errors of x and y differ from the bound: √(J·I)/H of an emitter, all others being as they are.
pub(crate) fn factors(scene: &Scene, number: usize, patch: &mut Vec<f32>) -> [f64; 2] {
    let (geometry, field) = (scene.setup.geometry, &scene.field);
    let Spot { is, cell, corner, patch: own, .. } = &scene.spots[number];
    let (size, stride) = (geometry.size(), geometry.stride());
    patch.resize(3 * size, 0.0);
    let place = [is.x - f64::from(corner[0]), is.y - f64::from(corner[1])];
    scene.setup.shape.second(*cell, place, is.third, geometry, patch);
    clear_margin(patch, geometry);
    let first = field.at(corner[0], corner[1]);
    [(1, 0), (2, 2)].map(|(slope, bend)| {
        let (slopes, bends) = (&own[slope * size..][..size], &patch[bend * size..][..size]);
        let mut sums = [0.0_f64; 3];
        for row in 0..geometry.rows {
            let (from, at) = (row * stride, first + row * field.stride);
            for column in 0..geometry.rows {
                let [weight, rest, counts] = [&field.weight, &field.residual, &field.mask]
                    .map(|all| f64::from(all[at + column]));
                let slope = f64::from(slopes[from + column]);
                let bend = is.photons * f64::from(bends[from + column]);
                let square = slope * slope;
                // d/μ², the variance of the slope by the light that is there.
                let seen = square * weight * (rest + counts);
                sums[0] += square * weight;
                sums[1] += seen;
                sums[2] += seen - rest * bend;
            }
        }
        let [information, variance, curvature] = sums;
        let factor = (variance * information).sqrt() / curvature.max(LEAST * information);
        if factor.is_finite() { factor.clamp(FACTORS[0], FACTORS[1]) } else { 1.0 }
    })
}
