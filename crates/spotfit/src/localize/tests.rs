use std::sync::Arc;

use fit_core::{Camera, Corner, Criteria, Estimator, Fit, Options, Status};
use fit_sim::MovieSimulation;
use ndarray::{Array3, Axis};

use super::found::Found;
use super::places::Place;
use super::*;
use crate::astigmatism;
use crate::backend::FitterOptions;

/// Frames in one of the eight ways to turn and mirror them.
fn turned(frames: &Array3<u16>, way: usize) -> Array3<u16> {
    let mut view = frames.view();
    if way & 1 != 0 {
        view.invert_axis(Axis(2));
    }
    if way & 2 != 0 {
        view.invert_axis(Axis(1));
    }
    if way & 4 != 0 {
        view.swap_axes(1, 2);
    }
    view.as_standard_layout().into_owned()
}

/// Proves that a movie that is turned or mirrored has the same spots, turned and mirrored, with the same photons and
/// uncertainties, by either estimator: what is left is rounding, and that of two equals that lie as far from the centre
/// of the frame another may be in the middle of the window.
#[test]
fn spots_do_not_depend_on_the_direction() {
    let camera = fit_sim::SimulatedCamera::default().with_baseline(100.0).with_read_noise(1.5);
    for (background, photons) in [(0.3, 100.0), (20.0, 1000.0)] {
        let movie = MovieSimulation::new(101, 91, 60)
            .with_camera(camera)
            .with_background(background)
            .with_signal(photons);
        let frames = movie.plan().expect("a sound simulation").piece(0..60).frames();
        let (_, height, width) = frames.dim();
        for estimator in [Estimator::LeastSquares, Estimator::MaximumLikelihood] {
            let fit = Options::default().with_estimator(estimator).with_criteria(Criteria::TIGHT);
            // Single precision leaves more of dim spots to rounding.
            let fitter = FitterOptions::from(fit).with_backend(Backend::Reference);
            let options = LocalizeOptions::default()
                .with_camera(Camera::default().with_baseline(100.0).with_read_noise(1.5))
                .with_fitter(fitter);
            let mut expected: Option<Vec<Localization>> = None;
            for way in 0..8 {
                let frames = turned(&frames, way);
                let size = (frames.dim().2, frames.dim().1);
                let mut localizer = Localizer::new(size, options.clone()).expect("sound");
                let windows = Windows::stack(frames.view()).into();
                let mut spots = localizer.process_frames(0, windows).expect("spots");
                for spot in &mut spots {
                    if way & 4 != 0 {
                        (spot.x, spot.y) = (spot.y, spot.x);
                    }
                    if way & 1 != 0 {
                        spot.x = (width - 1) as f64 - spot.x;
                    }
                    if way & 2 != 0 {
                        spot.y = (height - 1) as f64 - spot.y;
                    }
                }
                let expected = expected.get_or_insert_with(|| spots.clone());
                assert!(expected.len() > 150, "{}", expected.len());
                assert_eq!(spots.len(), expected.len(), "{background} {estimator:?} {way}");
                let mut apart = 0;
                for spot in &spots {
                    let same = |other: &Localization| {
                        let near = |a: f64, b: f64, by: f64| (a - b).abs() < by;
                        other.frame == spot.frame
                            && near(other.x, spot.x, 1e-3)
                            && near(other.y, spot.y, 1e-3)
                            && near(other.intensity / spot.intensity, 1.0, 1e-3)
                            && near(other.uncertainty / spot.uncertainty, 1.0, 1e-3)
                    };
                    if !expected.iter().any(same) {
                        println!("{background} {estimator:?} {way}: {spot:?}");
                        apart += 1;
                    }
                }
                assert!(apart * 100 <= spots.len(), "{background} {estimator:?} {way}: {apart}");
            }
        }
    }
}

/// Proves that a fit whose errors are infinite is counted as that, and one whose photons are as that.
#[test]
fn infinite_errors_are_counted_as_such() {
    let mut localizer = Localizer::new((32, 32), LocalizeOptions::default()).expect("sound");
    let place = Place {
        id: 0,
        corner: Corner { frame: 0, x: 5, y: 5 },
        side: 7,
        neighbour: 0.0,
        response: 0.0,
    };
    let fit = Fit {
        x: 3.0,
        y: 3.0,
        sigma: 1.0,
        sigma_x: 1.0,
        sigma_y: 1.0,
        angle: 0.0,
        amplitude: 10.0,
        background: 1.0,
        offset_x: 0.0,
        offset_y: 0.0,
        chi2: 1.0,
        status: Status::MinStep,
        ..Fit::invalid()
    };
    let mut found = |fit: &Fit<f64>, uncertainty: f64| {
        let spot = spot::localization(fit, 1.0, 49, [uncertainty, 0.1]);
        let found = Found { spot, converged: true, bright: true, at_end: false, seen: None };
        localizer.judging().judge(0, &place, found).is_some()
    };
    assert!(found(&fit, 0.1));
    assert!(!found(&fit, f64::INFINITY));
    assert!(!found(&Fit { amplitude: f64::INFINITY, ..fit }, 0.1));
    let Counts { kept, dropped: Dropped { undetermined, not_finite, .. }, .. } =
        *localizer.counts();
    assert_eq!((kept, undetermined, not_finite), (1, 1, 1));
}

