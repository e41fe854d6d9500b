#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

pub mod cooperative;
pub mod double;
pub mod functions;
pub mod gpufit;
pub mod published;
pub mod single;
