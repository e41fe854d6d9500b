//! Proves that spots have the shapes that are asked for, with the truth beside them.

use std::f64::consts::{FRAC_PI_4, TAU};

use fit_core::Size;
use fit_sim::{
    Defocus, MovieSimulation, Noise, SimulationError, SpotProfile, SpotShape, SpotSimulation,
};

fn nine(shape: SpotShape) -> SpotSimulation {
    SpotSimulation::new(Size::new(9, 9)).with_shape(shape)
}

fn astigmatic() -> SpotShape {
    SpotShape::Defocused(Defocus::default().with_cubic(0.1).with_quartic(0.05))
}

/// Proves that widths, angles and heights are uniform in their ranges and independent of each other, and that a
/// circular spot has one width.
#[test]
fn shapes_are_drawn_as_documented() {
    let n = 20_000;
    let flat = |name: &str, values: &[f64], low: f64, high: f64| {
        let mean = values.iter().sum::<f64>() / n as f64;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64;
        let width = high - low;
        assert!(values.iter().all(|v| (low..=high).contains(v)), "{name}");
        let error = 5.0 * width / (12.0 * n as f64).sqrt();
        assert!((mean - 0.5 * (low + high)).abs() < error, "{name}: {mean}");
        assert!((variance * 12.0 / width.powi(2) - 1.0).abs() < 0.04, "{name}: {variance}");
    };
    for shape in [SpotShape::Circular, SpotShape::Elliptical, SpotShape::Rotated] {
        let truth = nine(shape).generate(0..n).unwrap().truth;
        let x: Vec<f64> = truth.iter().map(|t| t.sigma_x).collect();
        let y: Vec<f64> = truth.iter().map(|t| t.sigma_y).collect();
        flat("sigma_x", &x, 1.0, 2.0);
        flat("sigma_y", &y, 1.0, 2.0);
        let covariance = x.iter().zip(&y).map(|(x, y)| (x - 1.5) * (y - 1.5)).sum::<f64>();
        let correlation = covariance * 12.0 / n as f64;
        let expected = if shape == SpotShape::Circular { 1.0 } else { 0.0 };
        assert!((correlation - expected).abs() < 0.05, "{shape:?}: {correlation}");
        for t in &truth {
            let area = t.sigma_x * t.sigma_y;
            assert!((t.shape.sigma.powi(2) / area - 1.0).abs() < 1e-14);
            assert_eq!(t.z, 0.0);
        }
        let angles: Vec<f64> = truth.iter().map(|t| t.angle).collect();
        if shape == SpotShape::Rotated {
            flat("angle", &angles, -FRAC_PI_4, FRAC_PI_4);
            assert!(angles.iter().all(|&angle| angle > -FRAC_PI_4));
        } else {
            assert!(angles.iter().all(|&angle| angle == 0.0));
        }
    }
    let truth = nine(astigmatic()).with_sigma(1.3..1.3).generate(0..n).unwrap().truth;
    let z: Vec<f64> = truth.iter().map(|t| t.z).collect();
    flat("z", &z, -500.0, 500.0);
    for t in &truth {
        let width = |z: f64| {
            let t = z / 400.0;
            1.3 * (1.0 + t * t + 0.1 * t.powi(3) + 0.05 * t.powi(4)).sqrt()
        };
        assert!((t.sigma_x - width(t.z - 200.0)).abs() < 1e-12);
        assert!((t.sigma_y - width(t.z + 200.0)).abs() < 1e-12);
        assert_eq!(t.angle, 0.0);
    }
}

