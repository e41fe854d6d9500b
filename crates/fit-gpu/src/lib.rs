#![doc = include_str!("../README.md")]

/// Shows values of a type: their name, and how large they are.
macro_rules! shown {
    ($type:ty, $own:ident => $($text:tt)+) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $own = self;
                write!(f, $($text)+)
            }
        }
    };
}

mod batch;
mod bytes;
mod card;
mod curve;
mod detection;
mod devices;
mod driver;
mod error;
mod frames;
mod in_place;
mod inputs;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals;
mod kept;
mod lent;
mod pinned;
mod pipeline;
mod pixels;
mod pool;
mod resident;
mod session;
mod side_data;
mod slot;
mod specialization;

pub use batch::Gpu;
pub use curve::{CurveGpu, CurveRecord, CurveRecords, DeviceCurves, spliced, spliced_double};
pub use detection::{Detection, DetectionThreshold, FrameTops};
pub use devices::{DeviceInfo, devices, free_memory};
pub use driver::ContextGuard;
pub use error::GpuError;
pub use fit_gpu_kernel::{CurveMethod, DetectionPlace, Family, KernelMethod};
pub use frames::{FrameDetector, SentFrames};
pub use in_place::{DeviceFits, DeviceStart, DeviceWindows, InPlace, device_of};
pub use pinned::{Pinnable, PinnedBuffer};
pub use resident::Resident;
pub use session::GpuSession;