/// Proves that frames are sent to a GPU in parts that cover them, one at least in each.
#[test]
fn parts_cover_frames() {
    for (frames, pixels, first) in [(0, 9, None), (200, 1 << 16, Some(64)), (3, 1 << 24, Some(1))] {
        let parts: Vec<_> = parts(frames, pixels).collect();
        let mut next = 0;
        for part in &parts {
            assert_eq!(part.start, next);
            next = part.end;
        }
        assert_eq!((next, parts.first().map(ExactSizeIterator::len)), (frames, first));
    }
}

/// Proves that a GPU that searches and fits finds what the processor finds, but for rounding of fits: in whole movies and in a part of the
/// frame, by either threshold and estimator, for all pixels that a camera has, with frames that only the processor can search.
#[cfg(feature = "gpu")]
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_gpu_localizes_as_the_processor_does() {
    let camera = fit_sim::SimulatedCamera::default().with_baseline(100.0).with_read_noise(1.5);
    let movie = MovieSimulation::new(250, 180, 150).with_camera(camera).with_background(12.0);
    let frames = movie.plan().expect("a sound simulation").piece(0..150).frames();
    let mut bad = frames.mapv(f32::from);
    bad[(3, 20, 20)] = f32::NAN;
    let (_, height, width) = frames.dim();
    let default = || {
        let camera = Camera::default().with_baseline(100.0).with_read_noise(1.5);
        LocalizeOptions::default().with_camera(camera)
    };
    let likely = Options::default().with_estimator(Estimator::MaximumLikelihood);
    for (what, options) in [
        ("as usual", default()),
        ("a region", default().with_roi(Some(Roi { x: 31, y: 20, width: 100, height: 90 }))),
        ("a threshold", default().with_threshold(5.0).with_box_size(9)),
        ("likelihood", default().with_fitter(likely.into()).with_checks(true)),
    ] {
        let localized = |backend: Backend, frames: AnyWindows<'_>| {
            let fitter = options.fitter.clone().with_backend(backend);
            let options = options.clone().with_fitter(fitter);
            let mut localizer = Localizer::new((width, height), options).expect("a localizer");
            assert_eq!(localizer.on_gpu.is_some(), backend == Backend::Gpu);
            let spots = localizer.process_frames(7, frames).expect("spots");
            (spots, localizer.counts().clone())
        };
        for (kind, frames) in [
            ("u16", AnyWindows::from(Windows::stack(frames.view()))),
            ("u8", Windows::stack(frames.mapv(|pixel| pixel.min(255) as u8).view()).into()),
            ("f32", Windows::stack(bad.view()).into()),
            ("i32", Windows::stack(frames.mapv(i32::from).view()).into()),
        ] {
            let (expected, counts) = localized(Backend::Cpu, frames);
            let (found, counts_there) = localized(Backend::Gpu, frames);
            let what = format!("{what}, {kind}");
            assert_eq!(counts.candidates, counts_there.candidates, "{what}");
            assert_eq!(counts.dropped.at_edge, counts_there.dropped.at_edge, "{what}");
            let kept = counts.kept.abs_diff(counts_there.kept);
            assert!(counts.kept > 500 && kept <= counts.kept / 500, "{what}: {counts:?}");
            let near = |spot: &Localization| {
                found.iter().any(|other| {
                    let far = (spot.x - other.x).abs().max((spot.y - other.y).abs());
                    spot.frame == other.frame && far < 0.02 * spot.uncertainty.max(0.05)
                })
            };
            let alike = expected.iter().filter(|spot| near(spot)).count();
            println!("{what}: {alike} of {} alike, {kept} more or less", expected.len());
            assert!(alike + expected.len() / 200 >= expected.len(), "{what}");
        }
    }
}

/// Proves that windows are those of the calibration unless another side is asked for, which is remarked on.
#[test]
fn the_calibration_brings_its_windows() {
    let text = "X Coefficients: [0.0, 0.0, 0.0, 0.0, 5.0e-06, -2.0e-03, 1.5]\n\
        Y Coefficients: [0.0, 0.0, 0.0, 0.0, 5.0e-06, 2.0e-03, 1.5]\n";
    let with = |text: &str| {
        let finder = astigmatism::file::read(text.as_bytes()).expect("a calibration");
        LocalizeOptions::default().with_calibration(Some(Arc::new(finder)))
    };
    let plain = with(text);
    assert_eq!((plain.usual_box(), plain.notes().len()), (7, 0));
    let boxed = with(&format!("{text}Box Size: 13\n"));
    assert_eq!(boxed.usual_box(), 13);
    assert_eq!(boxed.clone().with_box_size(13).notes(), Vec::<String>::new());
    let [note] = &boxed.notes()[..] else { panic!("{:?}", boxed.notes()) };
    assert!(note.contains("7×7") && note.contains("13×13"), "{note}");
    assert_eq!(with(&format!("{text}Box Size: 70\n")).usual_box(), 7);
    assert_eq!(LocalizeOptions::default().usual_box(), 7);
}
