//! Simulations as the command and Python ask for them: words, defaults and what is refused.
//!
//! A recipe becomes a simulation, which is made piece by piece: [`MovieRecipe`] and [`BeadRecipe`] a [`MovieSimulation`].
//!
//! ```
//! use fit_sim::recipes::{FrameRecipe, MovieRecipe};
//!
//! let frame = FrameRecipe::default().with_width(64).with_height(48);
//! let movie = MovieRecipe::default().with_frame(frame).with_frames(10);
//! let mut plan = movie.simulation()?.plan()?;
//! assert_eq!(plan.piece(0..10).frames().dim(), (10, 48, 64));
//! # Ok::<(), fit_sim::recipes::RecipeError>(())
//! ```

mod beads;
mod look;
mod movie;
mod objective;

pub use beads::BeadRecipe;
pub use look::{FocusRecipe, LookRecipe, ShapeWord};
pub use movie::MovieRecipe;

use crate::{MovieSimulation, SimulatedCamera, SimulationError};

/// Why a recipe makes no sense. Names of options stand in backticks where others are mentioned.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RecipeError {
    /// The value of an option is out of its range.
    #[error("{name} = {value} is out of its range ({range})")]
    Option {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: String,
        /// The allowed values, in words.
        range: String,
    },
    /// An option is for defocused spots alone.
    #[error("{0}: it needs `shape` defocused")]
    NotDefocused(&'static str),
    /// Options exclude each other.
    #[error("{0} and {1} exclude each other")]
    Conflict(&'static str, &'static str),
    /// The simulation is refused.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}

/// Refuses a value unless it is good.
fn check(
    name: &'static str,
    value: impl ToString,
    good: bool,
    range: impl Into<String>,
) -> Result<(), RecipeError> {
    if good {
        Ok(())
    } else {
        Err(RecipeError::Option { name, value: value.to_string(), range: range.into() })
    }
}

fit_core::__options! {
    /// The frames of a movie or of a stack, their background, and the camera.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct FrameRecipe {
        /// Width of the frames in pixels.
        pub width(const with_width): usize = 256,
        /// Height of the frames in pixels.
        pub height(const with_height): usize = 256,
        /// Mean background of a pixel in photo-electrons.
        pub background(const with_background): f64 = 20.0,
        /// How much the background varies over the frame, as a share of its mean, 0 to 1.
        pub unevenness(const with_unevenness): f64 = 0.5,
        /// The camera.
        pub camera(const with_camera): SimulatedCamera = SimulatedCamera::usual(),
        /// The seed: the same seed gives the same bytes on every machine.
        pub seed(const with_seed): u64 = 1,
    }
}

impl FrameRecipe {
    /// A movie of such frames, without the maps of a camera.
    fn simulation(&self, frames: usize) -> MovieSimulation {
        MovieSimulation::new(self.width, self.height, frames)
            .with_background(self.background)
            .with_unevenness(self.unevenness)
            .with_camera(self.camera)
            .with_seed(self.seed)
    }
}
