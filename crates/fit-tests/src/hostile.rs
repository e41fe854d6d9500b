//! Windows, weights and camera maps that mean harm, and what a fit must be whatever it was given.

use std::f64::consts::FRAC_PI_4;

use fit_core::{Background, Estimator, Options, Size, Status};
use fit_sim::Random;
use ndarray::{Array2, Array3};
use spotfit::{CameraMap, Errors, Fit, FixedSigma, FixedSigmas, Parameter, Shape};

/// How many kinds of unfriendly windows there are.
pub const KINDS: usize = 15;

/// One of some things.
pub fn any<T: Copy>(things: &[T], random: &mut Random) -> T {
    things[(random.uniform() * things.len() as f64) as usize]
}

/// The pixel of one of [`KINDS`] unfriendly kinds of windows at a column and a row.
pub fn pixel(kind: usize, x: usize, y: usize, random: &mut Random) -> f64 {
    let uniform = random.uniform();
    match kind {
        0 => random.poisson(10.0),
        1 => 65535.0 * (uniform * 2.0).floor(),
        2 => (x + y) as f64 * 10.0 * uniform,
        3 => 10f64.powf(60.0 * uniform - 30.0),
        4 => -(10f64.powf(36.0 * uniform - 18.0)),
        5 if uniform < 0.02 => {
            [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][(uniform * 150.0) as usize]
        }
        6 => f64::from_bits((random.uniform() * u64::MAX as f64) as u64),
        7 if (x, y) == (0, 0) => 1e30,
        8 => ((x % 2) ^ (y % 2)) as f64,
        9 => 1e-310 * uniform,
        10 => 16_777_216.0 + uniform.round(),
        11 => f64::from(u8::from(x == 2)) * 1000.0,
        12 => 1e6 - 1000.0 * uniform * (x * x) as f64,
        13 => -100.0 * uniform,
        _ => uniform,
    }
}

/// Weights of windows, of one of many unfriendly kinds each.
pub fn weights((count, height, width): (usize, usize, usize), random: &mut Random) -> Array3<f32> {
    let mut kind = 0;
    Array3::from_shape_fn((count, height, width), |(_, y, x)| {
        if (x, y) == (0, 0) {
            kind = (random.uniform() * 10.0) as usize;
        }
        let uniform = random.uniform() as f32;
        match kind {
            0 => 0.0,
            1 => f32::NAN,
            2 => f32::MAX,
            3 => f32::MIN_POSITIVE * uniform,
            4 => 10f32.powf(60.0 * uniform - 30.0),
            // A few pixels that are looked at.
            5 if uniform < 0.93 => 0.0,
            6 if uniform < 0.3 => f32::NAN,
            7 => f32::from(u8::from(x == 1)),
            8 => -0.0,
            _ => uniform,
        }
    })
}

/// Maps of a camera with pixels of every unfriendly kind that a map may have, and a dead corner.
pub fn camera(size: Size, random: &mut Random) -> CameraMap {
    let dim = (size.height, size.width);
    let mut map = |sound: f32, wild: &[f32]| {
        let mut of = || if random.uniform() < 0.08 { any(wild, random) } else { sound };
        Array2::from_shape_simple_fn(dim, &mut of)
    };
    let none = [f32::NAN, f32::INFINITY];
    let offset = map(3.0, &[&none[..], &[f32::NEG_INFINITY, 1e30, -1e30, f32::MAX, 0.0]].concat());
    let mut gain =
        map(0.9, &[&none[..], &[0.0, -0.0, 1e-30, 1e30, f32::MIN_POSITIVE, 1e-44]].concat());
    let variance = map(1.5, &[&none[..], &[0.0, 1e6, 1e20, f32::MAX, 1e-40]].concat());
    gain.slice_mut(ndarray::s![..dim.0 / 3, ..dim.1 / 3]).fill(0.0);
    let map = CameraMap::new(offset.view(), gain.view(), variance.view());
    map.expect("a camera with sound pixels")
}

