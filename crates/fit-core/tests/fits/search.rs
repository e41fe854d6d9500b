//! Proves the search: that it ends, where it ends, and what it says about it.

use fit_core::pass::{LeastSquaresSeed, Method, SpotSearch};
use fit_core::search::solve::Symmetric;
use fit_core::search::{Evaluation, Normal, Resumable};
use fit_core::spot::conditioning::Conditioning;
use fit_core::spot::shape::Circular;
use fit_core::spot::sums::Profile;
use fit_core::{
    ArgumentError, Background, Circle, Criteria, Fit, Limits, Mask, MaxError, Options,
    PixelProfile, Real, Scalar, Setup, Size, Status, condition, estimate, fit_window, scratch_len,
};
use proptest::prelude::*;

fn fit<R: Scalar>(pixels: &[f64], size: Size, options: &Options) -> Fit<R> {
    let setup = Setup::<R>::new(size, options).unwrap();
    fit_window(&setup, pixels, None, &mut vec![R::default(); scratch_len(size)]).unwrap()
}

fn spot(size: Size, shape: Circle<f64>, amplitude: f64, background: f64) -> Vec<f64> {
    (0..size.pixels())
        .map(|i| {
            let profile = Profile::at((i % size.width) as f64, (i / size.width) as f64, shape);
            amplitude * profile.value + background
        })
        .collect()
}

fn tight() -> Options {
    Options::default().with_criteria(Criteria::TIGHT)
}

/// The paper's iteration, to the end.
fn paper() -> Options {
    Options::default().with_criteria(Criteria::TIGHT.with_newton(false))
}

const NINE: Size = Size::new(9, 9);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 3 } else { 300 }))]

    /// A spot without noise is found exactly, from the paper's estimate, in either precision.
    #[test]
    fn a_clean_spot_is_found_exactly(
        (x, y, sigma) in (2.5..5.5f64, 2.5..5.5f64, 0.8..2.2f64),
        amplitude in 1.0..1e4f64,
        background in -100.0..1e4f64,
    ) {
        let pixels = spot(NINE, Circle::new(x, y, sigma), amplitude, background);
        let double = fit::<f64>(&pixels, NINE, &tight());
        prop_assert!(double.status.is_converged(), "{double:?}");
        prop_assert!((double.x - x).abs() < 1e-7, "{double:?}");
        prop_assert!((double.y - y).abs() < 1e-7, "{double:?}");
        prop_assert!((double.sigma - sigma).abs() < 1e-7, "{double:?}");
        prop_assert!((double.amplitude / amplitude - 1.0).abs() < 1e-6, "{double:?}");
        prop_assert!((double.background - background).abs() < 1e-6 * amplitude, "{double:?}");
        let single = fit::<f32>(&pixels, NINE, &tight());
        prop_assert!(single.status.is_converged(), "{single:?}");
        // The pixels themselves are rounded to f32, which is seen where the background is large.
        let tolerance = 2e-5 + 1e-6 * background.abs() / amplitude;
        prop_assert!((f64::from(single.x) - x).abs() < tolerance, "{single:?}");
        prop_assert!((f64::from(single.sigma) - sigma).abs() < tolerance, "{single:?}");
    }

    /// Scaling the pixels by 2ᵏ changes nothing but α, β and χ², to the last bit.
    #[test]
    fn scaling_by_powers_of_two_changes_nothing_else(
        noise in prop::collection::vec(0u32..60, 81),
        k in -40i32..=40,
        bright in 0u32..300,
        held in any::<bool>(),
    ) {
        let background = if held { Background::NonNegative } else { Background::Free };
        let options = Options::default().with_background(background);
        let peak = spot(NINE, Circle::new(4.2, 3.9, 1.4), f64::from(bright), 0.0);
        let pixels: Vec<f64> =
            peak.iter().zip(&noise).map(|(p, &n)| (p + f64::from(n)).round()).collect();
        let factor = libm::ldexp(1.0, k);
        let scaled: Vec<f64> = pixels.iter().map(|p| p * factor).collect();
        check_scaled(fit::<f64>(&pixels, NINE, &options), fit(&scaled, NINE, &options), factor)?;
        check_scaled(fit::<f32>(&pixels, NINE, &options), fit(&scaled, NINE, &options), factor)?;
    }
}

