//! Measures the CPU path and prints a record: `cargo run --release -p benches --bin cpu-report`; with
//! `-- libCpufit.so` beside that library.
//!
//! Everything that is compared is measured in turn in the same run, and medians are printed with the
//! spread between the quartiles. The record names the processor; date and command belong beside it.

use std::hint::black_box;
use std::time::Instant;

use benches::Workload;
use benches::library::{PeerBatch, PeerLibrary};
use benches::suite::machine::processor;
use fit_core::{Fit, Options, Size, Start};
use fit_cpu::{InstructionSet, Reference, Simd, WindowFitter};
use fit_sim::{Random, SpotSimulation};
use fit_tests::explicit::{ExplicitCriteria, fit_explicit_stack};
use ndarray::{Array3, s};

const RUNS: usize = 9;

/// Median and quartiles of a rate, per second.
fn rate(count: usize, seconds: &mut [f64]) -> (f64, f64, f64) {
    seconds.sort_by(f64::total_cmp);
    let at = |share: f64| count as f64 / seconds[((seconds.len() - 1) as f64 * share) as usize];
    (at(0.5), at(0.75), at(0.25))
}

fn seconds(mut work: impl FnMut()) -> f64 {
    let begin = Instant::now();
    work();
    begin.elapsed().as_secs_f64()
}

fn sets() -> impl Iterator<Item = InstructionSet> {
    InstructionSet::ALL.into_iter().filter(|set| set.is_available())
}

/// Fits per second on one core, 10⁵ windows, start values given.
fn one_core() {
    println!("\n## One core: million fits a second, median of {RUNS} (quartiles)\n");
    println!(
        "400:40 counts Poisson, f32 pixels, start values given, default criteria, 10⁵ windows up to 9×9,"
    );
    println!("fewer of the larger ones so that the pixels are as many.\n");
    println!(
        "| window | reference f64 | explicit f32 | {} |",
        sets().map(InstructionSet::name).collect::<Vec<_>>().join(" | ")
    );
    println!("|---|---|---|{}", sets().map(|_| "---|").collect::<String>());
    for side in [4, 5, 7, 9, 11, 13, 16, 24, 32] {
        let count = 100_000 * 81 / (side * side).max(81);
        let work = Workload::new(side, count);
        let few = work.spots.pixels.slice(s![..count / 10, .., ..]);
        let few_starts = Start::F32(&work.starts[..count / 10]);
        let reference = Reference::<f64>::new(1).expect("a reference");
        let fitters: Vec<Simd> =
            sets().map(|set| Simd::new(1, Some(set)).expect("a fitter")).collect();
        let mut times = vec![Vec::new(); fitters.len() + 2];
        let mut double = vec![Fit::<f64>::invalid(); count / 10];
        let mut single = vec![Fit::<f32>::invalid(); count];
        for _ in 0..RUNS {
            times[0].push(seconds(|| {
                reference
                    .fit_into(&Options::default(), few, few_starts, &mut double)
                    .expect("sound");
            }));
            times[1].push(seconds(|| {
                let criteria = ExplicitCriteria::default();
                let fits: Vec<Fit<f32>> =
                    fit_explicit_stack(few, few_starts, &criteria).expect("sound");
                black_box(fits);
            }));
            for (fitter, times) in fitters.iter().zip(&mut times[2..]) {
                times.push(seconds(|| {
                    let pixels = work.spots.pixels.view();
                    fitter
                        .fit_into(&Options::default(), pixels, work.start(), &mut single)
                        .expect("sound");
                }));
                if side >= 7 {
                    work.check(&single);
                }
            }
        }
        print!("| {side}×{side} |");
        for (i, times) in times.iter_mut().enumerate() {
            let (median, low, high) = rate(if i < 2 { count / 10 } else { count }, times);
            print!(" {:.3} ({:.3}–{:.3}) |", median / 1e6, low / 1e6, high / 1e6);
        }
        println!();
    }
}

