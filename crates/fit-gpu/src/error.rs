use fit_core::spot::shape::ShapeName;
use fit_core::{ArgumentError, Size};
use fit_curves::CurveError;
use fit_gpu_kernel::{Family, KernelMethod};

/// Why a GPU could not be used, or could not fit a batch. After any of these errors the process can go on
/// without the GPU.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// The request makes no sense.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// The request for curves makes no sense.
    #[error(transparent)]
    Curve(#[from] CurveError),
    /// There is no NVIDIA driver on this machine.
    #[error("no NVIDIA driver: its library {LIBRARY} is not found")]
    NoDriver,
    /// The driver's library lacks a function that this crate calls.
    #[error("the NVIDIA driver cannot be used: its library {LIBRARY} has no function {0}")]
    MissingFunction(&'static str),
    /// The driver is too old for the calls of this crate.
    #[error("the NVIDIA driver is too old: it supports CUDA {}.{}, but {}.{} is needed",
        found / 1000, found % 1000 / 10, needed / 1000, needed % 1000 / 10)]
    DriverTooOld {
        /// The CUDA version that it supports, as 1000·major + 10·minor.
        found: i32,
        /// The oldest CUDA version that will do, in the same form.
        needed: i32,
    },
    /// Pixels have weights in the memory of the device and in the host's.
    #[error("weights are given twice: in the memory of the device, and on the host")]
    WeightsTwice,
    /// Kernels do not read such pixels where they lie.
    #[error("pixels in the memory of a GPU must be f32, u16 or u8")]
    PixelType,
    /// The driver has no device.
    #[error("no NVIDIA GPU: the driver was found, but no device{0}")]
    NoDevice(String),
    /// There is no device with this number.
    #[error("there is no GPU number {number}: the driver has {count}, counted from 0")]
    NoSuchDevice {
        /// The number of the requested device.
        number: usize,
        /// How many devices there are.
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
    /// The number of bytes overflows.
    #[error("{count} times {each} bytes do not fit into any memory")]
    TooManyBytes {
        /// How many values were requested.
        count: usize,
        /// The bytes of each value.
        each: usize,
    },
    /// There are more windows than a kernel can count.
    #[error("{0} windows are too many at a time (at most {most})", most = u32::MAX)]
    TooManyWindows(usize),
    /// No kernel of the requested family takes such windows.
    #[error(
        "no kernel of the family {family:?} fits {shape} spots by {} in windows of {}x{} pixels",
        method.word(), size.width, size.height
    )]
    NoKernel {
        /// The family.
        family: Family,
        /// The shape.
        shape: ShapeName,
        /// How they were to be fitted.
        method: KernelMethod,
        /// The window.
        size: Size,
    },
    /// There is not enough memory.
    #[error("out of memory: cannot allocate {bytes} bytes of {place} memory")]
    OutOfMemory {
        /// How many bytes were requested.
        bytes: usize,
        /// Where: on the device, or pinned on the host.
        place: &'static str,
    },
    /// The window is larger than a multiprocessor's shared memory.
    #[error("a window of {}x{} pixels is too large for this GPU: squares have at most {pixels} pixels",
        size.width, size.height)]
    WindowTooLarge {
        /// The window.
        size: Size,
        /// The pixels of the largest square.
        pixels: usize,
    },
    /// A call of the driver failed, or an earlier kernel ended with a fault, which this call reports.
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
