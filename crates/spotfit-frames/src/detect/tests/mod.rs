#[cfg(feature = "gpu")]
mod device;
mod plain;
mod sweeps;

use super::*;
use filter::Smooth;
use fit_sim::Random;
use lines::Lines;
use mean::BoxMean;
use ndarray::Array2;
use noise::{Column, Looks, NoiseMap};
use rayon::prelude::*;

/// Lines of a frame, all of which are kept.
fn lines(pixels: &[f32], width: usize) -> Lines {
    let mut lines = Lines::default();
    lines.reset(width, pixels.len() / width);
    for (y, line) in pixels.chunks_exact(width).enumerate() {
        lines.line_mut(y).copy_from_slice(line);
    }
    lines
}

fn mean_of(pixels: &[f32], width: usize, radius: usize) -> Vec<f32> {
    let (height, mut means, mut all) = (pixels.len() / width, BoxMean::default(), Vec::new());
    means.start(width, height, radius);
    for y in 0..height {
        means.next(y..y + 1, &lines(pixels, width), |_, mean| all.extend_from_slice(mean));
    }
    all
}

fn noise_of(pixels: &[f32], width: usize) -> NoiseMap {
    let (height, mut noise) = (pixels.len() / width, NoiseMap::default());
    let (tiles, mut looks) = (Column::new(height, 0, height), Looks::default());
    noise.start(width, tiles);
    for _ in 0..tiles.rows() {
        noise.add_tiles(&lines(pixels, width), height, &mut looks);
    }
    noise
}

fn background(pixels: &[f32], width: usize, radius: usize, noise: &NoiseMap) -> Vec<f32> {
    let (mut levels, mut clipped) = (vec![0.0; width], mean_of(pixels, width, radius));
    for (y, line) in clipped.chunks_exact_mut(width).enumerate() {
        noise.row(y, &mut levels);
        let mean = line.to_vec();
        sweep::clip(&mean, &pixels[y * width..], &levels, line);
    }
    mean_of(&clipped, width, radius)
}

/// Proves that the noise is estimated right, and that the filter's gain is what white noise shows.
#[test]
fn noise_and_gain_are_those_of_white_noise() {
    let mut random = Random::new(1, 0);
    let frame: Vec<f32> = (0..256 * 192)
        .map(|i| 100.0 + (i % 256) as f32 * 0.7 + 5.0 * random.normal() as f32)
        .collect();
    let noise = noise_of(&frame, 256);
    // A median of 512 responses, each of which depends on its neighbours, is known within 7 %.
    let off = noise.levels.iter().map(|level| (level / 5.0 - 1.0).powi(2)).sum::<f32>();
    let off = (off / noise.levels.len() as f32).sqrt();
    assert!(off < 0.08, "{off}");
    let mean = noise.levels.iter().sum::<f32>() / noise.levels.len() as f32;
    assert!((mean - 5.0).abs() < 0.1, "{mean}");

    let detector = Detector::new(256, 192, 7, 5.0).unwrap();
    let background = background(&frame, 256, 7, &noise);
    let (mut smooth, mut smoothed) = (Smooth::default(), frame.clone());
    smooth.start(256, 192, &detector.method.kernel);
    for (y, line) in smoothed.chunks_exact_mut(256).enumerate() {
        smooth.line(y, |y| &frame[y * 256..][..256], &detector.method.kernel, None, line);
    }
    let inner: Vec<f32> = (0..192 * 256)
        .filter(|i| (16..240).contains(&(i % 256)) && (16..176).contains(&(i / 256)))
        .map(|i| smoothed[i] - background[i])
        .collect();
    let n = inner.len() as f32;
    let mean = inner.iter().sum::<f32>() / n;
    let sd = (inner.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / n).sqrt();
    assert!(
        (sd / (5.0 * detector.method.gain) - 1.0).abs() < 0.03,
        "{sd} {}",
        detector.method.gain
    );
}

/// Proves that a spot is found at its pixel, once, on a slope, and that noise alone gives nothing.
#[test]
fn a_spot_is_found_where_it_is() {
    let mut random = Random::new(2, 0);
    let mut frame = Array2::from_shape_fn((80, 100), |(y, x)| {
        random.poisson(50.0 + x as f64 + 0.5 * y as f64) as f32
    });
    let detector = Detector::new(100, 80, 7, 7.0).unwrap();
    assert_eq!(detector.detect(frame.view()).unwrap(), []);
    for ((y, x), pixel) in frame.indexed_iter_mut() {
        let (dx, dy) = (x as f32 - 41.2, y as f32 - 29.7);
        *pixel += 120.0 * (-(dx * dx + dy * dy) / 3.0).exp();
    }
    let found = detector.detect(frame.view()).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].x, found[0].y), (41, 30));
    frame[(70, 90)] = f32::NAN;
    frame[(10, 10)] = f32::INFINITY;
    assert_eq!(detector.detect(frame.view()).unwrap().len(), 1);
}

