//! Fits with noise of other kinds beside SciPy and statsmodels (`scripts/noise.py`), and what must not change them.

use std::collections::HashMap;

use fit_tests::curves::{row, shared};
use fit_tests::records::{Record, records};
use ndarray::{Array2, Array3};
use spotfit::Backend;
use spotfit::model::{
    CurveFitter, CurveNoise, Curves, Loss, LossScale, Model, NoiseError, NoiseFits, Points, Spread,
    Values, WeightRule,
};

use crate::noise_simulated::MODELS;

struct Judged {
    record: Record,
    model: Model,
}

fn cases() -> Vec<Judged> {
    let all = records(include_str!("../../data/noise.txt").split("\n\n"));
    let of = |record: Record| {
        let parameters = record.words("parameters");
        let model = Model::formula(record.text("formula"), &["x"], &parameters);
        Judged { record, model: model.expect("a formula") }
    };
    all.into_iter().map(of).collect()
}

/// A backend on the calling thread.
fn one(backend: Backend) -> CurveFitter {
    CurveFitter::new(backend, 1).expect("a backend")
}

impl Judged {
    fn row(&self, name: &str) -> Array2<f64> {
        row(&self.record.numbers(name))
    }

    fn fit(&self, backend: Backend, tolerance: f64) -> NoiseFits {
        let (x, y) = (self.row("x"), self.row("y"));
        let shape = (1, 1, x.ncols());
        let errors: Array3<f64>;
        let mut weights = None;
        let trials = self.record.get("trials").map(|_| self.row("trials"));
        let noise = match (&trials, self.record.head.parse::<Loss>()) {
            (Some(trials), _) => CurveNoise::default().with_trials(trials.view()),
            (None, Ok(loss)) => {
                let scale = LossScale::Held(self.record.numbers("scale")[0]);
                CurveNoise::default().with_loss(loss).with_scale(scale)
            }
            (None, Err(_)) => {
                errors = self.row("sx").into_shape_with_order(shape).expect("a row");
                weights = Some(self.row("sy").mapv(|error| 1.0 / error / error));
                CurveNoise::default().with_x_errors(Spread::Each(Values::from(errors.view())))
            }
        };
        let curves = shared(&y, &x, weights.as_ref());
        let fitter = one(backend);
        let options = self.model.options().with_tolerance(tolerance);
        let start = self.record.numbers("start");
        let fits = self.model.fit_noise(&fitter, &curves, start[..].into(), &options, &noise);
        fits.expect("fits")
    }
}

/// Proves that fits end at the minima that SciPy and statsmodels find, within 1e-6 of a standard error, with their errors and
/// costs; and in single precision within 1 % of one.
#[test]
fn judged() {
    let mut kinds = HashMap::<_, usize>::new();
    for case in cases() {
        let kind = case.record.head;
        let found_by_others = case.record.numbers("found");
        *kinds.entry(kind).or_default() += 1;
        let found = case.fit(Backend::Reference, 1e-7);
        let fits = &found.fits.fits;
        assert!(fits.is_found(0), "{kind}: {:?}", fits.statuses[0]);
        for (j, wanted) in found_by_others.iter().enumerate() {
            let (value, error) = (fits.parameters[[0, j]], fits.errors[[0, j]]);
            let off = (value - wanted).abs() / error;
            // ODRPACK ends where its steps are short beside its parameters.
            let most = if kind == "x_errors" { 1e-4 } else { 2e-6 };
            assert!(off < most, "{kind} {j}: {value} {wanted} {off:e}");
        }
        for (own, wanted) in fits.errors.iter().zip(case.record.all("errors").concat()) {
            assert!((own / wanted - 1.0).abs() < 1e-4, "{kind}: {own} {wanted}");
        }
        for (own, wanted) in fits.chi2.iter().zip(case.record.all("cost").concat()) {
            assert!((own / wanted - 1.0).abs() < 1e-6, "{kind}: {own} {wanted}");
        }
        let single = case.fit(Backend::Cpu, 1e-3);
        for (j, wanted) in found_by_others.iter().enumerate() {
            let off = (single.fits.fits.parameters[[0, j]] - wanted).abs() / fits.errors[[0, j]];
            assert!(off < 0.01, "{kind}, single precision: {off}");
        }
    }
    assert_eq!(kinds.len(), 6, "{kinds:?}");
}

/// Decays with noise and outliers: (fit, point).
fn decays(count: usize) -> Array2<f64> {
    MODELS[1].data_of(count, 4, [0.0, 25.0], 45).0
}

