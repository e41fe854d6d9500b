//! Localizing: where spots are, and what speaks against them.

mod aperture;
mod defects;
mod sensitivity;
mod slopes;
mod temporal;
mod threads;

use std::sync::Arc;

use fit_sim::MovieSimulation;
use ndarray::{Array3, Axis};
use spotfit::astigmatism;
use spotfit::localize::Roi;
use spotfit::localize::{Localization, LocalizeOptions, Localizer};
use spotfit::movie::{Block, Pixels};
use spotfit::{Backend, Camera, Criteria, Estimator, FitterOptions, Options};

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
                let block = Block { first: 0, pixels: Pixels::U16(frames) };
                let mut spots = localizer.process(&block).expect("spots");
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

/// Frames, as a localizer takes them.
enum Frames {
    Block(Block),
    /// Movies have no pixels of this type.
    OneByOne(Array3<i32>),
}

/// Proves that a GPU that searches and fits finds what the processor finds, but for rounding of fits: in whole movies and in a part of the
/// frame, by either threshold and estimator, for all pixels that a camera has, with frames that only the processor can search.
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
    let block = |pixels: Pixels| Frames::Block(Block { first: 7, pixels });
    let likely = Options::default().with_estimator(Estimator::MaximumLikelihood);
    for (what, options) in [
        ("as usual", default()),
        ("a region", default().with_roi(Some(Roi { x: 31, y: 20, width: 100, height: 90 }))),
        ("a threshold", default().with_threshold(5.0).with_box_size(9)),
        ("likelihood", default().with_fitter(likely.into()).with_checks(true)),
    ] {
        let localized = |backend: Backend, frames: &Frames| {
            let fitter = options.fitter.clone().with_backend(backend);
            let options = options.clone().with_fitter(fitter);
            let mut localizer = Localizer::new((width, height), options).expect("a localizer");
            assert_eq!(localizer.searches_on_gpu(), backend == Backend::Gpu);
            let spots = match frames {
                Frames::Block(block) => localizer.process(block).expect("spots"),
                Frames::OneByOne(frames) => {
                    let frames = frames.outer_iter();
                    frames.flat_map(|frame| localizer.frame(frame).expect("spots")).collect()
                }
            };
            (spots, localizer.counts().clone())
        };
        for (kind, frames) in [
            ("u16", block(Pixels::U16(frames.clone()))),
            ("u8", block(Pixels::U8(frames.mapv(|pixel| pixel.min(255) as u8)))),
            ("f32", block(Pixels::F32(bad.clone()))),
            ("i32", Frames::OneByOne(frames.mapv(i32::from))),
        ] {
            let (expected, counts) = localized(Backend::Cpu, &frames);
            let (found, counts_there) = localized(Backend::Gpu, &frames);
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
        let finder = astigmatism::file::read(text.as_bytes(), None).expect("a calibration");
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

/// Proves that options out of their range are refused by name, and so is a second camera.
#[test]
fn senseless_options_are_refused() {
    let default = LocalizeOptions::default;
    let camera = Options::default().with_camera(Some(Camera::default()));
    for (options, name) in [
        (default().with_fitter(camera.into()), "fitter.fit.camera"),
        (default().with_false_rate(0.0), "false_rate"),
        (default().with_false_rate(f64::NAN), "false_rate"),
        (default().with_saturation(Some(f64::INFINITY)), "saturation"),
        (default().with_box_size(6), "box_size"),
    ] {
        let error = Localizer::new((32, 32), options).expect_err("refused").to_string();
        assert!(error.starts_with(name), "{error}");
    }
}
