//! Curves through points with errors along x beside ODRPACK (`scripts/orthogonal.py`), and what does not change them.

use std::collections::HashMap;

use fit_tests::curves::{row, shared};
use fit_tests::records::{Record, records};
use ndarray::{Array2, Array3};
use spotfit::Backend;
use spotfit::model::{
    CurveFitter, CurveNoise, CurveOptions, CurveStart, Model, NoiseFits, Spread, Values,
};

#[derive(Clone)]
struct Judged {
    record: Record,
    model: Model,
    start: Vec<f64>,
    /// The standard deviation of each variable.
    sx: Vec<f64>,
}

fn cases() -> Vec<Judged> {
    let of = |record: Record| {
        let [variables, parameters] = ["variables", "parameters"].map(|of| record.words(of));
        let model = Model::formula(record.text("formula"), &variables, &parameters);
        let [start, sx] = ["start", "sx"].map(|of| record.numbers(of));
        Judged { record, model: model.expect("a formula"), start, sx }
    };
    let parts = include_str!("../../data/orthogonal.txt").split("\n\n");
    records(parts).into_iter().map(of).collect()
}

impl Judged {
    fn options(&self) -> CurveOptions {
        let options = self.model.options();
        match self.record.get("held") {
            Some(_) => options.with_fixed(self.record.numbers("held")[0] as usize),
            None => options,
        }
    }

    /// The data, where they lie, and their weights.
    fn rows(&self) -> [Array2<f64>; 3] {
        let data = row(&self.record.numbers("data"));
        let (points, variables) = (data.len(), self.model.variables().len());
        let x = Array2::from_shape_vec((variables, points), self.record.numbers("x")).expect("x");
        [data, x, Array2::from_elem((1, points), self.record.numbers("sy")[0].powi(-2))]
    }

    fn fit(&self, fitter: &CurveFitter, options: &CurveOptions) -> NoiseFits {
        let [data, x, weights] = self.rows();
        let errors = Array3::from_shape_fn((1, x.nrows(), data.len()), |(_, k, _)| self.sx[k]);
        let curves = shared(&data, &x, Some(&weights));
        let noise = CurveNoise::default().with_x_errors(Spread::Each(Values::from(errors.view())));
        let start = CurveStart::Shared(&self.start);
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
        let (fits, kind, numbers) =
            (&found.fits.fits, case.record.head, |of: &str| case.record.numbers(of));
        let above = fits.chi2[0] - numbers("sum")[0];
        let [all, ended, lower] = kinds.entry(kind).or_default();
        *all += 1;
        *ended += usize::from(fits.statuses[0].is_converged());
        *lower += usize::from(above < -1e-3);
        assert!(above < 1e-3, "{kind}: {} is {above} above", fits.chi2[0]);
        if above.abs() > 1e-6 {
            continue;
        }
        for (j, (wanted, error)) in numbers("found").iter().zip(&numbers("errors")).enumerate() {
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
    let case = cases.iter().find(|case| case.record.head == "peak").expect("a peak");
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
    let mut limited = case.clone();
    limited.start[1] = x0 - 0.5;
    let found = limited.fit(&fitter(Backend::Reference, 1), &options).fits.fits;
    assert_eq!(found.statuses[0], spotfit::Status::AtLimit);
    assert_eq!((found.parameters[[0, 1]], found.errors[[0, 1]]), (x0 - 0.1, 0.0));
    assert!(found.chi2[0] > fits.chi2[0] && found.degrees[0] == fits.degrees[0] + 1);
    limited.sx = vec![0.0];
    let plain = limited.fit(&fitter(Backend::Reference, 1), &case.options());
    let [data, x, weights] = case.rows();
    let curves = shared(&data, &x, Some(&weights));
    let start = CurveStart::Shared(&limited.start);
    let least = case.model.fit(&curves, start, &case.options()).expect("fits").fits;
    assert!((plain.fits.fits.chi2[0] / least.chi2[0] - 1.0).abs() < 1e-6);
    for (own, wanted) in plain.weights.expect("weights").iter().zip(&weights) {
        assert!((own / wanted - 1.0).abs() < 1e-12);
    }
}
