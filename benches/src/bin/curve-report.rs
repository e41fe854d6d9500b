//! Measures fits of formulas on one core: `cargo run --release -p benches --bin curve-report`.
//!
//! Double precision and every instruction set fit the same data in turn in the same run; medians of nine are printed. All
//! begin 10 % beside the truth, and all give parameters and errors. The record names the processor; date and command
//! belong beside it.
//!
//! With `gpu` as its argument it measures the first GPU instead: data in its memory, and from ordinary memory and back; with
//! `peaks` the same device with sums of one to ten Gauss peaks. With
//! `gpufit LIBRARY` it measures the GPU beside Gpufit, a call each, from ordinary memory and back; with `cpufit LIBRARY` one
//! core beside Cpufit. Names of models at the end choose among them, and the word `eliminated` there eliminates linear
//! parameters, which are searched for without it. With `double` there all fits from memory end in double precision.

use std::ffi::c_int;
use std::time::Instant;

use benches::bus::Bus;
use benches::library::{PeerBatch, PeerLibrary};
use benches::suite::machine::processor;
use fit_cpu::{CurveReference, CurveSimd, InstructionSet};
use fit_formula::Formula;
use fit_gpu::{CurveGpu, CurveRecord, CurveRecords, GpuError, PinnedBuffer};
use fit_tests::models::{SIMULATED, Simulated, model};
use fit_tests::peaks::Peaks;
use ndarray::{Array2, ArrayView2, s};
use spotfit::model::{
    CurveFits, CurveOptions, CurvePrecision, CurveStart, Curves, Linear, Spline, SplineAxis,
};

const RUNS: usize = 9;
const COUNT: usize = 100_000;

/// The models that are named at the end of the command; all of them if none is.
fn chosen() -> impl Iterator<Item = &'static Simulated> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let named = |case: &&Simulated| names.iter().any(|name| name == case.name);
    let any = SIMULATED.iter().any(|case| named(&case));
    SIMULATED.iter().filter(move |case| !any || names.iter().any(|name| name == case.name))
}

/// How all fit.
fn options(parameters: usize) -> CurveOptions {
    let says = |wanted: &str| std::env::args().any(|word| word == wanted);
    let linear = if says("eliminated") { Linear::Eliminated } else { Linear::Searched };
    let precision = if says("double") { CurvePrecision::F64 } else { CurvePrecision::Auto };
    CurveOptions::new(parameters)
        .with_covariance(false)
        .with_linear(linear)
        .with_precision(precision)
}

/// Million fits a second.
fn rate(count: usize, seconds: &mut [f64]) -> f64 {
    seconds.sort_by(f64::total_cmp);
    count as f64 / seconds[seconds.len() / 2] * 1e-6
}

