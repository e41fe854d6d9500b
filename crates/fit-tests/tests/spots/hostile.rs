//! Hostile windows, weights and camera maps, over every shape, profile, estimator and backend. With the environment
//! variable `SPOTFIT_ATTACK=long` there are two hundred times as many, some 10⁸ fits:
//!
//! ```sh
//! SPOTFIT_ATTACK=long cargo test --release -p fit-tests --test spots hostile:: -- --nocapture
//! ```

use std::collections::BTreeMap;
use std::fmt::Debug;

use fit_core::{Background, Criteria, Estimator, Options, Pixel, Size};
use fit_cpu::Reference;
use fit_sim::Random;
use fit_tests::hostile::{KINDS, any, camera, fault_of_errors, fault_within, pixel, weights};
use fit_tests::spots::{PROFILES, tight};
use fit_tests::{TestBackend, arithmetics, backends, effort};
use ndarray::{Array2, Array3, Axis};
use rayon::prelude::*;
use spotfit::{
    AnyWindows, CameraMap, Corner, Errors, Fit, FitError, FixedSigmas, GivenSigma, Shape, Start,
    Weights, Windows,
};

/// Every shape; a new one joins here.
const SHAPES: [Shape; 6] = [
    Shape::CIRCULAR,
    Shape::ELLIPTICAL,
    Shape::fixed_sigma(1.3),
    Shape::FixedSigmas(FixedSigmas { sigma_x: 1.1, sigma_y: 1.7 }),
    Shape::GivenSigma(GivenSigma),
    Shape::ROTATED,
];

const BACKGROUNDS: [Background; 2] = [Background::Free, Background::NonNegative];

const SIZES: [Size; 4] = [Size::new(3, 3), Size::new(7, 7), Size::new(9, 5), Size::new(4, 13)];

/// Windows in a batch: more than a pack has lanes, of every kind many.
const BATCH: usize = 160;

/// The camera's frame.
const FRAME: Size = Size::new(40, 32);

/// An estimator, and whether pixels have weights, and the camera a map.
type Method = (Estimator, bool, bool);

const LSE: Estimator = Estimator::LeastSquares;
const MLE: Estimator = Estimator::MaximumLikelihood;

/// What fits: a backend of the facade, or the reference in single precision.
#[derive(Clone, Copy, Debug)]
enum Runner {
    Facade(TestBackend),
    Single,
}

impl Runner {
    fn all() -> Vec<Self> {
        arithmetics().into_iter().map(Self::Facade).chain([Self::Single]).collect()
    }

    /// Fits, and the errors of the fits.
    fn fit(self, options: &Options, windows: AnyWindows<'_>, start: Start<'_>) -> Outcome {
        // An outcome that is not written would not pass for one.
        let mut lost = Fit::invalid();
        (lost.x, lost.iterations) = (0.0, u32::MAX);
        let mut fits = vec![lost; windows.count()];
        let mut errors = vec![Errors::unknown(); windows.count()];
        let outcomes = fits.as_mut_slice().into();
        let done = match self {
            Self::Facade(backend) => {
                let fitter = backend.fitter(*options);
                let fitted = fitter.fit_windows(windows, start, outcomes);
                fitted.and_then(|()| fitter.errors_into(windows, &fits, &mut errors))
            }
            Self::Single => {
                let reference = Reference::<f32>::new(2).expect("two threads");
                let fitted = reference.fit_windows(options, windows, start, outcomes);
                let mut judged = || reference.errors_into(options, windows, &fits, &mut errors);
                fitted.and_then(|()| judged()).map_err(FitError::from)
            }
        };
        done.unwrap_or_else(|error| panic!("{self:?}, {options:?}: {error}"));
        fits.into_iter().zip(errors).collect()
    }
}

/// What came of the windows of a batch.
type Outcome = Vec<(Fit<f64>, Errors)>;

/// A batch of windows with all that may be known of them.
#[derive(Clone)]
struct Batch<P> {
    pixels: Array3<P>,
    weights: Array3<f32>,
    corners: Vec<Corner>,
    starts: Vec<[f64; 5]>,
}

