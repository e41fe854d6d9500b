//! Fits that share parameters, with ties and priors, beside lmfit, and what must not change them.

use std::collections::HashMap;

use fit_core::{Estimator, Status};
use fit_curves::{CurveLimits, CurveOptions, CurveStart, Curves, Points, Sharing, Values};
use ndarray::{Array2, Array3, ArrayView2, ArrayView3, Axis, s};
use spotfit::Backend;
use spotfit::model::{CurveFitter, Model, SharedModelFits};

/// What lmfit found (scripts/shared.py).
struct Case {
    name: &'static str,
    words: HashMap<&'static str, Vec<&'static str>>,
    numbers: HashMap<&'static str, Vec<f64>>,
    formula: &'static str,
}

fn cases() -> Vec<Case> {
    let mut all: Vec<Case> = Vec::new();
    for line in include_str!("../../data/shared.txt").lines() {
        let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
        if key == "case" {
            let (words, numbers) = Default::default();
            all.push(Case { name: rest, words, numbers, formula: "" });
            continue;
        }
        let case = all.last_mut().expect("a case");
        match key {
            "formula" => case.formula = rest,
            "ties" => {
                let ties = rest.split('|').filter(|tie| !tie.is_empty());
                case.words.insert(key, ties.collect());
            }
            "parameters" | "shared" | "fixed" | "estimator" => {
                case.words.insert(key, rest.split_whitespace().collect());
            }
            _ => {
                let numbers = rest.split_whitespace().map(|word| word.parse().expect("a number"));
                case.numbers.insert(key, numbers.collect());
            }
        }
    }
    all
}

impl Case {
    fn sets(&self) -> usize {
        self.numbers["sets"][0] as usize
    }

    fn table(&self, key: &str) -> ArrayView2<'_, f64> {
        let (sets, numbers) = (self.sets(), &self.numbers[key]);
        ArrayView2::from_shape((sets, numbers.len() / sets), numbers).expect("as many")
    }

    fn x(&self) -> ArrayView3<'_, f64> {
        self.table("x")
            .insert_axis(Axis(1))
            .into_shape_with_order((self.sets(), 1, self.table("x").ncols()))
            .expect("as many")
    }

    fn model(&self) -> Model {
        let ties = &self.words["ties"];
        let whole = Model::of_variables(self.formula, &["x"]).expect("a formula");
        let own: Vec<&str> = self.words["parameters"].clone();
        let tied: Vec<&str> =
            ties.iter().map(|tie| tie.split('=').next().expect("a name")).collect();
        let names: Vec<&str> = own.iter().chain(&tied).copied().collect();
        assert_eq!(whole.parameters().len(), names.len(), "{}", self.name);
        let whole = Model::formula(self.formula, &["x"], &names).expect("a formula");
        whole.with_ties(ties).expect("ties")
    }

    fn options(&self, model: &Model) -> CurveOptions {
        let limits = self.numbers["bounds"].chunks(2).map(|of| [of[0], of[1]]).collect();
        let mut options = model
            .options()
            .with_limits(CurveLimits::Shared(limits))
            .with_tolerance(1e-7)
            .with_absolute(self.words["estimator"][1] == "absolute");
        if self.words["estimator"][0] == "mle" {
            options = options.with_estimator(Estimator::MaximumLikelihood);
        }
        for name in &self.words["fixed"] {
            options = options.with_fixed(model.parameter(name).expect("a parameter"));
        }
        options
    }

    fn sharing(&self, model: &Model) -> Sharing {
        let mut sharing = Sharing::default();
        let sets = self.sets();
        for (name, groups) in self.words["shared"].iter().zip(self.numbers["groups"].chunks(sets)) {
            let groups: Vec<usize> = groups.iter().map(|&group| group as usize).collect();
            let parameter = model.parameter(name).expect("a parameter");
            sharing = if groups.iter().all(|&group| group == 0) {
                sharing.with_shared(parameter)
            } else {
                sharing.with_groups(parameter, groups)
            };
        }
        for prior in self.numbers["priors"].chunks(3) {
            sharing = sharing.with_prior(prior[0] as usize, prior[1], prior[2]);
        }
        sharing
    }

    fn fit(&self, threads: usize) -> SharedModelFits {
        let model = self.model();
        let (data, x) = (self.table("data"), self.x());
        let (weights, start) = (self.table("weights"), self.table("start"));
        let curves = Curves::new(data, Points::PerFit(Values::from(x))).with_weights(weights);
        let fitter = CurveFitter::new(Backend::Reference, threads).expect("threads");
        let options = self.options(&model);
        model
            .fit_shared(&fitter, &curves, start.into(), &options, &self.sharing(&model))
            .expect("sound")
    }
}

/// Proves that fits with shared parameters, groups, weights, limits, ties and priors are those of lmfit: values within 10⁻⁶, errors
/// within 1 %.
#[test]
fn as_lmfit() {
    let cases = cases();
    assert!(cases.len() >= 30, "{}", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let found = case.fit(1);
        let fits = &found.shared.fits;
        let (values, errors) = (case.table("values"), case.table("errors"));
        let (mut of_values, mut of_errors) = (0.0_f64, 0.0_f64);
        for ((at, &wanted), (&value, (&error, &own))) in
            values.indexed_iter().zip(fits.parameters.iter().zip(errors.iter().zip(&fits.errors)))
        {
            // Of what may be 0 the error says how well it is to be known.
            let _ = at;
            of_values = of_values.max((value - wanted).abs() / wanted.abs().max(error));
            of_errors = of_errors.max((own - error).abs() / error.max(1e-300));
        }
        let chi2 = (found.shared.chi2() - case.numbers["chi2"][0]).abs() / case.numbers["chi2"][0];
        let degrees = found.shared.degrees() as f64 - case.numbers["degrees"][0];
        let ended =
            fits.statuses.iter().all(|&status| status.is_converged() || status == Status::AtLimit);
        println!(
            "{:32} {of_values:9.1e} {of_errors:9.1e} {chi2:9.1e} {degrees:3} {:?} {} steps, {:?} visits",
            case.name, fits.statuses[0], fits.iterations[0], fits.evaluations
        );
        if !(of_values < 1e-6 && of_errors < 0.01 && chi2 < 1e-9 && degrees == 0.0 && ended) {
            wrong.push(case.name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
