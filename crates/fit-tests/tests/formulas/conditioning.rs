//! Curves whose numbers are large, small, or far from 0: the same fit within its rounding, or a status that says that double precision
//! cannot hold the data. And what errors say at a limit, and where data do not determine all parameters.

use fit_tests::curves::{model, row, shared, values};
use ndarray::{Array2, Array3};
use spotfit::model::{
    CurveFitter, CurveLimits, CurveOptions, CurveStart, Curves, Linear, Model, ModelFits, Points,
    Values,
};
use spotfit::{Backend, Estimator, Status};

/// Noise with a standard deviation of about 1 that no two points share.
fn noise(i: usize) -> f64 {
    let x = i as f64;
    1.4 * (12.9898 * x + 78.233 * (0.37 * x).sin()).sin()
}

fn fitters() -> [CurveFitter; 2] {
    [Backend::Reference, Backend::Cpu].map(|backend| CurveFitter::new(backend, 1).expect("threads"))
}

/// A model, and what becomes of its parameters in other units.
struct Case {
    model: Model,
    truth: Vec<f64>,
    /// Of each parameter: the power of the data's unit in it.
    powers: &'static [i32],
    /// Its logarithm grows with the unit.
    logarithm: Option<usize>,
}

impl Case {
    fn of(text: &str, truth: &[f64], powers: &'static [i32]) -> Self {
        Self { model: model(text), truth: truth.to_vec(), powers, logarithm: None }
    }

    fn values(&self, x: &[f64]) -> Vec<f64> {
        let values = values(&self.model, &self.truth, x);
        let most = values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        values.iter().enumerate().map(|(i, value)| value + 0.01 * most * noise(i)).collect()
    }

    /// Parameters where data are that many times as large.
    fn scaled(&self, parameters: &[f64], scale: f64) -> Vec<f64> {
        let mut all: Vec<f64> =
            parameters.iter().zip(self.powers).map(|(p, &power)| p * scale.powi(power)).collect();
        if let Some(j) = self.logarithm {
            all[j] += scale.ln();
        }
        all
    }

    fn start(&self) -> Vec<f64> {
        self.truth.iter().map(|value| 1.1 * value).collect()
    }
}

fn cases() -> Vec<Case> {
    let rising = Case { logarithm: Some(0), ..Case::of("exp(m + k*x)", &[0.5, 0.1], &[0, 0]) };
    vec![
        Case::of("linear", &[3.0, 0.5], &[1, 1]),
        Case::of("a*exp(-x/t) + c", &[10.0, 4.0, 2.0], &[1, 0, 1]),
        Case::of("exponential", &[10.0, 4.0, 2.0], &[1, 0, 1]),
        Case::of("gauss_1d", &[10.0, 11.0, 2.5, 3.0], &[1, 0, 0, 1]),
        Case::of("lorentz", &[10.0, 11.0, 2.5, 3.0], &[1, 0, 0, 1]),
        Case::of("sine", &[5.0, 0.7, 0.4, 2.0], &[1, 0, 0, 1]),
        Case::of("logistic", &[5.0, 11.0, 1.5, 2.0], &[1, 0, 0, 1]),
        Case::of("a1*exp(-(x - p)^2/8) + a2*exp(-x/6)", &[5.0, 12.0, 8.0], &[1, 0, 1]),
        rising,
    ]
}

/// How fits may begin: all from the same values, each from its own, and from what the model finds in the data.
fn starts<'a>(model: &Model, start: &'a [f64], each: &'a Array2<f64>) -> Vec<CurveStart<'a>> {
    let found = model.finds_its_start().then_some(CurveStart::Estimate);
    [CurveStart::Shared(start), each.view().into()].into_iter().chain(found).collect()
}

fn fit<'a>(
    model: &Model,
    fitter: &CurveFitter,
    (x, y, weights): (&[f64], &[f64], Option<&[f64]>),
    start: impl Into<CurveStart<'a>>,
    options: &CurveOptions,
) -> ModelFits {
    let (x, y, weights) = (row(x), row(y), weights.map(row));
    let curves = shared(&y, &x, weights.as_ref());
    model.fit_with(fitter, &curves, start.into(), options).expect("sound")
}

/// Checks that numbers are the same but for a share.
fn same(found: f64, wanted: f64, most: f64, told: &str) {
    assert!((found / wanted - 1.0).abs() < most, "{told}: {found:e}, not {wanted:e}");
}

