//! How far off fits with noise of other kinds are, by simulation: 10⁴ data sets of each with
//!
//! ```sh
//! SPOTFIT_NIGHTLY=1 SPOTFIT_SIMULATIONS=10000 cargo test --release -p fit-tests --test formulas noise_simulated:: -- --nocapture
//! ```

use fit_sim::Random;
use fit_tests::curves::{Curve, curve, row, shared, values};
use fit_tests::effort;
use ndarray::{Array2, s};
use spotfit::Backend;
use spotfit::model::{CurveFits, CurveFitter, CurveNoise, Loss, NoiseFits};

/// The data sets of tests that fit each many times.
pub(crate) const SETS: usize = 1000;

/// As many as `SPOTFIT_SIMULATIONS` says, if it says something.
fn asked() -> Option<usize> {
    let asked = std::env::var("SPOTFIT_SIMULATIONS").ok();
    asked.map(|sets| sets.parse().expect("SPOTFIT_SIMULATIONS is a number"))
}

/// Data sets that are fitted in lanes: the share of them whose errors hold the truth is known to 0.021, to 0.015 in all tests, and to
/// 0.005 in a night.
fn many() -> usize {
    effort(SETS / 2, SETS, 10_000)
}

/// The first data sets, which the reference fits too, number by number. What it finds is compared fit by fit, which
/// sees smaller faults of so few than their statistics would.
fn few() -> usize {
    effort(100, 200, SETS)
}

/// Checks that the reference finds what lanes found for the same data: parameters within a tenth of an error, and errors within a twentieth,
/// for nine of ten fits; others may have found another of several minima.
fn alike(what: &str, lanes: &CurveFits, reference: &CurveFits) {
    let near = |fit: &usize| {
        (0..reference.parameters.ncols()).all(|j| {
            let [a, b] =
                [lanes, reference].map(|of| (of.parameters[[*fit, j]], of.errors[[*fit, j]]));
            (a.0 - b.0).abs() <= 0.1 * b.1 && (a.1 / b.1 - 1.0).abs() <= 0.05
        })
    };
    let same = (0..reference.len()).filter(near).count();
    assert!(10 * same >= 9 * reference.len(), "{what}: {same} of {}", reference.len());
}

pub(crate) const MODELS: [Curve; 6] = [
    curve("a + b*x", &[1.0, 0.5], 30, [0.0, 29.0], 0.5),
    curve("a*exp(-x/t) + c", &[10.0, 7.0, 1.0], 40, [0.0, 39.0], 0.2),
    curve("a*exp(-(x - x0)^2/(2*s^2)) + b", &[5.0, 20.0, 4.0, 1.0], 40, [0.0, 39.0], 0.2),
    curve("d + (a - d)/(1 + (x/c)^b)", &[9.0, 1.0, 5.0, 1.5], 50, [0.2, 25.0], 0.15),
    curve("v*x/(k + x)", &[8.0, 3.0], 30, [0.5, 20.0], 0.2),
    curve("a/(1 + exp(-(x - x0)/w)) + b", &[4.0, 15.0, 2.0, 0.5], 40, [0.0, 30.0], 0.15),
];

fn fit_curve(
    case: &Curve,
    data: &Array2<f64>,
    weights: Option<&Array2<f64>>,
    noise: &CurveNoise<'_>,
    backend: Backend,
) -> NoiseFits {
    let (model, x) = (case.model(), row(&case.x()));
    let curves = shared(data, &x, weights);
    let fitter = CurveFitter::new(backend, 0).expect("a fitter");
    let options = model.options().with_covariance(false);
    let start = case.start();
    model.fit_noise(&fitter, &curves, start[..].into(), &options, noise).expect("fits")
}

/// Root mean squares of the deviation of each parameter, of those fits for which all of them found something.
fn rms(case: &Curve, of: &[&CurveFits]) -> Vec<Vec<f64>> {
    rms_without(case, of, &[])
}

/// The same without some.
fn rms_without(case: &Curve, of: &[&CurveFits], without: &[bool]) -> Vec<Vec<f64>> {
    let is_used =
        |fit: &usize| without.get(*fit) != Some(&true) && of.iter().all(|fits| fits.is_found(*fit));
    let used: Vec<usize> = (0..of[0].len()).filter(is_used).collect();
    assert!(used.len() as f64 > 0.98 * of[0].len() as f64, "{}: {}", case.formula, used.len());
    let rms = |fits: &CurveFits, j: usize| {
        let square = |fit: &usize| (fits.parameters[[*fit, j]] - case.truth[j]).powi(2);
        (used.iter().map(square).sum::<f64>() / used.len() as f64).sqrt()
    };
    let all = |fits: &&CurveFits| (0..case.truth.len()).map(|j| rms(fits, j)).collect();
    of.iter().map(all).collect()
}

