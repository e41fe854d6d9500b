#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod detect;
pub mod median;
pub mod rows;
