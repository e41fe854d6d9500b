//! How fits end: as in double precision, with what is true of the pixels, and on a limit only if they say so.

use fit_core::{Background, Criteria, Limits, MaxError, Options, Size};
use fit_sim::{Random, SimulatedSpots, SpotSimulation};
use fit_tests::spots::fitted;
use fit_tests::{GPU, TestBackend, backends, on_backends};
use ndarray::Array3;
use spotfit::{Backend, Fit, Start, Status, Windows};

/// Every instruction set, one thread each: threads change nothing.
fn alone() -> Vec<TestBackend> {
    backends().into_iter().filter(|backend| backend.threads == 1).collect()
}

fn fit(
    backend: TestBackend,
    options: Options,
    spots: &Array3<f32>,
    start: Start<'_>,
) -> Vec<Fit<f64>> {
    fitted(&backend.fitter(options), &Windows::stack(spots.view()), start)
}

fn reference(options: Options, spots: &Array3<f32>, start: Start<'_>) -> Vec<Fit<f64>> {
    fit(TestBackend::new(Backend::Reference, 0), options, spots, start)
}

fn tight() -> Options {
    Options::default().with_criteria(Criteria::TIGHT)
}

fn simulated(
    side: usize,
    signal: f64,
    background: f64,
    sigma: std::ops::Range<f64>,
) -> SimulatedSpots {
    let simulation = SpotSimulation::new(Size::new(side, side))
        .with_signal(signal)
        .with_background(background)
        .with_sigma(sigma);
    simulation.generate(0..10_000).expect("the simulation is sound")
}

/// The share of fits that something holds for.
fn share(fits: &[Fit<f64>], holds: impl Fn(&Fit<f64>) -> bool) -> f64 {
    fits.iter().filter(|fit| holds(fit)).count() as f64 / fits.len() as f64
}

fn evaluations(fits: &[Fit<f64>]) -> f64 {
    fits.iter().map(|fit| f64::from(fit.evaluations)).sum::<f64>() / fits.len() as f64
}

fn check_bound(backends: &[TestBackend]) {
    let mut random = Random::new(3, 0);
    for (amplitude, per_pixel, must_end) in
        [(3e4f64, 1.0 / 3.0, false), (3e5, 1.0 / 3.0, false), (1e3, 15.0, true)]
    {
        let spots = Array3::from_shape_fn((5000, 9, 9), |(n, y, x)| {
            let (dx, dy) = (x as f64 - 4.0 - 0.04 * (n % 7) as f64, y as f64 - 4.0);
            let spot = amplitude * (-(dx * dx + dy * dy) / 4.5).exp();
            (100.0 + spot + 3.0 * random.normal()) as f32
        });
        let criteria = Criteria::DEFAULT.with_max_error(MaxError::PerPixel(per_pixel));
        let options = Options::default().with_criteria(criteria);
        for &backend in backends {
            let fits = fit(backend, options, &spots, Start::Estimate);
            let ended = |fit: &Fit<f64>| fit.status == Status::MaxError;
            for fit in fits.iter().filter(|fit| ended(fit)) {
                assert!(fit.chi2 <= 81.0 * per_pixel, "{backend:?}, {amplitude}: {fit:?}");
            }
            let share = share(&fits, ended);
            assert!(!must_end || share > 0.95, "{backend:?}: {share} of the fits end by the bound");
        }
    }
}

fn check_wide(backends: &[TestBackend]) {
    for (sigma, signal) in [(4.0, 4e4), (4.0, 4e6), (6.0, 4e6)] {
        let spots = simulated(9, signal, 0.1 * signal, sigma..sigma + 1e-4).pixels;
        let expected = reference(tight(), &spots, Start::Estimate);
        let lost = |fits: &[Fit<f64>]| share(fits, |fit| !fit.status.is_converged());
        for &backend in backends {
            let fits = fit(backend, tight(), &spots, Start::Estimate);
            let (mean, in_double) = (evaluations(&fits), evaluations(&expected));
            let worst = fits.iter().map(|fit| fit.evaluations).max().unwrap_or(0);
            let (lost, in_double_lost) = (lost(&fits), lost(&expected));
            let what = format!("{backend:?} σ {sigma}, {signal:e}");
            println!("{what}: {mean:.2} evaluations ({in_double:.2}), at most {worst}");
            println!("{what}: {lost:.4} lost ({in_double_lost:.4})");
            assert!(mean < 1.05 * in_double, "{what}: {mean} of {in_double}");
            assert!(lost <= in_double_lost + 0.001, "{what}");
        }
    }
}

