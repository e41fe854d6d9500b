//! Every shape with every estimator against the minima that an outside optimizer found (SciPy; the scripts are beside
//! the data), on simulated windows that are stored here and on real images where these are at hand.

use std::fmt::Debug;

use fit_core::spot::shape::{FixedSigma, GivenSigma};
use fit_core::{Estimator, Options, PixelProfile, Shape, Start};
use fit_tests::data::{
    Answer, answers_folder, read_stack, real_answers, real_data, real_oracle, shape_answers,
    stored_camera,
};
use fit_tests::spots::{METHODS, PROFILES, Weighed, fitted, share, tight};
use fit_tests::tolerances::{OUTSIDE_DOUBLE, OUTSIDE_SINGLE};
use fit_tests::{GPU, TestBackend, arithmetics, on_backends};
use spotfit::{Backend, Pixel, Windows};

/// Checks the share on every backend: in double precision `needed` at `tolerance`, in single precision at 10 times
/// that.
fn check<P: Pixel + Debug>(
    backends: &[TestBackend],
    name: &str,
    options: Options,
    (windows, start): (&Windows<'_, P>, Start<'_>),
    answers: &[Answer],
    (needed, tolerance): (f64, f64),
) {
    for &backend in backends {
        let fitter = backend.fitter(options);
        let single = fitter.is_single_precision();
        let tolerance = if single { OUTSIDE_SINGLE.max(tolerance) } else { tolerance };
        let needed = if single { needed - 0.005 } else { needed };
        let fits = fitted(&fitter, windows, start);
        let (share, lost) = share(&fits, answers, tolerance);
        if backend.backend == Backend::Reference {
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

const SHAPES: [(&str, Shape); 3] =
    [("circular", Shape::CIRCULAR), ("elliptical", Shape::ELLIPTICAL), ("rotated", Shape::ROTATED)];

fn find_stored_minima(backends: &[TestBackend]) {
    let camera = stored_camera();
    let sets = ["sampled", "integrated"].into_iter().zip(PROFILES);
    for ((profile_name, profile), (shape_name, shape)) in
        sets.flat_map(|profile| SHAPES.map(|shape| (profile, shape)))
    {
        let set = format!("{shape_name}_{profile_name}");
        let read = |set: &str| read_stack::<u16>(&answers_folder("shapes").join(set));
        let check = |shape: Shape, windows: &_, start: Start<'_>, estimator, name: &str| {
            let options = tight(shape, profile, estimator);
            let (answers, within) = (shape_answers(&set, name), (0.995, OUTSIDE_DOUBLE));
            check(backends, &format!("{set}, {name}"), options, (windows, start), &answers, within);
        };
        let pixels = read(&format!("{set}.npy"));
        let weights = Weighed::new(camera.weights.clone(), pixels.dim().0);
        let plain = Windows::stack(pixels.view());
        for (name, estimator, weighted) in METHODS {
            check(shape, &weights.of(plain, weighted), Start::Estimate, estimator, name);
            if shape_name == "rotated" || weighted {
                continue;
            }
            let name = format!("fixed_{name}");
            let beside = |answer: Answer| {
                let [x, y, sigma_x, sigma_y, angle] = answer.outline;
                [x + 0.2, y - 0.3, sigma_x, sigma_y, angle]
            };
            let given: Vec<_> = shape_answers(&set, &name).into_iter().map(beside).collect();
            let shape = Shape::GivenSigma(GivenSigma);
            check(shape, &plain, Start::Outlines(&given), estimator, &name);
        }
        if shape_name != "rotated" {
            let pixels = read(&format!("{set}_scmos.npy"));
            let windows = Windows::stack(pixels.view()).with_map(&camera.map);
            let windows = windows.with_corners(weights.corners());
            let estimator = Estimator::MaximumLikelihood;
            check(shape, &windows, Start::Estimate, estimator, "mle_map");
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
    for set in ["picasso", "sdt_beads", "spotiflow_telomeres", "zhuang_storm_emccd"] {
        // One bead has two minima.
        let needed = if set == "sdt_beads" { 60.0 / 61.0 } else { 0.99 };
        let pixels = read_stack::<f32>(&folder.join(set).join("spots.npy"));
        let windows = (&Windows::stack(pixels.view()), Start::Estimate);
        let check = |name: &str, options: Options, answers: &[Answer], needed: f64| {
            check(backends, &format!("{set}, {name}"), options, windows, answers, (needed, 1e-3));
        };
        for (oracle, shape, estimator) in [
            ("oracle_ls_ell", Shape::ELLIPTICAL, lse),
            ("oracle_mle_sym", Shape::CIRCULAR, mle),
            ("oracle_mle_ell", Shape::ELLIPTICAL, mle),
        ] {
            let answers = real_oracle(&folder, set, oracle).answers;
            check(oracle, tight(shape, sampled, estimator), &answers, needed);
        }
        for (name, estimator) in [("lse", lse), ("mle", mle)] {
            let title = format!("elliptical_integrated_{name}");
            let options = tight(Shape::ELLIPTICAL, integrated, estimator);
            check(&title, options, &real_answers(set, &title), 0.98);
            let title = format!("circular_fixed_{name}");
            let answers = real_answers(set, &title);
            let shape = Shape::FixedSigma(FixedSigma { sigma: answers[0].outline[2] });
            check(&title, tight(shape, sampled, estimator), &answers, 0.98);
        }
    }
}

on_backends! {
    /// Proves that every backend finds the minima of 240 simulated windows for each shape and profile, with least squares,
    /// weighted least squares and maximum likelihood, the latter also with a camera map.
    stored_minima_of_every_method_are_found(&arithmetics()), the_gpu_finds_stored_minima_of_every_method(&[GPU]) => find_stored_minima;
}
