//! How the light of a spot falls on the pixels.

use std::f64::consts::{PI, SQRT_2, TAU};
use std::ops::Range;

use fit_core::Circle;
use fit_core::spot::sums::Profile;

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
pub(crate) struct Light {
    amplitude: f64,
    form: Form,
}

enum Form {
    Circle(Circle<f64>),
    Ellipse(Ellipse),
    /// The means over each column and each row, from the first ones on.
    Separable {
        columns: Vec<f64>,
        rows: Vec<f64>,
        first: [usize; 2],
    },
    Rotated(Ellipse),
}

#[derive(Clone, Copy)]
struct Ellipse {
    centre: [f64; 2],
    sigma: [f64; 2],
    /// Cosine and sine of the angle.
    direction: [f64; 2],
}

impl Light {
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
    pub(crate) fn at(&self, column: usize, row: usize) -> f64 {
        let (x, y) = (column as f64, row as f64);
        let share = match &self.form {
            Form::Circle(circle) => Profile::at(x, y, *circle).value,
            Form::Ellipse(ellipse) => ellipse.sampled(x, y),
            Form::Separable { columns, rows, first } => {
                columns[column - first[0]] * rows[row - first[1]]
            }
            Form::Rotated(ellipse) => ellipse.integrated(x, y),
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