fn check_scaled<R: Scalar>(a: Fit<R>, b: Fit<R>, factor: f64) -> Result<(), TestCaseError> {
    prop_assert_eq!(a.status, b.status);
    if a.status == Status::Invalid {
        return Ok(());
    }
    prop_assert_eq!((a.x.to_f64(), a.y.to_f64()), (b.x.to_f64(), b.y.to_f64()));
    prop_assert_eq!(a.sigma.to_f64(), b.sigma.to_f64());
    prop_assert_eq!((a.iterations, a.evaluations), (b.iterations, b.evaluations));
    prop_assert_eq!(a.amplitude.to_f64() * factor, b.amplitude.to_f64());
    prop_assert_eq!(a.background.to_f64() * factor, b.background.to_f64());
    prop_assert_eq!(a.chi2.to_f64() * factor * factor, b.chi2.to_f64());
    Ok(())
}

/// A search in a window from a start.
fn begin<R: Real>(
    setup: &Setup<R>,
    data: &Conditioning<R>,
    parameters: [R; 3],
) -> SpotSearch<R, Circular, 3> {
    let usable = data.usable;
    setup.begin(&LeastSquaresSeed::new((parameters, []), *data), usable)
}

/// An evaluation whose derivatives are those of the caller.
fn evaluation<R: Real>(normal: Normal<R, 3, 2>, resolution: R) -> Evaluation<R, 3, 2> {
    Evaluation {
        normal,
        resolution,
        newton: Symmetric::zero(),
        linear_by: [[R::splat(0.0); 3]; 2],
        flat: [R::Mask::splat(false); 3],
        resolved: R::Mask::splat(true),
    }
}

/// Proves the damping schedule of the paper's pseudo-code: λ = 0.01 at first, ÷10 after a step that
/// succeeds at once, ×10 for each retry, and as it is after a retry that succeeds; and that retries
/// belong to their iteration. In single precision, where λ is a product of roundings, it ends after as many trials.
#[test]
fn the_damping_follows_the_pseudo_code() {
    check_damping::<f64>(1e-12);
    check_damping::<f32>(1e-6);
}

fn check_damping<R: Scalar>(rounding: f64) {
    let number = R::splat;
    let setup = Setup::<R>::new(NINE, &paper()).unwrap();
    let mut pixels: Vec<R> =
        spot(NINE, Circle::new(4.0, 4.0, 1.5), 100.0, 10.0).into_iter().map(number).collect();
    let data = condition(&mut pixels);
    let mut search = begin(&setup, &data, [3.0, 3.5, 1.0].map(number));
    // The caller decides what an evaluation says: here each is as good or as bad as needed.
    let mut chi2 = data.spread;
    let mut update = |search: &mut SpotSearch<R, Circular, 3>, better: bool| {
        let mut hessian = Symmetric::zero();
        (0..3).for_each(|j| hessian.0[j][j] = number(1.0));
        let normal = Normal {
            cost: chi2 * number(if better { 0.9 } else { 1.1 }),
            gradient: [0.3, -0.2, 0.1].map(number),
            hessian,
            linear: [1.0, 0.0].map(number),
        };
        let evaluation = evaluation(normal, number(1e-9) * chi2);
        if better {
            chi2 = chi2 * number(0.9);
        }
        search.update::<true>(setup.settings(), &Circular, &evaluation);
        let record = search.record(setup.settings(), &Circular);
        let [iterations, evaluations] = [record.iterations, record.evaluations].map(R::to_f64);
        (search.lambda().to_f64(), iterations, evaluations)
    };
    let expected = [
        (true, 0.01, 1.0),
        (true, 0.001, 2.0),
        (false, 0.01, 2.0),
        (false, 0.1, 2.0),
        (true, 0.1, 3.0),
        (true, 0.01, 4.0),
        (true, 0.001, 5.0),
    ];
    for (step, (better, lambda, iterations)) in expected.into_iter().enumerate() {
        let before = *search.best();
        let (got, passes, evaluations) = update(&mut search, better);
        assert!((got / lambda - 1.0).abs() < rounding, "step {step}: λ = {got}, not {lambda}");
        assert_eq!((passes, evaluations), (iterations, step as f64 + 1.0));
        assert_eq!(*search.best() == before, !better || step == 0, "step {step}");
        assert!(search.running());
    }
    for _ in 0..7 {
        assert!(search.running());
        update(&mut search, false);
    }
    let status = |search: &SpotSearch<R, _, _>| {
        let status = search.record(setup.settings(), &Circular).status;
        Status::from_code(status.to_f64() as u8)
    };
    assert_eq!(status(&search), None, "λ is 10⁴ and was not tried");
    update(&mut search, false);
    assert_eq!(status(&search), Some(Status::NotConverged));
}

