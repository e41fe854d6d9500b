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

use benches::bus::bandwidth;
use benches::library::{PeerBatch, PeerLibrary};
use benches::report::{AnyError, digits, ended, head, in_turn, median, set_names, sets, timed};
use benches::say;
use benches::sets::Sets;
use benches::suite::machine::processor;
use fit_cpu::{CurveReference, CurveSimd};
use fit_formula::Formula;
use fit_gpu::{CurveGpu, CurveRecord, CurveRecords, GpuError, PinnedBuffer};
use fit_tests::models::{SIMULATED, Simulated};
use fit_tests::peaks::Peaks;
use ndarray::{Array2, ArrayView2, s};
use spotfit::model::{
    Axes, CurveFits, CurveOptions, CurvePrecision, CurveStart, Curves, Linear, Points, Spline,
    SplineAxis,
};

const RUNS: usize = 9;
const COUNT: usize = 100_000;

type Outcome = Result<(), AnyError>;

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
fn rate(count: usize, seconds: &[f64]) -> f64 {
    count as f64 / median(seconds) * 1e-6
}

fn mean_evaluations(fits: &CurveFits) -> f64 {
    let sum: u64 = fits.evaluations.iter().map(|&count| u64::from(count)).sum();
    sum as f64 / fits.evaluations.len() as f64
}

/// What a kernel does with data in the memory of the device.
struct OnDevice {
    /// Seconds of the first fit, for which it is compiled.
    cold: f64,
    times: Vec<f64>,
    evaluations: f64,
    left: usize,
}

impl OnDevice {
    /// `None` if the device does not fit this.
    fn new(
        gpu: &CurveGpu,
        formula: &Formula,
        (few, all): (&Curves<'_>, &Curves<'_>),
        start: &[f64],
        options: &CurveOptions,
    ) -> Result<Option<Self>, GpuError> {
        let start = || CurveStart::Shared(start);
        let (cold, _) = timed(|| gpu.fit(formula, few, start(), options))?;
        let (times, fits, left) = gpu.fit_resident(formula, all, start(), options, RUNS)?;
        let (evaluations, left) = (mean_evaluations(&fits), left.len());
        Ok((!times.is_empty()).then_some(Self { cold, times, evaluations, left }))
    }
}

/// Kernels on data in the memory of the device, and batches from ordinary memory and back.
fn gpu() -> Outcome {
    const COUNT: usize = 1_000_000;
    /// So often are they in pinned memory, one after the other.
    const TIMES: usize = 5;
    let bandwidth = bandwidth(256 << 20)? * 1e-9;
    let gpu = CurveGpu::new(0)?;
    say!("# Formulas on {}: million fits a second, median of {RUNS}\n", gpu.device().name);
    say!("The bus carries {bandwidth:.1} GB/s to the device.\n");
    head(
        "model | points | first fit, s | million fits a second | evaluations | left | from host memory | pinned | pinned, records",
    );
    for case in chosen() {
        let count = if case.extent.len() > 3 { COUNT / 10 } else { COUNT };
        let sets = Sets::new(case, count);
        let (formula, data, options) = (&sets.formula, &sets.data, options(sets.start.len()));
        let both = (&sets.curves(10), &sets.curves(count));
        let Some(found) = OnDevice::new(&gpu, formula, both, &sets.start, &options)? else {
            continue;
        };
        let all = count * TIMES;
        let mut pinned = PinnedBuffer::<f32>::new(data.len() * TIMES)?;
        for part in pinned.chunks_exact_mut(data.len()) {
            part.copy_from_slice(data.as_slice().expect("in order"));
        }
        let there = ArrayView2::from_shape((all, data.ncols()), &pinned[..]).expect("as many");
        let (curves, there) = (sets.curves(count), sets.of(there));
        let [mut fits, mut more] =
            [count, all].map(|count| CurveFits::room(count, sets.start.len(), false));
        let mut records = CurveRecords::new();
        // The first makes room.
        let times = in_turn(RUNS + 1, &mut [0, 1, 2], |way| {
            let fit = || match way {
                0 => gpu.fit_into(formula, &curves, sets.start(), &options, &mut fits),
                1 => gpu.fit_into(formula, &there, sets.start(), &options, &mut more),
                _ => gpu.fit_records(formula, &there, sets.start(), &options, &mut records),
            };
            timed(fit).map(|(seconds, _)| seconds)
        })?;
        let rates = times.iter().zip([count, all, all]).map(|(times, n)| rate(n, &times[1..]));
        let rates = rates.map(digits).collect::<Vec<_>>().join(" | ");
        let OnDevice { cold, evaluations, left, times } = found;
        let (name, points, rate) = (case.name, data.ncols(), digits(rate(count, &times)));
        say!("| `{name}` | {points} | {cold:.2} | {rate} | {evaluations:.2} | {left} | {rates} |");
    }
    Ok(())
}

