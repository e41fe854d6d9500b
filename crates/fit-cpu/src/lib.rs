#![doc = include_str!("../README.md")]

mod curve;
mod reference;
mod simd;
mod threads;

pub use curve::CurveReference;
pub use reference::{Arithmetic, BatchError, Reference};
pub use simd::{CurveSimd, InstructionSet, Simd, WindowFitter};
pub use threads::MOST_THREADS;
