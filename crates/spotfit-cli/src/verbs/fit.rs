//! `spotfit fit`: windows in, positions out.

use std::path::{Path, PathBuf};

use clap::Args;
use fit_core::Setup;

use crate::error::CliError;
use crate::say::listener::Terminal;
use crate::words::fit_options::FitOptions;
use crate::words::input::{self, Input};
use crate::words::items::{Items, starts};
use crate::words::known::{KnownArguments, KnownFiles, KnownPart, WithStarts};
use crate::words::movie_options::asked_size;
use crate::words::output::{Output, complete};
use crate::words::paths::refuse_same_file;
use crate::words::record::{RecordArguments, Recorded, counts};
use crate::words::report::ReportArguments;
use crate::words::spot_options::SpotOptions;
use crate::words::table::format_of;
use crate::words::written::WrittenFile;
use spotfit::arguments::in_range;
use spotfit::localize::Emitters;
use spotfit::npy::StackReader;
use spotfit::steps::fit::{FitOptions as Wanted, FitStackError, FitTable, Fitting};
use spotfit::steps::fit_emitters::{EmitterTable, FittingEmitters};
use spotfit::steps::{OutcomeFormat, PixelScale};
use spotfit::{BatchError, CameraMap, EmitterFitter, Estimator, Fitter, Options, camera_maps};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit fit spots.npy -o fits.csv --errors --baseline 100 --sensitivity 0.46\n  spotfit fit spots.npy -o fits.npy --shape elliptical --estimator mle --read-noise 1.5\n  spotfit fit spots.npy -o fits.csv --emitters 3 --fixed-sigma 1.3 --errors --baseline 100"
)]
pub(crate) struct FitArguments {
    /// The windows: an NPY file with an array (n, height, width) of integers or floating-point
    /// numbers; - for standard input.
    #[arg(value_name = "SPOTS.npy")]
    spots: PathBuf,
    /// Where to write the outcomes: a .csv or .npy file, or - for CSV on standard output.
    #[arg(short, long, value_name = "FITS.csv|FITS.npy", help_heading = "Output")]
    output: WrittenFile,
    /// Start values: an NPY file with an array (n, 3): x, y, sigma in pixels of the window. Without
    /// it each window starts from the paper's estimate.
    #[arg(long, value_name = "START.npy", help_heading = "Fit")]
    start: Option<PathBuf>,
    /// Add columns with photons, the standard errors of photons and of each parameter, and the goodness of fit: chi²
    /// per degree of freedom, about 1 if the noise is that of the camera.
    #[arg(long, help_heading = "Output")]
    errors: bool,
    /// How many emitters a window may show: 1; auto, as many as its light tells, all fitted together, by maximum likelihood; or up to so
    /// many, 2 to 100: where more are needed, all of that window are max_iterations. Not 1: a row for each emitter, with the columns
    /// emitter (from 1, the brightest first; 0 where a window has none), neighbour (the distance to the nearest other) and crowd (1: there
    /// may be more than could be told apart).
    #[arg(
        long,
        help_heading = "Fit",
        default_value = "1",
        value_name = "1|N|auto",
        value_parser = in_range::<Emitters>,
        allow_hyphen_values = true
    )]
    emitters: Emitters,
    /// Size of a pixel in nanometres, for lengths that are given in nanometres. What is written is in pixels all the same.
    #[arg(long, value_name = "NM", help_heading = "Fit")]
    pixel_size: Option<f64>,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    record: RecordArguments,
    #[command(flatten)]
    known: KnownArguments,
    #[command(flatten)]
    spot: SpotOptions,
    #[command(flatten)]
    fit: FitOptions,
}

/// What fits.
enum Engine {
    /// One emitter a window.
    One(Fitter),
    /// Several.
    Several(EmitterFitter),
}

/// What is ready to be fitted.
struct Job<'a> {
    arguments: &'a FitArguments,
    format: OutcomeFormat,
    options: Options,
    file: String,
    stack: StackReader<Input>,
    known: KnownFiles,
    has_map: bool,
    record: Recorded,
}

pub(crate) fn run(arguments: &FitArguments) -> Result<(), CliError> {
    let format = format_of(&arguments.output)?;
    arguments.report.check(&arguments.output)?;
    refuse_shared_input(arguments)?;
    let size = asked_size(arguments.pixel_size.map(PixelScale::Nanometres))?;
    let options = arguments.options(size)?;
    let asked = arguments.fit.fitter(options);
    let engine = if arguments.emitters.are_together() {
        if let Some(path) = &arguments.start {
            let reason = "emitters are found where light is; it is for --emitters 1";
            return Err(CliError::file(&format!("--start {}", path.display()), reason));
        }
        Engine::Several(EmitterFitter::new(&asked, arguments.emitters)?)
    } else {
        Engine::One(Fitter::new(&asked)?)
    };
    let file = arguments.spots.display().to_string();
    let stack = input::open(&arguments.spots)?;
    let (count, windows) = (stack.count(), stack.size());
    if count > 0 {
        // Before any pixel is read: the header says how large the windows are.
        let judged = Setup::<f64>::new(windows, &options);
        judged.map_err(|error| CliError::fit(&file)(BatchError::from(error).into()))?;
    }
    let starts = match &arguments.start {
        Some(path) => Some(starts(path, count)?),
        None => None,
    };

    let map = arguments.spot.camera_map()?;
    if let Some((_, path)) = &map {
        for path in camera_maps::files(path) {
            refuse_same_file(&path, &arguments.output)?;
        }
    }
    let map = map.map(|(map, _)| map);
    let (has_map, record) = (map.is_some(), arguments.recorded(map.as_ref())?);
    let known = KnownFiles::open(&arguments.known, map, options.estimator, count, windows)?;
    let job = Job { arguments, format, options, file, stack, known, has_map, record };
    match engine {
        Engine::One(fitter) => {
            let fitter = fitter.for_file(windows.pixels().saturating_mul(count));
            job.one(&fitter, starts, size)
        }
        Engine::Several(fitter) => job.several(fitter),
    }
}

