//! Measures the GPU path and prints a record: `cargo run --release -p benches --bin gpu-report`; of it only some
//! parts (latency, host, several, growth, kernels) with `-- PART …`. The word `twenty` allows the fits of `kernels` 20 iterations, as the
//! papers do. Beside a library with Gpufit's interface it is measured by `cargo xtask bench --figures lw-fig5 --peer gpufit=LIBRARY`.
//!
//! Everything that is compared is measured in the same run; medians are printed.

use std::time::Instant;

use benches::bus::{Bus, bandwidth};
use benches::report::{ended, head, in_turn, median, row, timed, times};
use benches::{Workload, say};
use fit_core::{Criteria, Errors, Fit, Options, Pixel, Size, Start};
use fit_cpu::Simd;
use fit_gpu::{
    Family, Gpu, GpuError, GpuSession, Pinnable, PinnedBuffer, Resident, devices, free_memory,
};
use fit_sim::SpotSimulation;
use fit_tests::statistics::percentile;
use ndarray::{ArrayView3, s};
use rayon::prelude::*;

type Outcome = Result<(), GpuError>;

const GIGABYTE: usize = 1 << 30;

/// The median seconds of five fits of windows on the device, which are right, and of five times their errors.
fn resident<P: Pixel>(
    (pixels, start): (&[P], Start<'_>),
    work: &Workload,
    options: &Options,
    family: Option<Family>,
) -> Result<[f64; 2], GpuError> {
    let Size { width, height } = work.size();
    let count = pixels.len() / (width * height);
    let spots = ArrayView3::from_shape((count, height, width), pixels).expect("as many");
    let mut resident = Resident::new(0, spots, start)?;
    // By the device's events.
    let mut fit = || match family {
        None => resident.fit(options),
        Some(family) => resident.fit_with_family(options, family),
    };
    fit()?;
    let times = (0..5).map(|_| fit()).collect::<Result<Vec<_>, _>>()?;
    let mut fits = vec![Fit::<f32>::invalid(); count];
    resident.fetch(&mut fits)?;
    if width.min(height) >= 7 {
        work.check(&fits[..work.starts.len().min(count)]);
    }
    let mut errors = vec![Errors::unknown(); count];
    let mut errors = || resident.errors_into(options, &mut errors);
    errors()?;
    let of_errors = (0..5).map(|_| errors()).collect::<Result<Vec<_>, _>>()?;
    Ok([median(&times), median(&of_errors)])
}

fn kernels() -> Outcome {
    say!("\n## Windows on the device, start given: million fits and million pixels a second\n");
    say!("By the device's events, median of 5.\n");
    head(
        "window | f32 | u16 | u8 | f32, million pixels | u16, estimated | errors | as published, f32",
    );
    let criteria = if std::env::args().any(|argument| argument == "twenty") {
        say!("At most 20 iterations, as in the papers.\n");
        Criteria::DEFAULT.with_max_iterations(20).with_max_evaluations(100)
    } else {
        Criteria::DEFAULT
    };
    let options = Options::default().with_criteria(criteria);
    let squares = (4..=32).map(|side| (side, side));
    for (width, height) in squares.chain([(5, 9), (9, 5), (33, 12), (12, 40), (63, 63), (100, 20)])
    {
        let (size, window) = (Size::new(width, height), width * height);
        let count = if window == 81 { 10_000_000 } else { 60_000_000 / window };
        let simulated = 20_000.min(4_000_000 / window);
        let work = Workload::simulated(&SpotSimulation::new(size), simulated);
        let starts: Vec<[f32; 3]> = work.repeated_starts(count).collect();
        let all: Vec<f32> = work.repeated(count, |pixel| pixel).collect();
        let start = Start::F32(&starts);
        let shorts: Vec<u16> = work.repeated(count, |pixel| pixel as u16).collect();
        let bytes: Vec<u8> = work.repeated(count, |pixel| pixel as u8).collect();
        let few = count.min(1_000_000);
        let some = (&all[..few * window], Start::F32(&starts[..few]));
        let published = match resident(some, &work, &options, Some(Family::Published)) {
            Ok([seconds, _]) => format!("{:.1}", few as f64 / seconds / 1e6),
            // Larger than any that was published.
            Err(GpuError::NoKernel { .. }) => "-".to_owned(),
            Err(error) => return Err(error),
        };
        let rate = |seconds: f64| count as f64 / seconds / 1e6;
        let [single, errors] = resident((&all[..], start), &work, &options, None)?.map(rate);
        let [short, _] = resident((&shorts[..], start), &work, &options, None)?.map(rate);
        let [byte, _] = resident((&bytes[..], start), &work, &options, None)?.map(rate);
        let [estimated, _] =
            resident((&shorts[..], Start::Estimate), &work, &options, None)?.map(rate);
        let pixels = single * window as f64;
        say!(
            "| {width}×{height} | {single:.0} | {short:.0} | {byte:.0} | {pixels:.0} | {estimated:.0} | {errors:.0} | {published} |"
        );
    }
    Ok(())
}

fn pinned<P: Pinnable>(
    values: impl Iterator<Item = P>,
    count: usize,
) -> Result<PinnedBuffer<P>, GpuError> {
    let mut buffer = PinnedBuffer::new(count)?;
    buffer.iter_mut().zip(values).for_each(|(to, from)| *to = from);
    Ok(buffer)
}

/// Seconds of some calls with 9×9 windows, less the first.
fn calls<P: Pixel>(
    gpu: &Gpu,
    pixels: &[P],
    starts: &[[f32; 3]],
    fits: &mut [Fit<f32>],
) -> Result<Vec<f64>, GpuError> {
    let spots = ArrayView3::from_shape((starts.len(), 9, 9), pixels).expect("as many");
    times(5, || gpu.fit_into(&Options::default(), spots, Start::F32(starts), fits))
}

fn host_to_host(gpu: &Gpu) -> Outcome {
    say!("\n## From host memory to host memory: 9×9, 10⁷ windows, start given\n");
    let count = 10_000_000;
    let work = Workload::new(9, 50_000);
    let bandwidth = bandwidth(GIGABYTE)?;
    say!("Pinned host to device alone: {:.1} GB/s.\n", bandwidth / 1e9);
    head("pixels | memory | million fits a second | of the bus");
    let starts = pinned(work.repeated_starts(count), count)?;
    let mut fits = PinnedBuffer::<Fit<f32>>::new(count)?;
    let (plain_starts, mut plain_fits) = (starts.to_vec(), fits.to_vec());
    let mut rows = Rows {
        gpu,
        pinned: (&starts, &mut fits),
        pageable: (&plain_starts, &mut plain_fits),
        bandwidth,
    };
    rows.add("f32", work.repeated(count, |pixel| pixel), true)?;
    rows.add("u16", work.repeated(count, |pixel| pixel as u16), true)?;
    rows.add("u8", work.repeated(count, |pixel| pixel as u8), false)
}

/// Start values and room for outcomes in both kinds of memory.
struct Rows<'r> {
    gpu: &'r Gpu,
    pinned: (&'r [[f32; 3]], &'r mut [Fit<f32>]),
    pageable: (&'r [[f32; 3]], &'r mut [Fit<f32>]),
    bandwidth: f64,
}

