#![doc = include_str!("../README.md")]
#![allow(non_snake_case)] // The library has Gpufit's name.

mod device;
mod error;
mod fit;
mod fitter;
mod interface;
mod model;
mod request;
mod splines;
mod strict;

pub use interface::*;
