//! Proves that a seed gives the same bytes on every machine, and that the simulation is what the
//! paper describes.

use fit_core::Size;
use fit_core::spot::sums::Profile;
use fit_sim::{
    Defocus, Heights, Maps, MovieSimulation, Noise, SimulatedBead, SimulatedCamera,
    SimulationError, SpotProfile, SpotShape, SpotSimulation,
};

/// FNV-1a.
fn fnv(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.flat_map(u64::to_le_bytes).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A number for all pixels and truths.
fn hash(simulation: &SpotSimulation) -> u64 {
    let spots = simulation.generate(0..200).expect("the simulation is sound");
    let truths = spots.truth.iter().flat_map(|truth| {
        let shape = truth.shape;
        [shape.x, shape.y, shape.sigma, truth.signal, truth.background].map(f64::to_bits)
    });
    let pixels = spots.pixels.iter().map(|pixel| u64::from(pixel.to_bits()));
    fnv(pixels.chain(truths))
}

fn nine() -> SpotSimulation {
    SpotSimulation::new(Size::new(9, 9))
}

fn defocused() -> SpotShape {
    SpotShape::Defocused(Defocus::default().with_cubic(0.1).with_quartic(0.05))
}

/// The bytes of these simulations must never change: stored data and published seeds hang on them.
#[test]
fn a_seed_gives_the_same_bytes_everywhere() {
    let camera =
        SimulatedCamera::default().with_baseline(100.0).with_gain(0.46).with_read_noise(1.5);
    let emccd = camera.with_em_gain(Some(300.0));
    let maps = Maps::simulated(Size::new(70, 50), 6).expect("a sound size");
    let integrated = |shape| nine().with_shape(shape).with_profile(SpotProfile::Integrated);
    let cases = [
        ("poisson", nine(), 0x1abd_cf66_e898_4d04),
        ("paper", nine().with_noise(Noise::Paper), 0x7914_1247_253b_2314),
        ("none", nine().with_noise(Noise::None), 0x8c06_3a72_b983_020f),
        ("camera", nine().with_camera(camera), 0x97e9_61d3_f57b_e00c),
        (
            "bright",
            nine().with_signal(1e6).with_background(1e4).with_seed(2),
            0x5c1e_5955_0823_84a5,
        ),
        ("wide", nine().with_size(Size::new(12, 5)), 0x30b3_f0d2_9721_e1ba),
        (
            "elliptical",
            nine().with_shape(SpotShape::Elliptical).with_noise(Noise::None),
            0xdc47_4fc3_a50e_9897,
        ),
        ("rotated", integrated(SpotShape::Rotated).with_noise(Noise::None), 0x438e_2a53_5e63_d82c),
        ("defocused", integrated(defocused()).with_camera(emccd), 0x2c95_787a_4f18_be29),
        ("maps", integrated(SpotShape::Circular).with_maps(Some(maps)), 0xee05_009a_1489_5c7e),
    ];
    for (name, simulation, expected) in cases {
        let hash = hash(&simulation);
        assert_eq!(hash, expected, "{name}: {hash:#018x}");
    }
}

/// A number for all pixels and truths of a movie.
fn movie_hash(simulation: MovieSimulation) -> u64 {
    let frames = simulation.frames;
    let mut plan = simulation.plan().expect("the simulation is sound");
    let piece = plan.piece(0..frames);
    let pixels = piece.frames();
    let truths = (0..frames).flat_map(|frame| piece.truth(frame)).flat_map(|truth| {
        let shape = truth.shape;
        let numbers = [shape.x, shape.y, shape.sigma, truth.signal, truth.background];
        numbers.map(f64::to_bits).into_iter().chain([truth.frame as u64, truth.molecule as u64])
    });
    fnv(pixels.iter().map(|&pixel| u64::from(pixel)).chain(truths))
}

/// The bytes of these movies must never change either: blinking that is faster and slower than frames, beads, drift,
/// spots wider than what is made of a large frame at a time, other seeds and cameras.
#[test]
fn a_movie_has_the_same_bytes_everywhere() {
    let small = || MovieSimulation::new(40, 32, 50).with_molecules(300);
    let beads = vec![
        SimulatedBead { x: 3.5, y: 30.25, signal: 9000.0 },
        SimulatedBead { x: 39.0, y: 0.5, signal: 500.0 },
    ];
    let camera =
        SimulatedCamera::default().with_baseline(400.0).with_gain(2.5).with_read_noise(0.0);
    let emccd = camera.with_em_gain(Some(20.0));
    let maps = Maps::simulated(Size::new(40, 32), 6).expect("a sound size");
    let large =
        MovieSimulation::new(1300, 1100, 2).with_sigma(60.0).with_signal(1e7).with_molecules(200);
    let cases = [
        ("ordinary", small(), 0x700a_9d55_78d4_a1f7),
        ("fast", small().with_on_time(0.3).with_off_time(1.7).with_seed(3), 0x52a7_8192_8368_2083),
        ("slow", small().with_on_time(20.0).with_off_time(90.0), 0x4796_b0d0_bca0_23c7),
        (
            "beads",
            small().with_beads(beads).with_drift([0.07, -0.11]).with_camera(camera),
            0x3e13_fbf0_e9f0_b2d6,
        ),
        ("large", large, 0x7d42_f14b_0f9b_bb22),
        (
            "emccd",
            small().with_shape(defocused()).with_sigma_spread(0.1).with_camera(emccd),
            0xa03b_b706_efc5_3851,
        ),
        (
            "in depth",
            small()
                .with_shape(defocused())
                .with_heights(Heights::Structure)
                .with_stage(50.0)
                .with_drift_z(-2.5),
            0x1243_50b3_0aa9_abbb,
        ),
        (
            "own",
            small().with_own_spots(Some(12.5)).with_uniform(true).with_sigma_spread(0.1),
            0x5a92_116b_fd96_4fb6,
        ),
        ("on structures", small().with_own_spots(Some(3.0)), 0x556c_a76f_e3e6_f263),
        (
            "scmos",
            small().with_profile(SpotProfile::Integrated).with_maps(Some(maps)),
            0x8549_4f2d_fa82_2598,
        ),
    ];
    for (name, simulation, expected) in cases {
        let hash = movie_hash(simulation);
        assert_eq!(hash, expected, "{name}: {hash:#018x}");
    }
}

/// A frame and its truth are the same in whatever piece they are made, in whatever order.
#[test]
fn frames_do_not_depend_on_each_other() {
    let simulation = MovieSimulation::new(40, 32, 60).with_on_time(5.0).with_off_time(20.0);
    let whole = simulation.clone().plan().unwrap().piece(0..60).frames();
    let mut plan = simulation.plan().unwrap();
    assert_eq!(plan.piece_length(), 64);
    for frames in [0..1, 1..20, 20..20, 20..33, 40..60, 60..70, 59..60, 3..7, 7..8, 0..60] {
        let piece = plan.piece(frames.clone());
        assert_eq!(piece.truth(frames.end).count(), 0);
        assert!(frames.clone().all(|frame| piece.truth(frame).all(|spot| spot.frame == frame)));
        if frames.end <= 60 {
            assert_eq!(piece.frames(), whole.slice(ndarray::s![frames, .., ..]));
        }
    }
}

/// Pieces have a bounded number of bytes, of pixels and of events; what is beyond any bound is refused.
#[test]
fn pieces_are_bounded() {
    let length = |simulation: MovieSimulation| simulation.plan().unwrap().piece_length();
    assert_eq!(length(MovieSimulation::new(1024, 1024, 1_000_000_000)), 64);
    assert_eq!(length(MovieSimulation::new(4096, 4096, 9)), 4);
    assert_eq!(length(MovieSimulation::new(8192, 8192, 9).with_molecules(0)), 1);
    let crowd = MovieSimulation::new(64, 64, 9).with_off_time(0.1).with_molecules(400_000);
    assert!((5..12).contains(&length(crowd)));
    let bead = SimulatedBead { x: 0.0, y: 0.0, signal: 1.0 };
    let small = || MovieSimulation::new(64, 64, 9);
    for (simulation, expected) in [
        (MovieSimulation::new(65536, 65536, 1), "width × height"),
        (small().with_molecules(10_000_001), "molecules"),
        (small().with_beads(vec![bead; 1_000_001]), "beads"),
    ] {
        match simulation.plan() {
            Err(SimulationError::Parameter { name, .. }) => assert_eq!(name, expected),
            other => panic!("{expected}: {:?}", other.is_ok()),
        }
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
        let simulation = nine().with_noise(noise).with_background(810.0);
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
fn mean_inverse(spots: &fit_sim::SimulatedSpots) -> f64 {
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
    let camera =
        SimulatedCamera::default().with_baseline(500.0).with_gain(2.0).with_read_noise(3.0);
    let simulation = nine().with_signal(0.0).with_background(81.0 * 20.0).with_camera(camera);
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
        (nine().with_signal(-1.0), "photons"),
        (nine().with_background(f64::NAN), "background"),
        (nine().with_sigma(0.0..1.0), "sigma.start"),
        (nine().with_sigma(2.0..1.0), "sigma.end"),
        (nine().with_scatter(2.0), "scatter"),
        (nine().with_camera(SimulatedCamera::default().with_gain(0.0)), "gain"),
    ];
    for (simulation, expected) in bad {
        match simulation.generate(0..1) {
            Err(SimulationError::Parameter { name, .. }) => assert_eq!(name, expected),
            other => panic!("{expected}: {other:?}"),
        }
    }
    assert!(SpotSimulation::new(Size::new(2, 9)).generate(0..1).is_err());
}