/// Proves that the pixels without noise are the Gaussian of the truth, sampled, or integrated by quadrature, and that
/// the same spots come with either profile.
#[test]
fn pixels_show_the_truth() {
    let n = 40;
    for shape in [SpotShape::Circular, SpotShape::Elliptical, SpotShape::Rotated, astigmatic()] {
        let sampled = nine(shape).with_noise(Noise::None).with_background(81.0 * 3.0);
        let integrated = sampled.clone().with_profile(SpotProfile::Integrated);
        let (sampled, integrated) =
            (sampled.generate(0..n).unwrap(), integrated.generate(0..n).unwrap());
        assert_eq!(sampled.truth, integrated.truth);
        for (i, t) in sampled.truth.iter().enumerate() {
            let at = |x: f64, y: f64| {
                let (dx, dy) = (x - t.shape.x, y - t.shape.y);
                let u = t.angle.cos() * dx + t.angle.sin() * dy;
                let v = -t.angle.sin() * dx + t.angle.cos() * dy;
                let exponent = (u / t.sigma_x).powi(2) + (v / t.sigma_y).powi(2);
                400.0 / (TAU * t.sigma_x * t.sigma_y) * (-0.5 * exponent).exp()
            };
            for y in 0..9 {
                for x in 0..9 {
                    let (fx, fy) = (x as f64, y as f64);
                    let expected = 3.0 + at(fx, fy);
                    let pixel = f64::from(sampled.pixels[(i, y, x)]);
                    assert!((pixel / expected - 1.0).abs() < 1e-6, "{shape:?}: {pixel}");
                    let part = |k: usize| (k as f64 + 0.5) / 50.0 - 0.5;
                    let mut mean = 0.0;
                    for k in 0..2500 {
                        mean += at(fx + part(k % 50), fy + part(k / 50)) / 2500.0;
                    }
                    let expected = 3.0 + mean;
                    let pixel = f64::from(integrated.pixels[(i, y, x)]);
                    // The midpoint rule with parts of 0.02 pixels errs by 2·10⁻⁵ of the peak's curvature.
                    assert!((pixel / expected - 1.0).abs() < 1e-4, "{shape:?}: {pixel}");
                }
            }
        }
    }
}

/// Proves that any window of any shape can be made by itself.
#[test]
fn windows_of_every_shape_do_not_depend_on_each_other() {
    for shape in [SpotShape::Elliptical, SpotShape::Rotated, astigmatic()] {
        for profile in [SpotProfile::Sampled, SpotProfile::Integrated] {
            let simulation = nine(shape).with_profile(profile);
            let all = simulation.generate(0..30).unwrap();
            let part = simulation.generate(11..20).unwrap();
            assert_eq!(part.truth, all.truth[11..20]);
            assert_eq!(part.pixels, all.pixels.slice(ndarray::s![11..20, .., ..]));
        }
    }
}

/// Proves that each molecule and bead of a movie keeps its shape, that blinking does not depend on shapes, and that
/// frames show the spots of the truth.
#[test]
fn molecules_keep_their_shapes() {
    let circular = MovieSimulation::new(40, 32, 60)
        .with_beads(vec![fit_sim::SimulatedBead { x: 20.0, y: 15.0, signal: 5000.0 }])
        .with_noise(Noise::None)
        .with_camera(fit_sim::SimulatedCamera::default());
    let truth = |simulation: &MovieSimulation| {
        let mut plan = simulation.clone().plan().unwrap();
        let piece = plan.piece(0..60);
        let truth: Vec<_> = (0..60).flat_map(|frame| piece.truth(frame)).collect();
        (truth, piece.frames())
    };
    let (round, _) = truth(&circular);
    assert!(round.iter().all(|spot| spot.sigma_x == 1.3 && spot.shape.sigma == 1.3));
    for shape in [SpotShape::Circular, SpotShape::Rotated, astigmatic()] {
        let simulation = circular.clone().with_shape(shape).with_sigma_spread(0.2);
        let simulation = simulation.with_profile(SpotProfile::Integrated);
        let (spots, frames) = truth(&simulation);
        assert_eq!(spots.len(), round.len());
        let mut looks = std::collections::BTreeMap::new();
        for (spot, round) in spots.iter().zip(&round) {
            assert_eq!((spot.frame, spot.molecule), (round.frame, round.molecule));
            assert_eq!((spot.shape.x, spot.signal), (round.shape.x, round.signal));
            let look = [spot.sigma_x, spot.sigma_y, spot.angle, spot.z];
            assert_eq!(*looks.entry(spot.molecule).or_insert(look), look);
        }
        let widths: Vec<f64> = looks.values().map(|look| look[0]).collect();
        assert!(widths.len() > 5 && widths.iter().any(|&width| width != widths[0]));
        // The light that a frame has above its background is that of its spots, but for what falls outside.
        let background: f64 = {
            let dark = circular.clone().with_molecules(0).with_beads(Vec::new());
            truth(&dark).1.slice(ndarray::s![0..1, .., ..]).iter().map(|&p| f64::from(p)).sum()
        };
        for frame in 0..60 {
            let spots = || spots.iter().filter(|spot| spot.frame == frame);
            let inside = spots().all(|spot| {
                let reach = 3.5 * spot.sigma_x.max(spot.sigma_y);
                (reach..39.0 - reach).contains(&spot.shape.x)
                    && (reach..31.0 - reach).contains(&spot.shape.y)
            });
            let light: f64 = spots().map(|spot| spot.signal).sum();
            let image = frames.slice(ndarray::s![frame, .., ..]);
            let sum: f64 = image.iter().map(|&p| f64::from(p)).sum();
            // Frames are whole numbers: up to half a count is lost or won in a pixel, at random.
            assert!(!inside || (sum - background - light).abs() < 100.0, "{frame}: {sum} {light}");
        }
    }
}

