//! Curves in double precision on the GPU.

use fit_core::Estimator;
use fit_cpu::CurveReference;
use fit_curves::{CurveFits, CurveOptions, CurvePrecision, CurveStart, Curves, Points, Values};
use fit_formula::Formula;
use fit_gpu::{CurveGpu, CurveMethod, spliced_double};
use fit_tests::curves::{Alike, Engine, shared, values_of};
use ndarray::{Array2, Array3};
use spotfit::model::Model;

use super::assembler::Assembler;

/// How near outcomes are: parameters as a share of the standard error or of themselves, whichever is larger.
const NEAR: Alike = Alike {
    parameters: 1e-9,
    or_itself: true,
    errors: 1e-6,
    chi2: [1e-8, 0.0],
    covariance: f64::INFINITY,
};

/// The share of fits that may end in another minimum than the reference, or where this has none. Single precision rounds the first steps,
/// which are long, so that a search may come to the other of two minima; more than a few of them would be a fault.
const MOST_OTHERS: f64 = 0.01;

/// Proves that the kernels that finish searches are what NVIDIA's assembler takes, for all models with names that the
/// GPU finishes, or some of them where long tests do not run; the others are listed.
#[test]
#[ignore = "needs NVIDIA's assembler, which the environment variable PTXAS names"]
fn finishing_kernels_assemble() {
    let assembler = Assembler::new("finishing");
    let mut lost = Vec::new();
    for (number, (name, _, _)) in Model::all().enumerate() {
        if fit_tests::effort(0, 1, 1) == 0 && number % 16 != 1 {
            continue;
        }
        // Those that need splines are for the processor.
        let Ok(model) = Model::named(name) else { continue };
        let count = model.parameters().len();
        let program = model.as_formula().program(fit_formula::Axes::Together, &vec![true; count]);
        let method = [CurveMethod::Plain, CurveMethod::Poisson][number % 2];
        let Some(text) = spliced_double(&program, method, number / 16 % 2 == 1) else {
            lost.push(name);
            continue;
        };
        // One of them each; all of them are somewhere.
        let architecture = ["sm_75", "sm_90", "sm_120"][number % 3];
        let report = assembler.report(&text, architecture, name);
        println!("{name}: {}", report.lines().last().unwrap_or_default());
    }
    println!("the processor finishes {lost:?}");
}

/// A formula with its truth and start values.
struct Case(&'static str, &'static [f64], &'static [f64]);

const STEP: &[f64] = &[60.0, 14.0, 5.0, 40.0, -0.4];
const DOSE: &str = "bottom + (top - bottom)/(1 + ((x + 1)/half)^slope)";

const CASES: [Case; 6] = [
    Case("a*exp(-x/t) + c", &[100.0, 7.0, 20.0], &[80.0, 6.0, 15.0]),
    Case("a + b*x + c*x^2 + d*x^3", &[50.0, 3.0, 0.1, 0.02], &[40.0, 2.0, 0.2, 0.0]),
    Case("a*gauss(x, m, s) + c", &[100.0, 14.0, 4.0, 20.0], &[90.0, 13.5, 4.5, 18.0]),
    Case("a*sin(w*x + p) + c", &[50.0, 0.5, 0.4, 90.0], &[45.0, 0.51, 0.35, 85.0]),
    Case("a*(1 + erf((x - m)/s)) + c*(x + 1)^p", STEP, STEP),
    Case(DOSE, &[20.0, 120.0, 9.0, 2.5], &[22.0, 115.0, 9.5, 2.3]),
];

fn noise(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    (*state >> 40) as f64 / (1_u64 << 24) as f64 - 0.5
}

impl Case {
    fn formula(&self) -> Formula {
        Formula::of_variables(self.0, &["x"]).expect("a formula")
    }

    fn start(&self) -> CurveStart<'_> {
        CurveStart::Shared(self.2)
    }

    /// Data with noise of a size; whole numbers, if that is 0.
    fn data(&self, count: usize, points: usize, size: f64) -> Array2<f64> {
        let places: Vec<_> = (0..points).map(|x| vec![30.0 * x as f64 / points as f64]).collect();
        let values = values_of(&self.formula(), self.1, &places);
        let (mut state, spread) = (17, if size > 0.0 { size } else { 6.0 });
        Array2::from_shape_fn((count, points), |(_, x)| {
            let value = values[x] + spread * noise(&mut state);
            if size > 0.0 { value } else { value.round() }
        })
    }
}

