//! Fits that share parameters, with ties and priors, beside lmfit, and what must not change them.

use fit_core::{Estimator, Status};
use fit_curves::{
    CurveFits, CurveLimits, CurveOptions, CurvePrecision, CurveStart, Curves, Linear, Points,
    Sharing, Values,
};
use fit_tests::curves::{Numbers, shared};
use fit_tests::records::{Record, records};
use ndarray::{Array2, Axis, s};
use spotfit::Backend;
use spotfit::model::{CurveFitter, Model, SharedModelFits};

use crate::noise::decay;

/// Number by number, and with the points of a data set in lanes.
const BACKENDS: [Backend; 2] = [Backend::Reference, Backend::Cpu];

/// What lmfit found (scripts/shared.py).
struct Case(Record);

fn cases() -> Vec<Case> {
    let parts = include_str!("../../data/shared.txt").split("case ").skip(1);
    records(parts).into_iter().map(Case).collect()
}

impl Case {
    fn sets(&self) -> usize {
        self.0.numbers("sets")[0] as usize
    }

    fn table(&self, key: &str) -> Array2<f64> {
        let (sets, numbers) = (self.sets(), self.0.numbers(key));
        Array2::from_shape_vec((sets, numbers.len() / sets), numbers).expect("as many")
    }

    fn model(&self) -> Model {
        let (formula, ties) = (self.0.text("formula"), self.0.text("ties"));
        let ties: Vec<&str> = ties.split('|').filter(|tie| !tie.is_empty()).collect();
        let whole = Model::of_variables(formula, &["x"]).expect("a formula");
        let tied = ties.iter().map(|tie| tie.split('=').next().expect("a name"));
        let names: Vec<&str> = self.0.words("parameters").into_iter().chain(tied).collect();
        assert_eq!(whole.parameters().len(), names.len(), "{}", self.0.head);
        let whole = Model::formula(formula, &["x"], &names).expect("a formula");
        whole.with_ties(&ties).expect("ties")
    }

    fn options(&self, model: &Model) -> CurveOptions {
        let estimator = self.0.words("estimator");
        let limits = self.0.numbers("bounds").chunks(2).map(|of| [of[0], of[1]]).collect();
        let mut options = model
            .options()
            .with_limits(CurveLimits::Shared(limits))
            .with_tolerance(1e-7)
            .with_absolute(estimator[1] == "absolute");
        if estimator[0] == "mle" {
            options = options.with_estimator(Estimator::MaximumLikelihood);
        }
        for name in self.0.words("fixed") {
            options = options.with_fixed(model.parameter(name).expect("a parameter"));
        }
        options
    }

    fn sharing(&self, model: &Model) -> Sharing {
        let mut sharing = Sharing::default();
        let sets = self.sets();
        let all = self.0.numbers("groups");
        for (name, groups) in self.0.words("shared").into_iter().zip(all.chunks(sets)) {
            let groups: Vec<usize> = groups.iter().map(|&group| group as usize).collect();
            let parameter = model.parameter(name).expect("a parameter");
            sharing = if groups.iter().all(|&group| group == 0) {
                sharing.with_shared(parameter)
            } else {
                sharing.with_groups(parameter, groups)
            };
        }
        for prior in self.0.numbers("priors").chunks(3) {
            sharing = sharing.with_prior(prior[0] as usize, prior[1], prior[2]);
        }
        sharing
    }

    fn fit(&self, backend: Backend) -> SharedModelFits {
        let model = self.model();
        let [data, x, weights, start] = ["data", "x", "weights", "start"].map(|of| self.table(of));
        let x = x.insert_axis(Axis(1));
        let x = Points::PerFit(Values::from(x.view()));
        let curves = Curves::new(data.view(), x).with_weights(weights.view());
        let (options, sharing) = (self.options(&model), self.sharing(&model));
        fitted(start.view(), (backend, 1), &model, &curves, &options, &sharing)
    }
}

