//! One long data set, whose points threads share.

use fit_core::{Estimator, Status};
use fit_cpu::{CurveReference, CurveSimd, InstructionSet};
use fit_curves::{CurveFits, CurveLimits, CurveOptions, CurveStart, Curves, Points, Values};
use fit_formula::Formula;
use fit_sim::Random;
use fit_tests::curves::{Alike, Engine, decay, shared};
use fit_tests::effort;
use ndarray::{Array2, Array3};

const COUNT: usize = 70_003;

/// A peak over an offset, and a wave of so many points.
const PEAK: &str = "a*exp(-((x - m)/s)^2/2) + c";
const WAVE: &str = "a*sin(2*pi*x/t + p) + c";
const DECAY: &str = "a*exp(-x/t) + c";
const START: [f64; 3] = [8.0, 5.0, 0.5];

fn points(from: f64, to: f64) -> Array2<f64> {
    Array2::from_shape_fn((1, COUNT), |(_, i)| from + (to - from) * i as f64 / COUNT as f64)
}

fn noisy(seed: u64, x: &Array2<f64>, noise: f64, of: impl Fn(f64) -> f64) -> Array2<f64> {
    let mut random = Random::new(seed, 0);
    x.mapv(|x| of(x) + noise * random.normal())
}

/// Whether an instruction set has no packs of two numbers, so that long data are fitted number by number as the reference does.
fn interpreted(set: InstructionSet) -> bool {
    cfg!(target_arch = "x86_64") && set == InstructionSet::Portable
}

/// Instruction sets for long data. One whose packs hold two numbers fits them number by number as the reference does, once for each number of
/// threads, which takes most of the time: it is tried in CI, and otherwise where there is no other. `packs` proves it for a few of
/// them everywhere.
fn sets() -> Vec<InstructionSet> {
    let packs = |set: &InstructionSet| !interpreted(*set);
    let all: Vec<InstructionSet> = fit_tests::sets().collect();
    match all.iter().any(packs) && effort(0, 1, 1) == 0 {
        true => all.into_iter().filter(packs).collect(),
        false => all,
    }
}

/// Fits with the reference and, with several numbers of threads, with every instruction set. Bits must not depend on the number.
fn both(
    what: &str,
    formula: &str,
    curves: &Curves<'_>,
    start: &[f64],
    options: &CurveOptions,
    judge: impl Fn(&str, &CurveFits, &CurveFits),
) {
    let reference = CurveReference::new(0).expect("threads");
    let variables: &[&str] = if formula.contains('y') { &["x", "y"] } else { &["x"] };
    let formula = &Formula::of_variables(formula, variables).expect("a formula");
    let start = CurveStart::Shared(start);
    let wanted = reference.fit(formula, curves, start, options).expect("sound");
    for set in sets() {
        let fit = |threads: usize| {
            let simd = CurveSimd::new(threads, Some(set)).expect("available");
            simd.fit(formula, curves, start, options).expect("sound")
        };
        let alone = fit(1);
        judge(&format!("{what}, {set}"), &wanted, &alone);
        // What is fitted number by number has the same bits by nature: one more fit is enough.
        for &threads in if interpreted(set) { &[3][..] } else { &[2, 3] } {
            let found = fit(threads);
            let all = |of: &CurveFits| format!("{:?} {:?} {:?}", of.parameters, of.errors, of.chi2);
            assert_eq!(all(&alone), all(&found), "{what}, {set}, {threads} threads");
            assert_eq!(alone.evaluations, found.evaluations, "{what}, {set}, {threads} threads");
        }
    }
}

/// Within so many of the larger of error and value.
fn within(most: f64) -> impl Fn(&str, &CurveFits, &CurveFits) {
    let alike = Alike { parameters: most, or_itself: true, errors: 1e-5, ..Alike::ANYTHING };
    move |what, wanted, found| {
        assert!(wanted.statuses.iter().all(|status| status.is_converged()), "{what}");
        alike.check(what, wanted, found);
    }
}

/// With errors, χ² and covariances, too.
fn closely(what: &str, wanted: &CurveFits, found: &CurveFits) {
    within(1e-9)(what, wanted, found);
    let (errors, chi2, covariance) = (1e-6, [1e-6, 0.0], 1e-5);
    Alike { errors, chi2, covariance, ..Alike::ANYTHING }.check(what, wanted, found);
}

