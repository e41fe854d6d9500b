//! What is known of fits besides parameters: intervals beside MINOS, how often they hold the truth, and fits that find their start.
//!
//! ```sh
//! SPOTFIT_TESTS=all SPOTFIT_NIGHTLY=1 cargo test --release -p fit-tests --test formulas answers:: -- --nocapture
//! ```

use fit_core::Estimator;
use fit_sim::Random;
use fit_tests::curves::{Curve, curve, row, shared};
use fit_tests::effort;
use fit_tests::records::records;
use ndarray::Array2;
use spotfit::Backend;
use spotfit::model::answers::{IntervalEnd, ProfileInterval, profile_intervals};
use spotfit::model::{CurveFitter, CurveOptions, CurveStart, Model};

use crate::curves;

/// Number by number, and with the points of a data set in lanes.
const BACKENDS: [Backend; 2] = [Backend::Reference, Backend::Cpu];

/// Proves that the ends of intervals are those that MINOS finds, within 1 % of their distance from the minimum, in 20 cases: absolute
/// weights, residuals that scale the errors, and counts.
#[test]
fn intervals_are_those_of_minos() {
    let fitters = BACKENDS.map(|backend| CurveFitter::new(backend, 1).expect("a thread"));
    let cases = records(include_str!("../../data/minos.txt").split("case ").skip(1));
    for case in &cases {
        let head: Vec<&str> = case.head.split(' ').collect();
        let model = Model::of_variables(case.text("formula"), &["x"]).expect("a formula");
        // Start values are in the order of the script, parameters in that of the formula.
        let own: &[&str] = if head[0] == "logistic_4" { &["a", "b", "c", "d"] } else { &[] };
        let at = |name: &String| own.iter().position(|other| other == name);
        let all = model.parameters().iter().enumerate();
        let order: Vec<usize> = all.map(|(number, name)| at(name).unwrap_or(number)).collect();
        let given = case.numbers("start");
        let start: Vec<f64> = order.iter().map(|&at| given[at]).collect();
        let [x, y, weights] = ["x", "y", "weights"].map(|of| row(&case.numbers(of)));
        let curves = shared(&y, &x, Some(&weights));
        let mut options = model.options().with_absolute(head[1] == "absolute");
        if head[1] == "counts" {
            options = options.with_estimator(Estimator::MaximumLikelihood);
        }
        let level: f64 = head[2].parse().expect("a level");
        let expected = case.all("interval");
        for fitter in &fitters {
            let fits =
                model.fit_with(fitter, &curves, start[..].into(), &options).expect("fits").fits;
            let found = profile_intervals(&model, fitter, &curves, &fits, &options, level);
            let found = found.expect("intervals");
            for (j, &at) in order.iter().enumerate() {
                let own = found[j][0].expect("an interval");
                let [best, low, high] = expected[at][..] else { panic!("three numbers") };
                for (end, wanted) in [low, high].into_iter().enumerate() {
                    if wanted.is_nan() {
                        assert_ne!(own.found[end], IntervalEnd::Closed, "{head:?} {j}");
                        continue;
                    }
                    let off = (own.ends[end] - wanted).abs() / (wanted - best).abs();
                    assert!(off < 0.01, "{head:?} {j}: {} {wanted} {best}", own.ends[end]);
                }
            }
        }
    }
    assert_eq!(cases.len(), 20);
}

/// Models for coverage.
const COVERED: [Curve; 6] = [
    curve("linear", &[2.0, 3.0], 12, [0.0, 11.0], 1.0),
    curve("exponential", &[10.0, 7.0, 1.0], 30, [0.0, 29.0], 0.3),
    curve("gauss_1d", &[10.0, 9.3, 2.0, 3.0], 20, [0.0, 19.0], 0.5),
    curve("logistic_4", &[1.0, 1.5, 1.0, 10.0], 20, [0.01, 75.6], 0.3).by_factors(),
    curve("michaelis_menten", &[10.0, 2.0], 10, [0.3, 11.5], 0.3).by_factors(),
    curve("power_law", &[3.0, 0.7], 12, [1.0, 12.0], 0.3),
];

/// How often intervals at 68 % hold the truth, of so many simulations: for each parameter.
fn coverage(
    of: &Curve,
    backend: Backend,
    count: usize,
    absolute: bool,
    lower: Option<usize>,
) -> Vec<f64> {
    let (model, x) = (of.model(), row(&of.x()));
    let fitter = CurveFitter::new(backend, 0).expect("threads");
    let data = of.data(count, &mut Random::new(45, 0));
    let weights = Array2::from_elem((1, of.points), of.noise.powi(-2));
    let curves = shared(&data, &x, Some(&weights));
    let mut options = model.options().with_absolute(absolute);
    if let Some(j) = lower {
        // The truth lies on the limit.
        options = options.with_lower(j, of.truth[j]);
    }
    let fits = model.fit_with(&fitter, &curves, of.truth.into(), &options).expect("fits").fits;
    let found =
        profile_intervals(&model, &fitter, &curves, &fits, &options, 0.68).expect("intervals");
    let share = |(own, truth): (&Vec<Option<ProfileInterval>>, &f64)| {
        let own = own.iter().flatten();
        own.filter(|own| (own.ends[0]..=own.ends[1]).contains(truth)).count() as f64 / count as f64
    };
    found.iter().zip(of.truth).map(share).collect()
}