impl<P: Pixel> Batch<P> {
    /// Windows of every kind in turn, hostile and good ones.
    fn new(size: Size, to_pixel: fn(f64) -> P, random: &mut Random) -> Self {
        let Size { width, height } = size;
        let pixels = Array3::from_shape_fn((BATCH, height, width), |(window, y, x)| {
            let kind = window % (KINDS + 1);
            to_pixel(if kind < KINDS {
                pixel(kind, x, y, random)
            } else {
                good(size, x, y, random)
            })
        });
        let mut number = |sound: f64| match random.uniform() {
            share if share < 0.1 => any(&[f64::NAN, f64::INFINITY, -1e300, 0.0, 1e-300], random),
            share if share < 0.3 => 10f64.powf(40.0 * random.uniform() - 20.0),
            share => sound + share,
        };
        let starts = (0..BATCH).map(|_| [2.0, 2.0, 1.0, 1.0, 0.0].map(&mut number)).collect();
        let place = |room: usize, random: &mut Random| (random.uniform() * room as f64) as u32;
        let corners = (0..BATCH)
            .map(|_| Corner {
                frame: 0,
                x: place(FRAME.width - width, random),
                y: place(FRAME.height - height, random),
            })
            .collect();
        Self { weights: weights(pixels.dim(), random), pixels, corners, starts }
    }

    /// The windows with a good spot, and their numbers.
    fn good(&self) -> (Self, Vec<usize>) {
        let numbers: Vec<usize> = (KINDS..BATCH).step_by(KINDS + 1).collect();
        let good = Self {
            pixels: self.pixels.select(Axis(0), &numbers),
            weights: self.weights.select(Axis(0), &numbers),
            corners: numbers.iter().map(|&number| self.corners[number]).collect(),
            starts: numbers.iter().map(|&number| self.starts[number]).collect(),
        };
        (good, numbers)
    }

    fn fit(&self, runner: Runner, options: &Options, method: Method, map: &CameraMap) -> Outcome {
        let (mut windows, (_, weighted, mapped)) = (Windows::stack(self.pixels.view()), method);
        if weighted {
            windows = windows.with_weights(Weights::Windows(self.weights.view()));
        }
        if mapped {
            windows = windows.with_map(map).with_corners(&self.corners);
        }
        let given = matches!(options.shape, Shape::GivenSigma(_));
        // Both kinds of starts for all shapes that can be estimated.
        let estimate = !given && self.pixels.dim().1 != 7;
        let start = if estimate { Start::Estimate } else { Start::Outlines(&self.starts) };
        runner.fit(options, windows.into(), start)
    }
}

/// A pixel of a spot that every method can fit.
fn good(size: Size, x: usize, y: usize, random: &mut Random) -> f64 {
    let off = |at: usize, side: usize| at as f64 - 0.5 * side as f64 + 0.3;
    let (dx, dy) = (off(x, size.width), off(y, size.height));
    random.poisson(300.0 * (-(dx * dx + dy * dy) / 3.4).exp() + 20.0)
}

/// Calls with the options of every shape, profile and background.
fn for_all_options(estimator: Estimator, mut visit: impl FnMut(Options)) {
    for (number, shape) in SHAPES.into_iter().enumerate() {
        for (turn, profile) in PROFILES.into_iter().enumerate() {
            for background in BACKGROUNDS {
                let criteria = [Criteria::DEFAULT, Criteria::TIGHT][(number + turn) % 2];
                let options = tight(shape, profile, estimator).with_background(background);
                visit(options.with_criteria(criteria));
            }
        }
    }
}

/// What was wrong: with what, how often, and the first of it.
type Faults = BTreeMap<String, (usize, String)>;

/// Fits hostile windows of a size with everything, and compares the good among them with good ones alone. Returns how
/// many of the good ones converged.
fn attack<P: Pixel + Debug>(
    size: Size,
    to_pixel: fn(f64) -> P,
    method: Method,
    round: u64,
    faults: &mut Faults,
) -> usize {
    let mut converged = 0;
    let mut random = Random::new(round, size.pixels() as u64);
    let batch = Batch::new(size, to_pixel, &mut random);
    let (alone, numbers) = batch.good();
    let map = camera(FRAME, &mut random);
    for_all_options(method.0, |options| {
        for runner in Runner::all() {
            let outcome = batch.fit(runner, &options, method, &map);
            let mut found = |fault: &str, window: usize| {
                let shape = options.shape.name();
                let with = format!("{fault}: {method:?}, {shape}, {runner:?}");
                let fit = &outcome[window];
                let first = || (0, format!("window {window} of {size:?}, {options:?}, {fit:?}"));
                faults.entry(with).or_insert_with(first).0 += 1;
            };
            for (window, (fit, errors)) in outcome.iter().enumerate() {
                let of_fit = fault_within(fit, &options, size);
                for fault in of_fit.into_iter().chain(fault_of_errors(errors, fit)) {
                    found(fault, window);
                }
            }
            let good = alone.fit(runner, &options, method, &map);
            converged += good.iter().filter(|(fit, _)| fit.status.is_converged()).count();
            for (good, &window) in good.iter().zip(&numbers) {
                // As text, since NaN is not NaN.
                if format!("{:?}", outcome[window]) != format!("{good:?}") {
                    found("another outcome than alone", window);
                }
            }
        }
    });
    converged
}

