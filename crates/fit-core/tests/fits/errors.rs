//! Proves the covariance of a fit against matrices of differences, inverted by nalgebra.

use fit_core::pass::{Axes, CovarianceEstimator, ErrorEstimate, Serial, Summable};
use fit_core::search::Count;
use fit_core::search::solve::{Symmetric, inverse};
use fit_core::spot::shape::{Circular, Elliptical, Fixed, Outlined, Rotated};
use fit_core::{
    Camera, Errors, Estimator, Fit, Options, Outline, Parameter, PixelProfile, Size, Status,
};
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;

const SIZE: Size = Size::new(8, 7);

/// The variance of a number that is uniform in a range of π/2.
const ANY_ANGLE: f64 = std::f64::consts::PI * std::f64::consts::PI / 48.0;

/// A case: what is fitted and how, and what is known of the pixels.
#[derive(Clone, Debug)]
struct Case<S, const P: usize, const Q: usize> {
    shape: S,
    options: Options,
    /// The parameters of the shape, α and β, and the slopes of a plane, of which β is the value at this centre.
    spot: Vec<f64>,
    pixels: Vec<f64>,
    variances: Option<Vec<f64>>,
    weights: Option<Vec<f64>>,
}

/// Places and weights of a quadrature over a pixel: Gauss and Legendre's of order 5 in both halves.
fn quadrature() -> Vec<(f64, f64)> {
    let order = [
        (0.0, 128.0 / 225.0),
        (0.538_469_310_105_683, 0.478_628_670_499_366),
        (0.906_179_845_938_664, 0.236_926_885_056_189),
    ];
    let both = order.iter().flat_map(|&(at, weight)| {
        if at == 0.0 { vec![(at, weight)] } else { vec![(at, weight), (-at, weight)] }
    });
    both.flat_map(|(at, weight)| [-0.25, 0.25].map(|half| (half + at / 4.0, weight / 4.0)))
        .collect()
}

/// The derivative by a parameter, by differences of fourth order.
fn difference(p: &[f64], j: usize, h: f64, of: impl Fn(&[f64]) -> f64) -> f64 {
    let at = |h: f64| {
        let mut moved = p.to_vec();
        moved[j] += h;
        of(&moved)
    };
    (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)
}

impl<S: Summable<P>, const P: usize, const Q: usize> Case<S, P, Q> {
    fn outline(&self, p: &[f64]) -> Outline<f64> {
        let parameters: [f64; P] = std::array::from_fn(|j| p[j]);
        // A fixed width is known from anywhere.
        let nothing = Outline { x: 0.0, y: 0.0, sigma_x: 1.0, sigma_y: 1.0, angle: 0.0 };
        let constants = self.shape.parameters(nothing).1;
        self.shape.outline(&constants, &parameters)
    }

    /// μ of a pixel.
    fn model(&self, p: &[f64], pixel: usize) -> f64 {
        let Outline { x, y, sigma_x, sigma_y, angle } = self.outline(p);
        let profile = |column: f64, row: f64| {
            let (dx, dy) = (column - x, row - y);
            let (u, v) = (angle.cos() * dx + angle.sin() * dy, angle.cos() * dy - angle.sin() * dx);
            (-0.5 * ((u / sigma_x).powi(2) + (v / sigma_y).powi(2))).exp()
        };
        let (column, row) = ((pixel % SIZE.width) as f64, (pixel / SIZE.width) as f64);
        let f: f64 = match self.options.profile {
            PixelProfile::Integrated => {
                let places = quadrature();
                let across = places.iter().flat_map(|a| places.iter().map(move |b| (a, b)));
                across.map(|(a, b)| a.1 * b.1 * profile(column + a.0, row + b.0)).sum()
            }
            _ => profile(column, row),
        };
        let Outline { x, y, .. } = self.outline(&self.spot);
        let places = [column - x, row - y];
        let plane: f64 = p[P + 2..].iter().zip(places).map(|(slope, place)| slope * place).sum();
        p[P] * f + p[P + 1] + plane
    }

    fn excess(&self) -> f64 {
        if self.options.camera.is_some_and(|camera| camera.em_gain.is_some()) { 2.0 } else { 1.0 }
    }

    /// The variance of the read noise.
    fn read(&self, pixel: usize) -> f64 {
        let camera = self.options.camera.unwrap_or_default();
        match &self.variances {
            Some(variances) => variances[pixel],
            None => (camera.read_noise / camera.em_gain.unwrap_or(1.0)).powi(2),
        }
    }

