//! Whether slopes of the light shift the spots of a movie: what `--background plane` is for.

use std::fmt;

use fit_core::{Background, Number, Pixel};
use fit_windows::{AnyWindows, Visitor, Windows};
use ndarray::Axis;
use rayon::prelude::*;
use spotfit_locs::private::median;

use super::{LocalizeError, LocalizeOptions, Localizer, frames_for_estimates};

/// The least frames whose median is the light without spots that blink, and the least spots that say something.
const LEAST_FRAMES: usize = 8;
const LEAST_SPOTS: usize = 30;
/// Slopes matter if the errors of centres grow by this share.
const MATTERS: f64 = 0.05;
/// No spot counts as shifted by more than this many of its standard errors: one in the light of another would outweigh all.
const MOST: f64 = 3.0;
/// The variance of a median as a share of that of the mean.
const OF_MEDIAN: f64 = std::f64::consts::FRAC_PI_2;

/// A movie whose light is so uneven that spots on a flat background are found shifted.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SlopeDoubt {
    /// By how much the root mean square error of the centres grows, as a share.
    pub excess: f64,
    /// The root mean square slope of the light at the spots, in photons of a pixel per pixel.
    pub slope: f64,
}

impl fmt::Display for SlopeDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the light under the spots of the first frames has slopes of {:.2} photons per pixel in a pixel, which shift their \
             centres: errors are about {:.0} % larger than stated",
            self.slope,
            100.0 * self.excess
        )
    }
}

/// Finds whether slopes of the light shift the spots of the first frames of a movie, for fits on a flat background; `None` if
/// they do not, if there are too few frames or spots to tell, for fits on a plane or of a measured PSF, and with a camera
/// map.
///
/// The slopes are those of the median of the frames, in the box of each spot; a slope of s photons moves the centre by about
/// 4σ²s/α pixels.
///
/// # Errors
/// As [`Localizer::new`] and [`Localizer::process`].
pub fn slope_doubt(
    frames: AnyWindows<'_>,
    options: &LocalizeOptions,
) -> Result<Option<SlopeDoubt>, LocalizeError> {
    let (count, height, width) = frames.frames();
    let count = count.min(frames_for_estimates((width, height)));
    let flat = options.fitter.fit.background != Background::Plane && options.psf.is_none();
    // The median of frames whose pixels differ shows the camera.
    if !flat || options.map.is_some() || count < LEAST_FRAMES {
        return Ok(None);
    }
    let mut localizer = Localizer::new((width, height), options.clone().with_keep_all(false))?;
    let spots = localizer.process_frames(0, frames)?;
    if spots.len() < LEAST_SPOTS {
        return Ok(None);
    }
    let light = frames.visit(Light { count });
    let (side, gain) = (options.box_size, options.camera.photons_per_adu());
    let middle = (side - 1) as f64 / 2.0;
    // Σ(x − x̄)² over the box.
    let moment = (side * side * (side * side - 1)) as f64 / 12.0;
    let (mut shifts, mut slopes, mut used) = (0.0, 0.0, 0.0);
    for spot in &spots {
        let corner = |centre: f64, length: usize| {
            ((centre - middle).round().max(0.0) as usize).min(length - side)
        };
        let (left, top) = (corner(spot.x, width), corner(spot.y, height));
        let mut by = [0.0; 2];
        for row in 0..side {
            for column in 0..side {
                let photons = gain * light[(top + row) * width + left + column];
                by[0] += (column as f64 - middle) * photons;
                by[1] += (row as f64 - middle) * photons;
            }
        }
        // Less what the noise of the median adds.
        let noise = OF_MEDIAN * spot.offset.max(0.0) / count as f64 / moment;
        let squared = (by[0] / moment).powi(2) + (by[1] / moment).powi(2) - 2.0 * noise;
        let amplitude = spot.intensity / (std::f64::consts::TAU * spot.sigma * spot.sigma);
        let moves = 4.0 * spot.sigma * spot.sigma / (amplitude * spot.uncertainty);
        let shifted = squared * moves * moves;
        if shifted.is_finite() {
            shifts += shifted.min(MOST * MOST);
            slopes += squared;
            used += 1.0;
        }
    }
    // Half of it along x, and half along y.
    let excess = (1.0 + (shifts / used / 2.0).max(0.0)).sqrt() - 1.0;
    let slope = (slopes / used).max(0.0).sqrt();
    Ok((excess > MATTERS).then_some(SlopeDoubt { excess, slope }))
}

/// The median of each pixel over so many frames, row after row.
struct Light {
    count: usize,
}

impl<'w> Visitor<'w> for Light {
    type Output = Vec<f64>;

    fn visit<P: Pixel>(self, frames: Windows<'w, P>) -> Vec<f64> {
        let frames = frames.frames();
        let (_, height, width) = frames.dim();
        let of_row = |row: usize| {
            let row = frames.index_axis(Axis(1), row);
            let pixel = |column: usize| {
                let all = row.index_axis(Axis(1), column);
                median(all.iter().take(self.count).map(|&pixel| f64::from_pixel(pixel)))
            };
            (0..width).map(pixel).collect::<Vec<f64>>()
        };
        (0..height).into_par_iter().flat_map_iter(of_row).collect()
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array3;

    use super::*;
    use fit_core::Camera;

    /// Blinking spots of so many photons on light with such a slope, in 20 frames.
    fn movie(photons: f64, slope: f64) -> Array3<f32> {
        let mut random = fit_sim::Random::new(3, 0);
        let (count, side) = (20, 64);
        let mut light = Array3::from_shape_fn((count, side, side), |(_, _, x)| {
            60.0 + slope * (x as f64 - 31.5)
        });
        for frame in 0..count {
            for _ in 0..12 {
                let (cx, cy) = (random.uniform_in(6.0, 57.0), random.uniform_in(6.0, 57.0));
                for ((y, x), pixel) in light.index_axis_mut(Axis(0), frame).indexed_iter_mut() {
                    let r2 = (x as f64 - cx).powi(2) + (y as f64 - cy).powi(2);
                    *pixel += photons / (std::f64::consts::TAU * 1.69) * (-r2 / 3.38).exp();
                }
            }
        }
        light.mapv(|mu| random.poisson(mu) as f32)
    }

    fn doubt(photons: f64, slope: f64) -> Option<SlopeDoubt> {
        let movie = movie(photons, slope);
        let options = LocalizeOptions::default().with_camera(Camera::default());
        slope_doubt(Windows::stack(movie.view()).into(), &options).expect("a sound movie")
    }

    /// Proves that steep light is found, with its slope, and that even light gives no doubt, whether spots are dim or bright.
    #[test]
    fn uneven_light_is_doubted() {
        for photons in [400.0, 1000.0, 5000.0] {
            assert_eq!(doubt(photons, 0.0), None, "{photons}");
        }
        let found = doubt(1000.0, 1.5).expect("slopes");
        assert!((found.slope - 1.5).abs() < 0.2 && found.excess > 0.1, "{found:?}");
    }
}
