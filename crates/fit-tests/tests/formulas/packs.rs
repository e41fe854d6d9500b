//! Double precision with the points of a data set in the lanes of registers.

use fit_core::Estimator;
use fit_cpu::{CurveReference, CurveSimd, InstructionSet};
use fit_curves::{CurveFits, CurveOptions, CurvePrecision, CurveStart, Curves, Points, Values};
use fit_formula::Formula;
use fit_sim::Random;
use fit_tests::models::{SIMULATED, model};
use ndarray::Array2;

/// A parameter may differ by this share of its error or of itself, whichever is larger.
const MOST: f64 = 1e-9;

fn reference() -> CurveReference {
    CurveReference::new(0).expect("threads")
}

fn everywhere(test: impl Fn(InstructionSet)) {
    InstructionSet::ALL.into_iter().filter(|set| set.is_available()).for_each(test);
}

/// Checks that fits are the same but for rounding.
fn same(what: &str, wanted: &CurveFits, found: &CurveFits, most: f64) {
    for fit in 0..wanted.statuses.len() {
        let (status, other) = (wanted.statuses[fit], found.statuses[fit]);
        assert_eq!(
            status.is_converged(),
            other.is_converged(),
            "{what}, {fit}: {status:?} {other:?}"
        );
        if !status.is_converged() {
            continue;
        }
        for j in 0..wanted.parameters.ncols() {
            let (value, error) = (wanted.parameters[[fit, j]], wanted.errors[[fit, j]]);
            let off = (found.parameters[[fit, j]] - value).abs();
            assert!(
                off <= most * error.max(value.abs()),
                "{what}, {fit}, {j}: {value} ± {error}, off by {off:e}"
            );
            let off = (found.errors[[fit, j]] - error).abs();
            assert!(off <= 1e-6 * error, "{what}, {fit}, {j}: error {error}, off by {off:e}");
        }
    }
}

/// Proves that every model ends in double precision where the reference does, by least squares and by maximum likelihood.
#[test]
fn all_models_end_where_the_reference_does() {
    for case in SIMULATED {
        let model = model(case.name);
        let (at, start) = (case.at(), case.start());
        let mut data = case.data(20);
        for estimator in [Estimator::LeastSquares, Estimator::MaximumLikelihood] {
            if estimator == Estimator::MaximumLikelihood {
                data.mapv_inplace(|datum| datum.max(0.0).round());
            }
            let curves = Curves::new(data.view(), case.points(&at));
            let options =
                CurveOptions::new(start.len()).with_tolerance(1e-11).with_estimator(estimator);
            let start = CurveStart::Shared(&start);
            let wanted =
                reference().fit(model.as_formula(), &curves, start, &options).expect("sound");
            let options = options.with_precision(CurvePrecision::F64);
            everywhere(|set| {
                let simd = CurveSimd::new(0, Some(set)).expect("available");
                let found = simd.fit(model.as_formula(), &curves, start, &options).expect("sound");
                same(&format!("{}, {set}, {estimator:?}", case.name), &wanted, &found, MOST);
            });
        }
    }
}

/// Proves that functions have all their digits in packs: the multiple of a function that fits data best is that of the reference.
#[test]
fn functions_have_all_their_digits() {
    let ranges =
        [[1e-9, 1e-3], [1e-3, 0.4], [0.3, 1.0], [0.5, 9.0], [20.0, 30.0], [1e3, 1.1e3], [1e7, 1e8]];
    for (function, least, most) in [
        ("exp(x)", -700.0, 700.0),
        ("expm1(x)", -700.0, 700.0),
        ("log(x)", 0.0, f64::INFINITY),
        ("log1p(x)", -0.9, f64::INFINITY),
        ("sqrt(x)", 0.0, f64::INFINITY),
        ("sin(x)", -1e9, 1e9),
        ("cos(x)", -1e9, 1e9),
        ("tan(x)", -1.5, 1.5),
        ("sinh(x)", -700.0, 700.0),
        ("cosh(x)", -700.0, 700.0),
        ("tanh(x)", -1e9, 1e9),
        ("atan(x)", -1e9, 1e9),
        ("erf(x)", -1e9, 1e9),
        ("1/(1 + exp(-x))", -700.0, 700.0),
        ("x^1.37", 0.0, f64::INFINITY),
        ("1.7^x", -700.0, 700.0),
        ("abs(x)*max(x, 2)", -1e9, 1e9),
        ("log(x^2 + 1e-300)", -1e9, 1e9),
    ] {
        let formula = Formula::of_variables(&format!("p*({function})"), &["x"]).expect("a formula");
        for [low, high] in ranges {
            for sign in [1.0, -1.0] {
                let x = Array2::from_shape_fn((1, 203), |(_, i)| {
                    sign * (low + (high - low) * i as f64 / 202.0)
                });
                if x.iter().any(|&x| x < least || x > most) {
                    continue;
                }
                let data =
                    Array2::from_shape_fn((1, 203), |(_, i)| 1.0 + (i as f64 * 0.7).sin() * 0.3);
                let curves = Curves::new(data.view(), Points::Shared(Values::from(x.view())));
                let options =
                    CurveOptions::new(1).with_tolerance(0.0).with_precision(CurvePrecision::F64);
                let start = CurveStart::Shared(&[1.0]);
                let wanted = reference().fit(&formula, &curves, start, &options).expect("sound");
                let (wanted, error) = (wanted.parameters[[0, 0]], wanted.errors[[0, 0]]);
                everywhere(|set| {
                    let simd = CurveSimd::new(1, Some(set)).expect("available");
                    let found = simd.fit(&formula, &curves, start, &options).expect("sound");
                    let off = (found.parameters[[0, 0]] - wanted).abs();
                    // Where values of both signs cancel each other, digits are lost that the error does not have.
                    assert!(
                        off <= 2e-14 * error.max(wanted.abs()),
                        "{function} from {low} to {high}, {set}: {wanted} ± {error}, off by {off:e}"
                    );
                });
            }
        }
    }
}