/// Proves that frames with nothing in them, of any size, give nothing.
#[test]
fn empty_frames_give_nothing() {
    for (height, width) in [(1, 1), (1, 9), (2, 2), (3, 3), (5, 64), (33, 31)] {
        let detector = Detector::new(width, height, 7, 5.0).unwrap();
        for value in [0.0f32, 100.0, 65535.0, f32::NAN] {
            let frame = Array2::from_elem((height, width), value);
            assert_eq!(detector.detect(frame.view()).unwrap(), []);
        }
    }
}

/// Proves that a pixel, however bright, changes the background nowhere but in its own squares.
#[test]
fn a_bright_pixel_leaves_no_trace() {
    let (width, height) = (64, 128);
    let mut random = Random::new(3, 0);
    let plain: Vec<f32> =
        (0..width * height).map(|_| 100.0 + 5.0 * random.normal() as f32).collect();
    let noise = noise_of(&plain, width);
    for box_size in [1, 4, 7, 63, 200] {
        let expected = mean_of(&plain, width, box_size);
        let expected_background = background(&plain, width, box_size, &noise);
        for bright in [1e10, -1e10, 9e14] {
            let mut pixels = plain.clone();
            pixels[10 * width + 30] = bright;
            let mean = mean_of(&pixels, width, box_size);
            let background = background(&pixels, width, box_size, &noise);
            for at in 0..plain.len() {
                let (x, y) = (at % width, at / width);
                let far = x.abs_diff(30).max(y.abs_diff(10));
                assert!(far <= box_size || mean[at] == expected[at], "{x}, {y}");
                // The second pass looks as far again.
                let same = background[at] == expected_background[at];
                assert!(far <= 2 * box_size || same, "{x}, {y}");
            }
        }
    }
}

/// Proves that arguments that make no sense, and frames of another size, are errors that name them.
#[test]
fn senseless_arguments_are_named() {
    for (width, height, box_size, threshold, name) in [
        (0, 5, 7, 7.0, "frame"),
        (5, 0, 7, 7.0, "frame"),
        (usize::MAX, usize::MAX, 7, 7.0, "frame"),
        (usize::MAX / 2 + 2, 2, 7, 7.0, "frame"),
        (1 << 31, 1, 7, 7.0, "frame"),
        (64, 64, 0, 7.0, "box_size"),
        (64, 64, usize::MAX, 7.0, "box_size"),
        (64, 64, 7, 0.0, "threshold"),
        (64, 64, 7, f64::NAN, "threshold"),
    ] {
        match Detector::new(width, height, box_size, threshold) {
            Err(DetectError::Option(error)) => assert_eq!(error.name, name),
            other => panic!("{other:?}"),
        }
    }
    let detector = Detector::new(20, 10, 7, 7.0).unwrap();
    let (expected, found) = ((20, 10), (10, 20));
    assert_eq!(
        detector.detect(Array2::<u16>::zeros((20, 10)).view()),
        Err(DetectError::FrameSize { expected, found })
    );
    // The largest box on the smallest frames, and frames that do not lie one number after the other.
    for (width, height) in [(1, 1), (3, 200), (200, 3)] {
        let detector = Detector::new(width, height, LARGEST_BOX, 7.0).unwrap();
        let frame = Array2::from_shape_fn((width, height), |(x, y)| (x * 7 + y * 13) as u16 % 11);
        assert_eq!(
            detector.detect(frame.t()),
            detector.detect(frame.t().as_standard_layout().view())
        );
    }
}

/// Proves that the box mean is the mean over the square that is there.
#[test]
fn the_box_mean_is_a_mean() {
    let (width, height, radius) = (11, 7, 3);
    let pixels: Vec<f32> = (0..width * height).map(|i| ((i * 31) % 17) as f32).collect();
    let mean = mean_of(&pixels, width, radius);
    for y in 0..height {
        for x in 0..width {
            let mut values = Vec::new();
            for j in y.saturating_sub(radius)..(y + radius + 1).min(height) {
                for i in x.saturating_sub(radius)..(x + radius + 1).min(width) {
                    values.push(pixels[j * width + i]);
                }
            }
            let expected = values.iter().sum::<f32>() / values.len() as f32;
            assert!((mean[y * width + x] - expected).abs() < 1e-4);
        }
    }
}

