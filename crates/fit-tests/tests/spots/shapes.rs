//! Shapes other than the circle: on every backend the minimum that the reference finds, and that one the minimum.

use fit_core::pass::{self, Axes, Finish, Serial};
use fit_core::spot::shape::{Circular, Elliptical, FixedSigma, FixedSigmas, GivenSigma, Rotated};
use fit_core::{
    Circle, Corner, Criteria, Estimator, Fit, Options, PixelProfile, Setup, Shape, Size, Status,
    condition, estimate,
};
use fit_sim::{SimulatedSpots, SpotShape, SpotSimulation};
use fit_tests::{GPU, TestBackend, arithmetics};
use ndarray::{Array2, Array3};
use spotfit::{Backend, CameraMap, Start, Weights, Windows};

const SIGMA: f64 = 1.4;

fn options() -> Options {
    let shape = Shape::FixedSigma(FixedSigma { sigma: SIGMA });
    Options::default().with_shape(shape).with_criteria(Criteria::TIGHT)
}

fn spots(width: usize, height: usize) -> Array3<f32> {
    let simulation = SpotSimulation::new(Size::new(width, height)).with_sigma(1.2..1.6);
    simulation.generate(0..500).expect("sound").pixels
}

fn fit(backend: TestBackend, spots: &Array3<f32>) -> Vec<Fit<f64>> {
    backend.fitter(options()).fit(spots.view(), Start::Estimate).expect("large enough")
}

/// Proves that the search over two parameters ends where the search over three does whose σ is held by equal limits:
/// other sums, another solve, the same minimum.
#[test]
fn a_fixed_sigma_is_one_held_by_equal_limits() {
    for (width, height) in [(9, 9), (7, 11)] {
        let (size, spots) = (Size::new(width, height), spots(width, height));
        let found = fit(TestBackend::new(Backend::Reference, 1), &spots);
        let circular = Setup::<f64>::new(size, &options()).expect("sound");
        let mut settings = *circular.settings();
        (settings.lower[2], settings.upper[2]) = (SIGMA, SIGMA);
        let held = Setup::from_parts(
            Circular,
            size,
            circular.background(),
            PixelProfile::Sampled,
            settings,
        )
        .expect("sound");
        let mut scratch = vec![0.0; Axes::<f64>::scratch_len(size)];
        let mut converged = 0;
        for (window, fit) in spots.outer_iter().zip(&found) {
            let mut pixels: Vec<f64> = window.iter().map(|&pixel| f64::from(pixel)).collect();
            let mut conditioned = pixels.clone();
            condition(&mut conditioned);
            let start = estimate(&conditioned, size);
            let mut axes = Axes::new(&mut scratch, size).expect("enough");
            let mut tile = Serial::new(&mut pixels[..], size, &mut axes);
            let start = Some(Circle::new(start.x, start.y, SIGMA).into());
            let expected = Fit::from(pass::fit(&held, &mut tile, start, Finish::Residuals));
            assert_eq!(fit.sigma, SIGMA);
            if fit.status.is_converged() && expected.status.is_converged() {
                converged += 1;
                let off = (fit.x - expected.x).abs().max((fit.y - expected.y).abs());
                assert!(off < 1e-6, "{width}×{height}: {fit:?} {expected:?}");
                assert!((fit.chi2 / expected.chi2 - 1.0).abs() < 1e-9, "{fit:?} {expected:?}");
            }
        }
        assert!(converged >= 495, "{converged} of 500");
    }
}

/// Proves that every backend finds the reference's minima.
#[test]
fn every_backend_fits_a_fixed_sigma() {
    check(&arithmetics());
}

/// Proves the same for the GPU.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_gpu_fits_a_fixed_sigma() {
    check(&[GPU]);
}

fn check(backends: &[TestBackend]) {
    for (width, height) in [(9, 9), (7, 11), (33, 20)] {
        let spots = spots(width, height);
        let expected = fit(TestBackend::new(Backend::Reference, 1), &spots);
        for &backend in backends {
            let near = |(fit, expected): &(Fit<f64>, &Fit<f64>)| {
                let off = (fit.x - expected.x).abs().max((fit.y - expected.y).abs());
                off < 1e-3 && (fit.sigma - SIGMA).abs() < 1e-6
            };
            let fits = fit(backend, &spots);
            assert!(fits.iter().all(|fit| fit.status != Status::Invalid), "{backend:?}");
            let same = fits.into_iter().zip(&expected).filter(near).count();
            assert!(same >= 495, "{backend:?}, {width}×{height}: {same} of 500");
        }
    }
}