/// With three digits or more.
fn digits(value: f64) -> String {
    let after = (2.0 - value.log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{value:.after$}")
}

fn seconds(work: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    work();
    begin.elapsed().as_secs_f64()
}

/// Kernels on data in the memory of the device, and batches from ordinary memory and back.
fn gpu() -> Result<(), GpuError> {
    const COUNT: usize = 1_000_000;
    /// So often are they in pinned memory, one after the other.
    const TIMES: usize = 5;
    /// Bytes that are copied to measure the bus.
    const COPIED: usize = 256 << 20;
    let mut bus = Bus::new(0, COPIED)?;
    let times = (0..5).map(|_| bus.seconds(COPIED, 0)).collect::<Result<Vec<_>, _>>();
    let bandwidth = rate(COPIED, &mut times?) * 1e-3;
    drop(bus);
    let gpu = CurveGpu::new(0)?;
    println!("# Formulas on {}: million fits a second, median of {RUNS}\n", gpu.device().name);
    println!("The bus carries {bandwidth:.1} GB/s to the device.\n");
    println!(
        "| model | points | first fit, s | million fits a second | evaluations | left | from host memory | pinned | pinned, records |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for case in chosen() {
        let count = if case.extent.len() > 3 { COUNT / 10 } else { COUNT };
        let (model, data, at, start) =
            (model(case.name), case.data(count), case.at(), case.start());
        let place = case.points(&at);
        let formula = model.as_formula();
        let options = options(start.len());
        let curves = Curves::new(data.view(), place);
        let few = Curves::new(data.slice(s![..10, ..]), place);
        let parameters = start.len();
        let start = || CurveStart::Shared(&start);
        let mut first = Ok(());
        let cold = seconds(|| first = gpu.fit(formula, &few, start(), &options).map(drop));
        first?;
        let (mut times, fits, left) =
            gpu.fit_resident(formula, &curves, start(), &options, RUNS)?;
        if times.is_empty() {
            continue;
        }
        let evaluations: u64 = fits.evaluations.iter().map(|&count| u64::from(count)).sum();
        let all = count * TIMES;
        let [mut fits, mut more] =
            [count, all].map(|count| CurveFits::room(count, parameters, false));
        let mut pinned = PinnedBuffer::<f32>::new(data.len() * TIMES)?;
        for part in pinned.chunks_exact_mut(data.len()) {
            part.copy_from_slice(data.as_slice().expect("in order"));
        }
        let there = ArrayView2::from_shape((all, data.ncols()), &pinned[..]).expect("as many");
        let there = Curves::new(there, place);
        let mut records = CurveRecords::new();
        let [mut ordinary, mut of_pinned, mut recorded] = [const { Vec::new() }; 3];
        // The first makes room.
        for run in 0..=RUNS {
            for (curves, fits, times) in
                [(&curves, &mut fits, &mut ordinary), (&there, &mut more, &mut of_pinned)]
            {
                let mut result = Ok(());
                let time = seconds(|| {
                    let left = gpu.fit_into(formula, curves, start(), &options, fits);
                    result = left.map(drop);
                });
                result?;
                if run > 0 {
                    times.push(time);
                }
            }
            let mut result = Ok(());
            let time = seconds(|| {
                let left = gpu.fit_records(formula, &there, start(), &options, &mut records);
                result = left.map(drop);
            });
            result?;
            if run > 0 {
                recorded.push(time);
            }
        }
        println!(
            "| `{}` | {} | {cold:.2} | {} | {:.2} | {} | {} | {} | {} |",
            case.name,
            data.ncols(),
            digits(rate(count, &mut times)),
            evaluations as f64 / count as f64,
            left.len(),
            digits(rate(count, &mut ordinary)),
            digits(rate(all, &mut of_pinned)),
            digits(rate(all, &mut recorded))
        );
    }
    Ok(())
}

/// Sums of peaks in the memory of the device: models of 4 and 10 parameters, of which a thread has all, or each thread of a warp
/// some of the points, and of more, which have a warp with a parameter a thread.
fn peaks() -> Result<(), GpuError> {
    let gpu = CurveGpu::new(0)?;
    println!("# Sums of Gauss peaks on {}: median of {RUNS}\n", gpu.device().name);
    println!(
        "| peaks | parameters | points | fits | first fit, s | thousand fits a second | evaluations | left | 10¹² operations a second |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (peaks, points) in [
        (1, 40),
        (3, 120),
        (3, 4096),
        (4, 120),
        (4, 4096),
        (5, 200),
        (5, 4096),
        (6, 240),
        (8, 320),
        (10, 200),
        (10, 400),
        (10, 4096),
    ] {
        let model = Peaks::new(peaks, points);
        let (formula, start, parameters) = (&model.formula, model.start(), model.truth.len());
        let count = (40_000_000 / points / parameters).max(6000);
        let data = model.data(count);
        let curves = Curves::new(data.view(), spotfit::model::Points::Index);
        let few = Curves::new(data.slice(s![..10, ..]), spotfit::model::Points::Index);
        let options = options(parameters);
        let start = || CurveStart::Shared(&start);
        let mut first = Ok(());
        let cold = seconds(|| first = gpu.fit(formula, &few, start(), &options).map(drop));
        first?;
        let (mut times, fits, left) =
            gpu.fit_resident(formula, &curves, start(), &options, RUNS)?;
        if times.is_empty() {
            continue;
        }
        let evaluations: u64 = fits.evaluations.iter().map(|&count| u64::from(count)).sum();
        let program = formula.program(spotfit::model::Axes::Together, &vec![true; parameters]);
        // A multiply-add is two; half of a symmetric matrix is enough.
        let sums = 2 * (parameters + parameters * (parameters + 1) / 2);
        let operations = evaluations as f64 * (points * (program.point_operations() + sums)) as f64;
        let rate = rate(count, &mut times);
        println!(
            "| {peaks} | {parameters} | {points} | {count} | {cold:.2} | {} | {:.2} | {} | {} |",
            digits(rate * 1e3),
            evaluations as f64 / count as f64,
            left.len(),
            digits(operations / count as f64 * rate * 1e-6)
        );
    }
    Ok(())
}

/// Gpufit's models: their numbers.
const GPUFIT: [(&str, c_int); 13] = [
    ("gauss_1d", 0),
    ("gauss_2d", 1),
    ("gauss_2d_elliptic", 2),
    ("gauss_2d_rotated", 3),
    ("cauchy_2d_elliptic", 4),
    ("linear", 5),
    ("spline_1d", 8),
    ("spline_2d", 9),
    ("spline_3d", 10),
    ("spline_3d_multichannel", 11),
    ("spline_3d_phase", 12),
    ("spline_4d", 13),
    ("spline_5d", 14),
];

/// What Gpufit's splines take: how many points and pieces there are along each axis, and all polynomials.
fn information(case: &Simulated, splines: &[(String, Spline)]) -> Vec<f32> {
    let Some((_, first)) = splines.first() else { return Vec::new() };
    let (mut channels, mut cubic) = (None, Vec::new());
    for axis in first.axes() {
        match axis {
            SplineAxis::Steps(count) => channels = Some(count),
            SplineAxis::Cubic(intervals) => cubic.push(intervals),
        }
    }
    let mut all: Vec<f32> = Vec::new();
    if channels.is_some() {
        // As many as the data have, of which a table may have more.
        all.push(case.extent[cubic.len()] as f32);
    }
    if cubic.len() > 1 {
        all.extend(case.extent[..cubic.len()].iter().map(|&count| count as f32));
    }
    all.extend(cubic.iter().map(|&count| count as f32));
    for (_, spline) in splines {
        let polynomials = spline.to_polynomials();
        let used = match channels {
            Some(count) => polynomials.len() / count * case.extent[cubic.len()],
            None => polynomials.len(),
        };
        all.extend(polynomials[..used].iter().map(|&value| value as f32));
    }
    all
}

/// Parameters and their errors of some fits, and which of them another fitter would have to fit.
struct Found {
    parameters: Array2<f64>,
    errors: Array2<f64>,
    left: Vec<usize>,
}

/// Fits in so many seconds.
type Fit<'f> = &'f mut dyn FnMut(
    &Formula,
    &Curves<'_>,
    CurveStart<'_>,
    &CurveOptions,
) -> Result<(f64, Found), String>;

/// Batches of several sizes, by the GPU and by Gpufit in turn.
fn beside_gpufit(path: &str) -> Result<(), String> {
    let gpu = CurveGpu::new(0).map_err(|error| error.to_string())?;
    println!("# Formulas on {} beside Gpufit: medians of five\n", gpu.device().name);
    let mut records = CurveRecords::new();
    beside(path, &[10, 1000, 1_000_000], &mut |formula, curves, start, options| {
        let mut result = Ok(Vec::new());
        let time = seconds(|| {
            result = gpu.fit_records(formula, curves, start, options, &mut records);
        });
        let left = result.map_err(|error| error.to_string())?;
        let of = |value: &dyn Fn(&CurveRecord<'_>, usize) -> f64| {
            Array2::from_shape_fn((curves.count(), options.parameters()), |(fit, j)| {
                records.get(fit).map_or(f64::NAN, |record| value(&record, j))
            })
        };
        let parameters = of(&|record, j| record.parameters()[j].into());
        Ok((time, Found { parameters, errors: of(&|record, j| record.error(j)), left }))
    })
}

/// The same on one core, beside Cpufit.
fn beside_cpufit(path: &str) -> Result<(), String> {
    let cpu = CurveSimd::new(1, None).map_err(|error| error.to_string())?;
    let set = cpu.instruction_set();
    println!("# Formulas on one core ({}, {set}) beside Cpufit: medians of five\n", processor());
    beside(path, &[10_000], &mut |formula, curves, start, options| {
        let mut result = None;
        let time = seconds(|| result = Some(cpu.fit(formula, curves, start, options)));
        let fits = result.expect("it was called").map_err(|error| error.to_string())?;
        let CurveFits { parameters, errors, .. } = fits;
        Ok((time, Found { parameters, errors, left: Vec::new() }))
    })
}

fn beside(path: &str, counts: &[usize], fit: Fit<'_>) -> Result<(), String> {
    const RUNS: usize = 5;
    let peer = PeerLibrary::open(path)?;
    println!("| model | fits | ms | peer, ms | times | alike | decided | peer converged |");
    println!("|---|---|---|---|---|---|---|---|");
    for case in chosen() {
        let Some(&(_, number)) = GPUFIT.iter().find(|(name, _)| *name == case.name) else {
            continue;
        };
        let most = if case.extent.len() > 3 { 100_000 } else { 1_000_000 };
        let most = counts.iter().fold(0, |all, &count| all.max(count)).min(most);
        let (model, data, at, start) = (model(case.name), case.data(most), case.at(), case.start());
        let place = case.points(&at);
        let formula = model.as_formula();
        let options = options(start.len());
        for count in counts.iter().map(|&count| count.min(most)) {
            let part = data.slice(s![..count, ..]);
            let curves = Curves::new(part, place);
            let pixels = part.as_slice().expect("in order");
            let initial: Vec<f32> = start.iter().map(|&value| value as f32).collect();
            let initial: Vec<f32> =
                initial.iter().copied().cycle().take(count * start.len()).collect();
            let information = information(case, formula.splines());
            let mut batch = PeerBatch::of_model(number, data.ncols(), &initial, count, information);
            let (mut own, mut its) = (Vec::new(), Vec::new());
            let mut last = None;
            // The first call compiles the formula, and makes room.
            for run in 0..=RUNS {
                let (time, found) = fit(formula, &curves, CurveStart::Shared(&start), &options)?;
                last = Some(found);
                let mut result = Ok(());
                let other = seconds(|| result = peer.fit_pixels(&mut batch, pixels, count));
                result?;
                if run > 0 {
                    own.push(time);
                    its.push(other);
                }
            }
            let Some(Found { parameters: ours, errors, left }) = last else { continue };
            let (parameters, converged) = batch.found();
            let alike = |fit: &usize| {
                (0..start.len()).all(|j| {
                    let off = ours[[*fit, j]] - f64::from(parameters[fit * start.len() + j]);
                    off.abs() < 0.01 * errors[[*fit, j]]
                })
            };
            let share = |count_of: usize| count_of as f64 / count as f64;
            let (own, its) = (1e-6 / rate(1, &mut own), 1e-6 / rate(1, &mut its));
            println!(
                "| `{}` | {count} | {:.3} | {:.3} | {:.1} | {:.4} | {:.4} | {:.4} |",
                case.name,
                own * 1e3,
                its * 1e3,
                its / own,
                share((0..count).filter(alike).count()),
                share(count - left.len()),
                share(converged.filter(|&converged| converged).count())
            );
        }
    }
    Ok(())
}

fn main() {
    let library = std::env::args().nth(2).unwrap_or_default();
    let beside = match std::env::args().nth(1).as_deref() {
        Some("gpufit") => Some(beside_gpufit(&library)),
        Some("cpufit") => Some(beside_cpufit(&library)),
        _ => None,
    };
    if let Some(result) = beside {
        if let Err(error) = result {
            eprintln!("{error}");
            std::process::exit(1);
        }
        return;
    }
    let device = match std::env::args().nth(1).as_deref() {
        Some("gpu") => Some(gpu()),
        Some("peaks") => Some(peaks()),
        _ => None,
    };
    if let Some(result) = device {
        if let Err(error) = result {
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
    for case in chosen() {
        // Splines of many arguments take long.
        let count = match case.extent.len() {
            1 | 2 => COUNT,
            3 => COUNT / 20,
            _ => COUNT / 200,
        };
        // Double precision fits a tenth.
        let few = count / 10;
        let (model, data, at, start) =
            (model(case.name), case.data(count), case.at(), case.start());
        let place = case.points(&at);
        let start = || CurveStart::Shared(&start);
        let options = options(case.truth.len());
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
            .map(|rate| format!("{} ({:.1} times)", digits(rate), rate / double))
            .collect();
        let axes = if case.extent.len() == 2 {
            spotfit::model::Axes::Grid
        } else {
            spotfit::model::Axes::Together
        };
        let program = formula.program(axes, &vec![true; case.truth.len()]);
        println!(
            "| `{}` | {} | {} | {evaluations:.2} | {} | {} |",
            case.name,
            data.ncols(),
            program.point_operations(),
            digits(double),
            others.join(" | ")
        );
    }
}
