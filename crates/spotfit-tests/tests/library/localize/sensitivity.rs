//! What movies tell of their camera.

use fit_sim::MovieSimulation;
use ndarray::{Array3, Axis, Slice};
use spotfit::localize::{CameraDoubt, camera_doubts, estimate_sensitivity};
use spotfit::{Camera, Windows};

fn movie(camera: fit_sim::SimulatedCamera, unevenness: f64, seed: u64) -> Array3<u16> {
    let mut movie = MovieSimulation::new(128, 160, 30)
        .with_camera(camera)
        .with_unevenness(unevenness)
        .with_seed(seed);
    movie.molecules = movie.molecules_for(8.0);
    movie.plan().expect("a sound simulation").piece(0..30).frames()
}

/// Proves that the gain of a camera is found within 10 % over sixteen octaves of brightness of an ADU, with blinking
/// molecules, on even and uneven light, with and without EM gain.
#[test]
fn the_gain_is_found() {
    for (seed, sensitivity) in [0.25, 0.46, 1.0, 2.0, 4.0].into_iter().enumerate() {
        for (unevenness, known, em_gain) in
            [(0.5, false, None), (0.5, true, None), (0.0, true, None), (0.5, true, Some(50.0))]
        {
            let camera = fit_sim::SimulatedCamera::default()
                .with_baseline(200.0)
                .with_gain(1.0 / sensitivity)
                .with_read_noise(1.5)
                .with_em_gain(em_gain);
            let frames = movie(camera, unevenness, seed as u64);
            let camera = Camera::default()
                .with_baseline(200.0)
                .with_em_gain(em_gain)
                .with_read_noise(if known { 1.5 } else { 0.0 });
            let found = estimate_sensitivity(Windows::stack(frames.view()).into(), &camera);
            let ratio = found.unwrap_or(f64::NAN) / sensitivity;
            println!("{sensitivity} e/ADU, {unevenness}, {known}, {em_gain:?}: {ratio:.3}");
            assert!((0.9..1.1).contains(&ratio), "{sensitivity} {unevenness} {known}: {ratio}");
        }
    }
}

/// Proves that nothing is said where nothing can be known: one frame, a smoothed movie, no light, an unknown read
/// noise in dim and even light.
#[test]
fn unsound_estimates_are_not_given() {
    let camera = fit_sim::SimulatedCamera::default().with_baseline(200.0).with_read_noise(1.5);
    let frames = movie(camera, 0.5, 1);
    let known = Camera::default().with_baseline(200.0).with_read_noise(1.5);
    let estimate =
        |frames: &Array3<f32>| estimate_sensitivity(Windows::stack(frames.view()).into(), &known);
    let frames = frames.mapv(f32::from);
    assert!(estimate(&frames).is_some());
    let one = frames.slice_axis(Axis(0), Slice::from(0..1)).to_owned();
    assert_eq!(estimate(&one), None);
    let mut smooth = frames.clone();
    for x in 1..128 {
        for y in 0..160 {
            for t in 0..30 {
                smooth[(t, y, x)] = (frames[(t, y, x)] + frames[(t, y, x - 1)]) / 2.0;
            }
        }
    }
    assert_eq!(estimate(&smooth), None);
    assert_eq!(estimate(&Array3::from_elem((30, 160, 128), 200.0)), None);
    assert_eq!(estimate(&Array3::from_elem((0, 160, 128), 200.0)), None);
    assert_eq!(estimate(&Array3::from_elem((30, 5, 5), f32::NAN)), None);
    let mut dim = MovieSimulation::new(128, 160, 30).with_camera(camera).with_background(4.0);
    dim.unevenness = 0.0;
    let dim = dim.plan().expect("a sound simulation").piece(0..30).frames();
    let known = known.with_read_noise(0.0);
    assert_eq!(estimate_sensitivity(Windows::stack(dim.view()).into(), &known), None);
}

/// A movie of these molecules in a frame, each of 1000 photons and on for so many frames.
fn crowded(
    camera: fit_sim::SimulatedCamera,
    background: f64,
    molecules: f64,
    on: f64,
) -> Array3<u16> {
    let mut movie = MovieSimulation::new(128, 160, 30)
        .with_camera(camera)
        .with_background(background)
        .with_on_time(on)
        .with_seed(7);
    movie.molecules = movie.molecules_for(molecules);
    movie.plan().expect("a sound simulation").piece(0..30).frames()
}

/// Proves that a read noise that was left out is found within 10 % in dim light, with molecules that blink and with
/// EM gain, that it is no longer doubted once it is given, and that nothing is said where it does not matter.
#[test]
fn a_read_noise_that_was_left_out_is_found() {
    let mut offered = 0;
    for (background, read_noise, gain, em_gain) in [
        (0.2, 1.5, 1.0, None),
        (1.0, 1.5, 2.17, None),
        (5.0, 1.5, 1.0, None),
        (5.0, 3.0, 0.5, None),
        (1.0, 100.0, 0.1, Some(50.0)),
        (0.5, 0.0, 1.0, None),
        (5.0, 0.5, 1.0, None),
        (60.0, 1.5, 1.0, None),
        (2.0, 20.0, 0.1, Some(200.0)),
    ] {
        let camera = fit_sim::SimulatedCamera::default()
            .with_baseline(200.0)
            .with_gain(gain)
            .with_read_noise(read_noise)
            .with_em_gain(em_gain);
        let known = Camera::default()
            .with_baseline(200.0)
            .with_sensitivity(1.0 / gain)
            .with_em_gain(em_gain);
        for molecules in [0.0, 8.0] {
            let frames = crowded(camera, background, molecules, 3.0);
            let doubts =
                |camera: &Camera| camera_doubts(Windows::stack(frames.view()).into(), camera);
            let found = doubts(&known);
            println!("{background} photons, {camera:?}, {molecules}: {found:?}");
            let in_photons = read_noise / em_gain.unwrap_or(1.0);
            let light = background * if em_gain.is_some() { 2.0 } else { 1.0 };
            if in_photons.powi(2) > 0.2 * (in_photons.powi(2) + light) {
                let [CameraDoubt::ReadNoise { found }] = found[..] else {
                    panic!("{background} {read_noise}: {found:?}")
                };
                assert!((found / read_noise - 1.0).abs() < 0.1, "{found} for {read_noise}");
                offered += 1;
            } else if in_photons.powi(2) < 0.1 * (in_photons.powi(2) + 0.5 * light) {
                assert_eq!(found, [], "{background} {read_noise}");
            }
            assert_eq!(doubts(&known.with_read_noise(read_noise.max(1e-9))), []);
        }
    }
    assert!(offered >= 10, "{offered}");
}

