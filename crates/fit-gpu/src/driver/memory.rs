use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUresult};

use super::{Context, Stream, call, calls, check};
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
        let _context = context.enter()?;
        let mut pointer = 0;
        // SAFETY: a valid pointer, and there is a context.
        match unsafe { calls::cuMemAlloc_v2(&mut pointer, bytes.get().max(1)) } {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                return Err(GpuError::OutOfMemory { bytes: bytes.get(), place: "device" });
            }
            other => check("cuMemAlloc", other)?,
        }
        Ok(Self { pointer, bytes, context: Arc::clone(context) })
    }

    /// Makes sure that there are at least so many bytes; what was in it is lost if there were fewer.
    /// Nothing in a stream may use it.
    pub(crate) fn reserve(&mut self, bytes: Bytes) -> Result<(), GpuError> {
        if self.bytes < bytes {
            *self = Self::new(&Arc::clone(&self.context), bytes)?;
        }
        Ok(())
    }

    /// Copies values here in the order of a stream, after making room for them. Returns where they will be.
    ///
    /// # Safety
    /// As for [`Stream::copy_in`], and nothing in a stream uses the memory.
    pub(crate) unsafe fn receive<T: Copy>(
        &mut self,
        stream: &Stream,
        from: &[T],
    ) -> Result<*const T, GpuError> {
        self.reserve(Bytes::of::<T>(from.len())?)?;
        // SAFETY: the caller's promise.
        unsafe { stream.copy_in(self, 0, from)? };
        Ok(self.address::<T>().cast_const())
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
        let _context = self.context.enter();
        // SAFETY: nobody else has the memory; the driver waits for work that uses it.
        let _ = unsafe { calls::cuMemFree_v2(self.pointer) };
    }
}

/// Host memory that devices reach by themselves.
pub(crate) struct HostMemory {
    pointer: NonNull<c_void>,
    /// Where devices see it.
    there: sys::CUdeviceptr,
    bytes: Bytes,
    context: Arc<Context>,
}

// SAFETY: it is memory like any other.
unsafe impl Send for HostMemory {}
// SAFETY: it is memory like any other.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    pub(crate) fn new(context: &Arc<Context>, bytes: Bytes) -> Result<Self, GpuError> {
        let _context = context.enter()?;
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
        let mut memory = Self { pointer, there: 0, bytes, context: Arc::clone(context) };
        // SAFETY: the memory was allocated to be mapped.
        unsafe { call!(cuMemHostGetDevicePointer_v2(&mut memory.there, memory.pointer(), 0))? };
        Ok(memory)
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
            *self = Self::new(&Arc::clone(&self.context), bytes)?;
        }
        Ok(())
    }

    /// Fills the first `count` values. Returns where the device sees them.
    ///
    /// # Safety
    /// No device is at work with the memory.
    pub(crate) unsafe fn fill<T>(
        &mut self,
        count: usize,
        fill: impl FnOnce(&mut [MaybeUninit<T>]),
    ) -> *const T {
        // SAFETY: the caller's promise; nothing is said of the values.
        fill(unsafe { self.values(count) });
        self.device_address::<T>().cast_const()
    }

    /// Where the device sees it.
    pub(crate) fn device_address<T>(&self) -> *mut T {
        self.there as *mut T
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        let _context = self.context.enter();
        // SAFETY: nobody else has the memory, and streams that used it have been waited for.
        let _ = unsafe { calls::cuMemFreeHost(self.pointer.as_ptr()) };
    }
}

/// Memory of the host and of a device for the same numbers, between which copies go.
pub(crate) struct Mirror {
    pub(crate) here: HostMemory,
    pub(crate) there: DeviceMemory,
}

impl Mirror {
    /// Without room.
    pub(crate) fn new(context: &Arc<Context>) -> Result<Self, GpuError> {
        let there = DeviceMemory::new(context, Bytes::NONE)?;
        Ok(Self { here: HostMemory::new(context, Bytes::NONE)?, there })
    }

    /// Makes sure that there are at least so many bytes on both sides. Nothing in a stream may use them.
    pub(crate) fn reserve(&mut self, bytes: Bytes) -> Result<(), GpuError> {
        self.here.reserve(bytes)?;
        self.there.reserve(bytes)
    }