/// On limits: the same statuses, and parameters within this share of themselves.
fn limited(most: f64) -> impl Fn(&str, &CurveFits, &CurveFits) {
    move |what, wanted, found| {
        assert_eq!(wanted.statuses, found.statuses, "{what}");
        for (found, wanted) in found.parameters.iter().zip(&wanted.parameters) {
            assert!((found - wanted).abs() <= most * wanted.abs(), "{what}: {found} {wanted}");
        }
    }
}

/// Proves that images are long data too, by both estimators.
#[test]
fn long_images_end_where_the_reference_does() {
    let (width, height, mut random) = (301, 400, Random::new(3, 0));
    let image = Array2::from_shape_fn((2, width * height), |(_, i)| {
        let (x, y) = ((i % width) as f64, (i / width) as f64);
        let square = ((x - 140.0) / 31.0).powi(2) + ((y - 210.0) / 31.0).powi(2);
        (50.0 * (-0.5 * square).exp() + 4.0 + random.normal()).max(0.0) as f32
    });
    let curves = Curves::new(image.view(), Points::Grid { width, height });
    let spot = "a*exp(-((x - p)^2 + (y - q)^2)/(2*s^2)) + b";
    for estimator in [Estimator::LeastSquares, Estimator::MaximumLikelihood] {
        let options = CurveOptions::new(5).with_tolerance(1e-9).with_estimator(estimator);
        both("an image", spot, &curves, &[30.0, 120.0, 190.0, 20.0, 1.0], &options, closely);
    }
}

/// Proves that searches which begin with some of the points end where the reference does: far from 0, on a high level, with data and
/// parameters of any size, of any type, in any order of memory.
#[test]
fn long_data_end_where_the_reference_does() {
    let options = CurveOptions::new(3).with_tolerance(1e-9);
    let x = points(0.0, 30.0);
    let data = noisy(1, &x, 0.1, |x| 10.0 * (-x / 7.0).exp() + 1.0);
    both("plain", DECAY, &shared(&data, &x, None), &START, &options, within(1e-9));

    let high = data.mapv(|datum| datum + 1e7);
    both("high", DECAY, &shared(&high, &x, None), &[8.0, 5.0, 1e7], &options, within(1e-7));

    for size in [1e-25, 1e25, 1e-90, 1e90] {
        let (what, sized) = (format!("{size:e}"), data.mapv(|datum| datum * size));
        let start = [8.0 * size, 5.0, 0.5 * size];
        both(&what, DECAY, &shared(&sized, &x, None), &start, &options, within(1e-9));
    }

    // Every second number of an array, and single precision.
    let mut wide = Array2::zeros((1, 2 * COUNT));
    wide.slice_mut(ndarray::s![.., ..;2]).assign(&data);
    let curves =
        Curves::new(wide.slice(ndarray::s![.., ..;2]), Points::Shared(Values::from(x.view())));
    both("apart", DECAY, &curves, &START, &options, within(1e-9));
    let single = data.mapv(|datum| datum as f32);
    let curves = Curves::new(single.view(), Points::Shared(Values::from(x.view())));
    both("single", DECAY, &curves, &START, &options, within(1e-9));

    // Two data sets with points of their own, after 1970.
    let line = "a*x + b";
    let own =
        Array3::from_shape_fn((2, 1, COUNT), |(fit, _, i)| 1.7e9 + 100.0 * fit as f64 + i as f64);
    let mut random = Random::new(5, 0);
    let data = Array2::from_shape_fn((2, COUNT), |(fit, i)| {
        3e-3 * (own[[fit, 0, i]] - 1.7e9) + 5.0 + random.normal()
    });
    let curves = Curves::new(data.view(), Points::PerFit(Values::from(own.view())));
    let options = CurveOptions::new(2).with_tolerance(1e-9);
    both("dates", line, &curves, &[1.0, 0.0], &options, within(1e-9));
}

