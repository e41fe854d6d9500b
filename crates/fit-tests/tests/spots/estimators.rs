//! Every shape with every estimator against the minima that an outside optimizer found (SciPy; the scripts are beside
//! the data), on simulated windows that are stored here and on real images where these are at hand.

use std::f64::consts::FRAC_PI_2;
use std::fmt::Debug;

use fit_core::spot::shape::{Circular, Elliptical, FixedSigma, GivenSigma, Rotated};
use fit_core::{
    Background, Corner, Criteria, Estimator, Fit, Options, PixelProfile, Shape, Start, Status,
};
use fit_tests::data::{
    Answer, answers_folder, oracle_answers, read_stack, real_answers, real_data, shape_answers,
};
use fit_tests::tolerances::{OUTSIDE_DOUBLE, OUTSIDE_SINGLE};
use fit_tests::{GPU, TestBackend, arithmetics};
use ndarray::{Array3, Axis};
use spotfit::{Backend, CameraMap, Fitter, Pixel, Weights, Windows};

const REFERENCE: TestBackend = TestBackend::new(Backend::Reference, 1);

fn tight(shape: Shape, profile: PixelProfile, estimator: Estimator) -> Options {
    Options::default()
        .with_criteria(Criteria::TIGHT)
        .with_shape(shape)
        .with_profile(profile)
        .with_estimator(estimator)
}

/// The greatest difference of x, y and the widths; and of the ends of the axes, which an angle turns. An angle of −π/4
/// is one of π/4 with the widths exchanged.
fn distance(fit: &Fit<f64>, [x, y, sigma_x, sigma_y, angle]: [f64; 5]) -> f64 {
    let off = |[sigma_x, sigma_y, angle]: [f64; 3]| {
        let turned = (fit.angle - angle).abs() * (sigma_x - sigma_y).abs();
        [fit.x - x, fit.y - y, fit.sigma_x - sigma_x, fit.sigma_y - sigma_y, turned]
            .iter()
            .fold(0.0, |worst: f64, off| off.abs().max(worst))
    };
    let beside = angle - FRAC_PI_2.copysign(angle);
    off([sigma_x, sigma_y, angle]).min(off([sigma_y, sigma_x, beside]))
}

/// The share of the good answers that were found, and how many fits did not converge.
fn share(fits: &[Fit<f64>], answers: &[Answer], tolerance: f64) -> (f64, usize) {
    let good = || answers.iter().filter(|answer| answer.good);
    let off = |answer: &&Answer| distance(&fits[answer.window], answer.outline);
    let near = good().filter(|answer| off(answer) <= tolerance).count();
    let lost = |answer: &&Answer| {
        let status = fits[answer.window].status;
        matches!(status, Status::MaxIterations | Status::NotConverged | Status::Invalid)
    };
    (near as f64 / good().count() as f64, good().filter(lost).count())
}

/// Checks the share on every backend: in double precision `needed` at `tolerance`, in single precision at 10 times
/// that.
fn check<'a, P: Pixel + Debug>(
    backends: &[TestBackend],
    name: &str,
    options: Options,
    windows: &Windows<'a, P>,
    start: Start<'_>,
    answers: &[Answer],
    (needed, tolerance): (f64, f64),
) {
    for &backend in backends {
        let fitter: Fitter = backend.fitter(options);
        let single = fitter.is_single_precision();
        let tolerance = if single { OUTSIDE_SINGLE.max(tolerance) } else { tolerance };
        let needed = if single { needed - 0.005 } else { needed };
        let mut fits = vec![Fit::<f64>::invalid(); windows.count()];
        let result = fitter.fit_windows((*windows).into(), start, fits.as_mut_slice().into());
        result.unwrap_or_else(|error| panic!("{name}: {error}"));
        let (share, lost) = share(&fits, answers, tolerance);
        if backend == REFERENCE {
            let evaluations: u32 = fits.iter().map(|fit| fit.evaluations).sum();
            let mean = f64::from(evaluations) / fits.len() as f64;
            println!(
                "{name:<60} {:.2} % within {tolerance:e} px, {mean:.2} evaluations",
                100.0 * share
            );
        }
        assert!(share >= needed, "{name}, {backend:?}: {share} of {needed}");
        assert!(single || lost == 0, "{name}: {lost} not converged");
    }
}

fn profiles() -> [(&'static str, PixelProfile); 2] {
    [("sampled", PixelProfile::Sampled), ("integrated", PixelProfile::Integrated)]
}

const SHAPES: [(&str, Shape); 3] = [
    ("circular", Shape::Circular(Circular)),
    ("elliptical", Shape::Elliptical(Elliptical)),
    ("rotated", Shape::Rotated(Rotated)),
];

/// Proves that every backend finds the minima of 240 simulated windows for each shape and profile, with least squares,
/// weighted least squares and maximum likelihood, the latter also with a camera map.
#[test]
fn stored_minima_of_every_method_are_found() {
    find_stored_minima(&arithmetics());
}

/// Proves it for the GPU.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_gpu_finds_stored_minima_of_every_method() {
    find_stored_minima(&[GPU]);
}

