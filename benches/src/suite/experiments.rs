//! The measurements. Each fills cells of the record; a cell that is there already is not measured again.

use std::time::Instant;

use fit_core::{Criteria, Fit, Options, Size, Start, Status};
use fit_cpu::Simd;
use fit_gpu::{Gpu, GpuError, GpuSession, Pinnable, PinnedBuffer, Resident};
use fit_sim::papers::TABLE_1;
use fit_sim::{GpufitBenchmark, Noise, SpotSimulation, Truth};
use fit_tests::bounds::{cramer_rao, cramer_rao_with};
use fit_tests::explicit::ExplicitStart;
use fit_tests::statistics::{median_mean_std, percentile};
use indicatif::ProgressBar;
use ndarray::ArrayView3;
use rayon::prelude::*;

use super::SuiteError;
use super::crowds;
use super::end_to_end::{self, Programs};
use super::formulas;
use super::methods::{Backend, Method, Room, Roster};
use super::record::{Cell, Data, Errors, Journal, Timing};
use super::stated;
use super::timing::Budget;
use crate::Workload;
use crate::bus::Bus;

/// A group of measurements that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Experiment {
    /// Seconds a call by size and batch: the paper's windows.
    Grid,
    /// Errors, iterations and ends of fits in the cases of Table 1.
    Table1,
    /// The same in the cases of the supplement.
    Supplement,
    /// The share of fits that the paper's χ² test ends unfitted, by size.
    Unfitted,
    /// Seconds a call by the number of fits: the windows published with Gpufit.
    Number,
    /// The same by size.
    Side,
    /// Where the time goes.
    Parts,
    /// Errors by signal-to-noise ratio.
    Snr,
    /// Share of the bus.
    Bus,
    /// Percentiles of small batches.
    Latency,
    /// Errors against the Cramér–Rao bound up to a million counts.
    Bound,
    /// Errors against those that fits state, for every shape, estimator and camera.
    Stated,
    /// Formulas beside models written in Rust, and linear parameters eliminated.
    Formulas,
    /// Spots that overlap.
    Crowds,
    /// Whole commands, from file to table.
    EndToEnd,
}

impl Experiment {
    /// Its name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Grid => "grid",
            Self::Table1 => "table1",
            Self::Supplement => "supplement",
            Self::Unfitted => "unfitted",
            Self::Number => "number",
            Self::Side => "side",
            Self::Parts => "parts",
            Self::Snr => "snr",
            Self::Bus => "bus",
            Self::Latency => "latency",
            Self::Bound => "bound",
            Self::Stated => "stated",
            Self::Formulas => "formulas",
            Self::Crowds => "crowds",
            Self::EndToEnd => "end-to-end",
        }
    }
}

/// Batches of the paper's figures, and beyond.
pub const BATCHES: [usize; 6] = [10, 100, 1000, 10_000, 100_000, 1_000_000];
/// The paper's repetitions for each; a single run is none.
const REPETITIONS: [usize; 6] = [200, 20, 10, 5, 5, 5];
/// Bytes of pixels that a batch may have.
const MEMORY: usize = 1 << 30;
/// Sides of the supplement's windows, and counts of its spots.
pub const SUPPLEMENT: ([usize; 3], [f64; 3]) = ([7, 9, 11], [160.0, 400.0, 1000.0]);
/// Signal-to-noise ratios.
pub const SNR: [f64; 11] = [1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0];
/// Counts of a spot, for the bound.
pub const SIGNALS: [f64; 7] = [100.0, 300.0, 1e3, 3e3, 1e4, 1e5, 1e6];
/// Iterations allowed in the benchmark published with Gpufit.
const GPUFIT_ITERATIONS: u16 = 10;
/// What takes milliseconds a fit is judged by so many.
pub const FEW: usize = 4000;

/// A run under way.
pub struct Run {
    /// What there is so far.
    pub journal: Journal,
    /// What fits.
    pub roster: Roster,
    /// The memory.
    pub room: Room,
    /// How times are taken.
    pub budget: Budget,
    /// Whether it is short.
    pub quick: bool,
    /// The seed of all simulations.
    pub seed: u64,
    /// What runs whole commands.
    pub programs: Programs,
    /// How far it is.
    pub progress: ProgressBar,
}

