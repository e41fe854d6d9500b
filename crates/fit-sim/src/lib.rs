#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod random;
mod spots;

pub use random::Random;
pub use spots::{Camera, Noise, SimulationError, SpotSimulation, Spots, Truth};
