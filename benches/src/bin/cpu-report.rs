//! Measures the CPU path and prints a record: `cargo run --release -p benches --bin cpu-report`; with
//! `-- libCpufit.so` beside that library.
//!
//! Everything that is compared is measured in turn in the same run, and medians are printed with the
//! spread between the quartiles. The record names the processor; date and command belong beside it.

use std::hint::black_box;

use benches::library::PeerLibrary;
use benches::report::{
    AnyError, ended, head, in_turn, median, memory, row, set_names, timed, times,
};
use benches::suite::machine::processor;
use benches::suite::methods::{Method, Room, double, explicit, peer, simd};
use benches::{Workload, say};
use fit_core::{Fit, Options, Size, Start};
use fit_cpu::{InstructionSet, Simd, WindowFitter};
use fit_sim::{Random, SpotSimulation};
use fit_tests::statistics::percentile;
use ndarray::{Array3, s};

const RUNS: usize = 9;

type Outcome = Result<(), AnyError>;

/// Million fits a second of methods for windows of a side, in turn; the first of them fit a tenth.
fn rates(side: usize, methods: &mut [Method], few: usize) -> Result<Vec<[f64; 3]>, AnyError> {
    let count = 100_000 * 81 / (side * side).max(81);
    let work = Workload::new(side, count);
    let mut room = Room::new(false);
    room.load(&work, count);
    let mut all: Vec<_> = methods.iter_mut().enumerate().collect();
    let of = |place: usize| if place < few { count / 10 } else { count };
    let times = in_turn(RUNS, &mut all, |(place, method)| {
        let (seconds, ()) = timed(|| method.fit(&mut room, &work, of(*place), None))?;
        if side >= 7 {
            work.check(&room.outcomes(of(*place)));
        }
        Ok::<_, AnyError>(seconds)
    })?;
    let rates = times.iter().enumerate().map(|(place, times)| {
        [0.5, 0.75, 0.25].map(|share| of(place) as f64 / percentile(times, share) / 1e6)
    });
    Ok(rates.collect())
}

/// Fits per second on one core, 10⁵ windows, start values given.
fn one_core() -> Outcome {
    say!("\n## One core: million fits a second, median of {RUNS} (quartiles)\n");
    say!(
        "400:40 counts Poisson, f32 pixels, start values given, default criteria, 10⁵ windows up to 9×9,"
    );
    say!("fewer of the larger ones so that the pixels are as many.\n");
    head(&format!("window | reference f64 | explicit f32 | {}", set_names()));
    let reference = Method::new("reference", double(1)?);
    let mut methods = vec![reference, Method::new("explicit", explicit())];
    methods.extend(Method::sets()?);
    for side in [4, 5, 7, 9, 11, 13, 16, 24, 32] {
        let cell = |[median, low, high]: [f64; 3]| format!("{median:.3} ({low:.3}–{high:.3})");
        let cells: Vec<_> = rates(side, &mut methods, 2)?.into_iter().map(cell).collect();
        say!("| {side}×{side} | {} |", cells.join(" | "));
    }
    Ok(())
}

/// How many times as fast as a library with Gpufit's interface.
fn beside(library: PeerLibrary) -> Outcome {
    say!(
        "\n## Beside the library: one core, 10⁵ windows, start values given, million fits a second\n"
    );
    say!("Medians of {RUNS} in turn; in brackets times the library.\n");
    head(&format!("window | library | {}", set_names()));
    let mut methods = vec![Method::new("library", peer(library))];
    methods.extend(Method::sets()?);
    for side in [5, 7, 9, 11, 13, 16, 32] {
        let rates = rates(side, &mut methods, 0)?;
        let theirs = rates[0][0];
        let cell = |[rate, ..]: &[f64; 3]| format!("{rate:.2} ({:.1})", rate / theirs);
        let own: Vec<String> = rates[1..].iter().map(cell).collect();
        say!("| {side}×{side} | {theirs:.3} | {} |", own.join(" | "));
    }
    Ok(())
}

