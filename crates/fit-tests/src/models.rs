//! Models with names, with splines for those that call them, and data for some of them.

use fit_sim::Random;
use ndarray::Array2;
use spotfit::model::{Model, Points, Spline, SplineAxis, Values};

/// A model with a truth, whole numbers of points along its variables, and the standard deviation of its noise.
#[derive(Clone, Copy, Debug)]
pub struct Simulated {
    /// The name of the model.
    pub name: &'static str,
    /// Its parameters.
    pub truth: &'static [f64],
    /// Points along each variable, the first of which runs fastest.
    pub extent: &'static [usize],
    /// The standard deviation of each datum.
    pub noise: f64,
}

const fn simulated(
    name: &'static str,
    truth: &'static [f64],
    extent: &'static [usize],
    noise: f64,
) -> Simulated {
    Simulated { name, truth, extent, noise }
}

/// Those whose speed is measured.
pub const SIMULATED: &[Simulated] = &[
    simulated("linear", &[2.0, 0.5], &[30], 0.5),
    simulated("exponential", &[10.0, 8.0, 1.0], &[30], 0.2),
    simulated("exponential_2", &[10.0, 2.0, 6.0, 15.0, 1.0], &[30], 0.02),
    simulated("gauss_1d", &[10.0, 14.0, 3.0, 2.0], &[30], 0.3),
    simulated("lorentz", &[10.0, 14.0, 3.0, 2.0], &[30], 0.3),
    simulated("logistic", &[10.0, 14.0, 3.0, 2.0], &[30], 0.3),
    simulated("sine", &[3.0, 0.5, 0.6, 1.0], &[30], 0.3),
    simulated("gauss_2d", &[20.0, 4.1, 3.8, 1.2, 2.0], &[9, 9], 1.0),
    simulated("gauss_2d_elliptic", &[20.0, 4.1, 3.8, 1.2, 1.5, 2.0], &[9, 9], 1.0),
    simulated("gauss_2d_rotated", &[20.0, 4.1, 3.8, 1.0, 1.9, 2.0, 0.2], &[9, 9], 1.0),
    simulated("cauchy_2d_elliptic", &[20.0, 4.1, 3.8, 1.2, 1.5, 2.0], &[9, 9], 0.7),
    simulated("spline_1d", &[20.0, 5.9, 2.0], &[30], 0.5),
    simulated("spline_2d", &[20.0, -3.9, -4.2, 2.0], &[9, 9], 1.0),
    simulated("spline_3d", &[20.0, -3.9, -4.2, -4.4, 2.0], &[9, 9, 1], 0.3),
    simulated("psf_3d", &[20.0, -3.9, -4.2, 4.4, 2.0], &[9, 9], 0.3),
    simulated("spline_3d_multichannel", &[20.0, -3.9, -4.2, -4.9, 2.0], &[9, 9, 1, 2], 0.3),
    simulated("spline_3d_phase", &[20.0, -3.3, -4.2, -6.4, 8.0, 0.7], &[7, 7, 1, 3], 0.2),
    simulated("spline_4d", &[20.0, -3.9, -4.2, -3.4, -4.1, 2.0], &[7, 7, 3, 2], 0.3),
    simulated("spline_5d", &[20.0, -5.3, -5.4, -4.4, -3.4, -2.2, 2.0], &[6, 6, 3, 2, 2], 0.2),
];

impl Simulated {
    /// The variables at each point.
    pub fn places(&self) -> Vec<Vec<f64>> {
        places(self.extent)
    }

    /// The same as an array (variable, point).
    pub fn at(&self) -> Array2<f64> {
        let places = self.places();
        Array2::from_shape_fn((self.extent.len(), places.len()), |(k, point)| places[point][k])
    }

