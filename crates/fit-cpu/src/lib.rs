#![doc = include_str!("../README.md")]

mod reference;
mod simd;
mod windows;

pub use reference::{BatchError, Reference};
pub use simd::{ALONE, InstructionSet, Simd, WindowFitter};
