#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), no_std)]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(abi_ptx, asm_experimental_arch, stdarch_nvptx, core_float_math)
)]

#[cfg(not(target_arch = "nvptx64"))]
pub mod catalogue;
pub mod curve;
pub mod detect;
pub mod device;
mod device_f32;
mod device_f64;
pub mod double;
pub mod gpufit;
mod job;
pub mod persistent;
pub mod published;
pub mod shared_rows;
pub mod specialization;
pub mod square_tile;
mod table;

#[cfg(target_arch = "nvptx64")]
mod entries;

#[cfg(not(target_arch = "nvptx64"))]
pub use catalogue::{DETECTIONS, Family, KERNELS, Kernel, KernelMethod, Layout, SOURCES, Source};
pub use curve::{CurveJob, CurveMethod};
pub use detect::{DetectionJob, DetectionPlace, DetectionStep};
pub use device_f32::{DeviceF32, ExactF32};
pub use device_f64::DeviceF64;
pub use double::DoubleJob;
pub use gpufit::GpufitJob;
pub use job::{Job, PixelKind, Task};
pub use specialization::Specialization;
