//! The words for how movies are localized.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::error::CliError;
use crate::words::camera_from::CameraFromArguments;
use crate::words::emitters::parse_emitters;
use crate::words::fit_options::FitOptions;
use crate::words::movie_options::{Lengths, MovieArguments, parse_lengths, scale};
use crate::words::spot_options::SpotOptions;
use spotfit::Length;
use spotfit::arguments::choice;
use spotfit::detect::DEFAULT_FALSE_RATE;
use spotfit::localize::{self, Emitters, Flags, Sigma};
use spotfit::movie::MovieOptions;
use spotfit::record::Origin;
use spotfit::steps::localize::{DefectsOption, FrameTime, Given, LocalizeOptions, PsfOption};

/// How movies are localized, for every command that does it.
#[derive(Debug, Args)]
pub(crate) struct LocalizeWords {
    /// Side of the fitted windows, in pixels or with a unit, as in 700nm; odd. About 4 sigma + 3 is a good choice [default: 7; with
    /// --calibration that of the beads, with --psf the largest up to 13 that leaves 5 pixels of the PSF around].
    #[arg(help_heading = "Fit", long = "box", value_name = "LENGTH")]
    box_size: Option<Length>,
    /// How many false spots the detector may find in a million pixels of noise alone: 1 is one in 15 frames of 256×256 pixels, and 10⁻⁴ in a µm²
    /// at 100 nm a pixel. It takes the noise to be that of the camera's photo-electrons. 10 finds more of spots that are hardly seen.
    #[arg(help_heading = "Detection", long, default_value_t = DEFAULT_FALSE_RATE, value_name = "R")]
    false_rate: f64,
    /// How far a spot must stand out, in units of the local noise of the filtered frame, instead of --false-rate.
    #[arg(help_heading = "Detection", long, value_name = "K", conflicts_with = "false_rate")]
    threshold: Option<f64>,
    /// Size of a pixel in nanometres, or px for lengths in pixels. Without it, the size that the movie's metadata give; if
    /// they give none, lengths are in pixels.
    #[arg(help_heading = "Movie", long, value_name = "NM|px", value_parser = parse_lengths)]
    pixel_size: Option<Lengths>,
    /// Add a column time, in seconds since the first frame: frames were taken every so many seconds, or metadata, as the movie's
    /// metadata say.
    #[arg(help_heading = "Movie", long, value_name = "SECONDS|metadata")]
    frame_time: Option<FrameTime>,
    /// Where (0, 0) is: at the centre of the first pixel, or at its corner, as in ThunderSTORM.
    #[arg(
        help_heading = "Output",
        long,
        value_parser = choice::<Origin>(),
        default_value = "centre",
        value_name = "ORIGIN"
    )]
    origin: Origin,
    /// Frames to localize, from A to B, counted from 1; both are meant, and either may be left out.
    #[arg(help_heading = "Movie", long, value_name = "A:B")]
    frames: Option<String>,
    /// Where to look for spots: first column, first row, columns, rows; in pixels or with units, as in 0,0,12.8um,12.8um.
    #[arg(help_heading = "Detection", long, value_name = "X,Y,W,H")]
    roi: Option<String>,
    /// Fit these positions instead of detecting spots: a CSV file with columns frame (from 0), x and y in pixels, or any
    /// table of localizations, .csv or .hdf5. The id of a localization is its row, from 1. (0, 0) is where the record beside the
    /// table says, or else, in tables in nanometres, where --origin says.
    #[arg(help_heading = "Detection", long, value_name = "POS", conflicts_with = "roi")]
    positions: Option<PathBuf>,
    /// Mask defective pixels, so that none is found as a spot and no fit looks at it: auto finds hot, flickering and dark ones in the first
    /// frames; or a mask, an array (height, width) that is not 0 where a pixel is defective; none says that there are none. Without it
    /// nothing is masked, but a warning tells of defects.
    #[arg(help_heading = "Camera", long, value_name = "auto|MASK.npy|none")]
    defects: Option<String>,
    /// Take the background from what each pixel shows over time: its median over so many frames around each frame, an odd number or one
    /// more. Spots are found and fitted on top of it, with a constant. For haze that is uneven and changes slowly; spots should shine in
    /// few of these frames. The frames are held in memory.
    #[arg(help_heading = "Detection", long, value_name = "FRAMES")]
    temporal_background: Option<usize>,
    #[command(flatten)]
    camera_from: CameraFromArguments,
    #[command(flatten)]
    movie_options: MovieArguments,
    /// Keep fits that failed, and add a column status.
    #[arg(help_heading = "Output", long)]
    all: bool,
    /// Add columns that say how far each localization can be trusted: neighbour, the distance to the nearest other
    /// spot; goodness, chi² per degree of freedom, about 1; flags, the sum of 1 (a neighbour within a box), 2 (residuals
    /// larger than the noise), 4 (a saturated pixel), 8 (wider or narrower than the others) and 16 (maybe more emitters than could be told
    /// apart; only where emitters are fitted together).
    #[arg(help_heading = "Output", long)]
    flags: bool,
    /// Add the standard errors of photons, background and widths.
    #[arg(help_heading = "Output", long)]
    errors: bool,
    /// How many emitters light may come from: 1, every candidate is fitted in a window of its own; auto, as many as the frame
    /// shows, all of a frame fitted together, by maximum likelihood; or the most in a window of --box pixels, 2 to 100: where more are
    /// needed, all of that window are max_iterations (dropped without --all).
    #[arg(
        help_heading = "Fit",
        long,
        default_value = "1",
        value_name = "1|N|auto",
        value_parser = parse_emitters,
        allow_hyphen_values = true
    )]
    emitters: Emitters,
    /// With emitters that are fitted together: every spot has a width of its own (free), or all have the one that is found in the first frames
    /// (shared). --fixed-sigma is a width that is known.
    #[arg(help_heading = "Fit", long, value_enum, default_value = "free", value_name = "SIGMA")]
    sigma: SigmaChoice,
    /// Find z of every spot from its widths, by this calibration of `spotfit calibrate` or Picasso. The shape is elliptical then.
    /// Adds z, its uncertainty, the distance of the widths from the calibration in standard deviations (z_distance), and
    /// z_status: found, below or above the range, ambiguous, far from the calibration, or invalid.
    #[arg(help_heading = "Fit", long, value_name = "CALIBRATION.yaml")]
    calibration: Option<PathBuf>,
    /// Fit x, y and z of every spot with this measured PSF, in place of a Gaussian: an .hdf5 file of `spotfit calibrate --spline`, of
    /// `spotfit psf`, or of Picasso (spline-3d); or learn it first from the spots of the movie itself: where they tell too little, a warning
    /// says why, and spots have Gaussians. The estimator is maximum likelihood then, if nothing else is said. A PSF that was learnt gives no
    /// z; one of beads adds z and its uncertainty; z_distance, by
    /// how many standard deviations the residuals exceed the noise; and z_status: found, below or above (kept by default; drop them by
    /// --filter 'z_status == found'), with --all invalid too. sigma is that of the Gaussian that is as compact as the PSF at that z.
    #[arg(
        help_heading = "Fit",
        long,
        value_name = "learn|PSF.hdf5",
        conflicts_with = "calibration"
    )]
    psf: Option<PathBuf>,
    /// The most frames that a PSF is learnt from, taken from all of the movie [default: 1000].
    #[arg(help_heading = "Fit", long, value_name = "N")]
    learn_frames: Option<usize>,
    /// Photons of Gaussians are those of the spot's core: multiply them by what isolated spots of the first frames have within this radius
    /// over the photons of their Gaussians, an aperture correction. In pixels or with a unit, as in 800nm.
    #[arg(help_heading = "Fit", long, value_name = "LENGTH", conflicts_with = "psf")]
    aperture: Option<Length>,
    /// Write only localizations for which this condition holds, such as 'photons > 300 & uncertainty < 20': see `spotfit
    /// filter`.
    #[arg(help_heading = "Output", long, value_name = "CONDITION")]
    filter: Option<String>,
    /// Drop localizations with any of these flags: neighbour, residual, saturated, width, crowd, or all.
    #[arg(
        help_heading = "Output",
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "FLAG,..."
    )]
    drop: Vec<FlagChoice>,
    /// The least value of a saturated pixel, in ADU; if not given, what the first frames or the metadata say, or the largest number that the movie's pixels can hold.
    #[arg(help_heading = "Detection", long, value_name = "ADU")]
    saturation: Option<f64>,
    #[command(flatten)]
    spot: SpotOptions,
    #[command(flatten)]
    fit: FitOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum FlagChoice {
    Neighbour,
    Residual,
    Saturated,
    Width,
    Crowd,
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum SigmaChoice {
    Free,
    Shared,
}

fn flags(choices: &[FlagChoice]) -> Flags {
    let any = |choice| choices.contains(&choice) || choices.contains(&FlagChoice::All);
    Flags::default()
        .with_neighbour(any(FlagChoice::Neighbour))
        .with_residual(any(FlagChoice::Residual))
        .with_saturated(any(FlagChoice::Saturated))
        .with_width(any(FlagChoice::Width))
        .with_crowd(any(FlagChoice::Crowd))
}

fn defects(text: &str) -> DefectsOption {
    text.parse().unwrap_or_else(|never| match never {})
}

fn psf(file: &Path) -> PsfOption {
    let text = file.to_str().and_then(|text| text.parse().ok());
    text.unwrap_or_else(|| PsfOption::Given(Given::File(file.to_owned())))
}

/// What only localizing asks for: a PSF is learnt in the same way whatever they are.
pub(crate) const OF_ROWS: [&str; 11] = [
    "all",
    "flags",
    "errors",
    "filter",
    "drop",
    "frame-time",
    "emitters",
    "box",
    "threshold",
    "temporal-background",
    "aperture",
];

impl LocalizeWords {
    /// Which frames the movie consists of.
    pub(crate) fn movie(&self) -> Result<MovieOptions, CliError> {
        self.movie_options.options()
    }

    /// What the words ask for.
    pub(crate) fn options(&self) -> Result<LocalizeOptions, CliError> {
        let options = self.of_learning()?;
        if self.learn_frames.is_some() && !matches!(options.psf, Some(PsfOption::Learn)) {
            return Err(CliError::file("--learn-frames", "it is for --psf learn"));
        }
        Ok(options)
    }

    /// The same where a PSF is learnt in any case.
    pub(crate) fn of_learning(&self) -> Result<LocalizeOptions, CliError> {
        if self.psf.is_some() {
            self.fit.refuse_gaussians("a measured PSF")?;
            self.spot.refuse_gaussians()?;
        }
        let [sigma_min, sigma_max] = self.fit.sigma_limits();
        let localizer = localize::LocalizeOptions::default()
            .with_false_rate(self.false_rate)
            .with_emitters(self.emitters)
            .with_sigma(match self.sigma {
                SigmaChoice::Free => Sigma::Free,
                SigmaChoice::Shared => Sigma::Shared,
            })
            .with_fitter(self.fit.fitter(self.spot.shaped(self.fit.without_sigma())))
            .with_keep_all(self.all)
            .with_temporal_background(self.temporal_background)
            .with_checks(self.flags)
            .with_errors(self.errors)
            .with_drop(flags(&self.drop))
            .with_saturation(self.saturation);
        let localizer = match self.threshold {
            Some(threshold) => localizer.with_threshold(threshold),
            None => localizer,
        };
        Ok(LocalizeOptions::default()
            .with_localizer(localizer)
            .with_camera(self.camera_from.with(self.spot.camera_options()))
            .with_box_size(self.box_size)
            .with_roi(self.roi.clone())
            .with_fixed_sigma(self.spot.fixed_sigma().map(str::to_owned))
            .with_sigma_min(sigma_min)
            .with_sigma_max(sigma_max)
            .with_estimator(self.spot.asked_estimator())
            .with_background(self.fit.background())
            .with_positions(self.positions.clone().map(Given::File))
            .with_defects(self.defects.as_deref().map(defects))
            .with_calibration(self.calibration.clone().map(Given::File))
            .with_psf(self.psf.as_deref().map(psf))
            .with_learn_frames(self.learn_frames)
            .with_aperture(self.aperture)
            .with_frames(self.frames.clone())
            .with_filter(self.filter.clone())
            .with_frame_time(self.frame_time.clone())
            .with_pixel_size(scale(self.pixel_size))
            .with_origin(self.origin))
    }

    /// Refuses [`OF_ROWS`] where nothing is localized.
    pub(crate) fn refuse_rows(&self) -> Result<(), CliError> {
        let given = [
            self.all,
            self.flags,
            self.errors,
            self.filter.is_some(),
            !self.drop.is_empty(),
            self.frame_time.is_some(),
            self.emitters != Emitters::One,
            self.box_size.is_some(),
            self.threshold.is_some(),
            self.temporal_background.is_some(),
            self.aperture.is_some(),
        ];
        let given = OF_ROWS.iter().zip(given).find(|(_, given)| *given);
        given.map_or(Ok(()), |(name, _)| {
            let reason = "it changes nothing of the PSF: give it to `spotfit localize --psf`";
            Err(CliError::file(&format!("--{name}"), reason))
        })
    }
}
