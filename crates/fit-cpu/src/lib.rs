#![doc = include_str!("../README.md")]

mod curve;
mod one;
mod reference;
mod simd;
mod threads;

pub use curve::{CurveReference, SharedFits, SharedPart, SharedValue};
pub use reference::{Arithmetic, BatchError, Reference};
pub use simd::{CurveSimd, InstructionSet, Simd, WindowFitter};
pub use threads::MOST_THREADS;

/// For the tests of this crate alone.
#[doc(hidden)]
pub mod internals {
    pub use crate::simd::internals::{fit_loaded, operate, portable_operations};
}
