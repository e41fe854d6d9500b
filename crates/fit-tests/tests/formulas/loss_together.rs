//! What is known of data sets that share parameters: with a loss, intervals, and comparisons, by simulation.

use fit_sim::Random;
use fit_tests::curves::with_outliers;
use ndarray::{Array2, s};
use spotfit::Backend;
use spotfit::model::answers::{AnswerColumn, ComparedModel, FitAnswers};
use spotfit::model::{
    CurveFitter, CurveNoise, CurveOptions, CurveStart, Curves, Loss, LossScale, Model, Points,
    SharedNoiseFits, Sharing,
};

use crate::loss_answers::numbers;
use crate::noise::decay;

/// Groups of data sets, each of which shares something.
const GROUPS: usize = 250;
/// The first of them, which the reference fits too, number by number.
const FEW: usize = 40;
const EACH: usize = 4;
const POINTS: usize = 30;

fn groups(count: usize) -> Vec<usize> {
    (0..count * EACH).map(|fit| fit / EACH).collect()
}

/// Decays with a constant that each group shares, of which so many points in each are outliers: data and the weights of good points.
fn decays(outliers: usize, seed: u64) -> (Array2<f64>, Array2<f64>) {
    let mut random = Random::new(seed, 2);
    let mut data = Array2::from_shape_fn((GROUPS * EACH, POINTS), |(fit, x)| {
        amplitude(fit) * (-(x as f64) / 7.0).exp() + 1.0 + 0.2 * random.normal()
    });
    let good = with_outliers(&mut data, outliers, [1.6, 6.0], &mut random);
    (data, good)
}

fn amplitude(fit: usize) -> f64 {
    8.0 + (fit % EACH) as f64
}

fn fitter(backend: Backend) -> CurveFitter {
    CurveFitter::new(backend, 0).expect("threads")
}

fn fit(backend: Backend, curves: &Curves<'_>, noise: &CurveNoise<'_>) -> SharedNoiseFits {
    let model = decay();
    let sharing = Sharing::default().with_groups(1, groups(curves.count() / EACH));
    let start = CurveStart::Shared(&[8.0, 6.0, 0.5]);
    let options = model.options().with_covariance(false);
    let found = model.fit_shared_noise(&fitter(backend), curves, start, &options, &sharing, noise);
    found.expect("fits")
}

fn rms(of: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = of.fold((0.0, 0), |(sum, count), own| (sum + own * own, count + 1));
    (sum / f64::from(count)).sqrt()
}

/// Proves that a loss of data sets that share a constant errs at most 1.1 times as much as the fit of the good points alone, that its errors are what
/// they say, of what is shared and of what is not, that outliers are listed, and that the reference finds the same group by group.
#[test]
fn a_loss_of_data_sets_that_share() {
    let backend = Backend::Cpu;
    for (loss, outliers) in [(Loss::Tukey, 5), (Loss::Huber, 0), (Loss::Cauchy, 0)] {
        let (data, good) = decays(outliers, 7);
        let curves = Curves::new(data.view(), Points::Index);
        let noise = CurveNoise::default().with_loss(loss).with_outlier_rate(0.01);
        let found = fit(backend, &curves, &noise);
        let plain = fit(backend, &curves.with_weights(good.view()), &CurveNoise::default());
        let of = |fits: &SharedNoiseFits| {
            let shared = rms(fits.fits.of("t").map(|own| own.value - 7.0));
            let all = &fits.fits.shared.fits;
            let own = rms((0..all.len()).map(|fit| all.parameters[[fit, 0]] - amplitude(fit)));
            [shared, own]
        };
        let (ours, best) = (of(&found), of(&plain));
        let stated = [
            rms(found.fits.of("t").map(|own| own.error)),
            rms(found.fits.shared.fits.errors.column(0).iter().copied()),
        ];
        let share =
            found.outliers.len() as f64 / good.iter().filter(|w| **w == 0.0).count().max(1) as f64;
        println!("{backend:?} {}: {ours:?} {best:?} stated {stated:?} listed {share}", loss.name());
        for (own, (best, stated)) in ours.iter().zip(best.iter().zip(&stated)) {
            assert!(own / best < 1.1, "{own} {best}");
            assert!((own / stated - 1.0).abs() < 0.12, "{own} {stated}");
        }
        assert!(outliers == 0 || (0.95..1.03).contains(&share), "{share}");
        // Compared group by group, few see smaller faults than their statistics would.
        let some = data.slice(s![..FEW * EACH, ..]);
        let reference = fit(Backend::Reference, &Curves::new(some, Points::Index), &noise);
        let near = |(value, error): (f64, f64), (wanted, of_it): (f64, f64)| {
            (value - wanted).abs() <= 0.1 * of_it && (error / of_it - 1.0).abs() <= 0.05
        };
        let shared = |of: &SharedNoiseFits| -> Vec<(f64, f64)> {
            of.fits.of("t").map(|own| (own.value, own.error)).collect()
        };
        let own = |of: &SharedNoiseFits| -> Vec<(f64, f64)> {
            let fits = &of.fits.shared.fits;
            fits.parameters
                .column(0)
                .into_iter()
                .copied()
                .zip(fits.errors.column(0).to_vec())
                .collect()
        };
        for [found, wanted] in [[&found, &reference].map(shared), [&found, &reference].map(own)] {
            let near =
                found.iter().zip(&wanted).filter(|(own, wanted)| near(**own, **wanted)).count();
            assert!(10 * near >= 9 * wanted.len(), "{}: {near} of {}", loss.name(), wanted.len());
        }
    }
}

