//! Every shape with every estimator against the minima that an outside optimizer found (SciPy; the scripts are beside
//! the data), on simulated windows that are stored here and on real images where these are at hand.

use std::fmt::Debug;

use fit_core::spot::assembly::assemble;
use fit_core::spot::shape::{FixedSigma, GivenSigma};
use fit_core::spot::sums::direct;
use fit_core::{
    Background, Circle, Criteria, Estimator, Fit, Options, PixelProfile, Shape, Size, Start,
    condition,
};
use fit_cpu::Reference;
use fit_tests::data::{
    Answer, Oracle, REAL_SETS, answers_folder, read_stack, real_answers, real_data, real_oracle,
    shape_answers, stored_camera, stored_oracles,
};
use fit_tests::spots::{METHODS, PROFILES, Weighed, distance, fitted, share, tight};
use fit_tests::statistics::largest;
use fit_tests::tolerances::{OUTSIDE_DOUBLE, OUTSIDE_SINGLE};
use fit_tests::{GPU, TestBackend, arithmetics, backends, on_backends};
use ndarray::Axis;
use spotfit::{Backend, Pixel, Windows};

/// Checks the share on every backend, of double and of single precision, at a tolerance, in single precision at 10 times
/// that; and how many found no minimum.
fn check<P: Pixel + Debug>(
    backends: &[TestBackend],
    name: &str,
    options: Options,
    (windows, start): (&Windows<'_, P>, Start<'_>),
    answers: &[Answer],
    (needed, tolerance, most_lost): ([f64; 2], f64, usize),
) {
    for &backend in backends {
        let fitter = backend.fitter(options);
        let single = fitter.is_single_precision();
        let tolerance = if single { OUTSIDE_SINGLE.max(tolerance) } else { tolerance };
        let needed = needed[usize::from(single)];
        let fits = fitted(&fitter, windows, start);
        let (share, lost) = share(&fits, answers, tolerance);
        if backend.backend == Backend::Reference {
            let evaluations: u32 = fits.iter().map(|fit| fit.evaluations).sum();
            let mean = f64::from(evaluations) / fits.len() as f64;
            println!("{name:<60} {share:.4} within {tolerance:e} px, {mean:.2} evaluations");
        }
        assert!(share >= needed, "{name}, {backend:?}: {share} of {needed}");
        assert!(single || lost <= most_lost, "{name}: {lost} not converged");
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
            let (answers, within) = (shape_answers(&set, name), ([0.995, 0.99], OUTSIDE_DOUBLE, 0));
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
            let within = ([needed, needed - 0.005], 1e-3, 0);
            check(backends, &format!("{set}, {name}"), options, windows, answers, within);
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

fn tight_circles() -> Options {
    tight(Shape::CIRCULAR, PixelProfile::Sampled, Estimator::LeastSquares)
}

/// Checks circular spots of a set with the share that is needed.
fn check_oracle(backends: &[TestBackend], oracle: &Oracle, needed: f64) {
    let (spots, options) = (oracle.spots.view(), tight_circles());
    let (windows, within) = (Windows::stack(spots), ([needed; 2], OUTSIDE_DOUBLE, usize::MAX));
    check(backends, &oracle.name, options, (&windows, Start::Estimate), &oracle.answers, within);
    if backends == [GPU] {
        return;
    }
    for preset in [Criteria::DEFAULT, Criteria::PAPER] {
        let reference =
            TestBackend::new(Backend::Reference, 1).fitter(options.with_criteria(preset));
        let fits = fitted(&reference, &windows, Start::Estimate);
        let share = share(&fits, &oracle.answers, OUTSIDE_DOUBLE).0;
        println!("{}: {share:.4} within {OUTSIDE_DOUBLE:e} px with {preset:?}", oracle.name);
    }
    // The reference in single precision is no backend of the facade, but is held to the same.
    let mut fits = vec![Fit::<f64>::invalid(); oracle.answers.len()];
    let single = Reference::<f32>::new(1).expect("one thread needs no other");
    single.fit_into(&options, spots, Start::Estimate, &mut fits).expect("large enough");
    let (share, _) = share(&fits, &oracle.answers, OUTSIDE_SINGLE);
    println!("{:<20} reference f32 {:6.2} % within 1e-3 px", oracle.name, 100.0 * share);
    assert!(share >= needed, "{}: {share} of {needed}", oracle.name);
    explain_differences(oracle);
}

/// Lists the fits that differ from the oracle, and proves that each is a minimum of its own or on
/// its way to the oracle's: carried on with nothing but rounding to stop it, it ends where the
/// gradient is zero to rounding.
fn explain_differences(oracle: &Oracle) {
    let reference = TestBackend::new(Backend::Reference, 1);
    let (_, height, width) = oracle.spots.dim();
    let size = Size::new(width, height);
    let windows = Windows::stack(oracle.spots.view());
    let fits = fitted(&reference.fitter(tight_circles()), &windows, Start::Estimate);
    for (spot, (answer, fit)) in oracle.answers.iter().zip(fits).enumerate() {
        if !answer.good || distance(&fit, answer.outline) <= OUTSIDE_DOUBLE {
            continue;
        }
        let to_the_end = Criteria::TIGHT
            .with_max_iterations(10_000)
            .with_max_evaluations(50_000)
            .with_min_delta(0.0)
            .with_min_step(0.0);
        let fitter = reference.fitter(Options::default().with_criteria(to_the_end));
        let window = Windows::stack(oracle.spots.slice(ndarray::s![spot..=spot, .., ..]));
        let end = fitted(&fitter, &window, Start::F64(&[[fit.x, fit.y, fit.sigma]]))[0];
        let pixels: Vec<f64> =
            oracle.spots.index_axis(Axis(0), spot).iter().map(|&p| f64::from(p)).collect();
        println!(
            "{} {spot}: χ² {:.6} ({} after {}), gradient {:.1e}; carried on {:.6}, gradient {:.1e}; \
             {:.1e} px from the oracle's",
            oracle.name,
            fit.chi2,
            fit.status,
            fit.iterations,
            gradient(&pixels, size, &fit),
            end.chi2,
            gradient(&pixels, size, &end),
            distance(&end, answer.outline),
        );
        assert!(gradient(&pixels, size, &end) < 1e-12, "{} {spot}: {end:?}", oracle.name);
    }
}

/// The largest cosine between the residual and a column of the Jacobian: 0 at a minimum, whatever
/// the units.
fn gradient(pixels: &[f64], size: Size, fit: &Fit<f64>) -> f64 {
    let mut conditioned = pixels.to_vec();
    let data = condition(&mut conditioned);
    let sums = direct(&conditioned, size, Circle::new(fit.x, fit.y, fit.sigma));
    let at = assemble(&sums, &data, Background::Free).normal;
    largest((0..3).map(|j| at.gradient[j].abs() / (at.hessian.at(j, j) * at.cost).sqrt()))
}

fn find_stored_circles(backends: &[TestBackend]) {
    let oracles = stored_oracles();
    assert!(oracles.iter().map(|oracle| oracle.answers.len()).sum::<usize>() >= 500);
    for oracle in &oracles {
        let good = oracle.answers.iter().filter(|answer| answer.good).count();
        assert!(good * 100 >= oracle.answers.len() * 95, "{}: {good} good", oracle.name);
        check_oracle(backends, oracle, 0.99);
    }
}

fn find_real_circles(backends: &[TestBackend]) {
    let folder = real_data().expect("the folder of the real images");
    for (name, needed) in REAL_SETS {
        check_oracle(backends, &real_oracle(&folder, name, "oracle_ls_sym"), needed);
    }
}

/// Proves that every backend finds the minima that MINPACK found for real images.
#[test]
#[cfg_attr(not(real_images), ignore = "needs the real images: SPOTFIT_DATA names their folder")]
fn real_images_are_fitted() {
    find_real_circles(&backends());
}

/// Proves that the GPU finds the minima that MINPACK found for real images.
#[test]
#[ignore = "needs an NVIDIA GPU and the real images: SPOTFIT_DATA names their folder"]
fn minima_of_real_images_are_found_by_the_gpu() {
    find_real_circles(&[GPU]);
}

on_backends! {
    /// Proves that every backend finds the minima that MINPACK finds for 600 simulated windows.
    stored_minima_are_found(&backends()), minima_are_found_by_the_gpu(&[GPU]) => find_stored_circles;

    /// Proves that every backend finds the minima of 240 simulated windows for each shape and profile, with least squares,
    /// weighted least squares and maximum likelihood, the latter also with a camera map.
    stored_minima_of_every_method_are_found(&arithmetics()), the_gpu_finds_stored_minima_of_every_method(&[GPU]) => find_stored_minima;
}
