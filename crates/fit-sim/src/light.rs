//! How the light of a spot falls on the pixels.

use std::f64::consts::{PI, SQRT_2, TAU};
use std::ops::Range;

use fit_core::Circle;
use fit_core::spot::sums::Profile;

use crate::objective::PupilPsf;
use crate::shape::Outline;

/// What a pixel sees of a spot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpotProfile {
    /// The Gaussian at the pixel's centre (eq. 10 of Leutenegger & Weber 2021).
    #[default]
    Sampled,
    /// The mean of the Gaussian over the pixel's square, as a real camera sees it.
    Integrated,
}

/// A spot that illuminates some pixels.
pub(crate) struct Light<'p> {
    amplitude: f64,
    form: Form<'p>,
}

enum Form<'p> {
    Circle(Circle<f64>),
    Ellipse(Ellipse),
    /// The means over each column and each row, from the first ones on.
    Separable {
        columns: Vec<f64>,
        rows: Vec<f64>,
        first: [usize; 2],
    },
    Rotated(Ellipse),
    /// Behind an objective, at a height.
    Pupil {
        psf: &'p PupilPsf,
        centre: [f64; 2],
        z: f64,
        /// Where it is in the frame, from −1 to 1.
        field: [f64; 2],
    },
}

#[derive(Clone, Copy)]
struct Ellipse {
    centre: [f64; 2],
    sigma: [f64; 2],
    /// Cosine and sine of the angle.
    direction: [f64; 2],
}

impl<'p> Light<'p> {
    /// A spot of `signal` photo-electrons, all of its light, behind an objective, in frames of this width and height.
    pub(crate) fn behind(
        psf: &'p PupilPsf,
        signal: f64,
        [x, y, z]: [f64; 3],
        [width, height]: [usize; 2],
    ) -> Self {
        let field = [2.0 * x / width as f64 - 1.0, 2.0 * y / height as f64 - 1.0];
        Self { amplitude: signal, form: Form::Pupil { psf, centre: [x, y], z, field } }
    }

    /// A spot of `signal` photo-electrons with its centre at (x, y); it will be asked for pixels of these columns
    /// and rows only.
    pub(crate) fn new(
        signal: f64,
        [x, y]: [f64; 2],
        outline: &Outline,
        profile: SpotProfile,
        columns: Range<usize>,
        rows: Range<usize>,
    ) -> Self {
        let Outline { sigma, angle, .. } = *outline;
        let [sigma_x, sigma_y] = sigma;
        let round = sigma_x == sigma_y;
        let ellipse =
            Ellipse { centre: [x, y], sigma, direction: [libm::cos(angle), libm::sin(angle)] };
        let form = match profile {
            SpotProfile::Sampled if round => Form::Circle(Circle::new(x, y, sigma_x)),
            SpotProfile::Sampled => Form::Ellipse(ellipse),
            SpotProfile::Integrated if round || angle == 0.0 => Form::Separable {
                first: [columns.start, rows.start],
                columns: columns.map(|column| mean(column as f64, x, sigma_x)).collect(),
                rows: rows.map(|row| mean(row as f64, y, sigma_y)).collect(),
            },
            SpotProfile::Integrated => Form::Rotated(ellipse),
        };
        Self { amplitude: signal / (TAU * sigma_x * sigma_y), form }
    }

    /// The photo-electrons that are expected in a pixel.
    #[inline]
    pub(crate) fn at(&self, column: usize, row: usize) -> f64 {
        let (x, y) = (column as f64, row as f64);
        let share = match &self.form {
            Form::Circle(circle) => Profile::at(x, y, *circle).value,
            Form::Ellipse(ellipse) => ellipse.sampled(x, y),
            Form::Separable { columns, rows, first } => {
                columns[column - first[0]] * rows[row - first[1]]
            }
            Form::Rotated(ellipse) => ellipse.integrated(x, y),
            Form::Pupil { psf, centre, z, field } => {
                psf.share_at(*field, [x - centre[0], y - centre[1], *z])
            }
        };
        self.amplitude * share
    }
}

