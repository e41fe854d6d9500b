//! `spotfit fit`: windows in, positions out.

use std::path::{Path, PathBuf};

use clap::Args;
use fit_core::Setup;

use crate::error::CliError;
use crate::say::listener::Terminal;
use crate::words::fit_options::FitOptions;
use crate::words::input::{self, Starts};
use crate::words::known::{KnownArguments, KnownFiles};
use crate::words::movie_options::{Lengths, asked_size};
use crate::words::output::{Output, complete};
use crate::words::paths::refuse_same_file;
use crate::words::record::{RecordArguments, Recorded, counts};
use crate::words::report::ReportArguments;
use crate::words::spot_options::SpotOptions;
use crate::words::table::format_of;
use spotfit::steps::fit::{FitOptions as Wanted, FitTable, Fitting};
use spotfit::{BatchError, CameraMap, Fitter, Start, camera_maps};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit fit spots.npy -o fits.csv --errors --baseline 100 --sensitivity 0.46\n  spotfit fit spots.npy -o fits.npy --shape elliptical --estimator mle --read-noise 1.5"
)]
pub(crate) struct FitArguments {
    /// The windows: an NPY file with an array (n, height, width) of integers or floating-point
    /// numbers; - for standard input.
    #[arg(value_name = "SPOTS.npy")]
    spots: PathBuf,
    /// Where to write the outcomes: a .csv or .npy file, or - for CSV on standard output.
    #[arg(short, long, value_name = "FITS.csv|FITS.npy", help_heading = "Output")]
    output: PathBuf,
    /// Start values: an NPY file with an array (n, 3): x, y, sigma in pixels of the window. Without
    /// it each window starts from the paper's estimate.
    #[arg(long, alias = "initial", value_name = "START.npy", help_heading = "Fit")]
    start: Option<PathBuf>,
    /// Add columns with photons, the standard errors of photons and of each parameter, and the goodness of fit: chi²
    /// per degree of freedom, about 1 if the noise is that of the camera.
    #[arg(long, help_heading = "Output")]
    errors: bool,
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

pub(crate) fn run(arguments: &FitArguments) -> Result<(), CliError> {
    let format = format_of(&arguments.output)?;
    arguments.report.check(&arguments.output)?;
    refuse_shared_input(arguments)?;
    let size = asked_size(arguments.pixel_size.map(Lengths::Nanometres))?;
    let fit = arguments.fit.options(size)?;
    let options = arguments.spot.apply(fit, arguments.fit.background(), size)?;
    let fitter = Fitter::new(&arguments.fit.fitter(options))?;
    let file = arguments.spots.display().to_string();
    let mut stack = input::open(&arguments.spots)?;
    refuse_same_file(&arguments.spots, &arguments.output)?;
    let (count, windows) = (stack.count(), stack.size());
    if count > 0 {
        // Before any pixel is read: the header says how large the windows are.
        let judged = Setup::<f64>::new(windows, fitter.options());
        judged.map_err(|error| CliError::fit(&file)(BatchError::from(error).into()))?;
    }
    let mut starts = match &arguments.start {
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
    let (has_map, record) = (map.is_some(), arguments.recorded(map.as_ref())?);
    let mut known = KnownFiles::open(&arguments.known, map, options.estimator, count, windows)?;

    let wanted = Wanted::default()
        .with_errors(arguments.errors)
        .with_limits(arguments.fit.set_limits(size)?);
    let mut fitting = Fitting::begin(&fitter, &wanted, has_map, &Terminal::default());
    let output = Output::create(&arguments.output)?;
    let written = CliError::write(output.name());
    let single = fitter.is_single_precision();
    let mut table = FitTable::create(output, format, count, &options, single, arguments.errors)
        .map_err(&written)?;
    while let Some(windows) = input::next(&mut stack, fitting.chunk(), &file)? {
        let start = match &mut starts {
            Some(starts) => Start::F64(starts.next(windows.count())?),
            None => Start::Estimate,
        };
        let windows = known.next(windows)?;
        let (fits, errors) = fitting.fit(windows, start).map_err(CliError::fit(&file))?;
        table.write(fits, errors).map_err(&written)?;
    }
    crate::interrupt::check()?;
    known.finish()?;
    let report = fitting.finish(known.masked());
    let counts = counts([("spots", report.spots), ("converged", report.converged)]);
    complete(record.around(vec![table.into_inner()], counts)?)?;
    arguments.report.tell(&report)
}

impl FitArguments {
    /// What is to stand beside the outcomes.
    fn recorded(&self, map: Option<&CameraMap>) -> Result<Recorded, CliError> {
        let mut record = self.record.of(&self.output)?;
        record.reads("windows", &self.spots)?;
        let KnownArguments { weights, corners } = &self.known;
        let named = [("start", &self.start), ("weights", weights), ("corners", corners)];
        for (role, file) in named {
            file.as_deref().map_or(Ok(()), |file| record.reads(role, file))?;
        }
        self.spot.recorded(map, &mut record)?;
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