/// Proves that two fits are the same but for their unit: within `most` standard errors, and their errors as well.
fn assert_same(case: &Case, own: &ModelFits, plain: &ModelFits, scale: f64, most: f64, told: &str) {
    let name = case.model.text();
    let status = own.fits.statuses[0];
    assert!(status.is_converged(), "{name}, {told}: {status}");
    let wanted = case.scaled(&plain.fits.parameters.row(0).to_vec(), scale);
    for (j, wanted) in wanted.iter().enumerate() {
        let unit = scale.powi(case.powers[j]);
        let (found, error) = (own.fits.parameters[[0, j]], own.fits.errors[[0, j]]);
        let what = format!("{name}, {told}: parameter {j}");
        let off = (found - wanted).abs() / error;
        assert!(off < most, "{what} is {found:e}, not {wanted:e} ± {error:e}");
        same(error / unit, plain.fits.errors[[0, j]], most, &what);
    }
}

/// Proves that the unit of the data does not matter: in double precision from 10⁻³⁰⁰ to 10³⁰⁰, and in lanes, which leave what is beyond
/// single precision, as far as that goes; from shared start values, from those of each fit, and from those found in the data.
#[test]
fn data_of_any_size() {
    let x: Vec<f64> = (0..25).map(f64::from).collect();
    for fitter in fitters() {
        for case in cases() {
            let y = case.values(&x);
            let options = case.model.options();
            let plain = fit(&case.model, &fitter, (&x, &y, None), &case.start()[..], &options);
            for power in (-300..=300).step_by(30) {
                let scale = 10_f64.powi(power);
                let data: Vec<f64> = y.iter().map(|y| y * scale).collect();
                let start = case.scaled(&case.start(), scale);
                // Single precision is within a few thousandths of a standard error.
                let most = if fitter.backend() == Backend::Cpu { 5e-3 } else { 1e-3 };
                for from in starts(&case.model, &start, &row(&start)) {
                    let told = format!("{:?}, 1e{power}, {from:?}", fitter.backend());
                    let own = fit(&case.model, &fitter, (&x, &data, None), from, &options);
                    assert_same(&case, &own, &plain, scale, most, &told);
                }
            }
        }
    }
}

/// Proves that the unit of the weights does not matter, whether they are shared or not, and that errors are what they say if they are
/// 1/variance.
#[test]
fn weights_of_any_size() {
    let x: Vec<f64> = (0..25).map(f64::from).collect();
    let weights: Vec<f64> =
        (0..25).map(|i| if i == 7 { 0.0 } else { 1.0 + 0.1 * f64::from(i) }).collect();
    for fitter in fitters() {
        for case in cases() {
            let y = case.values(&x);
            for absolute in [false, true] {
                let mut options = case.model.options().with_absolute(absolute);
                if absolute {
                    // A thousandth of a standard error is anywhere where that is 10¹⁵⁰.
                    options = options.with_tolerance(0.0);
                }
                let own = |scale: f64| {
                    let weights: Vec<f64> = weights.iter().map(|w| w * scale).collect();
                    let given = (&x[..], &y[..], Some(&weights[..]));
                    fit(&case.model, &fitter, given, &case.start()[..], &options)
                };
                let plain = own(1.0);
                for power in (-300..=300).step_by(10) {
                    let scale = 10_f64.powi(power);
                    let mut other = own(scale);
                    if absolute {
                        other.fits.errors.mapv_inplace(|error| error * scale.sqrt());
                    }
                    let most = if fitter.backend() == Backend::Cpu { 2e-2 } else { 2e-3 };
                    let told = format!("{:?}, weights 1e{power}, {absolute}", fitter.backend());
                    assert_same(&case, &other, &plain, 1.0, most, &told);
                }
            }
        }
    }
}

