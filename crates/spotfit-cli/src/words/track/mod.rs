//! The words for how drift is followed.

mod outputs;
mod simulated;
mod source;

use std::path::Path;

use clap::{Args, ValueEnum};

use crate::error::CliError;
use crate::words::camera_from::{CameraFromArguments, of_movie};
use crate::words::locs::plain;
use crate::words::spot_options::SpotOptions;
use spotfit::steps::localize::{CameraOptions, Given};
use spotfit::steps::track::{TrackOptions, places};
use spotfit::steps::{Listener, PixelScale};
use spotfit::track::{Smooth, TrackBeads};
use spotfit::{FitterOptions, InstructionSet, Options};

pub(crate) use outputs::OutputWords;
pub(crate) use source::{Opened, SourceWords};

/// How drift is followed.
#[derive(Debug, Args)]
pub(crate) struct TrackWords {
    /// The beads: the most that are looked for in the first frame, those with the smallest errors; or a CSV file with their x and y,
    /// as those of `spotfit localize`.
    #[arg(help_heading = "Beads", long, default_value = "32", value_name = "N|BEADS.csv")]
    beads: String,
    /// How the drift is smoothed over time: none, each frame for itself; exponential, the mean of the last --smooth-frames; or kalman, a
    /// filter of constant velocity.
    #[arg(help_heading = "Drift", long, value_enum, default_value = "none", value_name = "SMOOTH")]
    smooth: SmoothChoice,
    /// With --smooth exponential: the frames in which the weight falls by e.
    #[arg(help_heading = "Drift", long, default_value_t = 5.0, value_name = "FRAMES")]
    smooth_frames: f64,
    /// With --smooth kalman: how much the velocity changes from frame to frame, a standard deviation in pixels (nanometres along z); the
    /// filter learns it if it is not given.
    #[arg(help_heading = "Drift", long, value_name = "PX")]
    wander: Option<f64>,
    /// Size of a pixel in nanometres, or px for drift in pixels. Without it, the size that the movie's metadata give; if they give none,
    /// drift is in pixels.
    #[arg(help_heading = "Drift", long, value_name = "NM|px")]
    pixel_size: Option<PixelScale>,
    #[command(flatten)]
    options: TrackOptions,
    /// Vector instructions: avx512, avx2, neon or portable; the fastest by default.
    #[arg(help_heading = "Fit", long, value_name = "SET")]
    instruction_set: Option<InstructionSet>,
    #[command(flatten)]
    camera_from: CameraFromArguments,
    #[command(flatten)]
    spot: SpotOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SmoothChoice {
    None,
    Exponential,
    Kalman,
}

impl TrackWords {
    /// The files that these words name, each with what it is for.
    pub(crate) fn files(&self) -> Vec<(&'static str, &Path)> {
        let beads = self.beads_file().map(|file| ("beads", file));
        let calibration = self.options.calibration.as_ref().and_then(Given::file);
        let calibration = calibration.map(|file| ("calibration", file));
        let camera = self.spot.camera_path().map(|file| ("camera", file));
        let psf = self.options.psf.as_ref().and_then(Given::file).map(|file| ("psf", file));
        let cameras = self.camera_from.cameras.as_deref().map(|file| ("cameras", file));
        [beads, calibration, psf, camera, cameras].into_iter().flatten().collect()
    }

    /// What is known of the camera of a source.
    pub(crate) fn camera(
        &self,
        source: &SourceWords,
        listener: &dyn Listener,
    ) -> Result<CameraOptions, CliError> {
        let camera = self.camera_from.with(self.spot.camera.clone());
        if self.camera_from.camera_from.is_none() {
            return Ok(camera);
        }
        let mut stack = source.movie()?;
        Ok(of_movie(&camera, &mut stack, self.pixel_size.unwrap_or_default(), listener)?)
    }

    /// The file with places of beads, if it is one.
    fn beads_file(&self) -> Option<&Path> {
        self.beads.parse::<usize>().is_err().then(|| Path::new(&self.beads))
    }

    fn smooth(&self) -> Result<Smooth, CliError> {
        if self.wander.is_some() && self.smooth != SmoothChoice::Kalman {
            return Err(CliError::Other("--wander is for --smooth kalman".to_owned()));
        }
        Ok(match self.smooth {
            SmoothChoice::None => Smooth::None,
            SmoothChoice::Exponential => Smooth::Exponential { frames: self.smooth_frames },
            SmoothChoice::Kalman => Smooth::Kalman { wander: self.wander },
        })
    }

    /// What the words ask for, of a source whose pixels have this size, if it knows it, until so many frames.
    pub(crate) fn options(
        &self,
        of_source: Option<f64>,
        stop_after: Option<u64>,
        camera: CameraOptions,
    ) -> Result<TrackOptions, CliError> {
        if self.options.psf.is_some() {
            self.spot.refuse_gaussians()?;
        }
        let fit = FitterOptions::from(self.spot.shaped(Options::default()));
        let options = self.options.clone();
        let fitter = fit.with_instruction_set(self.instruction_set);
        let tracker = options.tracker.clone().with_smooth(self.smooth()?).with_fitter(fitter);
        let options = options
            .with_fixed_sigma(self.spot.fixed_sigma.clone())
            .with_estimator(self.spot.estimator)
            .with_camera(camera)
            .with_pixel_size(self.pixel_size.unwrap_or_default())
            .with_stop_after(stop_after);
        let beads = match self.beads.parse() {
            Ok(most) => TrackBeads::Auto(most),
            Err(_) => {
                let table = plain(Path::new(&self.beads))?;
                TrackBeads::At(places(&table, options.pixel_size_of(of_source)?)?)
            }
        };
        Ok(options.with_tracker(tracker.with_beads(beads)))
    }
}
