//! The driver's objects, each with an owner that gives it back. This module and those in it are the only ones that
//! call the driver; docs/gpu-safety.md tells what its calls must guarantee.

mod calls;
#[cfg(feature = "internals")]
pub(crate) mod fault;
mod loaded;
mod memory;
mod stream;

use std::sync::Arc;

use cudarc::driver::sys::{self, CUresult};

use crate::GpuError;

pub(crate) use loaded::Loaded;
pub(crate) use memory::{DeviceMemory, HostMemory, Mirror, device_of, seen_by_device};
pub(crate) use stream::{Event, Stream};

/// The CUDA version whose calls are made: 11.4, of 2021.
const VERSION: i32 = 11040;

/// Turns the answer of a call into an error that names the call.
fn check(call: &'static str, result: CUresult) -> Result<(), GpuError> {
    if result == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    let error = cudarc::driver::result::DriverError(result);
    let text = |text: Result<&std::ffi::CStr, _>| {
        text.map_or_else(|_| String::new(), |text| text.to_string_lossy().into_owned())
    };
    let message = format!("{} ({})", text(error.error_string()), text(error.error_name()));
    Err(GpuError::Driver { call, message })
}

macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {
        match $crate::driver::fault(stringify!($function)) {
            Some(error) => Err(error),
            None => check(stringify!($function), $crate::driver::calls::$function($($argument),*)),
        }
    };
}
use call;

/// What a call fails with, if a test lets it fail.
#[cfg(not(feature = "internals"))]
const fn fault(_: &'static str) -> Option<GpuError> {
    None
}
#[cfg(feature = "internals")]
use fault::fault;

/// Finds the driver, and starts it. Gives the number of devices.
pub(crate) fn start() -> Result<usize, GpuError> {
    calls::find()?;
    let found = version()?;
    if found < VERSION {
        return Err(GpuError::DriverTooOld { found, needed: VERSION });
    }
    // SAFETY: the arguments are valid pointers; these calls need nothing else.
    unsafe {
        match calls::cuInit(0) {
            CUresult::CUDA_ERROR_NO_DEVICE => return Err(GpuError::NoDevice(String::new())),
            other => {
                let none = |error| GpuError::NoDevice(format!(" ({error})"));
                check("cuInit", other).map_err(none)?;
            }
        }
        let mut count = 0;
        call!(cuDeviceGetCount(&mut count))?;
        if count < 1 {
            return Err(GpuError::NoDevice(String::new()));
        }
        Ok(count as usize)
    }
}

/// Copies so many bytes by a call that is told where it begins and how many. Memory of the caller may be registered with the driver in
/// part; what is and what is not the driver does not copy by one call.
fn copy_in_parts(
    call: &'static str,
    bytes: usize,
    copy: &impl Fn(usize, usize) -> CUresult,
) -> Result<(), GpuError> {
    match fault(call) {
        Some(error) => Err(error),
        None => check(call, in_parts(0, bytes, copy)),
    }
}

/// Halves what is refused.
fn in_parts(first: usize, bytes: usize, copy: &impl Fn(usize, usize) -> CUresult) -> CUresult {
    match copy(first, bytes) {
        CUresult::CUDA_ERROR_INVALID_VALUE if bytes > 1 => {
            let half = bytes / 2;
            match in_parts(first, half, copy) {
                CUresult::CUDA_SUCCESS => in_parts(first + half, bytes - half, copy),
                error => error,
            }
        }
        other => other,
    }
}

/// The CUDA version that the driver supports, as 1000·major + 10·minor.
pub(crate) fn version() -> Result<i32, GpuError> {
    let mut found = 0;
    // SAFETY: a valid pointer; `start` has found the library before.
    unsafe { call!(cuDriverGetVersion(&mut found))? };
    Ok(found)
}

/// A device by its number, below the count that [`start`] gave.
#[derive(Clone, Copy)]
pub(crate) struct Device(sys::CUdevice);

impl Device {
    pub(crate) fn new(number: usize) -> Result<Self, GpuError> {
        let mut device = 0;
        // SAFETY: a valid pointer; the driver checks the number.
        unsafe { call!(cuDeviceGet(&mut device, number as i32))? };
        Ok(Self(device))
    }

    pub(crate) fn name(self) -> Result<String, GpuError> {
        let mut name = [0; 256];
        // SAFETY: there is room for the bytes that are asked for.
        unsafe { call!(cuDeviceGetName(name.as_mut_ptr(), 256, self.0))? };
        let bytes = name.iter().take_while(|&&byte| byte != 0).map(|&byte| byte as u8);
        Ok(String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).into_owned())
    }

    pub(crate) fn memory(self) -> Result<usize, GpuError> {
        let mut bytes = 0;
        // SAFETY: a valid pointer.
        unsafe { call!(cuDeviceTotalMem_v2(&mut bytes, self.0))? };
        Ok(bytes)
    }

    pub(crate) fn attribute(self, attribute: sys::CUdevice_attribute) -> Result<i32, GpuError> {
        let mut value = 0;
        // SAFETY: a valid pointer.
        unsafe { call!(cuDeviceGetAttribute(&mut value, attribute, self.0))? };
        Ok(value)
    }
}

