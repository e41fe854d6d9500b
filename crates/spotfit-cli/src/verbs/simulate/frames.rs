//! The words that `spotfit simulate movie` and `spotfit simulate beads` share: frames, background, camera and files.

use std::path::{Path, PathBuf};

use clap::Args;
use fit_core::Size;
use fit_sim::{Camera, MovieSimulation};

use crate::error::CliError;
use crate::verbs::simulate::camera::CameraArguments;
use crate::verbs::simulate::refuse_no_csv;
use crate::verbs::simulate::write::write_movie;
use crate::words::paths::{refuse_ending, refuse_same_output};

#[derive(Debug, Args)]
pub(crate) struct FrameArguments {
    /// Where to write the frames: a .tif (16 bits, BigTIFF if necessary) or .npy file.
    #[arg(short, long, value_name = "MOVIE.tif|MOVIE.npy")]
    output: PathBuf,
    /// Where to write the truth: a CSV file frame,x,y,sigma,signal,background,molecule, with frames from 0, in pixels
    /// and photo-electrons. Spots that are not circular have sigma_x,sigma_y instead of sigma, then angle (radians) if
    /// rotated and z (nanometres) if defocused.
    #[arg(long, value_name = "TRUTH.csv")]
    truth: Option<PathBuf>,
    /// Width of the frames in pixels.
    #[arg(long, default_value_t = 256, value_name = "PX")]
    pub(crate) width: usize,
    /// Height of the frames in pixels.
    #[arg(long, default_value_t = 256, value_name = "PX")]
    pub(crate) height: usize,
    /// Mean background of a pixel in photo-electrons.
    #[arg(long, default_value_t = 20.0, value_name = "E")]
    background: f64,
    /// How much the background varies over the frame, as a share of its mean, 0 to 1.
    #[arg(long, default_value_t = 0.5, value_name = "SHARE")]
    unevenness: f64,
    /// The value of a dark pixel, in counts.
    #[arg(long, default_value_t = 100.0, value_name = "COUNTS")]
    baseline: f64,
    /// Counts per photo-electron.
    #[arg(long, default_value_t = 1.0, value_name = "G")]
    gain: f64,
    /// Standard deviation of the read noise in photo-electrons.
    #[arg(long, default_value_t = 1.5, value_name = "E")]
    read_noise: f64,
    #[command(flatten)]
    camera: CameraArguments,
    /// The seed: the same seed gives the same bytes on every machine.
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    pub(crate) seed: u64,
}

impl FrameArguments {
    /// A movie of such frames, without the maps of the camera.
    pub(crate) fn simulation(&self, frames: usize) -> MovieSimulation {
        let camera = Camera::default()
            .with_baseline(self.baseline)
            .with_gain(self.gain)
            .with_read_noise(self.read_noise)
            .with_em_gain(self.camera.em_gain);
        MovieSimulation::new(self.width, self.height, frames)
            .with_background(self.background)
            .with_unevenness(self.unevenness)
            .with_camera(camera)
            .with_seed(self.seed)
    }

    /// Makes the movie and writes its files.
    pub(crate) fn write(&self, mut simulation: MovieSimulation) -> Result<(), CliError> {
        let files = [&self.truth, &self.camera.camera];
        let files = files.into_iter().flatten().map(PathBuf::as_path);
        let files: Vec<&Path> = std::iter::once(self.output.as_path()).chain(files).collect();
        refuse_same_output(&files)?;
        if !self.output.extension().is_some_and(|own| own.eq_ignore_ascii_case("tiff")) {
            refuse_ending(&self.output, &["tif", "npy"], "a movie")?;
        }
        refuse_no_csv(self.truth.as_deref(), "the truth")?;
        simulation.maps = self.camera.maps(Size::new(self.width, self.height), self.seed)?;
        let maps = self.camera.write(simulation.maps.as_ref())?;
        let mut plan = simulation.plan()?;
        write_movie(&mut plan, &self.output, self.truth.as_ref(), maps)
    }
}
