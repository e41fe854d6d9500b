//! `spotfit localize`: a movie in, localizations out.

mod job;
mod parts;
mod warn;

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use indicatif::ProgressBar;

use crate::error::CliError;
use crate::say::message::say;
use crate::say::progress::progress;
use crate::words::fit_options::FitOptions;
use crate::words::movie_options::{Lengths, MovieArguments, parse_lengths};
use crate::words::output::Overwrite;
use crate::words::spot_options::SpotOptions;
use spotfit::detect::DEFAULT_FALSE_RATE;
use spotfit::localize::{Counts, Flags, Localizer};
use spotfit::movie::Movie;
use spotfit::steps::fitted::{backend, psf_backend, rate};
use spotfit::{Length, Status};

pub(crate) use job::{Job, Listener, Topic};

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
    #[command(flatten)]
    words: LocalizeWords,
    #[command(flatten)]
    overwrite: Overwrite,
}

/// How movies are localized, for every command that does it.
#[derive(Debug, Args)]
pub(crate) struct LocalizeWords {
    /// Side of the fitted windows, in pixels or with a unit; odd. About 4 sigma + 3 is a good choice [default: 7; with
    /// --calibration that of the beads, with --psf the largest up to 13 that leaves 5 pixels of the PSF around].
    #[arg(long = "box", value_name = "LENGTH")]
    box_size: Option<Length>,
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
    let LocalizeArguments { movie, output, words, overwrite } = arguments;
    let job = Job { movie, output, words, overwrite: *overwrite };
    let done = job.run(&Aloud(ProgressBar::hidden().into()), |locs, _| locs.finish())?;
    summarize(&done.localizer, done.time, done.frames_are);
    if words.filter.is_some() {
        let (written, kept) = (done.written, done.localizer.counts().kept);
        say!("{written} of {kept} fulfil the condition and were written");
    }
    Ok(())
}

/// Says everything as it comes, and shows a bar of frames.
struct Aloud(RefCell<ProgressBar>);

impl Listener for Aloud {
    fn wants(&self, _: Topic) -> bool {
        true
    }

    fn hear(&self, _: Topic, text: String) {
        say!("{text}");
    }

    fn opened(&self, _: &Movie) {}

    fn begin(&self, frames: usize) {
        *self.0.borrow_mut() = progress(frames as u64, "frames", true);
    }

    fn progress(&self, counts: &Counts) {
        let bar = self.0.borrow();
        bar.set_position(counts.frames as u64);
        bar.set_message(format!("{} spots", counts.kept));
    }

    fn end(&self) {
        self.0.borrow().finish_and_clear();
    }
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
        ("with infinite errors of x or y", counts.undetermined),
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
            Some(fitter) => psf_backend(fitter),
            None => backend(localizer.fitter()),
        },
    );
}