/// Sums of peaks in the memory of the device: models of 4 and 10 parameters, of which a thread has all, or each thread of a warp
/// some of the points, and of more, which have a warp with a parameter a thread.
fn peaks() -> Outcome {
    let gpu = CurveGpu::new(0)?;
    say!("# Sums of Gauss peaks on {}: median of {RUNS}\n", gpu.device().name);
    head(
        "peaks | parameters | points | fits | first fit, s | thousand fits a second | evaluations | left | 10¹² operations a second",
    );
    let small = [(1, 40), (3, 120), (3, 4096), (4, 120), (4, 4096), (5, 200), (5, 4096)];
    let large = [(6, 240), (8, 320), (10, 200), (10, 400), (10, 4096)];
    for (peaks, points) in small.into_iter().chain(large) {
        let model = Peaks::new(peaks, points);
        let parameters = model.truth.len();
        let count = (40_000_000 / points / parameters).max(6000);
        let (data, options) = (model.data(count), options(parameters));
        let curves = |count| Curves::new(data.slice(s![..count, ..]), Points::Index);
        let both = (&curves(10), &curves(count));
        let Some(found) = OnDevice::new(&gpu, &model.formula, both, &model.start(), &options)?
        else {
            continue;
        };
        let OnDevice { cold, evaluations, left, times } = found;
        let program = model.formula.program(Axes::Together, &vec![true; parameters]);
        // A multiply-add is two; half of a symmetric matrix is enough.
        let sums = 2 * (parameters + parameters * (parameters + 1) / 2);
        let operations = evaluations * (points * (program.point_operations() + sums)) as f64;
        let rate = rate(count, &times);
        let [rate, operations] = [rate * 1e3, operations * rate * 1e-6].map(digits);
        say!(
            "| {peaks} | {parameters} | {points} | {count} | {cold:.2} | {rate} | {evaluations:.2} | {left} | {operations} |"
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
) -> Result<(f64, Found), AnyError>;

/// Batches of several sizes, by the GPU and by Gpufit in turn.
fn beside_gpufit(path: &str) -> Outcome {
    let gpu = CurveGpu::new(0)?;
    say!("# Formulas on {} beside Gpufit: medians of five\n", gpu.device().name);
    let mut records = CurveRecords::new();
    beside(path, &[10, 1000, 1_000_000], &mut |formula, curves, start, options| {
        let fit = || gpu.fit_records(formula, curves, start, options, &mut records);
        let (time, left) = timed(fit)?;
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
fn beside_cpufit(path: &str) -> Outcome {
    let cpu = CurveSimd::new(1, None)?;
    let set = cpu.instruction_set();
    say!("# Formulas on one core ({}, {set}) beside Cpufit: medians of five\n", processor());
    beside(path, &[10_000], &mut |formula, curves, start, options| {
        let (time, fits) = timed(|| cpu.fit(formula, curves, start, options))?;
        let CurveFits { parameters, errors, .. } = fits;
        Ok((time, Found { parameters, errors, left: Vec::new() }))
    })
}

fn beside(path: &str, counts: &[usize], fit: Fit<'_>) -> Outcome {
    let peer = PeerLibrary::open(path)?;
    head("model | fits | ms | peer, ms | times | alike | decided | peer converged");
    let numbered = |case: &'static Simulated| {
        let number = GPUFIT.iter().find(|(name, _)| *name == case.name)?;
        Some((case, number.1))
    };
    for (case, number) in chosen().filter_map(numbered) {
        let most = if case.extent.len() > 3 { 100_000 } else { 1_000_000 };
        let most = counts.iter().copied().max().unwrap_or(0).min(most);
        let sets = Sets::new(case, most);
        let (formula, start, options) = (&sets.formula, &sets.start, options(sets.start.len()));
        for count in counts.iter().map(|&count| count.min(most)) {
            let (part, curves) = (sets.data.slice(s![..count, ..]), sets.curves(count));
            let pixels = part.as_slice().expect("in order");
            let initial = start.iter().map(|&value| value as f32);
            let initial: Vec<f32> = initial.cycle().take(count * start.len()).collect();
            let information = information(case, formula.splines());
            let mut batch = PeerBatch::of_model(number, part.ncols(), &initial, count, information);
            let mut last = None;
            // The first call compiles the formula, and makes room.
            let times = in_turn(6, &mut [true, false], |own| {
                if !*own {
                    return Ok(timed(|| peer.fit_pixels(&mut batch, pixels, count))?.0);
                }
                let (time, found) = fit(formula, &curves, sets.start(), &options)?;
                last = Some(found);
                Ok::<_, AnyError>(time)
            })?;
            let Some(Found { parameters: ours, errors, left }) = last else { continue };
            let (parameters, converged) = batch.found();
            let alike = |fit: &usize| {
                (0..start.len()).all(|j| {
                    let off = ours[[*fit, j]] - f64::from(parameters[fit * start.len() + j]);
                    off.abs() < 0.01 * errors[[*fit, j]]
                })
            };
            let share = |count_of: usize| count_of as f64 / count as f64;
            let [own, its] = [0, 1].map(|of| median(&times[of][1..]));
            say!(
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

/// Double precision and every instruction set on one core.
fn one_core() -> Outcome {
    say!("# Formulas on one core: million fits a second, median of {RUNS}\n");
    say!("Processor: {}\n", processor());
    let columns = "model | points | operations a point | evaluations | double precision";
    head(&format!("{columns} | {}", set_names()));
    for case in chosen() {
        // Splines of many arguments take long.
        let count = match case.extent.len() {
            1 | 2 => COUNT,
            3 => COUNT / 20,
            _ => COUNT / 200,
        };
        // Double precision fits a tenth.
        let few = count / 10;
        let sets_of = Sets::new(case, count);
        let (formula, options) = (&sets_of.formula, options(case.truth.len()));
        let reference = CurveReference::new(1)?;
        let mut fitters = vec![None];
        for set in sets() {
            fitters.push(Some(CurveSimd::new(1, Some(set))?));
        }
        let mut evaluations = 0.0;
        let (part, all) = (sets_of.curves(few), sets_of.curves(count));
        let times = in_turn(RUNS, &mut fitters, |fitter| {
            let fit = || match fitter {
                None => reference.fit(formula, &part, sets_of.start(), &options),
                Some(fitter) => fitter.fit(formula, &all, sets_of.start(), &options),
            };
            let (seconds, fits) = timed(fit)?;
            if fitter.is_none() {
                evaluations = mean_evaluations(&fits);
            }
            Ok::<_, AnyError>(seconds)
        })?;
        let double = rate(few, &times[0]);
        let others = times[1..].iter().map(|times| rate(count, times));
        let others: Vec<String> =
            others.map(|rate| format!("{} ({:.1} times)", digits(rate), rate / double)).collect();
        let axes = if case.extent.len() == 2 { Axes::Grid } else { Axes::Together };
        let operations = formula.program(axes, &vec![true; case.truth.len()]).point_operations();
        say!(
            "| `{}` | {} | {operations} | {evaluations:.2} | {} | {} |",
            case.name,
            sets_of.data.ncols(),
            digits(double),
            others.join(" | ")
        );
    }
    Ok(())
}

fn main() {
    let library = std::env::args().nth(2).unwrap_or_default();
    ended(match std::env::args().nth(1).as_deref() {
        Some("gpufit") => beside_gpufit(&library),
        Some("cpufit") => beside_cpufit(&library),
        Some("gpu") => gpu(),
        Some("peaks") => peaks(),
        _ => one_core(),
    });
}
