//! `spotfit fit`: windows in, positions out.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use fit_core::Setup;

use spotfit::BatchError;

use crate::error::CliError;
use crate::say::message::say;
use crate::words::input::{self, Chunk, Input, Starts};
use crate::words::known::{KnownArguments, KnownFiles};
use crate::words::paths::refuse_same_file;
use crate::words::spot_options::SpotOptions;
use crate::words::table::{FitTable, Format};
use spotfit::npy::StackReader;
use spotfit::psf::PsfFitter;
use spotfit::{
    AnyWindows, Backend, Background, Criteria, Errors, Fit, Fitter, FitterOptions, InstructionSet,
    Limits, MaxError, Options, Size, Start, Status, StatusCounts, camera_maps,
};

/// What is read, fitted and written at a time: some ten milliseconds to a second of work.
const CHUNK: Chunk = Chunk { windows: 1 << 15, bytes: 1 << 25 };
/// The same where a GPU fits: enough that its copies overlap.
const GPU_CHUNK: Chunk = Chunk { windows: 1 << 18, bytes: 1 << 27 };

#[derive(Debug, Args)]
pub(crate) struct FitArguments {
    /// The windows: an NPY file with an array (n, height, width) of integers or floating-point
    /// numbers; - for standard input.
    #[arg(value_name = "SPOTS.npy")]
    spots: PathBuf,
    /// Where to write the outcomes: a .csv or .npy file, or - for CSV on standard output.
    #[arg(short, long, value_name = "FITS.csv|FITS.npy")]
    output: PathBuf,
    /// Start values: an NPY file with an array (n, 3): x, y, sigma in pixels of the window. Without
    /// it each window starts from the paper's estimate.
    #[arg(long, value_name = "INIT.npy")]
    initial: Option<PathBuf>,
    /// Add columns with photons, the standard errors of photons and of each parameter, and the goodness of fit: chi²
    /// per degree of freedom, about 1 if the noise is that of the camera.
    #[arg(long)]
    errors: bool,
    #[command(flatten)]
    known: KnownArguments,
    #[command(flatten)]
    spot: SpotOptions,
    #[command(flatten)]
    fit: FitOptions,
}

/// How windows are fitted, for every command that fits.
#[derive(Debug, Args)]
pub(crate) struct FitOptions {
    /// The backend: auto, cpu (single precision, vector instructions), gpu (NVIDIA, single
    /// precision) or reference (double precision, one window at a time).
    #[arg(long, default_value = "auto", value_name = "BACKEND")]
    pub(crate) backend: Backend,
    /// Vector instructions for the backend cpu: avx512, avx2, neon or portable; the fastest by default.
    #[arg(long, value_name = "SET")]
    pub(crate) instruction_set: Option<InstructionSet>,
    /// The GPUs for the backend gpu, by the numbers that `spotfit devices` lists.
    #[arg(long = "device", value_delimiter = ',', default_value = "0", value_name = "N,...")]
    pub(crate) devices: Vec<usize>,
    /// Number of threads, at most 1024; 0 takes one for each processor.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) threads: usize,
    // The numbers come from where they are set.
    #[arg(long, value_enum, default_value = "default", value_name = "CRITERIA", help = format!(
        "When to stop: default ({}), paper ({}, and χ² < N/3) or tight ({})",
        in_words(&Criteria::DEFAULT), in_words(&Criteria::PAPER), in_words(&Criteria::TIGHT)
    ))]
    criteria: CriteriaChoice,
    /// At most N iterations (overrides the criteria).
    #[arg(long, value_name = "N")]
    max_iterations: Option<u32>,
    /// Stop when a step reduces χ² by less than this share; 0: never.
    #[arg(long, value_name = "X")]
    min_delta: Option<f64>,
    /// Stop when a step changes neither centre nor width by more than this share of the width; 0: never.
    #[arg(long, value_name = "X")]
    min_step: Option<f64>,
    /// Stop when χ² (in counts², summed over the window) is less than this.
    #[arg(long, value_name = "X")]
    max_error: Option<f64>,
    /// The background: free, or nonnegative (if only the camera's offset was subtracted). The default is nonnegative
    /// for maximum likelihood, and free for least squares.
    #[arg(long, value_enum, value_name = "BACKGROUND")]
    background: Option<BackgroundChoice>,
    /// How far outside the outermost pixel centres the centre may lie, in pixels.
    #[arg(long, value_name = "PX")]
    centre_margin: Option<f64>,
    /// The smallest sigma, in pixels.
    #[arg(long, value_name = "PX")]
    sigma_min: Option<f64>,
    /// The largest sigma, in pixels; the longer side of the window if not given.
    #[arg(long, value_name = "PX")]
    sigma_max: Option<f64>,
}