/// Proves that fits with shared parameters, groups, weights, limits, ties and priors are those of lmfit: values within 10⁻⁶, errors
/// within 1 %.
#[test]
fn as_lmfit() {
    let cases = cases();
    assert!(cases.len() >= 30, "{}", cases.len());
    let mut wrong = Vec::new();
    for (case, backend) in cases.iter().flat_map(|case| BACKENDS.map(|backend| (case, backend))) {
        let found = case.fit(backend);
        let fits = &found.shared.fits;
        let (values, errors) = (case.table("values"), case.table("errors"));
        let (mut of_values, mut of_errors) = (0.0_f64, 0.0_f64);
        let wanted = values.iter().zip(&errors);
        let own = fits.parameters.iter().zip(&fits.errors);
        for ((wanted, &error), (value, own)) in wanted.zip(own) {
            // Of what may be 0 the error says how well it is to be known.
            of_values = of_values.max((value - wanted).abs() / wanted.abs().max(error));
            of_errors = of_errors.max((own - error).abs() / error.max(1e-300));
        }
        let wanted = case.0.numbers("chi2")[0];
        let chi2 = (found.shared.chi2() - wanted).abs() / wanted;
        let degrees = found.shared.degrees() as f64 - case.0.numbers("degrees")[0];
        let ended =
            fits.statuses.iter().all(|&status| status.is_converged() || status == Status::AtLimit);
        println!(
            "{:32} {backend:?} {of_values:9.1e} {of_errors:9.1e} {chi2:9.1e} {degrees:3} {:?} {} steps, {:?} visits",
            case.0.head, fits.statuses[0], fits.iterations[0], fits.evaluations
        );
        if !(of_values < 1e-6 && of_errors < 0.01 && chi2 < 1e-9 && degrees == 0.0 && ended) {
            wrong.push((case.0.head, backend));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Decays that share a time, with noise that is always the same.
fn decays(sets: usize, points: usize) -> Array2<f64> {
    let noise = |fit: usize, at: usize| ((fit * 7919 + at * 104_729) % 1000) as f64 / 1000.0 - 0.5;
    Array2::from_shape_fn((sets, points), |(fit, at)| {
        let a = 3.0 + (fit % 17) as f64;
        a * (-(at as f64) / 3.0).exp() + 1.0 + 0.1 * (fit % 5) as f64 + 0.2 * noise(fit, at)
    })
}

const START: [f64; 3] = [5.0, 2.0, 0.5];

fn shared_time(backend: Backend, data: &Array2<f64>, threads: usize) -> SharedModelFits {
    let model = decay();
    let curves = Curves::new(data.view(), Points::Index);
    let options = model.options().with_tolerance(1e-7);
    let sharing = Sharing::default().with_shared(1);
    fitted(&START, (backend, threads), &model, &curves, &options, &sharing)
}

fn fitted<'a>(
    start: impl Into<CurveStart<'a>>,
    (backend, threads): (Backend, usize),
    model: &Model,
    curves: &Curves<'_>,
    options: &CurveOptions,
    sharing: &Sharing,
) -> SharedModelFits {
    let fitter = CurveFitter::new(backend, threads).expect("threads");
    model.fit_shared(&fitter, curves, start.into(), options, sharing).expect("sound")
}

fn near(a: f64, b: f64, digits: f64) -> bool {
    (a - b).abs() <= digits * a.abs().max(b.abs())
}

/// Proves that no bit depends on the number of threads, and no digit that counts on the order of the data sets.
#[test]
fn neither_threads_nor_order() {
    for backend in BACKENDS {
        let data = decays(300, 20);
        let one = shared_time(backend, &data, 1);
        for threads in [2, 3] {
            assert_eq!(one, shared_time(backend, &data, threads), "{threads} threads");
        }
        let turned = data.slice(s![..;-1, ..]).to_owned();
        let other = shared_time(backend, &turned, 1);
        let [t, u] = [&one, &other].map(|fits| fits.shared.values[0]);
        assert!(near(t.value, u.value, 1e-9) && near(t.error, u.error, 1e-9), "{t:?} {u:?}");
        for fit in 0..300 {
            let (of, turned) = (&one.shared.fits, &other.shared.fits);
            let (a, b) = (of.parameters.row(fit), turned.parameters.row(299 - fit));
            assert!(a.iter().zip(b).all(|(a, &b)| near(*a, b, 1e-8)), "{fit}: {a} {b}");
        }
    }
}

/// Proves that the fit is the same in other units of y and x, however large, with linear parameters that are eliminated and searched.
#[test]
fn units() {
    let data = decays(20, 20);
    let model = decay();
    for (backend, linear) in BACKENDS
        .into_iter()
        .flat_map(|backend| [Linear::Eliminated, Linear::Searched].map(|linear| (backend, linear)))
    {
        let options = model.options().with_tolerance(1e-7).with_linear(linear);
        let curves = Curves::new(data.view(), Points::Index);
        let sharing = Sharing::default().with_shared(1);
        let plain = fitted(&START, (backend, 1), &model, &curves, &options, &sharing);
        let small = [(1e-9, 1e-9), (1e-100, 1e10), (1e-200, 1e-30), (1e-300, 1.0)];
        let large = [(1e6, 1.0), (1.0, 1e12), (1e150, 1e30), (1e300, 1.0)];
        for (of_y, of_x) in small.into_iter().chain(large) {
            let scaled = data.mapv(|value| value * of_y);
            let x = Array2::from_shape_fn((1, 20), |(_, at)| at as f64 * of_x);
            let curves = shared(&scaled, &x, None);
            let start = [START[0] * of_y, START[1] * of_x, START[2] * of_y];
            let found = fitted(&start, (backend, 1), &model, &curves, &options, &sharing);
            let part = &found.shared.parts[0];
            assert!(part.status.is_converged(), "{of_y} {of_x}: {:?}", part.status);
            let [t, u] = [&plain, &found].map(|fits| fits.shared.values[0]);
            assert!(near(t.value * of_x, u.value, 1e-8), "{of_y} {of_x}: {t:?} {u:?}");
            assert!(near(t.error * of_x, u.error, 1e-6), "{of_y} {of_x}: {t:?} {u:?}");
            for fit in 0..20 {
                let [a, b] = [&plain, &found].map(|fits| fits.shared.fits.parameters[[fit, 0]]);
                assert!(near(a * of_y, b, 1e-7), "{of_y} {of_x} {fit}: {a} {b}");
            }
        }
    }
}

/// Proves that data sets which share all are one, and that peaks far from 0 are as good as those near it.
#[test]
fn all_shared_is_one_fit() {
    for backend in BACKENDS {
        let data = decays(4, 20);
        let model = decay();
        let options = model.options().with_tolerance(1e-8);
        let sharing = Sharing::default().with_shared(0).with_shared(1).with_shared(2);
        let curves = Curves::new(data.view(), Points::Index);
        let found = fitted(&START, (backend, 1), &model, &curves, &options, &sharing);
        let all = data.to_shape((1, 80)).expect("as many").to_owned();
        let x = Array2::from_shape_fn((1, 80), |(_, at)| (at % 20) as f64);
        let one = Curves::new(all.view(), Points::Shared(Values::from(x.view())));
        let one = model.fit(&one, (&START).into(), &options).expect("sound").fits;
        for j in 0..3 {
            let value = found.shared.values[j];
            assert!(near(value.value, one.parameters[[0, j]], 1e-8), "{value:?}");
            assert!(near(value.error, one.errors[[0, j]], 1e-6), "{value:?}");
        }
        assert!(near(found.shared.chi2(), one.chi2[0], 1e-10));
        assert_eq!(found.shared.degrees(), u64::from(one.degrees[0]));

        let peak = Model::named("gauss_1d").expect("a model");
        let width = peak.parameter("s").expect("a parameter");
        let place = peak.parameter("x0").expect("a parameter");
        let values = Array2::from_shape_fn((3, 30), |(fit, at)| {
            let (z, rough) = (at as f64 - 12.0 - fit as f64, ((at * 7 + fit * 3) % 11) as f64);
            (4.0 + fit as f64) * (-z * z / 18.0).exp() + 1.0 + 0.01 * rough
        });
        let at = |origin: f64, level: f64| {
            let x = Array2::from_shape_fn((1, 30), |(_, at)| origin + at as f64);
            let values = values.mapv(|value| value + level);
            let (curves, of) = (shared(&values, &x, None), (backend, 1));
            let sharing = Sharing::default().with_shared(width);
            fitted(CurveStart::Estimate, of, &peak, &curves, &peak.options(), &sharing)
        };
        let [near_0, far] = [at(0.0, 0.0), at(1.7e9, 1e9)];
        assert!(near(near_0.shared.values[0].value, far.shared.values[0].value, 1e-6));
        for fit in 0..3 {
            let [a, b] = [&near_0, &far].map(|fits| fits.shared.fits.parameters[[fit, place]]);
            assert!((a + 1.7e9 - b).abs() < 1e-5, "{a} {b}");
        }
    }
}

/// Proves that a data set which cannot be fitted is left out, and changes nothing of the others.
#[test]
fn what_is_invalid_is_left_out() {
    for backend in BACKENDS {
        let mut data = decays(6, 20);
        let without = data.slice(s![..5, ..]).to_owned();
        data[[5, 3]] = f64::NAN;
        let [with, without] = [&data, &without].map(|data| shared_time(backend, data, 1));
        assert_eq!((with.shared.left_out(), without.shared.left_out()), (1, 0));
        assert_eq!(with.shared.values, without.shared.values);
        assert_eq!(with.shared.fits.statuses[5], Status::Invalid);
        assert!(with.shared.fits.parameters.row(5).iter().all(|value| value.is_nan()));

        // Counts that are negative, and a model that is, of a data set.
        let model = Model::of_variables("a*x + b", &["x"]).expect("a formula");
        let mut counts = Array2::from_shape_fn((3, 10), |(fit, at)| (4 + at * (fit + 1)) as f64);
        counts[[1, 2]] = -1.0;
        let curves = Curves::new(counts.view(), Points::Index);
        let options = model.options().with_estimator(Estimator::MaximumLikelihood);
        let start = Array2::from_shape_vec((3, 2), vec![1.0, 4.0, 1.0, 4.0, -5.0, 4.0]).expect("6");
        let sharing = Sharing::default().with_shared(1);
        let found = fitted(start.view(), (backend, 1), &model, &curves, &options, &sharing);
        assert_eq!(found.shared.left_out(), 2, "{found:?}");
        assert!(found.shared.fits.is_found(0), "{found:?}");
    }
}

/// Proves what becomes of shared values that the data do not determine, of groups with a point, and without degrees of freedom.
#[test]
fn too_little_is_said() {
    for backend in BACKENDS {
        let data = decays(4, 20);
        // Only the product of a and b is known.
        let model =
            Model::formula("a*b*exp(-x/t) + c", &["x"], &["a", "b", "t", "c"]).expect("one");
        let curves = Curves::new(data.view(), Points::Index);
        let sharing = Sharing::default().with_shared(1).with_shared(2);
        let (start, options) = ([2.0, 2.0, 2.0, 0.5], model.options());
        let found = fitted(&start, (backend, 1), &model, &curves, &options, &sharing);
        let [b, t] = [found.shared.values[0], found.shared.values[1]];
        assert_eq!(b.error, f64::INFINITY, "{found:?}");
        assert!(t.error.is_finite() && near(t.value, 3.0, 0.1), "{found:?}");
        assert_eq!(found.shared.parts[0].status, Status::NotConverged);
        assert!(found.shared.fits.errors.column(0).iter().all(|error| error.is_infinite()));
        assert!(found.shared.fits.errors.column(3).iter().all(|error| error.is_finite()));
        let plain = shared_time(backend, &data, 1);
        // What is not known counts as a parameter, too.
        let degrees = [&plain, &found].map(|fits| fits.shared.degrees() as f64);
        let wanted = plain.shared.values[0].error * (degrees[0] / degrees[1]).sqrt();
        assert!(near(wanted, t.error, 1e-4), "{plain:?} {t:?}");

        // A group whose only data set has one point.
        let model = decay();
        let mut weights = Array2::ones((4, 20));
        weights.slice_mut(s![3, 1..]).fill(0.0);
        let curves = Curves::new(data.view(), Points::Index).with_weights(weights.view());
        let groups = Sharing::default().with_groups(1, vec![0, 0, 0, 9]).with_shared(2);
        let found = fitted(&START, (backend, 1), &model, &curves, &model.options(), &groups);
        assert_eq!(found.shared.values.len(), 3);
        assert_eq!(found.shared.values[1].group, 9);
        assert_eq!(found.shared.values[1].error, f64::INFINITY, "{found:?}");
        assert!([0, 2].iter().all(|&at| found.shared.values[at].error.is_finite()), "{found:?}");
        let alone = Sharing::default().with_groups(1, vec![0, 0, 0, 9]);
        let found = fitted(&START, (backend, 1), &model, &curves, &model.options(), &alone);
        assert_eq!(found.shared.fits.statuses[3], Status::Invalid, "{found:?}");
        assert!((0..3).all(|fit| found.shared.fits.is_found(fit)), "{found:?}");

        // As many points as parameters.
        let line = Model::of_variables("o + m*x", &["x"]).expect("a formula");
        let two = Array2::from_shape_vec((2, 3), vec![1.0, 2.0, 9.0, 4.0, 9.0, 9.0]).expect("6");
        let mut weights = Array2::ones((2, 3));
        weights.column_mut(2).fill(0.0);
        weights[[1, 1]] = 0.0;
        let curves = Curves::new(two.view(), Points::Index).with_weights(weights.view());
        let sharing = Sharing::default().with_shared(1);
        let (start, options) = ([1.0, 1.0], line.options());
        let found = fitted(&start, (backend, 1), &line, &curves, &options, &sharing);
        assert_eq!(found.shared.degrees(), 0);
        assert!(near(found.shared.values[0].value, 1.0, 1e-9), "{found:?}");
        assert_eq!(found.shared.values[0].error, f64::INFINITY);
    }
}

/// Proves that what contradicts itself is refused.
#[test]
fn contradictions() {
    let data = decays(3, 20);
    let model = decay();
    let weights = Array2::<f64>::ones((1, 20));
    let curves = Curves::new(data.view(), Points::Index).with_weights(weights.view());
    let fitter = CurveFitter::new(Backend::Reference, 1).expect("a thread");
    let plain = model.options();
    let absolute = model.options().with_absolute(true);
    let of = Sharing::default;
    let cases: [(CurveOptions, Sharing, &str); 11] = [
        (plain.clone(), of().with_shared(1).with_shared(1), "'t' is shared twice"),
        (plain.clone(), of().with_shared(7), "does not exist"),
        (plain.clone().with_fixed(1), of().with_shared(1), "'t' is fixed"),
        (plain.clone(), of().with_groups(1, vec![0, 1]), "2 groups for 3 fits"),
        (plain.clone(), of().with_prior(1, 3.0, 1.0), "absolute"),
        (absolute.clone(), of().with_prior(1, 3.0, 0.0), "not above 0"),
        (absolute.clone(), of().with_prior(1, 3.0, f64::NAN), "not above 0"),
        (absolute.clone(), of().with_prior(1, f64::NAN, 1.0), "not finite"),
        (absolute.clone().with_upper(1, 2.5), of().with_prior(1, 3.0, 1.0), "outside its limits"),
        (absolute.clone().with_fixed(1), of().with_prior(1, 3.0, 1.0), "'t' is fixed"),
        (absolute, of().with_prior(1, 3.0, 1.0).with_prior(1, 2.0, 1.0), "two priors"),
    ];
    for (options, sharing, told) in &cases {
        let found = model.fit_shared(&fitter, &curves, (&START[..]).into(), options, sharing);
        let error = found.expect_err(told).to_string();
        assert!(error.contains(told), "{told}: {error}");
    }
    for (ties, told) in [
        (vec!["q=1"], "no parameter 'q'"),
        (vec!["a"], "not NAME=EXPRESSION"),
        (vec!["a=1-a"], "tied to itself"),
        (vec!["a=t", "t=a"], "circle"),
        (vec!["a=2*t", "a=t"], "tied twice"),
        (vec!["a=b"], "no parameter 'b'"),
        (vec!["a=2*x"], "is a variable"),
        (vec!["a=2*("], "expected"),
        (vec!["a=1; b=2"], "one expression"),
        (vec!["a=1/0"], "finite"),
    ] {
        let error = model.with_ties(&ties).expect_err(told).to_string();
        assert!(error.contains(told), "{told}: {error}");
    }
    let tied = model.with_ties(&["c=a/10"]).expect("a tie");
    let error = tied.parameter("c").expect_err("tied").to_string();
    assert!(error.contains("no parameter any more"), "{error}");
}

/// Proves that named models with ties find their start, and that priors pull as they should.
#[test]
fn ties_of_named_models() {
    let data = Array2::from_shape_fn((3, 40), |(fit, at)| {
        let (x, f) = (at as f64 * 0.5, 0.3 + 0.2 * fit as f64);
        f * (-x / 1.0).exp() + (1.0 - f) * (-x / 6.0).exp() + 0.001 * ((at * 13 + fit) % 7) as f64
    });
    let x = Array2::from_shape_fn((1, 40), |(_, at)| at as f64 * 0.5);
    let curves = shared(&data, &x, None);
    for ties in [&["a2 = 1 - a1"][..], &["a2 = (1 - sqrt(a1))*(1 + sqrt(a1))", "c = 0.002"]] {
        let model = Model::named("exponential_2").and_then(|model| model.with_ties(ties));
        let model = model.expect("ties");
        let fits = model.fit(&curves, CurveStart::Estimate, &model.options()).expect("sound");
        for fit in 0..3 {
            assert!(fits.fits.is_found(fit), "{fits:?}");
            let f = fits.of("a1").expect("a parameter")[fit];
            let wanted = 0.3 + 0.2 * fit as f64;
            assert!((f - wanted).abs() < 0.03 || (1.0 - f - wanted).abs() < 0.03, "{fits:?}");
        }
    }
}

/// Proves that the points of data sets that share three parameters are visited at most ten times as often as those of separate fits,
/// number by number; it prints how long 10⁵ of them take (`SPOTFIT_NIGHTLY=1`).
#[test]
fn many_data_sets() {
    let sets = fit_tests::effort(2000, 2000, 100_000);
    let truth = |fit: usize, x: f64| {
        let f = 0.2 + 0.6 * (fit % 101) as f64 / 101.0;
        let a = 50.0 + (fit % 37) as f64;
        a * (f * (-x / 0.8).exp() + (1.0 - f) * (-x / 5.0).exp()) + 2.0
    };
    let mut random = Numbers(11);
    let x = Array2::from_shape_fn((1, 30), |(_, at)| at as f64 * 0.5);
    let data = Array2::from_shape_fn((sets, 30), |(fit, at)| {
        truth(fit, x[[0, at]]) + random.within([-1.0, 1.0])
    });
    let curves = shared(&data, &x, None);
    let model =
        Model::of_variables("a*(f*exp(-x/t1) + (1 - f)*exp(-x/t2)) + c", &["x"]).expect("one");
    let start = [60.0, 0.5, 1.0, 4.0, 1.0];
    let options = model.options().with_covariance(false);
    let mut sharing = Sharing::default();
    for name in ["t1", "t2", "c"] {
        sharing = sharing.with_shared(model.parameter(name).expect("a parameter"));
    }
    let fitters = BACKENDS.map(|backend| CurveFitter::new(backend, 0).expect("threads"));
    let fine = options.clone().with_precision(CurvePrecision::F64);
    let separate = fitters.each_ref().map(|fitter| {
        let begin = std::time::Instant::now();
        let fits = model.fit_with(fitter, &curves, (&start).into(), &fine).expect("sound").fits;
        let seconds = begin.elapsed().as_secs_f64();
        let visits = visits(&fits);
        println!("{:?}: separate {seconds:.2} s, {visits:.1} visits", fitter.backend());
        (seconds, visits)
    });
    let together = fitters.each_ref().map(|fitter| {
        let begin = std::time::Instant::now();
        let found =
            model.fit_shared(fitter, &curves, (&start).into(), &options, &sharing).expect("sound");
        let together = begin.elapsed().as_secs_f64();
        let part = &found.shared.parts[0];
        let [slow, fast] = [0, 1].map(|of: usize| together / separate[of].0);
        let (backend, visits) = (fitter.backend(), visits(&found.shared.fits));
        println!(
            "{backend:?}: together {together:.2} s, {slow:.2} and {fast:.2} times separate fits, {visits:.1} visits, {part:?}"
        );
        assert!(part.status.is_converged(), "{part:?}");
        for (value, wanted) in found.shared.values.iter().zip([0.8, 5.0, 2.0]) {
            println!("{value:?}");
            assert!((value.value - wanted).abs() < 5.0 * value.error, "{value:?}");
        }
        visits
    });
    for visits in together {
        assert!(visits < 10.0 * separate[0].1, "{visits} visits beside {separate:?}");
    }
}

/// Visits to the points of a data set, on average.
fn visits(fits: &CurveFits) -> f64 {
    let all: f64 = fits.evaluations.iter().map(|&visits| f64::from(visits)).sum();
    all / fits.len() as f64
}