/// A case of Table 1, as it is called in records.
pub fn case_of(signal: f64, background: f64) -> String {
    format!("{signal}:{background}")
}

impl Run {
    /// Sides of the grid's windows.
    pub fn sides(quick: bool) -> Vec<usize> {
        if quick { vec![5, 9, 16] } else { (4..=32).collect() }
    }

    /// Batches of the grid.
    pub fn batches(quick: bool) -> &'static [usize] {
        if quick { &BATCHES[..3] } else { &BATCHES }
    }

    /// Numbers of fits a call of the benchmark published with Gpufit.
    pub fn numbers(quick: bool) -> Vec<usize> {
        let last = if quick { 10_000 } else { 10_000_000 };
        let steps = (1..8).flat_map(|power| [10usize.pow(power), 3 * 10usize.pow(power)]);
        steps.take_while(|&number| number <= last).collect()
    }

    /// Sides of the same by size.
    pub fn gpufit_sides(quick: bool) -> Vec<usize> {
        (5..=25).step_by(if quick { 10 } else { 2 }).collect()
    }

    /// How many cells an experiment has, for telling how long it still takes.
    pub fn cells(&self, experiment: Experiment) -> usize {
        let (timed, judged) = (self.roster.timed.len(), self.judged_plainly().len());
        let crates = self.roster.crates.len();
        let quick = self.quick;
        match experiment {
            Experiment::Grid => Self::sides(quick).len() * Self::batches(quick).len() * timed,
            Experiment::Table1 => TABLE_1.len() * self.roster.judged.len(),
            Experiment::Supplement => 9 * judged,
            Experiment::Unfitted => Self::sides(quick).len() * self.judged_by_paper().len(),
            Experiment::Number => Self::numbers(quick).len() * (timed + crates),
            Experiment::Side => Self::gpufit_sides(quick).len() * (timed + crates),
            Experiment::Parts => 2,
            Experiment::Snr => SNR.len() * (judged + crates),
            Experiment::Bus => 3,
            Experiment::Latency => 12,
            Experiment::Bound => SIGNALS.len() * judged,
            Experiment::Stated => stated::cells(),
            Experiment::Formulas => formulas::cells(),
            Experiment::Crowds => crowds::cells(),
            Experiment::EndToEnd => end_to_end::cells(self.roster.gpu),
        }
    }

    /// Makes the measurements of an experiment.
    ///
    /// # Errors
    /// [`SuiteError`] if the journal cannot be written.
    pub fn run(&mut self, experiment: Experiment) -> Result<(), SuiteError> {
        self.progress.set_message(experiment.name());
        match experiment {
            Experiment::Grid => self.grid(),
            Experiment::Table1 => self.table_1(),
            Experiment::Supplement => self.supplement(),
            Experiment::Unfitted => self.unfitted(),
            Experiment::Number => self.number(),
            Experiment::Side => self.side(),
            Experiment::Parts => self.parts(),
            Experiment::Snr => self.snr(),
            Experiment::Bus => self.bus(),
            Experiment::Latency => self.latency(),
            Experiment::Bound => self.bound(),
            Experiment::Stated => self.stated(),
            Experiment::Formulas => self.formulas(),
            Experiment::Crowds => self.crowds(),
            Experiment::EndToEnd => self.end_to_end(),
        }
    }

    pub(super) fn done(&self, experiment: Experiment, method: &str, case: &str) -> bool {
        self.journal.record.get(experiment.name(), method, case).is_some()
    }

    pub(super) fn add(
        &mut self,
        experiment: Experiment,
        method: &str,
        case: String,
        data: Data,
    ) -> Result<(), SuiteError> {
        let experiment = experiment.name().to_owned();
        self.progress.inc(1);
        self.journal.add(Cell { experiment, method: method.to_owned(), case, data })
    }

    /// The methods that are judged in every case; the others tell what criteria and rounding do.
    fn judged_plainly(&self) -> Vec<usize> {
        let plain = |i: &usize| !self.roster.judged[*i].name.contains("paper's");
        (0..self.roster.judged.len()).filter(plain).collect()
    }

    fn judged_by_paper(&self) -> Vec<usize> {
        let paper = |i: &usize| {
            let method = &self.roster.judged[*i];
            method.name.ends_with("paper's criteria")
                || method.backend == Some(Backend::GpuPublished)
        };
        (0..self.roster.judged.len()).filter(paper).collect()
    }

    /// Takes the time of a method for a number of windows of the room.
    fn time(
        &mut self,
        pick: Pick,
        work: &Workload,
        count: usize,
        repetitions: usize,
        most_iterations: Option<u16>,
    ) -> Data {
        let Self { roster, room, budget, .. } = self;
        let method = pick.of(roster);
        let side = work.size().width;
        let samples =
            budget.measure(repetitions, || method.fit(room, work, count, most_iterations));
        match samples {
            Err(reason) => Data::Missing(reason),
            Ok(samples) => {
                let fits = method.outcomes(room, count.min(work.starts.len()));
                // The paper's χ² test leaves large windows unfitted.
                let strict = method.backend != Some(Backend::GpuPublished);
                match work.off(&fits) {
                    Some(off) if strict => Data::Missing(format!("the fits are wrong: {off}")),
                    _ => {
                        let [low, median, high] = samples.quartiles;
                        let (runs, calls) = (samples.runs, samples.calls);
                        Data::Time(Timing { side, fits: count, runs, calls, median, low, high })
                    }
                }
            }
        }
    }

    /// Times of a method for growing numbers of fits, until a call takes more than the budget.
    fn times(
        &mut self,
        experiment: Experiment,
        pick: Pick,
        work: &Workload,
        counts: &[(usize, usize, String)],
        most_iterations: Option<u16>,
    ) -> Result<(), SuiteError> {
        let name = pick.of(&mut self.roster).name.clone();
        let mut stopped = None;
        for (count, repetitions, case) in counts {
            if let Some(data) = self.journal.record.get(experiment.name(), &name, case) {
                stopped = stopped.or_else(|| self.budget.stops(data, 10 * count));
                self.progress.inc(1);
                continue;
            }
            let bytes = count * work.size().pixels() * size_of::<f32>();
            let data = if bytes > MEMORY {
                Data::Missing("more than 1 GiB of pixels".to_owned())
            } else if let Some(reason) = &stopped {
                Data::Missing(String::clone(reason))
            } else {
                self.time(pick, work, *count, *repetitions, most_iterations)
            };
            let next = counts.iter().map(|(other, _, _)| *other).find(|other| other > count);
            stopped = stopped.or_else(|| self.budget.stops(&data, next.unwrap_or(*count)));
            self.add(experiment, &name, case.clone(), data)?;
        }
        Ok(())
    }

    fn picks(&self, crates: bool) -> Vec<Pick> {
        let timed = (0..self.roster.timed.len()).map(Pick::Timed);
        let crates = (0..if crates { self.roster.crates.len() } else { 0 }).map(Pick::Crate);
        timed.chain(crates).collect()
    }

    fn grid(&mut self) -> Result<(), SuiteError> {
        for side in Self::sides(self.quick) {
            let window = side * side;
            let counts: Vec<(usize, usize, String)> = Self::batches(self.quick)
                .iter()
                .zip(REPETITIONS)
                .map(|(&batch, repetitions)| (batch, repetitions, format!("{side} {batch}")))
                .collect();
            let simulation = simulation(side).with_seed(self.seed);
            let work = Workload::simulated(&simulation, 10_000.min(4_000_000 / window));
            let most = Self::batches(self.quick).iter().copied().max().unwrap_or(0);
            self.room.load(&work, most.min(MEMORY / size_of::<f32>() / window));
            for pick in self.picks(false) {
                self.times(Experiment::Grid, pick, &work, &counts, None)?;
            }
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), SuiteError> {
        let benchmark = GpufitBenchmark::new(Size::new(5, 5)).with_seed(self.seed);
        let work = Workload::gpufit(&benchmark, 100_000);
        let numbers = Self::numbers(self.quick);
        self.room.load(&work, numbers.iter().copied().max().unwrap_or(0));
        let counts: Vec<(usize, usize, String)> =
            numbers.into_iter().map(|n| (n, (20_000 / n).max(5), n.to_string())).collect();
        for pick in self.picks(true) {
            self.times(Experiment::Number, pick, &work, &counts, Some(GPUFIT_ITERATIONS))?;
        }
        Ok(())
    }

    fn side(&mut self) -> Result<(), SuiteError> {
        let most = if self.quick { 1000 } else { 100_000 };
        for side in Self::gpufit_sides(self.quick) {
            let size = Size::new(side, side);
            let benchmark = GpufitBenchmark::new(size).with_seed(self.seed);
            let work = Workload::gpufit(&benchmark, 10_000);
            self.room.load(&work, most);
            for pick in self.picks(true) {
                let name = pick.of(&mut self.roster).name.clone();
                let case = side.to_string();
                if self.done(Experiment::Side, &name, &case) {
                    self.progress.inc(1);
                    continue;
                }
                // As many fits as the budget has time for.
                let mut best = Data::Missing("nothing was measured".to_owned());
                let mut count = 100;
                while count <= most {
                    let data = self.time(pick, &work, count, 5, Some(GPUFIT_ITERATIONS));
                    let stopped = self.budget.stops(&data, 10 * count).is_some();
                    if !matches!(data, Data::Missing(_)) || count == 100 {
                        best = data;
                    }
                    if stopped {
                        break;
                    }
                    count *= 10;
                }
                self.add(Experiment::Side, &name, case, best)?;
            }
        }
        Ok(())
    }

    /// Judges methods by windows whose truth is known.
    fn judge(
        &mut self,
        experiment: Experiment,
        case: &str,
        picks: &[Pick],
        most_iterations: Option<u16>,
        make: impl Fn() -> (Workload, Vec<Option<[f64; 3]>>),
    ) -> Result<(), SuiteError> {
        let names: Vec<String> =
            picks.iter().map(|pick| pick.of(&mut self.roster).name.clone()).collect();
        if names.iter().all(|name| self.done(experiment, name, case)) {
            self.progress.inc(names.len() as u64);
            return Ok(());
        }
        let (work, bounds) = make();
        self.room.load(&work, work.starts.len());
        for (&pick, name) in picks.iter().zip(&names) {
            if self.done(experiment, name, case) {
                self.progress.inc(1);
                continue;
            }
            let Self { roster, room, seed, .. } = self;
            let method = pick.of(roster);
            let all = work.starts.len();
            let count = if matches!(pick, Pick::Crate(_)) { all.min(FEW) } else { all };
            let data = match method.fit(room, &work, count, most_iterations) {
                Err(reason) => Data::Missing(reason),
                Ok(()) => {
                    let fits = method.outcomes(room, count);
                    Data::Errors(Box::new(errors(&fits, &work.spots.truth, &bounds, *seed)))
                }
            };
            self.add(experiment, name, case.to_owned(), data)?;
        }
        Ok(())
    }

    fn table_1(&mut self) -> Result<(), SuiteError> {
        let picks: Vec<Pick> = (0..self.roster.judged.len()).map(Pick::Judged).collect();
        for row in TABLE_1 {
            let (signal, background) = (row.signal, row.background);
            let simulation =
                simulation(9).with_signal(signal).with_background(background).with_seed(self.seed);
            let make = || with_bounds(Workload::simulated(&simulation, 100_000));
            self.judge(Experiment::Table1, &case_of(signal, background), &picks, None, make)?;
        }
        Ok(())
    }

    fn supplement(&mut self) -> Result<(), SuiteError> {
        let picks: Vec<Pick> = self.judged_plainly().into_iter().map(Pick::Judged).collect();
        let count = if self.quick { 5000 } else { 100_000 };
        let (sides, signals) = SUPPLEMENT;
        for signal in signals {
            for side in sides {
                let background = (side * side) as f64;
                let simulation = simulation(side)
                    .with_signal(signal)
                    .with_background(background)
                    .with_seed(self.seed);
                let case = format!("{side} {signal}");
                let make = || with_bounds(Workload::simulated(&simulation, count));
                self.judge(Experiment::Supplement, &case, &picks, None, make)?;
            }
        }
        Ok(())
    }

    fn unfitted(&mut self) -> Result<(), SuiteError> {
        let picks: Vec<Pick> = self.judged_by_paper().into_iter().map(Pick::Judged).collect();
        let count = if self.quick { 2000 } else { 20_000 };
        for side in Self::sides(self.quick) {
            // With the paper's noise: most pixels of a large window are rounded to zero, which makes χ² small.
            let noise = Noise::Paper;
            let simulation = simulation(side).with_seed(self.seed).with_noise(noise);
            let make = || {
                let work = Workload::simulated(&simulation, count);
                let bounds = vec![None; count];
                (work, bounds)
            };
            self.judge(Experiment::Unfitted, &side.to_string(), &picks, None, make)?;
        }
        Ok(())
    }

    fn snr(&mut self) -> Result<(), SuiteError> {
        let crates = (0..self.roster.crates.len()).map(Pick::Crate);
        let picks: Vec<Pick> =
            self.judged_plainly().into_iter().map(Pick::Judged).chain(crates).collect();
        let count = if self.quick { FEW } else { 50_000 };
        for snr in SNR {
            let size = Size::new(5, 5);
            let benchmark = GpufitBenchmark::new(size).with_snr(snr).with_seed(self.seed);
            let make = || {
                let work = Workload::gpufit(&benchmark, count);
                let variance = benchmark.noise() * benchmark.noise();
                let bound = |truth: &Truth| cramer_rao_with(size, truth, |_| variance);
                let bounds = work.spots.truth.par_iter().map(bound).collect();
                (work, bounds)
            };
            let most = Some(GPUFIT_ITERATIONS);
            self.judge(Experiment::Snr, &snr.to_string(), &picks, most, make)?;
        }
        Ok(())
    }

    fn bound(&mut self) -> Result<(), SuiteError> {
        let picks: Vec<Pick> = self.judged_plainly().into_iter().map(Pick::Judged).collect();
        let count = if self.quick { 10_000 } else { 100_000 };
        for signal in SIGNALS {
            let background = signal / 10.0;
            let simulation =
                simulation(9).with_signal(signal).with_background(background).with_seed(self.seed);
            let make = || with_bounds(Workload::simulated(&simulation, count));
            self.judge(Experiment::Bound, &signal.to_string(), &picks, None, make)?;
        }
        Ok(())
    }

    /// Where the time goes: 5×5 windows of the benchmark published with Gpufit.
    fn parts(&mut self) -> Result<(), SuiteError> {
        let count = if self.quick { 100_000 } else { 5_000_000 };
        let experiment = Experiment::Parts;
        let size = Size::new(5, 5);
        let benchmark = GpufitBenchmark::new(size).with_seed(self.seed);
        let work = Workload::gpufit(&benchmark, 100_000);
        self.room.load(&work, count);
        let source = work.spots.pixels.as_slice().expect("standard layout");
        let pixels: Vec<f32> = source.iter().copied().cycle().take(count * 25).collect();
        // The start values that would be estimated, so that the difference is the estimate and nothing else.
        let estimate = |window: &[f32]| {
            let shape = ExplicitStart::estimate(window, size, None).shape;
            [shape.x, shape.y, shape.sigma]
        };
        let starts: Vec<[f32; 3]> = source.par_chunks_exact(25).map(estimate).collect();
        let starts: Vec<[f32; 3]> = starts.into_iter().cycle().take(count).collect();
        let spots = ArrayView3::from_shape((count, 5, 5), &pixels).expect("as many pixels");
        let criteria = Criteria::DEFAULT.with_max_iterations(GPUFIT_ITERATIONS.into());
        let options = Options::default().with_criteria(criteria);

        let wanted = |run: &Self, backend: Backend| {
            run.roster.timed.iter().any(|method| method.backend == Some(backend))
                && !run.done(experiment, backend.name(), "fit")
        };
        if wanted(self, Backend::Cpu) {
            let mut fits = vec![Fit::<f32>::invalid(); count];
            let result = Simd::new(0, None).map_err(|error| error.to_string()).and_then(|simd| {
                let mut time = |start: Start<'_>| {
                    median_of(5, || {
                        let result = simd.fit_into(&options, spots, start, &mut fits);
                        result.map_err(|error| error.to_string())
                    })
                };
                Ok([("fit", time(Start::F32(&starts))?), ("all", time(Start::Estimate)?)])
            });
            match result {
                Err(reason) => {
                    self.add(experiment, "cpu", "fit".to_owned(), Data::Missing(reason))?;
                }
                Ok([(_, fit), (_, all)]) => {
                    let estimate = Data::Value((all - fit).max(0.0));
                    self.add(experiment, "cpu", "initial values".to_owned(), estimate)?;
                    self.add(experiment, "cpu", "fit".to_owned(), Data::Value(fit))?;
                }
            }
        } else {
            self.progress.inc(1);
        }
        if wanted(self, Backend::Gpu) {
            let measured = || -> Result<[(&str, f64); 4], GpuError> {
                let bytes = count * (25 * size_of::<f32>() + 12);
                let mut bus = Bus::new(0, bytes)?;
                let outcomes = count * size_of::<Fit<f32>>();
                let mut given = Resident::new(0, spots, Start::F32(&starts))?;
                let fit = median_of(5, || given.fit(&options).map(|_| ()))?;
                let mut estimated = Resident::new(0, spots, Start::Estimate)?;
                let all = median_of(5, || estimated.fit(&options).map(|_| ()))?;
                Ok([
                    ("copy in", median_of(5, || bus.seconds(bytes, 0).map(|_| ()))?),
                    ("initial values", (all - fit).max(0.0)),
                    ("fit", fit),
                    ("copy out", median_of(5, || bus.seconds(0, outcomes).map(|_| ()))?),
                ])
            };
            match measured() {
                Err(error) => {
                    let reason = Data::Missing(error.to_string());
                    self.add(experiment, "gpu", "fit".to_owned(), reason)?;
                }
                Ok(parts) => {
                    for (part, seconds) in parts {
                        self.add(experiment, "gpu", part.to_owned(), Data::Value(seconds))?;
                    }
                }
            }
        } else {
            self.progress.inc(1);
        }
        Ok(())
    }

    /// Fits a second from pinned memory to pinned memory, and the share of the bus that this is.
    fn bus(&mut self) -> Result<(), SuiteError> {
        if !self.gpu_timed() {
            self.progress.inc(3);
            return Ok(());
        }
        let count = if self.quick { 100_000 } else { 10_000_000 };
        let simulation = simulation(9).with_seed(self.seed);
        let work = Workload::simulated(&simulation, 50_000);
        fn share<P: Pinnable + fit_core::Pixel>(
            work: &Workload,
            count: usize,
            convert: impl Fn(f32) -> P,
        ) -> Result<[f64; 2], GpuError> {
            let mut bus = Bus::new(0, 1 << 29)?;
            let mut bandwidths = Vec::new();
            for _ in 0..5 {
                bandwidths.push((1u64 << 29) as f64 / bus.seconds(1 << 29, 0)?);
            }
            let mut pixels = PinnedBuffer::<P>::new(81 * count)?;
            let source = work.spots.pixels.iter().cycle();
            pixels.iter_mut().zip(source).for_each(|(to, &from)| *to = convert(from));
            let mut starts = PinnedBuffer::<[f32; 3]>::new(count)?;
            starts.iter_mut().zip(work.starts.iter().cycle()).for_each(|(to, from)| *to = *from);
            let mut fits = PinnedBuffer::<Fit<f32>>::new(count)?;
            let spots = ArrayView3::from_shape((count, 9, 9), &pixels).expect("as many pixels");
            let gpu = Gpu::new(&[0])?;
            let seconds = median_of(5, || {
                gpu.fit_into(&Options::default(), spots, Start::F32(&starts), &mut fits)
            })?;
            let bytes = (81 * size_of::<P>() + size_of::<[f32; 3]>()) as f64;
            let rate = count as f64 / seconds;
            Ok([rate, rate * bytes / percentile(&bandwidths, 0.5)])
        }
        for kind in ["f32", "u16", "u8"] {
            if self.done(Experiment::Bus, kind, "rate") {
                self.progress.inc(1);
                continue;
            }
            let result = match kind {
                "f32" => share(&work, count, |pixel| pixel),
                "u16" => share(&work, count, |pixel| pixel as u16),
                _ => share(&work, count, |pixel| pixel as u8),
            };
            match result {
                Err(error) => {
                    let reason = Data::Missing(error.to_string());
                    self.add(Experiment::Bus, kind, "rate".to_owned(), reason)?;
                }
                Ok([rate, share]) => {
                    self.add(Experiment::Bus, kind, "share".to_owned(), Data::Value(share))?;
                    self.add(Experiment::Bus, kind, "rate".to_owned(), Data::Value(rate))?;
                }
            }
        }
        Ok(())
    }

    fn gpu_timed(&self) -> bool {
        self.roster.timed.iter().any(|method| method.backend == Some(Backend::Gpu))
    }

    /// Percentiles of small batches of 9×9 windows.
    fn latency(&mut self) -> Result<(), SuiteError> {
        let simulation = simulation(9).with_seed(self.seed);
        let work = Workload::simulated(&simulation, 1000);
        let calls = if self.quick { 200 } else { 3000 };
        let source = work.spots.pixels.as_slice().expect("standard layout");
        let options = Options::default();
        let cpu = self.roster.timed.iter().any(|method| method.backend == Some(Backend::Cpu));
        for count in [1, 10, 100, 1000] {
            let spots =
                ArrayView3::from_shape((count, 9, 9), &source[..81 * count]).expect("as many");
            let start = Start::F32(&work.starts[..count]);
            let mut fits = vec![Fit::<f32>::invalid(); count];
            let case = count.to_string();
            let mut found: Vec<(&str, Result<Data, String>)> = Vec::new();
            if cpu && !self.done(Experiment::Latency, "cpu", &case) {
                let simd = Simd::new(0, None).map_err(|error| error.to_string());
                let data = simd.and_then(|simd| {
                    percentiles(calls, || {
                        let result = simd.fit_into(&options, spots, start, &mut fits);
                        result.map_err(|error| error.to_string())
                    })
                });
                found.push(("cpu", data));
            }
            if self.gpu_timed() && !self.done(Experiment::Latency, "gpu session", &case) {
                let text = |error: GpuError| error.to_string();
                let data = GpuSession::new(0, Size::new(9, 9), count, &options)
                    .map_err(text)
                    .and_then(|mut session| {
                        percentiles(calls, || {
                            session.fit_into(spots, start, &mut fits).map_err(text)
                        })
                    });
                found.push(("gpu session", data));
                let data = Bus::new(0, 1 << 20).map_err(text).and_then(|mut bus| {
                    let (inwards, out) = (count * 336, count * size_of::<Fit<f32>>());
                    percentiles(calls, || bus.seconds(inwards, out).map(|_| ()).map_err(text))
                });
                found.push(("copies alone", data));
            }
            self.progress.inc(3 - found.len() as u64);
            for (method, data) in found {
                let data = data.unwrap_or_else(Data::Missing);
                self.add(Experiment::Latency, method, case.clone(), data)?;
            }
        }
        Ok(())
    }
}

