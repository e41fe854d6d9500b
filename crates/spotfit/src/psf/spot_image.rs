//! The image of a spot of one photon, with its slopes: of a measured PSF, or of a Gaussian.

use fit_core::PixelProfile;
use fit_core::spot::axis::{CENTRE_UNIT, GaussianAxis, WIDTH_UNIT};
use fit_crowd::private::Patch;

use super::Psf;

/// What a spot looks like, by a third parameter besides x and y.
pub(super) enum SpotImage<'a> {
    /// The parameter is z.
    Measured(&'a Psf),
    Gaussian(&'a Gaussian<'a>),
}

/// A Gaussian whose widths along x and y follow from a parameter.
pub(crate) struct Gaussian<'a> {
    pub(crate) profile: PixelProfile,
    /// The range of the parameter: both ends are the same if the widths are known.
    pub(crate) range: [f64; 2],
    /// Whether it is a height.
    pub(crate) height: bool,
    /// For x and for y: the width, and its slope.
    pub(crate) widths: &'a (dyn Fn(f64) -> [[f64; 2]; 2] + Sync),
}

/// Functions of a window's pixels.
#[derive(Default)]
pub(super) struct Pixels {
    pub(super) value: Vec<f64>,
    /// By x, y and the third parameter, if wanted.
    pub(super) slopes: [Vec<f64>; 3],
    patch: Patch,
}

impl SpotImage<'_> {
    /// Whether the third parameter is a height, or stands for one.
    pub(super) fn has_height(&self) -> bool {
        match self {
            Self::Measured(psf) => !psf.is_single(),
            Self::Gaussian(gaussian) => gaussian.height,
        }
    }

    pub(super) fn range(&self) -> [f64; 2] {
        match self {
            Self::Measured(psf) if psf.is_single() => [0.0; 2],
            Self::Measured(psf) => psf.range(),
            Self::Gaussian(gaussian) => gaussian.range,
        }
    }

    /// The image of a spot at a place in a window; 0 beyond what is known of it.
    pub(super) fn look(&self, to: &mut Pixels, at: [f64; 3], size: [usize; 2], slopes: bool) {
        let Pixels { value, slopes: by, .. } = to;
        for pixels in [value].into_iter().chain(by) {
            pixels.clear();
            pixels.resize(size[0] * size[1], 0.0);
        }
        match self {
            Self::Measured(psf) => measured(psf, to, at, size, slopes),
            Self::Gaussian(gaussian) => gaussian.look(to, at, size),
        }
    }
}

fn measured(psf: &Psf, to: &mut Pixels, at: [f64; 3], size: [usize; 2], slopes: bool) {
    let place = psf.place(at, size);
    let Pixels { value, slopes: by, patch } = to;
    patch.evaluate(psf.knots(), psf.shape(), &place, slopes);
    let mut from = 0;
    for row in place.rows.clone() {
        for column in place.columns.clone() {
            let at = row * size[1] + column;
            value[at] = patch.value[from];
            if slopes {
                let [by_x, by_y, by_z, ..] = psf.slopes(patch, from, 1.0);
                (by[0][at], by[1][at], by[2][at]) = (by_x, by_y, by_z);
            }
            from += 1;
        }
    }
}

impl Gaussian<'_> {
    fn look(&self, to: &mut Pixels, [x, y, third]: [f64; 3], [rows, columns]: [usize; 2]) {
        let [across, down] = (self.widths)(third);
        // Value, and slopes by the centre and by the third parameter.
        let line = |at: f64, [sigma, slope]: [f64; 2], count: usize| -> Vec<[f64; 3]> {
            let axis = GaussianAxis::with_profile(self.profile, at, sigma.recip());
            let share = 1.0 / (sigma * std::f64::consts::TAU.sqrt());
            let of = |index: usize| {
                let sample = axis.sample::<false>(index as f64);
                let by_centre = sample.by_centre / (CENTRE_UNIT * sigma);
                let by_width = sample.by_width / WIDTH_UNIT - sample.value;
                [sample.value * share, by_centre * share, by_width * share * slope / sigma]
            };
            (0..count).map(of).collect()
        };
        let (across, down) = (line(x, across, columns), line(y, down, rows));
        for (row, [b, b1, b2]) in down.iter().enumerate() {
            for (column, [a, a1, a2]) in across.iter().enumerate() {
                let at = row * columns + column;
                to.value[at] = a * b;
                to.slopes[0][at] = a1 * b;
                to.slopes[1][at] = a * b1;
                to.slopes[2][at] = a2 * b + a * b2;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that the slopes of a Gaussian are those of its values, and that all of its light is one photon.
    #[test]
    fn slopes_of_gaussians_are_those_of_values() {
        let widths = |third: f64| [[1.0 + 0.1 * third, 0.1], [1.6 - 0.2 * third, -0.2]];
        for profile in [PixelProfile::Sampled, PixelProfile::Integrated] {
            let range = [0.0, 2.0];
            let gaussian = Gaussian { profile, range, height: true, widths: &widths };
            let image = SpotImage::Gaussian(&gaussian);
            let (at, size, h) = ([8.2, 7.6, 0.7], [17, 18], 1e-5);
            let mut pixels = Pixels::default();
            image.look(&mut pixels, at, size, true);
            let sum: f64 = pixels.value.iter().sum();
            assert!((sum - 1.0).abs() < 1e-4, "{sum}");
            for axis in 0..3 {
                let moved = [-h, h].map(|by| {
                    let mut there = at;
                    there[axis] += by;
                    let mut moved = Pixels::default();
                    image.look(&mut moved, there, size, false);
                    moved.value
                });
                for (pixel, slope) in pixels.slopes[axis].iter().enumerate() {
                    let difference = (moved[1][pixel] - moved[0][pixel]) / (2.0 * h);
                    assert!((slope - difference).abs() < 1e-8, "{profile:?} {axis} {pixel}");
                }
            }
        }
    }
}
