//! Models written in Rust, beside the same as formulas.

use fit_core::Estimator;
use fit_cpu::{CurveReference, CurveSimd};
use fit_curves::{
    At, CompiledModel, CurveNumber, CurveOptions, CurveStart, Curves, Linear, Points, Values,
};
use fit_sim::Random;
use fit_tests::compiled::{Compiled, Exponential, Exponentials, Gauss, Spot};
use fit_tests::curves::{Alike, shared};
use fit_tests::models::{SIMULATED, model};
use fit_tests::sets;
use ndarray::{Array2, Array3};

/// Parameters within so many standard errors, and errors as a share.
fn same(most: f64) -> Alike {
    Alike { parameters: most, errors: most, chi2: [f64::INFINITY; 2], ..Alike::SINGLE }
}

/// Fits by the formula in double precision, and by the compiled model there and on all vector registers.
fn check(
    name: &str,
    compiled: &dyn Compiled,
    curves: &Curves<'_>,
    start: CurveStart<'_>,
    options: &CurveOptions,
) {
    let formula = model(name);
    // As models written in Rust are fitted.
    let as_formula = &options.clone().with_linear(Linear::Searched);
    for threads in [1, 3] {
        let reference = CurveReference::new(threads).expect("threads");
        let wanted = reference.fit(formula.as_formula(), curves, start, as_formula).expect("sound");
        let found = compiled.fit_in_double(&reference, curves, start, options).expect("sound");
        assert!(wanted.statuses.iter().all(|status| status.is_converged()), "{name}");
        same(1e-5).check(&format!("{name} reference"), &wanted, &found);
        for set in sets() {
            let simd = CurveSimd::new(threads, Some(set)).expect("available");
            let found = compiled.fit(&simd, curves, start, options).expect("sound");
            same(0.01).check(&format!("{name} {set}"), &wanted, &found);
        }
    }
}

fn check_simulated(name: &str, compiled: &dyn Compiled) {
    let case = SIMULATED.iter().find(|case| case.name == name).expect("a case");
    let (data, at, start) = (case.data(300), case.at(), case.start());
    let curves = Curves::new(data.view(), case.points(&at));
    let last = start.len() - 1;
    let options = CurveOptions::new(start.len());
    check(name, compiled, &curves, CurveStart::Shared(&start), &options);
    // A parameter that is held, and one with a limit that it does not reach.
    let options = options.with_fixed(last).with_lower(0, 0.1);
    let mut start = case.truth.to_vec();
    start[last] *= 1.01;
    check(name, compiled, &curves, CurveStart::Shared(&start), &options);
}

/// Proves that compiled models find what formulas find, in double precision and on lanes, with held parameters and limits, on
/// lines and on images.
#[test]
fn compiled_models_find_what_formulas_find() {
    check_simulated("exponential", &Exponential);
    check_simulated("exponential_2", &Exponentials);
    check_simulated("gauss_1d", &Gauss);
    check_simulated("gauss_2d", &Spot);
}

/// Proves the same for counts, weights, and points and start values of each fit.
#[test]
fn compiled_models_with_all_that_fits_can_have() {
    let (count, points) = (60, 25);
    let x =
        Array3::from_shape_fn((count, 1, points), |(fit, _, i)| 0.4 * i as f64 + 0.01 * fit as f64);
    let mut random = Random::new(3, 0);
    let data = Array2::from_shape_fn((count, points), |(fit, i)| {
        let mean = 200.0 * (-x[[fit, 0, i]] / 3.0).exp() + 20.0;
        (mean + mean.sqrt() * random.normal()).round().max(0.0)
    });
    let weights = Array2::from_shape_fn((count, points), |(fit, i)| match (fit + i) % 7 {
        0 => 0.0,
        1 => f64::NAN,
        part => 0.5 + 0.1 * part as f64,
    });
    let start = Array2::from_shape_fn((count, 3), |(fit, j)| {
        [180.0, 2.5, 22.0][j] * (1.0 + 0.002 * fit as f64)
    });
    let curves = Curves::new(data.view(), Points::PerFit(Values::from(x.view())))
        .with_weights(weights.view());
    for estimator in [Estimator::LeastSquares, Estimator::MaximumLikelihood] {
        let options = CurveOptions::new(3).with_estimator(estimator);
        check("exponential", &Exponential, &curves, start.view().into(), &options);
    }
}

/// A model that no formula says: the larger of two decays, with a value that differs from model to model.
struct Larger(f64);

impl CompiledModel<2, 1> for Larger {
    fn at<R: CurveNumber>(&self, [a, b]: [R; 2], [x]: [R; 1]) -> At<R, 2> {
        let zero = R::splat(0.0);
        let [fast, slow] = [1.0, self.0].map(|time| (-x * R::splat(1.0 / time)).exp());
        let first = (b * slow).lt(a * fast);
        let value = R::select(first, a * fast, b * slow);
        let by = [R::select(first, fast, zero), R::select(first, zero, slow)];
        At { value, by }
    }
}

/// Proves that such a model is fitted, and that what makes no sense is told.
#[test]
fn models_that_no_formula_says() {
    let data = Array2::from_shape_fn((40, 20), |(_, x)| {
        let x = x as f64 * 0.5;
        (9.0 * (-x).exp()).max(2.0 * (-x / 8.0).exp()) + 1e-3 * ((x * 7.0).sin())
    });
    let x = Array2::from_shape_fn((1, 20), |(_, i)| i as f64 * 0.5);
    let curves = shared(&data, &x, None);
    let options = CurveOptions::new(2);
    let start = CurveStart::Shared(&[8.0, 3.0]);
    let simd = CurveSimd::new(1, None).expect("a processor");
    for fits in [
        simd.fit_compiled(&Larger(8.0), &curves, start, &options).expect("sound"),
        simd.double().fit_compiled(&Larger(8.0), &curves, start, &options).expect("sound"),
    ] {
        for fit in 0..40 {
            assert!((fits.parameters[[fit, 0]] - 9.0).abs() < 0.01, "{fit}");
            assert!((fits.parameters[[fit, 1]] - 2.0).abs() < 0.01, "{fit}");
        }
    }
    let three = CurveOptions::new(3);
    let error = simd.fit_compiled(&Larger(8.0), &curves, start, &three).expect_err("three");
    assert!(error.to_string().contains("options"), "{error}");
    let error = Spot.fit(&simd, &curves, CurveStart::Shared(&[1.0; 5]), &CurveOptions::new(5));
    assert!(error.expect_err("two variables").to_string().contains("points"));
}
