use fit_sim::MovieSimulation;
use fit_sim::recipes::{FrameRecipe, MovieRecipe};
use fit_windows::Windows;
use ndarray::{Array3, Axis, Slice};

use super::*;

const SIZE: (usize, usize) = (24, 20);

/// A movie in haze.
fn hazy(frames: usize, haze: f64) -> Array3<u16> {
    let frame = FrameRecipe::default().with_width(SIZE.0).with_height(SIZE.1);
    let recipe = MovieRecipe::default().with_frame(frame).with_frames(frames).with_haze(haze);
    let simulation: MovieSimulation = recipe.with_spots(1.0).simulation().expect("a sound recipe");
    simulation.plan().expect("a sound simulation").piece(0..frames).frames()
}

/// The median of counts, as grouped data, by its definition.
fn grouped(mut counts: Vec<u16>) -> f64 {
    counts.sort_unstable();
    let half = counts.len() as f64 / 2.0;
    let [low, high] = [(counts.len() - 1) / 2, counts.len() / 2].map(|at| f64::from(counts[at]));
    let below = counts.iter().filter(|&&count| f64::from(count) < low).count() as f64;
    let equal = counts.iter().filter(|&&count| f64::from(count) == low).count() as f64;
    if low == high { low - 0.5 + (half - below) / equal } else { 0.5 * (low + high) }
}

/// Proves that the light that is known of every frame is that of the definition: medians of windows an eighth of a window apart,
/// interpolated, however long the movie is and in whatever blocks it comes; and that no frame is missing or comes twice.
#[test]
fn known_light_is_that_of_the_definition() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
    let camera = Camera::default();
    let map = map_of(&camera, SIZE).expect("a sound camera");
    let movie = hazy(70, 300.0);
    for (count, window) in [(70, 17), (70, 16), (70, 3), (18, 17), (17, 17), (10, 17), (9, 40)] {
        let movie = movie.slice_axis(Axis(0), Slice::from(..count));
        let length = (window | 1).min(count);
        let step = (window / OVERLAP).max(1);
        let mut starts: Vec<usize> = (0..=count - length).step_by(step).collect();
        if starts.last() != Some(&(count - length)) {
            starts.push(count - length);
        }
        let middles: Vec<f64> = starts.iter().map(|start| (start + length / 2) as f64).collect();
        let expected = |frame: usize, y: usize, x: usize| {
            let at = |start: usize| {
                let window = movie.slice_axis(Axis(0), Slice::from(start..start + length));
                grouped(window.outer_iter().map(|frame| frame[(y, x)]).collect())
            };
            let after = middles.partition_point(|&middle| middle < frame as f64);
            match after {
                0 => at(starts[0]),
                _ if after == starts.len() => at(starts[after - 1]),
                _ => {
                    let weight =
                        (frame as f64 - middles[after - 1]) / (middles[after] - middles[after - 1]);
                    at(starts[after - 1]) * (1.0 - weight) + at(starts[after]) * weight
                }
            }
        };
        for block in [1, 7, 70] {
            let mut temporal = Temporal::new(window, SIZE);
            let mut seen = 0;
            let mut look = |temporal: &mut Temporal, ended: bool| {
                while let Some(part) = temporal.ready(ended, 2) {
                    let known = temporal.known(&part, &camera, &map, &pool).expect("known");
                    let (frames, _) = temporal.frames(&part, &known).expect("held");
                    assert_eq!((part.start, frames.count()), (seen, part.len()));
                    for frame in part.clone() {
                        let light = known.of_frame(frame - part.start);
                        let all =
                            Array2::from_shape_fn((SIZE.1, SIZE.0), |(y, x)| expected(frame, y, x));
                        let least = all.iter().copied().fold(f64::INFINITY, f64::min);
                        for (found, expected) in light.iter().zip(&all) {
                            let off = f64::from(*found) - (expected - least);
                            assert!(off.abs() < 1e-2, "{count}, {window}: frame {frame}: {off}");
                        }
                    }
                    seen = part.end;
                    temporal.done(part.end);
                }
            };
            for (number, frames) in movie.axis_chunks_iter(Axis(0), block).enumerate() {
                let frames = Windows::stack(frames).into();
                temporal.push(number * block, frames, &pool).expect("frames in order");
                look(&mut temporal, false);
            }
            temporal.end(&pool).expect("enough frames");
            look(&mut temporal, true);
            assert_eq!((seen, temporal.used()), (count, length));
        }
    }
}

/// Proves that memory is bounded: frames are forgotten while others come.
#[test]
fn few_frames_are_held() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("threads");
    let movie = hazy(400, 100.0);
    let map = map_of(&Camera::default(), SIZE).expect("a sound camera");
    let mut temporal = Temporal::new(33, SIZE);
    let mut most = 0;
    for number in 0..400 {
        let frame = movie.slice_axis(Axis(0), Slice::from(number..number + 1));
        temporal.push(number, Windows::stack(frame).into(), &pool).expect("a frame");
        while let Some(part) = temporal.ready(false, 2) {
            temporal.known(&part, &Camera::default(), &map, &pool).expect("known");
            temporal.done(part.end);
        }
        let stream = temporal.stream.as_ref().expect("frames");
        most = most.max(stream.held.len());
        assert!(stream.medians.len() <= 2);
        // Memory is asked for once.
        assert!(stream.frames.room() <= (33 + 3 * 4 + 1) * SIZE.0 * SIZE.1);
    }
    assert!(most <= 33 + 3 * 4, "{most}");
    assert!(check(128, (2048, 2048)).is_ok());
    let error = check(129, (2048, 2048)).expect_err("more than 2^29 pixels").to_string();
    assert!(error.contains("3 to 128 frames of 2048×2048 pixels"), "{error}");
}