fn attack_with(method: Method) {
    let [tiny, square, wide, high] = SIZES;
    let is_long = std::env::var_os("SPOTFIT_ATTACK").is_some_and(|value| value == "long");
    let mut faults = Faults::new();
    let mut converged = 0;
    for round in 0..if is_long { 200 } else { effort(1, 2, 2) as u64 } {
        converged += attack(tiny, |pixel| pixel, method, round, &mut faults);
        converged += attack(square, |pixel| pixel as u16, method, round, &mut faults);
        converged += attack(wide, |pixel| pixel as f32, method, round, &mut faults);
        converged += attack(high, |pixel| pixel as i32, method, round, &mut faults);
    }
    assert!(converged > 0, "no good window proves anything");
    for (with, (count, first)) in &faults {
        println!("{count} times {with}; {first}");
    }
    assert!(faults.is_empty(), "{} kinds of faults", faults.len());
}

/// By least squares, also with weights that are zero, NaN, huge or tiny, and with a camera map full of dead and hot pixels, and by maximum
/// likelihood.
const METHODS: [Method; 6] = [
    (LSE, false, false),
    (LSE, true, false),
    (LSE, false, true),
    (LSE, true, true),
    (MLE, false, false),
    (MLE, false, true),
];

/// Proves that hostile windows of any kind end, by every method in every shape and profile on every backend, with
/// finite numbers within their limits, or as invalid, that none is lost, and that good windows among them have the
/// outcome that they have alone, bit by bit.
#[test]
fn hostile_windows_end_and_harm_no_others() {
    METHODS.into_par_iter().for_each(attack_with);
}

/// Proves that the value of a masked pixel, be it NaN, infinite or any number, changes no bit of an outcome: with a
/// weight of 0 or NaN, and where the camera map has no gain, by every method.
#[test]
fn masked_pixels_may_be_anything() {
    let size = Size::new(9, 9);
    let mut random = Random::new(3, 1);
    let mut batch = Batch::new(size, |pixel| pixel, &mut random);
    let (width, height) = (FRAME.width, FRAME.height);
    let gain = Array2::from_shape_simple_fn((height, width), || {
        if random.uniform() < 0.1 { 0.0_f32 } else { 1.0 }
    });
    let [offset, variance] = [2.0, 1.0].map(|value| Array2::from_elem(gain.dim(), value));
    let map = CameraMap::new(offset.view(), gain.view(), variance.view()).expect("a camera");
    for (window, corner) in batch.corners.iter().enumerate() {
        for ((y, x), pixel) in batch.pixels.index_axis_mut(Axis(0), window).indexed_iter_mut() {
            *pixel = good(size, x, y, &mut random);
            let dead = gain[(corner.y as usize + y, corner.x as usize + x)] == 0.0;
            batch.weights[(window, y, x)] = match (dead, random.uniform()) {
                (true, share) if share < 0.5 => f32::NAN,
                (true, _) => 0.0,
                (false, share) => 1.0 + share as f32,
            };
        }
    }
    let mut other = batch.clone();
    let wild = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 0.0, 65535.0];
    for (index, pixel) in other.pixels.indexed_iter_mut() {
        if matches!(batch.weights[index], weight if weight.is_nan() || weight == 0.0) {
            *pixel = any(&wild, &mut random);
        }
    }
    for method in METHODS.into_iter().filter(|&(_, weighted, mapped)| weighted || mapped) {
        for_all_options(method.0, |options| {
            for runner in Runner::all() {
                let [one, two] = [&batch, &other].map(|of| of.fit(runner, &options, method, &map));
                for (one, two) in one.iter().zip(&two) {
                    let (one, two) = (format!("{one:?}"), format!("{two:?}"));
                    assert_eq!(one, two, "{method:?}, {runner:?}, {options:?}");
                }
                let converged = one.iter().filter(|(fit, _)| fit.status.is_converged()).count();
                let some = matches!(options.shape, Shape::GivenSigma(_)) || method.0 == MLE;
                assert!(some || converged > 3 * BATCH / 4, "{converged}, {method:?}, {runner:?}");
            }
        });
    }
}

