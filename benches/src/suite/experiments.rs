//! The measurements. Each fills cells of the record; a cell that is there already is not measured again.

use std::rc::Rc;

use fit_core::{Criteria, Fit, Options, Size, Start, Status};
use fit_cpu::{BatchError, Simd};
use fit_gpu::{GpuError, Resident};
use fit_sim::papers::TABLE_1 as PAPER;
use fit_sim::{GpufitBenchmark, Noise, SpotSimulation, Truth};
use fit_tests::bounds::{cramer_rao, cramer_rao_with};
use fit_tests::statistics::median_mean_std;
use indicatif::ProgressBar;
use ndarray::ArrayView3;
use rayon::prelude::*;

use super::SuiteError;
use super::end_to_end::Programs;
use super::methods::{Backend, Room, Roster, Use};
use super::record::{Cell, Data, Errors, Journal, Timing};
use super::timing::Budget;
use crate::Workload;
use crate::bus::Bus;
use crate::report::{AnyError, median, times};

/// Seconds a call by size and batch: the paper's windows.
pub const GRID: &str = "grid";
/// Errors, iterations and ends of fits in the cases of Table 1.
pub const TABLE_1: &str = "table1";
/// The same in the cases of the supplement.
pub const SUPPLEMENT: &str = "supplement";
/// The share of fits that the paper's χ² test ends unfitted, by size.
pub const UNFITTED: &str = "unfitted";
/// Seconds a call by the number of fits: the windows published with Gpufit.
pub const NUMBER: &str = "number";
/// The same by size.
pub const SIDE: &str = "side";
/// Where the time goes.
pub const PARTS: &str = "parts";
/// Errors by signal-to-noise ratio.
pub const SNR: &str = "snr";
/// Errors against the Cramér–Rao bound up to a million counts.
pub const BOUND: &str = "bound";
/// Errors against those that fits state, for every shape, estimator and camera.
pub const STATED: &str = "stated";
/// Formulas beside models written in Rust, and linear parameters eliminated.
pub const FORMULAS: &str = "formulas";
/// Spots that overlap.
pub const CROWDS: &str = "crowds";
/// Whole commands, from file to table.
pub const END_TO_END: &str = "end-to-end";

type Measure = fn(&mut Run) -> Result<(), SuiteError>;

/// The experiments, each a group of measurements that belong together, in their order. Accuracy comes first: it is worth most if the run
/// is stopped.
pub const EXPERIMENTS: [(&str, Measure); 13] = [
    (TABLE_1, Run::table_1),
    (SUPPLEMENT, Run::supplement),
    (UNFITTED, Run::unfitted),
    (NUMBER, Run::number),
    (SIDE, Run::side),
    (PARTS, Run::parts),
    (SNR, Run::snr),
    (BOUND, Run::bound),
    (STATED, Run::stated),
    (FORMULAS, Run::formulas),
    (CROWDS, Run::crowds),
    (END_TO_END, Run::end_to_end),
    (GRID, Run::grid),
];

/// Batches of the paper's figures, and beyond.
pub const BATCHES: [usize; 6] = [10, 100, 1000, 10_000, 100_000, 1_000_000];
/// The paper's repetitions for each; a single run is none.
const REPETITIONS: [usize; 6] = [200, 20, 10, 5, 5, 5];
/// Bytes of pixels that a batch may have.
const MEMORY: usize = 1 << 30;
/// Sides of the supplement's windows, and counts of its spots.
pub const CASES: ([usize; 3], [f64; 3]) = ([7, 9, 11], [160.0, 400.0, 1000.0]);
/// Signal-to-noise ratios.
pub const RATIOS: [f64; 11] = [1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0];
/// Counts of a spot, for the bound.
pub const SIGNALS: [f64; 7] = [100.0, 300.0, 1e3, 3e3, 1e4, 1e5, 1e6];
/// Iterations allowed in the benchmark published with Gpufit.
const GPUFIT_ITERATIONS: u16 = 10;
/// What takes milliseconds a fit is judged by so many.
pub const FEW: usize = 4000;

/// Windows, and the bounds of their errors where they are wanted.
type Windows = (Workload, Vec<Option<[f64; 3]>>);

