//! Candidates: where they are, whatever is done to the frame.

use fit_core::Camera;
use fit_sim::Random;
use fit_windows::CameraMap;
use ndarray::Array2;
use spotfit_frames::detect::internals::{Room, gain, in_strips, strips, swept};
use spotfit_frames::detect::{Candidate, DEFAULT_FALSE_RATE, DetectError, Detector};

/// The largest side of a window.
const LARGEST_BOX: usize = 1023;

/// Proves that the noise is estimated right, and that the filter's gain is what white noise shows.
#[test]
fn noise_and_gain_are_those_of_white_noise() {
    let mut random = Random::new(1, 0);
    let frame = Array2::from_shape_fn((192, 256), |(_, x)| {
        100.0 + x as f32 * 0.7 + 5.0 * random.normal() as f32
    });
    let detector = Detector::new(256, 192, 7, 5.0).unwrap();
    let swept = swept(&detector, frame.view(), &mut Room::default());
    // A median of 512 responses, each of which depends on its neighbours, is known within 7 %.
    let levels = &swept.noise;
    let off = levels.iter().map(|level| (level / 5.0 - 1.0).powi(2)).sum::<f32>();
    let off = (off / levels.len() as f32).sqrt();
    assert!(off < 0.08, "{off}");
    let mean = levels.iter().sum::<f32>() / levels.len() as f32;
    assert!((mean - 5.0).abs() < 0.1, "{mean}");

    let inner: Vec<f32> = (0..192 * 256)
        .filter(|i| (16..240).contains(&(i % 256)) && (16..176).contains(&(i / 256)))
        .map(|i| swept.signal[i])
        .collect();
    let n = inner.len() as f32;
    let mean = inner.iter().sum::<f32>() / n;
    let sd = (inner.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / n).sqrt();
    let gain = gain(&detector);
    assert!((sd / (5.0 * gain) - 1.0).abs() < 0.03, "{sd} {gain}");
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
        let whole = in_strips(&detector, frame.view(), usize::MAX, 1);
        assert!(whole.len() > 300, "{}", whole.len());
        for rows in [1, 500, 777] {
            let strips = strips(&detector, rows * width, 1);
            assert!(strips > 2, "{strips}");
            assert_eq!(in_strips(&detector, frame.view(), rows * width, 1), whole);
        }
    }
}

/// Proves that a frame has the same candidates, to the last bit, for any number of threads that search bands of it side by side, and
/// however many strips its memory allows: with crowds that end in the frame, which are told by the share of all tiles that they
/// cover, and with a line of equals through the whole frame, of which one is taken.
#[test]
fn bands_find_what_the_whole_frame_shows() {
    let mut random = Random::new(5, 0);
    let (width, height) = (83, 1300);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let mut spots = |density: &dyn Fn(usize) -> f64| {
        let mut light = Array2::from_elem((height, width), 20.0_f64);
        for y in 0..height {
            for _ in 0..random.poisson(density(y)) as usize {
                let x = random.uniform() * width as f64;
                for (row, column) in (y.saturating_sub(5)..(y + 6).min(height))
                    .flat_map(|row| (0..width).map(move |column| (row, column)))
                    .filter(|&(_, column)| (column as f64 - x).abs() < 6.0)
                {
                    let square = (row as f64 - y as f64).powi(2) + (column as f64 - x).powi(2);
                    light[(row, column)] += 70.0 * (-square / 3.4).exp();
                }
            }
        }
        light.mapv(|light| random.poisson(light) as f32)
    };
    // In a quarter of the tiles, or a little more, a smaller share of bright pixels makes a crowd.
    let crowded = |share: f64, density: f64| {
        move |y: usize| if (y as f64) < share * height as f64 { density } else { 0.1 }
    };
    let mut frames = vec![
        ("a crowd", spots(&crowded(0.2, 1.4))),
        ("more crowds", spots(&crowded(0.5, 1.1))),
        ("crowds everywhere", spots(&|y| 0.6 + 0.9 * (y % 200) as f64 / 200.0)),
    ];
    let noise = Array2::from_shape_fn((2, width), |_| random.poisson(20.0) as f32);
    let line = |(y, x): (usize, usize)| noise[(y % 2, x)] + if x == 40 { 200.0 } else { 0.0 };
    frames.push(("a line", Array2::from_shape_fn((height, width), line)));
    // Light on a ground without noise, beside one with noise.
    let lit = |(y, x): (usize, usize)| match (y % 16 < 5 && x % 16 < 5, y < 300) {
        (true, _) => 5000.0,
        (false, true) => random.poisson(100.0) as f32,
        (false, false) => 100.0,
    };
    frames.push(("blocks in the dark", Array2::from_shape_fn((height, width), lit)));
    let camera = Camera::default();
    let (mut crowded, mut strips_of_crowds) = (0, 0);
    for (what, frame) in &frames {
        for box_size in [7, 9] {
            let detector = Detector::new(width, height, box_size, 5.0).unwrap();
            let detector = match *what {
                "a line" | "blocks in the dark" => detector,
                _ => detector.with_false_rate(DEFAULT_FALSE_RATE, &camera).unwrap(),
            };
            let whole = in_strips(&detector, frame.view(), usize::MAX, 1);
            assert!(!whole.is_empty(), "{what}");
            crowded += whole.iter().filter(|candidate| candidate.crowded).count();
            for (pixels, threads) in [(1, 1), (500 * width, 1), (1, 3)]
                .into_iter()
                .chain([2, 3, 8].map(|threads| (usize::MAX, threads)))
            {
                strips_of_crowds += strips(&detector, pixels, threads);
                let found = || in_strips(&detector, frame.view(), pixels, threads);
                let found = pool.install(found);
                assert!(found == whole, "{what}, {box_size}: {pixels} pixels, {threads} threads");
            }
        }
    }
    assert!(crowded > 500 && strips_of_crowds > 100, "{crowded} {strips_of_crowds}");
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
                assert_eq!(in_strips(&detector, turned.view(), 1, 1), found);
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
            let found = in_strips(&detector, frame.view(), pixels, 1);
            assert_eq!(found.len(), 1, "{found:?}");
        }
    }
}
