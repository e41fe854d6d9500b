//! Where searches for starts find what there is: whatever x and y are written as, and up to which frequencies.
//!
//! ```sh
//! cargo test -p fit-tests --test formulas starts:: -- --nocapture
//! ```

use std::f64::consts::{PI, TAU};

use fit_sim::Random;
use fit_tests::curves::{Curve, curve, model as formula, row, shared, values};
use fit_tests::effort;
use spotfit::Backend;
use spotfit::model::{CurveFitter, CurveOptions, CurveStart, Model, ModelFits};

fn fitted(model: &Model, x: &[f64], y: &[f64]) -> ModelFits {
    let options = model.options().with_max_iterations(400);
    fitted_with(model, Backend::Reference, (x, y, None), &options)
}

/// The size of a parameter that the reference finds.
fn size_of(name: &str, model: &Model, x: &[f64], y: &[f64]) -> f64 {
    fitted(model, x, y).of(name).expect(name)[0].abs()
}

fn sine() -> Model {
    Model::named("sine").expect("a model")
}

fn fitted_with(
    model: &Model,
    backend: Backend,
    (x, y, weights): (&[f64], &[f64], Option<&[f64]>),
    options: &CurveOptions,
) -> ModelFits {
    let (x, y, weights) = (row(x), row(y), weights.map(row));
    let curves = shared(&y, &x, weights.as_ref());
    let fitter = CurveFitter::new(backend, 1).expect("a thread");
    model.fit_with(&fitter, &curves, CurveStart::Estimate, options).expect("fits")
}

const PEAKS: &str = "a1*exp(-(X - x1)^2/(2*s1^2)) + a2*exp(-(X - x2)^2/(2*s2^2)) + a3*exp(-(X - x3)^2/(2*s3^2)) + b + m*X";
const THREE: &[f64] = &[8.0, 517.0, 2.0, 7.0, 548.0, 3.0, 6.0, 577.0, 4.0, -8.0, 0.02];
const STEP: &str = "a/(1 + exp(-(X - m)/w)) + b + c*X";
const DAMPED: &str = "a*exp(-X/t)*cos(2*pi*X/p + q) + c";

/// Formulas of X, with their true parameters in the order of the formula.
const CASES: [Curve; 8] = [
    curve(PEAKS, THREE, 120, [500.0, 600.0], 0.1),
    curve("a*exp(-X/t) + c", &[5.0, 2.0, 1.0], 30, [0.0, 10.0], 0.1),
    curve("top*X^n/(k^n + X^n)", &[3.0, 2.0, 4.0], 25, [0.1, 20.0], 0.05),
    curve(STEP, &[5.0, -12.0, 1.5, 1.0, 0.05], 40, [-30.0, 10.0], 0.1),
    curve("(a + b*X)/(1 + p*X + q*X^2)", &[1.0, 4.0, 0.1, 0.2], 40, [0.0, 10.0], 0.02),
    curve("exp(-b*X)/(c + d*X)", &[0.2, 0.3, 0.5], 40, [0.5, 6.0], 0.01),
    curve("a*voigt(X - m, s, g) + b", &[30.0, 9.0, 1.0, 0.7, 2.0], 50, [0.0, 20.0], 0.1),
    curve(DAMPED, &[5.0, 6.0, 0.8, 0.6, 1.0], 80, [0.0, 16.0], 0.2),
];

/// What stands in the place of x: (x − shift)/scale; and what the value is added to and multiplied by.
const UNITS: &[([f64; 2], [f64; 2])] = &[
    ([550.0, 1.0], [0.0, 1.0]),
    ([-1200.0, 1000.0], [0.0, 1.0]),
    ([0.0, 1e-9], [3e5, 2e-4]),
    ([7.0, 60.0], [-40.0, 1e6]),
];

