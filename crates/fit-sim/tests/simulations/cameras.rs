//! Proves that EMCCD and sCMOS cameras have the noise that their documentation says.

use fit_core::{Corner, Size};
use fit_sim::{Maps, MovieSimulation, Noise, SimulatedCamera, SimulationError, SpotSimulation};
use ndarray::{Array2, s};

/// Windows of even light, `expected` photo-electrons in each pixel.
fn even(expected: f64) -> SpotSimulation {
    SpotSimulation::new(Size::new(9, 9)).with_signal(0.0).with_background(81.0 * expected)
}

fn mean_and_variance(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let n = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / n;
    (mean, values.map(|value| (value - mean).powi(2)).sum::<f64>() / n)
}

/// Proves mean and variance of EMCCD counts: the register doubles the photons' variance, the read noise comes after it.
#[test]
fn em_gain_doubles_the_variance() {
    for (photons, em_gain, gain, read_noise) in
        [(20.0, 300.0, 0.1, 40.0), (2.0, 100.0, 0.5, 0.0), (1000.0, 50.0, 1.0, 10.0)]
    {
        let camera = SimulatedCamera::default()
            .with_baseline(5000.0)
            .with_gain(gain)
            .with_read_noise(read_noise)
            .with_em_gain(Some(em_gain));
        let pixels = even(photons).with_camera(camera).generate(0..3000).unwrap().pixels;
        let (mean, variance) = mean_and_variance(pixels.iter().map(|&pixel| f64::from(pixel)));
        let expected = 2.0 * photons * (em_gain * gain).powi(2) + (read_noise * gain).powi(2);
        let expected = expected + 1.0 / 12.0;
        let error = 5.0 * (expected / pixels.len() as f64).sqrt();
        let level = 5000.0 + photons * em_gain * gain;
        assert!((mean - level).abs() < error, "{mean}, not {level}");
        assert!((variance / expected - 1.0).abs() < 0.03, "{variance}, not {expected}");
    }
}

/// Proves that no electron gives no light after the register, and that a gain of 1 is noisier than none.
#[test]
fn em_gain_makes_nothing_of_nothing() {
    let camera = SimulatedCamera::default().with_em_gain(Some(1.0));
    let dark = even(0.0).with_camera(camera).generate(0..10).unwrap();
    assert!(dark.pixels.iter().all(|&pixel| pixel == 0.0));
    let light = even(100.0).with_camera(camera).generate(0..1000).unwrap().pixels;
    let (_, variance) = mean_and_variance(light.iter().map(|&pixel| f64::from(pixel)));
    assert!((variance / 200.0 - 1.0).abs() < 0.03, "{variance}");
}

/// Proves that simulated maps are distributed as documented, hot pixels included, and that the seed decides.
#[test]
fn maps_look_like_those_of_a_camera() {
    let maps = Maps::simulated(Size::new(400, 500), 3).unwrap();
    assert_eq!(maps.offset().dim(), (500, 400));
    let (mean, variance) = mean_and_variance(maps.offset().iter().map(|&v| f64::from(v)));
    assert!((mean - 100.0).abs() < 0.03 && (variance - 4.0).abs() < 0.08, "{mean} {variance}");
    let (mean, variance) = mean_and_variance(maps.gain().iter().map(|&v| f64::from(v)));
    assert!((mean - 2.0).abs() < 1e-3 && (variance.sqrt() - 0.05).abs() < 5e-4, "{variance}");
    let mut noise: Vec<f64> = maps
        .variance()
        .iter()
        .zip(maps.gain())
        .map(|(&v, &g)| f64::from(v).sqrt() / f64::from(g))
        .collect();
    noise.sort_by(f64::total_cmp);
    let quantile = |share: f64| noise[(share * noise.len() as f64) as usize];
    // One in a hundred is above all others, so that the median of the rest is at 0.495.
    assert!((quantile(0.495) - 1.2).abs() < 0.01, "{}", quantile(0.495));
    let hot = noise.iter().filter(|&&r| r > 4.0).count() as f64 / noise.len() as f64;
    let expected = 0.01 * (30.0f64 / 4.0).ln() / 10.0f64.ln();
    assert!((hot - expected).abs() < 0.001, "{hot}, not {expected}");
    assert!(noise.last().is_some_and(|&worst| worst > 20.0 && worst < 30.1));
    assert_ne!(maps, Maps::simulated(Size::new(400, 500), 4).unwrap());
    // A row does not depend on those below.
    let part = Maps::simulated(Size::new(400, 20), 3).unwrap();
    assert_eq!(part.variance(), maps.variance().slice(s![..20, ..]));
}