/// Proves that a frame searched in strips has the candidates that it has as a whole, to the last bit: with a slope,
/// spots on the seams, pixels that are not finite, and tiles that the rows do not divide into.
#[test]
fn strips_find_what_the_whole_frame_shows() {
    let mut random = Random::new(3, 0);
    let (width, height) = (83, 2011);
    let mut frame = Array2::from_shape_fn((height, width), |(y, x)| {
        let spot = |step: usize, at: usize| ((at % step) as f32 - step as f32 / 2.0).powi(2);
        let bright = 90.0 * (-(spot(23, x) + spot(19, y)) / 3.0).exp();
        random.poisson(f64::from(40.0 + 0.05 * y as f32 + bright)) as f32
    });
    frame[(0, 0)] = f32::NAN;
    frame[(1200, 40)] = f32::INFINITY;
    for box_size in [5, 7, 11] {
        let detector = Detector::new(width, height, box_size, 5.0).unwrap();
        let whole = detector.detect_in_strips(frame.view(), None, usize::MAX);
        assert!(whole.len() > 300, "{}", whole.len());
        for rows in [1, 500, 777] {
            let strips = detector.strips(rows * width).count();
            assert!(strips > 2, "{strips}");
            assert_eq!(detector.detect_in_strips(frame.view(), None, rows * width), whole);
        }
    }
}

