//! Splines in formulas, beside SciPy and in single precision.

use std::collections::HashMap;

use fit_cpu::{CurveReference, CurveSimd, InstructionSet};
use fit_curves::{CurveFits, CurveOptions, CurveStart, Curves, Points, Values};
use fit_formula::{Formula, Spline, SplineAxis};
use fit_gpu::CurveGpu;
use fit_tests::models::{model, places};
use ndarray::{Array2, ArrayView2};
use spotfit::model::Model;

/// What SciPy fitted (scripts/splines.py): each case with its lines of numbers.
fn cases() -> Vec<(&'static str, HashMap<&'static str, Vec<f64>>)> {
    let mut all: Vec<(&str, HashMap<&str, Vec<f64>>)> = Vec::new();
    for line in include_str!("../data/splines.txt").lines() {
        let mut words = line.split_whitespace();
        let name = words.next().expect("a word");
        let numbers: Vec<f64> = words.map(|word| word.parse().expect("a number")).collect();
        match all.last_mut() {
            Some((_, of)) if !numbers.is_empty() => drop(of.insert(name, numbers)),
            _ => all.push((name, HashMap::new())),
        }
    }
    all
}

fn lengths(numbers: &[f64]) -> Vec<usize> {
    numbers.iter().map(|&length| length as usize).collect()
}

/// The variables at each point, the last of which runs fastest.
fn grid(extent: &[f64]) -> Array2<f64> {
    let mut extent = lengths(extent);
    extent.reverse();
    let places = places(&extent);
    Array2::from_shape_fn((extent.len(), places.len()), |(k, point)| {
        places[point][extent.len() - 1 - k]
    })
}

/// Proves that natural splines and their fits are those of SciPy in double precision, with samples and as polynomials, beyond
/// the ends too.
#[test]
fn splines_of_scipy() {
    let cases = cases();
    assert_eq!(cases.len(), 3);
    for (name, of) in &cases {
        let axes: Vec<SplineAxis> =
            lengths(&of["shape"]).iter().map(|&length| SplineAxis::Cubic(length - 1)).collect();
        let natural = Spline::through(&axes, &of["samples"]).expect("sound");
        let again = Spline::from_polynomials(&axes, &natural.to_polynomials()).expect("sound");
        for (spline, digits) in [(&natural, 1e-6), (&again, 1e-5)] {
            let model = Model::named_with_splines(name, &[("f", spline)]).expect("a model");
            let at = grid(&of["grid"]);
            let data = ArrayView2::from_shape((1, at.ncols()), &of["data"]).expect("as many");
            let curves = Curves::new(data, Points::Shared(Values::from(at.view())));
            let options = model.options().with_tolerance(1e-8);
            let start = CurveStart::Shared(&of["start"]);
            let fits = model.fit(&curves, start, &options).expect("sound").fits;
            assert!(fits.statuses[0].is_converged(), "{name}: {}", fits.statuses[0]);
            assert!((fits.chi2[0] / of["chi2"][0] - 1.0).abs() < 1e-9, "{name}: {}", fits.chi2[0]);
            for (j, (minimum, error)) in of["minimum"].iter().zip(&of["errors"]).enumerate() {
                let off = (fits.parameters[[0, j]] - minimum) / error;
                assert!(off.abs() < digits, "{name}, parameter {j}: {off} standard errors");
                let ratio = fits.errors[[0, j]] / error;
                assert!((ratio - 1.0).abs() < digits, "{name}, parameter {j}: error {ratio}");
            }
        }
    }
}

/// A spline whose pieces do not join smoothly: each is shifted by a little.
fn rough(name: &str) -> (Formula, Vec<f64>) {
    let model = model(name);
    let (_, smooth) = &model.as_formula().splines()[0];
    let axes: Vec<SplineAxis> = smooth.axes().collect();
    let mut polynomials = smooth.to_polynomials();
    let size =
        4_usize.pow(axes.iter().filter(|axis| matches!(axis, SplineAxis::Cubic(_))).count() as u32);
    for (piece, own) in polynomials.chunks_exact_mut(size).enumerate() {
        own[0] += 1e-3 * ((piece * 7 % 5) as f64 - 2.0);
    }
    let spline = Spline::from_polynomials(&axes, &polynomials).expect("sound");
    assert!(!spline.is_smooth());
    let rough = Model::named_with_splines(name, &[("f", &spline)]).expect("a model");
    let truth = match name {
        "spline_1d" => vec![20.0, 5.9, 2.0],
        "spline_2d" => vec![20.0, -3.9, -4.2, 2.0],
        "spline_3d" => vec![20.0, -3.9, -4.2, -4.4, 2.0],
        "spline_3d_multichannel" => vec![20.0, -3.9, -4.2, -4.9, 2.0],
        _ => vec![20.0, -3.9, -4.2, -3.4, -4.1, 2.0],
    };
    (rough.as_formula().clone(), truth)
}