/// The mean of exp(−(t − centre)²/2σ²) over the unit interval around a pixel.
fn mean(pixel: f64, centre: f64, sigma: f64) -> f64 {
    let edge = |half: f64| (pixel - centre + half) / (sigma * SQRT_2);
    let (low, high) = (edge(-0.5), edge(0.5));
    // In the tails erf is 1 but for rounding; there erfc has all digits of the difference.
    let difference = if low >= 0.0 {
        libm::erfc(low) - libm::erfc(high)
    } else if high <= 0.0 {
        libm::erfc(-high) - libm::erfc(-low)
    } else {
        libm::erf(high) - libm::erf(low)
    };
    sigma * libm::sqrt(PI / 2.0) * difference
}

/// Places and weights of the Gauss–Legendre quadrature of eight points in [−1, 1]; the other four are mirrored.
const GAUSS_LEGENDRE: [[f64; 2]; 4] = [
    [0.183_434_642_495_649_8, 0.362_683_783_378_362],
    [0.525_532_409_916_329, 0.313_706_645_877_887_3],
    [0.796_666_477_413_626_7, 0.222_381_034_453_374_48],
    [0.960_289_856_497_536_3, 0.101_228_536_290_376_26],
];

impl Ellipse {
    fn sampled(&self, x: f64, y: f64) -> f64 {
        let ([dx, dy], [cos, sin]) = ([x - self.centre[0], y - self.centre[1]], self.direction);
        let u = (cos * dx + sin * dy) / self.sigma[0];
        let v = (cos * dy - sin * dx) / self.sigma[1];
        libm::exp(-0.5 * (u * u + v * v))
    }