/// Proves that operations on variables alone are made anew in each part, with weights, limits and counts.
#[test]
fn parts_of_long_data_have_their_own_points() {
    let formula = "a*x^2/(x^2 + k^2) + b*log(x + 1)";
    let x = points(0.0, 50.0);
    let data = noisy(2, &x, 0.3, |x| {
        (20.0 * x * x / (x * x + 81.0) + 3.0 * (x + 1.0).ln()).max(0.0) + 1.0
    })
    .mapv(|datum| datum.max(0.0));
    let mut weights = x.mapv(|x| if x > 40.0 { 0.0 } else { 1.0 / (1.0 + x) });
    weights[[0, 5]] = f64::NAN;
    let start = [10.0, 5.0, 1.0];
    for estimator in [Estimator::LeastSquares, Estimator::MaximumLikelihood] {
        let curves = shared(&data, &x, Some(&weights));
        let options = CurveOptions::new(3).with_tolerance(1e-9).with_estimator(estimator);
        both(&format!("{estimator:?}"), formula, &curves, &start, &options, closely);
        let limits = vec![[0.0, 15.0], [0.0, 100.0], [-10.0, 10.0]];
        let options = options.with_limits(CurveLimits::Shared(limits));
        both("limits", formula, &curves, &start, &options, limited(1e-8));
    }
}

/// Proves that some of the points lead no search away from where all lead it: with points far out, near a minimum beside others, and from
/// a start whose first steps bring nothing.
#[test]
fn long_searches_end_in_the_same_minimum() {
    let options = CurveOptions::new(3).with_tolerance(1e-9);
    let wave = "a*sin(w*(x - 1700000000)) + c";
    let x = Array2::from_shape_fn((1, COUNT), |(_, i)| 1.7e9 + 0.01 * i as f64);
    let data = noisy(6, &x, 0.3, |x| 5.0 * (0.628 * (x - 1.7e9)).sin() + 2.0);
    let (curves, start) = (shared(&data, &x, None), [3.0, 0.6285, 1.0]);
    both("dates in a formula", wave, &curves, &start, &options, within(1e-8));

    let far = "a*sin(w*x + p)";
    let x = Array2::from_shape_fn((1, COUNT), |(_, i)| 1e8 * (i as f64 / COUNT as f64).powi(2));
    let data = noisy(7, &x, 0.3, |x| 5.0 * (2.5 * x + 0.3).sin());
    let start = [3.0, 2.5 + 1e-9, 0.1];
    both("a wave far out", far, &shared(&data, &x, None), &start, &options, within(1e-7));

    let two = "a*exp(-x/t) + b*exp(-x/u) + c";
    let x = points(0.0, 60.0);
    let data = noisy(8, &x, 0.05, |x| 6.0 * (-x / 2.0).exp() + 3.0 * (-x / 15.0).exp() + 1.0);
    let options = CurveOptions::new(5).with_tolerance(1e-9);
    for start in [[1.0, 0.3, 1.0, 40.0, 0.0], [1.0, 5.0, 1.0, 6.0, 0.0]] {
        both("two decays", two, &shared(&data, &x, None), &start, &options, within(1e-7));
    }
}

/// Proves that long data may have no noise, be as large as single precision cannot hold, or have something that is no number.
#[test]
fn long_data_of_any_kind() {
    let x = points(0.0, 30.0);
    let exact = x.mapv(|x| 10.0 * (-x / 7.0_f64).exp() + 1.0);
    let options = CurveOptions::new(3).with_tolerance(1e-9);
    both("exact", DECAY, &shared(&exact, &x, None), &START, &options, |what, _, found| {
        for (found, wanted) in found.parameters.iter().zip([10.0, 7.0, 1.0]) {
            assert!((found - wanted).abs() <= 1e-12 * wanted, "{what}: {found}, not {wanted}");
        }
    });
    let growth = "a*exp(b*x + 100)";
    let large = x.mapv(|x| (0.1 * x).exp());
    let data = noisy(3, &large, 0.01, |large| large);
    let options = CurveOptions::new(2).with_tolerance(1e-9);
    both("large", growth, &shared(&data, &x, None), &[1e-44, 0.05], &options, within(1e-9));
    let mut none = exact;
    none[[0, 69_999]] = f64::NAN;
    let options = CurveOptions::new(3);
    both("no number", DECAY, &shared(&none, &x, None), &START, &options, |what, wanted, found| {
        assert_eq!([wanted.statuses[0], found.statuses[0]], [Status::Invalid; 2], "{what}");
    });
}