/// Proves that 68 % intervals hold the truth as often as they say, of 2500 simulations of six models, with weights that are known and with residuals
/// that scale the errors, and at least as often where the truth lies on a limit: within four deviations of a share of so many, 0.04, and in a night,
/// with 10⁴ simulations, 0.02.
#[test]
#[cfg_attr(not(long_tests), ignore = "long: SPOTFIT_TESTS=all runs it")]
fn intervals_hold_the_truth_as_often_as_they_say() {
    let count = effort(2500, 2500, 10_000);
    let spread = 0.02 * (10_000.0 / count as f64).sqrt();
    for covered in &COVERED {
        for absolute in [true, false] {
            let shares = coverage(covered, Backend::Cpu, count, absolute, None);
            println!("{} absolute {absolute}: {shares:.4?}", covered.formula);
            let near = |share: &f64| (share - 0.68).abs() <= spread;
            assert!(shares.iter().all(near), "{} {shares:?}", covered.formula);
        }
        for j in 0..covered.truth.len() {
            let shares = coverage(covered, Backend::Cpu, count, true, Some(j));
            println!("{} at a limit of {j}: {shares:.4?}", covered.formula);
            assert!(shares[j] >= 0.68 - spread, "{} {shares:?}", covered.formula);
        }
    }
}

/// Proves the same in few simulations.
#[test]
fn intervals_hold_the_truth() {
    // Four deviations of a share of 1500.
    let spread = 4.0 * (0.68 * 0.32 / 1500.0_f64).sqrt();
    for (of, backend) in COVERED.iter().flat_map(|of| BACKENDS.map(|backend| (of, backend))) {
        let shares = coverage(of, backend, 1500, true, None);
        let near = shares.iter().all(|share| (share - 0.68).abs() < spread);
        assert!(near, "{} {backend:?} {shares:?}", of.formula);
    }
}

/// Proves that intervals of parameters that are not determined are open, that those at limits have one side, and that an exact fit has none.
#[test]
fn intervals_say_how_they_end() {
    let fitter = CurveFitter::new(Backend::Reference, 1).expect("a thread");
    // Only the early, straight part of a saturation: v and k may grow for ever.
    let model = Model::formula("v*x/(k + x)", &["x"], &["v", "k"]).expect("a formula");
    let x = Array2::from_shape_fn((1, 8), |(_, i)| 0.1 * (1 + i) as f64);
    let wave = [0.03, -0.02, 0.01, -0.04, 0.02, 0.03, -0.03, 0.0];
    let data =
        Array2::from_shape_fn((1, 8), |(_, i)| 2.0 * x[[0, i]] - 0.1 * x[[0, i]].powi(2) + wave[i]);
    let curves = shared(&data, &x, None);
    let ends = |options: &CurveOptions, start: &[f64]| {
        let fits = model.fit_with(&fitter, &curves, start.into(), options).expect("fits").fits;
        let found =
            profile_intervals(&model, &fitter, &curves, &fits, options, 0.68).expect("some");
        found.iter().map(|own| own[0]).collect::<Vec<_>>()
    };
    let found = ends(&model.options(), &[20.0, 10.0]);
    let [Some(v), Some(k)] = found[..] else { panic!("two intervals: {found:?}") };
    assert_eq!([v.word(), k.word()], ["high_open"; 2], "{found:?}");
    assert_eq!([v.ends[1], k.ends[1]], [f64::INFINITY; 2]);
    let found = ends(&model.options().with_upper(1, 12.0), &[20.0, 10.0]);
    let end = found[1].map(|own| (own.word(), own.ends[1]));
    assert_eq!(end, Some(("high_limit", 12.0)), "{found:?}");
    let found = ends(&model.options().with_fixed(1), &[20.0, 10.0]);
    assert!(found[1].is_none() && found[0].is_some_and(|own| own.word() == "closed"), "{found:?}");
}

/// Proves that of NIST's problems those that the docs state are solved from starts that are searched for, without limits.
#[test]
fn nist_problems_find_their_start() {
    let fitter = CurveFitter::new(Backend::Reference, 0).expect("threads");
    let mut missed = Vec::new();
    for problem in curves::problems() {
        let model = problem.model();
        let y = row(&problem.y);
        let curves = shared(&y, &problem.x, None);
        let options = model.options().with_max_iterations(5000).with_tolerance(1e-7);
        let fits =
            model.fit_with(&fitter, &curves, CurveStart::Estimate, &options).expect("fits").fits;
        if fits.chi2[0] > 1.0001 * problem.chi2 + 1e-20 {
            missed.push((problem.name, fits.chi2[0], fits.statuses[0], problem.chi2));
        }
    }
    println!("{} of 27 are solved; not {missed:?}", 27 - missed.len());
    assert!(missed.is_empty(), "{missed:?}");
}

/// Proves that the formulas of models with names find without their name what the models find with it, in all but 1 % of data sets.
#[test]
fn formulas_find_what_models_find() {
    let fitter = CurveFitter::new(Backend::Reference, 0).expect("threads");
    for covered in &COVERED {
        let named = covered.model();
        let names: Vec<&str> = named.parameters().iter().map(String::as_str).collect();
        let formula = Model::formula(named.text(), &["x"], &names).expect("a formula");
        let (data, x) = (covered.data(300, &mut Random::new(46, 0)), row(&covered.x()));
        let curves = shared(&data, &x, None);
        let of = |model: &Model| {
            let fits = model.fit_with(&fitter, &curves, CurveStart::Estimate, &model.options());
            fits.expect("fits").fits.chi2
        };
        let pairs: Vec<_> = of(&formula).into_iter().zip(of(&named)).collect();
        let good = pairs.iter().filter(|(found, wanted)| *found <= 1.0001 * wanted).count();
        let better = pairs.iter().filter(|(found, wanted)| *found < 0.9999 * wanted).count();
        println!("{}: {good} of 300 as good, {better} better", covered.formula);
        assert!(good >= 297, "{}", covered.formula);
    }
}
