//! The light of a fitted spot, as its fit has it.

use fit_core::spot::axis::GaussianAxis;
use fit_core::{PixelProfile, Shape};

use crate::localize::{Localization, LocalizeOptions};

/// Adds the light of a spot to the rows of a window, whose first pixel is at this place of the frame.
pub(super) fn light(
    spot: &Localization,
    options: &LocalizeOptions,
    [left, top]: [f64; 2],
    rows: &mut [Vec<f64>],
) {
    let (x, y) = (spot.x - left, spot.y - top);
    if let (Some(psf), Some(depth)) = (&options.psf, spot.depth) {
        let size = [rows.len(), rows.first().map_or(0, Vec::len)];
        let image = psf.local([spot.x, spot.y]).window([x, y, depth.z], size);
        for (row, values) in rows.iter_mut().zip(image.outer_iter()) {
            row.iter_mut().zip(values).for_each(|(light, value)| *light += spot.intensity * value);
        }
        return;
    }
    let profile = options.fitter.fit.profile;
    let photons = spot.intensity * options.share_of_gaussian();
    let amplitude = photons / (core::f64::consts::TAU * spot.sigma_x * spot.sigma_y);
    let turned = matches!(options.fitter.fit.shape, Shape::Rotated(_));
    let across = GaussianAxis::with_profile(profile, x, spot.sigma_x.recip());
    let down = GaussianAxis::with_profile(profile, y, spot.sigma_y.recip());
    for (row, values) in rows.iter_mut().enumerate() {
        for (column, light) in values.iter_mut().enumerate() {
            let (column, row) = (column as f64, row as f64);
            let value = match turned {
                true => turned_light(spot, profile, column - x, row - y),
                false => across.sample::<false>(column).value * down.sample::<false>(row).value,
            };
            *light += amplitude * value;
        }
    }
}

/// The value of a rotated Gaussian at a pixel; an integrated one by Gauss's rule with two points along each side of the pixel, as in
/// the fit.
fn turned_light(spot: &Localization, profile: PixelProfile, dx: f64, dy: f64) -> f64 {
    let (sine, cosine) = spot.angle.sin_cos();
    let apart = match profile {
        PixelProfile::Integrated => 0.5 / 3f64.sqrt(),
        _ => 0.0,
    };
    let at = |right: f64, below: f64| {
        let (dx, dy) = (dx + right, dy + below);
        let u = (cosine * dx + sine * dy) / spot.sigma_x;
        let v = (cosine * dy - sine * dx) / spot.sigma_y;
        (-0.5 * (u * u + v * v)).exp()
    };
    0.25 * (at(-apart, -apart) + at(apart, -apart) + at(-apart, apart) + at(apart, apart))
}
