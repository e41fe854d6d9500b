//! The errors of fits on every backend, against those of the f64 reference.

use fit_core::spot::shape::{Circular, Elliptical, FixedSigma, Rotated};
use fit_core::{Camera, Corner, Estimator, Fit, Options, PixelProfile, Shape, Start};
use fit_tests::data::{answers_folder, read_stack};
use fit_tests::{GPU, TestBackend, arithmetics, backends};
use ndarray::{Array2, Array3, Axis};
use spotfit::{Backend, CameraMap, Errors, Parameter, Weights, Windows};

/// The standard errors of a backend as a share of those of the reference: greatest difference of 99 % of them.
const SINGLE: f32 = 0.01;
const DOUBLE: f32 = 1e-5;

/// Windows that were stored for a shape and profile, with all that may be known of them.
struct Stored {
    plain: Array3<u16>,
    mapped: Array3<u16>,
    map: CameraMap,
    weights: Array2<f32>,
    corners: Vec<Corner>,
}

impl Stored {
    fn new(shape: &str, profile: &str) -> Self {
        let folder = answers_folder("shapes");
        let map = |name| {
            let map = read_stack::<f32>(&folder.join("camera").join(format!("{name}.npy")));
            map.index_axis(Axis(0), 0).to_owned()
        };
        let map = CameraMap::new(map("offset").view(), map("gain").view(), map("variance").view());
        let plain = read_stack::<u16>(&folder.join(format!("{shape}_{profile}.npy")));
        // There is no such set of rotated spots.
        let shape = if shape == "rotated" { "elliptical" } else { shape };
        Self {
            mapped: read_stack::<u16>(&folder.join(format!("{shape}_{profile}_scmos.npy"))),
            map: map.expect("a camera"),
            weights: read_stack::<f32>(&folder.join("weights.npy"))
                .index_axis(Axis(0), 0)
                .to_owned(),
            corners: vec![Corner::default(); plain.dim().0],
            plain,
        }
    }

    /// All that can be known of the windows, by name.
    fn windows(&self) -> [(&'static str, Windows<'_, u16>); 4] {
        let plain = Windows::stack(self.plain.view());
        let mapped =
            Windows::stack(self.mapped.view()).with_map(&self.map).with_corners(&self.corners);
        let weights = Weights::Frame(self.weights.view());
        [
            ("plain", plain),
            ("map", mapped),
            ("weights", plain.with_weights(weights).with_corners(&self.corners)),
            ("map and weights", mapped.with_weights(weights)),
        ]
    }
}

/// Compares a backend with the reference on the fits of the reference.
fn check(backends: &[TestBackend]) {
    let em =
        Camera::default().with_em_gain(Some(20.0)).with_sensitivity(18.0).with_read_noise(30.0);
    for profile in [PixelProfile::Sampled, PixelProfile::Integrated] {
        for (name, shape) in [
            ("circular", Shape::Circular(Circular)),
            ("elliptical", Shape::Elliptical(Elliptical)),
            ("rotated", Shape::Rotated(Rotated)),
            ("circular", Shape::FixedSigma(FixedSigma { sigma: 1.3 })),
        ] {
            let word = if profile == PixelProfile::Sampled { "sampled" } else { "integrated" };
            let stored = Stored::new(name, word);
            for estimator in Estimator::ALL {
                for (with, windows) in stored.windows() {
                    if with.contains("weights") && estimator == Estimator::MaximumLikelihood {
                        continue;
                    }
                    for camera in [None, Some(em)] {
                        let options = Options::default()
                            .with_shape(shape)
                            .with_profile(profile)
                            .with_estimator(estimator)
                            .with_camera(camera);
                        let case = format!("{shape:?}, {word}, {estimator:?}, {with}, {camera:?}");
                        compare(&case, options, &windows, backends);
                    }
                }
            }
        }
    }
}

fn compare(case: &str, options: Options, windows: &Windows<'_, u16>, backends: &[TestBackend]) {
    let reference = TestBackend::new(Backend::Reference, 1).fitter(options);
    let mut fits = vec![Fit::<f64>::invalid(); windows.count()];
    let fitted =
        reference.fit_windows((*windows).into(), Start::Estimate, fits.as_mut_slice().into());
    fitted.unwrap_or_else(|error| panic!("{case}: {error}"));
    // Nothing was fitted there.
    fits[7] = Fit::invalid();
    let expected = reference.errors((*windows).into(), &fits).expect("fits of these windows");
    assert_eq!(expected[7], Errors::unknown(), "{case}");
    let known = expected.iter().filter(|errors| !errors.exploding).count();
    assert!(known > fits.len() * 9 / 10, "{case}: the errors of {known} fits are known");
    for backend in backends {
        let fitter = backend.fitter(options);
        let errors = fitter.errors((*windows).into(), &fits).expect("fits of these windows");
        let tolerance = if fitter.is_single_precision() { SINGLE } else { DOUBLE };
        let near = |(errors, expected): &(&Errors, &Errors)| {
            let all = |of: &Errors| {
                let each = Parameter::ALL.map(|parameter| of.of(parameter));
                each.into_iter().chain([of.photons, of.goodness]).collect::<Vec<f32>>()
            };
            let pairs = all(errors).into_iter().zip(all(expected));
            let mut pairs = pairs.map(|(found, expected)| {
                found == expected || (found / expected - 1.0).abs() < tolerance
            });
            pairs.all(|near| near)
        };
        let near = errors.iter().zip(&expected).filter(near).count();
        let needed = if fitter.is_single_precision() { fits.len() * 99 / 100 } else { fits.len() };
        assert!(near >= needed, "{case}, {backend:?}: {near} of {} agree", fits.len());
    }
}

/// Proves that every backend finds the errors of the f64 reference, for every shape, profile, estimator and
/// camera, with camera maps and weights.
#[test]
fn every_backend_finds_the_errors_of_the_reference() {
    check(&arithmetics());
}

/// Proves it for the GPU.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_gpu_finds_the_errors_of_the_reference() {
    check(&[GPU]);
}

/// Proves that outcomes and errors that do not belong to the windows are refused, and nothing is written.
#[test]
fn what_does_not_belong_together_is_refused() {
    let stored = Stored::new("circular", "sampled");
    let [(_, windows), ..] = stored.windows();
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
