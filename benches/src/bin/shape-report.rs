//! Measures every shape and estimator on one core beside the circular least-squares fit of the paper's iteration:
//! `cargo run --release -p benches --bin shape-report`.
//!
//! With `gpu` as its argument it measures the kernels of the first GPU on windows that lie in its memory, and on windows in
//! pinned memory of the host, instead: `cargo run --release -p benches --bin shape-report gpu`; sides of windows may follow.
//!
//! All are measured in turn in the same run; medians are printed, and the visits to the pixels that a fit takes.

use benches::bus::bandwidth;
use benches::report::{ended, head, in_turn, median, row, sets, timed};
use benches::suite::machine::processor;
use benches::{Workload, say};
use fit_core::spot::shape::{Elliptical, FixedSigma, Rotated};
use fit_core::{
    Background, Corner, Criteria, Errors, Estimator, Fit, Options, PixelProfile, Shape, Size, Start,
};
use fit_cpu::{BatchError, InstructionSet, Simd, WindowFitter};
use fit_gpu::{Gpu, GpuError, PinnedBuffer, Resident, devices};
use fit_windows::{CameraMap, Weights, Windows};
use ndarray::{Array2, ArrayView3, s};

const RUNS: usize = 9;
const COUNT: usize = 50_000;

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

/// The mean number of evaluations, and the share that converged.
fn ends(fits: &[Fit<f32>]) -> (f64, f64) {
    let evaluations: f64 = fits.iter().map(|fit| f64::from(fit.evaluations)).sum();
    let converged = fits.iter().filter(|fit| fit.status.is_converged()).count();
    (evaluations / fits.len() as f64, converged as f64 / fits.len() as f64)
}

/// The kernels on windows in the memory of the device, and what they find beside the processor's outcomes.
fn gpu() -> Result<(), GpuError> {
    const COUNT: usize = 2_000_000;
    let Some(device) = devices()?.into_iter().next() else {
        say!("no GPU");
        return Ok(());
    };
    say!("\n## {}, resident windows, u16, 400:40, median of {RUNS}\n", device.name);
    head(
        "method | side | million fits a second | times the first | evaluations | converged | million errors a second",
    );
    let sides: Vec<usize> = std::env::args().skip(2).filter_map(|side| side.parse().ok()).collect();
    let sides = if sides.is_empty() { vec![5, 7, 9, 13, 20] } else { sides };
    for side in sides {
        let work = Workload::new(side, COUNT * 81 / (side * side).max(81));
        let spots = work.spots.pixels.mapv(|pixel| pixel as u16);
        let count = spots.dim().0;
        let mut resident = Resident::new(0, spots.view(), Start::Estimate)?;
        let mut first = None;
        for (name, options) in methods() {
            let times = (0..RUNS).map(|_| resident.fit(&options)).collect::<Result<Vec<_>, _>>();
            let time = median(&times?);
            let over = *first.get_or_insert(time) / time;
            let mut fits = vec![Fit::<f32>::invalid(); count];
            resident.fetch(&mut fits)?;
            let (evaluations, converged) = ends(&fits);
            let mut errors = vec![Errors::unknown(); count];
            let times = (0..RUNS).map(|_| resident.errors_into(&options, &mut errors));
            let [rate, errors] = [time, median(&times.collect::<Result<Vec<_>, _>>()?)]
                .map(|time| count as f64 / time / 1e6);
            say!(
                "| {name} | {side} | {rate:.0} | {over:.2} | {evaluations:.2} | {converged:.4} | {errors:.0} |"
            );
        }
    }
    from_host()
}

