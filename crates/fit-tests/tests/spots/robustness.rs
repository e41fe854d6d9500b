//! Random and adversarial windows: a fit ends, with an honest status and finite numbers. With the environment variable
//! `SPOTFIT_ATTACK=long`, 10⁸ windows with all options are tried:
//!
//! ```sh
//! SPOTFIT_ATTACK=long cargo test --release -p fit-tests --test spots robustness:: -- --nocapture
//! ```

use fit_core::{Background, Criteria, Limits, MaxError, Options, Pixel, Status};
use fit_sim::Random;
use fit_tests::hostile::{KINDS, any, fault, pixel};
use fit_tests::{GPU, TestBackend, arithmetics, backends, effort, on_backends};
use ndarray::Array3;
use rayon::prelude::*;
use spotfit::{Fit, Shape, Start};

/// Options of any kind: one in eight numbers is out of its range.
fn any_options(random: &mut Random) -> Options {
    let wild = [-1.0, f64::NAN, f64::INFINITY, 1e308, -0.0, 1e-320];
    let number = |sound: &[f64], random: &mut Random| {
        if random.uniform() < 0.04 { any(&wild, random) } else { any(sound, random) }
    };
    let shares = [0.0, 1e-300, 1e-9, 1e-4, 0.3, 1.0 - f64::EPSILON];
    let max_error = number(&[0.0, 1e-3, 0.5, 1e9, f64::MAX], random);
    let bounds = [MaxError::Off, MaxError::PerPixel(max_error), MaxError::Total(max_error)];
    let sigma_min = number(&[0.1, 0.25, 1.0, 2.5, 40.0], random);
    let sigma = number(&[0.1, 0.7, 1.3, 30.0, 1e3], random);
    Options::default()
        .with_criteria(
            Criteria::default()
                .with_max_iterations(any(&[1, 2, 7, 20, 100, 300, 300, 300, 0, 100_001], random))
                .with_max_evaluations(any(&[2, 3, 50, 500, 500, 1000, 1000, 1, 1_000_001], random))
                .with_max_error(any(&bounds, random))
                .with_min_delta(number(&shares, random))
                .with_min_step(number(&shares, random)),
        )
        .with_background(any(&[Background::Free, Background::NonNegative], random))
        .with_limits(
            Limits::default()
                .with_centre_margin(number(&[0.0, 0.5, 1.0, 30.0, 1e3], random))
                .with_sigma_min(sigma_min)
                .with_sigma_max(any(
                    &[None, Some(number(&[0.3, 1.0, 4.0, 64.0, 1e6], random))],
                    random,
                )),
        )
        .with_shape(any(&[Shape::CIRCULAR, Shape::fixed_sigma(sigma)], random))
}

/// How many workers fit hostile windows at a time.
const WORKERS: u64 = 16;

/// What came of windows: how many were fitted, and are invalid, and how many options and windows were refused.
type Tried = [usize; 4];

/// Fits windows of hostile pixels, of a type that holds them as it can.
fn try_windows<P: Pixel>(
    backend: &TestBackend,
    to_pixel: fn(f64) -> P,
    random: &mut Random,
) -> Tried {
    let options = any_options(random);
    let fitter = match backend.try_fitter(options) {
        Ok(fitter) => fitter,
        Err(error) => {
            assert!(options.validate().is_err(), "{error}");
            return [0, 0, 1, 0];
        }
    };
    assert!(options.validate().is_ok(), "{options:?}");
    let sides = [2, 3, 3, 4, 5, 5, 6, 7, 7, 8, 9, 9, 11, 13, 17, 33];
    let (width, height) = (any(&sides, random), any(&sides, random));
    // Fewer of those that are large, so that all take alike.
    let count = (40_000 / (width * height)).min(400);
    let mut kind = 0;
    let spots = Array3::from_shape_fn((count, height, width), |(_, y, x)| {
        if (x, y) == (0, 0) {
            kind = (random.uniform() * KINDS as f64) as usize;
        }
        to_pixel(pixel(kind, x, y, random))
    });
    let mut wild = || any(&[-1.0, 1.0], random) * 10f64.powf(40.0 * random.uniform() - 20.0);
    let starts: Vec<[f64; 3]> = (0..count).map(|_| [wild(), wild(), wild().abs()]).collect();
    let start = if random.uniform() < 0.3 { Start::F64(&starts) } else { Start::Estimate };
    let fits: Vec<Fit<f64>> = match fitter.fit(spots.view(), start) {
        Ok(fits) => fits,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return [0, 0, 0, count];
        }
    };
    for fit in &fits {
        let what = || format!("{backend:?}, {width}×{height}, {options:?}: {fit:?}");
        assert_eq!(fault(fit), None, "{}", what());
        assert!(fit.iterations <= options.criteria.max_iterations, "{}", what());
    }
    let invalid = fits.iter().filter(|fit| fit.status == Status::Invalid).count();
    [count, invalid, 0, 0]
}

