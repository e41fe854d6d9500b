#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(feature = "clap")]
#[doc(hidden)]
pub mod arguments;
mod as_windows;
pub mod astigmatism;
mod backend;
pub mod camera_maps;
mod emitters;
mod fitter;
mod fitter_memory;
pub mod localize;
mod masked;
mod measure;
pub mod model;
pub mod npy;
pub mod psf;
mod raise;
pub mod record;
pub mod speeds;
mod stage_times;
mod statuses;
pub mod steps;
pub mod table;
pub mod track;

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
pub use fit_windows::{AnyWindows, CameraMap, MapError, Weights, WindowShape, Windows};
/// The version of `ndarray` whose arrays this library takes.
pub use ndarray;
pub use spotfit_files::{columns, hdf5, movie, output, yaml};
pub use spotfit_frames::detect;
#[cfg(feature = "render")]
pub use spotfit_locs::render;
pub use spotfit_locs::{Length, LengthError, OutOfRange, drift, link, pairs, report, statistics};
/// Rings of frames in shared memory.
pub use spotfit_ring as ring;

pub use as_windows::AsWindows;
pub use backend::{Backend, FitError, FitterOptions};
pub use emitters::{EmitterFit, EmitterFitErrors, EmitterFitter};
pub use fitter::Fitter;
pub use statuses::StatusCounts;
