//! Measures the GPU path and prints a record: `cargo run --release -p benches --bin gpu-report`; of it only some
//! parts (parity, latency, host, several, growth, grid, kernels) with `-- PART …`, beside a library with Gpufit's interface with
//! `-- libGpufit.so`. The word `twenty` allows the fits of `kernels` 20 iterations, as the papers do.
//!
//! Everything that is compared is measured in the same run; medians are printed.

use std::time::Instant;

use benches::Workload;
use benches::bus::Bus;
use benches::library::{PeerBatch, PeerLibrary};
use fit_core::{Corner, Criteria, Fit, Options, Pixel, Size, Start};
use fit_cpu::{Reference, Simd};
use fit_gpu::{
    Family, Gpu, GpuError, GpuSession, Pinnable, PinnedBuffer, Resident, devices, free_memory,
};
use fit_windows::Windows;
use ndarray::{Array3, ArrayView3, s};
use rayon::prelude::*;

type Outcome = Result<(), GpuError>;

fn seconds(work: impl FnOnce() -> Outcome) -> Result<f64, GpuError> {
    let begin = Instant::now();
    work()?;
    Ok(begin.elapsed().as_secs_f64())
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Widths and heights of the squares that have kernels of their own.
fn squares() -> impl Iterator<Item = (usize, usize)> {
    (4..=32).map(|side| (side, side))
}

/// The share of fits that are within 10⁻³ pixels of the reference, and the mean number of iterations.
fn agreement(fits: &[Fit<f32>], reference: &[Fit<f64>]) -> (f64, f64, f64) {
    let near = |(fit, reference): &(&Fit<f32>, &Fit<f64>)| {
        let off = |a: f32, b: f64| (f64::from(a) - b).abs() < 1e-3;
        fit.status == reference.status && !reference.x.is_finite()
            || off(fit.x, reference.x) && off(fit.y, reference.y) && off(fit.sigma, reference.sigma)
    };
    let count = fits.len() as f64;
    let mean = |sum: f64| sum / count;
    (
        fits.iter().zip(reference).filter(near).count() as f64 / count,
        mean(fits.iter().map(|fit| f64::from(fit.iterations)).sum()),
        mean(reference.iter().map(|fit| f64::from(fit.iterations)).sum()),
    )
}

/// Windows again and again, up to a number of them.
fn repeated<P: Copy>(pixels: &[P], window: usize, count: usize) -> impl Iterator<Item = P> + '_ {
    pixels.iter().copied().cycle().take(window * count)
}

fn parity(gpu: &Gpu) -> Outcome {
    println!("\n## Agreement with the f64 reference: share within 10⁻³ pixels (mean iterations)\n");
    println!(
        "| window | many, f32, start given | many, u16, estimated | few, f32, given | few, u8, estimated | frames, u16 | reference |"
    );
    println!("|---|---|---|---|---|---|---|");
    let options = Options::default();
    for (width, height) in squares().chain([(5, 9), (9, 5), (33, 12), (12, 40), (63, 63)]) {
        let size = Size::new(width, height);
        let count = if width * height > 1100 { 500 } else { 20_000 };
        let work = Workload::of_size(size, count);
        let pixels = work.spots.pixels.view();
        let reference = Reference::<f64>::new(0).expect("threads");
        let mut expected = vec![Fit::<f64>::invalid(); count];
        reference.fit_into(&options, pixels, work.start(), &mut expected).expect("sound");
        let mut fits = vec![Fit::<f32>::invalid(); count];
        let u16s = pixels.mapv(|pixel| pixel as u16);
        let u8s = pixels.mapv(|pixel| pixel as u8);
        let mut cells = Vec::new();
        let mut iterations = 0.0;
        let mut add = |fits: &[Fit<f32>]| {
            let (share, mine, others) = agreement(fits, &expected[..fits.len()]);
            iterations = others;
            cells.push(format!("{:.3} % ({mine:.3})", 100.0 * share));
        };
        gpu.fit_into(&options, pixels, work.start(), &mut fits)?;
        add(&fits);
        gpu.fit_into(&options, u16s.view(), Start::Estimate, &mut fits)?;
        add(&fits);
        // Too few for a thread each.
        let few = count.min(500);
        let starts = Start::F32(&work.starts[..few]);
        gpu.fit_into(&options, pixels.slice(s![..few, .., ..]), starts, &mut fits[..few])?;
        add(&fits[..few]);
        gpu.fit_into(&options, u8s.slice(s![..few, .., ..]), Start::Estimate, &mut fits[..few])?;
        add(&fits[..few]);
        // The windows side by side in a frame.
        let mut frames = Array3::<u16>::zeros((2, height * 50, width * 10));
        let corners: Vec<Corner> = (0..500u32)
            .map(|i| Corner {
                frame: i % 2,
                x: width as u32 * (i / 2 % 10),
                y: height as u32 * (i / 20),
            })
            .collect();
        for (corner, window) in corners.iter().zip(u16s.outer_iter()) {
            let (x, y) = (corner.x as usize, corner.y as usize);
            frames
                .slice_mut(s![corner.frame as usize, y..y + height, x..x + width])
                .assign(&window);
        }
        let start = Start::F32(&work.starts[..500]);
        let cut = Windows::cuts(frames.view(), size, &corners).into();
        gpu.fit_windows(&options, cut, start, (&mut fits[..500]).into())?;
        add(&fits[..500]);
        println!("| {width}×{height} | {} | ({iterations:.3}) |", cells.join(" | "));
    }
    Ok(())
}