/// A loop of nothing but multiply-adds, for what threads can gain.
fn multiply_add(threads: usize) {
    let work = || {
        let mut sums = [1.0f32; 64];
        for i in 0..20_000_000u32 {
            let factor = black_box(1.0 - 1e-7 * (i & 1) as f32);
            for sum in &mut sums {
                *sum = *sum * factor + 1e-9;
            }
        }
        black_box(sums);
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
}

fn threads() -> Outcome {
    say!("\n## Threads: 9×9, 10⁶ windows, best instruction set, median of {RUNS}\n");
    head("threads | million fits a second | times one | multiply-add loop, times one");
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    let count = 1_000_000;
    let work = Workload::new(9, count);
    let mut room = Room::new(false);
    room.load(&work, count);
    let mut methods = Vec::new();
    for threads in [1, 2, 4, 8, 16, 32].into_iter().filter(|&n| n <= most) {
        methods.push((threads, Method::new("", simd(threads, None)?), Vec::new()));
    }
    let times = in_turn(RUNS, &mut methods, |(threads, method, loops)| {
        let (seconds, ()) = timed(|| method.fit(&mut room, &work, count, None))?;
        let both = || {
            multiply_add(*threads);
            Ok::<_, AnyError>(())
        };
        loops.push(timed(both)?.0);
        Ok::<_, AnyError>(seconds)
    })?;
    for ((threads, _, loops), own) in methods.iter().zip(&times) {
        let rate = count as f64 / median(own) / 1e6;
        let fits = median(&times[0]) / median(own);
        let gain = *threads as f64 * median(&methods[0].2) / median(loops);
        row(&[threads, &format!("{rate:.2}"), &format!("{fits:.2}"), &format!("{gain:.2}")]);
    }
    Ok(())
}

/// Cost against the number of fits, and what it takes beside input and output.
fn many() -> Outcome {
    let runs = 5;
    say!("\n## Many fits: 9×9, u16, all processors, median of {runs}\n");
    say!(
        "The windows of the larger batches are those of 10⁵, again and again. Memory is the growth of"
    );
    say!("the peak while fitting, input and output being there before.\n");
    head("fits | nanoseconds a fit | memory beside input and output, MB");
    let work = Workload::new(9, 100_000);
    for count in [1000, 10_000, 100_000, 1_000_000, 10_000_000] {
        let pixels = work.repeated(count, |pixel| pixel as u16).collect();
        let pixels = Array3::from_shape_vec((count, 9, 9), pixels)?;
        let starts: Vec<[f32; 3]> = work.repeated_starts(count).collect();
        let mut fits = vec![Fit::<f32>::invalid(); count];
        let fitter = Simd::new(0, None)?;
        let before = memory("VmHWM").max(memory("VmRSS"));
        let mut fit =
            || fitter.fit_into(&Options::default(), pixels.view(), Start::F32(&starts), &mut fits);
        let times: Result<Vec<f64>, _> =
            (0..runs).map(|_| timed(&mut fit).map(|(seconds, ())| seconds)).collect();
        let grown = (memory("VmHWM") - before) / 1e3;
        let each = 1e9 * median(&times?) / count as f64;
        row(&[&format!("10^{}", count.ilog10()), &format!("{each:.1}"), &format!("{grown:.1}")]);
    }
    Ok(())
}

/// From call to result for a handful of windows, on the calling thread and on all.
fn latency() -> Outcome {
    say!("\n## A handful of 9×9 windows: microseconds from call to result, median, 99.9 %\n");
    head("windows | `WindowFitter`, start given | estimated | `Simd`, all processors, start given");
    let work = Workload::new(9, 2000);
    let set = InstructionSet::choose()?;
    let (size, options) = (Size::new(9, 9), Options::default());
    let all = Simd::new(0, None)?;
    for count in [1, 10, 16, 50, 100, 1000] {
        let mut own = WindowFitter::new(set, size, &options)?;
        let mut fits = vec![Fit::<f32>::invalid(); count];
        let mut cells = Vec::new();
        for way in 0..3 {
            let mut round = 0;
            let times = times(20_000, || {
                round += 1;
                let first = (round * 7) % (2000 - count);
                let windows = work.spots.pixels.slice(s![first..first + count, .., ..]);
                let start = Start::F32(&work.starts[first..first + count]);
                match way {
                    0 => own.fit_into(windows, start, &mut fits),
                    1 => own.fit_into(windows, Start::Estimate, &mut fits),
                    _ => all.fit_into(&options, windows, start, &mut fits),
                }
            })?;
            let at = |share: f64| 1e6 * percentile(&times, share);
            cells.push(format!("{:.1}, {:.1}", at(0.5), at(0.999)));
        }
        say!("| {count} | {} |", cells.join(" | "));
    }
    Ok(())
}

/// Batches with nothing to find.
fn hopeless() -> Outcome {
    say!("\n## Batches without spots, 9×9, one core: time per window, times that of spots\n");
    head("content | given the paper's estimate | iterations");
    let count = 20_000;
    let mut random = Random::new(4, 0);
    let mut stack = |pixel: &mut dyn FnMut(f64, f64, &mut Random) -> f64| {
        Array3::from_shape_fn((count, 9, 9), |(_, y, x)| {
            pixel(x as f64, y as f64, &mut random) as f32
        })
    };
    let spots = SpotSimulation::new(Size::new(9, 9)).generate(0..count)?.pixels;
    let cases = [
        ("spots, 400:40", spots),
        ("noise", stack(&mut |_, _, random| random.poisson(10.0))),
        ("normal noise", stack(&mut |_, _, random| 100.0 + random.normal())),
        ("gradient", stack(&mut |x, y, random| random.poisson(20.0 + 3.0 * x + y))),
        ("flat", stack(&mut |_, _, _| 7.0)),
        ("empty", stack(&mut |_, _, _| 0.0)),
        ("one hot pixel", stack(&mut |x, y, _| if (x, y) == (2.0, 5.0) { 4095.0 } else { 100.0 })),
        ("not numbers", stack(&mut |_, _, _| f64::NAN)),
    ];
    let fitter = Simd::new(1, None)?;
    let mut fits = vec![Fit::<f32>::invalid(); count];
    let mut first = None;
    for (name, pixels) in &cases {
        let fit =
            || fitter.fit_into(&Options::default(), pixels.view(), Start::Estimate, &mut fits);
        let time = median(&times(RUNS, fit)?);
        let over = time / *first.get_or_insert(time);
        let sum: f64 = fits.iter().map(|fit| f64::from(fit.iterations)).sum();
        row(&[name, &format!("{over:.2}"), &format!("{:.1}", sum / count as f64)]);
    }
    Ok(())
}

fn run() -> Outcome {
    say!("# CPU record\n\nMachine: {}", processor());
    for path in std::env::args_os().skip(1) {
        match PeerLibrary::open(&path) {
            Ok(library) => beside(library)?,
            Err(reason) => say!("\n{reason}"),
        }
    }
    one_core()?;
    threads()?;
    many()?;
    latency()?;
    hopeless()
}

fn main() {
    ended(run());
}
