//! `spotfit localize`: a movie in, localizations out.

use std::fs::File;
use std::io::BufReader;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use super::error::CliError;
use super::fit::{FitOptions, rate};
use super::locs::{Locs, LocsOutput, format_of, refuse_replacing};
use super::message::say;
use super::movie_options::{
    Lengths, MovieArguments, first_frames, median, parse_lengths, pixel_size, tell_metadata,
};
use super::spot_options::SpotOptions;
use spotfit::detect::DEFAULT_FALSE_RATE;
use spotfit::localize::{
    Counts, Flags, LocalizeOptions, Localizer, Positions, Roi, estimate_sensitivity,
};
use spotfit::movie::{Movie, MovieOptions};
use spotfit::psf::{self, Psf};
use spotfit::table::{Info, Layout, Table, TableFormat, Widths};
use spotfit::{Elliptical, Shape, Status, camera_maps};

#[derive(Debug, Args)]
pub(crate) struct LocalizeArguments {
    /// The movie: TIFF, BigTIFF, OME-TIFF or ImageJ stack (.tif), array (t, h, w) (.npy), Picasso's
    /// .raw with its .yaml, or the Zhuang lab's .dax with its .inf. Of a movie in several OME-TIFF files, any of them or
    /// their folder.
    #[arg(value_name = "MOVIE")]
    movie: PathBuf,
    /// Where to write the localizations: a .csv file, a .hdf5 file for Picasso (with its .yaml), or - for CSV on standard
    /// output.
    #[arg(short, long, value_name = "LOCS.csv|LOCS.hdf5")]
    output: PathBuf,
    /// Side of the fitted windows, in pixels; odd. About 4 sigma + 3 is a good choice [default: 7; with --psf the largest up to 13
    /// that leaves 5 pixels of the PSF around].
    #[arg(long = "box", value_name = "PX")]
    box_size: Option<usize>,
    /// How many false spots the detector may find in a million pixels of noise alone. It takes the noise to be that of
    /// the camera's photo-electrons.
    #[arg(long, default_value_t = DEFAULT_FALSE_RATE, value_name = "R")]
    false_rate: f64,
    /// How far a spot must stand out, in units of the local noise of the filtered frame, instead of --false-rate.
    #[arg(long, value_name = "K", conflicts_with = "false_rate")]
    threshold: Option<f64>,
    /// Size of a pixel in nanometres, or px for lengths in pixels. Without it, the size that the movie's metadata give; if
    /// they give none, lengths are in pixels.
    #[arg(long, value_name = "NM|px", value_parser = parse_lengths)]
    pixel_size: Option<Lengths>,
    /// Where (0, 0) is: at the centre of the first pixel, or at its corner, as in ThunderSTORM.
    #[arg(long, value_enum, default_value = "centre", value_name = "ORIGIN")]
    origin: Origin,
    /// Frames to localize, from A (counted from 0) up to but not including B; either may be left out.
    #[arg(long, value_name = "A:B")]
    frames: Option<String>,
    /// Where to look for spots: first column, first row, columns, rows.
    #[arg(long, value_name = "X,Y,W,H")]
    roi: Option<String>,
    /// Fit these positions instead of detecting spots: a CSV file with columns frame (from 0), x and y in pixels, or any
    /// table of localizations, .csv or .hdf5. The id of a localization is its row, from 1.
    #[arg(long, value_name = "POS", conflicts_with = "roi")]
    positions: Option<PathBuf>,
    #[command(flatten)]
    movie_options: MovieArguments,
    /// Keep fits that failed, and add a column status.
    #[arg(long)]
    all: bool,
    /// Add columns that say how far each localization can be trusted: neighbour, the distance to the nearest other
    /// spot; goodness, chi² per degree of freedom, about 1; flags, the sum of 1 (a neighbour within a box), 2 (residuals
    /// larger than the noise), 4 (a saturated pixel) and 8 (wider or narrower than the others).
    #[arg(long)]
    flags: bool,
    /// Add the standard errors of photons, background and widths.
    #[arg(long)]
    errors: bool,
    /// Find z of every spot from its widths, by this calibration of `spotfit calibrate` or Picasso. The shape is elliptical then.
    /// Adds z, its uncertainty, the distance of the widths from the calibration in standard deviations (z_distance), and
    /// z_status: found, below or above the range, ambiguous, far from the calibration, or invalid.
    #[arg(long, value_name = "CALIBRATION.yaml")]
    calibration: Option<PathBuf>,
    /// Fit x, y and z of every spot with this measured PSF, in place of a Gaussian: an .hdf5 file of `spotfit calibrate --spline` or of
    /// Picasso (spline-3d). The estimator is maximum likelihood then, if nothing else is said. Adds z and its uncertainty; z_distance, by
    /// how many standard deviations the residuals exceed the noise; and z_status: found, below or above (kept by default; drop them by
    /// --filter 'z_status == found'), with --all invalid too. sigma is that of the Gaussian that is as compact as the PSF at that z.
    #[arg(long, value_name = "PSF.hdf5", conflicts_with = "calibration")]
    psf: Option<PathBuf>,
    /// Write only localizations for which this condition holds, such as 'photons > 300 & uncertainty < 20': see `spotfit
    /// filter`.
    #[arg(long, value_name = "CONDITION")]
    filter: Option<String>,
    /// Drop localizations with any of these flags: neighbour, residual, saturated, width, or all.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "FLAG,...")]
    drop: Vec<FlagChoice>,
    /// The least value of a saturated pixel, in ADU; the largest number that the movie's pixels can hold if not given.
    #[arg(long, value_name = "ADU")]
    saturation: Option<f64>,
    #[command(flatten)]
    spot: SpotOptions,
    #[command(flatten)]
    fit: FitOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Origin {
    Centre,
    Corner,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum FlagChoice {
    Neighbour,
    Residual,
    Saturated,
    Width,
    All,
}

fn flags(choices: &[FlagChoice]) -> Flags {
    let any = |choice| choices.contains(&choice) || choices.contains(&FlagChoice::All);
    Flags::default()
        .with_neighbour(any(FlagChoice::Neighbour))
        .with_residual(any(FlagChoice::Residual))
        .with_saturated(any(FlagChoice::Saturated))
        .with_width(any(FlagChoice::Width))
}

pub(crate) fn run(arguments: &LocalizeArguments) -> Result<(), CliError> {
    format_of(&arguments.output)?;
    let file = arguments.movie.display().to_string();
    let failed = |source| CliError::Movie { file: file.clone(), source };
    let movie_options = arguments.movie_options.options()?;
    let movie = Movie::open_with(&arguments.movie, &movie_options).map_err(failed)?;
    for file in movie.files() {
        refuse_replacing(file, &arguments.output)?;
    }
    for extension in ["yaml", "inf"] {
        refuse_replacing(&arguments.movie.with_extension(extension), &arguments.output)?;
    }
    let pixel_size = pixel_size(arguments.pixel_size, &movie)?;
    let frames = parse_frames(arguments.frames.as_deref(), movie.frames())?;
    let positions = match &arguments.positions {
        None => None,
        Some(path) => {
            refuse_replacing(path, &arguments.output)?;
            Some(positions(path, pixel_size, arguments.origin == Origin::Corner)?)
        }
    };
    let fit = arguments.spot.apply(arguments.fit.options(), arguments.fit.background())?;
    let fit = match (&arguments.calibration, fit.shape) {
        (Some(_), Shape::Circular(_)) => fit.with_shape(Shape::Elliptical(Elliptical)),
        _ => fit,
    };
    let camera = fit.camera.unwrap_or_default();
    let map = arguments.spot.camera_map()?;
    if let Some((_, path)) = &map {
        for path in camera_maps::files(path) {
            refuse_replacing(&path, &arguments.output)?;
        }
    }
    let calibration = match &arguments.calibration {
        None => None,
        Some(path) => {
            refuse_replacing(path, &arguments.output)?;
            Some(super::calibrate::finder(path)?)
        }
    };
    let psf = match &arguments.psf {
        None => None,
        Some(path) => {
            refuse_replacing(path, &arguments.output)?;
            arguments.fit.refuse_gaussians("a measured PSF")?;
            Some(measured(path)?)
        }
    };
    let fit = match &psf {
        None => fit,
        Some(_) => fit.with_estimator(arguments.spot.psf_estimator()?),
    };
    let options = LocalizeOptions::default()
        .with_box_size(arguments.box_size.unwrap_or(psf.as_ref().map_or(7, usual_box)))
        .with_false_rate(arguments.false_rate)
        .with_roi(arguments.roi.as_deref().map(parse_roi).transpose()?)
        .with_positions(positions)
        .with_camera(camera)
        .with_map(map.map(|(map, _)| Arc::new(map)))
        .with_fitter(arguments.fit.fitter().with_fit(fit.with_camera(None)))
        .with_keep_all(arguments.all)
        .with_checks(arguments.flags)
        .with_errors(arguments.errors)
        .with_calibration(calibration.map(Arc::new))
        .with_psf(psf.map(Arc::new))
        .with_drop(flags(&arguments.drop))
        .with_saturation(arguments.saturation);
    let options = match arguments.threshold {
        Some(threshold) => options.with_threshold(threshold),
        None => options,
    };
    let localizer = Localizer::new(movie.size(), options)?;
    let (width, height) = movie.size();
    let info = Info::default().with_movie(pixel_size, [width, height], movie.frames());
    // Picasso's tables have pixels; what is known of their size stands beside them.
    let is_picasso = format_of(&arguments.output)? == TableFormat::Picasso;
    let layout = Layout::default()
        .with_pixel_size(pixel_size.filter(|_| !is_picasso))
        .with_depth(arguments.calibration.is_some() || arguments.psf.is_some())
        .with_errors(arguments.errors)
        .with_corner_origin(arguments.origin == Origin::Corner && !is_picasso)
        .with_widths(if arguments.psf.is_some() { Widths::Measured } else { Widths::of(fit.shape) })
        .with_checks(arguments.flags)
        .with_status(arguments.all);
    let filter = arguments
        .filter
        .as_deref()
        .map(|text| super::filter::parse(text, &layout.table(&[], &info)));
    let filter = filter.transpose()?;
    let mut output = LocsOutput::create(&arguments.output, 0.0)?;
    output.write(layout.table(&[], &info))?;
    tell_metadata(&movie, arguments.pixel_size);
    warn(arguments, &movie_options);
    let what_frames_are = arguments.movie_options.frames(&movie);

    let bar = super::progress::progress(frames.len() as u64, "frames", true);
    let begin = Instant::now();
    let mut localizations = localizer.localize(movie, frames)?;
    while let Some(found) = localizations.next() {
        super::interrupt::check()?;
        let found = found.map_err(CliError::movie(&file));
        let found = found.inspect_err(|_| bar.finish_and_clear())?;
        let mut block = layout.table(&found, &info);
        if let Some(filter) = &filter {
            let keep = filter.keep(&block).map_err(|error| CliError::Other(error.to_string()))?;
            block.retain(&keep);
        }
        output.write(block)?;
        let counts = localizations.counts();
        bar.set_position(counts.frames as u64);
        bar.set_message(format!("{} spots", counts.kept));
    }
    bar.finish_and_clear();
    let localizer = localizations.into_localizer();
    super::interrupt::check()?;
    let written = output.rows;
    output.finish()?;
    summarize(&localizer, begin.elapsed(), what_frames_are);
    if filter.is_some() {
        let kept = localizer.counts().kept;
        say!("{written} of {kept} fulfil the condition and were written");
    }
    Ok(())
}

/// Reads a PSF.
fn measured(path: &Path) -> Result<Psf, CliError> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| CliError::file(&name, error.to_string()))?;
    psf::read(BufReader::new(file)).map_err(|error| CliError::file(&name, error.to_string()))
}

