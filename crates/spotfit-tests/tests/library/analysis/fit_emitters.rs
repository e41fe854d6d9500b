//! Proves that windows in which spots overlap are fitted with all their emitters, whatever the camera, the threads and the parts.

use fit_sim::Random;
use spotfit::localize::Emitters;
use spotfit::ndarray::{Array2, Array3, Axis, s};
use spotfit::{
    Background, Camera, CameraMap, Corner, EmitterFit, EmitterFitter, Estimator, FitError,
    FitterOptions, FixedSigmas, Options, PixelProfile, Rotated, Shape, Size, Start, Status,
    Weights, Windows,
};

/// Height and width of windows.
const SIZE: [usize; 2] = [11, 13];
const SIGMA: f64 = 1.3;
const BACKGROUND: f64 = 20.0;

/// The electrons of a window with spots at x and y, of so many photons.
fn window(random: &mut Random, spots: &[(f64, f64, f64)]) -> Array2<f64> {
    let [height, width] = SIZE;
    let mean = Array2::from_shape_fn((height, width), |(y, x)| {
        let light = |&(left, top, photons): &(f64, f64, f64)| {
            let square = (x as f64 - left).powi(2) + (y as f64 - top).powi(2);
            photons / (std::f64::consts::TAU * SIGMA * SIGMA)
                * (-square / (2.0 * SIGMA * SIGMA)).exp()
        };
        BACKGROUND + spots.iter().map(light).sum::<f64>()
    });
    mean.mapv(|mean| random.poisson(mean))
}

/// The spots of the windows: none, one, or two 3 pixels apart in any direction.
fn places(random: &mut Random, number: usize) -> Vec<(f64, f64, f64)> {
    let (x, y) = (6.0 + random.uniform_in(-0.5, 0.5), 5.0 + random.uniform_in(-0.5, 0.5));
    let angle = random.uniform_in(0.0, std::f64::consts::TAU);
    let (dx, dy) = (1.5 * angle.cos(), 1.5 * angle.sin());
    match number % 3 {
        0 => Vec::new(),
        1 => vec![(x, y, 2000.0)],
        _ => vec![(x - dx, y - dy, 2400.0), (x + dx, y + dy, 1600.0)],
    }
}

fn two_widths() -> Shape {
    Shape::FixedSigmas(FixedSigmas { sigma_x: SIGMA, sigma_y: SIGMA + 1e-6 })
}

type Truth = Vec<Vec<(f64, f64, f64)>>;

/// Windows in ADU of a camera, and what is in them.
fn windows(count: usize, camera: &Camera) -> (Array3<u16>, Truth) {
    let mut random = Random::new(4, 1);
    let [height, width] = SIZE;
    let mut all = Array3::zeros((count, height, width));
    let mut truth = Vec::new();
    for number in 0..count {
        let spots = places(&mut random, number);
        let electrons = window(&mut random, &spots);
        for (to, &electrons) in all.index_axis_mut(Axis(0), number).iter_mut().zip(&electrons) {
            let noisy = electrons + camera.read_noise * random.normal();
            *to = (camera.baseline + noisy / camera.sensitivity).round() as u16;
        }
        truth.push(spots);
    }
    (all, truth)
}

fn camera() -> Camera {
    Camera::default().with_baseline(100.0).with_sensitivity(0.5).with_read_noise(1.5)
}

fn options(shape: Shape) -> Options {
    Options::default()
        .with_shape(shape)
        .with_estimator(Estimator::MaximumLikelihood)
        .with_camera(Some(camera()))
}

fn fitter(shape: Shape, emitters: Emitters) -> EmitterFitter {
    EmitterFitter::new(&FitterOptions::from(options(shape)), emitters).expect("sound options")
}

fn fitted(fitter: &mut EmitterFitter, windows: &Array3<u16>) -> Vec<EmitterFit> {
    let windows = Windows::stack(windows.view()).into();
    fitter.find_sigma(windows).expect("sound windows");
    fitter.fit(windows).expect("sound windows")
}

/// The emitters of each window.
fn by_window(fits: &[EmitterFit]) -> Vec<&[EmitterFit]> {
    fits.chunk_by(|one, other| one.spot == other.spot).collect()
}

