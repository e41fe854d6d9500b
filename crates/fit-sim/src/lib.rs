#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod benchmark;
mod movie;
pub mod papers;
mod random;
mod spots;

pub use benchmark::GpufitBenchmark;
pub use movie::{
    Bead, MOST_BEADS, MOST_FRAME_PIXELS, MOST_MOLECULES, MoviePiece, MoviePlan, MovieSimulation,
    MovieTruth, Structure,
};
pub use random::Random;
pub use spots::{Camera, Noise, SimulationError, SpotSimulation, Spots, Truth};