fn and(one: Tried, other: Tried) -> Tried {
    std::array::from_fn(|i| one[i] + other[i])
}

fn attack(backends: &[TestBackend]) {
    let is_long = std::env::var_os("SPOTFIT_ATTACK").is_some_and(|value| value == "long");
    let windows = if is_long { 100_000_000 } else { effort(60_000, 200_000, 200_000) };
    let share = windows / backends.len() / WORKERS as usize;
    for (number, backend) in backends.iter().enumerate() {
        // Workers have rounds of their own, so that all is the same on every machine.
        let work = |worker: u64| {
            let (mut tried, mut round) = ([0; 4], worker);
            while tried[0] < share {
                let random = &mut Random::new(12 + number as u64, round);
                let found = match round / WORKERS % 6 {
                    0 => try_windows(backend, |p| p, random),
                    1 => try_windows(backend, |p| p as f32, random),
                    2 => try_windows(backend, |p| p as i16, random),
                    3 => try_windows(backend, |p| p as u8, random),
                    4 => try_windows(backend, |p| p as u16, random),
                    _ => try_windows(backend, |p| p as i64, random),
                };
                tried = and(tried, found);
                round += WORKERS;
            }
            tried
        };
        let tried = (0..WORKERS).into_par_iter().map(work).reduce(|| [0; 4], and);
        println!("{backend:?}: {tried:?} fitted, invalid, refused options and windows");
        let [fitted, invalid, refused_options, refused_windows] = tried;
        assert!(invalid > 0 && invalid < fitted / 2, "{invalid} invalid prove nothing");
        assert!(refused_options > 0 && refused_windows > 0, "nothing was refused");
    }
}

/// Proves that a start value that is not finite makes its own spot invalid and no other.
#[test]
fn a_broken_start_is_invalid() {
    for backend in backends() {
        let fitter = backend.fitter(Options::default());
        let mut random = Random::new(1, 0);
        let spots = Array3::from_shape_fn((40, 7, 7), |_| random.poisson(20.0));
        let mut starts = vec![[3.0, 3.0, 1.2]; 40];
        for (i, bad) in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].into_iter().enumerate() {
            starts[10 + i][i] = bad;
        }
        let fits: Vec<Fit<f64>> = fitter.fit(spots.view(), Start::F64(&starts)).expect("sound");
        for (spot, fit) in fits.iter().enumerate() {
            let broken = (10..13).contains(&spot);
            assert_eq!(fit.status == Status::Invalid, broken, "{backend:?} {spot}: {fit:?}");
        }
    }
}

/// Proves that a batch with wrong numbers of things is refused and its output left alone.
#[test]
fn wrong_counts_are_refused() {
    for backend in backends() {
        let fitter = TestBackend::fitter(&backend, Options::default());
        let spots = Array3::<u8>::zeros((5, 9, 9));
        let untouched = Fit { x: 7.0, ..Fit::<f64>::invalid() };
        let mut fits = vec![untouched; 4];
        let error = fitter.fit_into(spots.view(), Start::Estimate, &mut fits).unwrap_err();
        assert!(error.to_string().contains("expected room for 5 outcomes, got 4"), "{error}");
        let mut fits = vec![untouched; 5];
        let starts = [[1.0f32; 3]; 6];
        let error = fitter.fit_into(spots.view(), Start::F32(&starts), &mut fits).unwrap_err();
        assert!(error.to_string().contains("expected start values for 5 spots, got 6"), "{error}");
        let small = Array3::<u8>::zeros((5, 2, 9));
        let error = fitter.fit_into(small.view(), Start::Estimate, &mut fits).unwrap_err();
        assert!(error.to_string().contains("9×2"), "{error}");
        assert!(fits.iter().all(|fit| fit.x == 7.0), "the output was touched");
    }
}

on_backends! {
    /// Proves that windows of any pixels and any type, with any options, in their ranges and out of them, on every
    /// backend, make no fit panic or hang, and give an error, or statuses and numbers that are sane.
    hostile_windows_with_any_options(&arithmetics()), hostile_windows_with_any_options_on_the_gpu(&[GPU]) => attack;
}