/// Batches from pinned memory and back, beside copies of as many bytes as their pixels.
fn from_host() -> Result<(), GpuError> {
    const COUNT: usize = 10_000_000;
    let bandwidth = bandwidth(1 << 29)?;
    say!("\n## From pinned memory and back, 9×9, u16, median of 5\n");
    say!("The bus carries {:.1} GB/s to the device.\n", bandwidth / 1e9);
    head("method | million fits a second | share of the bus that pixels take | with errors");
    let work = Workload::new(9, 50_000);
    let mut pixels = PinnedBuffer::<u16>::new(81 * COUNT)?;
    let source = work.repeated(COUNT, |pixel| pixel as u16);
    pixels.iter_mut().zip(source).for_each(|(to, from)| *to = from);
    let mut fits = PinnedBuffer::<Fit<f32>>::new(COUNT)?;
    let mut errors = PinnedBuffer::<Errors>::new(COUNT)?;
    let spots = ArrayView3::from_shape((COUNT, 9, 9), &pixels).expect("as many pixels");
    let gpu = Gpu::new(&[0])?;
    for (name, options) in methods() {
        let (mut times, mut both) = (Vec::new(), Vec::new());
        for _ in 0..5 {
            let (fitted, ()) = timed(|| gpu.fit_into(&options, spots, Start::Estimate, &mut fits))?;
            let windows = Windows::stack(spots).into();
            let (erred, ()) = timed(|| gpu.errors_into(&options, windows, &fits, &mut errors))?;
            times.push(fitted);
            both.push(fitted + erred);
        }
        let [rate, with_errors] = [times, both].map(|times| COUNT as f64 / median(&times));
        let (million, share) = (rate / 1e6, rate * 162.0 / bandwidth);
        say!("| {name} | {million:.0} | {share:.3} | {:.0} |", with_errors / 1e6);
    }
    Ok(())
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
fn batches(set: InstructionSet) -> Result<(), BatchError> {
    head("method | million fits a second | times the first | evaluations | converged");
    let work = Workload::new(9, COUNT);
    let fitter = Simd::new(1, Some(set))?;
    let camera = |value: f32| Array2::from_elem((9, 9), value);
    let (zero, one) = (camera(0.0), camera(1.0));
    let map = CameraMap::new(zero.view(), one.view(), one.view()).expect("a camera");
    let corners = vec![Corner::default(); COUNT];
    let windows = Windows::stack(work.spots.pixels.view()).with_corners(&corners);
    let fits = || vec![Fit::<f32>::invalid(); COUNT];
    let mut cases: Vec<_> = methods()
        .into_iter()
        .map(|(name, options)| (name.to_owned(), options, Beside::Nothing, fits()))
        .collect();
    for (name, words, beside) in [
        ("circular, maximum likelihood", "with errors", Beside::Errors),
        ("elliptical, maximum likelihood", "with errors", Beside::Errors),
        ("circular, maximum likelihood", "with a camera map", Beside::Map),
        ("elliptical, maximum likelihood", "with a camera map", Beside::Map),
        ("circular", "with errors", Beside::Errors),
        ("circular", "weighted", Beside::Weights),
    ] {
        let found = methods().into_iter().find(|(of, _)| *of == name).expect("one of that name");
        cases.push((format!("{name}, {words}"), found.1, beside, fits()));
    }
    let mut errors = vec![Errors::unknown(); COUNT];
    let times = in_turn(RUNS, &mut cases, |(_, options, beside, fits)| {
        let windows = match beside {
            Beside::Map => windows.with_map(&map),
            Beside::Weights => windows.with_weights(Weights::Frame(one.view())),
            Beside::Nothing | Beside::Errors => windows,
        };
        let work = || {
            fitter.fit_windows(options, windows.into(), Start::Estimate, (&mut fits[..]).into())?;
            if matches!(beside, Beside::Errors) {
                fitter.errors_into(options, windows.into(), fits, &mut errors)?;
            }
            Ok::<_, BatchError>(())
        };
        timed(work).map(|(seconds, ())| seconds)
    })?;
    for ((name, .., fits), own) in cases.iter().zip(&times) {
        let (rate, over) = (COUNT as f64 / median(own) / 1e6, median(&times[0]) / median(own));
        let (evaluations, converged) = ends(fits);
        say!("| {name} | {rate:.3} | {over:.2} | {evaluations:.2} | {converged:.4} |");
    }
    Ok(())
}

/// Ten windows at a time, as a live loop fits them.
fn ten(set: InstructionSet) -> Result<(), BatchError> {
    const CALLS: usize = 1000;
    say!("\nTen windows at a time (`WindowFitter`), µs a call, medians of {RUNS}:\n");
    head("method | µs | times the first");
    let work = Workload::new(9, 10 * CALLS);
    let mut fitters = Vec::new();
    for (name, options) in methods() {
        fitters.push((name, WindowFitter::new(set, Size::new(9, 9), &options).expect("sound")));
    }
    let mut fits = [Fit::<f32>::invalid(); 10];
    let times = in_turn(RUNS, &mut fitters, |(_, fitter)| {
        let calls = timed(|| {
            (0..CALLS).try_for_each(|call| {
                let spots = work.spots.pixels.slice(s![10 * call..10 * call + 10, .., ..]);
                fitter.fit_into(spots, Start::Estimate, &mut fits)
            })
        });
        calls.map(|(seconds, ())| seconds / CALLS as f64)
    })?;
    for ((name, _), own) in fitters.iter().zip(&times) {
        let (time, over) = (1e6 * median(own), median(own) / median(&times[0]));
        row(&[name, &format!("{time:.2}"), &format!("{over:.2}")]);
    }
    Ok(())
}

fn main() {
    say!("# Shapes and estimators\n\nMachine: {}", processor());
    if std::env::args().nth(1).as_deref() == Some("gpu") {
        return ended(gpu());
    }
    ended(sets().into_iter().try_for_each(|set| {
        say!("\n## {set}, one core, 9×9, 400:40, f32 pixels, starts estimated, median of {RUNS}\n");
        batches(set).and_then(|()| ten(set))
    }));
}
