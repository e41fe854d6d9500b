//! Proves the covariance of a fit against matrices of differences, inverted by nalgebra.

use fit_core::pass::{Axes, Judge, Judged, Serial};
use fit_core::search::solve::{Symmetric, inverse};
use fit_core::spot::axis::GaussianAxis;
use fit_core::spot::shape::{Circular, Elliptical, FixedSigmas};
use fit_core::{
    Camera, Errors, Estimator, Fit, Options, Outline, Parameter, PixelProfile, Shape, Size, Status,
};
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;

const SIZE: Size = Size::new(8, 7);

/// A case: what is fitted and how, and what is known of the pixels.
#[derive(Clone, Debug)]
struct Case {
    options: Options,
    /// x̄, ȳ, σx, σy, α, β.
    spot: [f64; 6],
    pixels: Vec<f64>,
    variances: Option<Vec<f64>>,
    weights: Option<Vec<f64>>,
}

impl Case {
    /// μ of a pixel.
    fn model(&self, p: &[f64; 6], pixel: usize) -> f64 {
        let axis = |centre: f64, sigma: f64, at: usize| {
            let axis = GaussianAxis::with_profile(self.options.profile, centre, 1.0 / sigma);
            axis.sample::<false>(at as f64).value
        };
        let (x, y) = (pixel % SIZE.width, pixel / SIZE.width);
        p[4] * axis(p[0], p[2], x) * axis(p[1], p[3], y) + p[5]
    }

    /// The derivatives of `p` by the parameters that are fitted.
    fn parameters(&self) -> Vec<[f64; 6]> {
        let unit = |j: usize| std::array::from_fn(|k| f64::from(u8::from(j == k)));
        let widths = match self.options.shape {
            Shape::Circular(_) => vec![[0.0, 0.0, 1.0, 1.0, 0.0, 0.0]],
            Shape::Elliptical(_) => vec![unit(2), unit(3)],
            _ => Vec::new(),
        };
        [vec![unit(0), unit(1)], widths, vec![unit(4), unit(5)]].concat()
    }

    /// εμ + v, and w.
    fn noise(&self, pixel: usize) -> (f64, f64) {
        let camera = self.options.camera.unwrap_or_default();
        let gain = camera.em_gain.unwrap_or(1.0);
        let read = match &self.variances {
            Some(variances) => variances[pixel],
            None => (camera.read_noise / gain).powi(2),
        };
        let mu = self.model(&self.spot, pixel);
        let excess = if camera.em_gain.is_some() { 2.0 } else { 1.0 };
        let weight = match (self.options.estimator, &self.weights) {
            (Estimator::MaximumLikelihood, _) => 1.0 / (mu + read),
            (_, Some(weights)) => weights[pixel],
            _ => 1.0,
        };
        (excess * mu + read, if read > 1e19 { 0.0 } else { weight })
    }

    /// C by x̄, ȳ, σx, σy, α, β.
    fn covariance(&self) -> DMatrix<f64> {
        let parameters = self.parameters();
        let n = parameters.len();
        let (mut a, mut b) = (DMatrix::zeros(n, n), DMatrix::zeros(n, n));
        for pixel in 0..SIZE.pixels() {
            let slope = |direction: &[f64; 6]| {
                let at = |h: f64| {
                    let moved = std::array::from_fn(|j| self.spot[j] + h * direction[j]);
                    self.model(&moved, pixel)
                };
                let h = 1e-4;
                (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)
            };
            let j = DVector::from_iterator(n, parameters.iter().map(slope));
            let (variance, weight) = self.noise(pixel);
            if weight > 0.0 {
                a += weight * &j * j.transpose();
                b += weight * weight * variance * &j * j.transpose();
            }
        }
        let inverse = a.try_inverse().expect("a spot in the window");
        let by = DMatrix::from_fn(6, n, |i, j| parameters[j][i]);
        &by * &inverse * b * &inverse * by.transpose()
    }

