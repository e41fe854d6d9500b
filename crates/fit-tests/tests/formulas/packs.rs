//! Double precision with the points of a data set in the lanes of registers.

use std::fmt::Debug;

use fit_core::Estimator;
use fit_cpu::{CurveReference, CurveSimd, InstructionSet, SharedFits};
use fit_curves::{CurveFits, CurveOptions, CurvePrecision, Curves, Points, Sharing, Values};
use fit_formula::Formula;
use fit_sim::Random;
use fit_tests::curves::{Alike, Engine, shared};
use fit_tests::models::{SIMULATED, model};
use fit_tests::{effort, sets};
use ndarray::{Array2, Array3};
use spotfit::model::Model;

/// A parameter may differ by this share of its error or of itself, whichever is larger.
const MOST: f64 = 1e-9;

fn reference() -> CurveReference {
    CurveReference::new(0).expect("threads")
}

/// Whether fits in double precision are those of the reference to the last bit.
fn number_by_number(set: InstructionSet, parameters: usize) -> bool {
    parameters > 16 || (cfg!(target_arch = "x86_64") && set == InstructionSet::Portable)
}

/// Checks that outcomes are the same to the last bit, which is what is written of them; NaN is itself.
fn exact(what: &str, wanted: &impl Debug, found: &impl Debug) {
    assert_eq!(format!("{wanted:?}"), format!("{found:?}"), "{what}");
}

/// Checks that fits are the same but for rounding, and that some of them have ended somewhere.
fn same(what: &str, wanted: &CurveFits, found: &CurveFits, most: f64) {
    let ended = (0..wanted.len()).filter(|&fit| wanted.statuses[fit].is_converged());
    assert!(ended.clone().count() > 0, "{what}: {:?}", wanted.statuses);
    let alike = Alike {
        parameters: most,
        or_itself: true,
        errors: 1e-6,
        chi2: [1e-6, 0.0],
        covariance: 1e-5,
    };
    alike.check_in(ended, what, wanted, found);
    for (wanted, found) in wanted.statuses.iter().zip(&found.statuses) {
        assert_eq!(wanted.is_converged(), found.is_converged(), "{what}: {wanted} {found}");
    }
}

/// Proves that every model ends in double precision where the reference does, by least squares and by maximum likelihood.
#[test]
fn all_models_end_where_the_reference_does() {
    for case in SIMULATED {
        let model = model(case.name);
        let (at, mut start) = (case.at(), case.start());
        // Lanes have the points of one data set: each is fitted alone, and all fits of a model do the same.
        let mut data = case.data(effort(6, 6, 20));
        for estimator in [Estimator::LeastSquares, Estimator::MaximumLikelihood] {
            if estimator == Estimator::MaximumLikelihood {
                // A wave about 1 is below 0 where counts cannot be.
                let lift = if case.name == "sine" { 5.0 } else { 0.0 };
                start[case.truth.len() - 1] += f64::from(lift);
                data.mapv_inplace(|datum| (datum + lift).max(0.0).round());
            }
            let curves = Curves::new(data.view(), case.points(&at));
            let options =
                CurveOptions::new(start.len()).with_tolerance(1e-11).with_estimator(estimator);
            let fit = |engine: Engine, options| {
                engine.fit(model.as_formula(), &curves, &start[..], options)
            };
            let wanted = fit(Engine::Reference(reference()), &options);
            let options = options.clone().with_precision(CurvePrecision::F64);
            for ((set, lanes), double) in sets().zip(Engine::lanes(0)).zip(Engine::double(0)) {
                let what = format!("{}, {set}, {estimator:?}", case.name);
                same(&what, &wanted, &fit(lanes, &options), MOST);
                let double = fit(double, &options);
                same(&format!("{what}, from the start"), &wanted, &double, MOST);
                if number_by_number(set, start.len()) {
                    exact(&what, &wanted, &double);
                }
            }
        }
    }
}

