//! Cameras that are measured.

use fit_sim::{Maps, Random};
use ndarray::{Array2, Array3};
use spotfit::movie::Pixels;
use spotfit::steps::camera::{CameraOptions, MeasuredCamera, run};
use spotfit::steps::{Silent, Stack, StepError};
use spotfit::{Size, camera_maps};

const SIZE: (usize, usize) = (60, 50);

/// A camera with known maps.
struct Truth {
    maps: Maps,
    random: Random,
}

impl Truth {
    fn new(seed: u64) -> Self {
        let maps = Maps::simulated(Size::new(SIZE.0, SIZE.1), seed).expect("maps");
        Self { maps, random: Random::new(seed, 77) }
    }

    /// So many frames of a light, in photo-electrons, which varies by a share of it, as numbers up to `most`.
    fn frames(&mut self, count: usize, light: f64, flicker: f64, most: f64) -> Pixels {
        let (width, height) = SIZE;
        let Self { maps, random } = self;
        let mut frames = Array3::zeros((count, height, width));
        for mut frame in frames.outer_iter_mut() {
            let light = (light * (1.0 + flicker * random.normal())).max(0.0);
            for ((at, pixel), (offset, gain)) in
                frame.indexed_iter_mut().zip(maps.offset().iter().zip(maps.gain()))
            {
                let electrons = if light > 0.0 { random.poisson(light) } else { 0.0 };
                let noise = f64::from(maps.variance()[at]).sqrt() * random.normal();
                let read = f64::from(*offset) + f64::from(*gain) * electrons + noise;
                *pixel = read.round().clamp(0.0, most) as u16;
            }
        }
        Pixels::U16(frames)
    }

    fn stack(&mut self, name: &str, count: usize, light: f64) -> Stack {
        Stack::of(name, self.frames(count, light, 0.0, 65_535.0))
    }
}

/// The root mean square of errors over what they should be.
fn ratio(
    found: &Array2<f64>,
    truth: ndarray::ArrayView2<'_, f32>,
    bound: impl Fn([usize; 2]) -> f64,
) -> f64 {
    let squares: f64 = found
        .indexed_iter()
        .map(|((y, x), found)| ((found - f64::from(truth[[y, x]])) / bound([y, x])).powi(2))
        .sum();
    (squares / found.len() as f64).sqrt()
}

fn refused(found: Result<MeasuredCamera, StepError>, parts: &[&str]) {
    let error = found.expect_err("it is refused").to_string();
    parts.iter().for_each(|part| assert!(error.contains(part), "{part:?} is not in: {error}"));
}

/// Proves that offset, variance and gain are off by what so many frames allow (within 1.05 times), and that the stated errors are right.
#[test]
fn maps_are_as_right_as_frames_allow() {
    let mut truth = Truth::new(5);
    let (count, lights) = (400, [30.0, 120.0, 500.0]);
    let mut darks = truth.stack("darks", count, 0.0);
    let mut flats: Vec<Stack> =
        lights.iter().map(|&light| truth.stack("flats", count, light)).collect();
    let found = run(&CameraOptions::default(), &mut darks, &mut flats, &Silent).expect("a camera");
    let (maps, n) = (&truth.maps, count as f64);
    // Rounding to whole numbers adds to the noise.
    let variance = |at: [usize; 2]| f64::from(maps.variance()[at]) + 1.0 / 12.0;
    let rounded = maps.variance().mapv(|variance| variance + 1.0 / 12.0);
    let gain_bound = |at: [usize; 2]| {
        let gain = f64::from(maps.gain()[at]);
        let information: f64 = lights
            .iter()
            .map(|light| {
                let all = variance(at) + gain * gain * light;
                let own = 2.0 * all * all / (n - 1.0) + gain.powi(4) * light / n;
                (gain * light).powi(2) / (own + 2.0 * variance(at).powi(2) / (n - 1.0))
            })
            .sum();
        information.recip().sqrt()
    };
    let (pixels, gain) = (&found.pixels, found.pixels.gain.as_ref().expect("flats"));
    let errors = pixels.gain_error.as_ref().expect("flats");
    for (what, ratio) in [
        ("offset", ratio(&pixels.offset, maps.offset(), |at| (variance(at) / n).sqrt())),
        (
            "variance",
            ratio(&pixels.variance, rounded.view(), |at| variance(at) * (2.0 / (n - 1.0)).sqrt()),
        ),
        ("gain", ratio(gain, maps.gain(), gain_bound)),
        ("stated offset", ratio(&pixels.offset, maps.offset(), |at| pixels.offset_error[at])),
        (
            "stated variance",
            ratio(&pixels.variance, rounded.view(), |at| pixels.variance_error[at]),
        ),
        ("stated gain", ratio(gain, maps.gain(), |at| errors[at])),
    ] {
        println!("{what}: {ratio:.3}");
        // What all gains tell makes each better than its own frames do.
        let least = if what == "gain" { 0.4 } else { 0.93 };
        assert!((least..1.05).contains(&ratio), "{what}: {ratio}");
    }
    assert_eq!(found.report.dead, 0);
    assert!((found.report.gain.expect("flats") / 2.0 - 1.0).abs() < 0.01, "{}", found.report);
    assert!(
        (found.report.gain_spread.expect("flats") / 0.025 - 1.0).abs() < 0.2,
        "{}",
        found.report
    );
    let text = found.report.to_string();
    assert!(text.contains("--baseline ") && text.contains("among pixels"), "{text}");
}

