//! Fits are as far off as they say. All windows take a minute:
//!
//! ```sh
//! SPOTFIT_NIGHTLY=1 cargo test --release -p fit-tests --test spots stated:: -- --nocapture
//! ```

use fit_core::{Camera, Estimator, Fit, Start};
use fit_sim::SimulatedCamera;
use fit_tests::effort;
use fit_tests::stated::{Case, PHOTONS, Reads, SIZE, Summary, background, chance};
use spotfit::{Backend, Fitter, FitterOptions, Shape, Windows};

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

/// The offset of a camera in ADU, and its read noise in photo-electrons.
const OFFSET: f64 = 5000.0;
const READ_NOISE: f64 = 1.5;

/// Spots over so much background, of which so much seems to be there: the offset that is subtracted is too high by the rest.
fn mistaken(light: [f64; 2], seems: f64, estimator: Estimator) -> Vec<Case> {
    let camera = SimulatedCamera::default().with_baseline(OFFSET).with_read_noise(READ_NOISE);
    let taken = Camera::default().with_baseline(OFFSET + light[1] - seems);
    let mut cases = Case::of_all_shapes(light, Reads::Photons, estimator);
    for case in &mut cases {
        case.simulation = case.simulation.clone().with_camera(camera);
        case.options.camera = Some(taken.with_read_noise(READ_NOISE));
    }
    cases
}

/// Backgrounds, and what seems to be there: nothing wrong from 1000 on.
const SEEMS: [[f64; 2]; 9] = [
    [100.0, -1000.0],
    [1000.0, -1000.0],
    [100.0, -100.0],
    [100.0, -20.0],
    [100.0, 0.0],
    [100.0, 1.0],
    [1000.0, 10.0],
    [1000.0, 1000.0],
    [1e5, 1e5],
];

/// Proves that errors by least squares are those stated whatever was subtracted, and that maximum likelihood, which cannot fit what is
/// below 0, states none that is too small.
#[test]
fn errors_are_those_stated_whatever_was_subtracted() {
    let windows = effort(300, 300, 5000);
    let fitter = FitterOptions::default().with_backend(Backend::Cpu);
    for [background, seems] in SEEMS {
        // As bright as spots must be for errors that are normal.
        let photons = 200.0 * background.sqrt().max(10.0);
        for estimator in Estimator::ALL {
            for case in mistaken([photons, background], seems, estimator) {
                let summary = case.measure_with(windows, &fitter);
                println!("{case:<75} {background} seems {seems}: {summary}");
                let likely = estimator == Estimator::MaximumLikelihood;
                if likely && seems < 0.0 {
                    // Many are invalid, or say that they know nothing.
                    let found = windows - summary.exploding - summary.lost;
                    let most = 1.1 + chance(2 * found.max(1));
                    assert!(found == 0 || summary.position() < most, "{case}: {seems}: {summary}");
                    continue;
                }
                let (position, chance_of_two) = (summary.position(), chance(2 * windows));
                let within = position > 0.95 - chance_of_two && position < 1.05 + chance_of_two;
                assert!(within, "{case}: {background} seems {seems}: {position}");
                if likely || matches!(case.options.shape, Shape::Rotated(_)) {
                    continue;
                }
                for rms in summary.rms[2..5].iter().flatten() {
                    let within = *rms > 0.95 - chance(windows) && *rms < 1.06 + chance(windows);
                    assert!(within, "{case}: {background} seems {seems}: {summary}");
                }
            }
        }
    }
}

/// Proves that windows of a known camera have the errors of the model, to the last bit, though some of their pixels are below 0.
#[test]
fn errors_of_a_known_camera_are_those_of_the_model() {
    for estimator in Estimator::ALL {
        for case in mistaken([1000.0, 1.0], 1.0, estimator) {
            let spots = case.spots(200);
            let options = FitterOptions::default().with_backend(Backend::Reference);
            let fitter = Fitter::new(&options.with_fit(case.options)).expect("a fitter");
            let fits: Vec<Fit<f64>> =
                fitter.fit(spots.pixels.view(), Start::Estimate).expect("sound windows");
            let windows = Windows::stack(spots.pixels.view());
            let errors = fitter.errors(windows.into(), &fits).expect("fits of these windows");
            let model = fit_core::Fitter::<f64>::new(SIZE, &case.options).expect("sound options");
            let mut scratch = vec![0.0; fit_core::scratch_len(SIZE)];
            for (number, window) in spots.pixels.outer_iter().enumerate() {
                let pixels = window.as_slice().expect("in one piece");
                let expected = model.errors(pixels, &fits[number], &mut scratch).expect("errors");
                assert_eq!(errors[number], expected, "{case}: {number}");
            }
        }
    }
}
