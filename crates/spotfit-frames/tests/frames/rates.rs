//! How many false spots there are, and the thresholds that this takes.

use fit_core::Camera;
use fit_sim::Random;
use ndarray::Array2;
use rayon::prelude::*;
use spotfit_frames::detect::{Candidate, Detector};

use crate::is_nightly;

/// Pixels along the sides of frames.
const SIDE: usize = 256;

/// How many false spots there are in a million pixels where there is room for a window, in frames of this many photons a
/// pixel and nothing else.
fn false_spots(
    detector: &Detector,
    box_size: usize,
    photons: f64,
    camera: &Camera,
    frames: u64,
) -> f64 {
    let (width, height, margin) = (SIDE, SIDE, box_size / 2);
    let gain = 1.0 / camera.photons_per_adu();
    let read_noise = camera.read_noise / camera.em_gain.unwrap_or(1.0);
    let search = |seed: u64| {
        let mut random = Random::new(seed, 0);
        let frame = Array2::from_shape_fn((height, width), |_| {
            let light = random.poisson(photons);
            let light = if camera.em_gain.is_some() { random.gamma(light) } else { light };
            (camera.baseline + gain * (light + read_noise * random.normal())).round() as f32
        });
        let inside = |c: &&Candidate| {
            (margin..width - margin).contains(&c.x) && (margin..height - margin).contains(&c.y)
        };
        detector.detect(frame.view()).unwrap().iter().filter(inside).count()
    };
    let found: usize = (0..frames).into_par_iter().map(search).sum();
    let pixels = (width - 2 * margin) * (height - 2 * margin) * frames as usize;
    1e6 * found as f64 / pixels as f64
}

/// Proves that the stated rate of false spots holds within a factor of 2: in dim and bright light, with and without read
/// noise and EM gain, whatever an ADU is, for narrow and wide windows.
#[test]
fn false_spots_are_as_rare_as_stated() {
    let camera = Camera::default().with_baseline(100.0);
    let noisy = camera.with_read_noise(1.5);
    let em = Some(100.0);
    // Of each rate more than a hundred spots are expected, whose number scatters by 10 %. Lower rates need as many more frames.
    let rates: &[(f64, u64)] =
        if is_nightly() { &[(30.0, 60), (300.0, 20)] } else { &[(300.0, 6)] };
    for (box_size, photons, camera) in [
        (5, 20.0, noisy),
        (7, 0.5, noisy),
        (7, 2.0, camera),
        (7, 20.0, noisy),
        (7, 20.0, noisy.with_sensitivity(0.25)),
        (7, 20.0, camera.with_sensitivity(5.0).with_em_gain(em).with_read_noise(30.0)),
        (7, 2000.0, noisy),
        (13, 20.0, noisy),
    ] {
        let detector = Detector::new(SIDE, SIDE, box_size, 7.0).unwrap();
        for &(rate, frames) in rates {
            let detector = detector.clone().with_false_rate(rate, &camera).unwrap();
            let found = false_spots(&detector, box_size, photons, &camera, frames);
            println!("box {box_size}, {photons} photons, {camera:?}: {found:.0} for {rate}");
            assert!((0.5..2.0).contains(&(found / rate)), "{box_size} {photons}: {found}, {rate}");
        }
    }
}

/// Proves that the threshold falls with the rate and with the light, towards that of a normal distribution.
#[test]
fn thresholds_follow_the_light() {
    let camera = Camera::default().with_sensitivity(0.5);
    let of = |rate: f64, camera: &Camera| {
        Detector::new(64, 64, 7, 7.0).unwrap().with_false_rate(rate, camera).unwrap()
    };
    let rare = of(1.0, &camera);
    let noises = [0.0, 1.0, 4.0, 16.0, 64.0, 1e9];
    for pair in noises.windows(2) {
        let (dim, bright) = (rare.threshold(pair[0]), rare.threshold(pair[1]));
        assert!(dim > bright && bright > 4.5 && dim < 50.0, "{pair:?}: {dim}, {bright}");
        assert!(of(100.0, &camera).threshold(pair[1]) < bright - 0.7);
        // EM gain makes the tail longer.
        let multiplied = camera.with_em_gain(Some(1.0));
        assert!(of(1.0, &multiplied).threshold(pair[1]) > bright);
    }
    // Read noise is normally distributed.
    let read = camera.with_read_noise(20.0);
    let normal = rare.threshold(1e9);
    assert!((of(1.0, &read).threshold(40.0) - normal).abs() < 0.01);
    for camera in [camera, camera.with_sensitivity(f64::NAN)] {
        for rate in [0.0, -1.0, 1e5, f64::NAN] {
            assert!(Detector::new(64, 64, 7, 7.0).unwrap().with_false_rate(rate, &camera).is_err());
        }
    }
}
