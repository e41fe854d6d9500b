use fit_core::spot::shape::ShapeName;
use fit_core::{ArgumentError, Size};
use fit_gpu_kernel::Family;

/// Why a GPU could not be used, or a batch not be fitted on it. After any of them the process can go on
/// without the GPU.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// The request makes no sense.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// There is no NVIDIA driver on this machine.
    #[error("no NVIDIA driver: its library {LIBRARY} is not found")]
    NoDriver,
    /// The driver's library lacks a function that is called.
    #[error("the NVIDIA driver cannot be used: its library {LIBRARY} has no function {function}")]
    MissingFunction {
        /// Its name.
        function: &'static str,
    },
    /// The driver is older than the calls that are made.
    #[error("the NVIDIA driver is too old: it supports CUDA {}.{}, {}.{} is needed",
        found / 1000, found % 1000 / 10, needed / 1000, needed % 1000 / 10)]
    DriverTooOld {
        /// The CUDA version that it supports, as 1000·major + 10·minor.
        found: i32,
        /// The oldest that will do, likewise.
        needed: i32,
    },
    /// The driver has no device.
    #[error("no NVIDIA GPU: the driver is there, but has no device{0}")]
    NoDevice(String),
    /// There is no device of that number.
    #[error("there is no GPU number {number}: the driver has {count}, counted from 0")]
    NoSuchDevice {
        /// The number asked for.
        number: usize,
        /// How many there are.
        count: usize,
    },
    /// The device cannot run the kernels.
    #[error("{name} has compute capability {}.{}; the kernels need 7.5 or more",
        capability.0, capability.1)]
    DeviceTooOld {
        /// Its name.
        name: String,
        /// Its compute capability.
        capability: (i32, i32),
    },
    /// So many values are more than any memory has.
    #[error("{count} times {each} bytes are more than any memory has")]
    TooManyBytes {
        /// How many values were asked for.
        count: usize,
        /// The bytes of each of them.
        each: usize,
    },
    /// So many windows are more than a kernel counts.
    #[error("{count} windows at a time: {} are the most", u32::MAX)]
    TooManyWindows {
        /// How many there were.
        count: usize,
    },
    /// No kernel of the family that was asked for takes such windows.
    #[error(
        "no kernel of the family {family:?} takes {shape} spots in windows of {}x{} pixels",
        size.width, size.height
    )]
    NoKernel {
        /// The family.
        family: Family,
        /// The shape.
        shape: ShapeName,
        /// The window.
        size: Size,
    },
    /// There is not enough memory.
    #[error("out of memory: {bytes} bytes of {place} memory cannot be had")]
    OutOfMemory {
        /// How many were asked for.
        bytes: usize,
        /// Where: on the device, or pinned on the host.
        place: &'static str,
    },
    /// The window is larger than a multiprocessor's shared memory.
    #[error("a window of {}x{} pixels is too large for this GPU: {pixels} pixels are the most",
        size.width, size.height)]
    WindowTooLarge {
        /// The window.
        size: Size,
        /// The largest number of pixels.
        pixels: usize,
    },
    /// A call of the driver failed, or a kernel ended with a fault, which the next call reports.
    #[error("{call}: {message}")]
    Driver {
        /// The call.
        call: &'static str,
        /// What the driver says.
        message: String,
    },
}

#[cfg(windows)]
const LIBRARY: &str = "nvcuda.dll";
#[cfg(not(windows))]
const LIBRARY: &str = "libcuda.so.1";