/// Proves that weights, maps and corners that make no sense are refused by every backend with what and where, and that
/// no outcome is touched.
#[test]
fn what_makes_no_sense_is_refused() {
    let size = Size::new(7, 5);
    let pixels = Array3::<u16>::from_elem((6, 5, 7), 3);
    let windows = || Windows::stack(pixels.view());
    let corners = [Corner { frame: 0, x: 1, y: 2 }; 6];
    let plane = |height, width| Array2::from_elem((height, width), 1.0_f32);
    let map = |height, width| {
        let plane = plane(height, width);
        CameraMap::new(plane.view(), plane.view(), plane.view()).expect("a camera")
    };
    let (map, narrow) = (map(9, 12), map(5, 7));
    let mut outside = corners;
    outside[4].x = 6;
    let mut far = corners;
    far[5].y = u32::MAX;
    let (lse, mle) =
        (Options::default(), Options::default().with_estimator(Estimator::MaximumLikelihood));
    let ones = Array3::<f32>::from_elem((6, 5, 7), 1.0);
    let with = |weight: f32| {
        let mut weights = ones.clone();
        weights[(3, 2, 6)] = weight;
        weights
    };
    let (negative, infinite) = (with(-0.25), with(f32::INFINITY));
    let (few, turned) = (Array3::<f32>::zeros((5, 5, 7)), Array3::<f32>::zeros((6, 7, 5)));
    let mut image = plane(9, 12);
    let good = image.clone();
    image[(8, 11)] = -1.0;
    let stack = |weights| windows().with_weights(Weights::Windows(weights));
    let framed = |image| windows().with_weights(Weights::Frame(image)).with_corners(&corners);
    let frames = Array3::<u16>::zeros((1, 9, 11));
    let cut = Windows::cuts(frames.view(), size, &corners).with_map(&map);
    let mapped = windows().with_map(&map);
    let cases: [(Options, Windows<'_, u16>, &str); 14] = [
        (lse, stack(negative.view()), "the weight -0.25 of window 3 at column 6, row 2"),
        (lse, stack(infinite.view()), "the weight inf of window 3 at column 6, row 2"),
        (lse, stack(few.view()), "(6, 5, 7) (windows, rows, columns), got (5, 5, 7)"),
        (lse, stack(turned.view()), "got (6, 7, 5)"),
        (mle, stack(ones.view()), "weights are for least squares"),
        (lse, framed(image.view()), "the weight -1"),
        (mle, framed(good.view()), "weights are for least squares"),
        (lse, windows().with_weights(Weights::Frame(good.view())), "the corners"),
        (mle, mapped, "the corners"),
        (mle, mapped.with_corners(&corners[..5]), "corners of 6 windows, got 5"),
        (mle, mapped.with_corners(&outside), "the window 4 of 7x5 pixels at column 6, row 2"),
        (lse, mapped.with_corners(&far), "the window 5 of 7x5 pixels"),
        (lse, windows().with_map(&narrow).with_corners(&corners), "not within the map of 7x5"),
        (lse, cut, "the camera map has 12x9 pixels, a frame 11x9"),
    ];
    for backend in backends() {
        for (options, windows, says) in &cases {
            let mut untouched = Fit::<f64>::invalid();
            untouched.x = 7.0;
            let mut fits = vec![untouched; 6];
            let outcomes = fits.as_mut_slice().into();
            let result =
                backend.fitter(*options).fit_windows((*windows).into(), Start::Estimate, outcomes);
            let error = result.expect_err("it should be refused").to_string();
            assert!(error.contains(says), "'{says}' is missing in: {error}");
            assert!(fits.iter().all(|fit| fit.x == 7.0), "{backend:?}: the output was touched");
        }
    }
}
