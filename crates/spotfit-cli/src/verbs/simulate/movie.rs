//! `spotfit simulate movie`: a movie with its truth.

use clap::{Args, ValueEnum};
use fit_sim::{Bead, Heights, MOST_BEADS, MOST_MOLECULES, SpotShape};

use crate::error::CliError;
use crate::verbs::simulate::frames::FrameArguments;
use crate::verbs::simulate::spots::SpotArguments;

/// How much the two widths vary if nothing is said: with 0 they would be equal.
const ELLIPTICAL_SPREAD: f64 = 0.25;

#[derive(Debug, Args)]
pub(crate) struct MovieArguments {
    #[command(flatten)]
    frame: FrameArguments,
    /// Number of frames.
    #[arg(long, default_value_t = 500, value_name = "N")]
    frames: usize,
    /// Mean number of bright molecules in a frame.
    #[arg(long, default_value_t = 20.0, value_name = "N")]
    spots: f64,
    /// Photo-electrons of a molecule in a frame.
    #[arg(long, default_value_t = 1000.0, value_name = "E")]
    signal: f64,
    /// Standard deviation of the spots in pixels.
    #[arg(long, default_value_t = 1.3, value_name = "PX")]
    sigma: f64,
    // The number comes from where it is set.
    #[arg(long, value_name = "SHARE", help = format!(
        "How much sigma varies from molecule to molecule: it is uniform within this share of --sigma, 0 to 0.9 \
         [default: 0; {ELLIPTICAL_SPREAD} with elliptical and rotated spots]"
    ))]
    sigma_spread: Option<f64>,
    #[command(flatten)]
    looks: SpotArguments,
    /// Mean time for which a molecule is bright, in frames.
    #[arg(long, default_value_t = 3.0, value_name = "FRAMES")]
    on_time: f64,
    /// Mean time for which a molecule is dark, in frames: with a longer time there are more molecules, since --spots is
    /// the number in a frame.
    #[arg(long, default_value_t = 300.0, value_name = "FRAMES")]
    off_time: f64,
    /// Number of fiducial beads, always on, ten times as bright as a molecule.
    #[arg(long, default_value_t = 0, value_name = "N")]
    beads: usize,
    /// Drift from frame to frame: X,Y in pixels, or X,Y,Z with Z in nanometres for defocused spots.
    #[arg(long, default_value = "0,0", value_name = "X,Y[,Z]", allow_hyphen_values = true)]
    drift: String,
    /// The heights of defocused spots: random, or those of the structures, so that lines ascend and rings are tilted
    /// [default: random].
    #[arg(long, value_enum, value_name = "HEIGHTS")]
    heights: Option<HeightsChoice>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum HeightsChoice {
    Random,
    Structure,
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
    let shape = arguments.looks.shape()?;
    let spread = match shape {
        SpotShape::Elliptical | SpotShape::Rotated => ELLIPTICAL_SPREAD,
        _ => 0.0,
    };
    let (drift, drift_z) = parse_drift(&arguments.drift)?;
    let defocused = matches!(shape, SpotShape::Defocused(_));
    for (given, name) in
        [(drift_z.is_some(), "--drift X,Y,Z"), (arguments.heights.is_some(), "--heights")]
    {
        if given && !defocused {
            return Err(CliError::file(name, "it needs --shape defocused"));
        }
    }
    let heights = match arguments.heights {
        Some(HeightsChoice::Structure) => Heights::Structure,
        _ => Heights::Random,
    };
    let mut simulation = arguments
        .frame
        .simulation(arguments.frames)
        .with_signal(arguments.signal)
        .with_sigma(arguments.sigma)
        .with_sigma_spread(arguments.sigma_spread.unwrap_or(spread))
        .with_shape(shape)
        .with_profile(arguments.looks.profile())
        .with_on_time(arguments.on_time)
        .with_off_time(arguments.off_time)
        .with_drift(drift)
        .with_drift_z(drift_z.unwrap_or(0.0))
        .with_heights(heights);
    // Before any are made: their places take memory.
    if arguments.beads > MOST_BEADS {
        let range = format!("0 to {MOST_BEADS}");
        return Err(CliError::option("beads", &arguments.beads.to_string(), &range));
    }
    simulation.beads = beads(arguments);
    simulation.molecules = 0;
    simulation.validate()?;
    simulation.molecules = simulation.molecules_for(arguments.spots);
    if !(arguments.spots >= 0.0 && simulation.molecules <= MOST_MOLECULES) {
        let each = simulation.molecules_for(1e6) as f64 / 1e6;
        let most = (MOST_MOLECULES as f64 / each).floor();
        let range = format!("0 to {most} with this on-time, of {MOST_MOLECULES} molecules");
        return Err(CliError::option("spots", &arguments.spots.to_string(), &range));
    }
    arguments.frame.write(simulation)
}

/// Beads along the frame's diagonals, well inside.
fn beads(arguments: &MovieArguments) -> Vec<Bead> {
    let place = |i: usize| {
        let along = 0.08 + 0.84 * (i as f64 + 0.5) / arguments.beads as f64;
        let down = if i.is_multiple_of(2) { along } else { 1.0 - along };
        Bead {
            x: arguments.frame.width as f64 * along,
            y: arguments.frame.height as f64 * down,
            signal: 10.0 * arguments.signal,
        }
    };
    (0..arguments.beads).map(place).collect()
}
