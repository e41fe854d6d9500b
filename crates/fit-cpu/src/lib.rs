#![doc = include_str!("../README.md")]

mod reference;
mod simd;
mod threads;

pub use reference::{BatchError, Reference};
pub use simd::{ALONE, InstructionSet, Simd, WindowFitter};
pub use threads::MOST_THREADS;
