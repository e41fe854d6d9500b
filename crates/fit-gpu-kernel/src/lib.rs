#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), no_std)]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(abi_ptx, asm_experimental_arch, stdarch_nvptx, core_float_math)
)]

pub mod alone;
#[cfg(not(target_arch = "nvptx64"))]
pub mod catalogue;
pub mod curve;
pub mod device;
pub mod gpufit;
mod job;
pub mod published;
pub mod rows;
mod single;
mod table;
pub mod team;

#[cfg(target_arch = "nvptx64")]
mod entries;

#[cfg(not(target_arch = "nvptx64"))]
pub use catalogue::{Family, KERNELS, Kernel, Layout, Method, SOURCES, Source, written_extent};
pub use curve::{CurveJob, CurveMethod};
pub use gpufit::GpufitJob;
pub use job::{Job, PixelKind, Task};
pub use single::{Exact, Single};
