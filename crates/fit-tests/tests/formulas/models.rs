//! Models with names: they find their start, converge, and are as far off as they say. All 4000 fits of each take minutes:
//!
//! ```sh
//! SPOTFIT_NIGHTLY=1 cargo test --release -p fit-tests --test formulas models:: -- --nocapture
//! ```

use std::time::{Duration, Instant};

use fit_sim::Random;
use fit_tests::curves::{Alike, row, shared, values};
use fit_tests::models::{model, places};
use fit_tests::{effort, nightly};
use ndarray::{Array2, Array3, ArrayView1};
use spotfit::model::{
    CurveFits, CurveFitter, CurveOptions, CurveStart, Curves, Linear, Model, ModelFits, Points,
    Values,
};
use spotfit::{Backend, Estimator, Status};

/// A model with a truth, points, and noise: a standard deviation for least squares, and a factor that makes of it counts
/// for maximum likelihood where it is never negative.
struct Case {
    name: &'static str,
    truth: &'static [f64],
    points: At,
    noise: f64,
    counts: Option<f64>,
}

enum At {
    /// Between two values.
    Line(usize, [f64; 2]),
    Grid(usize, usize),
    /// Whole numbers along each variable, the first of which runs fastest.
    Box(&'static [usize]),
}

use At::{Box, Grid, Line};

const fn case(name: &'static str, truth: &'static [f64], points: At, noise: f64) -> Case {
    Case { name, truth, points, noise, counts: None }
}

const fn counted(
    name: &'static str,
    truth: &'static [f64],
    points: At,
    noise: f64,
    counts: f64,
) -> Case {
    Case { name, truth, points, noise, counts: Some(counts) }
}

const DECAYS: &[f64] = &[10.0, 0.3, 8.0, 1.8, 6.0, 9.0, 1.0];
const CHANNELS: &[f64] = &[10.0, -3.3, -4.2, -6.4, 2.0];
const FIVE_AXES: &[f64] = &[10.0, -5.3, -5.4, -4.4, -3.4, -2.2, 2.0];

const CASES: &[Case] = &[
    counted("linear", &[3.0, 0.7], Line(20, [0.0, 10.0]), 0.2, 20.0),
    counted("quadratic", &[9.0, -2.0, 0.3], Line(20, [0.0, 8.0]), 0.2, 20.0),
    counted("cubic", &[9.0, -2.0, 0.3, 0.02], Line(30, [0.0, 8.0]), 0.2, 20.0),
    counted("exponential", &[10.0, 2.5, 1.0], Line(40, [0.0, 12.0]), 0.1, 100.0),
    counted("exponential_2", &[10.0, 0.6, 6.0, 4.0, 1.0], Line(100, [0.0, 16.0]), 0.02, 4000.0),
    counted("exponential_3", DECAYS, Line(400, [0.0, 40.0]), 0.002, 400_000.0),
    counted("stretched_exponential", &[10.0, 2.5, 0.8, 1.0], Line(60, [0.02, 14.0]), 0.03, 1000.0),
    counted("gauss_1d", &[10.0, 4.2, 0.9, 2.0], Line(40, [0.0, 9.0]), 0.3, 30.0),
    counted("gauss_2d", &[10.0, 4.2, 3.7, 1.3, 1.0], Grid(9, 9), 0.4, 20.0),
    counted("gauss_2d_elliptic", &[10.0, 4.2, 3.7, 1.2, 1.7, 1.0], Grid(11, 9), 0.4, 20.0),
    counted("gauss_2d_rotated", &[10.0, 5.2, 4.7, 1.1, 2.0, 1.0, 0.3], Grid(11, 11), 0.3, 30.0),
    counted("cauchy_2d_elliptic", &[10.0, 5.2, 4.7, 1.3, 1.8, 1.0], Grid(13, 11), 0.2, 40.0),
    counted("lorentz", &[10.0, 4.2, 0.7, 2.0], Line(60, [0.0, 9.0]), 0.3, 30.0),
    counted("pseudo_voigt", &[10.0, 4.2, 1.4, 0.4, 2.0], Line(120, [0.0, 9.0]), 0.1, 400.0),
    counted("voigt", &[20.0, 4.2, 0.6, 0.5, 2.0], Line(120, [0.0, 9.0]), 0.05, 400.0),
    counted("gauss_exponential", &[20.0, 3.0, 0.5, 1.2, 1.0], Line(120, [0.0, 12.0]), 0.1, 100.0),
    counted("error_function", &[10.0, 4.2, 0.8, 2.0], Line(40, [0.0, 9.0]), 0.3, 30.0),
    counted("logistic", &[10.0, 4.2, 0.6, 2.0], Line(40, [0.0, 9.0]), 0.3, 30.0),
    counted("logistic_4", &[10.0, 2.2, 4.0, 1.0], Line(50, [0.0, 20.0]), 0.1, 100.0),
    counted("hill", &[10.0, 3.0, 2.2], Line(50, [0.2, 20.0]), 0.1, 100.0),
    counted("michaelis_menten", &[10.0, 3.0], Line(30, [0.2, 20.0]), 0.1, 100.0),
    counted("power_law", &[3.0, 0.7], Line(30, [0.2, 20.0]), 0.1, 100.0),
    case("sine", &[3.0, 2.1, 0.6, 1.0], Line(50, [0.0, 12.0]), 0.3),
    case("damped_sine", &[5.0, 6.0, 2.1, 0.6, 1.0], Line(80, [0.0, 16.0]), 0.2),
    case("t1_inversion_recovery", &[10.0, 0.9, 1.4], Line(30, [0.05, 8.0]), 0.1),
    counted("t1_saturation_recovery", &[10.0, 1.4], Line(30, [0.05, 8.0]), 0.1, 100.0),
    counted("t2_relaxation", &[10.0, 1.4], Line(30, [0.05, 8.0]), 0.1, 100.0),
    counted("frap", &[2.0, 6.0, 1.5], Line(40, [0.0, 12.0]), 0.1, 100.0),
    case("fcs", &[2.0, 0.5, 5.0, 1.0], Line(200, [0.001, 30.0]), 0.0005),
    counted("spline_1d", &[10.0, -3.3, 2.0], Box(&[14]), 0.2, 50.0),
    counted("spline_2d", &[10.0, -3.3, -4.2, 2.0], Grid(11, 11), 0.3, 30.0),
    counted("spline_3d", &[10.0, -3.3, -4.2, -4.4, 2.0], Box(&[11, 11, 1]), 0.1, 200.0),
    counted("spline_3d_multichannel", CHANNELS, Box(&[11, 11, 1, 2]), 0.1, 200.0),
    counted("psf_3d", &[10.0, -3.3, -4.2, 4.4, 2.0], Grid(11, 11), 0.1, 200.0),
    counted("spline_3d_phase", &[10.0, -3.3, -4.2, -6.4, 8.0, 0.7], Box(&[9, 9, 1, 3]), 0.1, 200.0),
    counted("spline_4d", &[10.0, -3.3, -4.2, -3.4, -4.1, 2.0], Box(&[7, 7, 3, 2]), 0.1, 200.0),
    counted("spline_5d", FIVE_AXES, Box(&[6, 6, 3, 2, 2]), 0.1, 200.0),
    counted("patlak", &[2.0, 0.7], Line(30, [0.5, 9.0]), 0.1, 100.0),
];

impl Case {
    fn points(&self) -> Vec<Vec<f64>> {
        match self.points {
            Line(count, [low, high]) => {
                let x = (0..count).map(|i| low + (high - low) * i as f64 / (count - 1) as f64);
                let is_patlak = self.name == "patlak";
                let at =
                    |x: f64| vec![x].into_iter().chain(is_patlak.then(|| 6.0 * (-x / 4.0).exp()));
                x.map(|x| at(x).collect()).collect()
            }
            // Each point of a spline with five axes has 1024 terms: only at night it has all of them.
            Box(_) if self.name == "spline_5d" && !nightly() => places(&[5, 5, 3, 2, 2]),
            Box(lengths) => places(lengths),
            Grid(width, height) => places(&[width, height]),
        }
    }

