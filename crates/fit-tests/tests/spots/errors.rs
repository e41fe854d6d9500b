//! The errors of fits on every backend, against those of the f64 reference.

use fit_core::{Camera, Estimator, Fit, Options, PixelProfile, Shape, Start};
use fit_tests::data::{answers_folder, read_stack, stored_camera};
use fit_tests::spots::{PROFILES, Weighed, alike, fitted};
use fit_tests::{GPU, TestBackend, arithmetics, backends, on_backends};
use ndarray::Array3;
use spotfit::{Backend, Errors, Windows};

/// The standard errors of a backend as a share of those of the reference: greatest difference of 99 % of them.
const SINGLE: f32 = 0.01;
const DOUBLE: f32 = 1e-5;

/// Compares backends with the reference on the fits of the reference, for windows that were stored for shapes and profiles.
fn check(backends: &[TestBackend]) {
    let em =
        Camera::default().with_em_gain(Some(20.0)).with_sensitivity(18.0).with_read_noise(30.0);
    let map = stored_camera().map;
    let shapes = [
        // There is no set of a camera's of rotated spots.
        ("circular", "circular", Shape::CIRCULAR),
        ("elliptical", "elliptical", Shape::ELLIPTICAL),
        ("rotated", "elliptical", Shape::ROTATED),
        ("circular", "circular", Shape::fixed_sigma(1.3)),
    ];
    for (profile, (plain, mapped, shape)) in PROFILES.iter().flat_map(|of| shapes.map(|s| (of, s)))
    {
        let word = if *profile == PixelProfile::Sampled { "sampled" } else { "integrated" };
        let plain = stored(&format!("{plain}_{word}"));
        let mapped = stored(&format!("{mapped}_{word}_scmos"));
        let weights = Weighed::new(stored_camera().weights, plain.dim().0);
        for estimator in Estimator::ALL {
            for (with_map, weighted) in [(false, false), (true, false), (false, true), (true, true)]
            {
                if weighted && estimator == Estimator::MaximumLikelihood {
                    continue;
                }
                let mut windows =
                    Windows::stack(if with_map { mapped.view() } else { plain.view() });
                if with_map {
                    windows = windows.with_map(&map).with_corners(weights.corners());
                }
                let windows = weights.of(windows, weighted);
                for camera in [None, Some(em)] {
                    let options = Options::default()
                        .with_shape(shape)
                        .with_profile(*profile)
                        .with_estimator(estimator)
                        .with_camera(camera);
                    compare(options, &windows, &format!("{with_map}, {weighted}"), backends);
                }
            }
        }
    }
}

fn stored(name: &str) -> Array3<u16> {
    read_stack::<u16>(&answers_folder("shapes").join(format!("{name}.npy")))
}

fn compare(options: Options, windows: &Windows<'_, u16>, with: &str, backends: &[TestBackend]) {
    let case = format!("{options:?}, {with}");
    let reference = TestBackend::new(Backend::Reference, 1).fitter(options);
    let mut fits = fitted(&reference, windows, Start::Estimate);
    // Nothing was fitted there.
    fits[7] = Fit::invalid();
    let expected = reference.errors((*windows).into(), &fits).expect("fits of these windows");
    assert_eq!(expected[7], Errors::unknown(), "{case}");
    let known = expected.iter().filter(|errors| !errors.exploding).count();
    assert!(known > fits.len() * 9 / 10, "{case}: the errors of {known} fits are known");
    for backend in backends {
        let fitter = backend.fitter(options);
        let errors = fitter.errors((*windows).into(), &fits).expect("fits of these windows");
        let (tolerance, share) =
            if fitter.is_single_precision() { (SINGLE, 99) } else { (DOUBLE, 100) };
        let (near, needed) = (alike(&errors, &expected, tolerance), fits.len() * share / 100);
        assert!(near >= needed, "{case}, {backend:?}: {near} of {} agree", fits.len());
    }
}

/// Proves that outcomes and errors that do not belong to the windows are refused, and nothing is written.
#[test]
fn what_does_not_belong_together_is_refused() {
    let pixels = stored("circular_sampled");
    let windows = Windows::stack(pixels.view());
    for backend in backends() {
        let fitter = backend.fitter(Options::default());
        let fits = vec![Fit::<f32>::invalid(); windows.count()];
        let mut errors = vec![Errors::unknown(); windows.count()];
        let short = fitter.errors_into(windows.into(), &fits[1..], &mut errors);
        assert!(short.is_err_and(|error| error.to_string().contains("239")));
        let short = fitter.errors_into(windows.into(), &fits, &mut errors[3..]);
        assert!(short.is_err_and(|error| error.to_string().contains("237")));
        fitter.errors_into(windows.into(), &fits, &mut errors).expect("fits of these windows");
        assert!(errors.iter().all(|errors| *errors == Errors::unknown()));
    }
}

on_backends! {
    /// Proves that every backend finds the errors of the f64 reference, for every shape, profile, estimator and
    /// camera, with camera maps and weights.
    every_backend_finds_the_errors_of_the_reference(&arithmetics()), the_gpu_finds_the_errors_of_the_reference(&[GPU]) => check;
}
