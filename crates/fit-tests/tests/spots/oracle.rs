//! Against the minima that an outside optimizer found: MINPACK on stored simulated windows, which
//! run everywhere, and on real images where these are at hand.

use fit_core::condition;
use fit_core::spot::assembly::assemble;
use fit_core::spot::sums::direct;
use fit_core::{Background, Circle, Criteria, Options, Size};
use fit_cpu::Reference;
use fit_tests::data::{Oracle, REAL_SETS, real_data, real_oracle, stored_oracles};
use fit_tests::spots::{distance, share};
use fit_tests::statistics::largest;
use fit_tests::tolerances::{OUTSIDE_DOUBLE, OUTSIDE_SINGLE};
use fit_tests::{GPU, TestBackend, backends, on_backends};
use ndarray::Axis;
use spotfit::{Backend, Fit, Start};

fn fit(oracle: &Oracle, backend: TestBackend, criteria: Criteria) -> Vec<Fit<f64>> {
    let fitter = backend.fitter(Options::default().with_criteria(criteria));
    fitter.fit(oracle.spots.view(), Start::Estimate).expect("the windows are large enough")
}

/// Prints and checks the shares of a set on every backend with every preset.
fn check(oracle: &Oracle, needed: f64, backends: &[TestBackend]) {
    let presets =
        [("tight", Criteria::TIGHT), ("default", Criteria::DEFAULT), ("paper", Criteria::PAPER)];
    for &backend in backends {
        let single = backend.fitter(Options::default()).is_single_precision();
        let tolerance = if single { OUTSIDE_SINGLE } else { OUTSIDE_DOUBLE };
        for (name, criteria) in presets {
            let (share, _) = share(&fit(oracle, backend, criteria), &oracle.answers, tolerance);
            let backend_name = backend.backend;
            println!(
                "{:<20} {backend_name:<9} {name:<8} {:6.2} % within {tolerance:e} px",
                oracle.name,
                100.0 * share
            );
            if name == "tight" {
                assert!(share >= needed, "{}, {backend:?}: {share} of {needed}", oracle.name);
            }
        }
    }
}

/// Lists the fits that differ from the oracle, and proves that each is a minimum of its own or on
/// its way to the oracle's: carried on with nothing but rounding to stop it, it ends where the
/// gradient is zero to rounding.
fn explain_differences(oracle: &Oracle) {
    let reference = TestBackend::new(Backend::Reference, 1);
    let (_, height, width) = oracle.spots.dim();
    let size = Size::new(width, height);
    let fits = fit(oracle, reference, Criteria::TIGHT);
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
        let window = oracle.spots.slice(ndarray::s![spot..=spot, .., ..]);
        let start = [[fit.x, fit.y, fit.sigma]];
        let end: Vec<Fit<f64>> = fitter.fit(window, Start::F64(&start)).expect("as above");
        let end = end[0];
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

/// The reference in single precision is no backend of the facade, but is held to the same.
fn check_single_reference(oracle: &Oracle, needed: f64) {
    let options = Options::default().with_criteria(Criteria::TIGHT);
    let mut fits = vec![Fit::<f64>::invalid(); oracle.answers.len()];
    let reference = Reference::<f32>::new(1).expect("one thread needs no other");
    let fitted = reference.fit_into(&options, oracle.spots.view(), Start::Estimate, &mut fits);
    fitted.expect("the windows are large enough");
    let (share, _) = share(&fits, &oracle.answers, OUTSIDE_SINGLE);
    println!("{:<20} reference f32 tight {:6.2} % within 1e-3 px", oracle.name, 100.0 * share);
    assert!(share >= needed, "{}: {share} of {needed}", oracle.name);
}

/// Checks sets with the shares that are needed.
fn check_all(sets: impl Iterator<Item = (Oracle, f64)>, backends: &[TestBackend]) {
    for (oracle, needed) in sets {
        check(&oracle, needed, backends);
        if backends != [GPU] {
            check_single_reference(&oracle, needed);
            explain_differences(&oracle);
        }
    }
}

fn find_stored(backends: &[TestBackend]) {
    let oracles = stored_oracles();
    assert!(oracles.iter().map(|oracle| oracle.answers.len()).sum::<usize>() >= 500);
    for oracle in &oracles {
        let good = oracle.answers.iter().filter(|answer| answer.good).count();
        assert!(good * 100 >= oracle.answers.len() * 95, "{}: {good} good", oracle.name);
    }
    check_all(oracles.into_iter().map(|oracle| (oracle, 0.99)), backends);
}

fn find_real(backends: &[TestBackend]) {
    let folder = real_data().expect("the folder of the real images");
    let set = |(name, needed)| (real_oracle(&folder, name, "oracle_ls_sym"), needed);
    check_all(REAL_SETS.into_iter().map(set), backends);
}

/// Proves that every backend finds the minima that MINPACK found for real images.
#[test]
#[cfg_attr(not(real_images), ignore = "needs the real images: SPOTFIT_DATA names their folder")]
fn real_images_are_fitted() {
    find_real(&backends());
}

/// Proves that the GPU finds the minima that MINPACK found for real images.
#[test]
#[ignore = "needs an NVIDIA GPU and the real images: SPOTFIT_DATA names their folder"]
fn minima_of_real_images_are_found_by_the_gpu() {
    find_real(&[GPU]);
}

on_backends! {
    /// Proves that every backend finds the minima that MINPACK finds for 600 simulated windows.
    stored_minima_are_found(&backends()), minima_are_found_by_the_gpu(&[GPU]) => find_stored;
}