/// Proves that formulas find with a shifted, scaled x and y what they find with the plain ones.
#[test]
fn units_in_a_formula_change_nothing() {
    let mut missed = Vec::new();
    for (number, case) in CASES.iter().enumerate() {
        let plain = formula(&case.formula.replace('X', "x"));
        let mut random = Random::new(81, number as u64);
        let x = case.x();
        let values = values(&plain, case.truth, &x);
        let y: Vec<f64> = values.iter().map(|value| value + case.noise * random.normal()).collect();
        let wanted = case.noise.powi(2) * case.points as f64 * 1.5;
        let own = fitted(&plain, &x, &y).fits.chi2[0];
        assert!(own < wanted, "{}: {own}", case.formula);
        for ([shift, scale], [level, factor]) in UNITS {
            let shifted = case.formula.replace('X', &format!("((x - ({shift:?}))/{scale:?})"));
            let text = format!("{level:?} + {factor:?}*({shifted})");
            let x: Vec<f64> = x.iter().map(|x| x * scale + shift).collect();
            let y: Vec<f64> = y.iter().map(|y| level + factor * y).collect();
            let chi2 = fitted(&formula(&text), &x, &y).fits.chi2[0];
            let chi2 = chi2 / factor.powi(2);
            if chi2 > 1.001 * own {
                missed.push(format!("{text}: {chi2} and not {own}"));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Proves that three peaks are found over a line that is written with a constant, wherever they are over one that is not.
#[test]
fn peaks_are_found_over_any_line() {
    let case = &CASES[0];
    let x: Vec<f64> = (0..200).map(|i| 500.0 + 0.5 * f64::from(i)).collect();
    for seed in 0..5 {
        let mut random = Random::new(82, seed);
        let mut truth = case.truth.to_vec();
        for place in [1, 4, 7] {
            truth[place] += random.uniform_in(-5.0, 5.0);
        }
        let values = values(&formula(&case.formula.replace('X', "x")), &truth, &x);
        let y: Vec<f64> = values.iter().map(|value| value + 0.1 * random.normal()).collect();
        for line in ["b + m*x", "b + m*(x - 550)", "b + m*(x - 0.5)/1e4", "b - m*(600 - x)"] {
            let text = case.formula.replace("b + m*X", line).replace('X', "x");
            let found = fitted(&formula(&text), &x, &y).fits.chi2[0];
            assert!(found < 0.01 * 200.0 * 1.3, "{line}, {seed}: {found}");
        }
    }
}

/// Sines at uneven places, of so many radians per unit.
fn uneven(frequency: f64, seed: u64, wave: impl Fn(f64) -> f64) -> (Vec<f64>, Vec<f64>) {
    let mut random = Random::new(83 + (1000.0 * frequency) as u64, seed);
    let mut x: Vec<f64> = (0..60).map(|_| random.uniform_in(0.0, 10.0)).collect();
    x.sort_by(f64::total_cmp);
    let phase = random.uniform_in(0.0, 6.0);
    let y = x.iter().map(|x| wave(frequency * x + phase) + 0.25 * random.normal()).collect();
    (x, y)
}

const FREQUENCIES: [f64; 6] = [18.0, 22.0, 25.0, 30.0, 37.0, 55.0];

/// Proves that frequencies far above half the inverse of the mean distance are found at uneven points, by the model and by formulas in which they
/// are a frequency or a period, on both backends.
#[test]
fn uneven_points_tell_high_frequencies() {
    // What turns the wave, and how fast.
    type Text = (&'static str, &'static str, fn(f64) -> f64);
    let texts: [Text; 4] = [
        ("a*sin(w*x + p) + c", "w", |w| w),
        ("a*cos(2*pi*f*(x - d)) + c", "f", |f| TAU * f),
        ("a*sin(2*pi*x/T) + b*cos(2*pi*x/T) + c + d*x", "T", |period| TAU / period),
        ("a*sin(sqrt(k)*x + p) + c", "k", |k| k.abs().sqrt()),
    ];
    for frequency in FREQUENCIES {
        let all = effort(20, 20, 200) as u64;
        let mut found = 0;
        for seed in 0..all {
            let (x, y) = uneven(frequency, seed, |angle| 3.0 * angle.sin() + 1.0);
            let backend = if seed % 2 == 0 { Backend::Reference } else { Backend::Cpu };
            let fit = |model: &Model| {
                let options = model.options().with_max_iterations(400);
                fitted_with(model, backend, (&x, &y, None), &options)
            };
            let own = fit(&sine()).of("w").expect("w")[0].abs();
            assert!((own - frequency).abs() < 0.1, "{frequency}, {seed}: {own}");
            let few = effort(2, 20, 200) as u64;
            for (text, name, of) in &texts[..if seed < few { 4 } else { 0 }] {
                let own = of(fit(&formula(text)).of(name).expect("it")[0]).abs();
                found += u64::from((own - frequency).abs() < 0.1);
            }
        }
        // 19 of 20; of the few by day, all but one.
        let tried = 4 * effort(2, 20, 200) as u64;
        println!("{frequency}: {all} of {all} sines, {found} of {tried} formulas");
        assert!(tried - found <= (tried / 20).max(1), "{frequency}: {found} of {tried}");
    }
}

/// Proves that weights count: points of none, and points of little, hold another wave.
#[test]
fn spectra_take_weights() {
    for seed in 0..5 {
        let (x, mut y) = uneven(25.0, seed, |angle| 3.0 * angle.sin() + 1.0);
        let mut weights = vec![1.0; x.len()];
        for i in (0..x.len()).filter(|i| i % 2 == 0) {
            y[i] = 40.0 * (7.0 * x[i]).sin();
            weights[i] = if i % 4 == 0 { 0.0 } else { 1e-4 };
        }
        let (sine, given) = (sine(), (&x[..], &y[..], Some(&weights[..])));
        let fits =
            fitted_with(&sine, Backend::Reference, given, &sine.options().with_max_iterations(400));
        let own = fits.of("w").expect("w")[0];
        assert!((own.abs() - 25.0).abs() < 0.1, "{seed}: {own}");
    }
}

/// Proves that of the frequencies that an even grid cannot tell apart the lowest is answered, with and without gaps in it.
#[test]
fn even_grids_answer_the_lowest_alias() {
    for gaps in [false, true] {
        let x: Vec<f64> =
            (0..60).filter(|i| !gaps || i % 7 != 3).map(|i| 0.1 * f64::from(i)).collect();
        for frequency in [2.5, 11.0, 19.0, 29.0] {
            for alias in [frequency, TAU / 0.1 - frequency, TAU / 0.1 + frequency] {
                let mut random = Random::new(84, alias as u64);
                let wave = |x: &f64| 2.0 * (alias * x + 0.4).sin() + 5.0 + 0.2 * random.normal();
                let y: Vec<f64> = x.iter().map(wave).collect();
                for model in [sine(), formula("a*sin(w*x + p) + c")] {
                    let own = size_of("w", &model, &x, &y);
                    assert!((own - frequency).abs() < 0.1, "{gaps}, {alias}: {own}");
                }
            }
        }
    }
}

/// Proves that damped waves, two waves, and squares of waves have their frequencies found at uneven points.
#[test]
fn more_than_sines_are_found() {
    for seed in 0..effort(3, 10, 100) as u64 {
        let (x, mut y) = uneven(31.0, seed, |angle| 6.0 * angle.sin());
        for (x, y) in x.iter().zip(&mut y) {
            *y = *y * (-x / 3.0).exp() + 1.0;
        }
        let near = |own: f64, wanted: f64| (own - wanted).abs() < 0.3;
        let damped = Model::named("damped_sine").expect("a model");
        for model in [damped, formula("a*exp(-x/t)*sin(w*x + phi) + c")] {
            let own = size_of("w", &model, &x, &y);
            assert!(near(own, 31.0), "{}, {seed}: {own}", model.text());
        }
        let (x, y) = uneven(26.0, seed, |angle| 4.0 * angle.sin().powi(2));
        let own = size_of("w", &formula("a*sin(w*x + p)^2 + c"), &x, &y);
        assert!(near(own, 26.0), "{seed}: {own}");
        let (x, mut y) = uneven(44.0, seed, |angle| 3.0 * angle.sin());
        x.iter().zip(&mut y).for_each(|(x, y)| *y += 2.0 * (23.0 * x).sin());
        let model = formula("a*sin(v*x + p) + b*sin(w*x + q) + c");
        let fits = fitted(&model, &x, &y);
        let mut own = ["v", "w"].map(|name| fits.of(name).expect("it")[0].abs());
        own.sort_by(f64::total_cmp);
        assert!(near(own[0], 23.0) && near(own[1], 44.0), "{seed}: {own:?}");
    }
}

/// Proves that long data have frequencies up to what their points tell found, even and uneven ones, by all of their points.
#[test]
fn long_data_have_high_frequencies() {
    for (points, is_even) in [(20_000, true), (3000, false)] {
        let mut random = Random::new(85, points);
        let mut x: Vec<f64> = (0..points).map(|i| 0.1 * i as f64).collect();
        if !is_even {
            x.iter_mut().for_each(|x| *x = random.uniform_in(0.0, 0.1 * points as f64));
        }
        for frequency in [0.05, 3.3, 27.0] {
            let wave = |x: &f64| 0.4 * (frequency * x + 2.0).sin() + 7.0 + random.normal();
            let y: Vec<f64> = x.iter().map(wave).collect();
            let own = size_of("w", &sine(), &x, &y);
            assert!((own - frequency).abs() < 5e-3, "{points}, {frequency}: {own}");
        }
    }
}

/// Proves that angles that must lie in a turn, and amplitudes that must be negative, begin within it, far from 0 too.
#[test]
fn angles_begin_within_their_limits() {
    for phase in [1.5, 2.5, 4.0] {
        for far in [0.0, 30.0] {
            let x: Vec<f64> = (0..50).map(|i| far + 0.1 * f64::from(i)).collect();
            let y: Vec<f64> = x.iter().map(|x| 3.0 * (7.0 * x + phase).sin() + 1.0).collect();
            let model = sine();
            for (amplitude, limits) in [(3.0, [0.0, TAU]), (-3.0, [-PI, PI])] {
                let bounded = if amplitude > 0.0 { [0.0, 100.0] } else { [-100.0, 0.0] };
                let options = model.options().with_lower(0, bounded[0]).with_upper(0, bounded[1]);
                let options = options.with_lower(2, limits[0]).with_upper(2, limits[1]);
                let fits = fitted_with(&model, Backend::Reference, (&x, &y, None), &options);
                let found = fits.of("a").expect("a")[0];
                assert!((found - amplitude).abs() < 1e-3, "{phase}, {far}: {found}");
            }
        }
    }
}

/// Proves that a wave of which ties leave only a part is searched for as far.
#[test]
fn tied_waves_are_found() {
    let model = sine().with_ties(&["phi = 0.4"]).expect("a tie");
    for seed in 0..5 {
        let (x, _) = uneven(30.0, seed, f64::sin);
        let mut random = Random::new(86, seed);
        let wave = |x: &f64| 3.0 * (30.0 * x + 0.4).sin() + 1.0 + 0.25 * random.normal();
        let y: Vec<f64> = x.iter().map(wave).collect();
        let own = size_of("w", &model, &x, &y);
        assert!((own - 30.0).abs() < 0.1, "{seed}: {own}");
    }
}

/// Proves that limits of a frequency say where it is searched for.
#[test]
fn limits_say_where_frequencies_are_searched() {
    let (x, mut y) = uneven(25.0, 0, |angle| 3.0 * angle.sin());
    x.iter().zip(&mut y).for_each(|(x, y)| *y += 3.5 * (8.0 * x).sin());
    for model in [sine(), formula("a*sin(w*x + p) + c")] {
        let number = model.parameter("w").expect("w");
        for (limits, wanted) in [([0.0, 100.0], 8.0), ([20.0, 100.0], 25.0)] {
            let options =
                model.options().with_lower(number, limits[0]).with_upper(number, limits[1]);
            let fits = fitted_with(&model, Backend::Reference, (&x, &y, None), &options);
            let own = fits.of("w").expect("w")[0];
            assert!((own - wanted).abs() < 0.5, "{}: {own} and not {wanted}", model.text());
        }
    }
}
