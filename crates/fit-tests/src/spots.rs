//! How the tests of spots fit, and what they compare.

use std::f64::consts::FRAC_PI_2;

use fit_core::{Corner, Criteria, Estimator, Options, PixelProfile, Shape, Status};
use ndarray::Array2;
use spotfit::{Errors, Fit, Fitter, Parameter, Pixel, Start, Weights, Windows};

use crate::data::Answer;

/// How pixels see the light of a spot.
pub const PROFILES: [PixelProfile; 2] = [PixelProfile::Sampled, PixelProfile::Integrated];

/// Shapes with a width of their own, and of one that is known.
pub const SHAPES: [Shape; 4] =
    [Shape::CIRCULAR, Shape::ELLIPTICAL, Shape::ROTATED, Shape::fixed_sigma(1.3)];

/// The ways to weigh pixels, by name: by least squares alone or with weights, and by maximum likelihood.
pub const METHODS: [(&str, Estimator, bool); 3] = [
    ("lse", Estimator::LeastSquares, false),
    ("weighted", Estimator::LeastSquares, true),
    ("mle", Estimator::MaximumLikelihood, false),
];

/// Options with which fits end at the minimum.
pub fn tight(shape: Shape, profile: PixelProfile, estimator: Estimator) -> Options {
    Options::default()
        .with_criteria(Criteria::TIGHT)
        .with_shape(shape)
        .with_profile(profile)
        .with_estimator(estimator)
}

/// [`tight`] of each of [`SHAPES`] and [`PROFILES`].
pub fn all_tight(estimator: Estimator) -> impl Iterator<Item = Options> {
    let of = move |shape| PROFILES.map(|profile| tight(shape, profile, estimator));
    SHAPES.into_iter().flat_map(of)
}

/// Fits windows.
///
/// # Panics
/// If they are refused.
pub fn fitted<P: Pixel>(
    fitter: &Fitter,
    windows: &Windows<'_, P>,
    start: Start<'_>,
) -> Vec<Fit<f64>> {
    let mut fits = vec![Fit::<f64>::invalid(); windows.count()];
    let done = fitter.fit_windows((*windows).into(), start, fits.as_mut_slice().into());
    done.unwrap_or_else(|error| panic!("{error}"));
    fits
}

/// Whether a fit found a minimum.
pub fn ended(fit: &Fit<f64>) -> bool {
    !matches!(fit.status, Status::MaxIterations | Status::NotConverged | Status::Invalid)
}

/// x, y, σx, σy and the angle of a fit.
pub fn outline(fit: &Fit<f64>) -> [f64; 5] {
    [fit.x, fit.y, fit.sigma_x, fit.sigma_y, fit.angle]
}

/// The greatest difference of x, y and the widths; and of the ends of the axes, which an angle turns. An angle of −π/4
/// is one of π/4 with the widths exchanged.
pub fn distance(fit: &Fit<f64>, [x, y, sigma_x, sigma_y, angle]: [f64; 5]) -> f64 {
    let off = |[sigma_x, sigma_y, angle]: [f64; 3]| {
        let turned = (fit.angle - angle).abs() * (sigma_x - sigma_y).abs();
        [fit.x - x, fit.y - y, fit.sigma_x - sigma_x, fit.sigma_y - sigma_y, turned]
            .iter()
            .fold(0.0, |worst: f64, off| off.abs().max(worst))
    };
    let beside = angle - FRAC_PI_2.copysign(angle);
    off([sigma_x, sigma_y, angle]).min(off([sigma_y, sigma_x, beside]))
}

/// The share of the good answers that were found, and how many of their fits found no minimum.
pub fn share(fits: &[Fit<f64>], answers: &[Answer], most: f64) -> (f64, usize) {
    let good =
        || answers.iter().filter(|answer| answer.good).map(|of| (fits[of.window], of.outline));
    let near = good().filter(|(fit, outline)| distance(fit, *outline) <= most).count();
    let lost = good().filter(|(fit, _)| !ended(fit)).count();
    (near as f64 / good().count() as f64, lost)
}

/// How many fits are no further than this from others.
pub fn near(fits: &[Fit<f64>], others: &[Fit<f64>], most: f64) -> usize {
    fits.iter().zip(others).filter(|(fit, other)| distance(fit, outline(other)) < most).count()
}

/// How many errors are others but for this share.
pub fn alike(errors: &[Errors], others: &[Errors], most: f32) -> usize {
    let all = |of: &Errors| {
        let each = Parameter::ALL.map(|parameter| of.of(parameter));
        each.into_iter().chain([of.photons, of.goodness]).collect::<Vec<f32>>()
    };
    let like = |(errors, others): &(&Errors, &Errors)| {
        let mut pairs = all(errors).into_iter().zip(all(others));
        pairs.all(|(found, other)| found == other || (found / other - 1.0).abs() < most)
    };
    errors.iter().zip(others).filter(like).count()
}

/// An image of weights that all windows share.
#[derive(Clone, Debug)]
pub struct Weighed {
    /// The weights.
    pub weights: Array2<f32>,
    corners: Vec<Corner>,
}

impl Weighed {
    /// Of so many windows.
    pub fn new(weights: Array2<f32>, count: usize) -> Self {
        Self { weights, corners: vec![Corner::default(); count] }
    }

    /// Where the windows lie.
    pub fn corners(&self) -> &[Corner] {
        &self.corners
    }

    /// Windows with the weights, if these are wanted.
    pub fn of<'a, P: Pixel>(&'a self, windows: Windows<'a, P>, wanted: bool) -> Windows<'a, P> {
        match wanted {
            true => windows
                .with_weights(Weights::Frame(self.weights.view()))
                .with_corners(&self.corners),
            false => windows,
        }
    }
}