/// Proves that every window has a row for each of its emitters, the brightest first, or one that says that it has none; and that places, photons and
/// background scatter as their errors say, with a width that is known, with two, and with one for each emitter.
#[test]
fn emitters_of_windows_are_found() {
    let (windows, truth) = windows(600, &camera());
    for shape in [Shape::fixed_sigma(SIGMA), two_widths(), Shape::CIRCULAR] {
        let fits = fitted(&mut fitter(shape, Emitters::Auto), &windows);
        let groups = by_window(&fits);
        assert_eq!(groups.len(), truth.len());
        let (mut right, mut sums, mut matched) = (0, [0.0; 4], 0.0);
        for (number, (group, spots)) in groups.iter().zip(&truth).enumerate() {
            assert!(group.iter().all(|fit| fit.spot == number));
            if group[0].emitter == 0 {
                let [none] = group else { panic!("{group:?}") };
                assert!(none.x.is_nan() && none.status == Status::Invalid && !none.crowd);
                right += usize::from(spots.is_empty());
                continue;
            }
            assert!(group.iter().zip(1..).all(|(fit, number)| fit.emitter == number));
            assert!(group.is_sorted_by(|one, other| one.photons >= other.photons));
            if group.len() != spots.len() {
                continue;
            }
            right += 1;
            for fit in *group {
                let distance = |spot: &&(f64, f64, f64)| (fit.x - spot.0).hypot(fit.y - spot.1);
                let nearest = spots.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
                let &(x, y, photons) = nearest.expect("as many");
                let area = std::f64::consts::TAU * fit.sigma_x * fit.sigma_y;
                assert!((fit.amplitude * area / fit.photons - 1.0).abs() < 1e-9);
                let apart = (1.0..5.0).contains(&fit.neighbour);
                assert!(apart == (group.len() > 1), "{group:?}");
                let off = [
                    (fit.x - x) / fit.errors.x,
                    (fit.y - y) / fit.errors.y,
                    (fit.photons - photons) / fit.errors.photons,
                    (fit.background - BACKGROUND) / fit.errors.background,
                ];
                sums.iter_mut().zip(off).for_each(|(sum, off)| *sum += off * off);
                matched += 1.0;
            }
        }
        let rms = sums.map(|sum: f64| (sum / matched).sqrt());
        println!("{shape:?}: {right} of {}, errors over stated {rms:?}", truth.len());
        assert!(right > 582, "{shape:?}: {right}");
        assert!(rms.iter().all(|rms| (0.85..1.2).contains(rms)), "{shape:?}: {rms:?}");
    }
}

/// Proves that no window has more emitters than it may, that both of a window in which three are needed say so, and that where two suffice nothing
/// differs.
#[test]
fn a_number_is_a_limit() {
    let mut random = Random::new(8, 2);
    let [height, width] = SIZE;
    let mut stack = Array3::zeros((60, height, width));
    for (number, mut to) in stack.outer_iter_mut().enumerate() {
        let mut spots = vec![(4.0, 4.2, 3000.0), (7.3, 4.4, 3000.0), (5.4, 7.3, 3000.0)];
        spots.truncate(if number % 2 == 0 { 3 } else { 2 });
        to.assign(&window(&mut random, &spots).mapv(|electrons| 100 + 2 * electrons as u16));
    }
    let shape = Shape::fixed_sigma(SIGMA);
    let all = fitted(&mut fitter(shape, Emitters::Auto), &stack);
    let two = fitted(&mut fitter(shape, Emitters::UpTo(2)), &stack);
    let (all, two) = (by_window(&all), by_window(&two));
    assert!(all.iter().step_by(2).filter(|group| group.len() == 3).count() > 27);
    for (all, two) in all.iter().zip(&two) {
        assert!(two.len() <= 2);
        if all.len() == 3 {
            let lacks = |fit: &EmitterFit| fit.status == Status::MaxIterations && fit.crowd;
            assert!(two.iter().all(lacks), "{two:?}");
        } else if all.len() == 2 {
            assert_eq!(all, two);
        }
    }
}