impl Rows<'_> {
    fn add<P: Pixel + Pinnable>(
        &mut self,
        name: &str,
        pixels: impl Iterator<Item = P>,
        pageable: bool,
    ) -> Outcome {
        let count = self.pinned.0.len();
        let show = |memory: &str, times: &[f64]| {
            let rate = count as f64 / median(times);
            let share = rate * (81 * size_of::<P>() + 12) as f64 / self.bandwidth;
            say!("| {name} | {memory} | {:.1} | {:.1} % |", rate / 1e6, 100.0 * share);
        };
        let pixels = pinned(pixels, 81 * count)?;
        show("pinned", &calls(self.gpu, &pixels, self.pinned.0, self.pinned.1)?);
        if pageable {
            let plain = pixels.to_vec();
            drop(pixels);
            show("pageable", &calls(self.gpu, &plain, self.pageable.0, self.pageable.1)?);
        }
        Ok(())
    }
}

/// What several devices of one host gain, and what its memory and bridges allow.
fn several(count: usize) -> Outcome {
    say!("\n## Several devices: 9×9, 4·10⁷ windows, u16, start given\n");
    head(
        "devices | million fits a second, pinned | times one | ordinary memory | times one | copies in alone, GB/s | times one | \
         copies in, outcomes out, GB/s | times one",
    );
    let windows = 40_000_000;
    let work = Workload::new(9, 50_000);
    let pixels = pinned(work.repeated(windows, |pixel| pixel as u16), 81 * windows)?;
    let starts = pinned(work.repeated_starts(windows), windows)?;
    let mut fits = PinnedBuffer::<Fit<f32>>::new(windows)?;
    let (plain_pixels, plain_starts) = (pixels.to_vec(), starts.to_vec());
    let mut plain_fits = fits.to_vec();
    let numbers: Vec<usize> = (0..count).collect();
    let gpus = (1..=count).map(|n| Gpu::new(&numbers[..n])).collect::<Result<Vec<_>, _>>()?;
    let mut turns: Vec<(&Gpu, bool)> =
        gpus.iter().flat_map(|gpu| [(gpu, true), (gpu, false)]).collect();
    let fitted = in_turn(6, &mut turns, |(gpu, is_pinned)| {
        let (pixels, starts, fits) = if *is_pinned {
            (&pixels[..], &starts[..], &mut fits[..])
        } else {
            (&plain_pixels[..], &plain_starts[..], &mut plain_fits[..])
        };
        let spots = ArrayView3::from_shape((windows, 9, 9), pixels).expect("as many");
        let fit = || gpu.fit_into(&Options::default(), spots, Start::F32(starts), fits);
        timed(fit).map(|(seconds, ())| seconds)
    })?;
    work.check(&fits[..50_000]);
    work.check(&plain_fits[..50_000]);
    // What brings ordinary memory to where the devices read it.
    let mut staging = PinnedBuffer::<u16>::new(STAGED)?;
    let copied = times(3, || {
        plain_pixels.chunks_exact(STAGED).for_each(|from| {
            let parts = staging.par_chunks_mut(1 << 17).zip(from.par_chunks(1 << 17));
            parts.for_each(|(to, from)| to.copy_from_slice(from));
        });
        Outcome::Ok(())
    })?;
    let copied = (plain_pixels.len() / STAGED * STAGED * 2) as f64 / median(&copied);
    drop((pixels, starts, fits, plain_pixels, plain_starts, plain_fits, staging));
    // What the host gives to as many devices when nothing is fitted; and when they write what fits of these pixels give.
    let buses = numbers.iter().map(|&n| Ok([Bus::new(n, GIGABYTE)?, Bus::new(n, GIGABYTE)?]));
    let mut buses = buses.collect::<Result<Vec<_>, GpuError>>()?;
    let out = GIGABYTE * size_of::<Fit<f32>>() / (162 + size_of::<[f32; 3]>());
    let mut one = None;
    for (n, both) in fitted.chunks_exact(2).enumerate() {
        let [own, plain] = [0, 1].map(|i| windows as f64 / median(&both[i][1..]) / 1e6);
        let mut copied = |out| Ok::<_, GpuError>(together(&mut buses[..=n], out)? / 1e9);
        let rates = [own, plain, copied(0)?, copied(out)?];
        let one = *one.get_or_insert(rates);
        let cells =
            rates.iter().zip(one).map(|(rate, one)| format!("{rate:.1} | {:.2}", rate / one));
        say!("| {} | {} |", n + 1, cells.collect::<Vec<_>>().join(" | "));
    }
    say!(
        "\n{} threads copy {:.1} GB/s from ordinary memory to where devices read it: the pixels of {:.0} million fits a second",
        rayon::current_num_threads(),
        copied / 1e9,
        copied / 162e6
    );
    Ok(())
}