fn find_stored_minima(backends: &[TestBackend]) {
    let folder = answers_folder("shapes");
    let weights = read_stack::<f32>(&folder.join("weights.npy"));
    let weights = weights.index_axis(Axis(0), 0);
    let map = |name| read_stack::<f32>(&folder.join("camera").join(format!("{name}.npy")));
    let (offset, gain, variance) = (map("offset"), map("gain"), map("variance"));
    let plane = |map: &Array3<f32>| map.index_axis(Axis(0), 0).to_owned();
    let map = CameraMap::new(plane(&offset).view(), plane(&gain).view(), plane(&variance).view());
    let map = map.expect("a camera");
    let within = (0.995, OUTSIDE_DOUBLE);
    for (profile_name, profile) in profiles() {
        for (shape_name, shape) in SHAPES {
            let set = format!("{shape_name}_{profile_name}");
            let pixels = read_stack::<u16>(&folder.join(format!("{set}.npy")));
            let windows = Windows::stack(pixels.view());
            for (name, estimator) in
                [("lse", Estimator::LeastSquares), ("mle", Estimator::MaximumLikelihood)]
            {
                let answers = shape_answers(&set, name);
                let options = tight(shape, profile, estimator);
                check(
                    backends,
                    &format!("{set}, {name}"),
                    options,
                    &windows,
                    Start::Estimate,
                    &answers,
                    within,
                );
                if shape_name == "rotated" {
                    continue;
                }
                let answers = shape_answers(&set, &format!("fixed_{name}"));
                let given: Vec<[f64; 5]> = answers
                    .iter()
                    .map(|Answer { outline: [x, y, sigma_x, sigma_y, angle], .. }| {
                        [x + 0.2, y - 0.3, *sigma_x, *sigma_y, *angle]
                    })
                    .collect();
                let options = tight(Shape::GivenSigma(GivenSigma), profile, estimator);
                let start = Start::Outlines(&given);
                check(
                    backends,
                    &format!("{set}, fixed σ, {name}"),
                    options,
                    &windows,
                    start,
                    &answers,
                    within,
                );
            }
            let corners = vec![Corner::default(); pixels.dim().0];
            let weighted = windows.with_weights(Weights::Frame(weights)).with_corners(&corners);
            let options = tight(shape, profile, Estimator::LeastSquares);
            let answers = shape_answers(&set, "weighted");
            check(
                backends,
                &format!("{set}, weighted"),
                options,
                &weighted,
                Start::Estimate,
                &answers,
                within,
            );
            if shape_name == "rotated" {
                continue;
            }
            let pixels = read_stack::<u16>(&folder.join(format!("{set}_scmos.npy")));
            let mapped = Windows::stack(pixels.view()).with_map(&map).with_corners(&corners);
            let options = tight(shape, profile, Estimator::MaximumLikelihood);
            let answers = shape_answers(&set, "mle_map");
            check(
                backends,
                &format!("{set}, mle with map"),
                options,
                &mapped,
                Start::Estimate,
                &answers,
                within,
            );
        }
    }
}

/// Proves that the minima of real images are found: elliptical and circular shapes of the oracles, and the integrated
/// profile and a fixed σ of SciPy's answers.
#[test]
#[cfg_attr(not(real_images), ignore = "needs the real images: SPOTFIT_DATA names their folder")]
fn real_minima_of_every_method_are_found() {
    let backends = &arithmetics()[..];
    let folder = real_data().expect("the folder of the real images");
    let (lse, mle) = (Estimator::LeastSquares, Estimator::MaximumLikelihood);
    let (sampled, integrated) = (PixelProfile::Sampled, PixelProfile::Integrated);
    let elliptical = Shape::Elliptical(Elliptical);
    for set in ["picasso", "sdt_beads", "spotiflow_telomeres", "zhuang_storm_emccd"] {
        let pixels = read_stack::<f32>(&folder.join(set).join("spots.npy"));
        let windows = Windows::stack(pixels.view());
        let width = pixels.dim().2;
        // One bead has two minima.
        let needed = if set == "sdt_beads" { 60.0 / 61.0 } else { 0.99 };
        let oracles = [
            ("oracle_ls_ell", elliptical, lse),
            ("oracle_mle_sym", Shape::default(), mle),
            ("oracle_mle_ell", elliptical, mle),
        ];
        for (oracle, shape, estimator) in oracles {
            let answers = oracle_answers(&folder, set, oracle, width);
            let options = tight(shape, sampled, estimator).with_background(Background::Free);
            let name = format!("{set}, {oracle}");
            check(backends, &name, options, &windows, Start::Estimate, &answers, (needed, 1e-3));
        }
        for (name, estimator) in [("lse", lse), ("mle", mle)] {
            let answers = real_answers(set, &format!("elliptical_integrated_{name}"));
            let options = tight(elliptical, integrated, estimator);
            let title = format!("{set}, elliptical integrated {name}");
            check(backends, &title, options, &windows, Start::Estimate, &answers, (0.98, 1e-3));
            let answers = real_answers(set, &format!("circular_fixed_{name}"));
            let sigma = answers[0].outline[2];
            let shape = Shape::FixedSigma(FixedSigma { sigma });
            let options = tight(shape, sampled, estimator);
            let title = format!("{set}, fixed σ {name}");
            check(backends, &title, options, &windows, Start::Estimate, &answers, (0.98, 1e-3));
        }
    }
}