/// Proves the names, codes and predicates of the statuses.
#[test]
fn statuses_have_names_codes_and_predicates() {
    for status in Status::ALL {
        assert_eq!(Status::from_code(status as u8), Some(status));
        assert_eq!(status.name().parse(), Ok(status));
        assert_eq!(status.to_string(), status.name());
    }
    assert!(Status::from_code(0).is_none() && Status::from_code(9).is_none());
    assert!("".parse::<Status>().is_err());
    let converged = Status::ALL.iter().filter(|status| status.is_converged()).count();
    assert_eq!(converged, 4);
}

/// Proves that each criterion ends a fit, under its own name.
#[test]
fn each_criterion_ends_a_fit() {
    let clean = spot(NINE, Circle::new(4.3, 3.6, 1.3), 100.0, 10.0);
    let noisy: Vec<f64> =
        clean.iter().enumerate().map(|(i, p)| p + ((i * 7919) % 13) as f64).collect();
    let with = |criteria| Options::default().with_criteria(criteria);
    let off = Criteria::TIGHT.with_min_delta(0.0).with_min_step(0.0);
    let status = |pixels: &[f64], criteria| fit::<f64>(pixels, NINE, &with(criteria)).status;

    assert_eq!(status(&noisy, off.with_min_delta(1e-3)), Status::MinDelta);
    assert_eq!(status(&noisy, off.with_min_step(1e-3)), Status::MinStep);
    assert_eq!(status(&noisy, off), Status::Stalled);
    assert_eq!(status(&noisy, off.with_max_iterations(2)), Status::MaxIterations);
    assert_eq!(status(&noisy, off.with_max_evaluations(2)), Status::MaxIterations);
    let bound = MaxError::Total(1e9);
    let at_once = fit::<f64>(&noisy, NINE, &with(off.with_max_error(bound)));
    assert_eq!((at_once.status, at_once.iterations, at_once.evaluations), (Status::MaxError, 1, 1));
    let per_pixel = off.with_max_error(MaxError::PerPixel(1e-3));
    assert_eq!(status(&clean, per_pixel), Status::MaxError);
    let two = fit::<f64>(&noisy, NINE, &with(off.with_max_iterations(2)));
    assert_eq!(two.iterations, 2);
}

/// Proves that a gradient of light, which no spot in the window explains, ends at a limit and says
/// so, and that a spot beyond the margin ends at the margin.
#[test]
fn a_parameter_on_its_limit_is_reported() {
    let beyond = spot(NINE, Circle::new(-3.0, 4.0, 1.5), 100.0, 10.0);
    let fit_beyond = fit::<f64>(&beyond, NINE, &tight());
    assert_eq!(fit_beyond.status, Status::AtLimit, "{fit_beyond:?}");
    assert_eq!(fit_beyond.x, -1.0);

    let wide = Limits::default().with_centre_margin(5.0);
    let found = fit::<f64>(&beyond, NINE, &tight().with_limits(wide));
    assert!(found.status.is_converged() && (found.x + 3.0).abs() < 1e-5, "{found:?}");

    let narrow = Limits::default().with_sigma_min(1.8);
    let sharp = spot(NINE, Circle::new(4.0, 4.2, 1.2), 100.0, 10.0);
    let held = fit::<f64>(&sharp, NINE, &tight().with_limits(narrow));
    assert_eq!((held.status, held.sigma), (Status::AtLimit, 1.8));
}

