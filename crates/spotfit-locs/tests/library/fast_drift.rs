//! Drift that shakes faster than the bins of a smooth curve: found, or stated.

use fit_sim::Random;
use spotfit_locs::drift::{Drift, DriftInput, DriftOptions};

const FRAMES: u32 = 2000;
const PRECISION: f64 = 9.0;
/// Frames of a period: about those of a bin of the curve whose smoothness is chosen, so that all these bins have the same mean.
const PERIOD: f64 = 16.0;

/// The root mean square, the mean aside or not.
fn rms(values: &[f64], aside: bool) -> f64 {
    let count = values.len() as f64;
    let mean = if aside { values.iter().sum::<f64>() / count } else { 0.0 };
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt()
}

/// What is left of a shake by 25 nm along x and so much along y, and what is stated, for both axes: of places that are seen again and
/// again, five a frame.
fn shaken(along_y: f64, knots: Option<u32>) -> [[f64; 2]; 2] {
    let mut random = Random::new(10, 9);
    let places = [(); 80].map(|()| [(); 2].map(|()| 5000.0 * random.uniform()));
    let shake = |frame: u32| {
        let phase = std::f64::consts::TAU * f64::from(frame) / PERIOD;
        [25.0 * (phase + 1.0).sin(), along_y * (phase + 2.2).sin()]
    };
    let frames: Vec<u32> = (0..5 * FRAMES).map(|row| row / 5).collect();
    let (mut x, mut y) = (vec![], vec![]);
    for &frame in &frames {
        let place = places[(80.0 * random.uniform()) as usize];
        let moved = shake(frame);
        x.push(place[0] + moved[0] + PRECISION * random.normal());
        y.push(place[1] + moved[1] + PRECISION * random.normal());
    }
    let table = DriftInput {
        frames: &frames,
        x: &x,
        y: &y,
        z: None,
        uncertainty: None,
        uncertainty_z: None,
    };
    let options = DriftOptions::new(PRECISION, 3.0 * PRECISION).with_knots(knots);
    let drift = Drift::estimate(&table, FRAMES, &options).expect("places seen again and again");
    let of = |axis: usize, found: &[f64], errors: &[f64]| {
        let off: Vec<f64> = (0..).zip(found).map(|(at, of)| of - shake(at)[axis]).collect();
        [rms(&off, true), rms(errors, false)]
    };
    let found = [of(0, &drift.x, &drift.x_error), of(1, &drift.y, &drift.y_error)];
    println!("y {along_y} nm, knots {knots:?}: left and stated {found:.2?} nm");
    found
}

/// Proves that a shake is found that has no mean in bins of a smooth curve, and that what is left of it is stated.
#[test]
fn shakes_are_found() {
    for [left, stated] in shaken(18.0, None) {
        assert!(left < 5.0 && left < 1.5 * stated && stated < 1.5 * left, "{left} and {stated}");
    }
}

/// Proves that a shake along x alone is found, and that along y nothing is invented.
#[test]
fn shakes_along_one_axis_are_found() {
    for [left, stated] in shaken(0.0, None) {
        assert!(left < 5.0 && left < 1.5 * stated, "{left} and {stated}");
    }
}

/// Proves that knots too far apart to follow a shake state it as their error.
#[test]
fn shakes_between_knots_are_stated() {
    for [left, stated] in shaken(18.0, Some(125)) {
        assert!(left > 10.0 && left < 1.5 * stated && stated < 1.5 * left, "{left} and {stated}");
    }
}
