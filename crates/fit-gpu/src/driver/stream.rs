use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUresult};

use super::{Context, DeviceMemory, call, calls, check, copy_in_parts};
use crate::GpuError;
use crate::bytes::Bytes;

/// A queue of work for a device.
pub(crate) struct Stream {
    pub(super) stream: sys::CUstream,
    context: Arc<Context>,
}

// SAFETY: streams may be used from any thread.
unsafe impl Send for Stream {}

impl Stream {
    pub(crate) fn new(context: &Arc<Context>) -> Result<Self, GpuError> {
        let _context = context.enter()?;
        let mut stream = std::ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: a valid pointer, and there is a context.
        unsafe { call!(cuStreamCreate(&mut stream, flags))? };
        Ok(Self { stream, context: Arc::clone(context) })
    }

    /// The driver's handle.
    pub(crate) fn raw(&self) -> *mut c_void {
        self.stream.cast()
    }

    /// Waits for all that was put into it. A fault of a kernel is reported here.
    pub(crate) fn wait(&self) -> Result<(), GpuError> {
        // SAFETY: the stream exists.
        unsafe { call!(cuStreamSynchronize(self.stream)) }
    }

    /// Waits for all that is in it when the answer goes, however a call ends: until then the device may be at work with memory
    /// of the caller.
    pub(crate) fn landing(&self) -> Landing<'_> {
        Landing(self)
    }

    /// Whether all that was put into it is done. A fault of a kernel is reported here.
    pub(crate) fn is_done(&self) -> Result<bool, GpuError> {
        // SAFETY: the stream exists.
        match unsafe { calls::cuStreamQuery(self.stream) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            other => check("cuStreamQuery", other).map(|()| true),
        }
    }

    /// Copies to the device, to an offset in bytes, in the order of the stream.
    ///
    /// # Safety
    /// `from` must stay as it is, and `to` exist, until the stream has got past the copy.
    pub(crate) unsafe fn copy_in<T: Copy>(
        &self,
        to: &DeviceMemory,
        offset: usize,
        from: &[T],
    ) -> Result<(), GpuError> {
        let room = to.bytes.get().checked_sub(offset);
        assert!(
            room.is_some_and(|room| size_of_val(from) <= room),
            "the device's memory is too small"
        );
        let to = to.pointer + offset as u64;
        copy_in_parts("cuMemcpyHtoDAsync", size_of_val(from), &|first, bytes| {
            let from = from.as_ptr().cast::<c_void>().wrapping_byte_add(first);
            // SAFETY: both have that many bytes; the rest is the caller's promise.
            unsafe { calls::cuMemcpyHtoDAsync_v2(to + first as u64, from, bytes, self.stream) }
        })
    }

    /// Copies to the host, in the order of the stream.
    ///
    /// # Safety
    /// Nobody may look at `to`, and it must exist, until the stream has got past the copy; and the device
    /// must have values of `T` there.
    pub(crate) unsafe fn copy_out<T: Copy>(
        &self,
        to: *mut [T],
        from: &DeviceMemory,
    ) -> Result<(), GpuError> {
        let room = Bytes::of::<T>(to.len())?;
        assert!(room <= from.bytes, "the device's memory is too small");
        // SAFETY: both have that many bytes; the rest is the caller's promise.
        unsafe { self.copy_out_of(to, from.address::<T>().cast_const()) }
    }

    /// New memory of the device with a copy of these values, which is waited for.
    pub(crate) fn upload<T: Copy>(&self, values: &[T]) -> Result<DeviceMemory, GpuError> {
        let memory = DeviceMemory::new(&self.context, Bytes::of::<T>(values.len())?)?;
        let _landing = self.landing();
        if !values.is_empty() {
            // SAFETY: both stay until the landing has waited.
            unsafe { self.copy_in(&memory, 0, values)? };
        }
        self.wait()?;
        Ok(memory)
    }

    /// Copies between memories of the host or of the device, after all that is in the stream, and waits for that.
    ///
    /// # Safety
    /// There are values of `T` at `from`, in memory of the host or in some that the device reaches, as many as there is room for at `to`;
    /// and there is room for them, where nobody else writes.
    pub(crate) unsafe fn fetch<T>(&self, to: *mut [T], from: *const T) -> Result<(), GpuError> {
        let _landing = self.landing();
        // SAFETY: the caller's promise; the landing waits before anyone looks.
        unsafe { self.copy_out_of(to, from)? };
        self.wait()
    }

    /// [`Stream::copy_out`] from memory that the device reaches.
    ///
    /// # Safety
    /// As for [`Stream::copy_out`].
    unsafe fn copy_out_of<T>(&self, to: *mut [T], from: *const T) -> Result<(), GpuError> {
        let bytes = Bytes::of::<T>(to.len())?;
        let (to, from) = (to.cast::<T>() as sys::CUdeviceptr, from as sys::CUdeviceptr);
        copy_in_parts("cuMemcpyAsync", bytes.get(), &|first, bytes| {
            let first = first as u64;
            // SAFETY: the caller's promise; the driver knows memory by its address.
            unsafe { calls::cuMemcpyAsync(to + first, from + first, bytes, self.stream) }
        })
    }

    /// The seconds of what is launched into it, by the device's own clock. It is waited for.
    pub(crate) fn time(
        &self,
        launch: impl FnOnce() -> Result<(), GpuError>,
    ) -> Result<f64, GpuError> {
        let [begin, end] = [Event::new(&self.context)?, Event::new(&self.context)?];
        let _landing = self.landing();
        self.record(&begin)?;
        launch()?;
        self.record(&end)?;
        self.wait()?;
        let mut milliseconds = 0.0;
        // SAFETY: both exist, in the same context, and the stream has got past them.
        unsafe { call!(cuEventElapsedTime(&mut milliseconds, begin.event, end.event))? };
        Ok(f64::from(milliseconds) / 1e3)
    }

    pub(crate) fn record(&self, event: &Event) -> Result<(), GpuError> {
        // SAFETY: both exist, in the same context.
        unsafe { call!(cuEventRecord(event.event, self.stream)) }
    }

    /// Lets what is put into it from now on wait for an event.
    pub(crate) fn wait_for(&self, event: &Event) -> Result<(), GpuError> {
        // SAFETY: both exist, in the same context.
        unsafe { call!(cuStreamWaitEvent(self.stream, event.event, 0)) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let _context = self.context.enter();
        // SAFETY: nobody else has the stream; what is still in it must have its memory until it is done,
        // so it is waited for. Errors have been reported by the calls that made them.
        unsafe {
            let _ = calls::cuStreamSynchronize(self.stream);
            let _ = calls::cuStreamDestroy_v2(self.stream);
        }
    }
}

