//! The words that `spotfit simulate movie` and `spotfit simulate beads` share: frames, background, camera and files.

use std::path::Path;

use clap::Args;
use fit_core::Size;
use fit_sim::recipes::FrameRecipe;
use fit_sim::{MovieSimulation, SimulatedCamera};
use ndarray::Array2;
use serde::Serialize;
use spotfit::localize::Defects;

use super::camera::{CameraArguments, SensitivityArguments};
use super::{refuse_no_csv, said};
use crate::error::CliError;
use crate::words::defects::write_defects;
use crate::words::movie_files::write_movie;
use crate::words::paths::refuse_ending;
use crate::words::report::ReportArguments;
use crate::words::written::WrittenFile;

#[derive(Debug, Args)]
pub(crate) struct FrameArguments {
    /// Where to write the frames: a .tif (16 bits, BigTIFF if necessary) or .npy file.
    #[arg(short, long, value_name = "MOVIE.tif|MOVIE.npy", help_heading = "Output")]
    output: WrittenFile,
    /// Where to write the truth: a CSV file frame,x,y,sigma,signal,background,molecule, with frames from 0, in pixels
    /// and photo-electrons. Spots that are not circular have sigma_x,sigma_y instead of sigma, then angle (radians) if
    /// rotated and z (nanometres) if defocused; behind an objective z follows sigma, which is 0.21 λ/NA.
    #[arg(long, value_name = "TRUTH.csv", help_heading = "Output")]
    truth: Option<WrittenFile>,
    /// Width of the frames in pixels.
    #[arg(long, default_value_t = FrameRecipe::default().width, value_name = "PX", help_heading = "Movie")]
    width: usize,
    /// Height of the frames in pixels.
    #[arg(long, default_value_t = FrameRecipe::default().height, value_name = "PX", help_heading = "Movie")]
    height: usize,
    /// Mean background of a pixel in photo-electrons.
    #[arg(long, default_value_t = FrameRecipe::default().background, value_name = "E", help_heading = "Movie")]
    background: f64,
    /// How much the background varies over the frame, as a share of its mean, 0 to 1.
    #[arg(long, default_value_t = FrameRecipe::default().unevenness, value_name = "SHARE", help_heading = "Movie")]
    unevenness: f64,
    /// The value of a dark pixel, in counts.
    #[arg(long, default_value_t = FrameRecipe::default().camera.baseline, value_name = "COUNTS", help_heading = "Camera")]
    baseline: f64,
    #[command(flatten)]
    sensitivity: SensitivityArguments,
    /// Standard deviation of the read noise in photo-electrons.
    #[arg(long, default_value_t = FrameRecipe::default().camera.read_noise, value_name = "E", help_heading = "Camera")]
    read_noise: f64,
    #[command(flatten)]
    camera: CameraArguments,
    /// The seed: the same seed gives the same bytes on every machine.
    #[arg(help_heading = "Movie", long, default_value_t = FrameRecipe::default().seed, value_name = "SEED")]
    seed: u64,
    #[command(flatten)]
    report: ReportArguments,
}

/// The hot pixels of a movie.
fn hot_pixels(simulation: &MovieSimulation) -> Defects {
    let mut mask = Array2::from_elem((simulation.height, simulation.width), false);
    simulation.hot_pixels.iter().for_each(|hot| mask[(hot.y, hot.x)] = true);
    Defects::from_mask(mask.view())
}

/// What was written.
#[derive(Debug, Serialize)]
struct Frames {
    frames: usize,
    width: usize,
    height: usize,
    molecules: usize,
    beads: usize,
}

impl FrameArguments {
    /// Their recipe.
    pub(crate) fn recipe(&self) -> Result<FrameRecipe, CliError> {
        let camera = said!(SimulatedCamera, self: baseline, read_noise)
            .with_gain(self.sensitivity.gain()?)
            .with_em_gain(self.camera.em_gain);
        let recipe = said!(FrameRecipe, self: width, height, background, unevenness, seed);
        Ok(recipe.with_camera(camera))
    }

    /// Makes the movie and writes its files, and the mask of its hot pixels to this one.
    pub(crate) fn write(
        &self,
        mut simulation: MovieSimulation,
        mask: Option<&Path>,
    ) -> Result<(), CliError> {
        self.report.check(&self.output)?;
        if !self.output.extension().is_some_and(|own| own.eq_ignore_ascii_case("tiff")) {
            refuse_ending(&self.output, &["tif", "npy"], "a movie")?;
        }
        refuse_no_csv(self.truth.as_deref(), "the truth")?;
        if let Some(mask) = mask {
            refuse_ending(mask, &["npy"], "a mask")?;
        }
        simulation.maps = self.camera.maps(Size::new(self.width, self.height), self.seed)?;
        let maps = self.camera.write(simulation.maps.as_ref())?;
        let mask = mask.map(|path| write_defects(path, &hot_pixels(&simulation))).transpose()?;
        let mut plan = simulation.plan()?;
        let others = maps.into_iter().chain(mask).collect();
        write_movie(&mut plan, &self.output, self.truth.as_deref(), others)?;
        let molecules = plan.molecules();
        let MovieSimulation { frames, width, height, beads, .. } = plan.simulation();
        let (frames, width, height) = (*frames, *width, *height);
        self.report.tell_json(&Frames { frames, width, height, molecules, beads: beads.len() })
    }
}
