#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]
// The hot paths are free of closures over `Real`: a closure is a function of its own, which a compiler
// may decline to inline into the function that an instruction set was enabled for.

pub mod arithmetic;
mod camera;
mod corner;
pub mod crowd;
pub mod curve;
mod error;
mod fit;
mod options;
mod outcome;
pub mod pass;
mod precision;
pub mod published;
pub mod search;
mod setters;
mod setup;
mod size;
pub mod spot;
mod start;
mod status;

pub use arithmetic::{Erase, LaneMask, Lanes, Mask, Number, Pixel, Real};
pub use camera::Camera;
pub use corner::Corner;
pub use error::ArgumentError;
pub use fit::{condition, estimate, fit_in_place, fit_window, scratch_len};
pub use options::{Criteria, Estimator, MaxError, Options};
#[doc(hidden)]
pub use outcome::Make;
pub use outcome::{Fit, Fits, Outcomes, Scalar};
pub use precision::{Errors, Parameter};
pub use search::Record;
pub use setup::Setup;
pub use size::{Circle, Outline, Size};
pub use spot::axis::PixelProfile;
pub use spot::limits::{Background, Limits};
pub use spot::shape::Shape;
pub use start::Start;
pub use status::{Status, UnknownStatus};