/// A model at points that are shifted, and its parameters that stay the same, or move with the points.
struct Shifted(&'static str, &'static [f64], &'static [usize], Option<usize>);

const ON_A_SLOPE: &str = "a*exp(-(x - p)^2/(2*s^2)) + b + c*x";

const SHIFTED: [Shifted; 7] = [
    Shifted("linear", &[3.0, 0.5], &[1], None),
    Shifted("a + b*x + c*x^2", &[3.0, 0.5, -0.02], &[2], None),
    Shifted("gauss_1d", &[10.0, 18.0, 3.5, 3.0], &[0, 2, 3], Some(1)),
    Shifted(ON_A_SLOPE, &[10.0, 18.0, 3.5, 3.0, 0.1], &[0, 2, 4], Some(1)),
    Shifted("error_function", &[10.0, 18.0, 3.5, 3.0], &[0, 2, 3], Some(1)),
    Shifted("gauss_exponential", &[60.0, 12.0, 2.0, 5.0, 3.0], &[0, 2, 3, 4], Some(1)),
    Shifted("a*sin(w*x + phi) + c", &[5.0, 0.7, 0.4, 2.0], &[0, 1, 3], None),
];

/// Proves that it does not matter where x begins, up to 10¹³ of its spacings: lines, polynomials, places, and phases, from start values
/// and from the data.
#[test]
fn points_far_from_zero() {
    let x: Vec<f64> = (0..40).map(f64::from).collect();
    for fitter in fitters() {
        for Shifted(text, truth, kept, place) in SHIFTED {
            let case = Case::of(text, truth, &[0; 5]);
            let (y, options) = (case.values(&x), case.model.options());
            let shift = case.model.as_formula().invariance().translation(0).expect(text);
            let plain = fit(&case.model, &fitter, (&x, &y, None), truth, &options);
            for by in [1e3, -4e5, 1.7e9, 1.7e12, 1e13] {
                let far: Vec<f64> = x.iter().map(|x| x + by).collect();
                let mut start = truth.to_vec();
                shift.apply(&mut start, -by);
                for from in starts(&case.model, &start, &row(&start)) {
                    let told = format!("{text} at {by:e}, {from:?}, {:?}", fitter.backend());
                    let own = fit(&case.model, &fitter, (&far, &y, None), from, &options);
                    assert!(own.fits.statuses[0].is_converged(), "{told}: {:?}", own.fits);
                    for &j in kept.iter().chain(&place) {
                        let [found, wanted] = [&own, &plain].map(|of| of.fits.parameters[[0, j]]);
                        let [error, known] = [&own, &plain].map(|of| of.fits.errors[[0, j]]);
                        let moved = if place == Some(j) { by } else { 0.0 };
                        let off = (found - wanted - moved).abs() - moved.abs() * f64::EPSILON;
                        assert!(off < 1e-2 * known, "{told}: {j}: {found}, {wanted} ± {known}");
                        same(error, known, 1e-2, &told);
                    }
                    same(own.fits.chi2[0], plain.fits.chi2[0], 1e-3, &told);
                }
            }
        }
    }
}

/// Proves that what is mixed by a shift has the error, and the covariance, that it has in one's own coordinates, as exact as those can be
/// computed: those of an offset of a line, from sums about the middle.
#[test]
fn errors_far_from_zero() {
    let count = 40;
    let by = 1.7e9;
    let x: Vec<f64> = (0..count).map(|i| by + f64::from(i)).collect();
    let y: Vec<f64> = (0..count).map(|i| 2.0 + 0.25 * f64::from(i) + noise(i as usize)).collect();
    let model = Model::named("linear").expect("a line");
    for fitter in fitters() {
        let fits = fit(&model, &fitter, (&x, &y, None), &[0.0, 0.0], &model.options()).fits;
        let n = f64::from(count);
        let middle = by + 0.5 * (n - 1.0);
        let variance = fits.chi2[0] / (n - 2.0);
        let slope = variance / (n * (n * n - 1.0) / 12.0);
        let offset = variance / n + middle * middle * slope;
        let wanted = [offset, -middle * slope, -middle * slope, slope];
        let roots = [offset, slope].map(f64::sqrt);
        for (found, wanted) in
            fits.covariance.iter().chain(&fits.errors).zip(wanted.into_iter().chain(roots))
        {
            same(*found, wanted, 1e-6, "a line");
        }
        let value = fits.parameters[[0, 0]] + fits.parameters[[0, 1]] * middle;
        let mean = y.iter().sum::<f64>() / n;
        assert!((value - mean).abs() < 1e-5, "{value}, {mean}");
    }
}

/// Proves that a shift leaves limits and held parameters what they are: those of a place move with it, and where an offset has a limit
/// nothing is shifted.
#[test]
fn limits_far_from_zero() {
    let by = 1.7e12;
    let x: Vec<f64> = (0..40).map(|i| by + f64::from(i)).collect();
    let case = Case::of("gauss_1d", &[10.0, by + 18.0, 3.5, 3.0], &[0; 4]);
    let y = case.values(&x);
    for fitter in fitters() {
        let options = case.model.options();
        let run = |options: &CurveOptions, start: &[f64]| {
            fit(&case.model, &fitter, (&x, &y, None), start, options).fits
        };
        let start = [9.0, by + 15.25, 3.0, 2.0];
        let limited = run(&options.clone().with_upper(1, by + 16.5), &start);
        assert_eq!(limited.statuses[0], Status::AtLimit);
        assert_eq!(limited.parameters[[0, 1]], by + 16.5);
        let held = run(&options.clone().with_fixed(1), &[9.0, by + 16.5, 3.0, 2.0]);
        assert_eq!(held.parameters[[0, 1]], by + 16.5);
        for j in [0, 2, 3] {
            let [a, b] = [&limited, &held].map(|fits| fits.parameters[[0, j]]);
            assert!((a - b).abs() < 2e-3 * held.errors[[0, j]], "{j}: {a}, {b}");
        }
    }
    let line = Model::named("linear").expect("a line");
    let options = line.options().with_lower(0, 0.0);
    let y: Vec<f64> = (0..40).map(|i| 0.5 * f64::from(i)).collect();
    let fitter = CurveFitter::new(Backend::Reference, 1).expect("a thread");
    let fits = fit(&line, &fitter, (&x, &y, None), &[0.0, 0.5], &options).fits;
    // The offset is held at 0 where x is 0: what is left is a line through the origin.
    let squares: f64 = x.iter().map(|x| x * x).sum();
    let products: f64 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
    assert_eq!(fits.parameters[[0, 0]], 0.0, "{fits:?}");
    let slope = fits.parameters[[0, 1]];
    assert!((slope * squares / products - 1.0).abs() < 1e-6, "{fits:?}");
}

/// Proves that an offset of the data does not matter, as long as they can hold what lies on it; and that nothing is found where they cannot.
#[test]
fn peaks_on_high_offsets() {
    let x: Vec<f64> = (0..40).map(f64::from).collect();
    for fitter in fitters() {
        for text in ["gauss_1d", "a*exp(-(x - x0)^2/(2*s^2)) + b"] {
            let case = Case::of(text, &[5.0, 18.0, 3.5, 0.0], &[0; 4]);
            let y = case.values(&x);
            let options = case.model.options();
            let begin = &[4.0, 17.0, 3.0, 0.5];
            let plain = fit(&case.model, &fitter, (&x, &y, None), begin, &options);
            for level in [1e2, -1e5, 1e9, 1e12, 1e15, 1e18, 1e300] {
                let data: Vec<f64> = y.iter().map(|y| y + level).collect();
                let start = [4.0, 17.0, 3.0, level];
                for from in starts(&case.model, &start, &row(&start)) {
                    let told = format!("{text} on {level:e}, {from:?}, {:?}", fitter.backend());
                    let own = fit(&case.model, &fitter, (&x, &data, None), from, &options).fits;
                    let status = own.statuses[0];
                    if level.abs() > 1e16 {
                        assert_eq!(status, Status::NotConverged, "{told}");
                        continue;
                    }
                    assert!(status.is_converged(), "{told}: {own:?}");
                    // The rounding of the data is noise, too.
                    let rounding = level.abs() * f64::EPSILON;
                    for j in 0..4 {
                        let level = if j == 3 { level } else { 0.0 };
                        let off = own.parameters[[0, j]] - plain.fits.parameters[[0, j]] - level;
                        let error = plain.fits.errors[[0, j]];
                        let most = error * (1e-2 + 30.0 * rounding) + rounding;
                        assert!(off.abs() < most, "{told}: {j} is off by {off}, ± {error}");
                    }
                }
            }
        }
    }
}

/// Proves that data that say nothing of a parameter do not make a fit that has converged, and that those which say all, though exactly, do.
#[test]
fn flat_and_exact_data() {
    let x: Vec<f64> = (0..20).map(f64::from).collect();
    let flat = vec![5.0; 20];
    for fitter in fitters() {
        for text in ["exponential", "gauss_1d", "sine", "logistic", "a*exp(-x/t) + c"] {
            let model = Case::of(text, &[], &[]).model;
            let start = vec![1.0; model.parameters().len()];
            for from in starts(&model, &start, &row(&start)) {
                let told = format!("{text}, {from:?}, {:?}", fitter.backend());
                let fits = fit(&model, &fitter, (&x, &flat, None), from, &model.options()).fits;
                assert!(!fits.statuses[0].is_converged(), "{told}: {fits:?}");
            }
        }
        // A limit that the data do not press against is no finding either.
        let model = Case::of("a*exp(-x/t) + c", &[], &[]).model;
        let options = model.options().with_lower(1, 30.0);
        for start in [[1.0, 30.0, 1.0], [0.0, 30.0, 5.0]] {
            let fits = fit(&model, &fitter, (&x, &flat, None), &start, &options).fits;
            assert_eq!(fits.statuses[0], Status::NotConverged, "{start:?}: {fits:?}");
        }
        let line: Vec<f64> = x.iter().map(|x| 3.0 - 0.1 * x).collect();
        for (text, data, wanted) in [
            ("linear", &line, [3.0, -0.1]),
            ("linear", &flat, [5.0, 0.0]),
            ("power_law", &flat, [5.0, 0.0]),
            ("exp(a + b*x)", &flat, [5_f64.ln(), 0.0]),
        ] {
            let model = Case::of(text, &[], &[]).model;
            let given = (&x[1..], &data[1..], None);
            let fits = fit(&model, &fitter, given, &[1.0, 0.1], &model.options()).fits;
            assert!(fits.statuses[0].is_converged(), "{text}: {fits:?}");
            for (j, wanted) in wanted.into_iter().enumerate() {
                let (found, error) = (fits.parameters[[0, j]], fits.errors[[0, j]]);
                assert!((found - wanted).abs() < 1e-12, "{text}: {found}, {wanted}");
                assert!(error < 1e-12, "{text}: {error}");
            }
        }
    }
}

/// Proves that points that double precision cannot tell from each other are no fit.
#[test]
fn points_that_are_the_same() {
    let y: Vec<f64> = (0..20).map(|i| f64::from(i) + noise(i as usize)).collect();
    for fitter in fitters() {
        for start in [1e17, 1e300] {
            let x: Vec<f64> = (0..20).map(|i| start + 0.1 * f64::from(i)).collect();
            let model = Model::named("linear").expect("a line");
            for from in [CurveStart::Shared(&[1.0, 1.0]), CurveStart::Estimate] {
                let fits = fit(&model, &fitter, (&x, &y, None), from, &model.options()).fits;
                assert!(!fits.statuses[0].is_converged(), "{start:e}: {fits:?}");
                assert!(fits.errors.iter().all(|error| !error.is_nan()), "{fits:?}");
            }
        }
    }
}

/// Proves that errors beside a parameter that ended on a limit are those of the fit in which it is held there, by least squares and
/// maximum likelihood, whether data sets share their start values and limits or not, and that it has none itself.
#[test]
fn errors_at_a_limit() {
    let x: Vec<f64> = (0..30).map(f64::from).collect();
    let case = Case::of("a*exp(-x/t) + c", &[100.0, 6.0, 20.0], &[0; 3]);
    let y: Vec<f64> = case.values(&x).into_iter().map(f64::round).collect();
    let model = &case.model;
    for fitter in fitters() {
        for estimator in [Estimator::LeastSquares, Estimator::MaximumLikelihood] {
            let options = model.options().with_estimator(estimator);
            let of = |options: &CurveOptions, start: [f64; 3]| {
                fit(model, &fitter, (&x, &y, None), row(&start).view(), options).fits
            };
            let cases = [(2, [25.0, f64::INFINITY], 25.0, 30.0), (1, [0.0, 5.0], 5.0, 4.0)];
            for (j, limits, end, start) in cases {
                let mut begin = [90.0, 5.5, 22.0];
                begin[j] = start;
                let shared = options.clone().with_lower(j, limits[0]).with_upper(j, limits[1]);
                let mut each = vec![[f64::NEG_INFINITY, f64::INFINITY]; 3];
                each[j] = limits;
                let own = options.clone().with_limits(CurveLimits::PerFit(each));
                begin[j] = end;
                let held = of(&options.clone().with_fixed(j), begin);
                begin[j] = start;
                for limited in [of(&shared, begin), of(&own, begin)] {
                    let told = format!("{j}, {estimator:?}, {:?}", fitter.backend());
                    assert_eq!(limited.statuses[0], Status::AtLimit, "{told}");
                    assert_eq!(limited.parameters[[0, j]], end, "{told}");
                    assert_eq!(limited.degrees, held.degrees, "{told}");
                    assert_eq!(limited.errors[[0, j]], 0.0, "{told}");
                    for (k, error) in limited.errors.iter().enumerate().filter(|&(k, _)| k != j) {
                        same(*error, held.errors[[0, k]], 1e-2, &told);
                    }
                    for (found, wanted) in limited.covariance.iter().zip(&held.covariance) {
                        let off = (found - wanted).abs();
                        assert!(off <= 1e-2 * wanted.abs() + 1e-6, "{told}: {found}, {wanted}");
                    }
                }
            }
        }
    }
}

/// Proves that where only products, or sums, of parameters are determined, those alone have infinite errors; the others have those of the
/// model without what is superfluous.
#[test]
fn superfluous_parameters() {
    let x: Vec<f64> = (0..30).map(f64::from).collect();
    let plain = Case::of("a*exp(-x/t) + c", &[100.0, 6.0, 20.0], &[0; 3]);
    let y = plain.values(&x);
    for fitter in fitters() {
        let options = plain.model.options();
        let known = fit(&plain.model, &fitter, (&x, &y, None), &[90.0, 5.0, 15.0], &options);
        for (text, start) in [
            ("a*b*exp(-x/t) + c", &[9.0, 10.0, 5.0, 15.0][..]),
            ("a*exp(-x/t) + c + d", &[90.0, 5.0, 7.0, 8.0]),
            ("a*exp(b - x/t) + c", &[90.0, 0.1, 5.0, 15.0]),
            ("a*exp(-x/t) + c/d*e", &[90.0, 5.0, 7.0, 2.0, 4.0]),
        ] {
            let model = Model::of_variables(text, &["x"]).expect(text);
            for linear in [Linear::Eliminated, Linear::Searched] {
                let options = model.options().with_linear(linear);
                let fits = fit(&model, &fitter, (&x, &y, None), start, &options);
                let told = format!("{text}, {linear:?}, {:?}: {:?}", fitter.backend(), fits.fits);
                assert_eq!(fits.fits.statuses[0], Status::NotConverged, "{told}");
                let of_offset = text.contains("c + d") || text.contains("c/d");
                let single = if of_offset { ["a", "t"] } else { ["t", "c"] };
                for name in model.parameters() {
                    let error = fits.error_of(name).expect("one")[0];
                    if single.contains(&&name[..]) {
                        // There is a degree of freedom less, or two.
                        let degrees =
                            f64::from(known.fits.degrees[0]) / f64::from(fits.fits.degrees[0]);
                        let wanted = known.error_of(name).expect("one")[0] * degrees.sqrt();
                        same(error, wanted, 1e-2, &told);
                        let off = fits.of(name).expect("one")[0] - known.of(name).expect("one")[0];
                        assert!(off.abs() < 2e-2 * wanted, "{told}: {name}");
                    } else {
                        assert!(error.is_infinite(), "{told}: {name}: {error}");
                    }
                }
                assert!(fits.fits.covariance.iter().all(|value| !value.is_nan()), "{told}");
            }
        }
    }
}

/// Proves that each of many data sets has its own coordinates: points and data of each lie elsewhere.
#[test]
fn each_fit_has_its_own_coordinates() {
    let case = Case::of("linear", &[3.0, 0.5], &[0; 2]);
    let x: Vec<f64> = (0..40).map(f64::from).collect();
    let y = case.values(&x);
    let begin = |fit: usize| [0.0, 1.7e9, -1e12, 5.0][fit % 4];
    let level = |fit: usize| [0.0, 1e9, -1e14][fit % 3];
    let at = Array3::from_shape_fn((12, 1, 40), |(fit, _, i)| x[i] + begin(fit));
    let data = Array2::from_shape_fn((12, 40), |(fit, i)| y[i] + level(fit));
    for fitter in fitters() {
        let options = case.model.options();
        let plain = fit(&case.model, &fitter, (&x, &y, None), &[0.0, 0.0], &options).fits;
        for from in [CurveStart::Shared(&[0.0, 0.0]), CurveStart::Estimate] {
            let curves = Curves::new(data.view(), Points::PerFit(Values::from(at.view())));
            let fits = case.model.fit_with(&fitter, &curves, from, &options).expect("sound").fits;
            for fit in 0..12 {
                assert!(fits.statuses[fit].is_converged(), "{fit}");
                let off = fits.parameters[[fit, 1]] - plain.parameters[[0, 1]];
                assert!((off / plain.errors[[0, 1]]).abs() < 0.1, "{fit}: {off}");
                same(fits.errors[[fit, 1]], plain.errors[[0, 1]], 0.02, &fit.to_string());
            }
        }
    }
}
