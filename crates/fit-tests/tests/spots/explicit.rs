//! Proves the explicit baseline: it finds the same minima as the implicit fit, its derivatives lead
//! there, and it behaves as Gpufit is known to.

use fit_core::{Circle, Fit, Options, Size, Start, Status};
use fit_cpu::Reference;
use fit_sim::SpotSimulation;
use fit_tests::explicit::{ExplicitCriteria, ExplicitStart, fit_explicit, fit_explicit_stack};
use fit_tests::hostile::fault;

const NINE: Size = Size::new(9, 9);

fn bright() -> SpotSimulation {
    SpotSimulation::new(NINE).with_signal(1600.0)
}

/// Proves that the minimum of five explicit parameters is that of three with implicit amplitudes.
#[test]
fn explicit_and_implicit_minima_are_the_same() {
    let spots = bright().generate(0..500).unwrap();
    let tight = ExplicitCriteria { tolerance: 1e-12, max_iterations: 200 };
    let explicit: Vec<Fit<f64>> =
        fit_explicit_stack(spots.pixels.view(), Start::Estimate, &tight).unwrap();
    let options = Options::default().with_criteria(fit_core::Criteria::TIGHT);
    let mut implicit = vec![Fit::<f64>::invalid(); 500];
    let reference = Reference::<f64>::new(1).unwrap();
    reference.fit_into(&options, spots.pixels.view(), Start::Estimate, &mut implicit).unwrap();
    for (a, b) in explicit.iter().zip(&implicit) {
        assert!((a.x - b.x).abs() < 1e-4 && (a.y - b.y).abs() < 1e-4, "{a:?} {b:?}");
        assert!((a.sigma - b.sigma).abs() < 1e-4, "{a:?} {b:?}");
        assert!((a.amplitude / b.amplitude - 1.0).abs() < 1e-3, "{a:?} {b:?}");
        assert!((a.chi2 / b.chi2 - 1.0).abs() < 1e-6, "{a:?} {b:?}");
    }
}

/// Proves that the implicit fit needs fewer iterations than the explicit one with the papers'
/// criteria, in single precision as they were run: the point of Leutenegger & Weber 2021.
#[test]
fn implicit_amplitudes_save_iterations() {
    let spots = bright().generate(0..5000).unwrap();
    let criteria = ExplicitCriteria { tolerance: 1e-6, max_iterations: 20 };
    let explicit: Vec<Fit<f32>> =
        fit_explicit_stack(spots.pixels.view(), Start::Estimate, &criteria).unwrap();
    let mut implicit = vec![Fit::<f32>::invalid(); 5000];
    let reference = Reference::<f32>::new(2).unwrap();
    let options = Options::default();
    reference.fit_into(&options, spots.pixels.view(), Start::Estimate, &mut implicit).unwrap();
    let mean = |fits: &[Fit<f32>]| {
        fits.iter().map(|fit| f64::from(fit.iterations)).sum::<f64>() / fits.len() as f64
    };
    let (a, b) = (mean(&explicit), mean(&implicit));
    assert!(b < 0.98 * a, "{a} explicit, {b} implicit");
}

/// Proves that every trial counts, that the limit holds, and that a start at the minimum ends at
/// once.
#[test]
fn iterations_are_trials() {
    let spots = bright().generate(0..50).unwrap();
    for window in spots.pixels.outer_iter() {
        let pixels: Vec<f64> = window.iter().map(|&p| f64::from(p)).collect();
        let start = ExplicitStart::estimate(&pixels, NINE, None);
        let few = ExplicitCriteria { tolerance: 1e-4, max_iterations: 2 };
        let fit = fit_explicit(&pixels, NINE, start, &few).unwrap();
        assert_eq!((fit.iterations, fit.status), (2, Status::MaxIterations));
        let end = ExplicitCriteria { tolerance: 1e-10, max_iterations: 100 };
        let fit = fit_explicit(&pixels, NINE, start, &end).unwrap();
        assert_eq!(fit.status, Status::MinDelta, "{fit:?}");
        let again = ExplicitStart {
            shape: Circle::new(fit.x, fit.y, fit.sigma),
            amplitude: fit.amplitude,
            background: fit.background,
        };
        let fit = fit_explicit(&pixels, NINE, again, &few).unwrap();
        assert_eq!((fit.iterations, fit.status), (1, Status::MinDelta));
    }
}

/// Proves that hopeless windows end with a status and finite numbers, or as invalid.
#[test]
fn hopeless_windows_end() {
    for pixels in [[0.0f32; 81], [1e30; 81], [f32::NAN; 81]] {
        let start = ExplicitStart::estimate(&pixels, NINE, None);
        let fit = fit_explicit(&pixels, NINE, start, &ExplicitCriteria::default()).unwrap();
        assert_eq!(fault(&fit.cast()), None, "{fit:?}");
    }
    let start = ExplicitStart::estimate(&[0.0f32; 81], NINE, None);
    assert!(fit_explicit(&[0.0f32; 80], NINE, start, &ExplicitCriteria::default()).is_err());
}