/// Proves that a sensitivity, or an EM gain, that is off by three times or a hundred is contradicted in bright and
/// dim light, and that none that is off by less than 1.5 times is.
#[test]
fn a_wrong_gain_is_contradicted() {
    for (background, unevenness, em_gain) in
        [(50.0, 0.5, None), (50.0, 0.0, None), (3.0, 0.5, None), (20.0, 0.3, Some(100.0))]
    {
        let camera = fit_sim::SimulatedCamera::default()
            .with_baseline(200.0)
            .with_read_noise(if em_gain.is_some() { 20.0 } else { 1.5 })
            .with_em_gain(em_gain);
        let mut movie = MovieSimulation::new(128, 160, 30)
            .with_camera(camera)
            .with_background(background)
            .with_unevenness(unevenness);
        movie.molecules = movie.molecules_for(8.0);
        let frames = movie.plan().expect("a sound simulation").piece(0..30).frames();
        let known = Camera::default().with_baseline(200.0).with_em_gain(em_gain);
        for read_noise in [0.0, camera.read_noise] {
            let wrong = |sensitivity: f64, em_gain| {
                let camera = known
                    .with_read_noise(read_noise)
                    .with_sensitivity(sensitivity)
                    .with_em_gain(em_gain);
                let doubts = camera_doubts(Windows::stack(frames.view()).into(), &camera);
                println!("{background}, {unevenness}, {read_noise}, {sensitivity}: {doubts:?}");
                doubts.iter().any(|doubt| !matches!(doubt, CameraDoubt::ReadNoise { .. }))
            };
            for off in [1.0 / 1.5, 1.0, 1.5] {
                assert!(!wrong(off, em_gain), "{background} {off}");
            }
            for off in [0.01, 100.0] {
                assert!(wrong(off, em_gain), "{background} {off}");
            }
            // Where the movie tells the sensitivity, and not only between what it lies.
            if background > 10.0 || read_noise > 0.0 {
                assert!(wrong(1.0 / 3.0, em_gain) && wrong(3.0, em_gain), "{background}");
            }
            if em_gain.is_some() {
                assert!(wrong(1.0, Some(5.0)) && wrong(1.0, Some(2000.0)));
            }
        }
    }
}

/// Proves that right words are not doubted, whatever is in the movie: many molecules, long and short ones, and
/// ones that move.
#[test]
fn right_words_are_not_doubted() {
    for (background, read_noise, em_gain) in [
        (0.3, 1.5, None),
        (4.0, 0.3, None),
        (20.0, 1.5, None),
        (300.0, 6.0, None),
        (5.0, 20.0, Some(300.0)),
    ] {
        let camera = fit_sim::SimulatedCamera::default()
            .with_baseline(100.0)
            .with_read_noise(read_noise)
            .with_gain(if em_gain.is_some() { 0.1 } else { 1.0 })
            .with_em_gain(em_gain);
        let known = Camera::default()
            .with_baseline(100.0)
            .with_sensitivity(if em_gain.is_some() { 10.0 } else { 1.0 })
            .with_em_gain(em_gain)
            .with_read_noise(read_noise);
        for (molecules, on) in [(0.0, 3.0), (20.0, 2.0), (60.0, 3.0), (200.0, 3.0), (60.0, 1000.0)]
        {
            let frames = crowded(camera, background, molecules, on);
            let doubts = camera_doubts(Windows::stack(frames.view()).into(), &known);
            assert_eq!(doubts, [], "{background}, {read_noise}, {molecules}, {on}");
            // Where the read noise does not matter, nobody needs to give it.
            let photons = read_noise / em_gain.unwrap_or(1.0);
            if photons * photons < 0.05 * background {
                let known = known.with_read_noise(0.0);
                let doubts = camera_doubts(Windows::stack(frames.view()).into(), &known);
                assert_eq!(doubts, [], "{background}, {molecules}, {on}, not given");
            }
            // The whole frame moves by a pixel every other frame.
            let mut moved = frames.slice_axis(Axis(2), Slice::from(1..)).to_owned();
            for (frame, mut to) in moved.outer_iter_mut().enumerate() {
                if frame % 2 == 1 {
                    let whole = frames.index_axis(Axis(0), frame);
                    to.assign(&whole.slice_axis(Axis(1), Slice::from(..-1)));
                }
            }
            let doubts = camera_doubts(Windows::stack(moved.view()).into(), &known);
            assert_eq!(doubts, [], "{background}, {molecules}, {on}, moved");
        }
    }
}