    /// Copies the first `count` values to the device, in the order of the stream. Returns where they will be.
    ///
    /// # Safety
    /// The host's memory stays as it is, and both sides exist, until the stream has got past the copy.
    pub(crate) unsafe fn send<T>(
        &self,
        stream: &Stream,
        count: usize,
    ) -> Result<*const T, GpuError> {
        let bytes = Bytes::of::<T>(count)?;
        assert!(bytes <= self.here.bytes, "the host's memory is too small");
        // SAFETY: there are as many bytes, of which nothing is said; the rest is the caller's promise.
        unsafe {
            let first = self.here.pointer::<MaybeUninit<u8>>();
            stream.copy_in(&self.there, 0, std::slice::from_raw_parts(first, bytes.get()))?;
        }
        Ok(self.there.address::<T>().cast_const())
    }

    /// Fills so many values, and copies them to the device in the order of the stream. Returns where they will be.
    ///
    /// # Safety
    /// As for [`Mirror::send`], and the stream has been waited for.
    pub(crate) unsafe fn send_filled<T>(
        &mut self,
        stream: &Stream,
        count: usize,
        fill: impl FnOnce(&mut [MaybeUninit<T>]),
    ) -> Result<*const T, GpuError> {
        self.reserve(Bytes::of::<T>(count)?)?;
        // SAFETY: the caller's promise.
        unsafe {
            self.here.fill(count, fill);
            self.send(stream, count)
        }
    }

    /// Copies the first `count` values to the host, in the order of the stream.
    ///
    /// # Safety
    /// Nobody looks at the host's memory, and both sides exist, until the stream has got past the copy; and the device has values of
    /// `T` then.
    pub(crate) unsafe fn send_back<T: Copy>(
        &self,
        stream: &Stream,
        count: usize,
    ) -> Result<(), GpuError> {
        let bytes = Bytes::of::<T>(count)?;
        assert!(bytes <= self.here.bytes, "the host's memory is too small");
        let to = std::ptr::slice_from_raw_parts_mut(self.here.pointer::<T>(), count);
        // SAFETY: there is room for them; the rest is the caller's promise.
        unsafe { stream.copy_out(to, &self.there) }
    }
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
    // SAFETY: the answers are numbers of 32 bits.
    let known = unsafe { told(address.addr(), &mut attributes, &mut answers) };
    let there = kind == sys::CUmemorytype::CU_MEMORYTYPE_DEVICE as u32;
    let number = usize::try_from(number).ok();
    number.filter(|_| known && there)
}

/// Asks for attributes of an address, which may be any; false if there is no answer.
///
/// # Safety
/// The answers have the types of the attributes.
unsafe fn told<const N: usize>(
    address: usize,
    attributes: &mut [sys::CUpointer_attribute; N],
    answers: &mut [*mut c_void; N],
) -> bool {
    let (attributes, answers) = (attributes.as_mut_ptr(), answers.as_mut_ptr());
    // SAFETY: there are as many of both; the rest is the caller's promise.
    let result = unsafe {
        calls::cuPointerGetAttributes(N as u32, attributes, answers, address as sys::CUdeviceptr)
    };
    result == CUresult::CUDA_SUCCESS
}

/// The device's address of host memory that is pinned from the first byte to the last, whoever pinned it; `None` for other memory.
pub(crate) fn seen_by_device<T>(context: &Context, memory: *const [T]) -> Option<*const T> {
    let _context = context.enter().ok()?;
    let there = span(memory.addr(), memory.len() * size_of::<T>(), pinned_at)?;
    Some(there as *const T)
}

/// Memory that was pinned together, from an address of the host on.
#[derive(Clone, Copy)]
struct Pinned {
    /// The device's address of the same.
    there: usize,
    /// Bytes from there to its end.
    left: usize,
}

/// The device's address of so many bytes of the host, if all are pinned and the device sees them one after the other.
fn span(first: usize, bytes: usize, pinned_at: impl Fn(usize) -> Option<Pinned>) -> Option<usize> {
    let Pinned { there, mut left } = pinned_at(first)?;
    // Parts may have been pinned one by one.
    while left < bytes {
        let next = pinned_at(first.checked_add(left)?)?;
        if next.there != there.checked_add(left)? || next.left == 0 {
            return None;
        }
        left = left.checked_add(next.left)?;
    }
    Some(there)
}

