use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUresult};

use super::{Context, call, calls, check};
use crate::GpuError;
use crate::bytes::Bytes;

/// Memory of a device.
pub(crate) struct DeviceMemory {
    pub(super) pointer: sys::CUdeviceptr,
    pub(super) bytes: Bytes,
    context: Arc<Context>,
}

impl DeviceMemory {
    pub(crate) fn new(context: &Arc<Context>, bytes: Bytes) -> Result<Self, GpuError> {
        context.enter()?;
        let mut pointer = 0;
        // SAFETY: a valid pointer, and there is a context.
        match unsafe { calls::cuMemAlloc_v2(&mut pointer, bytes.get().max(1)) } {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                Err(GpuError::OutOfMemory { bytes: bytes.get(), place: "device" })
            }
            other => {
                check("cuMemAlloc", other)?;
                Ok(Self { pointer, bytes, context: Arc::clone(context) })
            }
        }
    }

    /// Makes sure that there are at least so many bytes; what was in it is lost if there were fewer.
    /// Nothing in a stream may use it.
    pub(crate) fn reserve(&mut self, bytes: Bytes) -> Result<(), GpuError> {
        if self.bytes < bytes {
            let larger = Self::new(&Arc::clone(&self.context), bytes)?;
            *self = larger;
        }
        Ok(())
    }

    /// The number of bytes.
    pub(crate) fn bytes(&self) -> Bytes {
        self.bytes
    }

    pub(crate) fn address<T>(&self) -> *mut T {
        self.pointer as *mut T
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        let _ = self.context.enter();
        // SAFETY: nobody else has the memory; the driver waits for work that uses it.
        let _ = unsafe { calls::cuMemFree_v2(self.pointer) };
    }
}

/// Host memory that devices reach by themselves.
pub(crate) struct HostMemory {
    pointer: NonNull<c_void>,
    bytes: Bytes,
    context: Arc<Context>,
}

// SAFETY: it is memory like any other.
unsafe impl Send for HostMemory {}
// SAFETY: it is memory like any other.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    pub(crate) fn new(context: &Arc<Context>, bytes: Bytes) -> Result<Self, GpuError> {
        context.enter()?;
        let mut pointer = std::ptr::null_mut();
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: a valid pointer, and there is a context.
        match unsafe { calls::cuMemHostAlloc(&mut pointer, bytes.get().max(1), flags) } {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                return Err(GpuError::OutOfMemory { bytes: bytes.get(), place: "pinned host" });
            }
            other => check("cuMemHostAlloc", other)?,
        }
        let pointer = NonNull::new(pointer).expect("the driver gives memory or an error");
        // SAFETY: it has that many bytes. Zeros, because the driver does not promise what is in it.
        unsafe { pointer.cast::<u8>().write_bytes(0, bytes.get()) };
        Ok(Self { pointer, bytes, context: Arc::clone(context) })
    }

    pub(crate) fn pointer<T>(&self) -> *mut T {
        self.pointer.as_ptr().cast()
    }

    /// The first `count` values.
    ///
    /// # Safety
    /// No device is at work with the memory, and what is there are values of `T`: zeros at first.
    ///
    /// # Panics
    /// If there is no room for so many.
    pub(crate) unsafe fn values<T>(&mut self, count: usize) -> &mut [T] {
        let fits = Bytes::of::<T>(count).is_ok_and(|bytes| bytes <= self.bytes);
        assert!(fits, "the host's memory is too small");
        // SAFETY: there is room, which is aligned to pages, and nobody else has it; the rest is the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.pointer(), count) }
    }

    /// Makes sure that there are at least so many bytes; what was in it is lost if there were fewer.
    pub(crate) fn reserve(&mut self, bytes: Bytes) -> Result<(), GpuError> {
        if self.bytes < bytes {
            let larger = Self::new(&Arc::clone(&self.context), bytes)?;
            *self = larger;
        }
        Ok(())
    }

    /// Where the device sees it.
    pub(crate) fn device_address<T>(&self) -> Result<*mut T, GpuError> {
        self.context.enter()?;
        let mut address = 0;
        // SAFETY: the memory was allocated to be mapped.
        unsafe { call!(cuMemHostGetDevicePointer_v2(&mut address, self.pointer(), 0))? };
        Ok(address as *mut T)
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        let _ = self.context.enter();
        // SAFETY: nobody else has the memory, and streams that used it have been waited for.
        let _ = unsafe { calls::cuMemFreeHost(self.pointer.as_ptr()) };
    }
}

/// Copies numbers between memories of the host or of a device, and waits for it.
///
/// # Safety
/// There are as many numbers at both places, in memory of the host or in some that the context reaches, and nobody else writes
/// there.
pub(crate) unsafe fn copy<T: Copy>(
    context: &Context,
    to: *mut T,
    from: *const T,
    count: usize,
) -> Result<(), GpuError> {
    context.enter()?;
    let bytes = Bytes::of::<T>(count)?;
    // SAFETY: the caller's promise; the driver knows memory by its address.
    unsafe { call!(cuMemcpy(to as sys::CUdeviceptr, from as sys::CUdeviceptr, bytes.get())) }
}

/// The number of the device in whose memory an address lies; `None` for other memory, and for none.
pub(crate) fn device_of(address: *const c_void) -> Option<usize> {
    let (mut kind, mut number): (u32, i32) = (0, 0);
    let mut attributes = [
        sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
    ];
    let mut answers =
        [std::ptr::from_mut(&mut kind).cast(), std::ptr::from_mut(&mut number).cast()];
    // SAFETY: the answers are numbers of 32 bits; any address may be asked for.
    let result = unsafe {
        let (attributes, answers) = (attributes.as_mut_ptr(), answers.as_mut_ptr());
        calls::cuPointerGetAttributes(2, attributes, answers, address as sys::CUdeviceptr)
    };
    let there = kind == sys::CUmemorytype::CU_MEMORYTYPE_DEVICE as u32;
    let number = usize::try_from(number).ok();
    number.filter(|_| result == CUresult::CUDA_SUCCESS && there)
}

/// The device's address of pinned host memory, whoever pinned it; `None` for other memory.
pub(crate) fn seen_by_device<T>(context: &Context, memory: *const T) -> Option<*const T> {
    context.enter().ok()?;
    let (mut kind, mut there): (u32, sys::CUdeviceptr) = (0, 0);
    let mut attributes = [
        sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
    ];
    let mut answers = [std::ptr::from_mut(&mut kind).cast(), std::ptr::from_mut(&mut there).cast()];
    // SAFETY: the answers are a number of 32 bits and an address; any address may be asked for.
    let result = unsafe {
        let (attributes, answers) = (attributes.as_mut_ptr(), answers.as_mut_ptr());
        calls::cuPointerGetAttributes(2, attributes, answers, memory as sys::CUdeviceptr)
    };
    let pinned = kind == sys::CUmemorytype::CU_MEMORYTYPE_HOST as u32 && there != 0;
    (result == CUresult::CUDA_SUCCESS && pinned).then_some(there as *const T)
}