/// The size of the deviation of each parameter that 68 % of all fits do not exceed.
fn usual(case: &Curve, of: &[&CurveFits]) -> Vec<Vec<f64>> {
    let usual = |fits: &CurveFits, j: usize| {
        let size = |fit| (fits.parameters[[fit, j]] - case.truth[j]).abs();
        let mut sizes: Vec<f64> = (0..fits.len()).map(size).collect();
        sizes.sort_by(f64::total_cmp);
        sizes[fits.len() * 68 / 100]
    };
    let all = |fits: &&CurveFits| (0..case.truth.len()).map(|j| usual(fits, j)).collect();
    of.iter().map(all).collect()
}

/// Which fits ended far from that of the good points alone at a lower loss than its, and the share of those that did at a higher one.
fn losses(
    case: &Curve,
    data: &Array2<f64>,
    plain: &CurveFits,
    found: &NoiseFits,
) -> (Vec<bool>, f64) {
    let (model, x) = (case.model(), case.x());
    let cost = |fits: &CurveFits, fit: usize| {
        let values = values(&model, &fits.parameters.row(fit).to_vec(), &x);
        let scale = found.scales[fit].min(case.noise);
        let left = values.iter().zip(data.row(fit)).map(|(value, datum)| datum - value);
        left.map(|left| Loss::Tukey.cost(left / scale)).sum::<f64>()
    };
    let (mut lower, mut higher) = (vec![false; plain.len()], 0);
    for fit in 0..plain.len() {
        let above = cost(&found.fits.fits, fit) - cost(plain, fit);
        let is_far = (0..case.truth.len()).any(|j| {
            let away = found.fits.fits.parameters[[fit, j]] - plain.parameters[[fit, j]];
            away.abs() > 3.0 * plain.errors[[fit, j]]
        });
        lower[fit] = is_far && above < 0.0;
        higher += usize::from(is_far && above > 1.0);
    }
    (lower, higher as f64 / plain.len() as f64)
}

/// A dose response at doses that tell its plateaus.
const DOSES: Curve = Curve { range: [0.05, 500.0], ..MODELS[3].by_factors() };