    /// The least variance of a pixel.
    fn least(&self) -> f64 {
        let Outline { sigma_x, sigma_y, .. } = self.outline(&self.spot);
        let volume = std::f64::consts::TAU * self.spot[P] * sigma_x * sigma_y;
        let n = SIZE.pixels() as f64;
        match self.options.estimator {
            Estimator::MaximumLikelihood => 0.0,
            _ => (volume + n * self.spot[P + 1]) / (n * n),
        }
    }

    /// εμ + v, and w, which is 0 where nothing is seen.
    fn noise(&self, p: &[f64], pixel: usize) -> (f64, f64) {
        let (mu, read) = (self.model(p, pixel).max(0.0), self.read(pixel));
        let weight = match (self.options.estimator, &self.weights) {
            (Estimator::MaximumLikelihood, _) => 1.0 / (mu + read),
            (_, Some(weights)) => weights[pixel],
            _ => 1.0,
        };
        ((self.excess() * mu + read).max(self.least()), if read > 1e19 { 0.0 } else { weight })
    }

    /// The pixel in photo-electrons.
    fn photons(&self, pixel: usize) -> f64 {
        let camera = self.options.camera.unwrap_or_default();
        let of = if self.variances.is_some() { Camera::default() } else { camera };
        (self.pixels[pixel] - of.baseline) * of.photons_per_adu()
    }

    fn slopes(&self, p: &[f64], pixel: usize) -> DVector<f64> {
        let slope = |j: usize| {
            let h = if j < P { 3e-4 } else { 1.0 };
            difference(p, j, h, |p| self.model(p, pixel))
        };
        DVector::from_iterator(Q, (0..Q).map(slope))
    }

    /// Where the errors are taken: after one step of scoring, for least squares. `None` if the step is too long.
    fn place(&self) -> Option<Vec<f64>> {
        let p = &self.spot;
        if self.options.estimator == Estimator::MaximumLikelihood {
            return Some(p.clone());
        }
        let mut information = DMatrix::zeros(Q, Q);
        let mut score = DVector::zeros(Q);
        for pixel in 0..SIZE.pixels() {
            if self.noise(p, pixel).1 > 0.0 {
                let (mu, j) = (self.model(p, pixel), self.slopes(p, pixel));
                let variance = (mu.max(0.0) + self.read(pixel)).max(self.least());
                information += &j * j.transpose() / variance;
                score += j * (self.photons(pixel) - mu) / variance;
            }
        }
        let step = information.try_inverse()? * score;
        let sound = (0..P).all(|j| step[j].abs() < 0.3) && step[P].abs() < 0.5 * p[P];
        sound.then(|| p.iter().zip(&step).map(|(p, step)| p + step).collect())
    }

    /// C by x̄, ȳ, σx, σy, angle, α, β.
    fn covariance(&self, p: &[f64]) -> DMatrix<f64> {
        let (mut a, mut b) = (DMatrix::zeros(Q, Q), DMatrix::zeros(Q, Q));
        for pixel in 0..SIZE.pixels() {
            let (variance, weight) = self.noise(p, pixel);
            if weight > 0.0 {
                let j = self.slopes(p, pixel);
                a += weight * &j * j.transpose();
                b += weight * weight * variance * &j * j.transpose();
            }
        }
        let inverse = a.try_inverse().expect("a spot in the window");
        let all = |p: &[f64]| {
            let Outline { x, y, sigma_x, sigma_y, angle } = self.outline(p);
            let here = self.outline(&self.spot);
            let moved = [x - here.x, y - here.y];
            let plane: f64 = p[P + 2..].iter().zip(moved).map(|(slope, by)| slope * by).sum();
            [x, y, sigma_x, sigma_y, angle, p[P], p[P + 1] + plane]
        };
        let by = DMatrix::from_fn(7, Q, |i, j| difference(p, j, 1e-4, |p| all(p)[i]));
        &by * &inverse * b * &inverse * by.transpose()
    }

    fn estimate(&self) -> ErrorEstimate<f64> {
        let (mapped, weighted) = (self.variances.is_some(), self.weights.is_some());
        let (shape, options) = (self.shape, &self.options);
        let covariance = CovarianceEstimator::for_shape(shape, SIZE, options, mapped, weighted);
        let covariance: CovarianceEstimator<f64, S, P, Q> = covariance.unwrap();
        let mut scratch = vec![0.0; Axes::<f64>::scratch_len(SIZE)];
        let mut axes = Axes::new(&mut scratch, SIZE).unwrap();
        let mut tile = Serial::new(&self.pixels[..], SIZE, &mut axes)
            .with_notes(self.variances.as_deref().unwrap_or_default())
            .with_weights(self.weights.as_deref().unwrap_or_default());
        let linear = [self.spot[P], self.spot[P + 1]];
        let slopes = if Q == P + 4 { [self.spot[P + 2], self.spot[P + 3]] } else { [0.0; 2] };
        covariance.errors(&mut tile, self.outline(&self.spot), linear, slopes)
    }

