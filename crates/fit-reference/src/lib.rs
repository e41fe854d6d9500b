#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod batch;
mod one;
mod scatter;

pub use batch::{Arithmetic, ReferenceErrors, ReferenceFit, errors, fit};
pub use one::{em_gain, read};
pub use scatter::{Widener, widen_errors};