const START: [f64; 3] = [8.0, 5.0, 0.5];

pub(crate) fn decay() -> Model {
    Model::formula("a*exp(-x/t) + c", &["x"], &["a", "t", "c"]).expect("a formula")
}

/// Proves that with the scale of the residuals the unit of y changes nothing, nor do threads; that a shift of weights by a factor
/// does not; and that what is listed stays.
#[test]
fn units_and_threads() {
    let (model, data) = (decay(), decays(40));
    let fit = |unit: f64, threads: usize, loss: Loss| {
        let scaled = data.mapv(|value| value * unit);
        let curves = Curves::new(scaled.view(), Points::Index);
        let fitter = CurveFitter::new(Backend::Reference, threads).expect("threads");
        let noise = CurveNoise::default().with_loss(loss).with_outlier_rate(0.01);
        let start = [START[0] * unit, START[1], START[2] * unit];
        let found = model.fit_noise(&fitter, &curves, (&start).into(), &model.options(), &noise);
        found.expect("fits")
    };
    for loss in Loss::ALL {
        let one = fit(1.0, 1, loss);
        assert_eq!(one, fit(1.0, 3, loss));
        for unit in [2.0_f64.powi(40), 2.0_f64.powi(-60)] {
            let other = fit(unit, 1, loss);
            assert_eq!(one.fits.of("t"), other.fits.of("t"), "{loss:?}");
            assert_eq!(one.fits.error_of("t"), other.fits.error_of("t"), "{loss:?}");
            let scaled: Vec<f64> = one.scales.iter().map(|scale| scale * unit).collect();
            assert_eq!(other.scales, scaled);
            let points = |found: &NoiseFits| -> Vec<(usize, usize)> {
                found.outliers.iter().map(|outlier| (outlier.fit, outlier.point)).collect()
            };
            assert_eq!(points(&one), points(&other));
        }
        assert!(one.outliers.len() > 40, "{loss:?}: {}", one.outliers.len());
        assert!((0..40).all(|fit| one.fits.fits.is_found(fit)), "{loss:?}");
    }
}

/// Proves that backends agree within 1 % of a standard error.
#[test]
fn backends_agree() {
    let (model, data) = (decay(), decays(60));
    let curves = Curves::new(data.view(), Points::Index);
    let noises = Loss::ALL.map(|loss| CurveNoise::default().with_loss(loss));
    let rules = WeightRule::ALL.map(|rule| CurveNoise::default().with_weights(rule));
    for noise in noises.into_iter().chain(rules) {
        let fit = |backend| {
            let fitter = CurveFitter::new(backend, 2).expect("a backend");
            let options = model.options();
            let found = model.fit_noise(&fitter, &curves, (&START).into(), &options, &noise);
            found.expect("fits").fits.fits
        };
        let (double, single) = (fit(Backend::Reference), fit(Backend::Cpu));
        for (number, wanted) in double.parameters.indexed_iter() {
            let off = (single.parameters[number] - wanted).abs() / double.errors[number];
            assert!(off < 0.01, "{noise:?} {number:?}: {off}");
        }
    }
}

/// Proves that weights of the model's values find what the likelihood of counts does, and that those of the data leave out zeros.
#[test]
fn rules() {
    let mut random = fit_sim::Random::new(7, 0);
    let model = decay();
    let data = Array2::from_shape_fn((20, 40), |(_, x)| {
        random.poisson(50.0 * (-(x as f64) / 7.0).exp() + 6.0)
    });
    let curves = Curves::new(data.view(), Points::Index);
    let fitter = one(Backend::Reference);
    let start = [40.0, 5.0, 5.0];
    let options = model.options().with_tolerance(1e-6);
    let noise = CurveNoise::default().with_weights(WeightRule::Model);
    let fit = |noise, options: &_| {
        model.fit_noise(&fitter, &curves, (&start).into(), options, &noise).expect("fits")
    };
    let found = fit(noise, &options.clone().with_absolute(true)).fits.fits;
    let likely = options.clone().with_estimator(spotfit::Estimator::MaximumLikelihood);
    let wanted = fit(CurveNoise::default(), &likely).fits.fits;
    for (number, wanted) in wanted.parameters.indexed_iter() {
        let off = (found.parameters[number] - wanted).abs() / found.errors[number];
        assert!(off < 1e-5, "{number:?}: {off:e}");
    }
    let mut with_zeros = data.clone();
    with_zeros[[0, 39]] = 0.0;
    let curves = Curves::new(with_zeros.view(), Points::Index);
    let noise = CurveNoise::default().with_weights(WeightRule::DataSquared);
    let found = model.fit_noise(&fitter, &curves, (&start).into(), &options, &noise);
    let found = found.expect("fits");
    let weights = found.weights.expect("weights");
    assert_eq!([weights[[0, 39]], weights[[0, 0]]], [0.0, 1.0 / data[[0, 0]] / data[[0, 0]]]);
    assert_eq!(found.fits.fits.degrees[..2], [36, 37]);
}

