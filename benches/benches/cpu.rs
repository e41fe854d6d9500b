//! Fits per second on the CPU: every instruction set beside the reference, the explicit baseline and two
//! general-purpose fitters of others; by size, by batch and by threads.
//!
//! `cargo bench -p benches`; a part of it by name, such as `cargo bench -p benches -- 'batch'`. Every
//! method's answer is checked against the truth before it is timed.

use benches::report::{AnyError, sets};
use benches::suite::methods::{Method, Room, Work, double, explicit, of_others, simd, single};
use benches::{Workload, peers};
use criterion::measurement::WallTime;
use criterion::{
    BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main,
};

/// Windows for those that take microseconds each.
const FEW: usize = 500;
/// Windows for those that take a fraction of one.
const MANY: usize = 20_000;

fn measure(
    group: &mut BenchmarkGroup<'_, WallTime>,
    (side, count, case): (usize, usize, usize),
    works: impl IntoIterator<Item = (String, Result<Work, AnyError>)>,
) {
    let work = Workload::new(side, count);
    let mut room = Room::new(false);
    room.load(&work, count);
    group.throughput(Throughput::Elements(count as u64));
    for (name, fit) in works {
        let mut method = Method::new(&name, fit.expect("available"));
        method.fit(&mut room, &work, count, None).expect("sound arguments");
        work.check(&room.outcomes(count));
        let mut fit = || method.fit(&mut room, &work, count, None);
        group.bench_function(BenchmarkId::new(name, case), |bencher| bencher.iter(&mut fit));
    }
}

fn sizes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("one core");
    for side in [5, 7, 9, 11, 13, 16, 24, 32] {
        let few = [
            ("reference f64", double(1)),
            ("reference f32", single(1)),
            ("explicit f32", Ok(explicit())),
            ("levenberg-marquardt f64", Ok(of_others(peers::levenberg_marquardt))),
            ("varpro f64", Ok(of_others(peers::varpro))),
        ];
        let few = few.map(|(name, work)| (name.to_owned(), work));
        measure(&mut group, (side, FEW, side), few);
        let many = sets().into_iter().map(|set| (set.name().to_owned(), simd(1, Some(set))));
        measure(&mut group, (side, MANY, side), many);
    }
    group.finish();
}

fn batches(criterion: &mut Criterion) {
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    for side in [5, 9, 16] {
        let mut group = criterion.benchmark_group(format!("batch, {side}x{side}"));
        for count in [10, 100, 1000, 10_000, 100_000] {
            let threads = || [1, 2, 4, 8, 16, 32, 64].into_iter().filter(|&n| n <= most);
            let all = sets().into_iter().flat_map(|set| threads().map(move |n| (set, n)));
            let of = |(set, n)| (format!("{set}, {n} threads"), simd(n, Some(set)));
            measure(&mut group, (side, count, count), all.map(of));
        }
        group.finish();
    }
}

criterion_group!(benches, sizes, batches);
criterion_main!(benches);
