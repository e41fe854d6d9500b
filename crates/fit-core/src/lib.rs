#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]
// Without the feature `machines` much of it has no user here.
#![cfg_attr(not(feature = "machines"), allow(dead_code, unreachable_pub, unused_imports))]
// The hot paths are free of closures over `Real`: a closure is a function of its own, which a compiler
// may decline to inline into the function that an instruction set was enabled for.

#[cfg(feature = "machines")]
pub mod arithmetic;
#[cfg(not(feature = "machines"))]
mod arithmetic;
mod camera;
mod corner;
#[cfg(feature = "machines")]
pub mod curve;
#[cfg(not(feature = "machines"))]
mod curve;
pub mod equations;
mod error;
mod fit;
mod options;
mod outcome;
#[cfg(feature = "machines")]
pub mod pass;
#[cfg(not(feature = "machines"))]
mod pass;
mod precision;
mod problem;
#[cfg(feature = "machines")]
pub mod search;
#[cfg(not(feature = "machines"))]
mod search;
mod setters;
mod setup;
mod size;
#[cfg(feature = "machines")]
pub mod spot;
#[cfg(not(feature = "machines"))]
mod spot;
mod start;
mod status;

pub use arithmetic::{Mask, Number, Pixel, Real};
pub use camera::Camera;
pub use error::ArgumentError;
pub use fit::{Fitter, estimate, fit_window, scratch_len};
pub use options::{Criteria, Estimator, MaxError, Options};
pub use outcome::{Fit, Scalar};
pub use precision::{Errors, Parameter};
pub use problem::{Minimum, Problem, ProblemOptions, fit_problem};
pub use setup::Setup;
pub use size::{Circle, Outline, Size};
pub use spot::axis::PixelProfile;
pub use spot::limits::{Background, Limits};
pub use spot::shape::{Circular, Elliptical, FixedSigma, FixedSigmas, GivenSigma, Rotated, Shape};
pub use status::{Status, UnknownStatus};

// For the crates that run this on machines. It may change with any release.
#[cfg(feature = "machines")]
pub use arithmetic::{Erase, LaneMask, Lanes};
#[cfg(feature = "machines")]
pub use corner::Corner;
#[cfg(feature = "machines")]
pub use fit::{condition, fit_in_place};
#[cfg(feature = "machines")]
pub use outcome::{Fits, Make, Outcomes};
#[cfg(feature = "machines")]
pub use search::Record;
#[cfg(feature = "machines")]
pub use start::Start;