/// One of the roster's methods.
#[derive(Clone, Copy)]
enum Pick {
    Timed(usize),
    Judged(usize),
    Crate(usize),
}

impl Pick {
    fn of(self, roster: &mut Roster) -> &mut Method {
        match self {
            Self::Timed(i) => &mut roster.timed[i],
            Self::Judged(i) => &mut roster.judged[i],
            Self::Crate(i) => &mut roster.crates[i],
        }
    }
}

impl Budget {
    /// Why a call of so many fits is not to be made after what is known, if it is not.
    fn stops(&self, data: &Data, fits: usize) -> Option<String> {
        match data {
            Data::Missing(reason) if reason.starts_with("stopped") => Some(reason.clone()),
            Data::Time(timing) => {
                let seconds = timing.median / timing.fits as f64 * fits as f64;
                (seconds > self.seconds).then(|| {
                    format!(
                        "stopped: a call would take about {seconds:.1} s, and a cell may take {} s",
                        self.seconds
                    )
                })
            }
            _ => None,
        }
    }
}

fn simulation(side: usize) -> SpotSimulation {
    SpotSimulation::new(Size::new(side, side))
}

fn with_bounds(work: Workload) -> (Workload, Vec<Option<[f64; 3]>>) {
    let size = work.size();
    let bounds = work.spots.truth.par_iter().map(|truth| cramer_rao(size, truth)).collect();
    (work, bounds)
}