fn kernels() -> Outcome {
    println!("\n## Windows on the device, start given: million fits and million pixels a second\n");
    println!("By the device's events, median of 5.\n");
    println!(
        "| window | f32 | u16 | u8 | f32, million pixels | u16, estimated | as published, f32 |"
    );
    println!("|---|---|---|---|---|---|---|");
    let criteria = if std::env::args().any(|argument| argument == "twenty") {
        println!("At most 20 iterations, as in the papers.\n");
        Criteria::DEFAULT.with_max_iterations(20).with_max_evaluations(100)
    } else {
        Criteria::DEFAULT
    };
    let options = Options::default().with_criteria(criteria);
    for (width, height) in squares().chain([(5, 9), (9, 5), (33, 12), (12, 40)]) {
        let (size, area) = (Size::new(width, height), width * height);
        let count = if area == 81 { 10_000_000 } else { 60_000_000 / area };
        let work = Workload::of_size(size, 20_000.min(4_000_000 / area));
        let starts: Vec<[f32; 3]> = work.starts.iter().copied().cycle().take(count).collect();
        let pixels = work.spots.pixels.as_slice().expect("standard layout");
        let shape = (count, height, width);
        let all: Vec<f32> = repeated(pixels, area, count).collect();
        let all = Array3::from_shape_vec(shape, all).expect("as many");
        fn rate<P: Pixel>(
            spots: ArrayView3<'_, P>,
            start: Start<'_>,
            work: &Workload,
            options: &Options,
            family: Option<Family>,
        ) -> Result<f64, GpuError> {
            let mut resident = Resident::new(0, spots, start)?;
            let mut times = Vec::new();
            for _ in 0..6 {
                times.push(match family {
                    None => resident.fit(options)?,
                    Some(family) => resident.fit_with_family(options, family)?,
                });
            }
            let count = spots.dim().0;
            let mut fits = vec![Fit::<f32>::invalid(); count];
            resident.fetch(&mut fits)?;
            let first = work.starts.len().min(count);
            if work.size().width.min(work.size().height) >= 7 {
                work.check(&fits[..first]);
            }
            Ok(count as f64 / median(&mut times[1..]) / 1e6)
        }
        let start = Start::F32(&starts);
        let u16s = all.mapv(|pixel| pixel as u16);
        let u8s = all.mapv(|pixel| pixel as u8);
        let single = rate(all.view(), start, &work, &options, None)?;
        let short = rate(u16s.view(), start, &work, &options, None)?;
        let bytes = rate(u8s.view(), start, &work, &options, None)?;
        let estimated = rate(u16s.view(), Start::Estimate, &work, &options, None)?;
        let few = count.min(1_000_000);
        let (some, starts) = (all.slice(s![..few, .., ..]), Start::F32(&starts[..few]));
        let published = rate(some, starts, &work, &options, Some(Family::Published))?;
        println!(
            "| {width}×{height} | {single:.0} | {short:.0} | {bytes:.0} | {:.0} | {estimated:.0} | \
             {published:.1} |",
            single * area as f64
        );
    }
    Ok(())
}