    fn judged(&self) -> (Judged<f64>, usize) {
        let mapped = self.variances.is_some();
        let judge = Judge::new(SIZE, &self.options, mapped, self.weights.is_some()).unwrap();
        let mut scratch = vec![0.0; Axes::<f64>::scratch_len(SIZE)];
        let mut axes = Axes::new(&mut scratch, SIZE).unwrap();
        let [x, y, sigma_x, sigma_y, alpha, beta] = self.spot;
        let outline = Outline { x, y, sigma_x, sigma_y, angle: 0.0 };
        let mut tile = Serial::new(&self.pixels[..], SIZE, &mut axes)
            .with_notes(self.variances.as_deref().unwrap_or_default())
            .with_weights(self.weights.as_deref().unwrap_or_default());
        (judge.judge(&mut tile, &outline, [alpha, beta]), judge.parameters())
    }

    fn fit(&self) -> Fit<f64> {
        let [x, y, sigma_x, sigma_y, amplitude, background] = self.spot;
        let sigma = (sigma_x * sigma_y).sqrt();
        let status = Status::MinStep;
        let chi2 = 0.0;
        Fit {
            x,
            y,
            sigma,
            sigma_x,
            sigma_y,
            angle: 0.0,
            amplitude,
            background,
            chi2,
            status,
            ..Fit::invalid()
        }
    }
}

fn cases() -> impl Strategy<Value = Case> {
    let spot = (2.5..4.5, 2.0..4.0, 0.8..1.8, 0.8..1.8, 20.0..2e3, 1.0..50.0);
    let numbers = prop::collection::vec(0.0..9.0, SIZE.pixels());
    let kind = (0..3, any::<bool>(), 0..3, 0..3);
    (spot, numbers.clone(), numbers, kind).prop_map(|(spot, first, second, kind)| {
        let (x, y, sigma_x, sigma_y, alpha, beta) = spot;
        let (shape, integrated, estimator, camera) = kind;
        let (shape, sigma_y) = match shape {
            0 => (Shape::Circular(Circular), sigma_x),
            1 => (Shape::Elliptical(Elliptical), sigma_y),
            _ => (Shape::FixedSigmas(FixedSigmas { sigma_x, sigma_y }), sigma_y),
        };
        let profile = if integrated { PixelProfile::Integrated } else { PixelProfile::Sampled };
        let camera = match camera {
            0 => None,
            1 => Some(
                Camera::default().with_read_noise(2.0).with_sensitivity(0.5).with_baseline(100.0),
            ),
            _ => Some(
                Camera::default()
                    .with_em_gain(Some(30.0))
                    .with_read_noise(20.0)
                    .with_sensitivity(4.0),
            ),
        };
        let mapped = first[0] < 3.0;
        let likelihood = estimator == 0;
        let mut options =
            Options::default().with_shape(shape).with_profile(profile).with_camera(camera);
        if likelihood {
            options = options.with_estimator(Estimator::MaximumLikelihood);
        }
        let mut variances = first.clone();
        // A hot pixel, which no fit sees.
        variances[SIZE.width + 1] = 1e30;
        let mut weights = second.clone();
        weights[3] = 0.0;
        let mut case = Case {
            options,
            spot: [x, y, sigma_x, sigma_y, alpha, beta],
            pixels: Vec::new(),
            variances: mapped.then_some(variances),
            weights: (estimator == 2).then_some(weights),
        };
        let of = if mapped { Camera::default() } else { camera.unwrap_or_default() };
        // Each pixel off by some of its noise, in ADU.
        case.pixels = (0..SIZE.pixels())
            .map(|pixel| {
                let (variance, _) = case.noise(pixel);
                let photons = case.model(&case.spot, pixel)
                    + (second[pixel] / 4.0 - 1.0) * variance.min(1e6).sqrt();
                photons / of.photons_per_adu() + of.baseline
            })
            .collect();
        case
    })
}