/// Compares outcomes of both, and returns how many the GPU left.
fn compare(
    gpu: &CurveGpu,
    reference: &CurveReference,
    case: &Case,
    curves: &Curves<'_>,
    options: &CurveOptions,
    what: &str,
) -> usize {
    let formula = case.formula();
    let start = case.start();
    let wide = options.clone().with_precision(CurvePrecision::F64);
    let (fits, left) = gpu.fit(&formula, curves, start, &wide).expect("a GPU");
    let exact = options.clone().with_tolerance(1e-10);
    let expected = reference.fit(&formula, curves, start, &exact).expect("a fit");
    let decided = || (0..fits.len()).filter(|fit| left.binary_search(fit).is_err());
    let is_same = |&fit: &usize| expected.is_found(fit) && same_minimum(&fits, &expected, fit);
    let these: Vec<usize> = decided().filter(is_same).collect();
    let (compared, others) = (these.len(), decided().count() - these.len());
    let told = format!("{what}, {}: {others} others beside {compared}", case.0);
    println!("{told}, {} left", left.len());
    assert!(compared > 0 || left.len() == fits.len(), "{told}");
    assert!(others as f64 <= MOST_OTHERS * (compared + others) as f64, "{told}");
    NEAR.check_in(these.into_iter(), &told, &expected, &fits);
    left.len()
}

/// Whether both are at one of several minima, which searches from the same start may differ in.
fn same_minimum(fits: &CurveFits, others: &CurveFits, fit: usize) -> bool {
    (fits.chi2[fit] / others.chi2[fit] - 1.0).abs() < 1e-4
}

/// Proves that parameters are within 10⁻⁹ of the reference's, relative to their error or themselves: many data sets and few, short ones and long ones, of any
/// type of numbers, with weights, masked points, limits, held parameters, points of their own, and by maximum likelihood.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn double_precision_is_that_of_the_reference() {
    let gpu = CurveGpu::new(0).expect("a GPU");
    let reference = CurveReference::new(0).expect("threads");
    for case in &CASES {
        let parameters = case.1.len();
        let options = CurveOptions::new(parameters);
        let poisson = options.clone().with_estimator(Estimator::MaximumLikelihood);
        let (mut left, mut all) = (0, 0);
        let mut judge = |curves: &Curves<'_>, options: &CurveOptions, what: &str| {
            left += compare(&gpu, &reference, case, curves, options, what);
            all += curves.count();
        };
        for (count, points) in [(7000, 30), (50, 30), (50, 700), (7000, 150)] {
            let at = Array2::from_shape_fn((1, points), |(_, x)| 30.0 * x as f64 / points as f64);
            let shared = Points::Shared(Values::from(at.view()));
            let whole = case.data(count, points, 0.0);
            let fine = case.data(count, points, 4.0);
            let [single, packed] = [&fine, &whole].map(|data| data.mapv(|value| value as f32));
            let short = whole.mapv(|value| value.clamp(0.0, 65535.0) as u16);
            for (name, values) in [
                ("f64", Values::F64(fine.view())),
                ("f32", Values::F32(single.view())),
                ("u16", Values::U16(short.view())),
                ("whole f32", Values::F32(packed.view())),
            ] {
                let curves = Curves::new(values, shared);
                let what = format!("{count} x {points} {name}");
                judge(&curves, &options, &what);
                if name == "u16" || name == "f64" {
                    let what = format!("{what}, maximum likelihood");
                    judge(&curves, &poisson, &what);
                }
            }
            if points > 200 {
                continue;
            }
            let mut state = 3;
            let mut weights = Array2::from_shape_fn((count, points), |_| 1.0 + noise(&mut state));
            weights.column_mut(4).fill(0.0);
            let one = weights.slice(ndarray::s![..1, ..]).to_owned();
            for weights in [&weights, &one] {
                let curves = Curves::new(fine.view(), shared).with_weights(weights.view());
                let what = format!("{count} x {points}, {} weights", weights.nrows());
                let absolute = options.clone().with_absolute(true).with_covariance(false);
                judge(&curves, &absolute, &what);
            }
            let curves = Curves::new(fine.view(), shared);
            let held = CurveOptions::new(parameters).with_fixed(1);
            let limited = CurveOptions::new(parameters)
                .with_upper(0, case.1[0].max(case.2[0]))
                .with_lower(1, case.2[1].min(case.1[1]));
            for (name, options) in [("held", &held), ("limited", &limited)] {
                judge(&curves, options, name);
            }
            let own = Array3::from_shape_fn((count, 1, points), |(fit, _, x)| {
                30.0 * x as f64 / points as f64 + 0.001 * (fit % 5) as f64
            });
            let curves = Curves::new(fine.view(), Points::PerFit(own.view().into()));
            judge(&curves, &options, "points of their own");
        }
        println!("{}: {left} of {all} left", case.0);
        assert!(left * 50 < all, "{}: {left} of {all} are left to the processor", case.0);
    }
}

