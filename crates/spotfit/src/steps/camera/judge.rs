//! Pixels that are hot, and those that are of no use.

use ndarray::{Array2, Zip};

use super::moments::Moments;
use super::solve::{Level, PixelMaps, spread};

/// A pixel with less than this share of the usual gain, or more than this many times it, shows no light.
const GAINS: [f64; 2] = [0.2, 5.0];
/// By so many standard errors.
const SURE: f64 = 5.0;

/// Pixels that read the same whatever the light, or have an impossible gain.
pub(super) fn unusable(pixels: &PixelMaps, dark: &Moments, levels: &[Level]) -> Array2<bool> {
    let constant = |at| {
        dark.variance[at] == 0.0 && levels.iter().all(|level| level.moments.variance[at] == 0.0)
    };
    let mut dead = Array2::from_shape_fn(dark.mean.dim(), constant);
    let (Some(gain), Some(error)) = (&pixels.gain, &pixels.gain_error) else { return dead };
    let Some([usual, _]) = spread(gain.iter()) else { return dead.mapv(|_| true) };
    Zip::from(&mut dead).and(gain).and(error).for_each(|dead, &gain, &error| {
        let far = !(GAINS[0] * usual..=GAINS[1] * usual).contains(&gain);
        let sure = (gain - usual).abs() > SURE * error;
        *dead |= !gain.is_finite() || gain <= 0.0 || (far && sure);
    });
    dead
}

/// Pixels that are much brighter or noisier than others without light.
pub(super) fn hot(pixels: &PixelMaps, dead: &Array2<bool>, times: f64) -> Array2<bool> {
    let mut hot = Array2::from_elem(dead.dim(), false);
    let Some([usual, deviation]) = spread(pixels.offset.iter()) else { return hot };
    let noise = pixels.variance.mapv(f64::sqrt);
    let Some([usual_noise, _]) = spread(noise.iter()) else { return hot };
    Zip::from(&mut hot)
        .and(&pixels.offset)
        .and(&pixels.offset_error)
        .and(&noise)
        .and(dead)
        .for_each(|hot, &offset, &error, &noise, &dead| {
            // Offsets of all pixels may be the same.
            let bright = offset - usual > times * deviation.max(error).max(0.5);
            *hot = !dead && (bright || noise > times * usual_noise.max(0.1));
        });
    hot
}
