#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod benchmark;
mod camera;
mod error;
mod light;
mod maps;
mod movie;
mod objective;
pub mod papers;
mod random;
pub mod recipes;
mod shape;
mod spots;
mod stage;

pub use benchmark::GpufitBenchmark;
pub use camera::{Noise, SimulatedCamera};
pub use error::SimulationError;
pub use light::SpotProfile;
pub use maps::{MOST_FRAME_PIXELS, Maps};
pub use movie::{
    HazeCloud, Heights, HotPixel, MOST_BEADS, MOST_CLOUDS, MOST_MOLECULES, MoviePiece, MoviePlan,
    MovieSimulation, MovieTruth, SimulatedBead, SimulatedPsf, Structure,
};
pub use objective::{Dipole, Objective, PupilPsf, Zernike};
pub use random::Random;
pub use shape::{Defocus, SpotShape};
pub use spots::{SimulatedSpots, SpotSimulation, Truth};
pub use stage::{
    Actuator, BeadFate, SeenBead, Stage, StageBead, StageMotion, StageSimulation, StageTruth,
};
