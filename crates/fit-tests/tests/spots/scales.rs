//! A fit does not depend on units: on that of the pixels, of the weights, on the camera's baseline, or on where in the
//! window the spot lies.

use fit_core::spot::axis::{GaussianAxis, PixelProfile};
use fit_core::{Background, Camera, Criteria, Estimator, MaxError, Options, Shape, Size, Status};
use fit_sim::Random;
use fit_tests::spots::{PROFILES, SHAPES, all_tight, tight};
use fit_tests::{GPU, TestBackend, arithmetics, on_backends};
use ndarray::{Array2, Array3, s};
use spotfit::{Errors, Fit, Fitter, Start, Weights, Windows};

const SIZE: Size = Size::new(9, 9);
const COUNT: usize = 96;

/// Counts of photons of spots of σ = 1.3 px with so many photons, over so many photons a pixel.
fn spots(photons: f64, background: f64, seed: u64) -> Array3<f64> {
    let mut random = Random::new(seed, 0);
    let centres: Vec<[f64; 2]> =
        (0..COUNT).map(|_| [3.5 + random.uniform(), 3.5 + random.uniform()]).collect();
    Array3::from_shape_fn((COUNT, SIZE.height, SIZE.width), |(window, y, x)| {
        let [x, y] = [x as f64 - centres[window][0], y as f64 - centres[window][1]];
        let variance = 1.3 * 1.3;
        let height = photons / (std::f64::consts::TAU * variance);
        random.poisson(background + height * (-(x * x + y * y) / (2.0 * variance)).exp())
    })
}

/// Unequal weights of a pixel, and a masked one in each window.
fn weights() -> Array3<f64> {
    Array3::from_shape_fn((COUNT, SIZE.height, SIZE.width), |(window, y, x)| {
        let place = y * SIZE.width + x;
        if place == window % 81 { 0.0 } else { 1.0 + ((place * 7 + window) % 11) as f64 * 0.3 }
    })
}

/// A fit and its errors.
type Judged = (Fit<f64>, Errors);

/// Fits and their errors.
fn fitted(fitter: &Fitter, pixels: &Array3<f64>, weights: Option<&Array3<f32>>) -> Vec<Judged> {
    let windows = Windows::stack(pixels.view());
    let windows = match weights {
        Some(weights) => windows.with_weights(Weights::Windows(weights.view())),
        None => windows,
    };
    let fits = fit_tests::spots::fitted(fitter, &windows, Start::Estimate);
    let errors = fitter.errors(windows.into(), &fits).expect("sound");
    fits.into_iter().zip(errors).collect()
}

/// Counts fits that are not the same within rounding, when amplitude and background of the second are in units of `unit`.
fn differing(one: &[Judged], two: &[Judged], unit: f64, near: f64) -> usize {
    let same = |((a, _), (b, _)): &(&Judged, &Judged)| {
        let light = a.amplitude.abs();
        let pairs = [
            (a.x, b.x, 1.0),
            (a.y, b.y, 1.0),
            (a.sigma_x, b.sigma_x, 1.0),
            (a.sigma_y, b.sigma_y, 1.0),
            (a.amplitude, b.amplitude / unit, light),
            (a.background, b.background / unit, light),
        ];
        a.status.is_converged() == b.status.is_converged()
            && pairs.iter().all(|(a, b, size)| (a - b).abs() <= near * size)
    };
    one.len() - one.iter().zip(two).filter(same).count()
}

fn converged(fits: &[Judged]) -> usize {
    fits.iter().filter(|(fit, _)| fit.status.is_converged()).count()
}

/// How near fits have to be that differ by rounding.
fn near(fitter: &Fitter) -> f64 {
    if fitter.is_single_precision() { 2e-3 } else { 1e-6 }
}

/// Fits whose minimum is so flat that rounding moves them further.
const LOOSE: usize = COUNT / 25;

