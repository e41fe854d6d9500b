//! Measures every shape and estimator on one core beside the circular least-squares fit of the paper's iteration:
//! `cargo run --release -p benches --bin shape-report`.
//!
//! With `gpu` as its argument it measures the kernels of the first GPU on windows that lie in its memory, and on windows in
//! pinned memory of the host, instead: `cargo run --release -p benches --bin shape-report gpu`; sides of windows may follow.
//!
//! All are measured in turn in the same run; medians are printed, and the visits to the pixels that a fit takes.

use std::time::Instant;

use benches::Workload;
use benches::bus::Bus;
use benches::suite::machine::processor;
use fit_core::spot::shape::{Elliptical, FixedSigma, Rotated};
use fit_core::{
    Background, Corner, Criteria, Errors, Estimator, Fit, Options, PixelProfile, Shape, Size, Start,
};
use fit_cpu::{InstructionSet, Simd, WindowFitter};
use fit_gpu::{Gpu, GpuError, PinnedBuffer, Resident, devices};
use fit_windows::{CameraMap, Weights, Windows};
use ndarray::{Array2, ArrayView3, s};

const RUNS: usize = 9;
const COUNT: usize = 50_000;

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn methods() -> Vec<(&'static str, Options)> {
    let default = Options::default();
    let paper = Criteria::DEFAULT.with_newton(false).with_finish(0.0);
    let elliptical = default.with_shape(Shape::Elliptical(Elliptical));
    let rotated = default.with_shape(Shape::Rotated(Rotated));
    let fixed = default.with_shape(Shape::FixedSigma(FixedSigma { sigma: 1.5 }));
    let likelihood = |options: Options| {
        options
            .with_estimator(Estimator::MaximumLikelihood)
            .with_background(Background::NonNegative)
    };
    let integrated = |options: Options| options.with_profile(PixelProfile::Integrated);
    let plane = |options: Options| options.with_background(Background::Plane);
    vec![
        ("circular, the paper's iteration", default.with_criteria(paper)),
        ("circular", default),
        ("elliptical", elliptical),
        ("elliptical, the paper's iteration", elliptical.with_criteria(paper)),
        ("fixed σ", fixed),
        ("circular, integrated", integrated(default)),
        ("elliptical, integrated", integrated(elliptical)),
        ("circular, maximum likelihood", likelihood(default)),
        ("elliptical, maximum likelihood", likelihood(elliptical)),
        ("fixed σ, maximum likelihood", likelihood(fixed)),
        ("circular, integrated, maximum likelihood", likelihood(integrated(default))),
        ("elliptical, integrated, maximum likelihood", likelihood(integrated(elliptical))),
        ("rotated", rotated),
        ("rotated, integrated", integrated(rotated)),
        ("rotated, maximum likelihood", likelihood(rotated)),
        ("rotated, integrated, maximum likelihood", likelihood(integrated(rotated))),
        ("circular, on a plane", plane(default)),
        ("elliptical, on a plane", plane(elliptical)),
        ("fixed σ, on a plane", plane(fixed)),
        ("rotated, on a plane", plane(rotated)),
        ("circular, integrated, on a plane", plane(integrated(default))),
        ("circular, maximum likelihood, on a plane", plane(likelihood(default))),
        ("elliptical, maximum likelihood, on a plane", plane(likelihood(elliptical))),
        ("rotated, maximum likelihood, on a plane", plane(likelihood(rotated))),
    ]
}

