//! Drift: the motion of the sample from frame to frame, estimated from the localizations themselves or from beads.
//!
//! [`Drift::estimate`] needs no beads. It compares segments of the movie with each other, as in redundant
//! cross-correlation (Wang et al. 2014, Optics Express 22:15982), but evaluates the correlation from pairs of
//! localizations instead of pictures, so that it needs no pixels. From this estimate it refines a smooth curve: the
//! drift at which localizations of all times lie as near to each other as their uncertainty allows.
//! [`Drift::from_beads`] follows spots that are always on; what beads have in common in a frame ([`CommonDrift`]) is found as a tracker
//! finds it while frames come.

mod bead_axis;
mod bead_drift;
mod beads;
mod chance;
mod common;
mod error;
mod estimate;
mod fast;
mod guess;
mod jumps;
mod matrix;
mod movement;
mod options;
mod pairs;
mod points;
mod prior;
mod refine;
mod segments;

pub use beads::{BeadTrack, beads_at, track_beads};
pub use common::{CommonDrift, CommonShift, SeenPlace, Turn};
pub use error::DriftError;
pub use movement::Drift;
pub use options::{DriftInput, DriftOptions};