fn check_units_of_pixels(backends: &[TestBackend]) {
    let pixels = spots(800.0, 4.0, 1);
    let weights = weights().mapv(|weight| weight as f32);
    for backend in backends {
        for options in all_tight(Estimator::LeastSquares) {
            let fitter = backend.fitter(options);
            let most = if fitter.is_single_precision() { 30 } else { 300 };
            for weights in [None, Some(&weights)] {
                let one = fitted(&fitter, &pixels, weights);
                assert!(converged(&one) >= COUNT - LOOSE, "{backend:?} {options:?}");
                for power in [-1.0, -0.8, -0.4, -0.1, 0.1, 0.5, 1.0] {
                    let unit = 10f64.powf(power * f64::from(most));
                    let two = fitted(&fitter, &pixels.mapv(|pixel| pixel * unit), weights);
                    let off = differing(&one, &two, unit, near(&fitter));
                    let what = format!("unit {unit:e}, {backend:?}, {options:?}");
                    assert!(off <= LOOSE, "{off} differ: {what}, {}", weights.is_some());
                }
            }
        }
    }
}

fn check_units_of_weights(backends: &[TestBackend]) {
    let pixels = spots(800.0, 4.0, 2);
    let weights = weights();
    for backend in backends {
        for options in all_tight(Estimator::LeastSquares) {
            let fitter = backend.fitter(options);
            let of = |unit: f64| {
                fitted(&fitter, &pixels, Some(&weights.mapv(|weight| (weight * unit) as f32)))
            };
            let one = of(1.0);
            assert!(converged(&one) >= COUNT - LOOSE, "{backend:?} {options:?}");
            for unit in [1e-30, 1e-24, 1e-12, 0.1, 1e7, 1e18, 1e26, 1e30] {
                let two = of(unit);
                let off = differing(&one, &two, 1.0, near(&fitter));
                assert!(off <= LOOSE, "{off} differ: unit {unit:e}, {backend:?}, {options:?}");
                let mut apart = 0;
                for ((fit, errors), (other, of_other)) in one.iter().zip(&two) {
                    if fit.status.is_converged() && other.status.is_converged() {
                        let share = f64::from(of_other.x()) / f64::from(errors.x());
                        let costs = other.chi2 / (unit * fit.chi2);
                        apart += usize::from((share - 1.0).abs() > 0.01);
                        apart += usize::from((costs - 1.0).abs() > 1e-3);
                    }
                }
                assert!(apart <= LOOSE, "{apart} errors differ: unit {unit:e}, {backend:?}");
            }
        }
    }
}

fn check_baselines(backends: &[TestBackend]) {
    // So dim, and on nothing, that the bound of the background matters.
    let pixels = spots(60.0, 0.0, 3);
    let ones = Array3::<f32>::from_elem(pixels.dim(), 1.0);
    let mut held = 0;
    for backend in backends {
        let both = [Background::Free, Background::NonNegative];
        let all = Estimator::ALL.into_iter().flat_map(all_tight);
        for options in all.flat_map(|options| both.map(|of| options.with_background(of))) {
            let weighted = [None, Some(&ones)];
            let ways = if options.estimator == Estimator::LeastSquares { 2 } else { 1 };
            for weights in &weighted[..ways] {
                let of = |baseline: f64| {
                    let camera = Camera::default().with_baseline(baseline);
                    let fitter = backend.fitter(options.with_camera(Some(camera)));
                    fitted(&fitter, &pixels.mapv(|pixel| pixel + baseline), *weights)
                };
                let one = of(0.0);
                for baseline in [3.0, 100.0, 1e4, 1e6] {
                    let two = of(baseline);
                    let what = format!("baseline {baseline}, {backend:?}, {options:?}");
                    let off = differing(&one, &two, 1.0, near(&backend.fitter(options)));
                    assert!(off <= LOOSE, "{off} differ: {what}");
                    let is_held = options.background == Background::NonNegative;
                    for (fit, _) in two.iter().filter(|_| is_held) {
                        assert!(fit.background >= 0.0, "{what}: {fit:?}");
                        held += usize::from(fit.background == 0.0);
                    }
                }
            }
        }
    }
    assert!(held > 100, "{held} times the bound mattered");
}

