//! Finding spots in frames: the search of `spotfit::detect`, where crowds are not looked for, in steps that each a kernel does for many
//! frames.
//!
//! Sums are made of the same numbers in the same order as there, nothing is fused, and ranks are exact: what is found has the same bits,
//! but for logarithms and sums of squares in double precision. What stands beside a line or tile of a frame (how far it is between tiles,
//! the shares of a mean, thresholds) is computed by the host, once for frames of a size.

mod job;
mod lines;
mod steps;
mod tiles;
mod tops;

pub use job::{Crew, DetectionJob, DetectionPlace, LINES, SEGMENT, TILE, TILE_NUMBERS};
pub use steps::DetectionStep;
