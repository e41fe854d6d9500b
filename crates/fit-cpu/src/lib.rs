#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod explicit;
mod reference;

pub use reference::{BatchError, Reference};