/// The median of the seconds of some calls, after one that does not count.
fn median_of<E>(runs: usize, mut work: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
    work()?;
    let mut times = Vec::new();
    for _ in 0..runs {
        let begin = Instant::now();
        work()?;
        times.push(begin.elapsed().as_secs_f64());
    }
    Ok(percentile(&times, 0.5))
}

fn percentiles(calls: usize, mut work: impl FnMut() -> Result<(), String>) -> Result<Data, String> {
    for _ in 0..calls / 10 {
        work()?;
    }
    let mut times = Vec::new();
    for _ in 0..calls {
        let begin = Instant::now();
        work()?;
        times.push(begin.elapsed().as_secs_f64());
    }
    let at = |share| percentile(&times, share);
    Ok(Data::Latency { seconds: [at(0.5), at(0.9), at(0.99), at(0.999), at(1.0)], calls })
}

/// How far fits are from the truth.
fn errors(fits: &[Fit<f64>], truth: &[Truth], bounds: &[Option<[f64; 3]>], seed: u64) -> Errors {
    let mut errors = Errors {
        fits: fits.len(),
        seed,
        centre_bins: vec![0; Errors::BINS],
        sigma_bins: vec![0; Errors::BINS],
        ..Errors::default()
    };
    let bin = |error: f64| ((error / Errors::BIN) as usize).min(Errors::BINS - 1);
    let (mut centre, mut sigma) = (Vec::new(), Vec::new());
    let mut bounded = 0.0;
    let one = 1.0 / fits.len().max(1) as f64;
    for ((fit, truth), bound) in fits.iter().zip(truth).zip(bounds) {
        *errors.statuses.entry(fit.status.name().to_owned()).or_default() += one;
        let iterations = fit.iterations as usize;
        if errors.iterations.len() <= iterations {
            errors.iterations.resize(iterations + 1, 0);
        }
        errors.iterations[iterations] += 1;
        if fit.evaluations <= 1 && fit.status == Status::MaxError {
            errors.unfitted += one;
        }
        let shape = truth.shape;
        let off = [fit.x - shape.x, fit.y - shape.y, fit.sigma - shape.sigma];
        let relative = off.map(|off| off.abs() / shape.sigma);
        // A number that is none is not below either.
        if !relative.iter().all(|&off| off < 3.0) {
            errors.lost += 1;
            continue;
        }
        centre.extend(&relative[..2]);
        sigma.push(relative[2]);
        relative[..2].iter().for_each(|&off| errors.centre_bins[bin(off)] += 1);
        errors.sigma_bins[bin(relative[2])] += 1;
        if let Some(bound) = bound {
            bounded += 1.0;
            for j in 0..3 {
                let off = off[j] / bound[j];
                errors.bias[j] += off;
                errors.rms[j] += off * off;
            }
            errors.x += off[0] * off[0];
            errors.bound += bound[0] * bound[0];
        }
    }
    errors.centre = median_mean_std(&centre);
    errors.sigma = median_mean_std(&sigma);
    let bounded = f64::max(bounded, 1.0);
    errors.bias = errors.bias.map(|sum| sum / bounded);
    errors.rms = errors.rms.map(|sum| f64::sqrt(sum / bounded));
    errors.x = (errors.x / bounded).sqrt();
    errors.bound = (errors.bound / bounded).sqrt();
    errors
}