/// A run under way.
pub struct Run {
    /// What there is so far.
    pub journal: Journal,
    /// What fits.
    pub roster: Roster,
    /// The memory.
    pub room: Room,
    /// The windows in it, by the name of what was simulated.
    pub loaded: Option<(String, Rc<Windows>)>,
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
    /// Whether cells are only counted, for telling how long it still takes.
    pub counting: bool,
}

/// A case of Table 1, as it is called in records.
pub fn case_of(signal: f64, background: f64) -> String {
    format!("{signal}:{background}")
}

/// Cells of a method.
pub(super) fn keys<C: ToString>(
    method: &str,
    cases: impl IntoIterator<Item = C>,
) -> Vec<(String, String)> {
    cases.into_iter().map(|case| (method.to_owned(), case.to_string())).collect()
}

impl Run {
    /// Measures cells that belong together, by method and case, unless all of them are there.
    pub(super) fn cells(
        &mut self,
        experiment: &str,
        keys: &[(String, String)],
        measure: impl FnOnce(&mut Self) -> Result<Vec<Data>, AnyError>,
    ) -> Result<(), SuiteError> {
        if self.counting {
            self.progress.inc_length(keys.len() as u64);
            return Ok(());
        }
        self.progress.set_message(experiment.to_owned());
        let done = |run: &Self, (method, case): &(String, String)| {
            run.journal.record.get(experiment, method, case).is_some()
        };
        if !keys.iter().all(|key| done(self, key)) {
            let missing = |why: AnyError| vec![Data::Missing(why.to_string()); keys.len()];
            let found = measure(self).unwrap_or_else(missing);
            for (key, data) in keys.iter().zip(found) {
                if !done(self, key) {
                    let (experiment, (method, case)) = (experiment.to_owned(), key.clone());
                    self.journal.add(Cell { experiment, method, case, data })?;
                }
            }
        }
        self.progress.inc(keys.len() as u64);
        Ok(())
    }

    /// The windows of that name, which are taken in up to a number, unless they are there.
    fn load(
        &mut self,
        name: String,
        count: Option<usize>,
        make: &dyn Fn() -> Windows,
    ) -> Rc<Windows> {
        match &self.loaded {
            Some((loaded, windows)) if *loaded == name => windows.clone(),
            _ => {
                let windows = Rc::new(make());
                self.room.load(&windows.0, count.unwrap_or(windows.0.starts.len()));
                self.loaded = Some((name, windows.clone()));
                windows
            }
        }
    }

    /// Sides of the grid's windows.
    fn sides(&self) -> Vec<usize> {
        if self.quick { vec![5, 9, 16] } else { (4..=32).collect() }
    }

    fn paper(&self, side: usize) -> SpotSimulation {
        SpotSimulation::new(Size::new(side, side)).with_seed(self.seed)
    }

    fn gpufit(&self, side: usize) -> GpufitBenchmark {
        GpufitBenchmark::new(Size::new(side, side)).with_seed(self.seed)
    }

    /// The methods that are judged in every case; the others tell what criteria and rounding do.
    fn judged_plainly(&self) -> Vec<usize> {
        let mut judged = self.roster.of(Use::Judged);
        judged.retain(|&i| !self.roster.methods[i].name.contains("paper's"));
        judged
    }

    fn timed_and_compared(&self) -> Vec<usize> {
        [Use::Timed, Use::Compared].into_iter().flat_map(|wanted| self.roster.of(wanted)).collect()
    }

    /// Takes the time of a method for a number of windows of the room.
    fn time(
        &mut self,
        method: usize,
        work: &Workload,
        count: usize,
        repetitions: usize,
        most_iterations: Option<u16>,
    ) -> Result<Data, String> {
        let Self { roster, room, budget, .. } = self;
        let method = &mut roster.methods[method];
        let timing =
            budget.measure(repetitions, || method.fit(room, work, count, most_iterations))?;
        // The paper's χ² test leaves large windows unfitted.
        let strict = method.backend != Some(Backend::GpuPublished);
        match work.off(&room.outcomes(count.min(work.starts.len()))) {
            Some(off) if strict => Err(format!("the fits are wrong: {off}")),
            _ => Ok(Data::Time(Timing { side: work.size().width, fits: count, ..timing })),
        }
    }