impl Job<'_> {
    /// Fits one emitter a window.
    fn one(
        self,
        fitter: &Fitter,
        starts: Option<Items>,
        size: Option<f64>,
    ) -> Result<(), CliError> {
        let Self { arguments, format, options, file, mut stack, mut known, has_map, record } = self;
        let count = stack.count();
        let wanted = Wanted::default()
            .with_errors(arguments.errors)
            .with_limits(arguments.fit.set_limits(size)?);
        let mut fitting = Fitting::begin(fitter, &wanted, has_map, &Terminal::default());
        let output = Output::create(&arguments.output)?;
        let written = CliError::write(output.name());
        let single = fitter.is_single_precision();
        let output = output.into();
        let mut table = FitTable::create(output, format, count, &options, single, arguments.errors)
            .map_err(&written)?;
        let beside = WithStarts { known: &known, starts };
        let go_on = || crate::interrupt::check().is_ok();
        let fitted = fitting.fit_stack(&mut stack, &beside, &mut table, &go_on);
        fitted.map_err(|error| match error {
            FitStackError::Read(error) => CliError::read(&file)(error),
            FitStackError::Beside(error) => error,
            FitStackError::Fit(error) => CliError::fit(&file)(error),
            FitStackError::Write(error) => written(error),
            _ => CliError::Interrupted,
        })?;
        crate::interrupt::check()?;
        known.finish()?;
        let report = fitting.finish(known.masked());
        let counts = counts([("spots", report.spots), ("converged", report.converged)]);
        complete(record.around(vec![table.into_inner().into()], counts)?)?;
        arguments.report.tell(&report)
    }

    /// Finds and fits all emitters of each window.
    fn several(self, fitter: EmitterFitter) -> Result<(), CliError> {
        let Self { arguments, format, options, file, mut stack, mut known, has_map, record } = self;
        let mut fitting = FittingEmitters::begin(fitter, has_map, &Terminal::default());
        let output = Output::create(&arguments.output)?;
        let written = CliError::write(output.name());
        let mut table =
            EmitterTable::create(output, format, &options, arguments.errors).map_err(&written)?;
        let mut part = KnownPart::default();
        while let Some(windows) = input::next(&mut stack, fitting.chunk(), &file)? {
            known.next(windows.count(), &mut part)?;
            known.load(&mut part)?;
            let windows = known.give(&part, windows);
            let fits = fitting.fit(windows).map_err(CliError::fit(&file))?;
            table.write(fits).map_err(&written)?;
        }
        crate::interrupt::check()?;
        known.finish()?;
        let report = fitting.finish(known.masked());
        let found = report.emitters.unwrap_or_default();
        let counts = counts([
            ("spots", report.spots),
            ("emitters", found.emitters),
            ("empty", found.empty),
            ("converged", report.converged),
        ]);
        complete(record.around(vec![table.finish().map_err(&written)?], counts)?)?;
        arguments.report.tell(&report)
    }
}

impl FitArguments {
    /// How windows are fitted whose pixels are this large in nanometres, if that is known.
    fn options(&self, size: Option<f64>) -> Result<Options, CliError> {
        let background = self.fit.background;
        let options = self.spot.apply(self.fit.options(size)?, background, size)?;
        if !self.emitters.are_together() {
            return Ok(options);
        }
        let estimator = self.spot.estimator.unwrap_or(Estimator::MaximumLikelihood);
        Ok(options.with_estimator(estimator).with_background(background.unwrap_or_default()))
    }

    /// What is to stand beside the outcomes.
    fn recorded(&self, map: Option<&CameraMap>) -> Result<Recorded, CliError> {
        let mut record = self.record.of(&self.output)?;
        record.reads("windows", &self.spots)?;
        let KnownArguments { weights, corners } = &self.known;
        let named = [("start", &self.start), ("weights", weights), ("corners", corners)];
        for (role, file) in named {
            file.as_deref().map_or(Ok(()), |file| record.reads(role, file))?;
        }
        self.spot.recorded((self.spot.camera.camera(), map), &mut record)?;
        Ok(record)
    }
}

/// Standard input can be read for one thing only.
fn refuse_shared_input(arguments: &FitArguments) -> Result<(), CliError> {
    let FitArguments { spots, start, known: KnownArguments { weights, corners }, .. } = arguments;
    let standard = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
    let options = [("--start", start), ("--weights", weights), ("--corners", corners)];
    let mut first = (spots == Path::new("-")).then_some("the windows");
    for (name, _) in options.into_iter().filter(|(_, path)| standard(path)) {
        if let Some(first) = first {
            let reason = format!("standard input has {first} already; give a file");
            return Err(CliError::file(&format!("{name} -"), reason));
        }
        first = Some(match name {
            "--start" => "the start values",
            _ => "the weights",
        });
    }
    Ok(())
}
