#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod background;
mod clusters;
mod depth;
mod emitter;
mod equations;
mod error;
mod errors;
mod field;
mod filters;
mod finder;
mod frame;
mod gaussian;
mod geometry;
mod heights;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals;
mod kernel;
mod lanes;
mod lattice;
mod limit;
mod maps;
mod misfit;
mod moves;
mod options;
mod patch;
mod rect;
mod region;
mod sandwich;
mod scene;
mod score;
mod search;
mod setup;
mod sieve;
mod spline;
mod spot;
mod start;
mod sums;
mod system;
mod thresholds;
mod tiles;
mod trial;

pub use emitter::{Emitter, EmitterErrors};
pub use error::CrowdError;
pub use finder::CrowdFinder;
pub use frame::{CrowdFrame, ReadVariance};
pub use heights::WidthCurve;
pub use limit::WindowLimit;
pub use misfit::{Misfit, MisfitShares};
pub use options::{CrowdOptions, EmitterImage};
pub use spline::SplineImage;

/// For the crates of Spotfit alone: it promises nothing.
#[doc(hidden)]
pub mod private {
    pub use crate::lattice::{
        LEAST, LEAST_DATUM, LatticePlace, Lit, PAIRS, Patch, WIDE, add_pixels,
    };
    pub use crate::spline::basis;
}
