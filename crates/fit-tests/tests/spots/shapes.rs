//! Shapes other than the circle: on every backend the minimum that the reference finds, and that one the minimum.

use fit_core::pass::{self, Axes, Finish, Serial};
use fit_core::spot::shape::{Circular, FixedSigmas, GivenSigma};
use fit_core::{
    Corner, Estimator, Fit, Options, PixelProfile, Setup, Shape, Size, Status, condition, estimate,
};
use fit_sim::{SimulatedSpots, SpotShape, SpotSimulation};
use fit_tests::spots::{METHODS, PROFILES, Weighed, fitted, near, tight};
use fit_tests::{GPU, TestBackend, arithmetics, on_backends};
use ndarray::{Array2, Array3};
use spotfit::{Backend, CameraMap, Pixel, Start, Weights, Windows};

const REFERENCE: TestBackend = TestBackend::new(Backend::Reference, 0);
const SIGMA: f64 = 1.4;

/// Windows of so many spots of a shape, bright enough to have one minimum.
fn spots(shape: SpotShape, size: Size, count: usize) -> Array3<f32> {
    let simulation = match shape {
        SpotShape::Rotated => SpotSimulation::new(size)
            .with_signal(5000.0)
            .with_background(2.0 * size.pixels() as f64),
        _ => SpotSimulation::new(size).with_sigma(1.2..1.6),
    };
    simulation.with_shape(shape).generate(0..count).expect("sound").pixels
}

