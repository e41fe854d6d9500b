//! Fits per second on the CPU: every instruction set beside the reference, the explicit baseline and two
//! general-purpose fitters of others; by size, by batch and by threads.
//!
//! `cargo bench -p benches`; a part of it by name, such as `cargo bench -p benches -- 'batch'`. Every
//! method's answer is checked against the truth before it is timed.

use std::hint::black_box;

use benches::{Workload, peers};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fit_core::{Fit, Options};
use fit_cpu::{InstructionSet, Reference, Simd};
use fit_tests::explicit::{ExplicitCriteria, fit_explicit_stack};
use fit_tests::single;

/// Windows for those that take microseconds each.
const FEW: usize = 500;
/// Windows for those that take a fraction of one.
const MANY: usize = 20_000;

fn double(work: &Workload) -> impl FnMut() -> Vec<Fit<f64>> + '_ {
    let reference = Reference::<f64>::new(1).expect("one thread needs no other");
    move || {
        let mut fits = vec![Fit::invalid(); work.starts.len()];
        reference
            .fit_into(&Options::default(), work.spots.pixels.view(), work.start(), &mut fits)
            .expect("sound arguments");
        fits
    }
}

fn single(work: &Workload) -> impl FnMut() -> Vec<Fit<f32>> + '_ {
    let reference = Reference::<f32>::new(1).expect("one thread needs no other");
    move || {
        let mut fits = vec![Fit::invalid(); work.starts.len()];
        let spots = work.spots.pixels.view();
        single::fit_into(&reference, &Options::default(), spots, work.start(), &mut fits)
            .expect("sound arguments");
        fits
    }
}

fn simd(work: &Workload, threads: usize, set: InstructionSet) -> impl FnMut() + '_ {
    let fitter = Simd::new(threads, Some(set)).expect("available");
    let mut fits = vec![Fit::<f32>::invalid(); work.starts.len()];
    let mut run = move |check: bool| {
        fitter
            .fit_into(&Options::default(), work.spots.pixels.view(), work.start(), &mut fits)
            .expect("sound arguments");
        if check {
            work.check(&fits);
        }
    };
    run(true);
    move || run(false)
}

fn available() -> impl Iterator<Item = InstructionSet> {
    InstructionSet::ALL.into_iter().filter(|set| set.is_available())
}

fn sizes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("one core");
    for side in [5, 7, 9, 11, 13, 16, 24, 32] {
        let work = Workload::new(side, FEW);
        group.throughput(Throughput::Elements(FEW as u64));
        let mut double = double(&work);
        work.check(&double());
        group.bench_function(BenchmarkId::new("reference f64", side), |b| b.iter(&mut double));
        let mut single = single(&work);
        work.check(&single());
        group.bench_function(BenchmarkId::new("reference f32", side), |b| b.iter(&mut single));
        let explicit = || -> Vec<Fit<f32>> {
            let criteria = ExplicitCriteria::default();
            fit_explicit_stack(black_box(work.spots.pixels.view()), work.start(), &criteria)
                .expect("sound arguments")
        };
        work.check(&explicit());
        group.bench_function(BenchmarkId::new("explicit f32", side), |b| b.iter(explicit));
        for (name, fit) in [
            ("levenberg-marquardt f64", peers::levenberg_marquardt as fn(&Workload, usize) -> _),
            ("varpro f64", peers::varpro),
        ] {
            work.check(&fit(&work, FEW));
            group.bench_function(BenchmarkId::new(name, side), |b| b.iter(|| fit(&work, FEW)));
        }

        let work = Workload::new(side, MANY);
        group.throughput(Throughput::Elements(MANY as u64));
        for set in available() {
            let mut run = simd(&work, 1, set);
            group.bench_function(BenchmarkId::new(set.name(), side), |b| b.iter(&mut run));
        }
    }
    group.finish();
}

fn batches(criterion: &mut Criterion) {
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    for side in [5, 9, 16] {
        let mut group = criterion.benchmark_group(format!("batch, {side}x{side}"));
        for count in [10, 100, 1000, 10_000, 100_000] {
            let work = Workload::new(side, count);
            group.throughput(Throughput::Elements(count as u64));
            for set in available() {
                for threads in [1, 2, 4, 8, 16, 32, 64].into_iter().filter(|&n| n <= most) {
                    let mut run = simd(&work, threads, set);
                    let name = format!("{set}, {threads} threads");
                    group.bench_function(BenchmarkId::new(name, count), |b| b.iter(&mut run));
                }
            }
        }
        group.finish();
    }
}

criterion_group!(benches, sizes, batches);
criterion_main!(benches);