fn in_words(criteria: &Criteria) -> String {
    let Criteria { max_iterations, min_delta, min_step, .. } = criteria;
    format!("{max_iterations} iterations, min-delta {min_delta:e}, min-step {min_step:e}")
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum CriteriaChoice {
    Default,
    Paper,
    Tight,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum BackgroundChoice {
    Free,
    Nonnegative,
}

impl FitOptions {
    fn set_limits(&self) -> SetLimits {
        let Self { centre_margin, sigma_min, sigma_max, .. } = *self;
        SetLimits { centre_margin, sigma_min, sigma_max }
    }

    pub(crate) fn fitter(&self) -> FitterOptions {
        FitterOptions::from(self.options())
            .with_backend(self.backend)
            .with_instruction_set(self.instruction_set)
            .with_devices(self.devices.clone())
            .with_threads(self.threads)
    }

    pub(crate) fn options(&self) -> Options {
        let preset = match self.criteria {
            CriteriaChoice::Default => Criteria::DEFAULT,
            CriteriaChoice::Paper => Criteria::PAPER,
            CriteriaChoice::Tight => Criteria::TIGHT,
        };
        let max_iterations = self.max_iterations.unwrap_or(preset.max_iterations);
        // A retry belongs to its iteration: leave room for as many as the preset does.
        let max_evaluations = preset.max_evaluations.max(max_iterations.saturating_mul(5));
        let criteria = preset
            .with_max_iterations(max_iterations)
            .with_max_evaluations(max_evaluations)
            .with_max_error(self.max_error.map_or(preset.max_error, MaxError::Total))
            .with_min_delta(self.min_delta.unwrap_or(preset.min_delta))
            .with_min_step(self.min_step.unwrap_or(preset.min_step));
        let defaults = Limits::default();
        let limits = defaults
            .with_centre_margin(self.centre_margin.unwrap_or(defaults.centre_margin))
            .with_sigma_min(self.sigma_min.unwrap_or(defaults.sigma_min))
            .with_sigma_max(self.sigma_max.or(defaults.sigma_max));
        let background = self.background().unwrap_or_default();
        Options::default().with_criteria(criteria).with_background(background).with_limits(limits)
    }

    /// Refuses words that are for fits of Gaussians alone.
    pub(crate) fn refuse_gaussians(&self, who: &str) -> Result<(), CliError> {
        let given = [
            ("--criteria", !matches!(self.criteria, CriteriaChoice::Default)),
            ("--min-delta", self.min_delta.is_some()),
            ("--min-step", self.min_step.is_some()),
            ("--max-error", self.max_error.is_some()),
            ("--background", self.background.is_some()),
            ("--centre-margin", self.centre_margin.is_some()),
            ("--sigma-min", self.sigma_min.is_some()),
            ("--sigma-max", self.sigma_max.is_some()),
            ("--device", self.devices.len() > 1),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some(("--device", _)) => {
                Err(CliError::file("--device", format!("{who} is fitted on one GPU")))
            }
            Some((name, _)) => {
                Err(CliError::file(name, format!("it is for Gaussians; {who} has none")))
            }
            None => Ok(()),
        }
    }

    /// Refuses all words about fits but the number of threads.
    pub(crate) fn refuse_all(&self, who: &str) -> Result<(), CliError> {
        self.refuse_gaussians(who)?;
        let given = [
            ("--backend", self.backend != Backend::Auto),
            ("--instruction-set", self.instruction_set.is_some()),
            ("--max-iterations", self.max_iterations.is_some()),
            ("--device", self.devices != [0]),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((name, _)) => Err(CliError::file(name, format!("{who} does not depend on it"))),
            None => Ok(()),
        }
    }

    /// The background that was asked for.
    pub(crate) fn background(&self) -> Option<Background> {
        self.background.map(|background| match background {
            BackgroundChoice::Free => Background::Free,
            BackgroundChoice::Nonnegative => Background::NonNegative,
        })
    }
}

pub(crate) fn run(arguments: &FitArguments) -> Result<(), CliError> {
    let format = Format::of(&arguments.output)?;
    refuse_shared_input(arguments)?;
    let options = arguments.spot.apply(arguments.fit.options(), arguments.fit.background())?;
    let fitter = Fitter::new(&arguments.fit.fitter().with_fit(options))?;
    let file = arguments.spots.display().to_string();
    let stack = input::open(&arguments.spots)?;
    refuse_same_file(&arguments.spots, &arguments.output)?;
    let (count, size) = (stack.count(), stack.size());
    if count > 0 {
        // Before any pixel is read: the header says how large the windows are.
        let judged = Setup::<f64>::new(size, fitter.options());
        judged.map_err(|error| CliError::fit(&file)(BatchError::from(error).into()))?;
    }
    let starts = match &arguments.initial {
        Some(path) => {
            refuse_same_file(path, &arguments.output)?;
            Some(Starts::open(path, count)?)
        }
        None => None,
    };

    let map = arguments.spot.camera_map()?;
    if let Some((_, path)) = &map {
        for path in camera_maps::files(path) {
            refuse_same_file(&path, &arguments.output)?;
        }
    }
    for path in [&arguments.known.weights, &arguments.known.corners].into_iter().flatten() {
        refuse_same_file(path, &arguments.output)?;
    }
    let map = map.map(|(map, _)| map);
    let known = KnownFiles::open(&arguments.known, map, options.estimator, count, size)?;

    if let Some(warning) = arguments.spot.warning(arguments.errors) {
        say!("spotfit: warning: {warning}");
    }
    let (output, single) = (&arguments.output, fitter.is_single_precision());
    let table = FitTable::create(output, format, count, &options, single, arguments.errors)?;
    let job = Job {
        file: &file,
        fitter: &fitter,
        starts,
        known,
        table,
        fits: Vec::new(),
        errors: arguments.errors.then(Vec::new),
        counts: StatusCounts::default(),
        set: arguments.fit.set_limits(),
        at_limit: 0,
        fitting: Duration::ZERO,
    };
    job.run(stack)
}

/// Standard input can be read for one thing only.
fn refuse_shared_input(arguments: &FitArguments) -> Result<(), CliError> {
    let FitArguments { spots, initial, known: KnownArguments { weights, corners }, .. } = arguments;
    let standard = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
    let options = [("--initial", initial), ("--weights", weights), ("--corners", corners)];
    let mut first = (spots == Path::new("-")).then_some("the windows");
    for (name, _) in options.into_iter().filter(|(_, path)| standard(path)) {
        if let Some(first) = first {
            let reason = format!("standard input has {first} already; give a file");
            return Err(CliError::file(&format!("{name} -"), reason));
        }
        first = Some(match name {
            "--initial" => "the start values",
            _ => "the weights",
        });
    }
    Ok(())
}

/// Limits that the user has set, in pixels.
struct SetLimits {
    centre_margin: Option<f64>,
    sigma_min: Option<f64>,
    sigma_max: Option<f64>,
}

impl SetLimits {
    /// Whether a fit ended on one of them, as far as its outcome tells, which may be in single precision.
    fn has_ended(&self, fit: &Fit<f64>, size: Size) -> bool {
        const NEAR: f64 = 1e-5;
        if fit.status != Status::AtLimit {
            return false;
        }
        let outside = |at: f64, side: usize, margin: f64| {
            let most = (side - 1) as f64 + margin;
            at <= NEAR - margin || at >= most - NEAR * (1.0 + most.abs())
        };
        let centre = self.centre_margin.is_some_and(|margin| {
            outside(fit.x, size.width, margin) || outside(fit.y, size.height, margin)
        });
        let sigmas = [fit.sigma_x, fit.sigma_y];
        let narrow = |least: f64| sigmas.iter().any(|&sigma| sigma <= least * (1.0 + NEAR));
        let wide = |most: f64| sigmas.iter().any(|&sigma| sigma >= most * (1.0 - NEAR));
        centre || self.sigma_min.is_some_and(narrow) || self.sigma_max.is_some_and(wide)
    }
}

/// A stack on its way from file to file.
struct Job<'a> {
    file: &'a str,
    fitter: &'a Fitter,
    starts: Option<Starts>,
    known: KnownFiles,
    table: FitTable,
    fits: Vec<Fit<f64>>,
    /// `None` if they are not wanted.
    errors: Option<Vec<Errors>>,
    counts: StatusCounts,
    /// The limits that the user has set.
    set: SetLimits,
    /// The fits that ended on one of them.
    at_limit: usize,
    fitting: Duration,
}

impl Job<'_> {
    fn fit<'a>(&'a mut self, windows: AnyWindows<'a>) -> Result<(), CliError> {
        let count = windows.count();
        let start = match &mut self.starts {
            Some(starts) => Start::F64(starts.next(count)?),
            None => Start::Estimate,
        };
        self.fits.resize(count, Fit::invalid());
        let windows = self.known.next(windows)?;
        let begin = Instant::now();
        let fits = self.fits.as_mut_slice();
        self.fitter.fit_windows(windows, start, fits.into()).map_err(CliError::fit(self.file))?;
        let mut errors = self.errors.take();
        if let Some(errors) = &mut errors {
            errors.resize(count, Errors::unknown());
            let found = self.fitter.errors_into(windows, &self.fits, errors);
            found.map_err(CliError::fit(self.file))?;
        }
        self.fitting += begin.elapsed();
        self.counts.add(&self.fits);
        let size = windows.size();
        self.at_limit += self.fits.iter().filter(|fit| self.set.has_ended(fit, size)).count();
        self.table.write(&self.fits, errors.as_deref().unwrap_or_default())?;
        self.errors = errors;
        Ok(())
    }

    fn run(mut self, mut stack: StackReader<Input>) -> Result<(), CliError> {
        let begin = Instant::now();
        let gpu = self.fitter.backend() == Backend::Gpu;
        let chunk = if gpu { GPU_CHUNK } else { CHUNK };
        while let Some(windows) = chunk.read(&mut stack, self.file)? {
            self.fit(windows)?;
        }
        crate::interrupt::check()?;
        self.known.finish()?;
        self.table.finish()?;
        let total = self.counts.total();
        let counts = if total > 0 { self.counts.to_string() } else { "nothing to do".to_owned() };
        say!("{total} spots: {counts}");
        say!(
            "{}; {}; fitting {:.2} s ({}), in all {:.2} s",
            found(self.counts.converged(), self.at_limit),
            backend(self.fitter),
            self.fitting.as_secs_f64(),
            rate(total, self.fitting),
            begin.elapsed().as_secs_f64(),
        );
        self.known.tell();
        Ok(())
    }
}