/// What the driver says of an address of the host.
fn pinned_at(address: usize) -> Option<Pinned> {
    use sys::CUpointer_attribute as Attribute;
    let (mut kind, mut there): (u32, sys::CUdeviceptr) = (0, 0);
    let (mut start, mut size): (sys::CUdeviceptr, usize) = (0, 0);
    let mut attributes = [
        Attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        Attribute::CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        Attribute::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
        Attribute::CU_POINTER_ATTRIBUTE_RANGE_SIZE,
    ];
    let mut answers = [
        std::ptr::from_mut(&mut kind).cast(),
        std::ptr::from_mut(&mut there).cast(),
        std::ptr::from_mut(&mut start).cast(),
        std::ptr::from_mut(&mut size).cast(),
    ];
    // SAFETY: the answers are a number of 32 bits, two addresses and a size.
    let known = unsafe { told(address, &mut attributes, &mut answers) };
    let pinned = kind == sys::CUmemorytype::CU_MEMORYTYPE_HOST as u32 && there != 0;
    if !known || !pinned {
        return None;
    }
    let (there, start) = (there as usize, start as usize);
    // The range is told by addresses of the host, which on most machines are those of the device too.
    let inside = |at: usize| at.checked_sub(start).and_then(|before| size.checked_sub(before));
    let left = inside(address).or_else(|| inside(there))?;
    Some(Pinned { there, left })
}

#[cfg(test)]
mod tests {
    use cudarc::driver::sys::{cuMemHostRegister_v2, cuMemHostUnregister};

    use super::*;
    use crate::PinnedBuffer;
    use crate::card::Card;

    /// Proves that memory is taken as pinned only from the first byte to the last: not if its beginning, its end or its middle is
    /// not, nor if a device sees its parts elsewhere.
    #[test]
    fn a_span_is_pinned_as_a_whole() {
        // Beginning, end and the device's address.
        let seen = |parts: &[[usize; 3]], first: usize, last: usize| {
            let pinned_at = |at: usize| {
                let part = parts.iter().find(|part| part[0] <= at && at < part[1])?;
                Some(Pinned { there: part[2] + (at - part[0]), left: part[1] - at })
            };
            span(first, last - first, pinned_at)
        };
        let whole = [[1000, 2000, 9000]];
        assert_eq!(seen(&whole, 1000, 2000), Some(9000));
        assert_eq!(seen(&whole, 1400, 1401), Some(9400));
        assert_eq!(seen(&whole, 1000, 2001), None, "without the end");
        assert_eq!(seen(&whole, 999, 2000), None, "without the beginning");
        assert_eq!(seen(&[], 1000, 2000), None);
        assert_eq!(seen(&[[1000, 1300, 9000], [1700, 2000, 9700]], 1000, 2000), None, "a hole");
        let parts = [[1000, 1300, 9000], [1300, 1700, 9300], [1700, 2000, 9700]];
        assert_eq!(seen(&parts, 1100, 1900), Some(9100), "pinned one by one");
        let apart = [[1000, 1300, 9000], [1300, 2000, 9400]];
        assert_eq!(seen(&apart, 1100, 1900), None, "the device sees them elsewhere");
        assert_eq!(seen(&apart, 1300, 1900), Some(9400));
    }

    /// Proves that the driver tells how far pinned memory reaches, which it made or someone registered.
    #[test]
    #[ignore = "needs an NVIDIA GPU"]
    fn the_driver_tells_what_is_pinned() {
        const PAGE: usize = 4096;
        let card = Card::get(0).expect("a GPU");
        let seen = |memory: &[u8]| seen_by_device(&card.context, memory).is_some();
        let buffer = PinnedBuffer::<u8>::new(100 * PAGE + 5).expect("memory");
        assert!(seen(&buffer) && seen(&buffer[7..]) && seen(&buffer[..1]) && seen(&buffer[300..]));
        let room = vec![0u8; 100 * PAGE];
        assert!(!seen(&room));
        let first = room.as_ptr().align_offset(PAGE) + PAGE;
        let pages = |from: usize, to: usize| &room[first + from * PAGE..first + to * PAGE];
        let register = |from: usize, to: usize| {
            let _context = card.context.enter().expect("a context");
            let (pages, flags) = (pages(from, to), sys::CU_MEMHOSTREGISTER_PORTABLE);
            let first = pages.as_ptr().cast_mut().cast::<c_void>();
            // SAFETY: the pages stay until they are let go of.
            let result = unsafe { cuMemHostRegister_v2(first, pages.len(), flags) };
            assert_eq!(result, CUresult::CUDA_SUCCESS);
            first
        };
        let registered = [register(10, 30), register(60, 80)];
        assert!(seen(pages(10, 30)) && seen(pages(11, 29)) && seen(pages(60, 80)));
        for (from, to) in [(9, 30), (10, 31), (9, 31), (10, 80), (30, 60), (0, 10)] {
            assert!(!seen(pages(from, to)), "pages {from} to {to}");
        }
        let _context = card.context.enter().expect("a context");
        for first in registered {
            // SAFETY: no device is at work with them.
            assert_eq!(unsafe { cuMemHostUnregister(first) }, CUresult::CUDA_SUCCESS);
        }
    }
}