    /// Times of methods for growing numbers of fits, until a call takes more than the budget.
    fn times(
        &mut self,
        experiment: &str,
        methods: &[usize],
        (name, window, make): (&str, usize, &dyn Fn() -> Windows),
        counts: &[(usize, usize, String)],
        most_iterations: Option<u16>,
    ) -> Result<(), SuiteError> {
        let largest = counts.iter().map(|count| count.0).max().unwrap_or(0);
        let room_for = Some(largest.min(MEMORY / size_of::<f32>() / window));
        for &method in methods {
            let label = self.roster.methods[method].name.clone();
            let mut stopped: Option<String> = None;
            for (place, (count, repetitions, case)) in counts.iter().enumerate() {
                let too_large = count * window * size_of::<f32>() > MEMORY;
                self.cells(experiment, &[(label.clone(), case.clone())], |run| {
                    if too_large {
                        return Err("more than 1 GiB of pixels".into());
                    }
                    if let Some(reason) = &stopped {
                        return Err(reason.clone().into());
                    }
                    let windows = run.load(format!("{experiment} {name}"), room_for, make);
                    let data = run.time(method, &windows.0, *count, *repetitions, most_iterations);
                    Ok(vec![data?])
                })?;
                let next = counts.get(place + 1).map_or(*count, |next| next.0);
                let data = self.journal.record.get(experiment, &label, case);
                stopped = stopped.or_else(|| self.budget.stops(data?, next));
            }
        }
        Ok(())
    }

