//! Threads: what is found does not depend on how many there are, nor on what they search side by side.

use std::io::Cursor;

use fit_sim::MovieSimulation;
use ndarray::{Array3, Axis};
use spotfit::localize::{Emitters, LocalizeOptions, Localizer, Positions, Roi};
use spotfit::movie::{Block, Movie, MovieLimits, Pixels};
use spotfit::{Camera, Estimator, FitterOptions, Options};

/// Dim light, in which spots blink.
fn movie((width, height): (usize, usize), frames: usize, spots: f64) -> Array3<u16> {
    let camera = fit_sim::SimulatedCamera::default().with_baseline(100.0).with_read_noise(1.5);
    let movie = MovieSimulation::new(width, height, frames)
        .with_uniform(true)
        .with_own_spots(Some(spots))
        .with_camera(camera);
    movie.plan().expect("a sound simulation").piece(0..frames).frames()
}

/// All that is said of a movie, to the last bit: its localizations, and what became of the others. A stream has blocks of any number of
/// frames: those that are there when it is asked.
fn streamed(frames: &Array3<u16>, options: &LocalizeOptions) -> String {
    let (_, height, width) = frames.dim();
    let bytes: Vec<u8> = frames.iter().flat_map(|pixel| pixel.to_le_bytes()).collect();
    let format = format!("{width}x{height}:u16").parse().expect("a format");
    let movie = Movie::stream(Cursor::new(bytes), Some(format), &MovieLimits::default());
    let localizer = Localizer::new((width, height), options.clone()).expect("sound options");
    let mut found = localizer.localize(movie.expect("a stream"), ..).expect("threads");
    let all: Vec<_> = found.by_ref().flat_map(|found| found.expect("localizations")).collect();
    format!("{all:#?}\n{:#?}\n{:?}", found.counts(), found.doubts().full_scale)
}

/// The same of frames that come one by one, or all at once.
fn processed(frames: &Array3<u16>, options: &LocalizeOptions, each: usize) -> String {
    let (_, height, width) = frames.dim();
    let mut localizer = Localizer::new((width, height), options.clone()).expect("sound options");
    let mut all = Vec::new();
    for (number, frames) in frames.axis_chunks_iter(Axis(0), each).enumerate() {
        let block = Block { first: number * each, pixels: Pixels::U16(frames.to_owned()) };
        all.extend(localizer.process(&block).expect("localizations"));
    }
    all.extend(localizer.finish().expect("localizations"));
    localizer.leave_out_positions(0..frames.dim().0);
    format!("{all:#?}\n{:#?}\n{:?}", localizer.counts(), localizer.full_scale())
}

/// Proves that 1, 2, 3 and 8 threads find the same to the last bit, in blocks that are searched side by side and in bands of one frame:
/// in small frames, in one so high that its bands have seams, in a part of it, at given positions, in crowds and with a background over
/// time, with all flags and errors.
#[test]
fn any_number_of_threads_finds_the_same() {
    let camera = Camera::default().with_baseline(100.0).with_read_noise(1.5);
    let likely = Options::default().with_estimator(Estimator::MaximumLikelihood);
    let plain = LocalizeOptions::default()
        .with_camera(camera)
        .with_checks(true)
        .with_errors(true)
        .with_saturation(Some(65535.0));
    let with_fit = |fit: Options| plain.clone().with_fitter(FitterOptions::from(fit));
    let mut positions = Positions::default();
    for (frame, x, y) in [(0, 20.2, 30.4), (3, 4.0, 5.0), (3, 4.5, 5.0), (1, 40.0, 600.0)] {
        positions.push(frame, x, y);
    }
    for (frame, row) in (4..12).flat_map(|frame| (0..5).map(move |row| (frame, row))) {
        positions.push(frame, 20.0, 99.0 + 180.0 * f64::from(row));
    }
    positions.push(99, 5.0, 5.0);
    let (small, high) = ((64, 48), (70, 1000));
    let roi = Roi { x: 9, y: 200, width: 50, height: 400 };
    let crowded = plain.clone().with_emitters(Emitters::Auto).with_usual_sigma(Some(1.3));
    for (what, options, size, frames, spots) in [
        ("small frames", plain.clone(), small, 40, 6.0),
        ("a high frame", plain.clone(), high, 3, 150.0),
        ("a part of it", plain.clone().with_roi(Some(roi)), high, 3, 150.0),
        ("positions", plain.clone().with_positions(Some(positions)), high, 12, 50.0),
        ("crowds", crowded.with_fitter(FitterOptions::from(likely)), small, 12, 12.0),
        (
            "a background over time",
            with_fit(likely).with_temporal_background(Some(3)),
            high,
            5,
            90.0,
        ),
    ] {
        let frames = movie(size, frames, spots);
        let mut expected = None;
        for threads in [1, 2, 3, 8] {
            let fitter = options.fitter.clone().with_threads(threads);
            let options = options.clone().with_fitter(fitter);
            let mut all = vec![streamed(&frames, &options), processed(&frames, &options, 1)];
            all.push(processed(&frames, &options, frames.dim().0));
            let expected = expected.get_or_insert_with(|| all[0].clone());
            assert!(expected.matches("uncertainty_x").count() > 15, "{what}: {expected}");
            for (way, all) in all.iter().enumerate() {
                let differs =
                    all.lines().zip(expected.lines()).position(|(one, other)| one != other);
                assert!(all == expected, "{what}, {threads} threads, way {way}: line {differs:?}");
            }
        }
    }
}
