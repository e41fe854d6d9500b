//! `spotfit simulate beads`: a z stack of beads behind an astigmatic lens, for `spotfit calibrate`.

use clap::Args;
use fit_sim::{Bead, Defocus, MovieSimulation, Random, SpotShape};

use crate::error::CliError;
use crate::verbs::simulate::frames::FrameArguments;
use crate::verbs::simulate::spots::{FocusArguments, ProfileArguments};

/// Side of the square that a bead has for itself, in pixels: out of focus it is wide.
const OWN: usize = 24;

/// The most slices of a stack.
const MOST_SLICES: f64 = 1e5;

/// The stream of random numbers that places the beads: it is none of those of the movie.
const PLACES: u64 = 3 << 32;

#[derive(Debug, Args)]
pub(crate) struct BeadArguments {
    #[command(flatten)]
    frame: FrameArguments,
    /// The step of the stage from slice to slice, in nanometres.
    #[arg(long, default_value_t = 20.0, value_name = "NM")]
    step: f64,
    /// The stage moves from +NM to -NM nanometres, so that the first slice shows the beads highest.
    #[arg(long, default_value_t = 700.0, value_name = "NM")]
    range: f64,
    /// Number of beads. Each lies in its own square of 24 pixels.
    #[arg(long, default_value_t = 20, value_name = "N")]
    beads: usize,
    /// The beads' own heights are uniform within ±NM nanometres.
    #[arg(long, default_value_t = 50.0, value_name = "NM")]
    spread: f64,
    /// Photo-electrons of a bead in a slice.
    #[arg(long, default_value_t = 10_000.0, value_name = "E")]
    signal: f64,
    /// Standard deviation of a bead in focus, in pixels.
    #[arg(long, default_value_t = 1.3, value_name = "PX")]
    sigma: f64,
    #[command(flatten)]
    focus: FocusArguments,
    #[command(flatten)]
    profile: ProfileArguments,
}

pub(crate) fn run(arguments: &BeadArguments) -> Result<(), CliError> {
    let &BeadArguments { step, range, spread, .. } = arguments;
    let number = |name: &str, value: f64, good: bool, range: &str| match good {
        true => Ok(()),
        false => Err(CliError::option(name, &value.to_string(), range)),
    };
    number("range", range, range > 0.0 && range <= 1e5, "above 0, to 100000 nm")?;
    number("spread", spread, (0.0..=1e5).contains(&spread), "0 to 100000 nm")?;
    // A quotient that is a whole number but for its last bits is that number.
    let steps = (2.0 * range / step * (1.0 + 1e-12)).floor();
    let slices = (2.0..MOST_SLICES).contains(&steps);
    number("step", step, slices, "such that the range has 3 to 100000 slices")?;
    let defocus = arguments.focus.defocus(Defocus::default().with_z_range(spread));
    let simulation = arguments
        .frame
        .simulation(steps as usize + 1)
        .with_molecules(0)
        .with_shape(SpotShape::Defocused(defocus))
        .with_profile(arguments.profile.profile())
        .with_sigma(arguments.sigma)
        .with_signal(arguments.signal)
        .with_stage(0.5 * steps * step)
        .with_drift_z(-step);
    simulation.validate()?;
    let beads = beads(arguments, &simulation)?;
    arguments.frame.write(simulation.with_beads(beads))
}

/// Beads in the cells of a grid, anywhere in their cell as far as they stay apart.
fn beads(arguments: &BeadArguments, frame: &MovieSimulation) -> Result<Vec<Bead>, CliError> {
    let (count, signal) = (arguments.beads, arguments.signal);
    let MovieSimulation { width, height, seed, .. } = *frame;
    let (most_columns, most_rows) = (width / OWN, height / OWN);
    let most = most_columns * most_rows;
    if !(1..=most).contains(&count) {
        let range = format!("1 to {most}: each needs {OWN}×{OWN} of the {width}×{height} pixels");
        return Err(CliError::option("beads", &count.to_string(), &range));
    }
    let columns = (count as f64 * width as f64 / height as f64).sqrt().ceil() as usize;
    let columns = columns.clamp(count.div_ceil(most_rows), most_columns);
    let rows = count.div_ceil(columns);
    let mut random = Random::new(seed, PLACES);
    let mut place = |cell: usize, cells: usize, side: usize| {
        let length = side as f64 / cells as f64;
        let free = (length - OWN as f64).max(1.0);
        length * (cell as f64 + 0.5) - 0.5 + free * (random.uniform() - 0.5)
    };
    let bead = |number: usize| Bead {
        x: place(number % columns, columns, width),
        y: place(number / columns, rows, height),
        signal,
    };
    Ok((0..count).map(bead).collect())
}