/// Proves that the kernels for large batches find the minima of the reference, in squares of every side that has one of
/// its own and in others, for every shape, profile and estimator, from start values that are given or estimated.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_gpu_fits_large_batches_of_every_shape() {
    const COUNT: usize = 6_500;
    let shapes = [
        Shape::Circular(Circular),
        Shape::Elliptical(Elliptical),
        Shape::Rotated(Rotated),
        Shape::FixedSigmas(FixedSigmas { sigma_x: 1.3, sigma_y: 1.5 }),
        Shape::GivenSigma(GivenSigma),
    ];
    for (width, height) in (5..14).map(|side| (side, side)).chain([(9, 6), (20, 20)]) {
        let simulation = SpotSimulation::new(Size::new(width, height))
            .with_sigma(1.2..1.6)
            .with_shape(SpotShape::Elliptical)
            .with_background(5.0 * (width * height) as f64)
            .with_reach(Some(0.5))
            .with_signal(3000.0);
        let SimulatedSpots { pixels, truth, .. } = simulation.generate(0..COUNT).expect("sound");
        let starts: Vec<[f64; 5]> = truth
            .iter()
            .map(|of| [of.shape.x + 0.2, of.shape.y - 0.1, of.sigma_x, of.sigma_y, 0.0])
            .collect();
        for shape in shapes {
            for estimator in Estimator::ALL {
                for profile in [PixelProfile::Sampled, PixelProfile::Integrated] {
                    let options = Options::default()
                        .with_criteria(Criteria::TIGHT)
                        .with_shape(shape)
                        .with_estimator(estimator)
                        .with_profile(profile);
                    let given = matches!(shape, Shape::GivenSigma(_)) || width % 2 == 0;
                    let start = if given { Start::Outlines(&starts) } else { Start::Estimate };
                    let fit = |backend: TestBackend| -> Vec<Fit<f64>> {
                        backend.fitter(options).fit(pixels.view(), start).expect("large enough")
                    };
                    let expected = fit(TestBackend::new(Backend::Reference, 0));
                    let near = |(fit, expected): &(Fit<f64>, &Fit<f64>)| {
                        let lengths = |of: &Fit<f64>| [of.x, of.y, of.sigma_x, of.sigma_y];
                        let (found, expected) = (lengths(fit), lengths(expected));
                        found
                            .iter()
                            .zip(expected)
                            .all(|(found, other)| (found - other).abs() < 2e-3)
                    };
                    let same = fit(GPU).into_iter().zip(&expected).filter(near).count();
                    let what = format!("{width}×{height}, {shape:?}, {estimator:?}, {profile:?}");
                    println!("{what}: {same} of {COUNT}");
                    assert!(same * 1000 >= COUNT * 985, "{what}: {same} of {COUNT}");
                }
            }
        }
    }
}

/// Spots of every window in frames of 10×10 windows, as a camera with a map sees them; where the windows lie; the map, with
/// a masked pixel in every tenth window.
fn seen_by_a_camera(side: usize, count: usize) -> (Array3<u16>, Vec<Corner>, CameraMap) {
    let simulation = SpotSimulation::new(Size::new(side, side))
        .with_sigma(1.2..1.6)
        .with_shape(SpotShape::Elliptical)
        .with_background(5.0 * (side * side) as f64)
        .with_reach(Some(0.5))
        .with_signal(3000.0);
    let spots = simulation.generate(0..count).expect("sound").pixels;
    let frame = 10 * side;
    let at = |i: usize| Corner {
        frame: (i / 100) as u32,
        x: (i % 10 * side) as u32,
        y: (i / 10 % 10 * side) as u32,
    };
    let corners: Vec<Corner> = (0..count).map(at).collect();
    let offset = Array2::from_shape_fn((frame, frame), |(y, x)| 100.0 + ((x + 3 * y) % 7) as f32);
    let gain =
        Array2::from_shape_fn((frame, frame), |(y, x)| match (x % side, y % side, x / side) {
            (2, 3, 4) => 0.0,
            _ => 2.0 + 0.05 * ((5 * x + y) % 11) as f32,
        });
    let variance = Array2::from_shape_fn((frame, frame), |(y, x)| 4.0 + ((x * y) % 90) as f32);
    let mut frames = Array3::zeros((count.div_ceil(100), frame, frame));
    for (window, corner) in spots.outer_iter().zip(&corners) {
        for ((row, column), photons) in window.indexed_iter() {
            let place = (corner.y as usize + row, corner.x as usize + column);
            let counts = photons * gain[place] + offset[place];
            frames[[corner.frame as usize, place.0, place.1]] = counts.round().max(0.0) as u16;
        }
    }
    let map = CameraMap::new(offset.view(), gain.view(), variance.view()).expect("a camera");
    (frames, corners, map)
}