/// The kernels on windows in the memory of the device, and what they find beside the processor's outcomes.
fn gpu() -> Result<(), GpuError> {
    const COUNT: usize = 2_000_000;
    let Some(device) = devices()?.into_iter().next() else {
        println!("no GPU");
        return Ok(());
    };
    println!("\n## {}, resident windows, u16, 400:40, median of {RUNS}\n", device.name);
    println!(
        "| method | side | million fits a second | times the first | evaluations | converged | million errors a second |"
    );
    println!("|---|---|---|---|---|---|---|");
    let sides: Vec<usize> = std::env::args().skip(2).filter_map(|side| side.parse().ok()).collect();
    let sides = if sides.is_empty() { vec![5, 7, 9, 13, 20] } else { sides };
    for side in sides {
        let work = Workload::new(side, COUNT * 81 / (side * side).max(81));
        let spots = work.spots.pixels.mapv(|pixel| pixel as u16);
        let count = spots.dim().0;
        let mut resident = Resident::new(0, spots.view(), Start::Estimate)?;
        let mut first = 0.0;
        for (name, options) in methods() {
            let times = (0..RUNS).map(|_| resident.fit(&options)).collect::<Result<Vec<_>, _>>();
            let time = median(&mut times?);
            if first == 0.0 {
                first = time;
            }
            let mut fits = vec![Fit::<f32>::invalid(); count];
            resident.fetch(&mut fits)?;
            let evaluations: f64 = fits.iter().map(|fit| f64::from(fit.evaluations)).sum();
            let converged = fits.iter().filter(|fit| fit.status.is_converged()).count();
            let mut errors = vec![Errors::unknown(); count];
            let times = (0..RUNS)
                .map(|_| resident.errors_into(&options, &mut errors))
                .collect::<Result<Vec<_>, _>>();
            println!(
                "| {name} | {side} | {:.0} | {:.2} | {:.2} | {:.4} | {:.0} |",
                count as f64 / time / 1e6,
                first / time,
                evaluations / count as f64,
                converged as f64 / count as f64,
                count as f64 / median(&mut times?) / 1e6,
            );
        }
    }
    from_host()
}

/// Batches from pinned memory and back, beside copies of as many bytes as their pixels.
fn from_host() -> Result<(), GpuError> {
    const COUNT: usize = 10_000_000;
    const COPIED: usize = 1 << 29;
    let mut bus = Bus::new(0, COPIED)?;
    let seconds = (0..5).map(|_| bus.seconds(COPIED, 0)).collect::<Result<Vec<_>, _>>();
    let bandwidth = COPIED as f64 / median(&mut seconds?);
    println!("\n## From pinned memory and back, 9×9, u16, median of 5\n");
    println!("The bus carries {:.1} GB/s to the device.\n", bandwidth / 1e9);
    println!(
        "| method | million fits a second | share of the bus that pixels take | with errors |"
    );
    println!("|---|---|---|---|");
    let work = Workload::new(9, 50_000);
    let mut pixels = PinnedBuffer::<u16>::new(81 * COUNT)?;
    let source = work.spots.pixels.iter().cycle();
    pixels.iter_mut().zip(source).for_each(|(to, &from)| *to = from as u16);
    let mut fits = PinnedBuffer::<Fit<f32>>::new(COUNT)?;
    let mut errors = PinnedBuffer::<Errors>::new(COUNT)?;
    let spots = ArrayView3::from_shape((COUNT, 9, 9), &pixels).expect("as many pixels");
    let gpu = Gpu::new(&[0])?;
    for (name, options) in methods() {
        let (mut times, mut both) = (Vec::new(), Vec::new());
        for _ in 0..5 {
            let begin = Instant::now();
            gpu.fit_into(&options, spots, Start::Estimate, &mut fits)?;
            times.push(begin.elapsed().as_secs_f64());
            let windows = Windows::stack(spots).into();
            gpu.errors_into(&options, windows, &fits, &mut errors)?;
            both.push(begin.elapsed().as_secs_f64());
        }
        let rate = COUNT as f64 / median(&mut times);
        let with_errors = COUNT as f64 / median(&mut both);
        println!(
            "| {name} | {:.0} | {:.3} | {:.0} |",
            rate / 1e6,
            rate * 162.0 / bandwidth,
            with_errors / 1e6
        );
    }
    Ok(())
}

fn main() {
    println!("# Shapes and estimators\n\nMachine: {}", processor());
    if std::env::args().nth(1).as_deref() == Some("gpu") {
        if let Err(error) = gpu() {
            eprintln!("{error}");
            std::process::exit(1);
        }
        return;
    }
    for set in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
        println!(
            "\n## {set}, one core, 9×9, 400:40, f32 pixels, starts estimated, median of {RUNS}\n"
        );
        batches(set);
        ten(set);
    }
}

/// What windows have beside their pixels.
#[derive(Clone, Copy)]
enum Beside {
    Nothing,
    Map,
    Weights,
    /// Nothing, but errors are asked for.
    Errors,
}

