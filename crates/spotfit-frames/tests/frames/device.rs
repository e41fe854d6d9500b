//! The search of a GPU, on the host and there, beside that of the processor.

use fit_core::{Camera, Pixel};
use fit_gpu::{Detection, FrameTops};
use fit_sim::Random;
use fit_windows::{AnyWindows, Windows};
use ndarray::{Array2, Array3, ArrayView3, Axis};
use spotfit_frames::detect::Detector;

use crate::is_nightly;
use crate::sweeps::frame;

/// What a GPU's search says of frames.
type Says<'a> = &'a dyn Fn(&Detection, AnyWindows<'_>) -> Vec<FrameTops>;

/// Compares the candidates of frames to the last bit. How many there are, and in how many of the frames the processor has to look.
fn compare<P: Pixel>(
    detector: &Detector,
    frames: ArrayView3<'_, P>,
    says: Says<'_>,
    what: &str,
) -> [usize; 2] {
    let detection = detector.on_device().expect("it can be searched");
    let found = says(&detection, Windows::stack(frames).into());
    assert_eq!(found.len(), frames.dim().0);
    let (mut candidates, mut left) = (0, 0);
    for (frame, found) in frames.axis_iter(Axis(0)).zip(&found) {
        let expected = detector.detect(frame).unwrap();
        match detector.candidates(found) {
            Some(found) => assert_eq!(found, expected, "{what}"),
            None => left += 1,
        }
        candidates += expected.len();
    }
    [candidates, left]
}

/// All that is compared, for pixels of all types.
fn compare_all(says: Says<'_>, cases: usize) {
    let mut random = Random::new(71, 0);
    let (mut all, mut sound) = ([0; 2], [0; 2]);
    for case in 0..cases {
        let (frame, box_size, light) = frame(case, &mut random);
        let (height, width) = frame.dim();
        let what = format!("case {case}: {width}×{height}, box {box_size}, {light}");
        let odd = frame.iter().any(|pixel| pixel.is_nan() || pixel.abs() > 1e15);
        let frames = frame.insert_axis(Axis(0));
        let detector = Detector::new(width, height, box_size, 3.0).unwrap();
        let camera = Camera::default().with_baseline(100.0).with_read_noise(1.0);
        for detector in [detector.clone(), detector.with_false_rate(1000.0, &camera).unwrap()] {
            let whole = frames.mapv(|pixel| pixel.clamp(0.0, 65535.0) as u16);
            let found = [
                compare(&detector, frames.view(), says, &what),
                compare(&detector, whole.view(), says, &what),
                compare(&detector, whole.mapv(|pixel| pixel as u8).view(), says, &what),
                compare(&detector, whole.mapv(i32::from).view(), says, &what),
            ];
            assert!(!odd || found[0][1] == 1, "{what}: such pixels are left to the processor");
            for (index, [candidates, left]) in found.into_iter().enumerate() {
                let count = if odd && index == 0 { &mut all } else { &mut sound };
                *count = [count[0] + candidates, count[1] + left];
            }
        }
    }
    let frames = 8 * cases;
    assert!(sound[0] > cases, "{sound:?}");
    // Many of these frames are small and full of tops, or of equals.
    assert!(sound[1] < frames / 4, "{sound:?} of {frames} frames are left to the processor");
}

/// Frames of a movie: spots of many heights on an uneven background.
fn movie(count: usize, width: usize, height: usize) -> Array3<u16> {
    let mut frames = Array3::zeros((count, height, width));
    for (number, mut frame) in frames.axis_iter_mut(Axis(0)).enumerate() {
        let mut random = Random::new(9, number as u64);
        let spots: Vec<[f64; 3]> = (0..width * height / 4369)
            .map(|_| {
                let mut at = |length: usize| random.uniform() * length as f64;
                [at(width), at(height), 10.0 + at(200)]
            })
            .collect();
        let mut light = Array2::from_shape_fn((height, width), |(y, x)| {
            12.0 + 5.0 * (0.02 * x as f64).sin() + 3.0 * (0.05 * y as f64).cos()
        });
        for [at_x, at_y, bright] in spots {
            for y in (at_y as usize).saturating_sub(8)..(at_y as usize + 8).min(height) {
                for x in (at_x as usize).saturating_sub(8)..(at_x as usize + 8).min(width) {
                    let (dx, dy) = (x as f64 - at_x, y as f64 - at_y);
                    light[(y, x)] += bright * (-(dx * dx + dy * dy) / 3.0).exp();
                }
            }
        }
        frame.zip_mut_with(&light, |pixel, &light| {
            *pixel = (100.0 + 2.0 * random.poisson(light) + 1.5 * random.normal()) as u16;
        });
    }
    frames
}

/// Proves that a GPU's search, done on the host, finds the same candidates to the last bit, for frames of all sizes and types of pixels,
/// windows and thresholds, and leaves to the processor what it cannot search, and little else.
#[test]
fn the_kernels_find_the_same_candidates() {
    // A size and a kind of pixels each come together once in 20.
    let cases = if is_nightly() { 160 } else { 20 };
    compare_all(&|detection, frames| detection.on_host(frames), cases);
}

/// Proves the same for frames of one value: they have no candidates.
#[test]
fn the_kernels_find_nothing_in_even_frames() {
    for (width, height) in [(1, 1), (2, 3), (3, 2), (33, 65), (70, 40)] {
        let detector = Detector::new(width, height, 7, 1.0).unwrap();
        for value in [0.0, -3.5, 65535.0, f32::NAN, f32::INFINITY] {
            let frames = Array3::from_elem((2, height, width), value);
            let found =
                compare(&detector, frames.view(), &|search, frames| search.on_host(frames), "even");
            let left = if value.abs() < 1e15 { 0 } else { 2 };
            assert_eq!(found, [0, left], "{width}×{height} of {value}");
        }
    }
}

/// Proves that crowds are left to the processor, and that frames without are not.
#[test]
fn the_kernels_leave_crowds_to_the_processor() {
    let camera = Camera::default().with_baseline(100.0).with_sensitivity(0.5);
    let detector = Detector::new(160, 130, 7, 1.0).unwrap();
    let detector = detector.with_false_rate(1.0, &camera).unwrap();
    let says: Says<'_> = &|detection, frames| detection.on_host(frames);
    let frames = movie(3, 160, 130);
    assert_eq!(compare(&detector, frames.view(), says, "some spots")[1], 0);
    let mut random = Random::new(8, 0);
    let mut light = Array2::<f64>::from_elem((130, 160), 10.0);
    for _ in 0..500 {
        let (at_x, at_y) = (160.0 * random.uniform(), 130.0 * random.uniform());
        for ((y, x), light) in light.indexed_iter_mut() {
            let (dx, dy) = (x as f64 - at_x, y as f64 - at_y);
            *light += 150.0 * (-(dx * dx + dy * dy) / 2.4).exp();
        }
    }
    let crowd = light.mapv(|light| (100.0 + 2.0 * random.poisson(light)) as u16);
    let found = compare(&detector, crowd.insert_axis(Axis(0)).view(), says, "a crowd");
    assert!(found[0] > 100 && found[1] == 1, "{found:?}");
}

/// Proves the same on a GPU, for a movie as well.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_gpu_finds_the_same_candidates() {
    let says: Says<'_> = &|detection, frames| {
        let detector = fit_gpu::FrameDetector::new(&[0], detection).expect("a GPU");
        let mut sent = detector.send(frames).expect("no fault").expect("it can be searched");
        sent.found().expect("no fault")
    };
    compare_all(says, 160);
    let camera = Camera::default().with_baseline(100.0).with_sensitivity(0.5);
    for (count, width, height, box_size) in [
        (200, 256, 256, 7),
        (5, 2048, 1030, 7),
        (100, 130, 99, 9),
        (20, 300, 200, 15),
        (3, 1200, 700, 63),
    ] {
        let frames = movie(count, width, height);
        let detector = Detector::new(width, height, box_size, 7.0).unwrap();
        for detector in [detector.clone(), detector.with_false_rate(1.0, &camera).unwrap()] {
            let what = format!("{count} of {width}×{height}, box {box_size}");
            let [candidates, left] = compare(&detector, frames.view(), says, &what);
            println!("{what}: {candidates} candidates, {left} frames left to the processor");
            // A wide filter sees a crowd where a few spots lie together; whether it is one the processor says.
            assert!(candidates > count && (left == 0 || box_size > 9), "{what}");
        }
    }
}