/// How many times as fast as a library with Gpufit's interface.
fn beside(peer: &PeerLibrary) {
    println!(
        "\n## Beside the library: one core, 10⁵ windows, start values given, million fits a second\n"
    );
    println!("Medians of {RUNS} in turn; in brackets times the library.\n");
    println!(
        "| window | library | {} |",
        sets().map(InstructionSet::name).collect::<Vec<_>>().join(" | ")
    );
    println!("|---|---|{}", sets().map(|_| "---|").collect::<String>());
    for side in [5, 7, 9, 11, 13, 16, 32] {
        let count = 100_000 * 81 / (side * side).max(81);
        let work = Workload::new(side, count);
        let mut batch = PeerBatch::new(&work, count);
        let fitters: Vec<Simd> =
            sets().map(|set| Simd::new(1, Some(set)).expect("a fitter")).collect();
        let mut times = vec![Vec::new(); fitters.len() + 1];
        let mut fits = vec![Fit::<f32>::invalid(); count];
        for _ in 0..RUNS {
            times[0].push(seconds(|| peer.fit(&mut batch, count).expect("the library fits")));
            work.check(&batch.fits(count));
            for (fitter, times) in fitters.iter().zip(&mut times[1..]) {
                times.push(seconds(|| {
                    let pixels = work.spots.pixels.view();
                    fitter
                        .fit_into(&Options::default(), pixels, work.start(), &mut fits)
                        .expect("sound");
                }));
                work.check(&fits);
            }
        }
        let rates: Vec<f64> = times.iter_mut().map(|times| rate(count, times).0).collect();
        print!("| {side}×{side} | {:.3} |", rates[0] / 1e6);
        for own in &rates[1..] {
            print!(" {:.2} ({:.1}) |", own / 1e6, own / rates[0]);
        }
        println!();
    }
}

/// A loop of nothing but multiply-adds, for what threads can gain.
fn multiply_add(threads: usize) -> f64 {
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
    seconds(|| {
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(work);
            }
        });
    })
}

fn threads() {
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    println!("\n## Threads: 9×9, 10⁶ windows, best instruction set, median of {RUNS}\n");
    println!("| threads | million fits a second | times one | multiply-add loop, times one |");
    println!("|---|---|---|---|");
    let work = Workload::new(9, 1_000_000);
    let counts: Vec<usize> = [1, 2, 4, 8, 16, 32].into_iter().filter(|&n| n <= most).collect();
    let fitters: Vec<Simd> = counts.iter().map(|&n| Simd::new(n, None).expect("threads")).collect();
    let mut times = vec![Vec::new(); counts.len()];
    let mut loops = vec![Vec::new(); counts.len()];
    let mut fits = vec![Fit::<f32>::invalid(); work.starts.len()];
    for _ in 0..RUNS {
        for (i, fitter) in fitters.iter().enumerate() {
            let pixels = work.spots.pixels.view();
            times[i].push(seconds(|| {
                fitter
                    .fit_into(&Options::default(), pixels, work.start(), &mut fits)
                    .expect("sound");
            }));
            loops[i].push(multiply_add(counts[i]));
        }
    }
    let rates: Vec<f64> = times.iter_mut().map(|t| rate(work.starts.len(), t).0).collect();
    let gains: Vec<f64> = loops.iter_mut().zip(&counts).map(|(t, &n)| rate(n, t).0).collect();
    for (i, count) in counts.iter().enumerate() {
        let (fits, gain) = (rates[i] / rates[0], gains[i] / gains[0]);
        println!("| {count} | {:.2} | {fits:.2} | {gain:.2} |", rates[i] / 1e6);
    }
}