/// The primary context of a device, shared with everything else in the process that uses CUDA.
pub(crate) struct Context {
    context: sys::CUcontext,
    device: Device,
}

// SAFETY: a context may be used from any thread.
unsafe impl Send for Context {}
// SAFETY: the driver guards what threads share.
unsafe impl Sync for Context {}

impl Context {
    pub(crate) fn new(device: Device) -> Result<Arc<Self>, GpuError> {
        let mut context = std::ptr::null_mut();
        // SAFETY: a valid pointer; the context is released when this is dropped.
        unsafe { call!(cuDevicePrimaryCtxRetain(&mut context, device.0))? };
        Ok(Arc::new(Self { context, device }))
    }

    /// Makes it the calling thread's context for as long as the visit lasts; then the thread has that of before again. Nothing
    /// else changes a thread's context. Within another visit it costs next to nothing.
    pub(crate) fn enter(&self) -> Result<ContextGuard, GpuError> {
        let mut before = std::ptr::null_mut();
        // SAFETY: a valid pointer.
        unsafe { call!(cuCtxGetCurrent(&mut before))? };
        if before == self.context {
            return Ok(ContextGuard { before: None });
        }
        // SAFETY: the context lives as long as this.
        unsafe { call!(cuCtxSetCurrent(self.context))? };
        Ok(ContextGuard { before: Some(before) })
    }

    /// Waits for all that was put into its streams, by whomever.
    pub(crate) fn wait(&self) -> Result<(), GpuError> {
        let _context = self.enter()?;
        // SAFETY: there is a context.
        unsafe { call!(cuCtxSynchronize()) }
    }

    /// Free bytes of the device's memory.
    pub(crate) fn free_memory(&self) -> Result<usize, GpuError> {
        let _context = self.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: valid pointers, and there is a context.
        unsafe { call!(cuMemGetInfo_v2(&mut free, &mut total))? };
        Ok(free)
    }
}

/// A thread's stay at a device: whoever calls this crate may use CUDA himself, with another one.
#[must_use = "the thread has its own context again as soon as the visit ends"]
#[derive(Debug)]
pub struct ContextGuard {
    /// Nothing, if it was there before.
    before: Option<sys::CUcontext>,
}

impl Drop for ContextGuard {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // SAFETY: it was the thread's context, or none.
            let _ = unsafe { calls::cuCtxSetCurrent(before) };
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: it was retained once. An error at the end of a process changes nothing.
        let _ = unsafe { calls::cuDevicePrimaryCtxRelease_v2(self.device.0) };
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Proves that memory which is registered in part is copied whole, byte by byte once, by few calls; and that an error of another
    /// kind, or one that stays, ends the copy.
    #[test]
    fn copies_go_in_parts_where_they_must() {
        use CUresult::{CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_LAUNCH_FAILED, CUDA_SUCCESS};
        const BYTES: usize = 1_000_003;
        for edges in [vec![], vec![1], vec![4096, 999_999], vec![123_457, 500_000, 777_777]] {
            let (copied, calls) = (RefCell::new(vec![0u8; BYTES]), RefCell::new(0));
            let copy = |first: usize, bytes: usize| {
                *calls.borrow_mut() += 1;
                if edges.iter().any(|&edge| first < edge && edge < first + bytes) {
                    return CUDA_ERROR_INVALID_VALUE;
                }
                copied.borrow_mut()[first..first + bytes].iter_mut().for_each(|byte| *byte += 1);
                CUDA_SUCCESS
            };
            assert_eq!(in_parts(0, BYTES, &copy), CUDA_SUCCESS);
            assert!(copied.borrow().iter().all(|&times| times == 1), "{edges:?}");
            assert!(*calls.borrow() <= 1 + 50 * edges.len(), "{edges:?}: {calls:?}");
        }
        for error in [CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_LAUNCH_FAILED] {
            let calls = RefCell::new(0);
            let copy = |_, _| {
                *calls.borrow_mut() += 1;
                error
            };
            assert_eq!(in_parts(0, BYTES, &copy), error);
            assert!(*calls.borrow() <= 21, "{calls:?}");
        }
        assert_eq!(in_parts(0, 0, &|_, _| CUDA_SUCCESS), CUDA_SUCCESS);
    }
}
