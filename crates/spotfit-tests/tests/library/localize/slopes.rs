//! Light with slopes, which is doubted where it shifts spots.

use ndarray::{Array3, Axis};
use spotfit::localize::{Emitters, LocalizeOptions, Localizer, SlopeDoubt};
use spotfit::movie::{Movie, Pixels};
use spotfit::{Background, Camera, Estimator};

use crate::common::thorough;

const SIDE: usize = 64;

/// What a movie shows.
#[derive(Clone, Copy)]
struct Scene {
    photons: f64,
    slope: f64,
    /// Spots of a frame that are somewhere else in the next.
    blinking: usize,
    /// Spots that stay where they are.
    beads: usize,
    frames: usize,
}

const SCENE: Scene = Scene { photons: 1000.0, slope: 0.0, blinking: 12, beads: 0, frames: 40 };

fn movie(scene: Scene) -> Array3<f32> {
    let Scene { photons, slope, blinking, beads, frames } = scene;
    let mut random = fit_sim::Random::new(3, 0);
    let mut place = || [0; 2].map(|_| random.uniform_in(6.0, 57.0));
    let stay: Vec<_> = (0..beads).map(|_| place()).collect();
    let mut light =
        Array3::from_shape_fn((frames, SIDE, SIDE), |(_, _, x)| 60.0 + slope * (x as f64 - 31.5));
    for mut frame in light.axis_iter_mut(Axis(0)) {
        let spots = stay.iter().copied().chain((0..blinking).map(|_| place()));
        for [cx, cy] in spots.collect::<Vec<_>>() {
            for ((y, x), pixel) in frame.indexed_iter_mut() {
                let r2 = (x as f64 - cx).powi(2) + (y as f64 - cy).powi(2);
                *pixel += photons / (std::f64::consts::TAU * 1.69) * (-r2 / 3.38).exp();
            }
        }
    }
    light.mapv(|mu| random.poisson(mu) as f32)
}

fn options(estimator: Estimator) -> LocalizeOptions {
    let options = LocalizeOptions::default().with_camera(Camera::default());
    let fit = options.fitter.fit.with_estimator(estimator);
    let fitter = options.fitter.clone().with_fit(fit);
    options.with_fitter(fitter)
}

fn doubt_with(scene: Scene, options: LocalizeOptions) -> Option<SlopeDoubt> {
    let movie = Movie::of(Pixels::F32(movie(scene))).expect("frames");
    let localizer = Localizer::new((SIDE, SIDE), options).expect("sound options");
    let mut found = localizer.localize(movie, ..).expect("threads");
    for block in found.by_ref() {
        block.expect("a sound movie");
    }
    found.doubts().slopes
}

fn doubt(scene: Scene) -> Option<SlopeDoubt> {
    doubt_with(scene, options(Estimator::LeastSquares))
}

/// Proves that steep light is found, with its slope, by both estimators, and from 12 frames on.
#[test]
fn uneven_light_is_doubted() {
    for estimator in Estimator::ALL {
        for frames in [12, 20, 40, 70] {
            let scene = Scene { slope: 1.5, frames, ..SCENE };
            let found = doubt_with(scene, options(estimator)).expect("slopes");
            assert!((found.slope - 1.5).abs() < 0.3 && found.excess > 0.1, "{frames}: {found:?}");
        }
    }
}

/// Proves that even light gives no doubt: whether spots are dim or bright, few or many, blink or stay, and with few frames.
#[test]
fn even_light_is_not_doubted() {
    let between = if thorough() { &[1000.0, 5000.0][..] } else { &[] };
    for &photons in [300.0, 50_000.0].iter().chain(between) {
        for (blinking, beads, frames) in [
            (12, 0, 40),
            (3, 0, 40),
            (60, 0, 40),
            (0, 15, 40),
            (6, 8, 40),
            (12, 0, 14),
            (60, 0, 14),
        ] {
            let scene = Scene { photons, blinking, beads, frames, ..SCENE };
            assert_eq!(doubt(scene), None, "{photons}, {blinking}, {beads}, {frames}");
        }
    }
}

/// Proves that beads say nothing of the light beside them, and that too few frames or spots do not.
#[test]
fn what_does_not_tell_is_not_doubted() {
    let steep = Scene { slope: 1.5, ..SCENE };
    for scene in [
        Scene { blinking: 0, beads: 15, ..steep },
        Scene { frames: 8, ..steep },
        Scene { blinking: 0, beads: 0, ..steep },
    ] {
        assert_eq!(doubt(scene), None);
    }
}

/// Proves that fits whose background has slopes, or is that of a crowd, are not doubted.
#[test]
fn slopes_that_are_fitted_are_not_doubted() {
    let steep = Scene { slope: 1.5, ..SCENE };
    let plain = options(Estimator::MaximumLikelihood);
    let fit = plain.fitter.fit.with_background(Background::Plane);
    let plane = plain.clone().with_fitter(plain.fitter.clone().with_fit(fit));
    let fit = plain.fitter.fit.with_background(Background::Free);
    let crowd = plain.clone().with_fitter(plain.fitter.clone().with_fit(fit));
    let crowd = crowd.with_emitters(Emitters::Auto).with_usual_sigma(Some(1.3));
    for options in [plane, crowd] {
        assert_eq!(doubt_with(steep, options), None);
    }
}

/// Proves that frames that come one by one tell as much as blocks do.
#[test]
fn single_frames_tell_slopes() {
    let frames = movie(Scene { slope: 1.5, ..SCENE });
    let options = options(Estimator::LeastSquares);
    let mut localizer = Localizer::new((SIDE, SIDE), options).expect("sound options");
    for frame in frames.axis_iter(Axis(0)) {
        localizer.frame(frame).expect("a sound frame");
    }
    let found = localizer.slope_doubt().expect("slopes");
    assert!((found.slope - 1.5).abs() < 0.3, "{found:?}");
}