/// Proves mean and variance of each pixel of a map by frames of even light, whatever the camera says besides.
#[test]
fn every_pixel_reads_by_its_map() {
    let maps = Maps::simulated(Size::new(24, 16), 8).unwrap();
    let frames = 6000;
    let simulation = MovieSimulation::new(24, 16, frames)
        .with_molecules(0)
        .with_background(30.0)
        .with_unevenness(0.0)
        .with_camera(SimulatedCamera::default().with_baseline(7.0).with_gain(99.0))
        .with_maps(Some(maps.clone()));
    let mut plan = simulation.plan().unwrap();
    let movie = plan.piece(0..frames).frames();
    let (mut ratios, mut expected_variances) = (Vec::new(), Vec::new());
    for y in 0..16 {
        for x in 0..24 {
            let at = |map: ndarray::ArrayView2<'_, f32>| f64::from(map[(y, x)]);
            let (offset, gain) = (at(maps.offset()), at(maps.gain()));
            let expected = 30.0 * gain * gain + at(maps.variance()) + 1.0 / 12.0;
            let pixel = movie.slice(s![.., y, x]);
            let (mean, variance) = mean_and_variance(pixel.iter().map(|&p| f64::from(p)));
            let error = 5.0 * (expected / frames as f64).sqrt();
            assert!((mean - offset - 30.0 * gain).abs() < error, "({x}, {y}): {mean}");
            // The standard deviation of a sample variance is √(2/n) of it, or 1.8 %.
            assert!((variance / expected - 1.0).abs() < 0.1, "({x}, {y}): {variance}");
            ratios.push(variance / expected);
            expected_variances.push(expected);
        }
    }
    let (mean, _) = mean_and_variance(ratios.into_iter());
    assert!((mean - 1.0).abs() < 0.005, "{mean}");
    // The test sees hot pixels, too.
    assert!(expected_variances.iter().any(|&v| v > 150.0));
}

/// Proves that each window is read out through the map at its corner, that corners are spread evenly over the whole
/// map, and that they and the windows do not depend on what else is made.
#[test]
fn windows_lie_at_their_corners() {
    let maps = Maps::simulated(Size::new(30, 20), 2).unwrap();
    let size = Size::new(9, 7);
    let simulation = SpotSimulation::new(size)
        .with_noise(Noise::None)
        .with_background(0.0)
        .with_signal(1e5)
        .with_sigma(2.0..2.0);
    // Without variance and photon noise the counts are exact.
    let quiet = Array2::zeros((20, 30));
    let map = Maps::new(maps.offset().to_owned(), maps.gain().to_owned(), quiet).unwrap();
    let ideal = simulation.generate(0..2000).unwrap();
    let real = simulation.clone().with_maps(Some(map.clone())).generate(0..2000).unwrap();
    assert_eq!((&ideal.corners, &ideal.truth), (&None, &real.truth));
    let corners = real.corners.as_ref().expect("corners");
    Corner::validate(corners, size, 1, Size::new(30, 20)).expect("all are inside");
    for ((window, electrons), corner) in
        real.pixels.outer_iter().zip(ideal.pixels.outer_iter()).zip(corners)
    {
        for ((y, x), &pixel) in window.indexed_iter() {
            let at = (corner.y as usize + y, corner.x as usize + x);
            let expected = map.offset()[at] + map.gain()[at] * electrons[(y, x)];
            assert!((pixel - expected).abs() < 0.51 + 1e-6 * expected, "{pixel} {expected}");
        }
    }
    for (coordinate, places) in [(0, 22), (1, 14)] {
        let mut counts = vec![0u32; places];
        for corner in corners {
            counts[[corner.x, corner.y][coordinate] as usize] += 1;
        }
        let mean = 2000.0 / places as f64;
        let chi2 = counts.iter().map(|&c| (f64::from(c) - mean).powi(2) / mean).sum::<f64>();
        let freedom = (places - 1) as f64;
        assert!((chi2 - freedom).abs() < 5.0 * (2.0 * freedom).sqrt(), "{counts:?}");
    }
    let noisy = simulation.with_noise(Noise::Poisson).with_maps(Some(maps));
    let all = noisy.generate(0..50).unwrap();
    let part = noisy.generate(13..29).unwrap();
    assert_eq!(part.pixels, all.pixels.slice(s![13..29, .., ..]));
    assert_eq!(part.corners.unwrap(), all.corners.unwrap()[13..29]);
}