    fn grid(&mut self) -> Result<(), SuiteError> {
        let methods = self.roster.of(Use::Timed);
        let batches = &BATCHES[..if self.quick { 3 } else { 6 }];
        for side in self.sides() {
            let window = side * side;
            let counts = batches.iter().zip(REPETITIONS);
            let counts: Vec<_> =
                counts.map(|(&n, runs)| (n, runs, format!("{side} {n}"))).collect();
            let simulation = self.paper(side);
            let make = || {
                let count = 10_000.min(4_000_000 / window);
                (Workload::simulated(&simulation, count), Vec::new())
            };
            self.times(GRID, &methods, (&side.to_string(), window, &make), &counts, None)?;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), SuiteError> {
        let methods = self.timed_and_compared();
        let last = if self.quick { 10_000 } else { 10_000_000 };
        let steps = (1..8).flat_map(|power| [10usize.pow(power), 3 * 10usize.pow(power)]);
        let counts = steps.take_while(|&number| number <= last);
        let counts: Vec<_> = counts.map(|n| (n, (20_000 / n).max(5), n.to_string())).collect();
        let benchmark = self.gpufit(5);
        let make = || (Workload::gpufit(&benchmark, 100_000), Vec::new());
        self.times(NUMBER, &methods, ("5", 25, &make), &counts, Some(GPUFIT_ITERATIONS))
    }

    fn side(&mut self) -> Result<(), SuiteError> {
        let (most, step) = if self.quick { (1000, 10) } else { (100_000, 2) };
        for side in (5..=25).step_by(step) {
            let benchmark = self.gpufit(side);
            let make = || (Workload::gpufit(&benchmark, 10_000), Vec::new());
            for method in self.timed_and_compared() {
                let name = self.roster.methods[method].name.clone();
                self.cells(SIDE, &[(name, side.to_string())], |run| {
                    let windows = run.load(format!("{SIDE} {side}"), Some(most), &make);
                    // As many fits as the budget has time for.
                    let mut best = Err("nothing was measured".to_owned());
                    let mut count = 100;
                    while count <= most {
                        let data = run.time(method, &windows.0, count, 5, Some(GPUFIT_ITERATIONS));
                        let stopped = match &data {
                            Ok(data) => run.budget.stops(data, 10 * count).is_some(),
                            Err(reason) => reason.starts_with("stopped"),
                        };
                        if data.is_ok() || count == 100 {
                            best = data;
                        }
                        if stopped {
                            break;
                        }
                        count *= 10;
                    }
                    Ok(vec![best?])
                })?;
            }
        }
        Ok(())
    }

    /// Judges methods by windows whose truth is known.
    fn judge(
        &mut self,
        experiment: &str,
        case: String,
        methods: &[usize],
        most_iterations: Option<u16>,
        make: &dyn Fn() -> Windows,
    ) -> Result<(), SuiteError> {
        for &method in methods {
            let name = self.roster.methods[method].name.clone();
            self.cells(experiment, &[(name, case.clone())], |run| {
                let windows = run.load(format!("{experiment} {case}"), None, make);
                let (work, bounds) = &*windows;
                let Self { roster, room, seed, .. } = run;
                let method = &mut roster.methods[method];
                let slow = method.is(Use::Compared);
                let count = if slow { work.starts.len().min(FEW) } else { work.starts.len() };
                method.fit(room, work, count, most_iterations)?;
                let found = errors(&room.outcomes(count), &work.spots.truth, bounds, *seed);
                Ok(vec![Data::Errors(Box::new(found))])
            })?;
        }
        Ok(())
    }

    fn table_1(&mut self) -> Result<(), SuiteError> {
        let methods = self.roster.of(Use::Judged);
        for row in PAPER {
            let simulation = self.paper(9).with_signal(row.signal).with_background(row.background);
            let case = case_of(row.signal, row.background);
            self.judge(TABLE_1, case, &methods, None, &|| with_bounds(&simulation, 100_000))?;
        }
        Ok(())
    }

    fn supplement(&mut self) -> Result<(), SuiteError> {
        let methods = self.judged_plainly();
        let count = if self.quick { 5000 } else { 100_000 };
        let (sides, signals) = CASES;
        for (signal, side) in
            signals.into_iter().flat_map(|signal| sides.map(|side| (signal, side)))
        {
            let background = (side * side) as f64;
            let simulation = self.paper(side).with_signal(signal).with_background(background);
            let case = format!("{side} {signal}");
            self.judge(SUPPLEMENT, case, &methods, None, &|| with_bounds(&simulation, count))?;
        }
        Ok(())
    }

    fn unfitted(&mut self) -> Result<(), SuiteError> {
        let mut methods = self.roster.of(Use::Judged);
        methods.retain(|&i| {
            let method = &self.roster.methods[i];
            method.name.ends_with("paper's criteria")
                || method.backend == Some(Backend::GpuPublished)
        });
        let count = if self.quick { 2000 } else { 20_000 };
        for side in self.sides() {
            // With the paper's noise: most pixels of a large window are rounded to zero, which makes χ² small.
            let simulation = self.paper(side).with_noise(Noise::Paper);
            let make = || (Workload::simulated(&simulation, count), vec![None; count]);
            self.judge(UNFITTED, side.to_string(), &methods, None, &make)?;
        }
        Ok(())
    }

    fn snr(&mut self) -> Result<(), SuiteError> {
        let mut methods = self.judged_plainly();
        methods.extend(self.roster.of(Use::Compared));
        let count = if self.quick { FEW } else { 50_000 };
        for snr in RATIOS {
            let benchmark = self.gpufit(5).with_snr(snr);
            let make = || {
                let work = Workload::gpufit(&benchmark, count);
                let (size, variance) = (work.size(), benchmark.noise() * benchmark.noise());
                let bound = |truth: &Truth| cramer_rao_with(size, truth, |_| variance);
                let bounds = work.spots.truth.par_iter().map(bound).collect();
                (work, bounds)
            };
            self.judge(SNR, snr.to_string(), &methods, Some(GPUFIT_ITERATIONS), &make)?;
        }
        Ok(())
    }

    fn bound(&mut self) -> Result<(), SuiteError> {
        let methods = self.judged_plainly();
        let count = if self.quick { 10_000 } else { 100_000 };
        for signal in SIGNALS {
            let simulation = self.paper(9).with_signal(signal).with_background(signal / 10.0);
            let make = || with_bounds(&simulation, count);
            self.judge(BOUND, signal.to_string(), &methods, None, &make)?;
        }
        Ok(())
    }

    /// Where the time goes: 5×5 windows of the benchmark published with Gpufit.
    fn parts(&mut self) -> Result<(), SuiteError> {
        let count = if self.quick { 100_000 } else { 5_000_000 };
        let benchmark = self.gpufit(5);
        let of_cpu = &["initial values", "fit"][..];
        let of_gpu = &["copy in", "initial values", "fit", "copy out"][..];
        for (backend, parts) in [(Backend::Cpu, of_cpu), (Backend::Gpu, of_gpu)] {
            if !self.roster.has(backend) {
                continue;
            }
            self.cells(PARTS, &keys(backend.name(), parts), |_| {
                let mut work = Workload::gpufit(&benchmark, 100_000);
                // The start values are those that would be estimated, so that the difference is the estimate and nothing else.
                work.estimate();
                let pixels: Vec<f32> = work.repeated(count, |pixel| pixel).collect();
                let starts: Vec<[f32; 3]> = work.repeated_starts(count).collect();
                let spots = ArrayView3::from_shape((count, 5, 5), &pixels).expect("as many pixels");
                let seconds = match backend {
                    Backend::Cpu => cpu_parts(spots, &starts)?,
                    _ => gpu_parts(spots, &starts)?,
                };
                Ok(seconds.into_iter().map(Data::Value).collect())
            })?;
        }
        Ok(())
    }
}

fn few_iterations() -> Options {
    let criteria = Criteria::DEFAULT.with_max_iterations(GPUFIT_ITERATIONS.into());
    Options::default().with_criteria(criteria)
}

/// Seconds for initial values and for fits on the processor.
fn cpu_parts(spots: ArrayView3<'_, f32>, starts: &[[f32; 3]]) -> Result<Vec<f64>, BatchError> {
    let simd = Simd::new(0, None)?;
    let mut fits = vec![Fit::<f32>::invalid(); starts.len()];
    let mut time = |start| {
        times(5, || simd.fit_into(&few_iterations(), spots, start, &mut fits))
            .map(|times| median(&times))
    };
    let (fit, all) = (time(Start::F32(starts))?, time(Start::Estimate)?);
    Ok(vec![(all - fit).max(0.0), fit])
}

/// Seconds for copies to the device, initial values, fits and copies back.
fn gpu_parts(spots: ArrayView3<'_, f32>, starts: &[[f32; 3]]) -> Result<Vec<f64>, GpuError> {
    let (inwards, out) = (starts.len() * (25 * 4 + 12), starts.len() * size_of::<Fit<f32>>());
    let mut bus = Bus::new(0, inwards)?;
    let time = |start| {
        let mut resident = Resident::new(0, spots, start)?;
        times(5, || resident.fit(&few_iterations())).map(|times| median(&times))
    };
    let (fit, all) = (time(Start::F32(starts))?, time(Start::Estimate)?);
    let to = median(&times(5, || bus.seconds(inwards, 0))?);
    let back = median(&times(5, || bus.seconds(0, out))?);
    Ok(vec![to, (all - fit).max(0.0), fit, back])
}

impl Budget {
    /// Why a call of so many fits is not to be made after what is known, if it is not.
    fn stops(&self, data: &Data, fits: usize) -> Option<String> {
        match data {
            Data::Missing(reason) if reason.starts_with("stopped") => Some(reason.clone()),
            Data::Time(timing) => {
                let (seconds, most) = (fits as f64 / timing.rate(), self.seconds);
                let text = format!(
                    "stopped: a call would take about {seconds:.1} s, and a cell may take {most} s"
                );
                (seconds > most).then_some(text)
            }
            _ => None,
        }
    }
}

fn with_bounds(simulation: &SpotSimulation, count: usize) -> Windows {
    let work = Workload::simulated(simulation, count);
    let size = work.size();
    let bounds = work.spots.truth.par_iter().map(|truth| cramer_rao(size, truth)).collect();
    (work, bounds)
}

/// How far fits are from the truth.
fn errors(fits: &[Fit<f64>], truth: &[Truth], bounds: &[Option<[f64; 3]>], seed: u64) -> Errors {
    let bins = || vec![0; Errors::BINS];
    let (fits_all, none) = (fits.len(), Errors::default());
    let mut errors =
        Errors { fits: fits_all, seed, centre_bins: bins(), sigma_bins: bins(), ..none };
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
    [errors.x, errors.bound] = [errors.x, errors.bound].map(|sum| (sum / bounded).sqrt());
    errors
}
