#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(abi_ptx, asm_experimental_arch, stdarch_nvptx, core_float_math)
)]

pub mod device;
mod job;
pub mod published;
pub mod rows;
mod single;
pub mod team;

#[cfg(target_arch = "nvptx64")]
mod entries;

pub use job::{Job, PixelKind};
pub use single::{Exact, Single};
