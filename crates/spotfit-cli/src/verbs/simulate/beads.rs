//! `spotfit simulate beads`: a z stack of beads behind an astigmatic lens or an objective, for `spotfit calibrate`.

use clap::Args;
use fit_sim::recipes::BeadRecipe;

use super::frames::FrameArguments;
use super::objective::ObjectiveArguments;
use super::said;
use super::spots::{FocusArguments, ProfileArguments};
use crate::error::CliError;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit simulate beads -o beads.tif --step 20\n  spotfit simulate beads -o beads.tif --range 500 --beads 30 --photons 20000\n  spotfit simulate beads -o beads.tif --psf-na 1.4 --zernike 2,2=0.05"
)]
pub(crate) struct BeadArguments {
    #[command(flatten)]
    frame: FrameArguments,
    /// The step of the stage from slice to slice, in nanometres.
    #[arg(long, default_value_t = BeadRecipe::default().step, value_name = "NM", help_heading = "Movie")]
    step: f64,
    /// The stage moves from +NM to -NM nanometres, so that the first slice shows the beads highest.
    #[arg(long, default_value_t = BeadRecipe::default().range, value_name = "NM", help_heading = "Movie")]
    range: f64,
    /// Number of beads. Each lies in its own square of 24 pixels.
    #[arg(long, default_value_t = BeadRecipe::default().beads, value_name = "N", help_heading = "Spots")]
    beads: usize,
    /// The beads' own heights are uniform within ±NM nanometres.
    #[arg(long, default_value_t = BeadRecipe::default().spread, value_name = "NM", help_heading = "Spots")]
    spread: f64,
    /// Photo-electrons of a bead in a slice.
    #[arg(long, default_value_t = BeadRecipe::default().photons, value_name = "E", help_heading = "Spots")]
    photons: f64,
    /// Standard deviation of a bead in focus, in pixels.
    #[arg(long, default_value_t = BeadRecipe::default().sigma, value_name = "PX", help_heading = "Spots")]
    sigma: f64,
    #[command(flatten)]
    focus: FocusArguments,
    #[command(flatten)]
    profile: ProfileArguments,
    #[command(flatten)]
    objective: ObjectiveArguments,
    /// The side of a pixel in nanometres, for --psf-na.
    #[arg(long, default_value_t = BeadRecipe::default().pixel_size, value_name = "NM", help_heading = "Objective", requires = "psf_na")]
    pixel_size: f64,
}

pub(crate) fn run(arguments: &BeadArguments) -> Result<(), CliError> {
    let recipe =
        said!(BeadRecipe, arguments: step, range, beads, spread, photons, sigma, pixel_size)
            .with_frame(arguments.frame.recipe()?)
            .with_focus(arguments.focus.recipe())
            .with_profile(arguments.profile.profile)
            .with_objective(arguments.objective.objective()?);
    arguments.frame.write(recipe.simulation()?, None)
}