/// Proves that a loss whose scale is so large that all cost their squares is none.
#[test]
fn a_wide_loss_is_none() {
    let (data, _) = decays(0, 8);
    let curves = Curves::new(data.view(), Points::Index);
    let wide = CurveNoise::default().with_loss(Loss::Huber).with_scale(LossScale::Held(1e4));
    let backend = Backend::Cpu;
    let [found, plain] = [wide, CurveNoise::default()].map(|noise| fit(backend, &curves, &noise));
    for (own, wanted) in found.fits.of("t").zip(plain.fits.of("t")) {
        assert!((own.value / wanted.value - 1.0).abs() < 1e-6, "{own:?} {wanted:?}");
        assert!((own.error / wanted.error - 1.0).abs() < 1e-3, "{own:?} {wanted:?}");
    }
    let [found, plain] = [found, plain].map(|found| found.fits.shared);
    for (own, wanted) in found.parts.iter().zip(&plain.parts) {
        assert!((own.chi2 / wanted.chi2 - 1.0).abs() < 1e-6 && own.degrees == wanted.degrees);
    }
    for (own, wanted) in found.fits.errors.iter().zip(&plain.fits.errors) {
        assert!((own / wanted - 1.0).abs() < 1e-3, "{own} {wanted}");
    }
}

/// Fits that share, and answers.
fn answers(
    model: &Model,
    curves: &Curves<'_>,
    start: &[f64],
    options: &CurveOptions,
    sharing: &Sharing,
    asked: &FitAnswers,
) -> (spotfit::model::NoiseFits, Vec<AnswerColumn>) {
    let (fitter, noise) = (fitter(Backend::Cpu), CurveNoise::default());
    let start = CurveStart::Shared(start);
    let found = model.fit_shared_noise(&fitter, curves, start, options, sharing, &noise);
    let found = found.expect("fits").into_fits();
    let columns = asked.columns(model, &fitter, curves, &found, options, sharing);
    (found, columns.expect("answers"))
}