/// Proves that outcomes are the same for any number of threads and for any parts that come one after the other, and that the order of windows does not
/// matter.
#[test]
fn outcomes_depend_on_their_window_alone() {
    let (windows, _) = windows(300, &camera());
    let with = |threads: usize| {
        let options = FitterOptions::from(options(Shape::CIRCULAR)).with_threads(threads);
        EmitterFitter::new(&options, Emitters::UpTo(3)).expect("sound options")
    };
    let one = fitted(&mut with(1), &windows);
    let text = format!("{one:?}");
    assert!(format!("{:?}", fitted(&mut with(3), &windows)) == text);
    let mut fitter = with(2);
    fitter.find_sigma(Windows::stack(windows.view()).into()).expect("sound windows");
    let mut parts = Vec::new();
    for first in (0..300).step_by(70) {
        let part = windows.slice(s![first..300.min(first + 70), .., ..]);
        let found = fitter.fit(Windows::stack(part).into()).expect("sound windows");
        parts.extend(found.into_iter().map(|mut fit| {
            fit.spot += first;
            fit
        }));
    }
    assert!(format!("{parts:?}") == text);
    let turned = windows.slice(s![..;-1, .., ..]);
    let mut turned = fitter.fit(Windows::stack(turned).into()).expect("sound windows");
    turned.iter_mut().for_each(|fit| fit.spot = 299 - fit.spot);
    turned.sort_by_key(|fit| (fit.spot, fit.emitter));
    assert!(format!("{turned:?}") == text);
}

/// Proves that a camera map converts as the camera does that all its pixels are, that windows cut from frames are those of a stack, and that EM gain
/// doubles the variance: photons are those of the camera, and their errors √2 times as large.
#[test]
fn cameras_and_cuts_are_counted() {
    let camera = camera();
    let (stack, _) = windows(60, &camera);
    let shape = Shape::fixed_sigma(SIGMA);
    let expected = fitted(&mut fitter(shape, Emitters::Auto), &stack);
    let [height, width] = SIZE;
    let same = |value: f32| Array2::from_elem((height, width), value);
    let variance = (camera.read_noise / camera.sensitivity).powi(2) as f32;
    let map = CameraMap::new(same(100.0).view(), same(2.0).view(), same(variance).view());
    let map = map.expect("a sound map");
    let plain = options(shape).with_camera(None);
    let mapped = EmitterFitter::new(&FitterOptions::from(plain), Emitters::Auto).unwrap();
    let corners: Vec<Corner> = (0..60).map(|frame| Corner { frame, x: 0, y: 0 }).collect();
    let cuts = Windows::cuts(stack.view(), Size::new(width, height), &corners).with_map(&map);
    let in_stack = Windows::stack(stack.view()).with_corners(&corners).with_map(&map);
    for windows in [cuts, in_stack] {
        let found = mapped.fit(windows.into()).expect("sound windows");
        assert_eq!(found.len(), expected.len());
        for (one, other) in found.iter().zip(&expected).filter(|(one, _)| one.emitter > 0) {
            assert!(
                (one.x - other.x).abs() < 1e-3 && (one.photons / other.photons - 1.0).abs() < 1e-3
            );
        }
    }
    let quiet = camera.with_read_noise(0.0);
    let (stack, _) = windows(60, &quiet);
    let found = |camera: Camera| {
        let fit = options(shape).with_camera(Some(camera));
        fitted(&mut EmitterFitter::new(&FitterOptions::from(fit), Emitters::Auto).unwrap(), &stack)
    };
    let (one, gained) =
        (found(quiet), found(quiet.with_sensitivity(50.0).with_em_gain(Some(100.0))));
    let singles = |fits: &[EmitterFit]| -> Vec<EmitterFit> {
        let alone = by_window(fits).into_iter().filter(|group| group.len() == 1);
        alone.flatten().filter(|fit| fit.emitter > 0 && fit.spot % 3 == 1).copied().collect()
    };
    let (one, gained) = (singles(&one), singles(&gained));
    assert!(one.len() == gained.len() && one.len() > 15);
    for (one, gained) in one.iter().zip(&gained) {
        assert!((gained.photons / one.photons - 1.0).abs() < 0.01, "{gained:?}, {one:?}");
        let ratio = gained.errors.x / one.errors.x;
        assert!((ratio / std::f64::consts::SQRT_2 - 1.0).abs() < 0.02, "{ratio}");
    }
}