    /// Where the points lie; `at` is what [`Simulated::at`] gives.
    pub fn points<'a>(&self, at: &'a Array2<f64>) -> Points<'a> {
        match *self.extent {
            [_] => Points::Index,
            [width, height] => Points::Grid { width, height },
            _ => Points::Shared(Values::from(at.view())),
        }
    }

    /// Data sets (fit, point) with noise.
    pub fn data(&self, count: usize) -> Array2<f32> {
        let clean = model(self.name).values(self.truth, &self.places());
        let mut random = Random::new(1, 0);
        Array2::from_shape_fn((count, clean.len()), |(_, at)| {
            (clean[at] + self.noise * random.normal()) as f32
        })
    }

    /// Start values a tenth beside the truth.
    pub fn start(&self) -> Vec<f64> {
        self.truth.iter().map(|value| value * 1.1).collect()
    }
}

/// Whole numbers along each variable, the first of which runs fastest.
pub fn places(extent: &[usize]) -> Vec<Vec<f64>> {
    let place = |number: usize| {
        let mut left = number;
        let digit = |&length: &usize| {
            let digit = left % length;
            left /= length;
            digit as f64
        };
        extent.iter().map(digit).collect()
    };
    (0..extent.iter().product()).map(place).collect()
}

/// A model with a name; if it calls splines, with those of a spot that is in focus at one plane along x and at another along
/// y.
///
/// # Panics
/// If there is no such model.
pub fn model(name: &str) -> Model {
    use SplineAxis::{Cubic, Steps};
    let extents = [Cubic(16), Cubic(16), Cubic(12), Cubic(8), Cubic(6)];
    let channels = [Steps(3), extents[0], extents[1], extents[2]];
    let plain = |axes: usize| vec![("f", spline(&extents[..axes], |at| spot(at, 6.0)))];
    let splines = match name {
        "spline_1d" => plain(1),
        "spline_2d" => plain(2),
        "spline_3d" | "psf_3d" => plain(3),
        "spline_4d" => plain(4),
        "spline_5d" => plain(5),
        "spline_3d_multichannel" => {
            vec![("f", spline(&channels, |at| spot(&at[1..], 5.0 + at[0])))]
        }
        "spline_3d_phase" => {
            let turn = |at: &[f64]| 2.1 * at[0] + 0.5 * at[3];
            vec![
                ("f", spline(&channels, |at| spot(&at[1..], 6.0))),
                ("g", spline(&channels, |at| 0.7 * spot(&at[1..], 6.0) * turn(at).cos())),
                ("h", spline(&channels, |at| 0.7 * spot(&at[1..], 6.0) * turn(at).sin())),
            ]
        }
        _ => vec![],
    };
    let splines: Vec<(&str, &Spline)> =
        splines.iter().map(|(name, spline)| (*name, spline)).collect();
    Model::named_with_splines(name, &splines).expect("a model")
}

/// The height of a spot that is in focus at one plane along x and at another along y (astigmatism), and less sharp along
/// all other axes.
fn spot(at: &[f64], focus: f64) -> f64 {
    let depth = at.get(2).map_or(0.0, |z| (z - focus) / 4.0);
    let width = |shift: f64| 1.0 + 0.5 * (depth + shift).powi(2);
    let widths = [width(-0.7), width(0.7), 4.0, 2.0, 1.5];
    let centres = [8.0, 8.0, focus, 4.0, 3.0];
    let exponents = at.iter().zip(centres.iter().zip(widths));
    let exponent: f64 =
        exponents.map(|(x, (centre, width))| -0.5 * ((x - centre) / width).powi(2)).sum();
    exponent.exp() / if at.len() > 2 { widths[0] * widths[1] } else { 1.0 }
}

/// A spline through a function of places.
///
/// # Panics
/// If there is none with such axes.
pub fn spline(axes: &[SplineAxis], of: impl Fn(&[f64]) -> f64) -> Spline {
    let lengths: Vec<usize> = axes
        .iter()
        .rev()
        .map(|axis| match *axis {
            SplineAxis::Cubic(intervals) => intervals + 1,
            SplineAxis::Steps(count) => count,
        })
        .collect();
    // The last axis runs fastest.
    let samples: Vec<f64> = places(&lengths)
        .into_iter()
        .map(|mut place| {
            place.reverse();
            of(&place)
        })
        .collect();
    Spline::through(axes, &samples).expect("sound")
}
