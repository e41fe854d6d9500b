#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod detect;
mod excerpt;
mod fitter;
pub mod localize;
pub mod movie;
pub mod npy;
mod range;
#[cfg(feature = "render")]
pub mod render;
mod statuses;
pub mod storm;

pub use fit_core::spot::shape::{Circular, FixedSigma, Shape};
pub use fit_core::{
    ArgumentError, Background, Circle, Corner, Criteria, Fit, Limits, MaxError, Options, Pixel,
    Scalar, Size, Start, Status,
};
pub use fit_cpu::{InstructionSet, WindowFitter};
#[cfg(feature = "gpu")]
pub use fit_gpu as gpu;
/// The arrays of this library's interface are of this version of `ndarray`.
pub use ndarray;

pub use fitter::{AUTO_GPU_PIXELS, Backend, FitError, Fitter};
pub use range::OutOfRange;
pub use statuses::StatusCounts;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
