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
    let place = Place { id: 0, corner: Corner { frame: 0, x: 5, y: 5 }, side: 7, neighbour: 0.0 };
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
