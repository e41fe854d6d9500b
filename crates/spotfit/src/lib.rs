#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod detect;
mod fitter;
pub mod localize;
pub mod movie;
pub mod npy;
#[cfg(feature = "render")]
pub mod render;
pub mod storm;

pub use fit_core::{
    ArgumentError, Background, Corner, Criteria, Fit, Limits, MaxError, Options, Pixel, Scalar,
    Shape, Size, Start, Status,
};
pub use fit_cpu::{InstructionSet, WindowFitter};
#[cfg(feature = "gpu")]
pub use fit_gpu as gpu;
pub use fitter::{AUTO_GPU_PIXELS, Backend, FitError, Fitter};

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
