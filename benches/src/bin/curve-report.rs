//! Measures fits of formulas on one core: `cargo run --release -p benches --bin curve-report`.
//!
//! Double precision and every instruction set fit the same data in turn in the same run; medians of nine are printed. All
//! begin 10 % beside the truth, and all give parameters and errors. The record names the processor; date and command
//! belong beside it.
//!
//! With `gpu` as its argument it measures the first GPU instead: data in its memory, and from ordinary memory and back.

use std::time::Instant;

use benches::suite::machine::processor;
use fit_cpu::{CurveReference, CurveSimd, InstructionSet};
use fit_gpu::{CurveGpu, CurveResident, GpuError};
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

/// A case: its model, where its points lie, data, and where fits begin.
struct Batch {
    model: Model,
    points: Vec<Vec<f64>>,
    /// Columns and rows of an image; none of a line.
    size: Option<[usize; 2]>,
    data: Array2<f32>,
    start: Vec<f64>,
}

impl Batch {
    fn new(&(name, truth, [width, height], noise): &Case, count: usize) -> Self {
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
        let data = Array2::from_shape_fn((count, points.len()), |(_, at)| {
            (clean[at] + noise * random.normal()) as f32
        });
        let size = (height > 1).then_some([width, height]);
        let start = truth.iter().map(|value| value * 1.1).collect();
        Self { model, points, size, data, start }
    }

    fn place(&self) -> Points<'_> {
        match self.size {
            Some([width, height]) => Points::Grid { width, height },
            None => Points::Index,
        }
    }
}

/// Kernels on data in the memory of the device, and batches from ordinary memory and back.
fn gpu() -> Result<(), GpuError> {
    const COUNT: usize = 1_000_000;
    let gpu = CurveGpu::new(0)?;
    println!("# Formulas on {}: median of {RUNS}\n", gpu.device().name);
    println!(
        "| model | points | first fit, s | million fits a second | evaluations | left | from host memory |"
    );
    println!("|---|---|---|---|---|---|---|");
    for case in CASES {
        let batch = Batch::new(case, COUNT);
        let Batch { model, points, data, start, .. } = &batch;
        let place = batch.place();
        let formula = model.as_formula();
        let options = CurveOptions::new(start.len()).with_covariance(false);
        let curves = Curves::new(data.view(), place);
        let few = Curves::new(data.slice(s![..10, ..]), place);
        let start = || CurveStart::Shared(start);
        let mut first = Ok(());
        let cold = seconds(|| first = gpu.fit(formula, &few, start(), &options).map(drop));
        first?;
        let resident = CurveResident::new(0, formula, &curves, start(), &options)?;
        let Some(mut resident) = resident else { continue };
        let times = (0..RUNS).map(|_| resident.fit()).collect::<Result<Vec<_>, _>>();
        let (fits, left) = resident.fetch()?;
        let evaluations: u64 = fits.evaluations.iter().map(|&count| u64::from(count)).sum();
        let mut whole = Vec::new();
        for _ in 0..3 {
            let mut result = Ok(());
            whole.push(seconds(|| {
                result = gpu.fit(formula, &curves, start(), &options).map(drop);
            }));
            result?;
        }
        println!(
            "| `{}` | {} | {cold:.3} | {:.0} | {:.2} | {} | {:.1} |",
            case.0,
            points.len(),
            rate(COUNT, &mut times?),
            evaluations as f64 / COUNT as f64,
            left.len(),
            rate(COUNT, &mut whole)
        );
    }
    Ok(())
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some("gpu") {
        if let Err(error) = gpu() {
            eprintln!("{error}");
            std::process::exit(1);
        }
        return;
    }
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
    for case in CASES {
        let &(name, truth, [_, height], _) = case;
        let batch = Batch::new(case, COUNT);
        let Batch { model, points, data, start, .. } = &batch;
        let place = batch.place();
        let start = || CurveStart::Shared(start);
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
