//! The background over time: what it does not depend on, and where there is none. How good it is stands in `analysis`.

use std::ops::Range;

use fit_sim::recipes::{FrameRecipe, MovieRecipe};
use ndarray::{Array3, ArrayView3, Axis, Slice};
use spotfit::localize::{Localization, LocalizeOptions, Localizer};
use spotfit::movie::{Block, Pixels};
use spotfit::{Camera, Estimator, FitterOptions, Options};

const SIZE: (usize, usize) = (24, 20);
/// The name of the option.
const NAME: &str = "temporal_background";

/// A movie in haze.
fn hazy(frames: usize, haze: f64) -> Array3<u16> {
    let frame = FrameRecipe::default().with_width(SIZE.0).with_height(SIZE.1);
    let recipe = MovieRecipe::default().with_frame(frame).with_frames(frames).with_haze(haze);
    let simulation = recipe.with_spots(1.0).simulation().expect("a sound recipe");
    simulation.plan().expect("a sound simulation").piece(0..frames).frames()
}

fn options(window: usize) -> LocalizeOptions {
    let camera = Camera::default().with_baseline(100.0).with_read_noise(1.5);
    let fit = Options::default().with_estimator(Estimator::MaximumLikelihood);
    LocalizeOptions::default()
        .with_camera(camera)
        .with_fitter(FitterOptions::from(fit))
        .with_temporal_background(Some(window))
}

fn block(first: usize, frames: ArrayView3<'_, u16>) -> Block {
    Block { first, pixels: Pixels::U16(frames.to_owned()) }
}

/// All localizations of a movie that comes in blocks of so many frames.
fn localized(movie: &Array3<u16>, options: &LocalizeOptions, each: usize) -> Vec<Localization> {
    let mut localizer = Localizer::new(SIZE, options.clone()).expect("sound options");
    let mut all = Vec::new();
    for (number, frames) in movie.axis_chunks_iter(Axis(0), each).enumerate() {
        let found = localizer.process(&block(number * each, frames));
        all.extend(found.expect("localizations"));
    }
    all.extend(localizer.finish().expect("localizations"));
    assert_eq!(localizer.counts().frames, movie.dim().0);
    all
}

/// Proves that localizations depend neither on the blocks of a movie nor on the number of threads, and that a localizer can be given
/// another movie afterwards.
#[test]
fn blocks_and_threads_do_not_matter() {
    let movie = hazy(90, 200.0);
    let options = options(31);
    let all = localized(&movie, &options, 90);
    assert!(all.len() > 20, "{}", all.len());
    for each in [1, 13, 40] {
        assert_eq!(localized(&movie, &options, each), all, "{each}");
    }
    let fitter = options.fitter.clone().with_threads(3);
    let options = options.with_fitter(fitter);
    assert_eq!(localized(&movie, &options, 13), all);
    let mut localizer = Localizer::new(SIZE, options).expect("sound options");
    for _ in 0..2 {
        let mut found = localizer.process(&block(0, movie.view())).expect("localizations");
        found.extend(localizer.finish().expect("localizations"));
        let places = |spots: &[Localization]| -> Vec<(usize, f64, f64)> {
            spots.iter().map(|spot| (spot.frame, spot.x, spot.y)).collect()
        };
        assert_eq!(places(&found), places(&all));
    }
}

/// Proves that windows out of their range, movies that are too short, and frames out of order or of another type are refused by name.
#[test]
fn senseless_windows_are_refused() {
    for window in [0, 1, 2, usize::MAX] {
        let error = Localizer::new(SIZE, options(window)).expect_err("refused").to_string();
        assert!(error.starts_with(NAME) && error.contains("3 to "), "{error}");
    }
    let movie = hazy(5, 0.0);
    let mut localizer = Localizer::new(SIZE, options(31)).expect("sound options");
    let part =
        |frames: Range<usize>| block(frames.start, movie.slice_axis(Axis(0), Slice::from(frames)));
    let mut refused = |block: &Block, what: &str| {
        localizer.process(&part(0..2)).expect("frames that wait");
        let error = localizer.process(block).expect_err("refused").to_string();
        assert!(error.starts_with(what), "{error}");
    };
    refused(&part(3..4), "first");
    refused(&Block { first: 2, pixels: Pixels::F32(movie.mapv(f32::from)) }, "frames");
    localizer.process(&part(0..2)).expect("frames that wait");
    let error = localizer.finish().expect_err("refused").to_string();
    assert!(error.starts_with(NAME) && error.contains("2 frames"), "{error}");
}