    /// The variables at each point.
    fn at(&self) -> Array2<f64> {
        let points = self.points();
        Array2::from_shape_fn((points[0].len(), points.len()), |(k, i)| points[i][k])
    }

    /// Data sets. The relative error of an rms of N numbers is 1/√(2N), and four of them are 0.25 for 128 data sets: a stated error that
    /// lacks a factor of √2 is seen (smaller faults by the certified errors of NIST's problems, MINOS and the intervals). With many points, where
    /// a data set takes long, four are 0.35 (0.5 with five axes, which take half of all the time), and a factor of 2 is seen.
    fn count(&self) -> usize {
        let plain = match self.points().len() {
            _ if self.name == "spline_5d" => 32,
            201.. => 64,
            _ => 128,
        };
        effort(plain, 400, 4000)
    }

    /// Simulated data (fit, point), and the factor between them and the model at its truth.
    fn data(&self, estimator: Estimator) -> (Array2<f64>, f64) {
        let model = model(self.name);
        let poisson = estimator == Estimator::MaximumLikelihood;
        let factor = self.counts.filter(|_| poisson).unwrap_or(1.0);
        let truth: Vec<f64> = model.values(self.truth, &self.points());
        let mut random = Random::new(1, 0);
        let data = Array2::from_shape_fn((self.count(), truth.len()), |(_, i)| {
            let value = factor * truth[i];
            if poisson { random.poisson(value) } else { value + self.noise * random.normal() }
        });
        (data, factor)
    }