/// Proves that a search stops as soon wherever in a wide window the spot lies: the same pixels around it, and the same start
/// beside it, take as many evaluations and give the same spot. The test `min_step` alone ends it. The preset `paper` does as
/// the paper, and stops sooner far from the first pixel.
#[test]
fn where_a_search_stops_does_not_depend_on_the_place() {
    const PART: usize = 13;
    const SIDE: usize = 45;
    let mut random = Random::new(5, 0);
    let parts = Array3::from_shape_fn((COUNT, PART, PART), |(_, y, x)| {
        let [x, y] = [x as f64 - 6.2, y as f64 - 5.7];
        random.poisson(90.0 * (-(x * x / 4.0 + y * y / 3.0)).exp() + 10.0)
    });
    let at = |place: usize| {
        let mut pixels = Array3::from_elem((COUNT, SIDE, SIDE), 10.0);
        pixels.slice_mut(s![.., place..place + PART, place..place + PART]).assign(&parts);
        let start = place as f64 + 6.0;
        (pixels, vec![[start + 0.3, start - 0.4, 1.2]; COUNT])
    };
    let backend = TestBackend::new(spotfit::Backend::Reference, 2);
    let fits = |preset: Criteria, estimator: Estimator, shape: Shape, place: usize| {
        let steps = preset
            .with_max_error(MaxError::Off)
            .with_min_delta(0.0)
            .with_finish(0.0)
            .with_tolerance(0.0)
            .with_min_step(1e-3);
        let (pixels, starts) = at(place);
        let options = tight(shape, PixelProfile::Sampled, estimator).with_criteria(steps);
        let windows = Windows::stack(pixels.view());
        fit_tests::spots::fitted(&backend.fitter(options), &windows, Start::F64(&starts))
    };
    let mut ended = 0;
    for preset in [Criteria::DEFAULT, Criteria::DEFAULT.with_newton(false)] {
        for estimator in Estimator::ALL {
            for shape in [Shape::CIRCULAR, Shape::ELLIPTICAL] {
                let [near, far] = [1, 31].map(|place| fits(preset, estimator, shape, place));
                for (near, far) in near.iter().zip(&far) {
                    assert_eq!(near.status, far.status, "{near:?} {far:?}");
                    assert_eq!(near.evaluations, far.evaluations, "{near:?} {far:?}");
                    assert!((far.x - near.x - 30.0).abs() < 1e-7, "{near:?} {far:?}");
                    ended += usize::from(near.status == Status::MinStep);
                }
            }
        }
    }
    assert!(ended > 6 * COUNT, "{ended} were ended by their step");
    let total = |place: usize| -> u32 {
        let fits = fits(Criteria::PAPER, Estimator::LeastSquares, Shape::CIRCULAR, place);
        fits.iter().map(|fit| fit.evaluations).sum()
    };
    assert!(total(31) < total(1), "the paper stops sooner further away");
}

