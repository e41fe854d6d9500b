//! Fits per second on the CPU: the reference in both precisions beside the explicit baseline.
//!
//! `cargo bench -p benches`

use std::hint::black_box;

use benches::Workload;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fit_core::{Fit, Options, Scalar};
use fit_cpu::Reference;
use fit_cpu::explicit::{ExplicitCriteria, fit_explicit_stack};

const COUNT: usize = 2000;

fn reference<R: Scalar>(work: &Workload, threads: usize) -> impl FnMut() -> Vec<Fit<R>> + '_ {
    let reference = Reference::<R>::new(threads).expect("threads");
    move || {
        let mut fits = vec![Fit::invalid(); work.starts.len()];
        reference
            .fit_into(&Options::default(), work.spots.pixels.view(), work.start(), &mut fits)
            .expect("sound arguments");
        fits
    }
}

fn sizes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("one core");
    group.throughput(Throughput::Elements(COUNT as u64));
    for side in [5, 7, 9, 13, 16, 32] {
        let work = Workload::new(side, COUNT);
        let mut double = reference::<f64>(&work, 1);
        work.check(&double());
        group.bench_function(BenchmarkId::new("reference f64", side), |b| b.iter(&mut double));
        let mut single = reference::<f32>(&work, 1);
        work.check(&single());
        group.bench_function(BenchmarkId::new("reference f32", side), |b| b.iter(&mut single));
        let explicit = || -> Vec<Fit<f32>> {
            let criteria = ExplicitCriteria::default();
            fit_explicit_stack(black_box(work.spots.pixels.view()), work.start(), &criteria)
                .expect("sound arguments")
        };
        work.check(&explicit());
        group.bench_function(BenchmarkId::new("explicit f32", side), |b| b.iter(explicit));
    }
    group.finish();
}

criterion_group!(benches, sizes);
criterion_main!(benches);
