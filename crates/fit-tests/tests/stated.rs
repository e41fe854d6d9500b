//! Fits are as far off as they say. All windows take a minute:
//!
//! ```sh
//! SPOTFIT_TESTS=all cargo test --release -p fit-tests --test stated -- --nocapture
//! ```

use fit_core::Estimator;
use fit_tests::stated::{Case, PHOTONS, Reads, Summary};
use spotfit::{Backend, FitterOptions, Shape};

/// Windows of a case: a tenth of them where long tests are not wanted.
const COUNT: usize = if cfg!(long_tests) { 20_000 } else { 2000 };

/// Photons of the background in a pixel: that of the paper, 40 in a window.
const BACKGROUND: f64 = 40.0 / 81.0;

/// By how much the root mean square of so many numbers may be off, as a share: four standard errors.
fn chance(numbers: usize) -> f64 {
    4.0 / (2.0 * numbers as f64).sqrt()
}

fn measure(case: &Case) -> Summary {
    let fitter = FitterOptions::default().with_backend(Backend::Cpu);
    let summary = case.measure_with(COUNT, &fitter);
    println!("{case:<75} {summary}");
    summary
}

/// Checks every shape, profile and estimator: the positions from some photons on, all else from 400.
fn check(reads: Reads, limits: impl Fn(f64, Estimator) -> Option<(f64, f64)>) {
    for photons in PHOTONS {
        for estimator in Estimator::ALL {
            let Some((low, high)) = limits(photons, estimator) else { continue };
            for case in Case::of_all_shapes([photons, BACKGROUND], reads, estimator) {
                let summary = measure(&case);
                assert!(summary.exploding() <= 0.005 && summary.lost == 0, "{case}: {summary}");
                let (position, chance_of_two) = (summary.position(), chance(2 * COUNT));
                let within = position > low - chance_of_two && position < high + chance_of_two;
                assert!(within, "{case}: {position} is not within {low} to {high}");
                // The widths of a turned spot that is nearly a circle do not err normally.
                let rotated = matches!(case.options.shape, Shape::Rotated(_));
                for rms in
                    summary.rms[2..].iter().flatten().filter(|_| photons >= 400.0 && !rotated)
                {
                    let within = *rms > 0.97 - chance(COUNT) && *rms < 1.04 + chance(COUNT);
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
    check(Reads::Photons, |photons, estimator| {
        let likely = estimator == Estimator::MaximumLikelihood;
        Some(match (photons, likely) {
            (..150.0, true) => (0.98, 1.05),
            (..150.0, false) => (0.98, 1.09),
            (..300.0, true) => (0.98, 1.04),
            (..300.0, false) => (0.98, 1.06),
            _ => (0.98, 1.02),
        })
    });
}

/// Proves it for an EMCCD camera, from 200 photons on.
#[test]
fn errors_are_those_stated_with_em_gain() {
    check(Reads::Multiplied, |photons, _| (photons >= 200.0).then_some((0.98, 1.04)));
}

/// Proves it for an sCMOS camera that is fitted with its maps, from 200 photons on.
#[test]
fn errors_are_those_stated_with_a_map() {
    check(Reads::Mapped, |photons, _| (photons >= 200.0).then_some((0.98, 1.04)));
}

/// Proves that bright spots on an sCMOS camera are further off than stated where the map is ignored: the map is of use.
#[test]
fn a_map_that_is_ignored_is_missed() {
    for estimator in Estimator::ALL {
        for case in Case::of_all_shapes([1e5, BACKGROUND], Reads::MapIgnored, estimator) {
            let summary = measure(&case);
            assert!(summary.position() > 1.3, "{case}: {summary}");
        }
    }
}