/// What a fit has that no fit may have, whatever it was given; `None` if it is sound.
pub fn fault(fit: &Fit<f64>) -> Option<&'static str> {
    let lengths = [fit.x, fit.y, fit.sigma, fit.sigma_x, fit.sigma_y];
    let heights = [fit.amplitude, fit.background, fit.chi2];
    let mut numbers = lengths.iter().chain(&heights);
    if fit.status == Status::Invalid {
        return if numbers.all(|n| n.is_nan()) { None } else { Some("numbers of an invalid fit") };
    }
    let positive = fit.sigma > 0.0 && fit.sigma_x > 0.0 && fit.sigma_y > 0.0;
    match () {
        () if !numbers.all(|n| n.is_finite()) => Some("a number that is not finite"),
        () if !positive => Some("a width that is not positive"),
        () if fit.chi2 < 0.0 => Some("a negative cost"),
        () if fit.angle.abs() > FRAC_PI_4 + 1e-6 => Some("an angle beyond its range"),
        () => None,
    }
}

/// [`fault`], or a limit of the options that a fit does not keep.
pub fn fault_within(fit: &Fit<f64>, options: &Options, size: Size) -> Option<&'static str> {
    if let Some(fault) = fault(fit) {
        return Some(fault);
    }
    if fit.iterations > options.criteria.max_iterations {
        return Some("too many iterations, or no outcome");
    }
    if fit.status == Status::Invalid {
        return None;
    }
    // Limits are rounded to single precision.
    let within = |value: f64, low: f64, high: f64| {
        let slack = 1e-5 * (1.0 + high);
        value >= low - slack && value <= high + slack
    };
    let limits = options.limits;
    let margin = limits.centre_margin;
    let centred = |at: f64, side: usize| within(at, -margin, (side - 1) as f64 + margin);
    let longest = limits.sigma_max.unwrap_or(size.width.max(size.height) as f64);
    let [low_x, high_x, low_y, high_y] = match options.shape {
        Shape::FixedSigma(FixedSigma { sigma }) => [sigma; 4],
        Shape::FixedSigmas(FixedSigmas { sigma_x, sigma_y }) => {
            [sigma_x, sigma_x, sigma_y, sigma_y]
        }
        // A width that is given out of this range becomes the nearest.
        Shape::GivenSigma(_) => [0.1, 1e3, 0.1, 1e3],
        // The limits are those of the widths along a row and along a column, with |r| ≤ 0.995.
        Shape::Rotated(_) => {
            let (low, high) = (limits.sigma_min / 1.995f64.sqrt(), longest / 0.005f64.sqrt());
            [low, high, low, high]
        }
        _ => [limits.sigma_min, longest, limits.sigma_min, longest],
    };
    let likely = options.estimator == Estimator::MaximumLikelihood;
    let held = options.background == Background::NonNegative;
    match () {
        () if !(centred(fit.x, size.width) && centred(fit.y, size.height)) => {
            Some("a centre beyond its limits")
        }
        () if !within(fit.sigma_x, low_x, high_x) => Some("a sigma_x beyond its limits"),
        () if !within(fit.sigma_y, low_y, high_y) => Some("a sigma_y beyond its limits"),
        () if held && fit.background < 0.0 => Some("a negative background"),
        () if held && likely && fit.amplitude < 0.0 => Some("a negative amplitude"),
        () => None,
    }
}

/// What the errors of a fit have that no errors may have; `None` if they are sound.
pub fn fault_of_errors(errors: &Errors, fit: &Fit<f64>) -> Option<&'static str> {
    let known = Parameter::ALL.map(|parameter| errors.of(parameter));
    let Errors { photons, goodness, excess, exploding, .. } = *errors;
    let needed = [errors.x(), errors.y(), photons];
    match () {
        () if fit.status == Status::Invalid && *errors != Errors::unknown() => {
            Some("errors of an invalid fit")
        }
        () if known.iter().any(|error| error.is_nan()) => Some("an error that is NaN"),
        () if [photons, goodness, excess].iter().any(|number| number.is_nan()) => {
            Some("photons or a goodness that is NaN")
        }
        () if !exploding && !needed.iter().all(|error| error.is_finite()) => {
            Some("an infinite error that is not flagged")
        }
        () => None,
    }
}