    /// Fits simulated data on a backend.
    fn fit(&self, fitter: &CurveFitter, data: &Array2<f64>, estimator: Estimator) -> ModelFits {
        let (model, at) = (model(self.name), self.at());
        let where_they_are = match self.points {
            Grid(width, height) => Points::Grid { width, height },
            Line(..) | Box(_) => Points::Shared(Values::from(at.view())),
        };
        let curves = Curves::new(data.view(), where_they_are);
        let options = match self.name {
            "fcs" => model.options().with_fixed(2),
            _ => model.options(),
        };
        let options = options.with_estimator(estimator);
        model.fit_with(fitter, &curves, CurveStart::Estimate, &options).expect("sound")
    }

    /// The rms of error over stated error of each parameter, over what it should be, and how many fits did not converge.
    fn measure(&self, estimator: Estimator, found: &CurveFits, factor: f64) -> (Vec<f64>, usize) {
        let model = model(self.name);
        let poisson = estimator == Estimator::MaximumLikelihood;
        // Of amplitudes and offsets, which scale with the counts.
        let linear = model.as_formula().linear();
        let count = self.truth.len();
        let (mut sums, mut used) = (vec![0.0; count], 0_usize);
        for fit in 0..found.len() {
            if !found.statuses[fit].is_converged() {
                continue;
            }
            used += 1;
            for j in 0..count {
                let wanted = self.truth[j] * if linear[j] { factor } else { 1.0 };
                let mut error = found.parameters[[fit, j]] - wanted;
                // A length may have either sign, and a phase any number of turns.
                if !linear[j] && found.parameters[[fit, j]] * wanted < 0.0 {
                    error = found.parameters[[fit, j]].abs() - wanted.abs();
                }
                let stated = found.errors[[fit, j]];
                sums[j] += if stated > 0.0 { (error / stated).powi(2) } else { 0.0 };
            }
        }
        // Errors from the residuals of few points scatter themselves: their ratios are Student's.
        let degrees = f64::from(found.degrees[0]);
        let student = if poisson { 1.0 } else { degrees / (degrees - 2.0) };
        let rms = sums.iter().map(|sum| (sum / used as f64 / student).sqrt()).collect();
        (rms, found.len() - used)
    }
}

/// Compares single precision with double precision: how many fits it finds elsewhere, by more than 1 % of a standard error,
/// and how many errors are off by more than 1 %.
fn compare(case: &Case, a: &CurveFits, b: &CurveFits) -> [usize; 2] {
    let (count, mut errors) = (a.len(), 0);
    for fit in 0..count {
        for (error, other) in a.errors.row(fit).iter().zip(b.errors.row(fit)) {
            assert!(error.is_finite(), "{} {fit}", case.name);
            errors += usize::from(*error > 0.0 && !(0.99..1.01).contains(&(other / error)));
        }
        assert_eq!(a.degrees[fit], b.degrees[fit]);
        assert!(b.statuses[fit].is_converged(), "{} {fit} {}", case.name, b.statuses[fit]);
    }
    let elsewhere = count - Alike::SINGLE.near(0..count, a, b);
    let share = elsewhere as f64 / count as f64;
    let [steps, in_double] =
        [b, a].map(|fits| fits.iterations.iter().sum::<u32>() as f64 / count as f64);
    println!(
        "{:<24} {share:.4} elsewhere, {errors} errors, {steps:.2} iterations, {in_double:.2} in f64",
        case.name
    );
    [elsewhere, errors]
}

/// One of so many fits may be found elsewhere by single precision.
const ELSEWHERE: usize = 100;
/// As many as 400 fits may have, their first ones may have: a lane of sixteen that is wrong is eight of 128 fits, and of 64 it is four with
/// an error for each of five and more parameters. Of 32 it is two.
const FEW: usize = 4;

fn check(estimator: Estimator) {
    let [double, single] = [Backend::Reference, Backend::Cpu]
        .map(|backend| CurveFitter::new(backend, 0).expect("threads"));
    let mut wrong = Vec::new();
    for case in CASES {
        if estimator == Estimator::MaximumLikelihood && case.counts.is_none() {
            continue;
        }
        let count = case.count();
        let chance = 4.0 / (2.0 * count as f64).sqrt();
        let (data, factor) = case.data(estimator);
        let found = case.fit(&double, &data, estimator).fits;
        let (rms, lost) = case.measure(estimator, &found, factor);
        println!("{:<24} {lost} lost {rms:.3?}", case.name);
        // The third parameter of fcs is held.
        let off = |(j, rms): (usize, &f64)| match (case.name, j) {
            ("fcs", 2) => *rms != 0.0,
            _ => !(0.97 - chance..1.03 + chance).contains(rms),
        };
        if lost > (count / 200).max(1) || rms.iter().enumerate().any(off) {
            wrong.push(format!("{}: {lost} of {count} lost, {rms:.3?}", case.name));
        }
        let compared = compare(case, &found, &case.fit(&single, &data, estimator).fits);
        if compared.iter().any(|&off| off > (count / ELSEWHERE).max(FEW.min(count / 16))) {
            let [elsewhere, errors] = compared;
            wrong.push(format!("{}: {elsewhere} elsewhere, {errors} errors", case.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Proves that models with names find their start and the minimum, and state the right errors, by least squares; and that single
/// precision finds the minimum of double precision within 1 % of a standard error in 99 % of fits.
#[test]
fn least_squares() {
    check(Estimator::LeastSquares);
}

/// Proves it for maximum likelihood: errors are those of the Cramér–Rao bound.
#[test]
fn maximum_likelihood() {
    check(Estimator::MaximumLikelihood);
}

fn near(what: &str, found: ArrayView1<'_, f64>, wanted: &[f64], most: f64) {
    let near = found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < most);
    assert!(near && found.len() == wanted.len(), "{what}: {found}, {wanted:?}");
}

/// Proves that every model has a case, but for test problems of optimisers, which are found exactly.
#[test]
fn every_model_is_tested() {
    for (name, _, _) in Model::all() {
        match name {
            "helix" => {
                let model = Model::named("helix").expect("a model");
                let zeros = Array2::<f64>::zeros((1, 3));
                let curves = Curves::new(zeros.view(), Points::Index);
                let fits = model.fit(&curves, CurveStart::Estimate, &model.options());
                let fits = fits.expect("sound").fits;
                assert_eq!(fits.statuses[0], Status::Stalled);
                near(name, fits.parameters.row(0), &[1.0, 0.0, 0.0], 1e-9);
            }
            // More, Garbow and Hillstrom, problem 16: f = 85822.2 for twenty points t = i/5, i = 1 to 20.
            "brown_dennis" => {}
            _ => assert!(CASES.iter().any(|case| case.name == name), "{name} is not tested"),
        }
    }
}

/// Proves that the published minimum of Brown and Dennis' problem is found: 85822.2 (Moré, Garbow and Hillstrom 1981).
#[test]
fn brown_and_dennis() {
    let model = Model::named("brown_dennis").expect("a model");
    let data = Array2::<f64>::zeros((1, 20));
    let x = Array2::from_shape_fn((1, 20), |(_, i)| (i + 1) as f64);
    let curves = shared(&data, &x, None);
    // With residuals this large the search creeps: MINPACK takes two thousand evaluations.
    let options = model.options().with_max_iterations(2000);
    let fits = model.fit(&curves, CurveStart::Estimate, &options).expect("sound");
    assert!((fits.fits.chi2[0] - 85822.2).abs() < 0.1, "{:?}", fits.fits);
}

/// Proves that start values are found where points differ from fit to fit and some are left out.
#[test]
fn starts_with_points_of_their_own() {
    let model = Model::named("exponential").expect("a model");
    let x = Array3::from_shape_fn((5, 1, 20), |(fit, _, i)| 0.3 * (1.0 + fit as f64) * i as f64);
    let mut data = Array2::from_shape_fn((5, 20), |(fit, i)| {
        7.0 * (-x[[fit, 0, i]] / (2.0 + fit as f64)).exp() + 1.0
    });
    let mut weights = Array2::ones((5, 20));
    for fit in 0..5 {
        data[[fit, 3 + fit]] = f64::NAN;
        weights[[fit, 3 + fit]] = 0.0;
        data[[fit, 9]] = 1e9;
        weights[[fit, 9]] = f64::NAN;
    }
    let curves = Curves::new(data.view(), Points::PerFit(Values::from(x.view())))
        .with_weights(weights.view());
    let fits = model.fit(&curves, CurveStart::Estimate, &model.options()).expect("sound");
    for fit in 0..5 {
        near("own points", fits.fits.parameters.row(fit), &[7.0, 2.0 + fit as f64, 1.0], 1e-8);
        assert_eq!(fits.fits.degrees[fit], 18 - 3);
    }
}

/// Proves that a trial at which the model overflows is no better than the start: decays whose first step leads to a
/// negative time, where the model is 10⁸⁹.
#[test]
fn steps_into_overflow_are_refused() {
    let model = Model::named("exponential").expect("a model");
    let mut random = Random::new(3, 0);
    let mut any = |_| [5.0 + 10.0 * random.uniform(), 1.0 + 4.0 * random.uniform()];
    let truth: Vec<[f64; 2]> = (0..5000).map(&mut any).collect();
    let x = Array2::from_shape_fn((1, 40), |(_, i)| 12.0 * i as f64 / 39.0);
    let data = Array2::from_shape_fn((5000, 40), |(fit, i)| {
        let [a, t] = truth[fit];
        a * (-x[[0, i]] / t).exp() + 1.0 + 0.1 * random.normal()
    });
    let curves = shared(&data, &x, None);
    let fits = model.fit(&curves, (&[10.0, 3.0, 1.0]).into(), &model.options()).expect("sound");
    assert!(fits.fits.statuses.iter().all(|status| status.is_converged()));
    for (fit, [_, t]) in truth.iter().enumerate() {
        let error = (fits.of("t").expect("t")[fit] - t) / fits.error_of("t").expect("t")[fit];
        assert!(error.abs() < 6.0, "{fit}: {error}");
    }
}

/// Measures, and prints, how long it takes until a formula is read, differentiated and fitted once: medians of five.
#[test]
fn text_to_first_fit() {
    let fitter = CurveFitter::new(Backend::Reference, 1).expect("the calling thread");
    let mut slowest = (Duration::ZERO, "");
    // A formula alone has no splines.
    for case in CASES.iter().filter(|case| model(case.name).as_formula().splines().is_empty()) {
        let named = model(case.name);
        let (variables, parameters) = (named.variables(), named.parameters());
        let [variables, parameters] = [variables, parameters]
            .map(|names| names.iter().map(String::as_str).collect::<Vec<_>>());
        let (data, at) = (row(&named.values(case.truth, &case.points())), case.at());
        let mut times: Vec<Duration> = (0..5)
            .map(|_| {
                let begin = Instant::now();
                let model =
                    Model::formula(named.text(), &variables, &parameters).expect("a formula");
                let curves = Curves::new(data.view(), Points::Shared(Values::from(at.view())));
                let options = model.options();
                let fits = model.fit_with(&fitter, &curves, case.truth.into(), &options);
                assert_eq!(fits.expect("sound").fits.len(), 1);
                begin.elapsed()
            })
            .collect();
        times.sort();
        slowest = slowest.max((times[2], case.name));
    }
    println!("text to first fit: at most {slowest:?}");
}

/// A fit of one data set from a start, by a formula.
fn single(text: &str, x: &[f64], data: &[f64], start: &[f64]) -> ModelFits {
    let model = Model::of_variables(text, &["x"]).expect(text);
    single_of(&model, x, data, start, &model.options())
}

fn single_of(
    model: &Model,
    x: &[f64],
    data: &[f64],
    start: &[f64],
    options: &CurveOptions,
) -> ModelFits {
    let (x, data) = (row(x), row(data));
    let curves = shared(&data, &x, None);
    model.fit(&curves, start.into(), options).expect("sound")
}

/// Proves that a fit that knows nothing does not say that it has converged.
#[test]
fn nothing_known_is_not_converged() {
    let x: Vec<f64> = (0..10).map(f64::from).collect();
    // The model does not reach the data, and its derivatives are 0.
    let far = single("a*exp(-(x - x0)^2/(2*s^2))", &x, &[1.0; 10], &[1.0, 1000.0, 1.0]);
    assert_eq!(far.fits.statuses[0], Status::NotConverged);
    // χ² is no number, but in the unit of the data it is: this is the line that one datum makes.
    let mut data = vec![1.0; 10];
    data[3] = 1e200;
    let huge = single("a + b*x", &x, &data, &[1.0, 1.0]);
    assert!(huge.fits.statuses[0].is_converged());
    let slope = huge.of("b").expect("b")[0];
    assert!((slope / (-1.5e200 / 82.5) - 1.0).abs() < 1e-9, "{slope}");
    // A product of two parameters: any of them will do, and none is known.
    let line: Vec<f64> = x.iter().map(|x| 6.0 * x).collect();
    let both = single("a*b*x", &x, &line, &[1.0, 1.0]);
    assert_eq!(both.fits.statuses[0], Status::NotConverged);
    assert!(both.error_of("a").expect("a")[0].is_infinite());
    // Counts where the logarithm has no value at some points.
    let model = Model::of_variables("b + log(x - x0)", &["x"]).expect("a formula");
    let options = model.options().with_estimator(Estimator::MaximumLikelihood);
    let counts = [0.0, 0.0, 0.0, 1.0, 2.0, 1.0, 2.0, 2.0, 3.0, 2.0];
    let found = single_of(&model, &x, &counts, &[2.0, -1.0], &options);
    let x0 = found.of("x0").expect("x0")[0];
    assert!(x0 < 0.0, "the model has a value at all points: {x0}");
}

/// Proves how many parameters count: those that are held, by equal limits too, do not; without a degree of freedom nothing
/// is known of the errors; with nothing to find there is χ².
#[test]
fn degrees_of_freedom() {
    let x = [0.0, 1.0, 2.0, 3.0];
    let data = [1.0, 3.1, 4.9, 7.0];
    let model = Model::of_variables("a + b*x", &["x"]).expect("a line");
    let options = model.options().with_linear(Linear::Searched);
    let held = options.clone().with_lower(0, 1.0).with_upper(0, 1.0);
    let fixed = options.with_fixed(0);
    let [held, fixed] =
        [held, fixed].map(|options| single_of(&model, &x, &data, &[1.0, 2.0], &options));
    assert_eq!(held.fits.degrees, [3]);
    assert_eq!(held.fits.errors, fixed.fits.errors);
    assert!(held.fits.statuses[0].is_converged());
    let all = model.options().with_fixed(0).with_fixed(1);
    let all = single_of(&model, &x, &data, &[1.0, 2.0], &all);
    assert!((all.fits.chi2[0] - 0.02).abs() < 1e-12 && all.fits.iterations[0] == 0);
    let two = single("if(x < 1, a, b)", &x[..2], &data[..2], &[0.0, 0.0]);
    assert!(two.fits.covariance.iter().all(|value| !value.is_nan()), "{:?}", two.fits.covariance);
    assert!(two.error_of("a").expect("a")[0].is_infinite());
}

/// Proves that a decay that is much longer than the blur has values everywhere, and is found.
#[test]
fn long_decays_after_short_rises() {
    let model = Model::named("gauss_exponential").expect("a model");
    let x: Vec<f64> = (0..240).map(|i| 0.05 * f64::from(i)).collect();
    let truth = [20.0, 1.0, 0.05, 2.0, 1.0];
    let values = values(&model, &truth, &x);
    assert!(values.iter().all(|value| value.is_finite()));
    let found = single_of(&model, &x, &values, &[15.0, 1.1, 0.1, 1.5, 0.5], &model.options());
    near("a long decay", found.fits.parameters.row(0), &truth, 1e-6);
}

/// Proves that models of many parameters are fitted, up to the most: sums of cosines.
#[test]
fn many_parameters() {
    for count in [9, 11, 13, 20, 30, 64] {
        let terms: Vec<String> = (0..count).map(|j| format!("p{j}*cos({j}*x) ")).collect();
        let text = terms.join("+");
        let x: Vec<f64> = (0..200).map(|i| 0.0157 * (f64::from(i) + 0.5)).collect();
        let of = |j: usize| 1.0 + (j % 5) as f64;
        let data: Vec<f64> =
            x.iter().map(|x| (0..count).map(|j| of(j) * (j as f64 * x).cos()).sum()).collect();
        let found = single(&text, &x, &data, &vec![0.5; count]);
        assert!(found.fits.statuses[0].is_converged(), "{count}: {}", found.fits.statuses[0]);
        let truth: Vec<f64> = (0..count).map(of).collect();
        near(&text, found.fits.parameters.row(0), &truth, 1e-8);
    }
}