/// Where β is free and the light dim, the last step of maximum likelihood must not lead to a model below nothing. Proves
/// that every fit that converged has a positive model in each pixel, and the deviance of its own numbers.
fn check_models(backends: &[TestBackend]) {
    for backend in backends {
        for photons in [25.0, 60.0, 200.0] {
            let pixels = spots(photons, 0.0, 7);
            for shape in [SHAPES[0], SHAPES[1], SHAPES[3]] {
                for profile in PROFILES {
                    let options = tight(shape, profile, Estimator::MaximumLikelihood)
                        .with_criteria(Criteria::DEFAULT);
                    let fits = fitted(&backend.fitter(options), &pixels, None);
                    for (index, (fit, _)) in fits.iter().enumerate() {
                        if !fit.status.is_converged() {
                            continue;
                        }
                        let model = model(fit, profile);
                        let least = model.iter().copied().fold(f64::INFINITY, f64::min);
                        let rounding = -1e-6 * fit.amplitude.abs();
                        let what = format!("{backend:?} {options:?} {fit:?}");
                        assert!(least > rounding, "{least} in {what}");
                        if least <= -rounding {
                            continue;
                        }
                        let data = pixels.index_axis(ndarray::Axis(0), index);
                        let mut deviance = 0.0;
                        for (&mu, &d) in model.iter().zip(data) {
                            let log = if d > 0.0 { d * (d / mu).ln() } else { 0.0 };
                            deviance += 2.0 * (mu - d + log);
                        }
                        let off = (deviance - fit.chi2).abs();
                        assert!(off < 2e-3 * (1.0 + deviance), "{deviance} not {what}");
                    }
                    assert!(converged(&fits) > COUNT / 10, "{backend:?} {options:?}");
                }
            }
        }
    }
}

/// αf + β at each pixel.
fn model(fit: &Fit<f64>, profile: PixelProfile) -> Array2<f64> {
    let x = GaussianAxis::with_profile(profile, fit.x, 1.0 / fit.sigma_x);
    let y = GaussianAxis::with_profile(profile, fit.y, 1.0 / fit.sigma_y);
    Array2::from_shape_fn((SIZE.height, SIZE.width), |(row, column)| {
        let value = x.sample::<false>(column as f64).value * y.sample::<false>(row as f64).value;
        fit.amplitude * value + fit.background
    })
}

/// Proves that a fixed σ that is wider than the window, such as one in nanometres, is refused with its unit by every backend
/// and method, and that a wide `sigma_max` admits it.
#[test]
fn a_fixed_sigma_wider_than_the_window_is_refused() {
    let pixels = spots(800.0, 4.0, 9);
    let wide = Shape::fixed_sigma(130.0);
    for backend in arithmetics() {
        for estimator in Estimator::ALL {
            let options = Options::default().with_shape(wide).with_estimator(estimator);
            let fit =
                |options| backend.fitter(options).fit::<_, f64>(pixels.view(), Start::Estimate);
            let error = fit(options).expect_err("too wide").to_string();
            assert!(error.contains("fixed_sigma = 130") && error.contains("pixels"), "{error}");
            let limits = options.limits.with_sigma_max(Some(200.0));
            assert!(fit(options.with_limits(limits)).is_ok());
        }
    }
}

on_backends! {
    /// Proves that least-squares fits are the same whatever the unit of the pixels, from 10⁻³⁰⁰ to 10³⁰⁰ in double and 10⁻³⁰
    /// to 10³⁰ in single precision, with and without weights.
    fits_do_not_depend_on_the_unit_of_the_pixels(&arithmetics()), fits_do_not_depend_on_the_unit_of_the_pixels_on_the_gpu(&[GPU]) => check_units_of_pixels;

    /// Proves that weighted fits, their χ² in the unit of the weights and their errors are the same whatever that unit, from
    /// 10⁻³⁰ to 10³⁰.
    fits_do_not_depend_on_the_unit_of_the_weights(&arithmetics()), fits_do_not_depend_on_the_unit_of_the_weights_on_the_gpu(&[GPU]) => check_units_of_weights;

    /// Proves that fits are the same whatever the camera's baseline, and that β ≥ 0 is held above the baseline.
    fits_do_not_depend_on_the_baseline(&arithmetics()), fits_do_not_depend_on_the_baseline_on_the_gpu(&[GPU]) => check_baselines;

    the_last_step_of_maximum_likelihood_keeps_a_model(&arithmetics()), the_last_step_of_maximum_likelihood_keeps_a_model_on_the_gpu(&[GPU]) => check_models;
}
