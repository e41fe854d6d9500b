//! Proves that a seed gives the same bytes on every machine, and that the simulation is what the
//! paper describes.

use fit_core::Size;
use fit_core::spot::sums::Profile;
use fit_sim::{Camera, Noise, SimulationError, SpotSimulation};

/// FNV-1a of all pixels and truths.
fn hash(simulation: &SpotSimulation) -> u64 {
    let spots = simulation.generate(0..200).expect("the simulation is sound");
    let truths = spots.truth.iter().flat_map(|truth| {
        let shape = truth.shape;
        [shape.x, shape.y, shape.sigma, truth.signal, truth.background].map(f64::to_bits)
    });
    let pixels = spots.pixels.iter().map(|pixel| u64::from(pixel.to_bits()));
    let bytes = pixels.chain(truths).flat_map(u64::to_le_bytes);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn nine() -> SpotSimulation {
    SpotSimulation::new(Size::new(9, 9))
}

/// The bytes of these simulations must never change: stored data and published seeds hang on them.
#[test]
fn a_seed_gives_the_same_bytes_everywhere() {
    let camera = Camera { baseline: 100.0, gain: 0.46, read_noise: 1.5 };
    let cases = [
        ("poisson", nine(), 0x1abd_cf66_e898_4d04),
        ("paper", SpotSimulation { noise: Noise::Paper, ..nine() }, 0x7914_1247_253b_2314),
        ("none", SpotSimulation { noise: Noise::None, ..nine() }, 0x8c06_3a72_b983_020f),
        ("camera", SpotSimulation { camera, ..nine() }, 0x97e9_61d3_f57b_e00c),
        (
            "bright",
            SpotSimulation { signal: 1e6, background: 1e4, seed: 2, ..nine() },
            0x5c1e_5955_0823_84a5,
        ),
        ("wide", SpotSimulation { size: Size::new(12, 5), ..nine() }, 0x30b3_f0d2_9721_e1ba),
    ];
    for (name, simulation, expected) in cases {
        let hash = hash(&simulation);
        assert_eq!(hash, expected, "{name}: {hash:#018x}");
    }
}

/// A window is the same whether it is made alone or with others.
#[test]
fn windows_do_not_depend_on_each_other() {
    let all = nine().generate(0..50).unwrap();
    let part = nine().generate(20..30).unwrap();
    assert_eq!(part.truth, all.truth[20..30]);
    assert_eq!(part.pixels, all.pixels.slice(ndarray::s![20..30, .., ..]));
}

/// Centres, widths, amplitudes and noise are distributed as the paper says.
#[test]
fn the_simulation_is_the_papers() {
    let n = 20_000;
    for noise in [Noise::Poisson, Noise::Paper] {
        let simulation = SpotSimulation { noise, background: 810.0, ..nine() };
        let spots = simulation.generate(0..n).unwrap();
        let mean = |f: &dyn Fn(usize) -> f64| (0..n).map(f).sum::<f64>() / n as f64;
        let x = |i: usize| spots.truth[i].shape.x;
        let y = |i: usize| spots.truth[i].shape.y;
        assert!((mean(&x) - 4.0).abs() < 0.02 && (mean(&y) - 4.0).abs() < 0.02);
        let deviation = mean(&|i| (x(i) - 4.0).powi(2)).sqrt();
        assert!((deviation - 0.45).abs() < 0.01, "{deviation}");
        assert!(mean(&|i| (x(i) - 4.0) * (y(i) - 4.0)).abs() < 0.01);
        let sigma = |i: usize| spots.truth[i].shape.sigma;
        assert!((mean(&sigma) - 1.5).abs() < 0.01);
        assert!((0..n).all(|i| (1.0..2.0).contains(&sigma(i))));

        let (mut bias, mut chi2) = (0.0, 0.0);
        for (window, truth) in spots.pixels.outer_iter().zip(&spots.truth) {
            let s2 = truth.shape.sigma.powi(2);
            let amplitude = 400.0 / (std::f64::consts::TAU * s2);
            for ((y, x), &pixel) in window.indexed_iter() {
                assert_eq!(pixel, pixel.round());
                let profile = Profile::at(x as f64, y as f64, truth.shape);
                let expected = amplitude * profile.value + 10.0;
                bias += f64::from(pixel) - expected;
                chi2 += (f64::from(pixel) - expected).powi(2) / expected;
            }
        }
        let pixels = (n * 81) as f64;
        assert!((bias / pixels).abs() < 0.02, "{noise:?}: {bias}");
        // Rounding to integers adds 1/12 count² to the variance of the paper's noise.
        let excess = if noise == Noise::Paper { mean_inverse(&spots) / 12.0 } else { 0.0 };
        assert!((chi2 / pixels - 1.0 - excess).abs() < 0.01, "{noise:?}: {}", chi2 / pixels);
    }
}

/// The mean of 1/expected over all pixels, from the truth.
fn mean_inverse(spots: &fit_sim::Spots) -> f64 {
    let mut sum = 0.0;
    for truth in &spots.truth {
        let amplitude = 400.0 / (std::f64::consts::TAU * truth.shape.sigma.powi(2));
        for i in 0..81 {
            let profile = Profile::at((i % 9) as f64, (i / 9) as f64, truth.shape);
            sum += 1.0 / (amplitude * profile.value + 10.0);
        }
    }
    sum / (spots.truth.len() * 81) as f64
}

/// The camera's baseline, gain and read noise do what they say.
#[test]
fn the_camera_adds_baseline_gain_and_noise() {
    let camera = Camera { baseline: 500.0, gain: 2.0, read_noise: 3.0 };
    let simulation = SpotSimulation { signal: 0.0, background: 81.0 * 20.0, camera, ..nine() };
    let pixels = simulation.generate(0..2000).unwrap().pixels;
    let n = pixels.len() as f64;
    let mean = pixels.iter().map(|&p| f64::from(p)).sum::<f64>() / n;
    let variance = pixels.iter().map(|&p| (f64::from(p) - mean).powi(2)).sum::<f64>() / n;
    assert!((mean - 540.0).abs() < 0.2, "{mean}");
    // gain²·(shot noise + read noise²), and 1/12 for rounding.
    assert!((variance / (4.0 * 29.0 + 1.0 / 12.0) - 1.0).abs() < 0.02, "{variance}");
}

/// Senseless parameters are named.
#[test]
fn senseless_parameters_are_named() {
    let bad = [
        (SpotSimulation { signal: -1.0, ..nine() }, "signal"),
        (SpotSimulation { background: f64::NAN, ..nine() }, "background"),
        (SpotSimulation { sigma: 0.0..1.0, ..nine() }, "sigma (lowest)"),
        (SpotSimulation { sigma: 2.0..1.0, ..nine() }, "sigma (highest)"),
        (SpotSimulation { scatter: 2.0, ..nine() }, "scatter"),
        (SpotSimulation { camera: Camera { gain: 0.0, ..Camera::default() }, ..nine() }, "gain"),
    ];
    for (simulation, expected) in bad {
        match simulation.generate(0..1) {
            Err(SimulationError::Parameter { name, .. }) => assert_eq!(name, expected),
            other => panic!("{expected}: {other:?}"),
        }
    }
    assert!(SpotSimulation::new(Size::new(2, 9)).generate(0..1).is_err());
}