/// Proves that the search over two parameters ends where the search over three does whose σ is held by equal limits:
/// other sums, another solve, the same minimum.
#[test]
fn a_fixed_sigma_is_one_held_by_equal_limits() {
    for (width, height) in [(9, 9), (7, 11)] {
        let size = Size::new(width, height);
        let spots = spots(SpotShape::Circular, size, 500);
        let options =
            tight(Shape::fixed_sigma(SIGMA), PixelProfile::Sampled, Estimator::LeastSquares);
        let windows = Windows::stack(spots.view());
        let found = fitted(&REFERENCE.fitter(options), &windows, Start::Estimate);
        let circular = Setup::<f64>::new(size, &options).expect("sound");
        let mut settings = *circular.settings();
        (settings.lower[2], settings.upper[2]) = (SIGMA, SIGMA);
        let (background, profile) = (circular.background(), PixelProfile::Sampled);
        let held = Setup::from_parts(Circular, size, background, profile, settings).expect("sound");
        let mut scratch = vec![0.0; Axes::<f64>::scratch_len(size)];
        let mut converged = 0;
        for (window, fit) in spots.outer_iter().zip(&found) {
            let mut pixels: Vec<f64> = window.iter().map(|&pixel| f64::from(pixel)).collect();
            let mut conditioned = pixels.clone();
            condition(&mut conditioned);
            // A start beside the limits is moved there.
            let start = Some(estimate(&conditioned, size).into());
            let mut axes = Axes::new(&mut scratch, size).expect("enough");
            let mut tile = Serial::new(&mut pixels[..], size, &mut axes);
            let expected = Fit::from(pass::fit(&held, &mut tile, start, Finish::Residuals));
            assert_eq!([fit.sigma, expected.sigma], [SIGMA; 2]);
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

fn check(backends: &[TestBackend]) {
    let shapes =
        [(SpotShape::Circular, Shape::fixed_sigma(SIGMA)), (SpotShape::Rotated, Shape::ROTATED)];
    for (width, height, count) in [(9, 9, 300), (7, 11, 300), (33, 20, 40)] {
        let weights =
            Array2::from_shape_fn((height, width), |(y, x)| 0.5 + ((x + 2 * y) % 3) as f32);
        let weights = Weighed::new(weights, count);
        for (simulated, shape) in shapes {
            let spots = spots(simulated, Size::new(width, height), count);
            for (profile, (method, estimator, weighted)) in
                PROFILES.into_iter().flat_map(|profile| METHODS.map(|method| (profile, method)))
            {
                let windows = weights.of(Windows::stack(spots.view()), weighted);
                let options = tight(shape, profile, estimator);
                let fit = |of: &TestBackend| fitted(&of.fitter(options), &windows, Start::Estimate);
                let expected = fit(&REFERENCE);
                let what = format!("{width}×{height}, {shape:?}, {profile:?}, {method}");
                let converged = expected.iter().filter(|fit| fit.status.is_converged()).count();
                assert!(converged * 100 >= count * 98, "{what}: {converged} of {count}");
                for backend in backends {
                    let fits = fit(backend);
                    assert!(fits.iter().all(|fit| fit.status != Status::Invalid), "{backend:?}");
                    let same = near(&fits, &expected, 1e-3);
                    assert!(same * 100 >= count * 99, "{what}, {backend:?}: {same} of {count}");
                    let held = |fit: &Fit<f64>| (fit.sigma - SIGMA).abs() < 1e-6;
                    assert!(shape == Shape::ROTATED || fits.iter().all(held), "{what}");
                }
            }
        }
    }
}

/// Compares what a GPU finds with the reference, for windows of which nearly all have one minimum.
fn the_gpu_agrees<P: Pixel>(
    options: Options,
    windows: &Windows<'_, P>,
    start: Start<'_>,
    what: &str,
) {
    let [fits, expected] =
        [GPU, REFERENCE].map(|backend| fitted(&backend.fitter(options), windows, start));
    let lengths = |of: &Fit<f64>| [of.x, of.y, of.sigma_x, of.sigma_y];
    let near = |(fit, other): &(&Fit<f64>, &Fit<f64>)| {
        let mut both = lengths(fit).into_iter().zip(lengths(other));
        both.all(|(found, other)| (found - other).abs() < 2e-3)
    };
    let (same, all) = (fits.iter().zip(&expected).filter(near).count(), fits.len());
    let Options { shape, estimator, profile, .. } = options;
    let what = format!("{what}, {shape:?}, {estimator:?}, {profile:?}: {same} of {all}");
    println!("{what}");
    assert!(same * 1000 >= all * 985, "{what}");
}

/// Elliptical spots in squares or others.
fn elliptical(size: Size, count: usize) -> SimulatedSpots {
    let simulation = SpotSimulation::new(size)
        .with_sigma(1.2..1.6)
        .with_shape(SpotShape::Elliptical)
        .with_background(5.0 * size.pixels() as f64)
        .with_reach(Some(0.5))
        .with_signal(3000.0);
    simulation.generate(0..count).expect("sound")
}

/// Windows in a large batch.
const COUNT: usize = 6_500;

/// The shapes whose widths are fitted, and one with two that are known.
const LARGE: [Shape; 4] = [
    Shape::CIRCULAR,
    Shape::ELLIPTICAL,
    Shape::ROTATED,
    Shape::FixedSigmas(FixedSigmas { sigma_x: 1.3, sigma_y: 1.5 }),
];

/// Proves that the kernels for large batches find the minima of the reference, in squares of every side that has one of
/// its own and in others, for every shape, profile and estimator, from start values that are given or estimated.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_gpu_fits_large_batches_of_every_shape() {
    for (width, height) in (5..14).map(|side| (side, side)).chain([(9, 6), (20, 20), (34, 9)]) {
        let SimulatedSpots { pixels, truth, .. } = elliptical(Size::new(width, height), COUNT);
        let starts: Vec<[f64; 5]> = truth
            .iter()
            .map(|of| [of.shape.x + 0.2, of.shape.y - 0.1, of.sigma_x, of.sigma_y, 0.0])
            .collect();
        let windows = Windows::stack(pixels.view());
        for shape in LARGE.into_iter().chain([Shape::GivenSigma(GivenSigma)]) {
            for estimator in Estimator::ALL {
                for profile in PROFILES {
                    let given = matches!(shape, Shape::GivenSigma(_)) || width % 2 == 0;
                    let start = if given { Start::Outlines(&starts) } else { Start::Estimate };
                    let options = tight(shape, profile, estimator);
                    the_gpu_agrees(options, &windows, start, &format!("{width}×{height}"));
                }
            }
        }
    }
}

/// Spots of every window in frames of 10×10 windows, as a camera with a map sees them; where the windows lie; the map, with
/// a masked pixel in every tenth window.
fn seen_by_a_camera(side: usize, count: usize) -> (Array3<u16>, Vec<Corner>, CameraMap) {
    let spots = elliptical(Size::new(side, side), count).pixels;
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
        for shape in LARGE {
            for (name, windows, estimator) in &cases {
                let options = tight(shape, PixelProfile::Sampled, *estimator);
                let what = format!("{side}×{side}, {name}");
                the_gpu_agrees(options, windows, Start::Estimate, &what);
            }
        }
    }
}

/// Proves that a width that makes no sense is refused by name.
#[test]
fn a_senseless_width_is_refused() {
    for sigma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let options = Options::default().with_shape(Shape::fixed_sigma(sigma));
        let error = options.validate().unwrap_err().to_string();
        assert!(error.contains("fixed_sigma") && error.contains("0.1 to 1000"), "{error}");
    }
}

on_backends! {
    /// Proves that every backend finds the reference's minima, of rotated spots and of those whose width is known, by every method.
    every_backend_fits_every_shape(&arithmetics()), the_gpu_fits_every_shape(&[GPU]) => check;
}