/// How many false spots there are in a million pixels where there is room for a window, in frames of this many photons a
/// pixel and nothing else.
fn false_spots(detector: &Detector, photons: f64, camera: &Camera, frames: u64) -> f64 {
    let (width, height, margin) =
        (detector.method.width, detector.method.height, detector.method.box_size / 2);
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
        let detector = Detector::new(256, 256, box_size, 7.0).unwrap();
        for (rate, frames) in [(30.0, 60), (300.0, 20)] {
            let detector = detector.clone().with_false_rate(rate, &camera).unwrap();
            let found = false_spots(&detector, photons, &camera, frames);
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

/// Proves that a map makes photo-electrons of a frame before it is searched: neither the offsets of pixels, nor hot and
/// masked ones, are found as spots, and a spot beside them is.
#[test]
fn mapped_frames_are_searched_in_electrons() {
    let (width, height) = (96, 80);
    let mut random = Random::new(5, 0);
    let mut offset =
        Array2::from_shape_fn((height, width), |_| 100.0 + 30.0 * random.uniform() as f32);
    let mut gain = Array2::from_elem((height, width), 2.0f32);
    let mut variance = Array2::from_elem((height, width), 9.0f32);
    offset[(40, 60)] = 900.0;
    (gain[(20, 20)], variance[(60, 30)]) = (0.0, 1e5);
    let map = CameraMap::new(offset.view(), gain.view(), variance.view()).unwrap();
    let mut frame = Array2::from_shape_fn((height, width), |(y, x)| {
        let (dx, dy) = (x as f64 - 70.3, y as f64 - 25.8);
        let light = random.poisson(20.0 + 60.0 * (-(dx * dx + dy * dy) / 3.4).exp()) as f32;
        (offset[(y, x)] + 2.0 * light + 3.0 * random.normal() as f32).round()
    });
    (frame[(20, 20)], frame[(60, 30)]) = (60000.0, 2000.0);
    let camera = Camera::default().with_read_noise(1.5);
    let detector = Detector::new(width, height, 7, 7.0).unwrap();
    let detector = detector.with_false_rate(1.0, &camera).unwrap();
    let plain = detector.detect(frame.view()).unwrap();
    assert!(plain.iter().any(|c| (c.x, c.y) == (20, 20)), "{plain:?}");
    let detector = detector.with_map(&map).unwrap();
    let found = detector.detect(frame.view()).unwrap();
    let inside = |c: &&Candidate| (3..93).contains(&c.x) && (3..77).contains(&c.y);
    let found: Vec<_> = found.iter().filter(inside).map(|c| (c.x, c.y)).collect();
    assert_eq!(found, [(70, 26)]);
    let other = Detector::new(height, width, 7, 7.0).unwrap().with_map(&map).unwrap_err();
    assert!(other.to_string().contains("96×80"), "{other}");
}

/// Where the pixel at (x, y) of a frame that was turned and mirrored, in one of eight ways, was before.
fn before(way: usize, [width, height]: [usize; 2], x: usize, y: usize) -> (usize, usize) {
    let (x, y) = if way & 4 != 0 { (y, x) } else { (x, y) };
    let x = if way & 1 != 0 { width - 1 - x } else { x };
    (x, if way & 2 != 0 { height - 1 - y } else { y })
}

/// Proves that a frame that is turned or mirrored has the same candidates: in frames of small whole numbers, where many
/// neighbours are equal, in bright ones, of sides that tiles do not divide into, in strips. Only of two equals that are as far from
/// the centre of the frame may each be taken, and what is at the threshold to five digits may be lost.
#[test]
fn candidates_do_not_depend_on_the_direction() {
    let (mut all, mut swapped) = (0, 0);
    for (case, (width, height, photons, box_size)) in [
        (96, 96, 0.05_f64, 7),
        (83, 131, 0.2, 7),
        (83, 131, 1.0, 5),
        (64, 101, 1.0, 7),
        (127, 65, 3.0, 11),
        (100, 75, 40.0, 7),
        (97, 97, 900.0, 7),
    ]
    .into_iter()
    .enumerate()
    {
        for seed in 0..30 {
            let mut random = Random::new(seed, case as u64);
            let spots: Vec<[f64; 3]> = (0..12)
                .map(|_| {
                    let at = |length: usize, random: &mut Random| random.uniform() * length as f64;
                    let (x, y) = (at(width, &mut random), at(height, &mut random));
                    [x, y, 0.5 + 10.0 * random.uniform()]
                })
                .collect();
            let frame = Array2::from_shape_fn((height, width), |(y, x)| {
                let light = spots.iter().map(|[at_x, at_y, bright]| {
                    let (dx, dy) = (x as f64 - at_x, y as f64 - at_y);
                    bright * (1.0 + photons).sqrt() * (-(dx * dx + dy * dy) / 3.4).exp()
                });
                random.poisson(photons + light.sum::<f64>()) as u16
            });
            let mut expected: Option<Vec<(usize, usize, f32)>> = None;
            for way in 0..8 {
                let back = |x: usize, y: usize| before(way, [width, height], x, y);
                let (rows, columns) = if way & 4 != 0 { (width, height) } else { (height, width) };
                let turned = Array2::from_shape_fn((rows, columns), |(y, x)| {
                    let (x, y) = back(x, y);
                    frame[(y, x)]
                });
                let detector = Detector::new(columns, rows, box_size, 3.0).unwrap();
                let found = detector.detect(turned.view()).unwrap();
                assert_eq!(detector.detect_in_strips(turned.view(), None, 1), found);
                let found: Vec<(usize, usize, f32)> = found
                    .iter()
                    .map(|c| {
                        let (x, y) = back(c.x, c.y);
                        (x, y, c.significance)
                    })
                    .collect();
                let expected = expected.get_or_insert_with(|| found.clone());
                all += expected.len();
                let centre = |&(x, y, _): &(usize, usize, f32)| {
                    let off = |at: usize, length: usize| (2 * at + 1).abs_diff(length);
                    off(x, width).pow(2) + off(y, height).pow(2)
                };
                let at =
                    |a: &(usize, usize, f32), b: &(usize, usize, f32)| (a.0, a.1) == (b.0, b.1);
                for (some, others) in [(&found, &*expected), (&*expected, &found)] {
                    for spot in some {
                        if others.iter().any(|other| at(spot, other)) {
                            continue;
                        }
                        let equal = |other: &(usize, usize, f32)| {
                            let far = other.0.abs_diff(spot.0).max(other.1.abs_diff(spot.1));
                            far <= box_size / 2 && centre(other) == centre(spot)
                        };
                        let rounded = (spot.2 / 3.0 - 1.0).abs() < 1e-5;
                        assert!(
                            rounded || others.iter().any(equal),
                            "{width}×{height}, {photons} photons, {seed}: {spot:?}"
                        );
                        swapped += 1;
                    }
                }
            }
        }
    }
    println!("{swapped} of {all} were equals as far from the centre, or at the threshold");
    assert!(all > 10_000 && swapped * 1000 < all, "{swapped} of {all}");
}

/// Proves that a plateau of equals is one candidate, in the middle of a frame as at a seam of strips.
#[test]
fn equals_are_one_candidate() {
    for (height, at) in [(64, 30), (2011, 700)] {
        let mut random = Random::new(9, 0);
        let mut frame = Array2::from_shape_fn((height, 64), |_| random.poisson(4.0) as u16);
        for y in at - 4..at + 4 {
            for x in 20..28 {
                frame[(y, x)] =
                    if (at - 1..at + 1).contains(&y) && (23..25).contains(&x) { 90 } else { 4 };
            }
        }
        let detector = Detector::new(64, height, 7, 8.0).unwrap();
        for pixels in [usize::MAX, 64 * at] {
            let found = detector.detect_in_strips(frame.view(), None, pixels);
            assert_eq!(found.len(), 1, "{found:?}");
        }
    }
}
