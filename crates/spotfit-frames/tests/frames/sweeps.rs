//! The sweep beside what it is defined as.

use fit_core::Camera;
use fit_sim::Random;
use ndarray::Array2;
use spotfit_frames::detect::Detector;
use spotfit_frames::detect::internals::{Room, Swept, in_strips, is_fixed, swept};

use crate::plain::{self, Plain};

/// Compares a frame, swept as a whole and in strips, with what it is defined as; how many candidates it has.
fn compare(detector: &Detector, frame: &Array2<f32>, room: &mut Room, what: &str) -> usize {
    let Plain { signal, noise, filtered, candidates } = plain::search(detector, frame);
    let found: Swept = swept(detector, frame.view(), room);
    assert_eq!(found.noise, noise, "{what}: noise");
    assert_eq!(found.signal, signal, "{what}: filtered");
    assert_eq!(found.filtered, filtered, "{what}: noise of the filtered frame");
    assert_eq!(found.candidates, candidates, "{what}");
    if is_fixed(detector) {
        assert_eq!(in_strips(detector, frame.view(), 1, 1), candidates, "{what}: strips");
    }
    candidates.len()
}

/// Frames smaller than the filters, of sides that tiles do not divide into, of whole numbers and others, with pixels that are not finite
/// or saturated, each with the side of a window and the light of its background.
pub(crate) fn frame(case: usize, random: &mut Random) -> (Array2<f32>, usize, f64) {
    let mut up_to = |most: usize| 1 + (random.uniform() * most as f64) as usize;
    let (width, height) = match case % 4 {
        0 => (up_to(40), up_to(40)),
        1 => (up_to(300), up_to(12)),
        2 => (up_to(12), up_to(300)),
        _ => (30 + up_to(110), 30 + up_to(110)),
    };
    let box_size = [1, 2, 3, 5, 7, 7, 9, 11, 13, 21, 40][up_to(11) - 1];
    let light: f64 = [0.02, 0.5, 4.0, 60.0, 3000.0][up_to(5) - 1];
    let spots = up_to(12);
    let spots: Vec<[f64; 3]> = (0..spots)
        .map(|_| {
            let mut at = |length: usize| random.uniform() * length as f64;
            [at(width), at(height), 3.0 + at(20)]
        })
        .collect();
    let mut frame = Array2::from_shape_fn((height, width), |(y, x)| {
        let spot = |[at_x, at_y, bright]: &[f64; 3]| {
            let (dx, dy) = (x as f64 - at_x, y as f64 - at_y);
            bright * light.sqrt() * (-(dx * dx + dy * dy) / 3.4).exp()
        };
        let mean = light * (1.0 + 0.003 * x as f64) + spots.iter().map(spot).sum::<f64>();
        100.0 + random.poisson(mean) as f32
    });
    match (case / 4) % 5 {
        0 => {}
        // Numbers that are not whole.
        1 => frame.mapv_inplace(|pixel| 0.37 * pixel),
        // Pixels that are not finite, in corners too, and too large ones.
        2 => {
            for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e20] {
                let (x, y) = (random.uniform(), random.uniform());
                frame[((y * height as f64) as usize, (x * width as f64) as usize)] = bad;
            }
            frame[(0, 0)] = f32::NAN;
        }
        // Saturated ones.
        3 => frame.mapv_inplace(|pixel| pixel.min(100.0 + light as f32)),
        // A frame that is even in part.
        _ => {
            let half = frame.columns_mut().into_iter().take(width.div_ceil(2));
            half.for_each(|mut column| column.fill(100.0));
        }
    }
    (frame, box_size, light)
}

/// Proves that a sweep has the same filtered frame, the same noise and the same candidates, to the last bit, as every stage by
/// itself: for frames smaller than the filters, of sides that tiles do not divide into, of whole numbers and others, with pixels
/// that are not finite or saturated, for narrow and wide windows, in memory that other frames have used.
#[test]
fn sweeps_find_what_is_defined() {
    let mut random = Random::new(43, 0);
    let (mut room, mut found) = (Room::default(), 0);
    for case in 0..160 {
        let (frame, box_size, light) = frame(case, &mut random);
        let (height, width) = frame.dim();
        let what = format!("case {case}: {width}×{height}, box {box_size}, {light}");
        let detector = Detector::new(width, height, box_size, 3.0).unwrap();
        found += compare(&detector, &frame, &mut room, &what);
        let camera = Camera::default().with_baseline(100.0).with_read_noise(1.0);
        let detector = detector.with_false_rate(1000.0, &camera).unwrap();
        found += compare(&detector, &frame, &mut room, &what);
    }
    assert!(found > 500, "{found}");
}

/// Proves the same for frames of one value, or of none: they have no candidates.
#[test]
fn sweeps_of_even_frames_find_nothing() {
    let mut room = Room::default();
    for (width, height) in [(1, 1), (2, 3), (3, 2), (33, 65), (70, 40)] {
        let detector = Detector::new(width, height, 7, 1.0).unwrap();
        for value in [0.0, -3.5, 65535.0, f32::NAN, f32::INFINITY] {
            let frame = Array2::from_elem((height, width), value);
            let what = format!("{width}×{height} of {value}");
            assert_eq!(compare(&detector, &frame, &mut room, &what), 0);
        }
    }
}