/// Proves that intervals of lines that share their slope are errors times a quantile wide, of what is shared and of what is not; and that a shared constant's and its data sets' own intervals hold the truth as often as they say.
#[test]
fn intervals_of_data_sets_that_share() {
    let mut random = Random::new(9, 3);
    let data = Array2::from_shape_fn((12, 10), |(fit, x)| {
        fit as f64 + 0.5 * x as f64 + 0.3 * random.normal()
    });
    let weights = Array2::<f64>::ones((1, 10));
    let curves = Curves::new(data.view(), Points::Index).with_weights(weights.view());
    let line = Model::of_variables("b + m*x", &["x"]).expect("a formula");
    let asked = FitAnswers::default().with_intervals(Some(0.68));
    let by_group = Sharing::default().with_groups(1, (0..12).map(|fit| fit / 4).collect());
    for (sharing, absolute) in [
        (Sharing::default().with_shared(1), false),
        (by_group, false),
        (Sharing::default().with_shared(1), true),
    ] {
        let options = line.options().with_absolute(absolute);
        let (found, columns) = answers(&line, &curves, &[0.0, 1.0], &options, &sharing, &asked);
        let fits = &found.fits.fits;
        for (j, name) in ["b", "m"].iter().enumerate() {
            let [low, high] =
                ["low", "high"].map(|end| numbers(&columns, &format!("{name}_{end}")));
            for fit in 0..12 {
                let (value, error) = (fits.parameters[[fit, j]], fits.errors[[fit, j]]);
                let wide = (high[fit] - low[fit]) / 2.0 / error;
                let middle = (high[fit] + low[fit]) / 2.0;
                // Student's quantiles of 27 to 107 degrees of freedom are up to 1.02.
                assert!((0.99..1.025).contains(&wide), "{sharing:?} {name}: {wide}");
                assert!((middle - value).abs() < 1e-3 * error, "{name}: {middle} {value}");
            }
        }
    }
    let (data, _) = decays(0, 10);
    let curves = Curves::new(data.view(), Points::Index);
    let sharing = Sharing::default().with_groups(1, groups(GROUPS));
    let options = decay().options();
    let (_, columns) = answers(&decay(), &curves, &[8.0, 6.0, 0.5], &options, &sharing, &asked);
    let inside = |name: &str, truth: &dyn Fn(usize) -> f64, every: usize| {
        let [low, high] = ["low", "high"].map(|end| numbers(&columns, &format!("{name}_{end}")));
        let all = (0..low.len()).step_by(every);
        let held = all.clone().filter(|&fit| low[fit] <= truth(fit) && truth(fit) <= high[fit]);
        held.count() as f64 / all.count() as f64
    };
    let shares =
        [inside("t", &|_| 7.0, EACH), inside("a", &amplitude, 1), inside("c", &|_| 1.0, 1)];
    println!("inside {shares:.3?}");
    for (share, count) in shares.iter().zip([GROUPS, GROUPS * EACH, GROUPS * EACH]) {
        let spread = 4.0 * (0.68 * 0.32 / count as f64).sqrt();
        assert!((share - 0.68).abs() < spread, "{shares:?}");
    }
}

/// Proves that a comparison of data sets that share is one of all of them: small p-values are as frequent as they say, and the same for each group.
#[test]
fn comparisons_of_data_sets_that_share() {
    let mut random = Random::new(11, 3);
    let data = Array2::from_shape_fn((GROUPS * EACH, 8), |(fit, x)| {
        fit as f64 + 0.5 * x as f64 + 0.3 * random.normal()
    });
    let curves = Curves::new(data.view(), Points::Index);
    let line = Model::of_variables("b + m*x", &["x"]).expect("a formula");
    let parabola = Model::of_variables("b + m*x + q*x^2", &["x"]).expect("a formula");
    let other = ComparedModel::new(parabola, Some(vec![0.0, 1.0, 0.0]));
    let asked = FitAnswers::default().with_compare(Some(Box::new(other)));
    let sharing = Sharing::default().with_groups(1, groups(GROUPS));
    let options = line.options();
    let (_, columns) = answers(&line, &curves, &[0.0, 1.0], &options, &sharing, &asked);
    let p = numbers(&columns, "compare_p_value");
    assert!(p.chunks(EACH).all(|group| group.iter().all(|own| *own == group[0])));
    let few = p.iter().step_by(EACH).filter(|p| **p < 0.2).count() as f64 / GROUPS as f64;
    println!("{few} below 0.2");
    assert!((few - 0.2).abs() < 4.0 * (0.2 * 0.8 / GROUPS as f64).sqrt(), "{few}");
}
