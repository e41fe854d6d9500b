//! `spotfit simulate movie`: a movie with its truth.

use clap::{ArgGroup, Args};
use fit_sim::Heights;
use fit_sim::recipes::{MovieRecipe, ShapeWord};

use super::frames::FrameArguments;
use super::objective::ObjectiveArguments;
use super::said;
use super::spots::SpotArguments;
use crate::error::CliError;
use crate::words::choice::choice;
use crate::words::written::WrittenFile;

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("scaled").args(["density", "psf_na"]).multiple(true)))]
#[command(
    after_help = "Examples:\n  spotfit simulate movie -o movie.tif --truth truth.csv --frames 200\n  spotfit simulate movie -o movie.npy --shape defocused --heights structure --drift 0.001,0,0.5\n  spotfit simulate movie -o crowd.tif --truth crowd.csv --density 2 --uniform --width 64 --height 64\n  spotfit simulate movie -o real.tif --truth real.csv --psf-na 1.4 --wavelength 680 --zernike 4,0=0.04 --z-range 200"
)]
pub(crate) struct MovieArguments {
    #[command(flatten)]
    frame: FrameArguments,
    /// Number of frames.
    #[arg(long, default_value_t = MovieRecipe::default().frames, value_name = "N", help_heading = "Movie")]
    frames: usize,
    /// Mean number of bright molecules in a frame.
    #[arg(long, default_value_t = MovieRecipe::default().spots, value_name = "N", help_heading = "Spots")]
    spots: f64,
    /// Spots of a frame per µm², on average, instead of molecules that blink: each frame has spots of its own, which have all
    /// their photons in it.
    #[arg(long, value_name = "PER_UM2", help_heading = "Spots", conflicts_with_all = ["spots", "on_time", "off_time"])]
    density: Option<f64>,
    /// The side of a pixel in nanometres, for --density and --psf-na.
    #[arg(long, default_value_t = MovieRecipe::default().pixel_size, value_name = "NM", help_heading = "Spots", requires = "scaled")]
    pixel_size: f64,
    /// Spots lie anywhere in the frame instead of on lines and rings.
    #[arg(long, help_heading = "Spots")]
    uniform: bool,
    /// Photo-electrons of a molecule in a frame.
    #[arg(long, default_value_t = MovieRecipe::default().photons, value_name = "E", help_heading = "Spots")]
    photons: f64,
    /// How much molecules differ in brightness: their photons are log-normal with the mean --photons, and this is the standard deviation of
    /// their logarithm, 0 to 2.
    #[arg(long, default_value_t = MovieRecipe::default().photons_spread, value_name = "SHARE", help_heading = "Spots")]
    photons_spread: f64,
    /// Standard deviation of the spots in pixels.
    #[arg(long, default_value_t = MovieRecipe::default().sigma, value_name = "PX", help_heading = "Spots")]
    sigma: f64,
    // The number comes from where it is set.
    #[arg(help_heading = "Spots", long, value_name = "SHARE", help = format!(
        "How much sigma varies from molecule to molecule: it is uniform within this share of --sigma, 0 to 0.9 \
         [default: 0; {} with elliptical and rotated spots]",
        MovieRecipe::usual_spread(ShapeWord::Elliptical)
    ))]
    sigma_spread: Option<f64>,
    #[command(flatten)]
    looks: SpotArguments,
    #[command(flatten)]
    objective: ObjectiveArguments,
    /// Mean time for which a molecule is bright, in frames.
    #[arg(long, default_value_t = MovieRecipe::default().on_time, value_name = "FRAMES", help_heading = "Spots")]
    on_time: f64,
    /// Mean time for which a molecule is dark, in frames: with a longer time there are more molecules, since --spots is
    /// the number in a frame.
    #[arg(long, default_value_t = MovieRecipe::default().off_time, value_name = "FRAMES", help_heading = "Spots")]
    off_time: f64,
    /// Number of fiducial beads, always on, ten times as bright as a molecule.
    #[arg(long, default_value_t = MovieRecipe::default().beads, value_name = "N", help_heading = "Spots")]
    beads: usize,
    /// Number of hot pixels: each adds 5 to 50 % of the photons of a molecule to its pixel, in every frame. They are not in the truth
    /// of the spots.
    #[arg(long, default_value_t = MovieRecipe::default().hot_pixels, value_name = "N", help_heading = "Camera")]
    hot_pixels: usize,
    /// Haze: six clouds of light out of focus, of half of so many to so many photo-electrons a pixel at their centres in the first frame.
    /// They move slowly and bleach.
    #[arg(long, default_value_t = MovieRecipe::default().haze, value_name = "E", help_heading = "Movie")]
    haze: f64,
    /// Where to write the mask of the hot pixels, an array (height, width) of booleans, as --defects of `spotfit localize` reads it.
    #[arg(long, value_name = "MASK.npy", help_heading = "Output")]
    write_defects: Option<WrittenFile>,
    /// Drift from frame to frame: X,Y in pixels, or X,Y,Z with Z in nanometres for defocused spots and behind an objective.
    #[arg(
        help_heading = "Movie",
        long,
        default_value = "0,0",
        value_name = "X,Y[,Z]",
        allow_hyphen_values = true
    )]
    drift: String,
    /// The heights of defocused spots and behind an objective: random, or those of the structures, so that lines ascend and rings are tilted
    /// [default: random].
    #[arg(help_heading = "Spots", long, value_name = "HEIGHTS", value_parser = choice([
        ("random", Heights::Random),
        ("structure", Heights::Structure),
    ]))]
    heights: Option<Heights>,
}

/// The drift in x and y, and in z if that is given.
fn parse_drift(text: &str) -> Result<([f64; 2], Option<f64>), CliError> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[x, y]) => Ok(([x, y], None)),
        Ok(&[x, y, z]) => Ok(([x, y], Some(z))),
        _ => Err(CliError::option("drift", text, "X,Y or X,Y,Z: two or three numbers")),
    }
}

pub(crate) fn run(arguments: &MovieArguments) -> Result<(), CliError> {
    let (drift, drift_z) = parse_drift(&arguments.drift)?;
    let recipe = said!(
        MovieRecipe, arguments: frames, spots, density, pixel_size, uniform, photons, photons_spread, sigma, sigma_spread,
        on_time, off_time, beads, hot_pixels, haze, heights
    );
    let recipe = recipe
        .with_frame(arguments.frame.recipe()?)
        .with_look(arguments.looks.recipe())
        .with_objective(arguments.objective.objective()?)
        .with_drift(drift)
        .with_drift_z(drift_z);
    arguments.frame.write(recipe.simulation()?, arguments.write_defects.as_deref())
}