fn check_faint(backends: &[TestBackend]) {
    let spots = simulated(7, 50.0, 200.0, 1.0..2.0);
    let mut lowest = vec![f64::INFINITY; spots.truth.len()];
    let truth: Vec<[f64; 3]> =
        spots.truth.iter().map(|t| [t.shape.x, t.shape.y, t.shape.sigma]).collect();
    for factor in [0.6, 1.0, 1.8] {
        let starts: Vec<[f64; 3]> = truth.iter().map(|&[x, y, s]| [x, y, factor * s]).collect();
        for start in [Start::Estimate, Start::F64(&starts)] {
            for (low, fit) in lowest.iter_mut().zip(reference(tight(), &spots.pixels, start)) {
                *low = low.min(fit.chi2);
            }
        }
    }
    let higher = |fits: &[Fit<f64>]| {
        let high =
            |(fit, low): &(&Fit<f64>, &f64)| fit.status.is_converged() && fit.chi2 > 1.01 * **low;
        fits.iter().zip(&lowest).filter(high).count() as f64 / fits.len() as f64
    };
    let limits = Limits::default();
    let (low, high) = (-limits.centre_margin, 6.0 + limits.centre_margin);
    let is_within = |fit: &Fit<f64>| {
        let centred = [fit.x, fit.y].iter().all(|&centre| low < centre && centre < high);
        centred && limits.sigma_min < fit.sigma && fit.sigma < 7.0
    };
    let expected = reference(Options::default(), &spots.pixels, Start::Estimate);
    for &backend in backends {
        let fits = fit(backend, Options::default(), &spots.pixels, Start::Estimate);
        let (ours, theirs) = (higher(&fits), higher(&expected));
        println!("{backend:?}: {:.2} % can be lowered ({:.2})", 100.0 * ours, 100.0 * theirs);
        assert!(ours <= theirs + 0.002, "{backend:?}: {ours} of the fits can be lowered, {theirs}");
        for fit in fits.iter().filter(|fit| fit.status.is_converged()) {
            assert!(is_within(fit), "{backend:?} converged on a limit: {fit:?}");
        }
    }
}

fn check_made_up(backends: &[TestBackend]) {
    let mut random = Random::new(5, 0);
    let spots = Array3::from_shape_fn((2000, 6, 6), |_| (100.0 * random.normal()).round() as f32);
    let starts = vec![[-0.7, -0.7, 0.1]; 2000];
    for background in [Background::Free, Background::NonNegative] {
        let limits = Limits::default().with_sigma_min(0.1);
        let options = Options::default().with_background(background).with_limits(limits);
        for &backend in backends {
            let fits = fit(backend, options, &spots, Start::F64(&starts));
            for (window, fit) in spots.outer_iter().zip(&fits) {
                let what = format!("{backend:?}, {background:?}: {fit:?}");
                assert!(!fit.status.is_converged() && fit.status != Status::Invalid, "{what}");
                let mean = f64::from(window.sum()) / 36.0;
                let least = if background == Background::Free { f64::NEG_INFINITY } else { 0.0 };
                let level = mean.max(least);
                let chi2: f64 = window.iter().map(|&p| (f64::from(p) - level).powi(2)).sum();
                assert_eq!(fit.amplitude, 0.0, "{what}");
                assert!((fit.background - level).abs() < 0.01, "{what}, the mean is {mean}");
                assert!((fit.chi2 / chi2 - 1.0).abs() < 1e-4, "{what}, not {chi2}");
            }
        }
    }
}

on_backends! {
    /// Proves that a fit which ends by the bound on χ² is below it, however bright the spot is, and that such a bound
    /// ends fits.
    what_ends_by_a_bound_is_below_it(&alone()), what_ends_by_a_bound_is_below_it_on_the_gpu(&[GPU]) => check_bound;

    /// Proves that spots as wide as the window cost single precision no more evaluations than double precision, and
    /// converge as often.
    wide_spots_end_as_in_double_precision(&alone()), wide_spots_end_as_in_double_precision_on_the_gpu(&[GPU]) => check_wide;

    /// Proves that faint spots end in minima that are as low as in double precision, and that no fit converges on a
    /// limit.
    faint_spots_end_as_in_double_precision(&alone()), faint_spots_end_as_in_double_precision_on_the_gpu(&[GPU]) => check_faint;

    /// Proves that where the window tells nothing of a spot at the start values, no result is made up: the fit does not
    /// converge, and background and χ² are those of the pixels.
    nothing_is_made_up(&alone()), nothing_is_made_up_on_the_gpu(&[GPU]) => check_made_up;
}
