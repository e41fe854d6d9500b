//! The kernels, for the device only. A module has one, `fit`: the line of [`crate::kernels!`] whose name is said by
//! `--cfg module="…"`. The layouts have a file each.
//!
//! What a launch must guarantee is in docs/gpu-safety.md.

use fit_core::spot::shape::{self, ShapeName};

use crate::Job;
use methods::{
    errors, least, least_rows, least_thread_per_fit, likelihood, likelihood_rows,
    likelihood_thread_per_fit, weighted, weighted_rows, weighted_thread_per_fit,
};

mod cooperative;
mod curve;
mod detect;
#[cfg(module = "curve_functions")]
mod functions;
mod gpufit;
mod memory;
mod methods;
mod parts;
mod published;
mod register_tile;
mod rust_models;
mod shared_memory;
mod shared_rows;
mod side_data;
mod staging;
mod thread_per_fit;
mod threads;
mod turns;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: it ends the kernel with a fault, which the host reports.
    unsafe { core::arch::nvptx::trap() }
}

macro_rules! entry {
    ($($name:literal: $family:ident, $layout:ident::<$($number:literal),+>, $shape:ident;)*) => {$(
        #[cfg(module = $name)]
        mod entry {
            use super::*;

            /// # Safety
            /// See docs/gpu-safety.md.
            #[unsafe(no_mangle)]
            unsafe extern "ptx-kernel" fn fit(job: Job) {
                // SAFETY: the caller's promise.
                unsafe {
                    $layout::fit::<shape::$shape, { ShapeName::$shape.parameters() }, $($number),+>(
                        &job,
                    )
                }
            }
        }
    )*};
}
crate::kernels!(entry);

macro_rules! template {
    ($($name:literal: $parameters:literal, $method:ident;)*) => {$(
        #[cfg(module = $name)]
        template_entry!($parameters, $method);
    )*};
}

macro_rules! template_entry {
    ($parameters:literal, Gpufit) => {
        mod entry {
            use super::*;

            /// # Safety
            /// See docs/gpu-safety.md.
            #[unsafe(no_mangle)]
            unsafe extern "ptx-kernel" fn fit(job: crate::GpufitJob) {
                // SAFETY: the caller's promise.
                unsafe { gpufit::fit::<$parameters>(&job) }
            }
        }
    };
    ($parameters:literal, Cooperative) => {
        mod entry {
            use super::*;

            /// # Safety
            /// See docs/gpu-safety.md.
            #[unsafe(no_mangle)]
            unsafe extern "ptx-kernel" fn fit(job: crate::CurveJob) {
                // SAFETY: the caller's promise.
                unsafe { cooperative::fit::<$parameters>(&job) }
            }
        }
    };
    ($parameters:literal, $method:ident) => {
        mod entry {
            use super::*;

            /// # Safety
            /// See docs/gpu-safety.md.
            #[unsafe(no_mangle)]
            unsafe extern "ptx-kernel" fn fit(job: crate::CurveJob) {
                // SAFETY: the caller's promise.
                unsafe { curve::fit::<$parameters, { crate::CurveMethod::$method as u8 }>(&job) }
            }
        }
    };
}
crate::templates!(template);

macro_rules! written_entry {
    ($($name:literal: $parameters:literal, $variables:literal, $model:ident;)*) => {$(
        #[cfg(module = $name)]
        mod entry {
            use super::*;

            /// # Safety
            /// See docs/gpu-safety.md.
            #[unsafe(no_mangle)]
            unsafe extern "ptx-kernel" fn fit(job: crate::CurveJob) {
                // SAFETY: the caller's promise.
                unsafe { rust_models::fit::<rust_models::$model, $parameters>(&job) }
            }
        }
    )*};
}
crate::written!(written_entry);

macro_rules! detection_entry {
    ($($name:literal: $number:literal, $step:ident;)*) => {$(
        #[cfg(module = $name)]
        mod entry {
            use super::*;

            /// # Safety
            /// See docs/gpu-safety.md.
            #[unsafe(no_mangle)]
            unsafe extern "ptx-kernel" fn fit(job: crate::DetectionJob) {
                // SAFETY: the caller's promise.
                unsafe { detect::find::<$number>(&job) }
            }
        }
    )*};
}
crate::detections!(detection_entry);
