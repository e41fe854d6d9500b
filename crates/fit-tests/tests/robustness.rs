//! Random and adversarial windows: a fit ends, with an honest status and finite numbers.

use fit_core::{Background, Criteria, Options, Status};
use fit_sim::Random;
use fit_tests::{GPU, TestBackend, backends};
use ndarray::Array3;
use spotfit::{Fit, Start};

/// Windows of one kind in a batch.
const BATCH: usize = 1000;

/// A pixel of one of many unfriendly kinds.
fn pixel(kind: usize, x: usize, y: usize, random: &mut Random) -> f64 {
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
        7 => {
            if (x, y) == (0, 0) {
                1e30
            } else {
                uniform
            }
        }
        8 => ((x % 2) ^ (y % 2)) as f64,
        9 => 1e-310 * uniform,
        10 => 16_777_216.0 + uniform.round(),
        11 => {
            if x == 2 {
                1000.0
            } else {
                0.0
            }
        }
        12 => 1e6 - 1000.0 * uniform * (x * x) as f64,
        _ => uniform,
    }
}

fn check(fit: &Fit<f64>, what: &str) {
    let numbers = [fit.x, fit.y, fit.sigma, fit.amplitude, fit.background, fit.chi2];
    if fit.status == Status::Invalid {
        assert!(numbers.iter().all(|n| n.is_nan()), "{what}: {fit:?}");
    } else {
        assert!(numbers.iter().all(|n| n.is_finite()), "{what}: {fit:?}");
        assert!(fit.sigma > 0.0 && fit.chi2 >= 0.0, "{what}: {fit:?}");
    }
}

/// Proves that none of more than 10⁵ windows for each backend makes a fit panic, hang or give a
/// number that is not finite, with sensible and senseless start values, β free and held.
#[test]
fn adversarial_windows_do_no_harm() {
    check_adversarial(&backends());
}

/// Proves the same for the GPU.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn adversarial_windows_do_no_harm_on_the_gpu() {
    check_adversarial(&[GPU]);
}

fn check_adversarial(backends: &[TestBackend]) {
    let mut windows = 0;
    for (round, backend) in backends.iter().enumerate() {
        for kind in 0..14 {
            for (option, background) in
                [Background::Free, Background::NonNegative].into_iter().enumerate()
            {
                let options =
                    Options { background, criteria: Criteria::TIGHT, ..Options::default() };
                let fitter = backend.fitter(options);
                for size in 0..4 {
                    let mut random =
                        Random::new(round as u64, (kind * 8 + option * 4 + size) as u64);
                    let (width, height) = [(3, 3), (7, 7), (9, 5), (4, 13)][size];
                    let spots = Array3::from_shape_fn((BATCH, height, width), |(_, y, x)| {
                        pixel(kind, x, y, &mut random)
                    });
                    let wild = |random: &mut Random| 10f64.powf(40.0 * random.uniform() - 20.0);
                    let starts: Vec<[f64; 3]> = (0..BATCH)
                        .map(|_| [-wild(&mut random), wild(&mut random), wild(&mut random)])
                        .collect();
                    let start = if size == 1 { Start::F64(&starts) } else { Start::Estimate };
                    let fits: Vec<Fit<f64>> =
                        fitter.fit(spots.view(), start).expect("the arguments are sound");
                    let what = format!("{backend:?}, kind {kind}, {width}×{height}");
                    fits.iter().for_each(|fit| check(fit, &what));
                    windows += BATCH;
                }
            }
        }
    }
    assert!(windows >= 100_000 * backends.len(), "{windows}");
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
        assert!(error.to_string().contains("room for 4 outcomes"), "{error}");
        let mut fits = vec![untouched; 5];
        let starts = [[1.0f32; 3]; 6];
        let error = fitter.fit_into(spots.view(), Start::F32(&starts), &mut fits).unwrap_err();
        assert!(error.to_string().contains("start values for 6 spots, but 5"), "{error}");
        let small = Array3::<u8>::zeros((5, 2, 9));
        let error = fitter.fit_into(small.view(), Start::Estimate, &mut fits).unwrap_err();
        assert!(error.to_string().contains("9×2"), "{error}");
        assert!(fits.iter().all(|fit| fit.x == 7.0), "the output was touched");
    }
}