/// Windows in which spots may be off the middle.
fn usual_box(psf: &Psf) -> usize {
    let side = psf.extent()[0].min(psf.extent()[1]).saturating_sub(5);
    (side.clamp(5, 13) - 1) | 1
}

/// The positions in a table, in pixels.
fn positions(path: &Path, pixel_size: Option<f64>, corner: bool) -> Result<Positions, CliError> {
    let locs = Locs::open(path, pixel_size, false)?;
    let mut table = Table::default();
    locs.blocks(Some(&["frame", "x", "y"]), |block| {
        if table.rows() + block.rows() > MOST_POSITIONS {
            let reason = format!(
                "there are more than {MOST_POSITIONS} positions; fit a part of them at a time"
            );
            return Err(CliError::file(&locs.name, reason));
        }
        table.append(&block).map_err(locs.wrong())
    })?;
    table.positions(corner).map_err(locs.wrong())
}

/// The most positions: half a gigabyte.
const MOST_POSITIONS: usize = 1 << 24;

/// Says what is not known of the camera, or hardly right, and what it costs.
fn warn(arguments: &LocalizeArguments, options: &MovieOptions) {
    let spot = &arguments.spot;
    let (lacks_baseline, lacks_sensitivity) = (spot.lacks_baseline(), spot.lacks_sensitivity());
    if lacks_baseline {
        say!("spotfit: warning: no --baseline given; photons and uncertainties assume 0 ADU");
    }
    let camera = spot.camera().unwrap_or_default();
    // With maps of the camera there is nothing to look for.
    let most = if lacks_sensitivity { SEEN_FOR_SENSITIVITY } else { 1 };
    let wanted = !lacks_baseline && spot.camera().is_some();
    let seen = wanted.then(|| first_frames(&arguments.movie, options, most)).flatten();
    let median = seen.as_ref().and_then(median);
    if let Some(median) = median.filter(|&median| camera.baseline > median) {
        let baseline = camera.baseline;
        say!(
            "spotfit: warning: --baseline {baseline} is above the median of the first frame, {median} ADU; most pixels \
             would have less than no light"
        );
    }
    if lacks_sensitivity {
        let found = seen.and_then(|block| estimate_sensitivity(block.pixels.windows(), &camera));
        let offer = match found {
            _ if lacks_baseline => "; with --baseline it can be estimated".to_owned(),
            Some(found) => {
                let found = two_digits(found);
                format!("; about {found} e/ADU by variance over mean: --sensitivity {found}")
            }
            None => String::new(),
        };
        let assumed = "photons and uncertainties assume 1 photo-electron per ADU";
        say!("spotfit: warning: no --sensitivity given; {assumed}{offer}");
    }
}

