#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]
// The hot paths are free of closures over `Real`: a closure is a function of its own, which a compiler
// may decline to inline into the function that an instruction set was enabled for.

pub mod axis;
pub mod condition;
mod corner;
mod estimate;
mod fit;
pub mod lanes;
pub mod normal;
mod options;
mod outcome;
pub mod published;
mod real;
pub mod search;
mod shape;
pub mod solve;
mod start;
pub mod sums;

pub use corner::Corner;
pub use estimate::estimate;
pub use fit::{fit_in_place, fit_window, scratch_len};
pub use lanes::{LaneMask, Lanes};
pub use options::{ArgumentError, Background, Criteria, Limits, MaxError, Options, Setup};
pub use outcome::{Fit, Status, UnknownStatus};
pub use real::{Mask, Pixel, Real, Scalar};
pub use shape::{Shape, Size};
pub use start::Start;
