//! The words for how movies are localized.

use clap::{Args, ValueEnum};

use crate::error::CliError;
use crate::words::camera_from::CameraFromArguments;
use crate::words::fit_options::FitOptions;
use crate::words::movie_options::MovieArguments;
use crate::words::spot_options::SpotOptions;
use spotfit::localize::{Emitters, Flags};
use spotfit::movie::MovieOptions;
use spotfit::steps::PixelScale;
use spotfit::steps::localize::{LocalizeOptions, PsfOption};

/// How movies are localized, for every command that does it.
#[derive(Debug, Args)]
pub(crate) struct LocalizeWords {
    #[command(flatten)]
    options: LocalizeOptions,
    /// Size of a pixel in nanometres, or px for lengths in pixels. Without it, the size that the movie's metadata give; if
    /// they give none, lengths are in pixels.
    #[arg(help_heading = "Movie", long, value_name = "NM|px")]
    pixel_size: Option<PixelScale>,
    #[command(flatten)]
    camera_from: CameraFromArguments,
    #[command(flatten)]
    movie_options: MovieArguments,
    /// Drop localizations with any of these flags: neighbour, residual, saturated, width, crowd, or all.
    #[arg(
        help_heading = "Output",
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "FLAG,..."
    )]
    drop: Vec<FlagChoice>,
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

fn flags(choices: &[FlagChoice]) -> Flags {
    let any = |choice| choices.contains(&choice) || choices.contains(&FlagChoice::All);
    Flags::default()
        .with_neighbour(any(FlagChoice::Neighbour))
        .with_residual(any(FlagChoice::Residual))
        .with_saturated(any(FlagChoice::Saturated))
        .with_width(any(FlagChoice::Width))
        .with_crowd(any(FlagChoice::Crowd))
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
        if self.options.learn_frames.is_some() && !matches!(options.psf, Some(PsfOption::Learn)) {
            return Err(CliError::file("--learn-frames", "it is for --psf learn"));
        }
        Ok(options)
    }

    /// The same where a PSF is learnt in any case.
    pub(crate) fn of_learning(&self) -> Result<LocalizeOptions, CliError> {
        if self.options.psf.is_some() {
            self.fit.refuse_gaussians("a measured PSF")?;
            self.spot.refuse_gaussians()?;
        }
        let localizer = self.options.localizer.clone();
        let localizer = localizer
            .with_fitter(self.fit.fitter(self.spot.shaped(self.fit.without_sigma())))
            .with_drop(flags(&self.drop));
        Ok(self
            .options
            .clone()
            .with_localizer(localizer)
            .with_camera(self.camera_from.with(self.spot.camera.clone()))
            .with_fixed_sigma(self.spot.fixed_sigma.clone())
            .with_sigma_min(self.fit.sigma_min)
            .with_sigma_max(self.fit.sigma_max)
            .with_estimator(self.spot.estimator)
            .with_background(self.fit.background)
            .with_pixel_size(self.pixel_size.unwrap_or_default()))
    }

    /// Refuses [`OF_ROWS`] where nothing is localized.
    pub(crate) fn refuse_rows(&self) -> Result<(), CliError> {
        let options = &self.options;
        let engine = &options.localizer;
        let given = [
            engine.keep_all,
            engine.checks,
            engine.errors,
            options.filter.is_some(),
            !self.drop.is_empty(),
            options.frame_time.is_some(),
            engine.emitters != Emitters::One,
            options.box_size.is_some(),
            engine.threshold.is_some(),
            engine.temporal_background.is_some(),
            options.aperture.is_some(),
        ];
        let given = OF_ROWS.iter().zip(given).find(|(_, given)| *given);
        given.map_or(Ok(()), |(name, _)| {
            let reason = "it changes nothing of the PSF: give it to `spotfit localize --psf`";
            Err(CliError::file(&format!("--{name}"), reason))
        })
    }
}
