//! Curves through points with errors along x beside ODRPACK (`scripts/orthogonal.py`), and what does not change them.

use std::collections::HashMap;

use ndarray::{Array2, Array3};
use spotfit::Backend;
use spotfit::model::{
    CurveFitter, CurveNoise, CurveOptions, CurveStart, Curves, Model, NoiseFits, Points, Spread,
    Values,
};

struct Judged {
    kind: String,
    model: Model,
    numbers: HashMap<String, Vec<f64>>,
}

fn cases() -> Vec<Judged> {
    let of = |part: &str| {
        let mut lines = part.lines();
        let kind = lines.next().expect("a kind").to_owned();
        let mut words = |name: &str| {
            let line = lines.next().and_then(|line| line.strip_prefix(name));
            line.expect(name).trim().to_owned()
        };
        let (formula, variables) = (words("formula"), words("variables"));
        let parameters = words("parameters");
        let [variables, parameters] =
            [&variables, &parameters].map(|all| all.split(' ').collect::<Vec<_>>());
        let model = Model::formula(&formula, &variables, &parameters).expect("a formula");
        let line = |line: &str| {
            let (name, numbers) = line.split_once(' ').expect("a name");
            let numbers = numbers.split(' ').map(|number| number.parse().expect("a number"));
            (name.to_owned(), numbers.collect())
        };
        Judged { kind, model, numbers: lines.map(line).collect() }
    };
    include_str!("../../data/orthogonal.txt").trim_end().split("\n\n").map(of).collect()
}

impl Judged {
    fn options(&self) -> CurveOptions {
        let options = self.model.options();
        match self.numbers.get("held") {
            Some(held) => options.with_fixed(held[0] as usize),
            None => options,
        }
    }

    fn fit(&self, fitter: &CurveFitter, options: &CurveOptions) -> NoiseFits {
        let numbers = |name: &str| &self.numbers[name];
        let data = numbers("data");
        let (points, variables) = (data.len(), self.model.variables().len());
        let data = Array2::from_shape_vec((1, points), data.clone()).expect("a row");
        let x = Array2::from_shape_vec((variables, points), numbers("x").clone()).expect("x");
        let errors = Array3::from_shape_fn((1, variables, points), |(_, k, _)| numbers("sx")[k]);
        let weights = Array2::from_elem((1, points), numbers("sy")[0].powi(-2));
        let curves = Curves::new(data.view(), Points::Shared(Values::from(x.view())));
        let curves = curves.with_weights(weights.view());
        let noise = CurveNoise::default().with_x_errors(Spread::Each(Values::from(errors.view())));
        let start = CurveStart::Shared(numbers("start"));
        self.model.fit_noise(fitter, &curves, start, options, &noise).expect("fits")
    }
}

/// Proves that all fits end, with a sum of the squares of both errors that is nowhere above ODRPACK's from the same start by more than 0.001, and
/// where it is the same with its parameters and errors; the weights that are left are those of the distances.
#[test]
fn no_sum_is_above_odrpacks() {
    let fitter = CurveFitter::new(Backend::Reference, 1).expect("a thread");
    let mut kinds = HashMap::<_, [usize; 3]>::new();
    let cases = cases();
    for case in &cases {
        let found = case.fit(&fitter, &case.options());
        let (fits, Judged { kind, numbers, .. }) = (&found.fits.fits, case);
        let above = fits.chi2[0] - numbers["sum"][0];
        let [all, ended, lower] = kinds.entry(&**kind).or_default();
        *all += 1;
        *ended += usize::from(fits.statuses[0].is_converged());
        *lower += usize::from(above < -1e-3);
        assert!(above < 1e-3, "{kind}: {} is {above} above", fits.chi2[0]);
        if above.abs() > 1e-6 {
            continue;
        }
        for (j, (wanted, error)) in numbers["found"].iter().zip(&numbers["errors"]).enumerate() {
            let (value, own) = (fits.parameters[[0, j]], fits.errors[[0, j]]);
            assert!((value - wanted).abs() <= 2e-3 * own, "{kind}: {value} {wanted} ± {own}");
            assert!((own - error).abs() <= 2e-3 * error, "{kind}: error {own} {error}");
        }
    }
    println!("fits, those that converged, those below ODRPACK: {kinds:?}");
    assert_eq!(kinds.values().map(|[all, ended, _]| all - ended).sum::<usize>(), 0, "{kinds:?}");
    assert_eq!((kinds.len(), cases.len()), (4, 98));
}

/// Proves that backends and threads give the same, that absolute errors are not scaled, that limits hold, and that what has an error of 0 along x is fitted
/// as without.
#[test]
fn options() {
    let cases = cases();
    let case = cases.iter().find(|case| case.kind == "peak").expect("a peak");
    let fitter = |backend, threads| CurveFitter::new(backend, threads).expect("a fitter");
    let one = case.fit(&fitter(Backend::Reference, 1), &case.options());
    let lanes = case.fit(&fitter(Backend::Cpu, 2), &case.options());
    let (fits, other) = (&one.fits.fits, &lanes.fits.fits);
    for ((number, value), error) in fits.parameters.indexed_iter().zip(&fits.errors) {
        assert!((other.parameters[number] - value).abs() < 1e-3 * error);
    }
    let scale = (fits.chi2[0] / f64::from(fits.degrees[0])).sqrt();
    let options = case.options().with_absolute(true).with_covariance(true);
    let absolute = case.fit(&fitter(Backend::Reference, 1), &options).fits.fits;
    for (j, (own, scaled)) in absolute.errors.iter().zip(&fits.errors).enumerate() {
        // The two searches end a small share of an error apart.
        assert!((own * scale / scaled - 1.0).abs() < 1e-3, "{} {scaled}", own * scale);
        assert!((absolute.covariance[[0, j, j]].sqrt() / own - 1.0).abs() < 1e-9);
    }
    let x0 = fits.parameters[[0, 1]];
    let options = case.options().with_upper(1, x0 - 0.1).with_lower(1, x0 - 2.0);
    let mut start = case.numbers["start"].clone();
    start[1] = x0 - 0.5;
    let mut limited =
        Judged { kind: String::new(), model: case.model.clone(), numbers: case.numbers.clone() };
    limited.numbers.insert("start".into(), start);
    let found = limited.fit(&fitter(Backend::Reference, 1), &options).fits.fits;
    assert_eq!(found.statuses[0], spotfit::Status::AtLimit);
    assert_eq!((found.parameters[[0, 1]], found.errors[[0, 1]]), (x0 - 0.1, 0.0));
    assert!(found.chi2[0] > fits.chi2[0] && found.degrees[0] == fits.degrees[0] + 1);
    limited.numbers.insert("sx".into(), vec![0.0]);
    let plain = limited.fit(&fitter(Backend::Reference, 1), &case.options());
    let data = Array2::from_shape_vec((1, 60), case.numbers["data"].clone()).expect("a row");
    let x = Array2::from_shape_vec((1, 60), case.numbers["x"].clone()).expect("a row");
    let weights = Array2::from_elem((1, 60), case.numbers["sy"][0].powi(-2));
    let curves = Curves::new(data.view(), Points::Shared(Values::from(x.view())));
    let curves = curves.with_weights(weights.view());
    let start = CurveStart::Shared(&limited.numbers["start"]);
    let least = case.model.fit(&curves, start, &case.options()).expect("fits").fits;
    assert!((plain.fits.fits.chi2[0] / least.chi2[0] - 1.0).abs() < 1e-6);
    for (own, wanted) in plain.weights.expect("weights").iter().zip(&weights) {
        assert!((own / wanted - 1.0).abs() < 1e-12);
    }
}