/// The backend of a fitter in words.
pub(crate) fn backend(fitter: &Fitter) -> String {
    let threads = fitter.threads();
    match (fitter.instruction_set(), fitter.devices().len()) {
        (_, 1..) => {
            let names: Vec<String> = fitter.devices().into_iter().map(|info| info.name).collect();
            format!("gpu backend ({})", names.join(", "))
        }
        (Some(set), _) => format!("{} backend ({set}), {threads} threads", fitter.backend()),
        (None, _) => format!("{} backend, {threads} threads", fitter.backend()),
    }
}

/// The backend that fits with a measured PSF, in words.
pub(crate) fn psf_backend(fitter: &PsfFitter) -> String {
    match fitter.instruction_set() {
        Some(set) => format!("{} backend ({set}), {} threads", fitter.backend(), fitter.threads()),
        None => format!("{} backend, {} threads", fitter.backend(), fitter.threads()),
    }
}

/// How many fits were found, in words: within the limits, and at one that the user has set.
pub(crate) fn found(converged: usize, at_limit: usize) -> String {
    match at_limit {
        0 => format!("{converged} converged"),
        _ => format!("{converged} converged, {at_limit} found at a limit"),
    }
}

/// Fits per second in words.
pub(crate) fn rate(fits: usize, time: Duration) -> String {
    match fits as f64 / time.as_secs_f64() {
        rate if !rate.is_finite() || fits == 0 => "- fits/s".to_owned(),
        rate if rate >= 1e6 => format!("{:.2} million fits/s", rate / 1e6),
        rate => format!("{rate:.0} fits/s"),
    }
}