fn pinned<P: Pinnable>(
    values: impl Iterator<Item = P>,
    count: usize,
) -> Result<PinnedBuffer<P>, GpuError> {
    let mut buffer = PinnedBuffer::new(count)?;
    for (to, from) in buffer.iter_mut().zip(values) {
        *to = from;
    }
    Ok(buffer)
}

fn host_to_host(gpu: &Gpu) -> Outcome {
    println!("\n## From host memory to host memory: 9×9, 10⁷ windows, start given\n");
    let count = 10_000_000;
    let work = Workload::new(9, 50_000);
    let source = work.spots.pixels.as_slice().expect("standard layout");
    let starts = pinned(work.starts.iter().copied().cycle().take(count), count)?;
    let mut fits = PinnedBuffer::<Fit<f32>>::new(count)?;
    let mut bus = Bus::new(0, 1 << 30)?;
    let mut times: Vec<f64> = (0..5).map(|_| bus.seconds(1 << 30, 0)).collect::<Result<_, _>>()?;
    let bandwidth = (1u64 << 30) as f64 / median(&mut times);
    println!("Pinned host to device alone: {:.1} GB/s.\n", bandwidth / 1e9);
    println!("| pixels | memory | million fits a second | of the bus |");
    println!("|---|---|---|---|");
    fn row<P: Pixel>(
        gpu: &Gpu,
        name: &str,
        pixels: &[P],
        starts: &[[f32; 3]],
        fits: &mut [Fit<f32>],
        bandwidth: f64,
    ) -> Outcome {
        let count = starts.len();
        let spots = ArrayView3::from_shape((count, 9, 9), pixels).expect("as many");
        let mut times = Vec::new();
        for _ in 0..6 {
            times.push(seconds(|| {
                gpu.fit_into(&Options::default(), spots, Start::F32(starts), fits)
            })?);
        }
        let rate = count as f64 / median(&mut times[1..]);
        let share = rate * (81 * size_of::<P>() + 12) as f64 / bandwidth;
        println!("| {name} | {:.1} | {:.1} % |", rate / 1e6, 100.0 * share);
        Ok(())
    }
    let single = pinned(repeated(source, 81, count), 81 * count)?;
    row(gpu, "f32 | pinned", &single, &starts, &mut fits, bandwidth)?;
    let pageable = single.to_vec();
    drop(single);
    let pageable_starts = starts.to_vec();
    let mut pageable_fits = fits.to_vec();
    row(gpu, "f32 | pageable", &pageable, &pageable_starts, &mut pageable_fits, bandwidth)?;
    drop(pageable);
    let short = pinned(repeated(source, 81, count).map(|pixel| pixel as u16), 81 * count)?;
    row(gpu, "u16 | pinned", &short, &starts, &mut fits, bandwidth)?;
    let pageable = short.to_vec();
    row(gpu, "u16 | pageable", &pageable, &pageable_starts, &mut pageable_fits, bandwidth)?;
    drop((short, pageable));
    let bytes = pinned(repeated(source, 81, count).map(|pixel| pixel as u8), 81 * count)?;
    row(gpu, "u8 | pinned", &bytes, &starts, &mut fits, bandwidth)
}