/// Data sets that share something.
struct Together {
    formula: Formula,
    data: Array2<f64>,
    x: Array3<f64>,
    grid: Option<[usize; 2]>,
    weights: Option<Array2<f64>>,
    start: Vec<f64>,
    options: CurveOptions,
    sharing: Sharing,
}

impl Together {
    /// Some values of a formula at 0, 1, 2, …, with noise.
    fn of(formula: &str, truth: &[f64], sets: usize, points: usize) -> Self {
        let model = Model::of_variables(formula, &["x"]).expect("a formula");
        let formula = model.as_formula().clone();
        let at: Vec<Vec<f64>> = (0..points).map(|x| vec![0.1 * x as f64]).collect();
        let values = model.values(truth, &at);
        let mut random = Random::new(45, 9);
        let data =
            Array2::from_shape_fn((sets, points), |(_, x)| values[x] + 0.05 * random.normal());
        let x = Array3::from_shape_fn((sets, 1, points), |(_, _, x)| 0.1 * x as f64);
        let options = CurveOptions::new(truth.len()).with_tolerance(1e-9);
        let start = truth.iter().map(|value| 1.05 * value).collect();
        let sharing = Sharing::default().with_shared(1);
        Self { formula, data, x, grid: None, weights: None, start, options, sharing }
    }

    fn curves(&self) -> Curves<'_> {
        let points = match self.grid {
            Some([width, height]) => Points::Grid { width, height },
            None => Points::PerFit(Values::from(self.x.view())),
        };
        let curves = Curves::new(self.data.view(), points);
        match &self.weights {
            Some(weights) => curves.with_weights(weights.view()),
            None => curves,
        }
    }

    fn on(&self, set: InstructionSet, threads: usize) -> SharedFits {
        let simd = CurveSimd::new(threads, Some(set)).expect("available");
        let Self { formula, start, options, sharing, .. } = self;
        simd.double()
            .fit_shared(formula, &self.curves(), start[..].into(), options, sharing)
            .expect("sound")
    }
}

/// Proves that fits which share parameters, or have priors, end where those of the reference do on every instruction set: with points of their
/// own and points that are left out, on grids, by maximum likelihood, with many parameters, and with long data, whose bits no thread changes.
#[test]
fn shared_fits_end_where_the_reference_does() {
    let decay = "a*exp(-x/t) + c";
    let mut holes = Together::of(decay, &[5.0, 0.7, 1.0], 9, 31);
    let mut weights = Array2::ones((9, 31));
    weights[[2, 7]] = 0.0;
    weights[[3, 30]] = f64::NAN;
    (holes.data[[2, 7]], holes.data[[3, 30]]) = (f64::NAN, 1e300);
    holes.weights = Some(weights);
    let mut counts = Together::of(decay, &[50.0, 0.7, 9.0], 9, 31);
    counts.data.mapv_inplace(f64::round);
    counts.options = counts.options.with_estimator(Estimator::MaximumLikelihood);
    counts.sharing = counts.sharing.with_prior(2, 9.0, 0.5).with_prior(1, 0.7, 0.1);
    let mut known = Together::of(decay, &[5.0, 0.7, 1.0], 9, 31);
    known.options = known.options.with_absolute(true);
    known.sharing = Sharing::default().with_prior(1, 0.8, 0.01);
    let mut grid = Together::of(decay, &[5.0, 0.7, 1.0], 6, 63);
    grid.formula =
        Formula::of_variables("a*exp(-((x - p)^2 + (y - q)^2)/(2*s^2)) + b", &["x", "y"])
            .expect("a formula");
    grid.data = Array2::from_shape_fn((6, 63), |(fit, at)| {
        let (x, y) = ((at % 9) as f64 - 4.2, (at / 9) as f64 - 2.9);
        9.0 * (-(x * x + y * y) / 3.92).exp() + 1.0 + 0.1 * (((at * 7 + fit * 5) % 13) as f64 - 6.0)
    });
    grid.grid = Some([9, 7]);
    assert_eq!(grid.formula.parameters(), ["a", "p", "q", "s", "b"]);
    grid.start = [9.0, 4.2, 2.9, 1.4, 1.0].map(|value| 1.05 * value).to_vec();
    grid.options = CurveOptions::new(5).with_tolerance(1e-9);
    grid.sharing = Sharing::default().with_shared(3);
    let waves: Vec<String> =
        (1..=8).map(|k| format!("a{k}*cos({k}*x) + b{k}*sin({k}*x)")).collect();
    let many = format!("c*x + {}", waves.join(" + "));
    let many = Together::of(&many, &[0.5; 17], 5, 90);
    let long = Together::of(decay, &[5.0, 900.0, 1.0], 2, 70_001);
    let names = ["holes", "counts", "known", "grid", "many", "long"];
    for (what, case) in names.iter().zip(&[holes, counts, known, grid, many, long]) {
        let Together { formula, start, options, sharing, .. } = case;
        let curves = case.curves();
        let wanted = reference().fit_shared(formula, &curves, start[..].into(), options, sharing);
        let wanted = wanted.expect("sound");
        assert!(wanted.parts.iter().all(|part| part.status.is_converged()), "{what} {wanted:?}");
        for set in sets() {
            let found = case.on(set, 1);
            exact(&format!("{what}, {set}, threads"), &case.on(set, 3), &found);
            same(&format!("{what}, {set}"), &wanted.fits, &found.fits, 1e-7);
            if number_by_number(set, start.len()) {
                exact(&format!("{what}, {set}"), &wanted, &found);
            } else {
                // What converges to a point may have its bits; sums of squares have their own.
                assert_ne!(found.fits.chi2, wanted.fits.chi2, "no lanes: {what}, {set}");
            }
            for (own, wanted) in found.values.iter().zip(&wanted.values) {
                let most = 1e-7 * wanted.error.max(wanted.value.abs());
                assert!((own.value - wanted.value).abs() <= most, "{what}, {set}: {own:?}");
                assert!((own.error - wanted.error).abs() <= 1e-6 * wanted.error, "{own:?}");
            }
        }
    }
}

