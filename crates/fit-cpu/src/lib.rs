#![doc = include_str!("../README.md")]

mod reference;
mod simd;
mod threads;

pub use reference::{Arithmetic, BatchError, Reference};
pub use simd::{InstructionSet, Simd, WindowFitter};
pub use threads::MOST_THREADS;