/// Proves that masked pixels, dark, flat, saturated and absurd windows give rows without panic, and integrated pixels their own image.
#[test]
fn odd_windows_have_rows() {
    let shape = Shape::CIRCULAR;
    let mut fitter = fitter(shape, Emitters::Auto);
    let [height, width] = SIZE;
    let fill = |value: f64| Array2::from_elem((height, width), value);
    let mut random = Random::new(3, 3);
    let mut holed =
        window(&mut random, &[(6.0, 5.0, 3000.0)]).mapv(|electrons| 100.0 + 2.0 * electrons);
    holed[(5, 6)] = f64::NAN;
    let odd =
        [fill(f64::NAN), fill(0.0), fill(100.0), fill(65535.0), fill(1e300), fill(-1e30), holed];
    let mut stack = Array3::zeros((odd.len(), height, width));
    odd.iter().enumerate().for_each(|(at, odd)| stack.index_axis_mut(Axis(0), at).assign(odd));
    let windows = Windows::stack(stack.view()).into();
    fitter.find_sigma(windows).expect("sound windows");
    let fits = fitter.fit(windows).expect("sound windows");
    let groups = by_window(&fits);
    assert_eq!(groups.len(), odd.len());
    let [last] = groups[6] else { panic!("{groups:?}") };
    assert!((last.x - 6.0).abs() < 0.2 && last.status.is_converged(), "{last:?}");
    assert!(groups[..3].iter().all(|group| group[0].emitter == 0), "{groups:?}");
    let empty = Array3::<u16>::zeros((0, height, width));
    assert!(fitter.fit(Windows::stack(empty.view()).into()).expect("none").is_empty());
    let integrated = options(Shape::fixed_sigma(0.6)).with_profile(PixelProfile::Integrated);
    let fitter = EmitterFitter::new(&FitterOptions::from(integrated), Emitters::Auto).unwrap();
    let fits = fitter.fit(windows).expect("sound windows");
    assert_eq!(by_window(&fits).len(), odd.len());
}

/// Proves that what cannot go with several emitters is refused by name, with the reason.
#[test]
fn what_does_not_go_together_is_refused() {
    let refused = |fit: Options, emitters: Emitters, name: &str| {
        let refused = EmitterFitter::new(&FitterOptions::from(fit), emitters);
        let Err(FitError::Option(error)) = refused else { panic!("{name}: {refused:?}") };
        assert_eq!(error.name, name, "{error}");
    };
    let fit = options(Shape::CIRCULAR);
    refused(fit, Emitters::One, "emitters");
    refused(fit, Emitters::UpTo(1), "emitters");
    refused(fit, Emitters::UpTo(101), "emitters");
    refused(fit.with_shape(Shape::Rotated(Rotated)), Emitters::Auto, "shape");
    refused(fit.with_estimator(Estimator::LeastSquares), Emitters::Auto, "estimator");
    refused(fit.with_background(Background::Plane), Emitters::UpTo(2), "background");
    refused(fit.with_shape(Shape::fixed_sigma(0.2)), Emitters::Auto, "fixed_sigma");
    let mut fitter = fitter(Shape::CIRCULAR, Emitters::Auto);
    let (stack, _) = windows(9, &camera());
    let windows = Windows::stack(stack.view());
    let unknown = fitter.fit(windows.into());
    assert!(matches!(&unknown, Err(FitError::Option(error)) if error.name == "usual_sigma"));
    let weights = Array3::from_elem(stack.dim(), 1.0_f32);
    let weighted = windows.with_weights(Weights::Windows(weights.view()));
    assert!(matches!(fitter.find_sigma(weighted.into()), Err(FitError::Batch(_))));
    let narrow = Windows::stack(stack.slice(s![.., ..1, ..1]));
    assert!(matches!(fitter.find_sigma(narrow.into()), Err(FitError::Batch(_))));
    assert!(narrow.validate(&fit, Start::Estimate, 9).is_err());
    assert!(fitter.with_usual_sigma(9.0).is_err());
}