/// Proves the initial estimate: the brightest smoothed pixel, also at the border and in the corner,
/// the first of equals, and σ from the number of bright pixels.
#[test]
fn the_estimate_is_the_papers() {
    let size = Size::new(6, 5);
    let lit = |pixels: &[(usize, usize, f64)]| {
        let mut window = [1.0f64; 30];
        for &(x, y, value) in pixels {
            window[y * 6 + x] = value;
        }
        estimate(&window, size)
    };
    // One bright pixel inside: nine smoothed pixels share its brightness, the first wins.
    let inside = lit(&[(3, 2, 11.0)]);
    assert_eq!((inside.x, inside.y), (2.0, 1.0));
    assert!((inside.sigma - (1.0 / core::f64::consts::PI).sqrt()).abs() < 1e-15);
    // In the corner the average is over four pixels, so the corner itself is the brightest.
    assert_eq!((lit(&[(0, 0, 11.0)]).x, lit(&[(0, 0, 11.0)]).y), (0.0, 0.0));
    assert_eq!((lit(&[(5, 4, 11.0)]).x, lit(&[(5, 4, 11.0)]).y), (5.0, 4.0));
    // At the edge the average is over six, more than over the nine further in.
    let edge = lit(&[(2, 0, 11.0), (3, 0, 12.0), (4, 0, 11.0)]);
    assert_eq!((edge.x, edge.y), (3.0, 0.0));
    // M counts pixels above α·e^(−1/2) + β: with 1 and 11 that is above 7.07.
    let wide = lit(&[(2, 2, 11.0), (3, 2, 7.1), (2, 3, 7.0)]);
    assert!((wide.sigma - (2.0 / core::f64::consts::PI).sqrt()).abs() < 1e-15);
    // A brighter single pixel loses against a dimmer spot: that is what smoothing is for.
    let spot = lit(&[(0, 4, 30.0), (3, 1, 20.0), (4, 1, 20.0), (3, 2, 20.0), (4, 2, 20.0)]);
    assert!(spot.x >= 3.0 && spot.y <= 2.0);
}

/// Proves that every bad argument is named.
#[test]
fn bad_arguments_are_named() {
    let options = Options::default();
    for size in [Size::new(2, 9), Size::new(9, 2), Size::new(0, 0)] {
        let error = Setup::<f64>::new(size, &options).unwrap_err();
        assert_eq!(error, ArgumentError::WindowTooSmall(size));
    }
    let huge = Size::new(usize::MAX, usize::MAX);
    assert_eq!(Setup::<f32>::new(huge, &options).unwrap_err(), ArgumentError::WindowTooLarge(huge));
    assert!(Setup::<f32>::new(Size::new(3, 3), &options).is_ok());

    let criteria = |criteria| options.with_criteria(criteria);
    let limits = |limits| options.with_limits(limits);
    let (c, l) = (Criteria::DEFAULT, Limits::default());
    for (bad, name) in [
        (criteria(c.with_max_iterations(0)), "max_iterations"),
        (criteria(c.with_max_evaluations(1)), "max_evaluations"),
        (criteria(c.with_min_delta(-1.0)), "min_delta"),
        (criteria(c.with_min_delta(f64::NAN)), "min_delta"),
        (criteria(c.with_min_step(1.0)), "min_step"),
        (criteria(c.with_max_error(MaxError::Total(f64::INFINITY))), "max_error"),
        (criteria(c.with_max_error(MaxError::PerPixel(-1.0))), "max_error"),
        (limits(l.with_centre_margin(-0.1)), "centre_margin"),
        (limits(l.with_sigma_min(0.0)), "sigma_min"),
        (limits(l.with_sigma_max(Some(0.2))), "sigma_max"),
        (limits(l.with_sigma_min(9.5)), "sigma_min"),
    ] {
        let error = Setup::<f64>::new(NINE, &bad).unwrap_err();
        assert!(error.to_string().starts_with(&format!("{name} = ")), "{error}");
    }
}

/// Proves that parameters with equal limits stay there, and that this does not count as an end on a limit. That the others end in the
/// minimum that is left is proved beside the fit of a known σ.
#[test]
fn equal_limits_hold_parameters() {
    let pixels = spot(NINE, Circle::new(4.3, 3.6, 1.3), 100.0, 10.0);
    let mut settings = *Setup::<f64>::new(NINE, &tight()).unwrap().settings();
    let held = [4.2, 3.7, 1.6];
    (settings.lower, settings.upper) = (held, held);
    let setup =
        Setup::from_parts(Circular, NINE, Background::Free, PixelProfile::Sampled, settings);
    let start = Some(Circle::new(3.9, 3.9, 1.2).into());
    let mut scratch = vec![0.0; scratch_len(NINE)];
    let fit = fit_window(&setup.unwrap(), &pixels, start, &mut scratch).unwrap();
    assert_eq!([fit.x, fit.y, fit.sigma], held);
    assert!(fit.status.is_converged(), "{fit:?}");
}

/// Proves that the presets are what their names promise.
#[test]
fn presets_allow_as_many_iterations_as_they_say() {
    let limits = |criteria: Criteria| (criteria.max_iterations, criteria.max_evaluations);
    assert_eq!(limits(Criteria::PAPER), (20, 100));
    assert_eq!(limits(Criteria::DEFAULT), (100, 500));
    assert_eq!(limits(Criteria::TIGHT), (100, 500));
    assert_eq!(Criteria::PAPER.min_delta, Criteria::DEFAULT.min_delta);
}