    fn fit(&self) -> Fit<f64> {
        let Outline { x, y, sigma_x, sigma_y, angle } = self.outline(&self.spot);
        let sigma = (sigma_x * sigma_y).sqrt();
        let (amplitude, background) = (self.spot[P], self.spot[P + 1]);
        let fit = Fit { amplitude, background, status: Status::MinStep, ..Fit::invalid() };
        Fit { x, y, sigma, sigma_x, sigma_y, angle, chi2: 0.0, ..fit }
    }

    fn check(&self) {
        let Some(place) = self.place() else { return };
        // Where both widths along the lines are the same the angle jumps, and differences say nothing.
        if P == 5 && (place[2] - place[3]).abs() < 0.01 {
            return;
        }
        let estimate = self.estimate();
        // The integral over a pixel of a rotated spot is a sum over few places.
        let rough = P == 5 && self.options.profile == PixelProfile::Integrated;
        let tolerance = if rough { 1e-4 } else { 2e-6 };
        let mut expected = self.covariance(&place);
        // No angle is less certain than any angle.
        if expected[(4, 4)] > ANY_ANGLE {
            expected.row_mut(4).fill(0.0);
            expected.column_mut(4).fill(0.0);
            expected[(4, 4)] = ANY_ANGLE;
        }
        for j in 0..7 {
            for k in j..7 {
                let scale = (expected[(j, j)] * expected[(k, k)]).sqrt();
                let found = estimate.covariance.0[j][k];
                let off = (found - expected[(j, k)]).abs();
                assert!(off <= tolerance * scale, "({j}, {k}): {found} and {}", expected[(j, k)]);
            }
        }
        let (mut pearson, mut spread, mut seen) = (0.0, 0.0, 0.0);
        for pixel in 0..SIZE.pixels() {
            let (variance, weight) = self.noise(&place, pixel);
            if weight > 0.0 {
                let mu = self.model(&place, pixel);
                let fourth = mu.max(0.0) * if self.excess() > 1.0 { 24.0 } else { 1.0 };
                pearson += (self.photons(pixel) - mu).powi(2) / variance;
                spread += 2.0 + fourth / (variance * variance);
                seen += 1.0;
            }
        }
        let near = |found: f64, expected: f64| (found / expected - 1.0).abs() <= tolerance;
        let [found, scatter] = [estimate.pearson, estimate.spread];
        assert!(near(found, pearson), "{found} {pearson} {place:?} {:?}", self.spot);
        assert!(near(scatter, spread), "{scatter} {spread} {place:?}");
        assert_eq!(estimate.seen, seen);
        let errors = Errors::from_estimate(&estimate, &self.fit(), Q);
        assert!(near(errors.goodness.into(), pearson / (seen - Q as f64)));
        assert_eq!(errors.x(), errors.covariance(Parameter::X, Parameter::X).sqrt());
        let Outline { sigma_x, sigma_y, .. } = self.outline(&self.spot);
        let (volume, alpha) = (std::f64::consts::TAU, self.spot[P]);
        let mut by = DVector::zeros(7);
        by[2] = volume * alpha * sigma_y;
        by[3] = volume * alpha * sigma_x;
        by[5] = volume * sigma_x * sigma_y;
        let photons = (by.transpose() * expected * &by)[(0, 0)].sqrt();
        assert!((f64::from(errors.photons) / photons - 1.0).abs() <= 1e-4);
        assert_eq!(ErrorEstimate::from_numbers(&estimate.numbers()).numbers(), estimate.numbers());
    }
}

fn case<S: Summable<P>, const P: usize, const Q: usize>(
    shape: S,
    spot: Vec<f64>,
    (first, second): (Vec<f64>, Vec<f64>),
    (integrated, estimator, camera): (bool, usize, usize),
) -> Case<S, P, Q> {
    let profile = if integrated { PixelProfile::Integrated } else { PixelProfile::Sampled };
    let plain = Camera::default();
    let camera = match camera {
        0 => None,
        1 => Some(plain.with_read_noise(2.0).with_sensitivity(0.5).with_baseline(100.0)),
        _ => Some(plain.with_em_gain(Some(30.0)).with_read_noise(20.0).with_sensitivity(4.0)),
    };
    let mapped = first[0] < 3.0;
    let mut options = Options::default().with_profile(profile).with_camera(camera);
    if estimator == 0 {
        options = options.with_estimator(Estimator::MaximumLikelihood);
    }
    let mut variances = first;
    // A hot pixel, which no fit sees.
    variances[SIZE.width + 1] = 1e30;
    let mut weights = second.clone();
    weights[3] = 0.0;
    let mut case = Case {
        shape,
        options,
        spot,
        pixels: Vec::new(),
        variances: mapped.then_some(variances),
        weights: (estimator == 2).then_some(weights),
    };
    let of = if mapped { plain } else { camera.unwrap_or_default() };
    // Each pixel off by some of its noise, in ADU.
    case.pixels = (0..SIZE.pixels())
        .map(|pixel| {
            let noise = case.noise(&case.spot, pixel).0.min(1e6).sqrt();
            let photons = case.model(&case.spot, pixel) + (second[pixel] / 4.5 - 1.0) * noise;
            photons / of.photons_per_adu() + of.baseline
        })
        .collect();
    case
}

