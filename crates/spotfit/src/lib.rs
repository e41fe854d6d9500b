#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod fitter;
pub mod npy;

pub use fit_core::{
    ArgumentError, Background, Criteria, Fit, Limits, MaxError, Options, Pixel, Scalar, Shape,
    Size, Start, Status,
};
pub use fitter::{Backend, FitError, Fitter};

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