/// A line of this process's state, in MB.
fn memory(key: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
    let kilobytes = line.trim_start_matches(':').split_whitespace().next();
    kilobytes.and_then(|number| number.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e3
}

/// Cost against the number of fits, and what it takes beside input and output.
fn many() {
    let runs = 5;
    println!("\n## Many fits: 9×9, u16, all processors, median of {runs}\n");
    println!(
        "The windows of the larger batches are those of 10⁵, again and again. Memory is the growth of"
    );
    println!("the peak while fitting, input and output being there before.\n");
    println!("| fits | nanoseconds a fit | memory beside input and output, MB |");
    println!("|---|---|---|");
    let work = Workload::new(9, 100_000);
    for count in [1000, 10_000, 100_000, 1_000_000, 10_000_000] {
        let windows = work.spots.pixels.mapv(|pixel| pixel as u16);
        let windows = windows.as_slice().expect("fresh arrays are in standard layout");
        let pixels: Vec<u16> = windows.iter().copied().cycle().take(count * 81).collect();
        let pixels = Array3::from_shape_vec((count, 9, 9), pixels).expect("as many as it takes");
        let starts: Vec<[f32; 3]> = work.starts.iter().copied().cycle().take(count).collect();
        let mut fits = vec![Fit::<f32>::invalid(); count];
        let fitter = Simd::new(0, None).expect("threads");
        let before = memory("VmHWM").max(memory("VmRSS"));
        let mut times: Vec<f64> = (0..runs)
            .map(|_| {
                seconds(|| {
                    let start = Start::F32(&starts);
                    fitter
                        .fit_into(&Options::default(), pixels.view(), start, &mut fits)
                        .expect("sound");
                })
            })
            .collect();
        let grown = memory("VmHWM") - before;
        let each = 1e9 / rate(count, &mut times).0;
        println!("| 10^{} | {each:.1} | {grown:.1} |", count.ilog10());
    }
}

fn latency() {
    println!(
        "\n## A handful of 9×9 windows with `WindowFitter`: microseconds from call to result\n"
    );
    println!("| windows | start given: median, 99.9 % | estimated: median, 99.9 % |");
    println!("|---|---|---|");
    let work = Workload::new(9, 2000);
    for count in [1, 10, 16, 50, 100] {
        let set = InstructionSet::choose().expect("an instruction set");
        let size = Size::new(9, 9);
        let mut fitter = WindowFitter::new(set, size, &Options::default()).expect("a fitter");
        let mut fits = vec![Fit::<f32>::invalid(); count];
        print!("| {count} |");
        for given in [true, false] {
            let mut times = Vec::new();
            for round in 0..20_000 {
                let first = (round * 7) % (2000 - count);
                let windows = work.spots.pixels.slice(s![first..first + count, .., ..]);
                let start = Start::F32(&work.starts[first..first + count]);
                let start = if given { start } else { Start::Estimate };
                times.push(seconds(|| fitter.fit_into(windows, start, &mut fits).expect("sound")));
            }
            times.sort_by(f64::total_cmp);
            let at = |share: f64| 1e6 * times[(times.len() as f64 * share) as usize];
            print!(" {:.1}, {:.1} |", at(0.5), at(0.999));
        }
        println!();
    }
}

/// Batches with nothing to find.
fn hopeless() {
    println!("\n## Batches without spots, 9×9, one core: time per window, times that of spots\n");
    println!("| content | given the paper's estimate | iterations |");
    println!("|---|---|---|");
    let count = 20_000;
    let size = Size::new(9, 9);
    let mut random = Random::new(4, 0);
    let mut stack = |pixel: &mut dyn FnMut(f64, f64, &mut Random) -> f64| {
        Array3::from_shape_fn((count, 9, 9), |(_, y, x)| {
            pixel(x as f64, y as f64, &mut random) as f32
        })
    };
    let spots = SpotSimulation::new(size).generate(0..count).expect("a simulation").pixels;
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
    let fitter = Simd::new(1, None).expect("a fitter");
    let mut fits = vec![Fit::<f32>::invalid(); count];
    let mut spots = 0.0;
    for (name, pixels) in &cases {
        let mut times: Vec<f64> = (0..RUNS)
            .map(|_| {
                seconds(|| {
                    fitter
                        .fit_into(&Options::default(), pixels.view(), Start::Estimate, &mut fits)
                        .expect("sound");
                })
            })
            .collect();
        let rate = rate(count, &mut times).0;
        if spots == 0.0 {
            spots = rate;
        }
        let iterations =
            fits.iter().map(|fit| f64::from(fit.iterations)).sum::<f64>() / count as f64;
        println!("| {name} | {:.2} | {iterations:.1} |", spots / rate);
    }
}

fn main() {
    println!("# CPU record\n\nMachine: {}", processor());
    for path in std::env::args_os().skip(1) {
        match PeerLibrary::open(&path) {
            Ok(peer) => beside(&peer),
            Err(reason) => println!("\n{reason}"),
        }
    }
    one_core();
    threads();
    many();
    latency();
    hopeless();
}