/// Proves that the kernels for large batches use the camera map and the weights of each pixel, in windows cut from frames
/// and in windows on their own.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_gpu_fits_large_batches_with_maps_and_weights() {
    const COUNT: usize = 6_500;
    let shapes = [
        Shape::Circular(Circular),
        Shape::Elliptical(Elliptical),
        Shape::Rotated(Rotated),
        Shape::FixedSigmas(FixedSigmas { sigma_x: 1.3, sigma_y: 1.5 }),
    ];
    for side in [5, 7, 8, 9, 11, 13, 15] {
        let (frames, corners, map) = seen_by_a_camera(side, COUNT);
        let frame = 10 * side;
        let weights = Array2::from_shape_fn((frame, frame), |(y, x)| ((x + 2 * y) % 5) as f32);
        let own = Array3::from_shape_fn((COUNT, side, side), |(i, y, x)| {
            1.0 + ((i + x + 2 * y) % 5) as f32
        });
        let stack = Array3::from_shape_fn((COUNT, side, side), |(i, y, x)| {
            let corner = corners[i];
            frames[[corner.frame as usize, corner.y as usize + y, corner.x as usize + x]]
        });
        let size = Size::new(side, side);
        let cut = Windows::cuts(frames.view(), size, &corners);
        let alone = Windows::stack(stack.view());
        let (lse, mle) = (Estimator::LeastSquares, Estimator::MaximumLikelihood);
        let cases = [
            ("cut, map", cut.with_map(&map), lse),
            ("cut, map", cut.with_map(&map), mle),
            ("map", alone.with_map(&map).with_corners(&corners), mle),
            ("cut, weights", cut.with_weights(Weights::Frame(weights.view())), lse),
            ("weights", alone.with_weights(Weights::Windows(own.view())), lse),
            ("cut", cut, mle),
        ];
        for shape in shapes {
            for (name, windows, estimator) in &cases {
                let options = Options::default()
                    .with_criteria(Criteria::TIGHT)
                    .with_shape(shape)
                    .with_estimator(*estimator);
                let fit = |backend: TestBackend| -> Vec<Fit<f64>> {
                    let mut fits = vec![Fit::invalid(); COUNT];
                    let fitter = backend.fitter(options);
                    let into = (&mut fits[..]).into();
                    fitter
                        .fit_windows((*windows).into(), Start::Estimate, into)
                        .expect("large enough");
                    fits
                };
                let expected = fit(TestBackend::new(Backend::Reference, 0));
                let near = |(fit, expected): &(Fit<f64>, &Fit<f64>)| {
                    let lengths = |of: &Fit<f64>| [of.x, of.y, of.sigma_x, of.sigma_y];
                    let (found, expected) = (lengths(fit), lengths(expected));
                    found.iter().zip(expected).all(|(found, other)| (found - other).abs() < 2e-3)
                };
                let same = fit(GPU).into_iter().zip(&expected).filter(near).count();
                let what = format!("{side}×{side}, {name}, {shape:?}, {estimator:?}");
                println!("{what}: {same} of {COUNT}");
                assert!(same * 1000 >= COUNT * 985, "{what}: {same} of {COUNT}");
            }
        }
    }
}

/// Proves that a width that makes no sense is refused by name.
#[test]
fn a_senseless_width_is_refused() {
    for sigma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let shape = Shape::FixedSigma(FixedSigma { sigma });
        let error = Options::default().with_shape(shape).validate().unwrap_err().to_string();
        assert!(error.contains("fixed_sigma") && error.contains("0.1 to 1000"), "{error}");
    }
}