/// Proves that data sets which another fitter has left are fitted as if they had been asked for, and no others.
#[test]
fn what_is_left_is_fitted_alone() {
    let case = Together::of("a*exp(-x/t) + c", &[5.0, 0.7, 1.0], 200, 31);
    let Together { formula, start, options, .. } = &case;
    for set in sets() {
        let simd = CurveSimd::new(2, Some(set)).expect("available");
        let curves = case.curves();
        let all = simd.double().fit(formula, &curves, start[..].into(), options).expect("sound");
        let mut fits = CurveFits::invalid(200, 3, options.covariance);
        let left: Vec<usize> = (0..200).filter(|fit| fit % 3 == 1).collect();
        simd.double()
            .fit_left(formula, &curves, start[..].into(), options, &left, &mut fits)
            .expect("sound");
        for fit in 0..200 {
            if fit % 3 == 1 {
                assert_eq!(fits.parameters.row(fit), all.parameters.row(fit), "{set} {fit}");
                assert_eq!(fits.errors.row(fit), all.errors.row(fit), "{set} {fit}");
            } else {
                assert!(fits.parameters.row(fit).iter().all(|of| of.is_nan()), "{set} {fit}");
            }
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
                let curves = shared(&data, &x, None);
                let options =
                    CurveOptions::new(1).with_tolerance(0.0).with_precision(CurvePrecision::F64);
                let wanted = Engine::reference().fit(&formula, &curves, &[1.0], &options);
                let (wanted, error) = (wanted.parameters[[0, 0]], wanted.errors[[0, 0]]);
                for lanes in Engine::lanes(1) {
                    let found = lanes.fit(&formula, &curves, &[1.0], &options);
                    let off = (found.parameters[[0, 0]] - wanted).abs();
                    // Where values of both signs cancel each other, digits are lost that the error does not have.
                    let what = format!("{function} from {low} to {high}, {}", lanes.name());
                    let most = 2e-14 * error.max(wanted.abs());
                    assert!(off <= most, "{what}: {wanted} ± {error}, off by {off:e}");
                }
            }
        }
    }
}