/// Proves that Tukey's loss with a fifth of outliers errs at most 1.1 times as much as least squares of the good points alone. Outliers that look
/// like good points cannot be told from them. Where another curve has a lower loss than the right one, no search can tell.
///
/// A dose response at doses in equal steps up to five times its middle has few points that tell its plateaus; where some of them are outliers,
/// another curve has a lower loss often. There the typical error is judged, what holds 68 %, and
/// that the lowest loss was found.
#[test]
fn a_fifth_of_outliers() {
    let sets = asked().unwrap_or(SETS);
    let backend = Backend::Cpu;
    let mut wrong = Vec::new();
    let [line, decay, peak, dose] = [0, 1, 2, 3].map(|at| &MODELS[at]);
    // Each of the others tells of a kind of data what its neighbour in this list does.
    let is_whole = asked().is_some() || effort(0, 1, 1) > 0;
    for (seed, case) in (1..).zip([line, decay, peak, dose, &DOSES]) {
        for (sizes, most) in [([8.0, 30.0], 1.1), ([0.0, 30.0], f64::INFINITY)] {
            if !is_whole && (most.is_infinite() || std::ptr::eq(case, dose)) {
                continue;
            }
            let (data, good) = case.data_of(sets, case.points / 5, sizes, seed);
            let plain =
                fit_curve(case, &data, Some(&good), &CurveNoise::default(), backend).fits.fits;
            let tukey = CurveNoise::default().with_loss(Loss::Tukey).with_outlier_rate(0.01);
            let found = fit_curve(case, &data, None, &tukey, backend);
            if asked().is_none() {
                let some = data.slice(s![..few(), ..]).to_owned();
                let reference = fit_curve(case, &some, None, &tukey, Backend::Reference);
                let what = format!("{} {:?} {sizes:?}", case.formula, case.range);
                alike(&what, &found.fits.fits, &reference.fits.fits);
            }
            let is_none = |place: &(usize, usize)| good[*place] > 0.0;
            let listed: Vec<_> = found.outliers.iter().map(|of| (of.fit, of.point)).collect();
            let none = listed.iter().filter(|place| is_none(place)).count();
            let share = none as f64 / listed.len().max(1) as f64;
            let found_of = (listed.len() - none) as f64 / (sets * (case.points / 5)) as f64;
            let pair = [&plain, &found.fits.fits];
            let (lower, higher) = losses(case, &data, &plain, &found);
            let beside = |all: Vec<Vec<f64>>| -> Vec<f64> {
                all[1].iter().zip(&all[0]).map(|(a, b)| a / b).collect()
            };
            let [all, others, typical] =
                [rms(case, &pair), rms_without(case, &pair, &lower), usual(case, &pair)]
                    .map(beside);
            let outbid = lower.iter().filter(|lower| **lower).count() as f64 / sets as f64;
            println!(
                "{backend:?} {} {:?} {sizes:?}: rms {all:.3?}, another curve has a lower loss {outbid:.4}, rms without these {others:.3?}, of 68 % {typical:.3?}, \
                 a higher loss {higher:.4}, listed {found_of:.3}, of these none {share:.4}",
                case.formula, case.range
            );
            let judged = if std::ptr::eq(case, dose) { &typical } else { &all };
            if !judged.iter().all(|ratio| *ratio <= most) || higher > 0.01 {
                wrong.push((case.formula, all, higher));
            }
            assert!(share < 0.01, "{share}");
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Proves that the errors of clean data hold the truth as often as they say, and that losses cost no more than their 5 %.
#[test]
fn clean_data() {
    let (count, backend) = (many(), Backend::Cpu);
    for (seed, case) in (20..).zip(&MODELS) {
        let (data, _) = case.data_of(count, 0, [0.0; 2], seed);
        let some = data.slice(s![..few(), ..]).to_owned();
        let plain = fit_curve(case, &data, None, &CurveNoise::default(), backend).fits.fits;
        for loss in Loss::ALL {
            let noise = CurveNoise::default().with_loss(loss).with_outlier_rate(0.01);
            let found = fit_curve(case, &data, None, &noise, backend);
            let fits = &found.fits.fits;
            let reference = fit_curve(case, &some, None, &noise, Backend::Reference).fits.fits;
            alike(&format!("{} {}", case.formula, loss.name()), fits, &reference);
            let [coverage, of_few] = [fits, &reference].map(|fits| -> Vec<f64> {
                let inside = |j: usize| {
                    let is_inside = |fit: &usize| {
                        (fits.parameters[[*fit, j]] - case.truth[j]).abs() <= fits.errors[[*fit, j]]
                    };
                    (0..fits.len()).filter(is_inside).count() as f64 / fits.len() as f64
                };
                (0..case.truth.len()).map(inside).collect()
            });
            let both = rms(case, &[&plain, fits]);
            let ratios: Vec<f64> = both[1].iter().zip(&both[0]).map(|(a, b)| a / b).collect();
            let scale = found.scales.iter().sum::<f64>() / count as f64 / case.noise;
            let mut listed: Vec<usize> = found.outliers.iter().map(|outlier| outlier.fit).collect();
            listed.dedup();
            let listed = listed.len() as f64 / count as f64;
            let rounds = fits.iterations.iter().sum::<u32>() as f64 / count as f64;
            println!(
                "{backend:?} {} {}: inside {coverage:.3?} (of few by the reference {of_few:.3?}), rms {ratios:.3?}, scale {scale:.3}, listed {listed:.4}, steps {rounds:.1}",
                case.formula,
                loss.name()
            );
            // 3.4 times as far from 0.68 as the share is known, or four times in a night.
            let range = match count {
                ..SETS => 0.61..=0.75,
                SETS => 0.63..=0.73,
                _ => 0.66..=0.70,
            };
            assert!(coverage.iter().all(|share| range.contains(share)), "{coverage:?}");
            let near = |share: &f64| (0.63..=0.73).contains(share);
            assert!(few() < SETS || of_few.iter().all(near), "{of_few:?}");
            assert!(ratios.iter().all(|ratio| *ratio < 1.08), "{ratios:?}");
        }
    }
}

/// Proves that fits of successes among trials are as far off as they say, at the bound of Cramér and Rao.
#[test]
fn successes() {
    const GUESSED: &str = "g + (1 - g - l)/(1 + exp(-(x - m)/w))";
    let case = curve(GUESSED, &[0.05, 0.05, 0.5, 0.8], 25, [-4.0, 5.0], 0.0);
    let logistic = Curve { formula: "1/(1 + exp(-(x - m)/w))", truth: &[0.5, 0.8], ..case };
    for (case, trials) in [(&case, 200.0), (&logistic, 20.0)] {
        let mut random = Random::new(5, 5);
        let values = case.values();
        let count = many();
        let data = Array2::from_shape_fn((count, case.points), |(_, at)| {
            (0..trials as usize).filter(|_| random.uniform() < values[at]).count() as f64
        });
        let trials = Array2::from_elem((1, case.points), trials);
        let noise = CurveNoise::default().with_trials(trials.view());
        let found = fit_curve(case, &data, None, &noise, Backend::Reference);
        let fits = &found.fits.fits;
        let found = rms(case, &[fits]);
        let degrees = f64::from(fits.degrees[0]);
        let deviance = fits.chi2.iter().sum::<f64>() / count as f64 / degrees;
        for j in 0..case.truth.len() {
            let square = |fit: usize| fits.errors[[fit, j]].powi(2);
            let stated = ((0..count).map(square).sum::<f64>() / count as f64).sqrt();
            let ratio = found[0][j] / stated;
            println!("{} {j}: rms over stated {ratio:.3}, deviance {deviance:.3}", case.formula);
            // Of 500 numbers the rms is known to 1/√1000, of 10⁴ to 0.007.
            let most = if count > SETS { 0.04 } else { 0.1 };
            assert!((ratio - 1.0).abs() < most, "{ratio}");
        }
    }
}
