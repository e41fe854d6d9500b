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
use fit_tests::models::{SIMULATED, model};
use ndarray::s;
use spotfit::model::{CurveOptions, CurveStart, Curves};

const RUNS: usize = 9;
const COUNT: usize = 100_000;

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

/// Kernels on data in the memory of the device, and batches from ordinary memory and back.
fn gpu() -> Result<(), GpuError> {
    const COUNT: usize = 1_000_000;
    let gpu = CurveGpu::new(0)?;
    println!("# Formulas on {}: median of {RUNS}\n", gpu.device().name);
    println!(
        "| model | points | first fit, s | million fits a second | evaluations | left | from host memory |"
    );
    println!("|---|---|---|---|---|---|---|");
    for case in SIMULATED {
        let (model, data, at, start) =
            (model(case.name), case.data(COUNT), case.at(), case.start());
        let place = case.points(&at);
        let formula = model.as_formula();
        let options = CurveOptions::new(start.len()).with_covariance(false);
        let curves = Curves::new(data.view(), place);
        let few = Curves::new(data.slice(s![..10, ..]), place);
        let start = || CurveStart::Shared(&start);
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
            case.name,
            data.ncols(),
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
    for case in SIMULATED {
        // Splines of many arguments take long.
        let count = if case.extent.len() > 2 { COUNT / 20 } else { COUNT };
        // Double precision fits a tenth.
        let few = count / 10;
        let (model, data, at, start) =
            (model(case.name), case.data(count), case.at(), case.start());
        let place = case.points(&at);
        let start = || CurveStart::Shared(&start);
        let options = CurveOptions::new(case.truth.len()).with_covariance(false);
        let formula = model.as_formula();
        let reference = CurveReference::new(1).expect("the calling thread");
        let fitters: Vec<CurveSimd> =
            sets.iter().map(|&set| CurveSimd::new(1, Some(set)).expect("available")).collect();
        let mut times = vec![Vec::new(); sets.len() + 1];
        let mut evaluations = 0.0;
        for _ in 0..RUNS {
            let part = Curves::new(data.slice(s![..few, ..]), place);
            times[0].push(seconds(|| {
                let fits = reference.fit(formula, &part, start(), &options).expect("sound");
                let sum: u64 = fits.evaluations.iter().map(|&count| u64::from(count)).sum();
                evaluations = sum as f64 / few as f64;
            }));
            let all = Curves::new(data.view(), place);
            for (fitter, times) in fitters.iter().zip(&mut times[1..]) {
                times.push(seconds(|| {
                    fitter.fit(formula, &all, start(), &options).expect("sound");
                }));
            }
        }
        let double = rate(few, &mut times[0]);
        let others: Vec<String> = times[1..]
            .iter_mut()
            .map(|times| rate(count, times))
            .map(|rate| format!("{rate:.2} ({:.1} times)", rate / double))
            .collect();
        let axes = if case.extent.len() == 2 {
            spotfit::model::Axes::Grid
        } else {
            spotfit::model::Axes::Together
        };
        let program = formula.program(axes, &vec![true; case.truth.len()]);
        println!(
            "| `{}` | {} | {} | {evaluations:.2} | {double:.3} | {} |",
            case.name,
            data.ncols(),
            program.point_operations(),
            others.join(" | ")
        );
    }
}