    /// The mean over the pixel's square: exact along x, by quadrature along y. At a given y the Gaussian is one of x
    /// with another centre and width. Along y it is at no x narrower than the smaller σ, and eight points on an
    /// interval of at most 2σ are good to 10⁻¹¹.
    fn integrated(&self, x: f64, y: f64) -> f64 {
        let ([cos, sin], [sigma_x, sigma_y]) = (self.direction, self.sigma);
        let (weight_x, weight_y) = (1.0 / (sigma_x * sigma_x), 1.0 / (sigma_y * sigma_y));
        let xx = cos * cos * weight_x + sin * sin * weight_y;
        let xy = cos * sin * (weight_x - weight_y);
        let width = 1.0 / libm::sqrt(xx);
        let parts = libm::ceil(0.5 / sigma_x.min(sigma_y));
        let line = |y: f64| {
            let dy = y - self.centre[1];
            let across = libm::exp(-0.5 * weight_x * weight_y / xx * dy * dy);
            across * mean(x, self.centre[0] - xy / xx * dy, width)
        };
        let mut sum = 0.0;
        for part in 0..parts as usize {
            let middle = y - 0.5 + (part as f64 + 0.5) / parts;
            for [place, weight] in GAUSS_LEGENDRE {
                let off = 0.5 * place / parts;
                sum += weight * (line(middle - off) + line(middle + off));
            }
        }
        0.5 * sum / parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean over a pixel's square of the Gaussian with these parameters, by Simpson's rule on 256×256 intervals.
    fn by_simpson(sigma: [f64; 2], angle: f64, centre: [f64; 2], x: f64, y: f64) -> f64 {
        let n = 256;
        let weight = |i: usize| match i {
            0 => 1.0,
            _ if i == n => 1.0,
            _ if i % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let place = |i: usize| i as f64 / n as f64 - 0.5;
        let mut sum = 0.0;
        for i in 0..=n {
            for j in 0..=n {
                let (dx, dy) = (x + place(i) - centre[0], y + place(j) - centre[1]);
                let u = angle.cos() * dx + angle.sin() * dy;
                let v = -angle.sin() * dx + angle.cos() * dy;
                let exponent = (u / sigma[0]).powi(2) + (v / sigma[1]).powi(2);
                sum += weight(i) * weight(j) * (-0.5 * exponent).exp();
            }
        }
        sum / (3.0 * n as f64).powi(2)
    }

    /// Proves that integrated spots of every shape are what quadrature gives, from sharp to wide ones, to 10⁻⁹.
    #[test]
    fn integrated_spots_agree_with_quadrature() {
        let centre = [3.3, 2.8];
        for sigma in [[0.5, 0.5], [0.5, 0.9], [1.3, 0.5], [1.0, 2.0], [2.5, 0.7], [40.0, 3.0]] {
            for angle in [0.0, 0.1, -0.3, 0.7, std::f64::consts::FRAC_PI_4] {
                let outline = Outline { sigma, angle, z: 0.0 };
                let signal = TAU * sigma[0] * sigma[1];
                let profile = SpotProfile::Integrated;
                let light = Light::new(signal, centre, &outline, profile, 0..7, 1..6);
                for (x, y) in [(3, 3), (4, 2), (0, 1), (6, 5), (5, 3), (1, 5)] {
                    let expected = by_simpson(sigma, angle, centre, x as f64, y as f64);
                    let found = light.at(x, y);
                    let off = (found - expected).abs();
                    assert!(off < 1e-9, "{sigma:?} {angle} ({x}, {y}): {found} {expected}");
                }
            }
        }
    }

    /// Proves that thin spots, too, bring all their light to the pixels, turned or not.
    #[test]
    fn integrated_spots_keep_their_signal() {
        for sigma in [[0.02, 0.05], [0.1, 0.3], [0.5, 1.5], [2.0, 1.0]] {
            for angle in [0.0, 0.6] {
                let outline = Outline { sigma, angle, z: 0.0 };
                let profile = SpotProfile::Integrated;
                let light = Light::new(1.0, [20.2, 19.6], &outline, profile, 0..41, 0..41);
                let sum: f64 = (0..41 * 41).map(|i| light.at(i % 41, i / 41)).sum();
                assert!((sum - 1.0).abs() < 1e-9, "{sigma:?} {angle}: {sum}");
            }
        }
    }

    /// Proves that the far tails keep their digits, where differences of erf would be zero.
    #[test]
    fn tails_keep_their_digits() {
        // 40 σ away exp changes within a pixel by e⁴⁰; the integral is that of its steep end.
        for (pixel, centre) in [(30.0, 0.0), (0.0, 30.0)] {
            let value = mean(pixel, centre, 1.0);
            let edge = 29.5f64;
            // Laplace's continued fraction for the tail of the normal distribution.
            let fraction = (1..60).rev().fold(edge, |below, k| edge + f64::from(k) / below);
            let expected = (-0.5 * edge * edge).exp() / fraction;
            assert!((value / expected - 1.0).abs() < 1e-12, "{value:e} {expected:e}");
        }
    }

    /// Proves that a turned ellipse is sampled along its own axes, and that a turn of none changes nothing.
    #[test]
    fn angles_turn_the_ellipse() {
        let at = |angle: f64, x: usize, y: usize| {
            let outline = Outline { sigma: [2.0, 1.0], angle, z: 0.0 };
            let sampled = SpotProfile::Sampled;
            Light::new(TAU * 2.0, [4.0, 4.0], &outline, sampled, 0..9, 0..9).at(x, y)
        };
        let along = (-0.5f64 * 8.0 / 4.0).exp();
        let across = (-0.5f64 * 8.0).exp();
        let turned = std::f64::consts::FRAC_PI_4;
        assert!((at(turned, 6, 6) - along).abs() < 1e-14);
        assert!((at(turned, 2, 6) - across).abs() < 1e-14);
        assert!((at(-turned, 2, 6) - along).abs() < 1e-14);
        assert!((at(0.0, 6, 4) - (-0.5f64).exp()).abs() < 1e-14);
        assert!((at(0.0, 4, 6) - (-2.0f64).exp()).abs() < 1e-14);
    }
}