/// Proves that frames of an EMCCD and of an sCMOS camera are the same in whatever piece they are made.
#[test]
fn frames_of_these_cameras_do_not_depend_on_each_other() {
    let movie = || MovieSimulation::new(40, 32, 20).with_molecules(500);
    let maps = Maps::simulated(Size::new(40, 32), 5).unwrap();
    let emccd = SimulatedCamera::default().with_em_gain(Some(300.0));
    for simulation in [movie().with_camera(emccd), movie().with_maps(Some(maps))] {
        let whole = simulation.clone().plan().unwrap().piece(0..20).frames();
        let part = simulation.plan().unwrap().piece(7..15).frames();
        assert_eq!(part, whole.slice(s![7..15, .., ..]));
    }
}

/// Proves that senseless maps and gains are named, with the pixel.
#[test]
fn senseless_cameras_are_named() {
    for em_gain in [0.0, 0.5, -3.0, f64::NAN, f64::INFINITY, 1e7] {
        let simulation =
            even(1.0).with_camera(SimulatedCamera::default().with_em_gain(Some(em_gain)));
        match simulation.generate(0..1) {
            Err(SimulationError::Parameter { name, .. }) => assert_eq!(name, "em_gain"),
            other => panic!("{em_gain}: {other:?}"),
        }
    }
    let map = |value: f32| Array2::from_elem((10, 12), value);
    let with = |value: f32| {
        let mut map = map(2.0);
        map[(7, 3)] = value;
        map
    };
    for (maps, expected) in [
        (Maps::new(with(f32::NAN), map(1.0), map(1.0)), "offset"),
        (Maps::new(map(1.0), with(0.0), map(1.0)), "gain"),
        (Maps::new(map(1.0), with(-2.0), map(1.0)), "gain"),
        (Maps::new(map(1.0), with(f32::INFINITY), map(1.0)), "gain"),
        (Maps::new(map(1.0), map(1.0), with(-1.0)), "variance"),
        (Maps::new(map(1.0), map(1.0), with(f32::NAN)), "variance"),
    ] {
        match maps {
            Err(SimulationError::MapPixel { map, x: 3, y: 7, .. }) => assert_eq!(map, expected),
            other => panic!("{expected}: {other:?}"),
        }
    }
    let other = || Array2::from_elem((12, 10), 1.0f32);
    let told = Maps::new(map(1.0), map(1.0), other()).unwrap_err().to_string();
    assert_eq!(
        told,
        "the camera's map 'variance' has 10×12 pixels (width×height); 12×10 are needed"
    );
    assert!(Maps::new(map(1.0), other(), map(1.0)).is_err());
    let maps = Maps::new(map(1.0), map(1.0), map(1.0)).unwrap();
    let wide = SpotSimulation::new(Size::new(13, 9)).with_maps(Some(maps.clone()));
    assert!(matches!(wide.generate(0..1), Err(SimulationError::MapSize { .. })));
    let fits = SpotSimulation::new(Size::new(12, 10)).with_maps(Some(maps.clone()));
    assert_eq!(fits.generate(0..1).unwrap().corners, Some(vec![Corner::default()]));
    let movie = MovieSimulation::new(12, 11, 1).with_maps(Some(maps));
    assert!(matches!(movie.validate(), Err(SimulationError::MapSize { .. })));
    for size in [Size::new(2, 9), Size::new(9, 70_000), Size::new(65_536, 65_536)] {
        let maps = Maps::simulated(size, 1);
        assert!(matches!(maps, Err(SimulationError::Parameter { name: "camera_size", .. })));
    }
}