/// Frames that are read to estimate the sensitivity.
const SEEN_FOR_SENSITIVITY: usize = 64;

/// A positive number with two digits that count.
fn two_digits(number: f64) -> String {
    let decimals = (1.0 - number.log10().floor()).clamp(0.0, 12.0) as usize;
    format!("{number:.decimals$}")
}

fn summarize(localizer: &Localizer, time: Duration, what_frames_are: Option<String>) {
    let counts = localizer.counts();
    let Counts { frames, candidates, kept, .. } = counts;
    say!("{frames} frames: {candidates} candidates, {kept} localizations");
    if let Some(what) = what_frames_are {
        say!("{what}");
    }
    let failed = counts.by_status.iter().filter(|(status, _)| !status.is_converged()).map(
        |(status, count)| {
            let kept = if status == Status::AtLimit { counts.at_end } else { 0 };
            (status.name(), count - kept)
        },
    );
    let others = [
        ("at the frame's edge", counts.at_edge),
        ("in frames not looked at", counts.no_frame),
        ("amplitude not positive", counts.not_bright),
        ("moved to a neighbour", counts.wandered),
        ("not finite in photons", counts.not_finite),
        ("saturated", counts.saturated),
        ("with a neighbour", counts.neighbour),
        ("with residuals larger than the noise", counts.residual),
        ("wider or narrower than the others", counts.width),
    ];
    let dropped: Vec<String> = others
        .into_iter()
        .chain(failed)
        .filter(|&(_, count)| count > 0)
        .map(|(reason, count)| format!("{count} {reason}"))
        .collect();
    let (fits, converged) = (counts.by_status.total(), counts.by_status.converged());
    let converged = converged + counts.at_end;
    let dropped = if dropped.is_empty() { "none".to_owned() } else { dropped.join(", ") };
    say!("{converged} of {fits} fits converged; dropped: {dropped}");
    if counts.at_end > 0 {
        say!("{} of them at an end of the range of z: they are there or beyond", counts.at_end);
    }
    say!(
        "{:.2} s: {:.0} frames/s, {}; {}",
        time.as_secs_f64(),
        *frames as f64 / time.as_secs_f64(),
        rate(fits, time),
        match localizer.psf_fitter() {
            Some(fitter) => super::fit::psf_backend(fitter),
            None => super::fit::backend(localizer.fitter()),
        },
    );
}

fn parse_frames(text: Option<&str>, count: usize) -> Result<Range<usize>, CliError> {
    let Some(text) = text else { return Ok(0..count) };
    let wrong = || {
        let range = format!("A:B with 0 <= A < B; the movie has {count} frames");
        CliError::option("frames", text, &range)
    };
    let (first, end) = text.split_once(':').ok_or_else(wrong)?;
    let number = |text: &str, default: usize| match text.trim() {
        "" => Ok(default),
        text => text.parse().map_err(|_| wrong()),
    };
    let (first, end) = (number(first, 0)?, number(end, count)?.min(count));
    if first < end { Ok(first..end) } else { Err(wrong()) }
}

fn parse_roi(text: &str) -> Result<Roi, CliError> {
    let numbers: Result<Vec<usize>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[x, y, width, height]) => Ok(Roi { x, y, width, height }),
        _ => Err(CliError::option("roi", text, "X,Y,W,H, four whole numbers")),
    }
}