fn numbers() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.0..9.0, SIZE.pixels())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Proves C = A⁻¹BA⁻¹, Pearson's χ² with its variance and the error of the photons, from their definitions, for every
    /// shape, profile, estimator and camera, with weights, variances and pixels that are not seen, on even light and on planes.
    #[test]
    fn errors_are_those_of_differences(
        (x, y, sigma_x, sigma_y, r) in (2.5..4.5, 2.0..4.0, 0.8..1.8, 0.8..1.8, -0.6..0.6),
        (alpha, beta) in (60.0..2e3, 1.0..50.0),
        (by_x, by_y) in (-0.8..0.8, -0.8..0.8),
        numbers in (numbers(), numbers()),
        kind in (any::<bool>(), 0_usize..3, 0_usize..3),
    ) {
        let lit = |shape: &[f64]| [shape, &[alpha, beta]].concat();
        case::<_, 3, 5>(Circular, lit(&[x, y, sigma_x]), numbers.clone(), kind).check();
        case::<_, 4, 6>(Elliptical, lit(&[x, y, sigma_x, sigma_y]), numbers.clone(), kind).check();
        case::<_, 5, 7>(Rotated, lit(&[x, y, sigma_x, sigma_y, r]), numbers.clone(), kind).check();
        let fixed = Fixed::from_numbers([1.25, 1.5]);
        case::<_, 2, 4>(fixed, lit(&[x, y]), numbers.clone(), kind).check();
        // On a plane that is positive in the window.
        let slopes = [by_x * beta / 8.0, by_y * beta / 8.0];
        let on = |shape: &[f64]| [shape, &[alpha, beta], &slopes].concat();
        case::<_, 3, 7>(Circular, on(&[x, y, sigma_x]), numbers.clone(), kind).check();
        case::<_, 4, 8>(Elliptical, on(&[x, y, sigma_x, sigma_y]), numbers.clone(), kind).check();
        case::<_, 5, 9>(Rotated, on(&[x, y, sigma_x, sigma_y, r]), numbers.clone(), kind).check();
        case::<_, 2, 6>(fixed, on(&[x, y]), numbers, kind).check();
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
        let (found, definite) = inverse(Count::ALL, &matrix);
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

/// Proves that where nothing can be known the errors are infinite, and say so; and that the angle of a circle has the error
/// of any angle.
#[test]
fn what_cannot_be_known_has_infinite_errors() {
    let mut case = Case::<_, 3, 5> {
        shape: Circular,
        options: Options::default(),
        spot: vec![4.0, 3.0, 1.2, 100.0, 5.0],
        pixels: vec![5.0; SIZE.pixels()],
        variances: Some(vec![1e30; SIZE.pixels()]),
        weights: None,
    };
    let errors =
        |case: &Case<Circular, 3, 5>| Errors::from_estimate(&case.estimate(), &case.fit(), 5);
    let blind = errors(&case);
    assert!(blind.exploding && blind.x() == f32::INFINITY && blind.photons == f32::INFINITY);
    case.variances = None;
    case.spot[0] = -60.0;
    let outside = errors(&case);
    assert!(outside.exploding && outside.x() > 1.0);
    let invalid = Errors::from_estimate(&case.estimate(), &Fit::invalid(), 5);
    assert!(invalid.exploding && invalid == Errors::unknown());
    let round = Case::<_, 5, 7> {
        shape: Rotated,
        options: Options::default().with_estimator(Estimator::MaximumLikelihood),
        spot: vec![4.0, 3.0, 1.2, 1.2, 0.0, 100.0, 5.0],
        pixels: case.pixels.clone(),
        variances: None,
        weights: None,
    };
    let errors = Errors::from_estimate(&round.estimate(), &round.fit(), 7);
    assert!(!errors.exploding && errors.x() < 0.1);
    assert!((f64::from(errors.of(Parameter::Angle)) - ANY_ANGLE.sqrt()).abs() < 1e-6);
}