proptest! {
    /// Proves C = A⁻¹BA⁻¹ for every shape along the axes, profile, estimator and camera, with weights, variances and
    /// pixels that are not seen.
    #[test]
    fn covariances_are_those_of_differences(case in cases()) {
        let expected = case.covariance();
        let (judged, _) = case.judged();
        let place = [0, 1, 2, 3, 5, 6];
        for j in 0..6 {
            for k in j..6 {
                let scale = (expected[(j, j)] * expected[(k, k)]).sqrt();
                let found = judged.covariance.0[place[j]][place[k]];
                let off = (found - expected[(j, k)]).abs();
                prop_assert!(off <= 1e-6 * scale, "({j}, {k}): {found} and {}", expected[(j, k)]);
            }
        }
        prop_assert!((0..7).all(|j| judged.covariance.at(4, j) == 0.0));
    }

    /// Proves Pearson's χ², its variance, and the error of the photons, from their definitions.
    #[test]
    fn goodness_is_that_of_the_noise(case in cases()) {
        let (judged, parameters) = case.judged();
        let camera = case.options.camera.unwrap_or_default();
        let of = if case.variances.is_some() { Camera::default() } else { camera };
        let (mut pearson, mut spread, mut seen) = (0.0, 0.0, 0.0);
        for pixel in 0..SIZE.pixels() {
            let (variance, weight) = case.noise(pixel);
            if weight > 0.0 {
                let mu = case.model(&case.spot, pixel);
                let photons = (case.pixels[pixel] - of.baseline) * of.photons_per_adu();
                let fourth = if camera.em_gain.is_some() { 24.0 * mu } else { mu };
                pearson += (photons - mu).powi(2) / variance;
                spread += 2.0 + fourth / (variance * variance);
                seen += 1.0;
            }
        }
        let near = |found: f64, expected: f64| (found - expected).abs() <= 1e-9 * expected.abs();
        prop_assert!(near(judged.pearson, pearson) && near(judged.spread, spread));
        prop_assert_eq!(judged.seen, seen);
        let errors = Errors::from_judged(&judged, &case.fit(), parameters);
        prop_assert!((f64::from(errors.goodness) / (pearson / (seen - parameters as f64)) - 1.0).abs() < 1e-6);
        let expected = case.covariance();
        let [_, _, sigma_x, sigma_y, alpha, _] = case.spot;
        let volume = std::f64::consts::TAU;
        let by = DVector::from_vec(vec![
            0.0, 0.0, volume * alpha * sigma_y, volume * alpha * sigma_x, volume * sigma_x * sigma_y, 0.0,
        ]);
        let photons = (by.transpose() * expected * &by)[(0, 0)].sqrt();
        prop_assert!((f64::from(errors.photons) - photons).abs() <= 1e-5 * photons);
        prop_assert_eq!(errors.x(), errors.covariance(Parameter::X, Parameter::X).sqrt());
        prop_assert_eq!(Judged::from_numbers(&judged.numbers()).numbers(), judged.numbers());
    }

    /// Proves that a positive definite matrix is inverted, and any other is recognized.
    #[test]
    fn inverses_are_those_of_nalgebra(numbers in prop::collection::vec(-1.0..1.0, 36), flat in any::<bool>()) {
        let root = DMatrix::from_fn(6, 6, |i, j| if flat && i == 4 { 0.0 } else { numbers[6 * i + j] });
        let product = &root * root.transpose();
        let mut matrix = Symmetric::<f64, 6>::zero();
        for j in 0..6 {
            for k in j..6 {
                matrix.0[j][k] = product[(j, k)];
            }
        }
        let (found, definite) = inverse(&matrix);
        prop_assert_eq!(definite, !flat);
        if let (true, Some(expected)) = (definite, product.clone().try_inverse()) {
            let condition = product.norm() * expected.norm();
            for j in 0..6 {
                for k in j..6 {
                    let off = (found.0[j][k] - expected[(j, k)]).abs();
                    prop_assert!(off <= 1e-14 * condition * expected.norm());
                }
            }
        }
    }
}

/// Proves that where nothing can be known the errors are infinite, and say so.
#[test]
fn what_cannot_be_known_has_infinite_errors() {
    let spot = [4.0, 3.0, 1.2, 1.2, 100.0, 5.0];
    let mut case = Case {
        options: Options::default(),
        spot,
        pixels: vec![5.0; SIZE.pixels()],
        variances: Some(vec![1e30; SIZE.pixels()]),
        weights: None,
    };
    let errors = |case: &Case| {
        let (judged, parameters) = case.judged();
        Errors::from_judged(&judged, &case.fit(), parameters)
    };
    let blind = errors(&case);
    assert!(blind.exploding && blind.x() == f32::INFINITY && blind.photons == f32::INFINITY);
    case.variances = None;
    case.spot[0] = -60.0;
    let outside = errors(&case);
    assert!(outside.exploding && outside.x() > 1.0);
    let invalid = Errors::from_judged(&case.judged().0, &Fit::invalid(), 5);
    assert!(invalid.exploding && invalid == Errors::unknown());
}