/// Proves that weights of 0 and data that are no numbers are treated as without a loss, and that exact data keep exact fits.
#[test]
fn gaps_and_exact_data() {
    let model = decay();
    let mut data = decays(3);
    let mut weights = Array2::ones((3, 40));
    (data[[0, 3]], weights[[0, 3]]) = (f64::NAN, 0.0);
    (data[[0, 4]], weights[[0, 4]]) = (1e9, f64::NAN);
    data[[1, 3]] = f64::NAN;
    for (x, value) in data.row_mut(2).iter_mut().enumerate() {
        *value = 10.0 * (-(x as f64) / 7.0).exp() + 1.0;
    }
    data[[2, 20]] = 50.0;
    let curves = Curves::new(data.view(), Points::Index).with_weights(weights.view());
    let fitter = one(Backend::Reference);
    for loss in Loss::ALL {
        let noise = CurveNoise::default().with_loss(loss).with_outlier_rate(0.05);
        let options = model.options();
        let found = model.fit_noise(&fitter, &curves, (&START).into(), &options, &noise);
        let found = found.expect("fits");
        let fits = &found.fits.fits;
        assert_eq!(fits.degrees[0], 35);
        assert!(fits.is_found(0) && (fits.parameters[[0, 1]] - 7.0).abs() < 1.0, "{loss:?}");
        assert_eq!(fits.statuses[1], spotfit::Status::Invalid);
        assert!((fits.parameters[[2, 1]] - 7.0).abs() < 1e-6, "{loss:?}: {fits:?}");
        assert!(found.outliers.iter().any(|outlier| (outlier.fit, outlier.point) == (2, 20)));
    }
}

/// Proves that what cannot be is refused, with the place.
#[test]
fn refused() {
    let model = decay();
    let data = Array2::from_elem((2, 10), 3.0);
    let (fitter, curves) = (one(Backend::Reference), Curves::new(data.view(), Points::Index));
    let fails = |noise: CurveNoise<'_>, options: &spotfit::model::CurveOptions| {
        let found = model.fit_noise(&fitter, &curves, (&START).into(), options, &noise);
        found.expect_err("refused").to_string()
    };
    let (none, options) = (CurveNoise::default(), model.options());
    let likely = options.clone().with_estimator(spotfit::Estimator::MaximumLikelihood);
    let robust = none.with_loss(Loss::Tukey);
    let scale = |wrong| (robust.with_scale(LossScale::Held(wrong)), &options, "scale");
    let rate = |wrong| (robust.with_outlier_rate(wrong), &options, "rate");
    let wrong = [-1.0, f64::NAN, f64::INFINITY];
    for (noise, options, says) in [
        (none.with_loss(Loss::Huber), &likely, "cannot be had together"),
        (none.with_weights(WeightRule::Data), &likely, "has its own"),
        (none.with_scale(LossScale::Held(1.0)), &options, "needs a loss"),
        (none.with_outlier_rate(0.1), &options, "needs a loss"),
        (none.with_x_errors(0.1), &options, "errors of y"),
        scale(0.0),
    ]
    .into_iter()
    .chain(wrong.map(scale))
    .chain(wrong.map(rate))
    {
        assert!(fails(noise, options).contains(says), "{says}");
    }
    for (given, says) in [(2.0, "has 3 successes in 2 trials"), (-1.0, "are -1"), (f64::NAN, "NaN")]
    {
        let mut trials = Array2::from_elem((2, 10), 5.0);
        trials[[1, 4]] = given;
        let told = fails(CurveNoise::default().with_trials(trials.view()), &options);
        assert!(told.contains(says) && told.contains("fit 1, point 4"), "{told}");
    }
    let trials = Array2::from_elem((3, 10), 5.0);
    assert!(fails(CurveNoise::default().with_trials(trials.view()), &options).contains("[2, 10]"));
    let place = NoiseError::Trials { fit: 1, point: 2, value: 0.5 };
    assert!(place.after(100).to_string().contains("fit 101"));
}