/// Proves that curves whose widths vanish or explode are refused, wherever in the range that is, and others are not.
#[test]
fn senseless_shapes_are_named() {
    let defocus = Defocus::default();
    for (bad, expected) in [
        (defocus.with_z_range(-1.0), "z_range"),
        (defocus.with_z_range(f64::NAN), "z_range"),
        (defocus.with_focus(f64::INFINITY), "focus"),
        (defocus.with_depth(0.0), "depth"),
        (defocus.with_depth(1.0), "depth"),
        (defocus.with_cubic(1e3), "cubic"),
        (defocus.with_quartic(f64::NAN), "quartic"),
        // 1 + t² − t⁴ is zero at t = 1.27, 1 + t² + 2t³ at −1; the next is negative only between 1.1 and 1.5.
        (defocus.with_quartic(-1.0), "depth"),
        (defocus.with_cubic(2.0), "depth"),
        (defocus.with_cubic(-3.5).with_quartic(1.7), "depth"),
    ] {
        let shape = SpotShape::Defocused(bad);
        match nine(shape).generate(0..1) {
            Err(SimulationError::Parameter { name, .. }) => assert_eq!(name, expected),
            other => panic!("{expected}: {other:?}"),
        }
        assert!(MovieSimulation::new(40, 32, 1).with_shape(shape).validate().is_err());
    }
    for good in [
        defocus.with_cubic(0.2).with_quartic(-0.05),
        defocus.with_cubic(-0.4),
        defocus.with_z_range(0.0).with_focus(0.0),
        defocus.with_z_range(2000.0).with_quartic(1.0),
    ] {
        assert_eq!(nine(SpotShape::Defocused(good)).validate(), Ok(()), "{good:?}");
    }
    assert!(MovieSimulation::new(40, 32, 1).with_sigma_spread(1.0).validate().is_err());
}

/// Proves that centres are uniform within their reach of the window's centre, and that a reach beyond its range is
/// refused.
#[test]
fn centres_keep_within_their_reach() {
    let simulation = SpotSimulation::new(Size::new(9, 7)).with_reach(Some(0.5));
    let truth = simulation.generate(0..20_000).expect("a sound simulation").truth;
    for (centre, middle) in [
        (truth.iter().map(|spot| spot.shape.x).collect::<Vec<f64>>(), 4.0),
        (truth.iter().map(|spot| spot.shape.y).collect(), 3.0),
    ] {
        assert!(centre.iter().all(|at| (at - middle).abs() <= 0.5));
        let variance = centre.iter().map(|at| (at - middle).powi(2)).sum::<f64>() / 20_000.0;
        assert!((variance * 12.0 - 1.0).abs() < 0.03, "{variance}");
    }
    let wrong = SpotSimulation::new(Size::new(9, 7)).with_reach(Some(f64::NAN)).validate();
    assert!(wrong.is_err_and(|error| error.to_string().contains("reach")));
}