/// Fits in single precision: all of them, or those that are not left.
type Fit<'f> = &'f dyn Fn(&Formula, &Curves<'_>, CurveStart<'_>, &CurveOptions) -> CurveFits;

fn rough_splines_agree(which: &str, fit: Fit<'_>) {
    let cases: [(&str, &[usize]); 5] = [
        ("spline_1d", &[30]),
        ("spline_2d", &[9, 9]),
        ("spline_3d", &[9, 9, 1]),
        ("spline_3d_multichannel", &[9, 9, 1, 2]),
        ("spline_4d", &[7, 7, 3, 2]),
    ];
    for (name, extent) in cases {
        let (formula, truth) = rough(name);
        let places = places(extent);
        let at = Array2::from_shape_fn((extent.len(), places.len()), |(k, point)| places[point][k]);
        let points = match *extent {
            [width, height] => Points::Grid { width, height },
            _ => Points::Shared(Values::from(at.view())),
        };
        let wanted = vec![true; truth.len()];
        let program = formula.program(fit_formula::Axes::Together, &wanted);
        let mut evaluator = fit_formula::Evaluator::new(&program);
        evaluator.set_parameters(&truth);
        let clean: Vec<f64> = places.iter().map(|place| evaluator.value(place)).collect();
        let mut random = fit_sim::Random::new(5, 0);
        let data =
            Array2::from_shape_fn((100, clean.len()), |(_, at)| clean[at] + 0.3 * random.normal());
        let curves = Curves::new(data.view(), points);
        let start: Vec<f64> = truth.iter().map(|value| value * 1.02).collect();
        let options = CurveOptions::new(truth.len());
        let start = || CurveStart::Shared(&start);
        let reference = CurveReference::new(1).expect("the calling thread");
        let wanted = reference.fit(&formula, &curves, start(), &options).expect("sound");
        let found = fit(&formula, &curves, start(), &options);
        // A search may end on another side of a jump.
        let near = |fit: &usize| {
            (0..truth.len()).all(|j| {
                let off = found.parameters[[*fit, j]] - wanted.parameters[[*fit, j]];
                off.abs() < 0.01 * wanted.errors[[*fit, j]]
            })
        };
        let near = (0..100).filter(near).count();
        println!("{which}, {name}: {near} of 100 within 1 %");
        assert!(near >= 95, "{which}, {name}: {near}");
    }
}

/// Proves that splines of single polynomials are evaluated as in double precision, on all vector registers.
#[test]
fn rough_splines_on_lanes() {
    for set in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
        let simd = CurveSimd::new(1, Some(set)).expect("available");
        rough_splines_agree(&set.to_string(), &|formula, curves, start, options| {
            simd.fit(formula, curves, start, options).expect("sound")
        });
    }
}

/// Proves the same for the GPU.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn rough_splines_on_the_gpu() {
    let gpu = CurveGpu::new(0).expect("a GPU");
    rough_splines_agree("GPU", &|formula, curves, start, options| {
        gpu.fit(formula, curves, start, options).expect("a GPU").0
    });
}

/// Proves that errors name the spline and what is wrong.
#[test]
fn wrong_splines_are_told() {
    let spline = Spline::through(&[SplineAxis::Cubic(3); 2], &[0.0; 16]).expect("sound");
    let told = |text: &str, name: &str| {
        Formula::with_splines(text, &["x", "y"], &["a"], &[(name, &spline)])
            .expect_err(text)
            .shown_in(text)
    };
    assert!(
        told("a*psf(x)", "psf")
            .contains("the spline `psf` has 2 axes, and is called with 1 argument")
    );
    assert!(told("a*psg(x, y)", "psf").contains("did you mean `psf`?"));
    assert!(told("a*exp(x, y)", "exp").contains("`exp` is already the name of something else"));
    assert!(told("a*a(x, y)", "a").contains("the name `a` is given twice"));
    assert!(told("a*psf(x, y > 1)", "psf").contains("a number is needed here"));
    let text = "a*psf + b";
    let error = Formula::of_variables_with_splines(text, &["x", "y"], &[("psf", &spline)]);
    assert!(
        error.expect_err(text).shown_in(text).contains("expected `(` after the name of a function")
    );
    let missing = Model::named("spline_2d").expect_err("a spline").to_string();
    assert!(missing.contains("needs the splines f"), "{missing}");
    let many = Model::named_with_splines("linear", &[("f", &spline)]).expect_err("none");
    assert_eq!(many.to_string(), "the model 'linear' calls no splines");
    let flat = Model::named_with_splines("spline_1d", &[("f", &spline)]).expect_err("two axes");
    assert!(flat.to_string().contains("has 2 axes"), "{flat}");
}