/// Says how long the parts of a search take: sending, what is waited for, candidates.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn speed_of_the_gpu() {
    let camera = Camera::default().with_baseline(100.0).with_sensitivity(0.5);
    let detector = Detector::new(256, 256, 7, 1.0).unwrap().with_false_rate(1.0, &camera).unwrap();
    let search = detector.on_device().expect("it can be searched");
    let there = fit_gpu::FrameDetector::new(&[0], &search).expect("a GPU");
    let frames = movie(64, 256, 256);
    let windows = AnyWindows::from(Windows::stack(frames.view()));
    let mut times = Vec::new();
    for _ in 0..200 {
        let start = std::time::Instant::now();
        let mut sent = there.send(windows).expect("no fault").expect("it can be searched");
        let after = start.elapsed();
        let found = sent.found().expect("no fault");
        let waited = start.elapsed();
        let count: usize =
            found.iter().filter_map(|found| detector.candidates(found)).flatten().count();
        times.push([after, waited - after, start.elapsed() - waited]);
        assert!(count > 500, "{count}");
    }
    let median = |part: usize| {
        let mut all: Vec<_> = times.iter().map(|times| times[part]).collect();
        all.sort_unstable();
        all[all.len() / 2]
    };
    let [sent, waited, candidates] = [0, 1, 2].map(median);
    println!("64 frames of 256x256: sent {sent:?}, waited {waited:?}, candidates {candidates:?}");
}