/// Proves that light that flickers is taken out, and told of; and that gains without that would be wrong.
#[test]
fn flicker_is_taken_out() {
    let mut truth = Truth::new(6);
    let mut darks = truth.stack("darks", 200, 0.0);
    let mut flats = [Stack::of("flats", truth.frames(200, 2000.0, 0.03, 65_535.0))];
    let found = run(&CameraOptions::default(), &mut darks, &mut flats, &Silent).expect("a camera");
    let flat = &found.report.flats[0];
    assert!((flat.flicker / 0.03 - 1.0).abs() < 0.2, "{}", flat.flicker);
    let gain = found.report.gain.expect("flats");
    // It would be 2 · (1 + 2000 · 0.03²) = 5.6.
    assert!((gain / 2.0 - 1.0).abs() < 0.02, "{gain}");
}

/// Proves that hot and dead pixels are found, that dead ones are masked, and that files are read again as they were written.
#[test]
fn hot_and_dead_pixels_are_found_and_files_are_read_again() {
    let mut truth = Truth::new(7);
    let spoil = |mut pixels: Pixels| {
        let Pixels::U16(frames) = &mut pixels else { unreachable!("whole numbers") };
        for (number, mut frame) in frames.outer_iter_mut().enumerate() {
            frame[[3, 4]] = 77;
            frame[[10, 20]] += 800;
            // It shows no light.
            frame[[30, 40]] = 98 + (number % 5) as u16;
        }
        pixels
    };
    let mut darks = Stack::of("darks", spoil(truth.frames(150, 0.0, 0.0, 4095.0)));
    let flats = [200.0, 700.0].map(|light| spoil(truth.frames(150, light, 0.0, 4095.0)));
    let mut flats = flats.map(|flat| Stack::of("flats", flat));
    let found = run(&CameraOptions::default(), &mut darks, &mut flats, &Silent).expect("a camera");
    assert!(found.dead[[3, 4]] && found.dead[[30, 40]] && !found.dead[[10, 20]]);
    assert!(found.hot[[10, 20]]);
    assert_eq!(found.report.dead, 2);
    let map = found.map().expect("a gain");
    assert_eq!(map.masked(), 2);
    assert!(found.defects().mask()[[10, 20]] && found.defects().mask()[[3, 4]]);

    let folder = tempfile::tempdir().expect("a folder");
    let npz = folder.path().join("maps.npz");
    found.write_npz(std::fs::File::create(&npz).expect("a file")).expect("written");
    assert_eq!(camera_maps::read(&npz).expect("maps"), map);
    let hdf5 = folder.path().join("maps.hdf5");
    found.write_hdf5(std::fs::File::create(&hdf5).expect("a file")).expect("written");
    assert_eq!(camera_maps::read(&hdf5).expect("maps"), map);

    // Without flats a sensitivity makes maps; without both the file has none of the gain.
    let mut darks = truth.stack("darks", 100, 0.0);
    let options = CameraOptions::default().with_sensitivity(Some(0.5));
    let given = run(&options, &mut darks, &mut [], &Silent).expect("a camera");
    assert!(given.map().is_some() && given.report.gain == Some(2.0));
    let bare = run(&CameraOptions::default(), &mut darks, &mut [], &Silent).expect("a camera");
    assert!(bare.map().is_none());
    bare.write_npz(std::fs::File::create(&npz).expect("a file")).expect("written");
    assert!(camera_maps::read(&npz).is_err());
    let with = camera_maps::read_with(&npz, Some(0.5)).expect("maps");
    assert_eq!(with, given.map().expect("a gain"));
}