/// Large batches by every method.
fn batches(set: InstructionSet) {
    println!("| method | million fits a second | times the first | evaluations | converged |");
    println!("|---|---|---|---|---|");
    let work = Workload::new(9, COUNT);
    let fitter = Simd::new(1, Some(set)).expect("a fitter");
    let camera = |value: f32| Array2::from_elem((9, 9), value);
    let (zero, one) = (camera(0.0), camera(1.0));
    let map = CameraMap::new(zero.view(), one.view(), one.view()).expect("a camera");
    let corners = vec![Corner::default(); COUNT];
    let windows = Windows::stack(work.spots.pixels.view()).with_corners(&corners);
    let mut cases: Vec<_> = methods()
        .into_iter()
        .map(|(name, options)| (name.to_owned(), options, Beside::Nothing))
        .collect();
    let more = |name: &str, words: &str, beside| {
        let found = methods().into_iter().find(|(of, _)| *of == name).expect("one of that name");
        (format!("{name}, {words}"), found.1, beside)
    };
    for (words, beside) in [("with errors", Beside::Errors), ("with a camera map", Beside::Map)] {
        cases.push(more("circular, maximum likelihood", words, beside));
        cases.push(more("elliptical, maximum likelihood", words, beside));
    }
    cases.push(more("circular", "with errors", Beside::Errors));
    cases.push(more("circular", "weighted", Beside::Weights));
    let mut times = vec![Vec::new(); cases.len()];
    let mut fits = vec![vec![Fit::<f32>::invalid(); COUNT]; cases.len()];
    let mut errors = vec![Errors::unknown(); COUNT];
    for _ in 0..RUNS {
        for (((_, options, beside), times), fits) in cases.iter().zip(&mut times).zip(&mut fits) {
            let windows = match beside {
                Beside::Map => windows.with_map(&map),
                Beside::Weights => windows.with_weights(Weights::Frame(one.view())),
                Beside::Nothing | Beside::Errors => windows,
            };
            let begin = Instant::now();
            let into = (&mut fits[..]).into();
            fitter.fit_windows(options, windows.into(), Start::Estimate, into).expect("sound");
            if matches!(beside, Beside::Errors) {
                fitter.errors_into(options, windows.into(), fits, &mut errors).expect("sound");
            }
            times.push(begin.elapsed().as_secs_f64());
        }
    }
    let first = median(&mut times[0]);
    for (((name, ..), times), fits) in cases.iter().zip(&mut times).zip(&fits) {
        let time = median(times);
        let evaluations: f64 = fits.iter().map(|fit| f64::from(fit.evaluations)).sum();
        let converged = fits.iter().filter(|fit| fit.status.is_converged()).count();
        println!(
            "| {name} | {:.3} | {:.2} | {:.2} | {:.4} |",
            COUNT as f64 / time / 1e6,
            first / time,
            evaluations / COUNT as f64,
            converged as f64 / COUNT as f64,
        );
    }
}

/// Ten windows at a time, as a live loop fits them.
fn ten(set: InstructionSet) {
    const CALLS: usize = 1000;
    println!("\nTen windows at a time (`WindowFitter`), µs a call, medians of {RUNS}:\n");
    println!("| method | µs | times the first |");
    println!("|---|---|---|");
    let work = Workload::new(9, 10 * CALLS);
    let mut fitters: Vec<_> = methods()
        .into_iter()
        .map(|(name, options)| {
            let fitter = WindowFitter::new(set, Size::new(9, 9), &options).expect("sound");
            (name, fitter, Vec::new())
        })
        .collect();
    let mut fits = [Fit::<f32>::invalid(); 10];
    for _ in 0..RUNS {
        for (_, fitter, times) in &mut fitters {
            let begin = Instant::now();
            for call in 0..CALLS {
                let spots = work.spots.pixels.slice(s![10 * call..10 * call + 10, .., ..]);
                fitter.fit_into(spots, Start::Estimate, &mut fits).expect("sound");
            }
            times.push(begin.elapsed().as_secs_f64() / CALLS as f64);
        }
    }
    let mut first = None;
    for (name, _, times) in &mut fitters {
        let time = median(times);
        let first = *first.get_or_insert(time);
        println!("| {name} | {:.2} | {:.2} |", 1e6 * time, time / first);
    }
}