/// Fits decays at 0, 1, 2 and so on.
fn on_gpu(data: &Array2<f64>, options: &CurveOptions) -> (CurveFits, Vec<usize>) {
    let (case, curves) = (&CASES[0], Curves::new(data.view(), Points::Index));
    Engine::gpu().decide(&case.formula(), &curves, case.start(), options)
}

/// Proves that what single precision cannot decide is decided on the GPU: a tolerance beyond its reach, and many data without noise.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn undecided_data_stay_on_the_gpu() {
    let (case, options) = (&CASES[0], CurveOptions::new(3));
    let (fits, left) = on_gpu(&case.data(30_000, 30, 1e-9), &options);
    println!("{} without noise are left", left.len());
    assert!(left.len() < 300, "{} are left", left.len());
    for (j, truth) in case.1.iter().enumerate() {
        let off = (fits.parameters[[7, j]] / truth - 1.0).abs();
        assert!(off < 1e-8, "{j}: {off:e}");
    }
    let (_, left) = on_gpu(&case.data(30_000, 30, 4.0), &options.with_tolerance(1e-6));
    assert!(left.len() < 300, "{} with a fine tolerance are left", left.len());
}

/// Proves that no fit that a GPU ends has more iterations than are allowed, those in single precision among them, and that the others are
/// left to the processor.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn iterations_are_counted_in_both_precisions() {
    let data = CASES[0].data(30_000, 30, 4.0);
    let mut all_left = Vec::new();
    for most in [2, 4, 6, 8, 200] {
        let options = CurveOptions::new(3).with_tolerance(1e-6).with_max_iterations(most);
        let (fits, left) = on_gpu(&data, &options);
        for fit in (0..30_000).filter(|fit| left.binary_search(fit).is_err()) {
            let (iterations, status) = (fits.iterations[fit], fits.statuses[fit]);
            assert!(iterations <= most, "{iterations} of {most}: {status:?}");
        }
        println!("{} are left of at most {most} iterations", left.len());
        all_left.push(left.len());
    }
    assert!(all_left[0] > 20_000 && all_left[4] < 300, "{all_left:?}");
}

/// Proves that a few long data sets are left to the processor, whose threads share their points.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn long_data_are_left_to_the_processor() {
    let gpu = CurveGpu::new(0).expect("a GPU");
    let points = 200_000;
    let at = Array2::from_shape_fn((1, points), |(_, x)| 30.0 * x as f64 / points as f64);
    let case = &CASES[0];
    let data = case.data(2, points, 4.0);
    let formula = case.formula();
    let curves = shared(&data, &at, None);
    let options = CurveOptions::new(case.1.len());
    let start = case.start();
    let (_, left) = gpu.fit(&formula, &curves, start, &options).expect("a GPU");
    assert_eq!(left, [0, 1]);
}