/// What several devices of one host gain, and what its memory and bridges allow.
fn several(count: usize) -> Outcome {
    println!("\n## Several devices: 9×9, 4·10⁷ windows, u16, start given\n");
    println!(
        "| devices | million fits a second, pinned | times one | ordinary memory | times one | copies in alone, GB/s | times one | copies in, outcomes out, GB/s | times one |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let windows = 40_000_000;
    let work = Workload::new(9, 50_000);
    let source = work.spots.pixels.as_slice().expect("standard layout");
    let pixels = pinned(repeated(source, 81, windows).map(|pixel| pixel as u16), 81 * windows)?;
    let starts = pinned(work.starts.iter().copied().cycle().take(windows), windows)?;
    let mut fits = PinnedBuffer::<Fit<f32>>::new(windows)?;
    let ordinary = (pixels.to_vec(), starts.to_vec());
    let mut ordinary_fits = fits.to_vec();
    let numbers: Vec<usize> = (0..count).collect();
    let gpus = (1..=count).map(|n| Gpu::new(&numbers[..n])).collect::<Result<Vec<_>, _>>()?;
    let mut times = vec![[Vec::new(), Vec::new()]; count];
    for _ in 0..6 {
        for (gpu, times) in gpus.iter().zip(&mut times) {
            let ordinary = (&ordinary.0[..], &ordinary.1[..], &mut ordinary_fits[..]);
            let batches = [(&pixels[..], &starts[..], &mut fits[..]), ordinary];
            for ((pixels, starts, fits), times) in batches.into_iter().zip(times) {
                let spots = ArrayView3::from_shape((windows, 9, 9), pixels).expect("as many");
                let fit = || gpu.fit_into(&Options::default(), spots, Start::F32(starts), fits);
                times.push(seconds(fit)?);
            }
        }
    }
    work.check(&fits[..50_000]);
    work.check(&ordinary_fits[..50_000]);
    // What brings ordinary memory to where the devices read it.
    let mut staging = PinnedBuffer::<u16>::new(STAGED)?;
    let mut copied = Vec::new();
    for _ in 0..4 {
        copied.push(seconds(|| {
            ordinary.0.chunks_exact(STAGED).for_each(|from| {
                let parts = staging.par_chunks_mut(1 << 17).zip(from.par_chunks(1 << 17));
                parts.for_each(|(to, from)| to.copy_from_slice(from));
            });
            Ok(())
        })?);
    }
    let copied = median(&mut copied[1..]);
    let copied = (ordinary.0.len() / STAGED * STAGED * 2) as f64 / copied;
    drop((pixels, starts, fits, ordinary, ordinary_fits, staging));
    // What the host gives to as many devices when nothing is fitted; and when they write what fits of these pixels give.
    let buses = numbers.iter().map(|&n| Ok([Bus::new(n, GIGABYTE)?, Bus::new(n, GIGABYTE)?]));
    let mut buses = buses.collect::<Result<Vec<_>, GpuError>>()?;
    let out = GIGABYTE * size_of::<Fit<f32>>() / (162 + size_of::<[f32; 3]>());
    let mut one = [f64::NAN; 4];
    for (n, [pinned, ordinary]) in times.iter_mut().enumerate() {
        let fitted = |times: &mut [f64]| windows as f64 / median(times) / 1e6;
        let mut copied = |out| Ok::<_, GpuError>(together(&mut buses[..=n], out)? / 1e9);
        let rates =
            [fitted(&mut pinned[1..]), fitted(&mut ordinary[1..]), copied(0)?, copied(out)?];
        if n == 0 {
            one = rates;
        }
        let cells =
            rates.iter().zip(one).map(|(rate, one)| format!("{rate:.1} | {:.2}", rate / one));
        println!("| {} | {} |", n + 1, cells.collect::<Vec<_>>().join(" | "));
    }
    println!(
        "\n{} threads copy {:.1} GB/s from ordinary memory to where devices read it: the pixels of {:.0} million fits a second",
        rayon::current_num_threads(),
        copied / 1e9,
        copied / 162e6
    );
    Ok(())
}

const GIGABYTE: usize = 1 << 30;
/// Pixels that are copied at a time: as many as the three chunks have that are on their way.
const STAGED: usize = 3 << 24;

/// Bytes a second to several devices at once: 16 GiB to each, without a pause, while so many bytes for each GiB come back.
fn together(buses: &mut [[Bus; 2]], out: usize) -> Result<f64, GpuError> {
    let (rounds, devices) = (16, buses.len());
    let copy = |bus: &mut Bus, bytes_in, bytes_out| {
        (0..rounds).try_for_each(|_| bus.seconds(bytes_in, bytes_out).map(|_| ()))
    };
    let time = seconds(|| {
        std::thread::scope(|scope| {
            let threads: Vec<_> = buses
                .iter_mut()
                .flat_map(|[to, from]| [(to, GIGABYTE, 0), (from, 0, out)])
                .map(|(bus, to, from)| scope.spawn(move || copy(bus, to, from)))
                .collect();
            threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
        })
    })?;
    Ok((devices * rounds * GIGABYTE) as f64 / time)
}

/// Whether memory grows.
fn growth(gpu: &Gpu) -> Outcome {
    let work = Workload::new(9, 10_000);
    let mut fits = vec![Fit::<f32>::invalid(); 10_000];
    let mut batch = |count: usize| {
        let spots = work.spots.pixels.slice(s![..count, .., ..]);
        let start = Start::F32(&work.starts[..count]);
        gpu.fit_into(&Options::default(), spots, start, &mut fits[..count])
    };
    batch(10_000)?;
    let before = free_memory(0)?;
    for round in 0..10_000 {
        batch(1 + round * 7 % 10_000)?;
    }
    let after = free_memory(0)?;
    println!("\n10,000 calls took {} bytes of the device's memory.", before.abs_diff(after));
    Ok(())
}

fn latency(gpu: &Gpu) -> Outcome {
    println!("\n## Small batches, 9×9, f32, start given: microseconds, median (99.9 %)\n");
    println!(
        "| windows | copies alone | session | batch, pinned | CPU, all processors | kernel alone |"
    );
    println!("|---|---|---|---|---|---|");
    let most = 100_000;
    let work = Workload::new(9, most);
    let source = work.spots.pixels.as_slice().expect("standard layout");
    let pixels = pinned(source.iter().copied(), 81 * most)?;
    let starts = pinned(work.starts.iter().copied(), most)?;
    let mut fits = PinnedBuffer::<Fit<f32>>::new(most)?;
    let options = Options::default();
    let mut bus = Bus::new(0, 1 << 26)?;
    let cpu = Simd::new(0, None).expect("threads");
    for count in [1, 10, 100, 1000, 10_000, 100_000] {
        let rounds = (2_000_000 / count).clamp(200, 5000);
        let spots = ArrayView3::from_shape((count, 9, 9), &pixels[..81 * count]).expect("as many");
        let start = Start::F32(&starts[..count]);
        let mut session = GpuSession::new(0, Size::new(9, 9), count, &options)?;
        let mut cells = Vec::new();
        for method in 0..4 {
            let mut times = Vec::new();
            for _ in 0..rounds {
                let fits = &mut fits[..count];
                times.push(match method {
                    0 => bus.seconds(count * 336, count * size_of::<Fit<f32>>())?,
                    1 => seconds(|| session.fit_into(spots, start, fits))?,
                    2 => seconds(|| gpu.fit_into(&options, spots, start, fits))?,
                    _ => seconds(|| {
                        cpu.fit_into(&options, spots, start, fits).expect("sound");
                        Ok(())
                    })?,
                });
            }
            if method > 0 {
                work.check(&fits[..count]);
            }
            let typical = median(&mut times);
            let slow = times[(rounds as f64 * 0.999) as usize];
            cells.push(format!("{:.1} ({:.0})", typical * 1e6, slow * 1e6));
        }
        // By the device's events: what no way of moving bytes can save.
        let mut resident = Resident::new(0, spots, start)?;
        let mut times: Vec<f64> =
            (0..50).map(|_| resident.fit(&options)).collect::<Result<_, _>>()?;
        cells.push(format!("{:.1}", median(&mut times) * 1e6));
        println!("| {count} | {} |", cells.join(" | "));
    }
    Ok(())
}

/// Sizes and batches of the papers' figures, and beyond.
const SIDES: [usize; 7] = [5, 7, 9, 11, 16, 25, 32];
const BATCHES: [usize; 6] = [10, 100, 1000, 10_000, 100_000, 1_000_000];

/// Median seconds of a call for each size and batch, from pinned memory.
fn own_grid(gpu: &Gpu) -> Result<Vec<Vec<f64>>, GpuError> {
    let options = Options::default();
    let mut table = Vec::new();
    for side in SIDES {
        let most = BATCHES[BATCHES.len() - 1];
        let work = Workload::new(side, 10_000);
        let source = work.spots.pixels.as_slice().expect("standard layout");
        let window = side * side;
        let pixels = pinned(repeated(source, window, most), window * most)?;
        let starts = pinned(work.starts.iter().copied().cycle().take(most), most)?;
        let mut fits = PinnedBuffer::<Fit<f32>>::new(most)?;
        let mut row = Vec::new();
        for count in BATCHES {
            let shape = (count, side, side);
            let spots = ArrayView3::from_shape(shape, &pixels[..window * count]).expect("as many");
            let mut session =
                GpuSession::new(0, Size::new(side, side), count.min(SESSION), &options)?;
            let mut times = Vec::new();
            for _ in 0..=(200_000 / count).clamp(7, 300) {
                let (fits, start) = (&mut fits[..count], Start::F32(&starts[..count]));
                times.push(seconds(|| {
                    if count <= SESSION {
                        session.fit_into(spots, start, fits)
                    } else {
                        gpu.fit_into(&options, spots, start, fits)
                    }
                })?);
            }
            work.check(&fits[..count.min(10_000)]);
            row.push(median(&mut times[1..]));
        }
        table.push(row);
    }
    Ok(table)
}

/// The same for a library. It counts fits times points times parameters in 32 bits, so that larger batches
/// are given to it in parts. `None` where it fails; after a failure a process cannot use the device.
fn peer_grid(peer: &PeerLibrary) -> Vec<Vec<Option<f64>>> {
    let mut table = vec![Vec::new(); SIDES.len()];
    let mut failed = false;
    for count in BATCHES {
        for (row, side) in table.iter_mut().zip(SIDES) {
            let work = Workload::new(side, 10_000.min(count.max(100)));
            let parts = (count * side * side * 5).div_ceil(1 << 30);
            let each = count.div_ceil(parts);
            let mut batch = PeerBatch::new(&work, each);
            let mut times = Vec::new();
            for _ in 0..=(20_000 / count).clamp(3, 30) {
                let begin = Instant::now();
                for part in 0..parts {
                    let these = each.min(count - part * each);
                    failed = failed || peer.fit(&mut batch, these).is_err();
                }
                times.push(begin.elapsed().as_secs_f64());
            }
            if !failed {
                work.check(&batch.fits(each.min(work.starts.len())));
            }
            row.push((!failed).then(|| median(&mut times[1..])));
        }
    }
    table
}

/// The grid of the papers, beside a library with Gpufit's interface if there is one.
fn grid(gpu: &Gpu, peer: Option<&PeerLibrary>) -> Outcome {
    println!("\n## Sizes and batches, f32, start given: microseconds a call, median\n");
    println!(
        "From pinned memory; in brackets those of the library, from the memory that its interface allows,"
    );
    println!(
        "and how many times faster this is. All of one are measured before all of the other.\n"
    );
    println!("| window | 10 | 100 | 1,000 | 10,000 | 100,000 | 1,000,000 |");
    println!("|---|---|---|---|---|---|---|");
    let own = own_grid(gpu)?;
    let theirs = peer.map(peer_grid);
    for (number, side) in SIDES.into_iter().enumerate() {
        print!("| {side}×{side} |");
        for (column, own) in own[number].iter().enumerate() {
            match theirs.as_ref().map(|table| table[number][column]) {
                None => print!(" {:.1} |", own * 1e6),
                Some(None) => print!(" {:.1} (it fails) |", own * 1e6),
                Some(Some(other)) => {
                    print!(" {:.1} ({:.0}, {:.0}) |", own * 1e6, other * 1e6, other / own);
                }
            }
        }
        println!();
    }
    Ok(())
}

/// Batches of no more than this go through a session.
const SESSION: usize = 500;

fn run() -> Outcome {
    println!("# GPU record\n");
    let begin = Instant::now();
    let all = devices()?;
    for info in &all {
        println!("{info:?}");
    }
    let (libraries, parts): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.contains(".so"));
    let peer = libraries.first().map(PeerLibrary::open);
    if let Some(Err(reason)) = &peer {
        println!("{reason}");
    }
    let peer = peer.and_then(Result::ok);
    // `twenty` is no part: it changes the criteria of the kernels.
    let parts: Vec<String> = parts.into_iter().filter(|part| part != "twenty").collect();
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|wanted| wanted == part);
    // What a new process waits for.
    let gpu = Gpu::new(&[0])?;
    let context = begin.elapsed();
    let work = Workload::new(9, 30_000);
    let mut fits = vec![Fit::<f32>::invalid(); 30_000];
    for count in [10, 30_000] {
        let begin = Instant::now();
        let spots = work.spots.pixels.slice(s![..count, .., ..]);
        let start = Start::F32(&work.starts[..count]);
        gpu.fit_into(&Options::default(), spots, start, &mut fits[..count])?;
        let first = begin.elapsed();
        println!("\nContext after {context:?}; first {count} fits {first:?} after that.");
    }
    if wanted("parity") {
        parity(&gpu)?;
    }
    if wanted("latency") {
        latency(&gpu)?;
    }
    if wanted("host") {
        host_to_host(&gpu)?;
    }
    if wanted("growth") {
        growth(&gpu)?;
    }
    if wanted("several") && all.len() > 1 {
        several(all.len())?;
    }
    if wanted("grid") {
        grid(&gpu, peer.as_ref())?;
    }
    if wanted("kernels") {
        kernels()?;
    }
    Ok(())
}

fn main() {
    if let Err(error) = run() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
