//! Fits are as far off as they say. All windows take a minute:
//!
//! ```sh
//! SPOTFIT_NIGHTLY=1 cargo test --release -p fit-tests --test spots stated:: -- --nocapture
//! ```

use fit_core::Estimator;
use fit_tests::effort;
use fit_tests::stated::{Case, PHOTONS, Reads, Summary, background, chance};
use spotfit::{Backend, FitterOptions, Shape};

/// Windows of a case: a tenth of them but in a night. [`chance`] says what their number leaves open.
fn count() -> usize {
    effort(2000, 2000, 20_000)
}

fn measure(case: &Case) -> Summary {
    let fitter = FitterOptions::default().with_backend(Backend::Cpu);
    let summary = case.measure_with(count(), &fitter);
    println!("{case:<75} {summary}");
    summary
}

/// Checks every shape, profile and estimator: the positions from some photons on, all else where spots are
/// brighter.
fn check(reads: Reads, limits: impl Fn(f64, Estimator) -> Option<(f64, f64)>) {
    for photons in PHOTONS {
        for estimator in Estimator::ALL {
            let Some((low, high)) = limits(photons, estimator) else { continue };
            // Few fits by least squares with EM gain or noisy pixels are so far off that they alone make the mean.
            let slow = reads != Reads::Photons && estimator == Estimator::LeastSquares;
            let faintest = if slow { 1000.0 } else { 400.0 };
            for case in Case::of_all_shapes([photons, background(photons)], reads, estimator) {
                let summary = measure(&case);
                assert!(summary.exploding() <= 0.005 && summary.lost == 0, "{case}: {summary}");
                let (position, chance_of_two) = (summary.position(), chance(2 * count()));
                let within = position > low - chance_of_two && position < high + chance_of_two;
                assert!(within, "{case}: {position} is not within {low} to {high}");
                // The widths of a turned spot that is nearly a circle do not err normally.
                if photons < faintest || matches!(case.options.shape, Shape::Rotated(_)) {
                    continue;
                }
                for rms in summary.rms[2..].iter().flatten() {
                    let within = *rms > 0.97 - chance(count()) && *rms < 1.04 + chance(count());
                    assert!(within, "{case}: {rms} is not within 0.97 to 1.04, {summary}");
                }
            }
        }
    }
}

/// Proves that errors are those stated where photons are counted: of x and y within 2 % from 400 photons on, and for
/// fainter spots little more; of widths, photons and background from 400 photons on.
#[test]
fn errors_are_those_stated() {
    check(Reads::Photons, |photons, estimator| match estimator {
        // A few of 10,000 least-squares fits of 100 photons are so far off that they alone make the mean.
        Estimator::LeastSquares if photons < 150.0 => None,
        _ if photons < 150.0 => Some((0.98, 1.06)),
        _ if photons < 300.0 => Some((0.98, 1.04)),
        _ => Some((0.98, 1.02)),
    });
}

/// From 200 photons on; least squares, of which a few fits are far off, from 400.
fn noisy(photons: f64, estimator: Estimator) -> Option<(f64, f64)> {
    let faintest = if estimator == Estimator::MaximumLikelihood { 200.0 } else { 400.0 };
    (photons >= faintest).then_some((0.98, 1.04))
}

/// Proves it for an EMCCD camera.
#[test]
fn errors_are_those_stated_with_em_gain() {
    check(Reads::Multiplied, noisy);
}

/// Proves it for an sCMOS camera that is fitted with its maps.
#[test]
fn errors_are_those_stated_with_a_map() {
    check(Reads::Mapped, noisy);
}

/// Proves that bright spots on an sCMOS camera are further off than stated where the map is ignored: the map is of use.
#[test]
fn a_map_that_is_ignored_is_missed() {
    for estimator in Estimator::ALL {
        for case in Case::of_all_shapes([1e5, background(1e5)], Reads::MapIgnored, estimator) {
            let summary = measure(&case);
            assert!(summary.position() > 1.3, "{case}: {summary}");
        }
    }
}
