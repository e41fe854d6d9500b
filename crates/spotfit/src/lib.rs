#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod astigmatism;
mod backend;
pub mod camera_maps;
pub mod detect;
pub mod drift;
mod excerpt;
mod fitter;
pub mod hdf5;
pub mod link;
pub mod localize;
mod masked;
mod median;
pub mod model;
pub mod movie;
mod near;
pub mod npy;
pub mod psf;
mod range;
#[cfg(feature = "render")]
pub mod render;
#[cfg(test)]
mod simulated;
pub mod statistics;
mod statuses;
pub mod table;
pub mod yaml;

pub use fit_core::spot::shape::{
    Circular, Elliptical, FixedSigma, FixedSigmas, GivenSigma, Rotated, Shape,
};
pub use fit_core::{
    ArgumentError, Background, Camera, Circle, Corner, Criteria, Errors, Estimator, Fit, Limits,
    MaxError, Options, Outcomes, Outline, Parameter, Pixel, PixelProfile, Scalar, Size, Start,
    Status,
};
pub use fit_cpu::{BatchError, InstructionSet, WindowFitter};
#[cfg(feature = "gpu")]
pub use fit_gpu as gpu;
pub use fit_windows::{AnyWindows, CameraMap, MapError, Weights, Windows};
/// The version of `ndarray` whose arrays this library takes.
pub use ndarray;

pub use backend::{AUTO_GPU_PIXELS, Backend, FitError, FitterOptions};
pub use fitter::Fitter;
pub use range::OutOfRange;
pub use statuses::StatusCounts;
