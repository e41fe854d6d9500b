//! Measures fits of formulas on one core: `cargo run --release -p benches --bin curve-report`.
//!
//! Double precision and every instruction set fit the same data in turn in the same run; medians of nine are printed. All
//! begin 10 % beside the truth, and all give parameters and errors. The record names the processor; date and command
//! belong beside it.

use std::time::Instant;

use benches::suite::machine::processor;
use fit_cpu::{CurveReference, CurveSimd, InstructionSet};
use fit_sim::Random;
use ndarray::{Array2, s};
use spotfit::model::{CurveOptions, CurveStart, Curves, Model, Points};

const RUNS: usize = 9;
const COUNT: usize = 100_000;
/// Double precision fits a tenth of them.
const FEW: usize = COUNT / 10;

/// A model with a truth, the width and height of its points, and noise.
type Case = (&'static str, &'static [f64], [usize; 2], f64);

const CASES: &[Case] = &[
    ("linear", &[2.0, 0.5], [30, 1], 0.5),
    ("exponential", &[10.0, 8.0, 1.0], [30, 1], 0.2),
    ("exponential_2", &[10.0, 2.0, 6.0, 15.0, 1.0], [30, 1], 0.02),
    ("gauss_1d", &[10.0, 14.0, 3.0, 2.0], [30, 1], 0.3),
    ("lorentz", &[10.0, 14.0, 3.0, 2.0], [30, 1], 0.3),
    ("logistic", &[10.0, 14.0, 3.0, 2.0], [30, 1], 0.3),
    ("sine", &[3.0, 0.5, 0.6, 1.0], [30, 1], 0.3),
    ("gauss_2d", &[20.0, 4.1, 3.8, 1.2, 2.0], [9, 9], 1.0),
    ("gauss_2d_elliptic", &[20.0, 4.1, 3.8, 1.2, 1.5, 2.0], [9, 9], 1.0),
    ("gauss_2d_rotated", &[20.0, 4.1, 3.8, 1.0, 1.9, 2.0, 0.2], [9, 9], 1.0),
    ("cauchy_2d_elliptic", &[20.0, 4.1, 3.8, 1.2, 1.5, 2.0], [9, 9], 0.7),
];

/// Million fits a second.
fn rate(count: usize, seconds: &mut [f64]) -> f64 {
    seconds.sort_by(f64::total_cmp);
    count as f64 / seconds[seconds.len() / 2] * 1e-6
}

fn seconds(work: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    work();
    begin.elapsed().as_secs_f64()
}

fn main() {
    println!("# Formulas on one core: million fits a second, median of {RUNS}\n");
    println!("Processor: {}\n", processor());
    let sets: Vec<InstructionSet> =
        InstructionSet::ALL.into_iter().filter(|set| set.is_available()).collect();
    let names: Vec<&str> = sets.iter().map(|set| set.name()).collect();
    println!(
        "| model | points | operations a point | evaluations | double precision | {} |",
        names.join(" | ")
    );
    println!("|---|---|---|---|---|{}", "---|".repeat(sets.len()));
    for &(name, truth, [width, height], noise) in CASES {
        let model = Model::named(name).expect("a model");
        let points: Vec<Vec<f64>> = (0..width * height)
            .map(|at| {
                if height > 1 {
                    vec![(at % width) as f64, (at / width) as f64]
                } else {
                    vec![at as f64]
                }
            })
            .collect();
        let clean = model.values(truth, &points);
        let mut random = Random::new(1, 0);
        let data = Array2::from_shape_fn((COUNT, points.len()), |(_, at)| {
            (clean[at] + noise * random.normal()) as f32
        });
        let grid = Points::Grid { width, height };
        let place = if height > 1 { grid } else { Points::Index };
        let start: Vec<f64> = truth.iter().map(|value| value * 1.1).collect();
        let start = || CurveStart::Shared(&start);
        let options = CurveOptions::new(truth.len()).with_covariance(false);
        let formula = model.as_formula();
        let reference = CurveReference::new(1).expect("the calling thread");
        let fitters: Vec<CurveSimd> =
            sets.iter().map(|&set| CurveSimd::new(1, Some(set)).expect("available")).collect();
        let mut times = vec![Vec::new(); sets.len() + 1];
        let mut evaluations = 0.0;
        for _ in 0..RUNS {
            let few = Curves::new(data.slice(s![..FEW, ..]), place);
            times[0].push(seconds(|| {
                let fits = reference.fit(formula, &few, start(), &options).expect("sound");
                let sum: u64 = fits.evaluations.iter().map(|&count| u64::from(count)).sum();
                evaluations = sum as f64 / FEW as f64;
            }));
            let all = Curves::new(data.view(), place);
            for (fitter, times) in fitters.iter().zip(&mut times[1..]) {
                times.push(seconds(|| {
                    fitter.fit(formula, &all, start(), &options).expect("sound");
                }));
            }
        }
        let double = rate(FEW, &mut times[0]);
        let others: Vec<String> = times[1..]
            .iter_mut()
            .map(|times| rate(COUNT, times))
            .map(|rate| format!("{rate:.2} ({:.1} times)", rate / double))
            .collect();
        let axes =
            if height > 1 { spotfit::model::Axes::Grid } else { spotfit::model::Axes::Together };
        let program = formula.program(axes, &vec![true; truth.len()]);
        println!(
            "| `{name}` | {} | {} | {evaluations:.2} | {double:.3} | {} |",
            points.len(),
            program.point_operations(),
            others.join(" | ")
        );
    }
}