/// Waits for a stream when it goes.
pub(crate) struct Landing<'s>(&'s Stream);

impl Landing<'_> {
    /// Nothing is on its way any more that matters.
    pub(crate) fn done(self) {
        std::mem::forget(self);
    }
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        // An error has been reported by the call that met it, or will be by the next.
        let _ = self.0.wait();
    }
}

/// A point in a stream, with its time.
pub(crate) struct Event {
    event: sys::CUevent,
    context: Arc<Context>,
}

// SAFETY: events may be used from any thread.
unsafe impl Send for Event {}

impl Event {
    pub(crate) fn new(context: &Arc<Context>) -> Result<Self, GpuError> {
        let _context = context.enter()?;
        let mut event = std::ptr::null_mut();
        // SAFETY: a valid pointer, and there is a context.
        unsafe { call!(cuEventCreate(&mut event, sys::CUevent_flags::CU_EVENT_DEFAULT as u32))? };
        Ok(Self { event, context: Arc::clone(context) })
    }

    /// An event behind all that is in the streams of a context now, whoever made them; `None` from a driver that has none, and after an
    /// error.
    pub(crate) fn behind_all(context: &Arc<Context>) -> Option<Self> {
        let record = calls::record_behind_all()?;
        let event = Self::new(context).ok()?;
        // SAFETY: both exist, and belong together.
        let result = unsafe { record(context.context, event.event) };
        (result == CUresult::CUDA_SUCCESS).then_some(event)
    }

    /// Whether all is done that it is behind; so it is too after a fault, which the next wait reports.
    pub(crate) fn is_passed(&self) -> bool {
        // SAFETY: the event exists.
        unsafe { calls::cuEventQuery(self.event) != CUresult::CUDA_ERROR_NOT_READY }
    }

    /// Waits for all that it is behind.
    pub(crate) fn wait(&self) -> Result<(), GpuError> {
        // SAFETY: the event exists.
        unsafe { call!(cuEventSynchronize(self.event)) }
    }

    /// Records it in a stream of someone else's; null is the default one.
    ///
    /// # Safety
    /// The stream exists, in the same context.
    pub(crate) unsafe fn record_in(&self, stream: *mut c_void) -> Result<(), GpuError> {
        // SAFETY: the caller's promise; the event exists.
        unsafe { call!(cuEventRecord(self.event, stream.cast())) }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let _context = self.context.enter();
        // SAFETY: nobody else has the event.
        let _ = unsafe { calls::cuEventDestroy_v2(self.event) };
    }
}