/// Proves that a long data set ends where the reference does, with the same bits for any number of threads: points that lie anywhere
/// or on a grid, some of which are left out, by both estimators.
#[test]
fn threads_share_a_long_data_set() {
    let mut random = Random::new(3, 0);
    let count = 150_001;
    let x = Array2::from_shape_fn((1, count), |(_, i)| 40.0 * i as f64 / count as f64);
    let curve = Array2::from_shape_fn((1, count), |(_, i)| {
        (30.0 * (-x[[0, i]] / 7.0).exp() + 5.0 + random.normal()).max(0.0)
    });
    let mut weights = Array2::from_elem((1, count), 1.0);
    weights.slice_mut(ndarray::s![0, 70_000..90_000]).fill(0.0);
    let (width, height) = (301, 400);
    let image = Array2::from_shape_fn((2, width * height), |(_, i)| {
        let (x, y) = ((i % width) as f64, (i / width) as f64);
        let square = ((x - 140.0) / 31.0).powi(2) + ((y - 210.0) / 31.0).powi(2);
        (50.0 * (-0.5 * square).exp() + 4.0 + random.normal()).max(0.0) as f32
    });
    let decay = model("exponential");
    let spot = model("gauss_2d");
    let mut at_curve = Curves::new(curve.view(), Points::Shared(Values::from(x.view())));
    at_curve.weights = Some(Values::from(weights.view()));
    let at_image = Curves::new(image.view(), Points::Grid { width, height });
    for estimator in [Estimator::LeastSquares, Estimator::MaximumLikelihood] {
        for (model, curves, start) in [
            (&decay, &at_curve, vec![20.0, 3.0, 1.0]),
            (&spot, &at_image, vec![30.0, 120.0, 190.0, 20.0, 1.0]),
        ] {
            let options =
                CurveOptions::new(start.len()).with_tolerance(1e-9).with_estimator(estimator);
            let start = CurveStart::Shared(&start);
            let fit = |threads: usize, set: InstructionSet| {
                let simd = CurveSimd::new(threads, Some(set)).expect("available");
                simd.fit(model.as_formula(), curves, start, &options).expect("sound")
            };
            let wanted =
                reference().fit(model.as_formula(), curves, start, &options).expect("sound");
            everywhere(|set| {
                let alone = fit(1, set);
                same(&format!("{set}, {estimator:?}"), &wanted, &alone, MOST);
                for threads in [2, 5] {
                    let found = fit(threads, set);
                    assert_eq!(alone.parameters, found.parameters, "{set}, {threads} threads");
                    assert_eq!(alone.errors, found.errors, "{set}, {threads} threads");
                }
            });
        }
    }
}

/// Proves that a narrow peak is found where the start says, among many points that have none of it.
#[test]
fn narrow_peaks_of_long_data_are_found() {
    let mut random = Random::new(7, 0);
    let data = Array2::from_shape_fn((1, 200_000), |(_, i)| {
        let square = ((i as f64 - 123_456.7) / 12.0).powi(2);
        9.0 * (-0.5 * square).exp() + 2.0 + random.normal()
    });
    let curves = Curves::new(data.view(), Points::Index);
    let model = model("gauss_1d");
    let options = CurveOptions::new(4).with_tolerance(1e-9);
    let start = CurveStart::Shared(&[5.0, 123_450.0, 20.0, 0.0]);
    let wanted = reference().fit(model.as_formula(), &curves, start, &options).expect("sound");
    assert!((wanted.parameters[[0, 1]] - 123_456.7).abs() < 5.0 * wanted.errors[[0, 1]]);
    everywhere(|set| {
        let simd = CurveSimd::new(2, Some(set)).expect("available");
        let found = simd.fit(model.as_formula(), &curves, start, &options).expect("sound");
        same(&format!("{set}"), &wanted, &found, MOST);
    });
}