/// Proves that some of the points lead near the minimum where they say what all say, so that all are seen two or three times, with waves
/// of every length among them.
#[test]
fn some_of_the_points_lead_near_the_minimum() {
    let few = |most: u32, off: f64| {
        let within = within(off);
        move |what: &str, wanted: &CurveFits, found: &CurveFits| {
            within(what, wanted, found);
            assert!(looks(what, found) <= most, "{what}: {} looks", looks(what, found));
        }
    };
    let x = points(0.0, 30.0);
    let data = noisy(10, &x, 0.1, |x| 10.0 * (-x / 7.0).exp() + 1.0);
    let curves = shared(&data, &x, None);
    let options = CurveOptions::new(3);
    both("decay", DECAY, &curves, &START, &options, few(3, 1e-4));
    let options = options.with_tolerance(1e-9);
    both("decay, 1e-9", DECAY, &curves, &START, &options, few(4, 1e-9));

    let x = Array2::from_shape_fn((1, COUNT), |(_, i)| i as f64);
    // The few points are 16 side by side of every 137 or so, in 32 parts.
    for length in [4.0, 15.9, 16.0, 17.0, 34.2, 68.4, 136.73, 140.0, 273.4, 4375.2] {
        let data = noisy(11, &x, 1.0, |x| 5.0 * (x / length * std::f64::consts::TAU + 0.3).sin());
        let start = [3.0, length * (1.0 + 0.2 * length / COUNT as f64), 0.0, 0.5];
        let options = CurveOptions::new(4).with_tolerance(1e-6);
        let what = format!("a wave of {length}");
        both(&what, WAVE, &shared(&data, &x, None), &start, &options, few(4, 1e-6));
    }
}

/// How often all points were looked at; packs of two numbers are not made where that is not promised.
fn looks(what: &str, found: &CurveFits) -> u32 {
    let interpreted = cfg!(target_arch = "x86_64") && what.ends_with("portable");
    if interpreted { 0 } else { found.evaluations[0] }
}

/// Checks that a fit found a minimum that is as low.
fn as_low(what: &str, wanted: &CurveFits, found: &CurveFits) {
    for (wanted, found) in wanted.chi2.iter().zip(&found.chi2) {
        assert!(*found <= wanted + 1.0, "{what}: χ² is {found}, not {wanted}");
    }
}

/// Proves that what few points tell is not lost among many: peaks of every width from starts near them, a glitch that outweighs all
/// else, and weights of a few points alone. Broad peaks are found by some of the points.
#[test]
fn what_few_points_tell_is_found() {
    let x = Array2::from_shape_fn((1, COUNT), |(_, i)| i as f64);
    let options = CurveOptions::new(4).with_tolerance(1e-9);
    for width in [2.0, 5.0, 12.0, 40.0, 150.0, 500.0, 2000.0, 9000.0] {
        let data =
            noisy(12, &x, 1.0, |x| 30.0 * (-0.5 * ((x - 43_210.3) / width).powi(2)).exp() + 2.0);
        let curves = shared(&data, &x, None);
        for [height, aside, wide] in [[0.5, 0.3, 1.5], [5.0, -0.5, 0.7], [2.0, 0.0, 1.0]] {
            let start = [30.0 * height, 43_210.3 + aside * width, wide * width, 0.0];
            let what = format!("a peak of {width} from {start:?}");
            both(&what, PEAK, &curves, &start, &options, within(1e-9));
            let roughly = CurveOptions::new(4);
            both(&what, PEAK, &curves, &start, &roughly, |what, wanted, found| {
                as_low(what, wanted, found);
                let looks = looks(what, found);
                assert!(width < 9000.0 || looks <= 3, "{what}: {looks} looks");
            });
        }
    }

    let x = points(0.0, 30.0);
    let mut data = noisy(13, &x, 0.1, |x| 10.0 * (-x / 7.0).exp() + 1.0);
    data.slice_mut(ndarray::s![.., 30_000..30_040]).fill(300.0);
    let options = CurveOptions::new(3).with_tolerance(1e-9);
    both("a glitch", DECAY, &shared(&data, &x, None), &START, &options, within(1e-8));

    let data = noisy(14, &x, 0.1, |x| 10.0 * (-x / 7.0).exp() + 1.0);
    for kept in [40, 700, 7000] {
        let is_kept = |i: usize| i % (COUNT / kept) == 5;
        let weights = Array2::from_shape_fn((1, COUNT), |(_, i)| f64::from(u8::from(is_kept(i))));
        let curves = shared(&data, &x, Some(&weights));
        let what = format!("weights at {kept} points");
        both(&what, DECAY, &curves, &START, &options, within(1e-8));
    }
}

