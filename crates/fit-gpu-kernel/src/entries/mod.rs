//! The kernels, for the device only. A module has one, `fit`: the line of [`crate::kernels!`] whose name is said by
//! `--cfg module="…"`. The layouts have a file each.
//!
//! What a launch must guarantee is in docs/gpu-safety.md.

use fit_core::spot::shape::{self, ShapeName};

use methods::{
    errors_rows, least_rows, least_thread_per_fit, likelihood_rows, likelihood_thread_per_fit,
    weighted_rows, weighted_thread_per_fit,
};

mod cooperative;
mod curve;
mod detect;
mod double;
#[cfg(module = "curve_functions")]
mod functions;
mod gpufit;
mod memory;
mod methods;
mod parts;
mod persistent;
mod published;
mod register_tile;
mod shared_rows;
mod side_data;
mod staging;
mod thread_per_fit;
mod threads;
mod window_store;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: it ends the kernel with a fault, which the host reports.
    unsafe { core::arch::nvptx::trap() }
}

/// The entry of the module: what takes its argument.
macro_rules! entry {
    ($job:ident, $($fit:tt)*) => {
        mod entry {
            use super::*;

            /// # Safety
            /// See docs/gpu-safety.md.
            #[unsafe(no_mangle)]
            unsafe extern "ptx-kernel" fn fit(job: crate::$job) {
                // SAFETY: the caller's promise.
                unsafe { $($fit)*(&job) }
            }
        }
    };
}

macro_rules! kernel {
    ($($name:literal: $family:ident, $layout:ident::<$($number:literal),+>, $shape:ident;)*) => {$(
        #[cfg(module = $name)]
        entry!(
            Job,
            $layout::fit::<shape::$shape, { ShapeName::$shape.parameters() }, $($number),+>
        );
    )*};
}
crate::kernels!(kernel);

macro_rules! template {
    ($($name:literal: $parameters:literal, $method:ident;)*) => {$(
        #[cfg(module = $name)]
        template_entry!($parameters, $method);
    )*};
}

macro_rules! template_entry {
    ($parameters:literal, Gpufit) => {
        entry!(GpufitJob, gpufit::fit::<$parameters>);
    };
    ($parameters:literal, Double) => {
        mod entry {
            use super::*;

            /// # Safety
            /// See docs/gpu-safety.md.
            #[unsafe(no_mangle)]
            unsafe extern "ptx-kernel" fn fit(job: crate::DoubleJob) {
                // SAFETY: the caller's promise.
                unsafe { double::fit::<$parameters>(&job) }
            }
        }
    };
    ($parameters:literal, Cooperative) => {
        entry!(CurveJob, cooperative::fit::<$parameters>);
    };
    ($parameters:literal, $method:ident) => {
        entry!(CurveJob, curve::fit::<$parameters, { crate::CurveMethod::$method as u8 }>);
    };
}
crate::templates!(template);

macro_rules! detection {
    ($($name:literal: $number:literal, $step:ident;)*) => {$(
        #[cfg(module = $name)]
        entry!(DetectionJob, detect::find::<$number>);
    )*};
}
crate::detections!(detection);