/// Proves that what cannot be measured is refused with what is wrong.
#[test]
fn what_measures_nothing_is_refused() {
    let mut truth = Truth::new(8);
    let options = CameraOptions::default();
    let mut dark = |count| truth.stack("darks", count, 0.0);
    let (mut one, mut darks, mut more) = (dark(1), dark(20), dark(20));
    refused(run(&options, &mut one, &mut [], &Silent), &["darks", "one frame"]);
    refused(run(&options, &mut darks, &mut [dark(1)], &Silent), &["one frame"]);
    let mut flats = [truth.stack("flats", 20, 300.0)];
    refused(
        run(&options, &mut flats[0], std::slice::from_mut(&mut more), &Silent),
        &["not brighter", "wrong order"],
    );
    let bright = truth.frames(20, 3000.0, 0.0, 4095.0);
    refused(
        run(&options, &mut darks, &mut [Stack::of("flats", bright)], &Silent),
        &["flats", "saturated at 4095"],
    );
    let other = Pixels::U16(Array3::from_elem((5, 8, 9), 300));
    refused(
        run(&options, &mut darks, &mut [Stack::of("flats", other)], &Silent),
        &["9×8", "60×50"],
    );
    let wild = truth.frames(20, 300.0, 0.6, 65_535.0);
    refused(run(&options, &mut darks, &mut [Stack::of("flats", wild)], &Silent), &["varies by"]);
    let nan = Pixels::F32(Array3::from_shape_fn(
        (3, 50, 60),
        |(t, ..)| if t == 1 { f32::NAN } else { 1.0 },
    ));
    refused(
        run(&options, &mut Stack::of("darks", nan), &mut [], &Silent),
        &["frame 2", "not finite"],
    );
    let sensitivity = CameraOptions::default().with_sensitivity(Some(0.5));
    refused(run(&sensitivity, &mut darks, &mut flats, &Silent), &["sensitivity"]);
    refused(run(&CameraOptions::default().with_hot(1.0), &mut darks, &mut [], &Silent), &["hot"]);
    let same = Pixels::U16(Array3::from_elem((5, 50, 60), 100));
    refused(run(&options, &mut Stack::of("darks", same), &mut [], &Silent), &["no pixel changes"]);
}

/// Proves that a camera is drawn with its maps, histograms and hot pixels, whatever its size, and without flats.
#[test]
fn cameras_are_drawn() {
    let noise =
        |t: usize, y: usize, x: usize| ((t * 7 + y * 31 + x * 17) * 2_654_435 % 97 % 9) as u16;
    for (size, light) in [((12, 14), true), ((12, 14), false), ((700, 3), false)] {
        let frames = |level: u16, spread: u16| {
            Pixels::U16(Array3::from_shape_fn((20, size.0, size.1), |(t, y, x)| match (y, x) {
                (2, 2) => 3900 + level + spread * noise(t, y, x),
                _ => level + spread * noise(t, y, x),
            }))
        };
        let mut darks = Stack::of("darks", frames(100, 1));
        let mut flats = Vec::from_iter(light.then(|| Stack::of("flats", frames(400, 3))));
        let found = run(&CameraOptions::default(), &mut darks, &mut flats, &Silent);
        let svg = found.expect("it is measured").drawing().svg();
        for (word, is_there) in [
            ("offset (ADU)", true),
            ("noise (ADU)", true),
            ("gain (ADU/e-)", light),
            (">hot<", true),
        ] {
            assert_eq!(svg.contains(word), is_there, "{word} of {size:?}");
        }
        assert!(!svg.contains("NaN"));
    }
}