/// Proves that a minimum which noise makes among some of the points keeps no search from what all points see: a narrow peak from starts that
/// are much wider, and waves so weak that some of the points do not see them.
#[test]
fn noise_among_some_of_the_points_is_none_of_all() {
    let x = Array2::from_shape_fn((1, COUNT), |(_, i)| i as f64);
    let options = CurveOptions::new(4);
    for (seed, (height, width)) in (20..).zip([(20.0, 10.0), (60.0, 2.0), (40.0, 4.0)]) {
        let data = noisy(seed, &x, 1.0, |x| {
            height * (-0.5 * ((x - 41_000.3) / width).powi(2)).exp() + 2.0
        });
        for wide in [300.0, 1000.0, 3000.0, 10_000.0] {
            for aside in [-0.5, -0.3, 0.3, 0.5] {
                let start = [1.0, 41_000.3 + aside * wide, wide, 0.0];
                let what = format!("a peak of {width} from {start:?}");
                both(&what, PEAK, &shared(&data, &x, None), &start, &options, as_low);
            }
        }
    }

    for seed in 30..40 {
        let data = noisy(seed, &x, 1.0, |x| 0.06 * (x / 900.0 * std::f64::consts::TAU + 0.3).sin());
        let start = [0.1, 900.0 * (1.0 + 0.5 * 900.0 / COUNT as f64), 0.0, 0.5];
        let what = format!("a weak wave, {seed}");
        both(&what, WAVE, &shared(&data, &x, None), &start, &options, as_low);
    }
}

/// Proves that a search of long data ends within its tolerance where the model does not fit, and takes no more steps than it may; and
/// that parameters may be fixed, amplitudes limited, and weights 1/variance.
#[test]
fn long_searches_keep_to_their_options() {
    let x = points(0.0, 60.0);
    for (seed, noise) in (50..).zip([0.02, 0.1, 0.5, 2.0]) {
        let data =
            noisy(seed, &x, noise, |x| 6.0 * (-x / 2.0).exp() + 3.0 * (-x / 15.0).exp() + 1.0);
        let curves = shared(&data, &x, None);
        let options = CurveOptions::new(3);
        let to_the_end = options.clone().with_tolerance(1e-9);
        let exact = Engine::reference().fit(&decay(), &curves, &START, &to_the_end);
        both(&format!("noise of {noise}"), DECAY, &curves, &START, &options, |what, _, found| {
            for ((found, wanted), error) in
                found.parameters.iter().zip(&exact.parameters).zip(&exact.errors)
            {
                let off = (found - wanted).abs() / error;
                assert!(off <= 2.0 * options.tolerance, "{what}: off by {off} standard errors");
            }
        });
        for most in 1..8 {
            let options = CurveOptions::new(3).with_max_iterations(most);
            both(&format!("{most} steps"), DECAY, &curves, &START, &options, |what, _, found| {
                assert!(found.iterations[0] <= most, "{what}: {} steps", found.iterations[0]);
            });
        }
        let options = to_the_end.with_fixed(1).with_lower(2, 2.0).with_absolute(true);
        both("fixed", DECAY, &curves, &[8.0, 5.0, 2.5], &options, limited(1e-9));
    }

    // The first is not found by some of its points, and the second is.
    let x = Array2::from_shape_fn((1, COUNT), |(_, i)| i as f64);
    let mut random = Random::new(60, 0);
    let data = Array2::from_shape_fn((2, COUNT), |(fit, i)| {
        let width = [10.0, 5000.0][fit];
        20.0 * (-0.5 * ((i as f64 - 41_000.0) / width).powi(2)).exp() + random.normal()
    });
    let (start, options) = ([15.0, 41_003.0, 12.0, 0.5], CurveOptions::new(4).with_tolerance(1e-9));
    both("two", PEAK, &shared(&data, &x, None), &start, &options, as_low);
}