/// Pixels that are copied at a time: as many as the three chunks have that are on their way.
const STAGED: usize = 3 << 24;

/// Bytes a second to several devices at once: 16 GiB to each, without a pause, while so many bytes for each GiB come back.
fn together(buses: &mut [[Bus; 2]], out: usize) -> Result<f64, GpuError> {
    let (rounds, devices) = (16, buses.len());
    let copy = |bus: &mut Bus, bytes_in, bytes_out| {
        (0..rounds).try_for_each(|_| bus.seconds(bytes_in, bytes_out).map(|_| ()))
    };
    let (time, ()) = timed(|| {
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
    (0..10_000).try_for_each(|round| batch(1 + round * 7 % 10_000))?;
    let grown = before.abs_diff(free_memory(0)?);
    say!("\n10,000 calls took {grown} bytes of the device's memory.");
    Ok(())
}

fn latency(gpu: &Gpu) -> Outcome {
    say!("\n## Small batches, 9×9, f32, start given: microseconds, median (99.9 %)\n");
    head("windows | copies alone | session | batch, pinned | CPU, all processors | kernel alone");
    let most = 100_000;
    let work = Workload::new(9, most);
    let pixels = pinned(work.pixels().iter().copied(), 81 * most)?;
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
        let fits = &mut fits[..count];
        let mut cells = Vec::new();
        for method in 0..4 {
            let times = times(rounds, || match method {
                0 => bus.seconds(count * 336, count * size_of::<Fit<f32>>()).map(|_| ()),
                1 => session.fit_into(spots, start, fits),
                2 => gpu.fit_into(&options, spots, start, fits),
                _ => {
                    cpu.fit_into(&options, spots, start, fits).expect("sound");
                    Ok(())
                }
            })?;
            if method > 0 {
                work.check(fits);
            }
            let [typical, slow] = [0.5, 0.999].map(|share| percentile(&times, share) * 1e6);
            cells.push(format!("{typical:.1} ({slow:.0})"));
        }
        // By the device's events: what no way of moving bytes can save.
        let mut resident = Resident::new(0, spots, start)?;
        let times = (0..50).map(|_| resident.fit(&options)).collect::<Result<Vec<_>, _>>()?;
        cells.push(format!("{:.1}", median(&times) * 1e6));
        row(&[&count, &cells.join(" | ")]);
    }
    Ok(())
}

fn run() -> Outcome {
    say!("# GPU record\n");
    let begin = Instant::now();
    let all = devices()?;
    all.iter().for_each(|info| say!("{info:?}"));
    // `twenty` is no part: it changes the criteria of the kernels.
    let parts: Vec<String> = std::env::args().skip(1).filter(|part| part != "twenty").collect();
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
        say!("\nContext after {context:?}; first {count} fits {first:?} after that.");
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
    if wanted("kernels") {
        kernels()?;
    }
    Ok(())
}

fn main() {
    ended(run());
}
