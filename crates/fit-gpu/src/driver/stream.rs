use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUresult};

use super::{Context, DeviceMemory, call, calls, check};
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
        context.enter()?;
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

    /// The context that it belongs to.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Waits for all that was put into it. A fault of a kernel is reported here.
    pub(crate) fn wait(&self) -> Result<(), GpuError> {
        // SAFETY: the stream exists.
        unsafe { call!(cuStreamSynchronize(self.stream)) }
    }

    /// Whether all that was put into it is done. A fault of a kernel is reported here.
    pub(crate) fn is_done(&self) -> Result<bool, GpuError> {
        // SAFETY: the stream exists.
        match unsafe { calls::cuStreamQuery(self.stream) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            other => check("cuStreamQuery", other).map(|()| true),
        }
    }

    /// Copies to the device, in the order of the stream.
    ///
    /// # Safety
    /// `from` must stay as it is, and `to` exist, until the stream has got past the copy.
    pub(crate) unsafe fn copy_in<T: Copy>(
        &self,
        to: &DeviceMemory,
        from: &[T],
    ) -> Result<(), GpuError> {
        // SAFETY: the caller's promise.
        unsafe { self.copy_in_at(to, 0, from) }
    }

    /// [`Stream::copy_in`] to an offset in bytes.
    ///
    /// # Safety
    /// As for [`Stream::copy_in`].
    pub(crate) unsafe fn copy_in_at<T: Copy>(
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
        // SAFETY: both have that many bytes; the rest is the caller's promise.
        unsafe {
            call!(cuMemcpyHtoDAsync_v2(
                to.pointer + offset as u64,
                from.as_ptr().cast(),
                size_of_val(from),
                self.stream
            ))
        }
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
        let bytes = Bytes::of::<T>(to.len())?;
        assert!(bytes <= from.bytes, "the device's memory is too small");
        // SAFETY: both have that many bytes; the rest is the caller's promise.
        unsafe {
            call!(cuMemcpyDtoHAsync_v2(to.cast::<c_void>(), from.pointer, bytes.get(), self.stream))
        }
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
        let _ = self.context.enter();
        // SAFETY: nobody else has the stream; what is still in it must have its memory until it is done,
        // so it is waited for. Errors have been reported by the calls that made them.
        unsafe {
            let _ = calls::cuStreamSynchronize(self.stream);
            let _ = calls::cuStreamDestroy_v2(self.stream);
        }
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
        context.enter()?;
        let mut event = std::ptr::null_mut();
        // SAFETY: a valid pointer, and there is a context.
        unsafe { call!(cuEventCreate(&mut event, sys::CUevent_flags::CU_EVENT_DEFAULT as u32))? };
        Ok(Self { event, context: Arc::clone(context) })
    }

    /// Records it in a stream of someone else's; null is the default one.
    ///
    /// # Safety
    /// The stream exists, in the same context.
    pub(crate) unsafe fn record_in(&self, stream: *mut c_void) -> Result<(), GpuError> {
        // SAFETY: the caller's promise; the event exists.
        unsafe { call!(cuEventRecord(self.event, stream.cast())) }
    }

    /// Seconds from `self` to `end`, both of which have been passed.
    pub(crate) fn seconds_to(&self, end: &Self) -> Result<f64, GpuError> {
        let mut milliseconds = 0.0;
        // SAFETY: both exist, in the same context.
        unsafe { call!(cuEventElapsedTime(&mut milliseconds, self.event, end.event))? };
        Ok(f64::from(milliseconds) / 1e3)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let _ = self.context.enter();
        // SAFETY: nobody else has the event.
        let _ = unsafe { calls::cuEventDestroy_v2(self.event) };
    }
}
