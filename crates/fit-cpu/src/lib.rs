#![doc = include_str!("../README.md")]

mod curve;
mod reference;
mod simd;
mod threads;

pub use curve::{
    CurveReference, ErrorsOfVariables, SharedFits, SharedPart, SharedValue, effective_weights,
};
pub use fit_reference::{Arithmetic, widen_errors};
pub use reference::{BatchError, Reference};
pub use simd::{CurveSimd, InstructionSet, Simd, WindowFitter};
pub use threads::MOST_THREADS;

/// For the tests of this crate alone.
#[doc(hidden)]
pub mod internals {
    pub use crate::simd::internals::{
        RegisterOperations, fit_loaded, operate, real_operations, register_operations,
    };
}
