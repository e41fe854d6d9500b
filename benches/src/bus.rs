//! The bus between pinned host memory and a device, by itself: what no backend can be faster than.

use cudarc::driver::DriverError;
use cudarc::driver::result::{self, stream};
use cudarc::driver::sys::{CUcontext, CUdevice, CUdeviceptr, CUstream};
use fit_gpu::{GpuError, PinnedBuffer, devices};

use crate::report::{median, timed};

/// The bus of a device, to be measured by copies.
pub struct Bus {
    device: CUdevice,
    context: CUcontext,
    stream: CUstream,
    /// Memory on the device and on the host for copies in, and for copies out.
    inwards: (CUdeviceptr, PinnedBuffer<u8>),
    out: (CUdeviceptr, PinnedBuffer<u8>),
}

// SAFETY: the driver's objects may be used from any thread; this has them for itself.
unsafe impl Send for Bus {}

fn named(call: &'static str) -> impl FnOnce(DriverError) -> GpuError {
    move |error| GpuError::Driver { call, message: error.to_string() }
}

impl Bus {
    /// The bus of the device of that number, to be measured with up to `bytes` in either direction.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(device: usize, bytes: usize) -> Result<Self, GpuError> {
        // Finds the driver and starts it.
        let count = devices()?.len();
        if device >= count {
            return Err(GpuError::NoSuchDevice { number: device, count });
        }
        let (host_in, host_out) = (PinnedBuffer::new(bytes)?, PinnedBuffer::new(bytes)?);
        // SAFETY: the device is there. What is made is given back when this is dropped; what was made before an error
        // stays until the process ends, as the measurement does not.
        unsafe {
            let device = result::device::get(device as i32).map_err(named("cuDeviceGet"))?;
            let context = result::primary_ctx::retain(device);
            let context = context.map_err(named("cuDevicePrimaryCtxRetain"))?;
            result::ctx::set_current(context).map_err(named("cuCtxSetCurrent"))?;
            let stream = stream::create(stream::StreamKind::NonBlocking);
            let memory = || result::malloc_sync(bytes.max(1)).map_err(named("cuMemAlloc"));
            Ok(Self {
                device,
                context,
                stream: stream.map_err(named("cuStreamCreate"))?,
                inwards: (memory()?, host_in),
                out: (memory()?, host_out),
            })
        }
    }

    /// Seconds for copying so many bytes to the device, then so many back, and waiting for that.
    ///
    /// # Errors
    /// [`GpuError`].
    ///
    /// # Panics
    /// If there are more bytes than it was made for.
    pub fn seconds(&mut self, bytes_in: usize, bytes_out: usize) -> Result<f64, GpuError> {
        let (to, from) = (self.inwards.0, &self.inwards.1[..bytes_in]);
        let (back_from, back_to) = (self.out.0, &mut self.out.1[..bytes_out]);
        // SAFETY: the context is retained as long as this lives.
        unsafe { result::ctx::set_current(self.context).map_err(named("cuCtxSetCurrent"))? };
        // SAFETY: both sides have so many bytes, nobody else uses them, and the stream is waited for: at the latest
        // when this is dropped, before the memory goes.
        let copied = timed(|| unsafe {
            if bytes_in > 0 {
                let copy = result::memcpy_htod_async(to, from, self.stream);
                copy.map_err(named("cuMemcpyHtoDAsync"))?;
            }
            if bytes_out > 0 {
                let copy = result::memcpy_dtoh_async(back_to, back_from, self.stream);
                copy.map_err(named("cuMemcpyDtoHAsync"))?;
            }
            stream::synchronize(self.stream).map_err(named("cuStreamSynchronize"))
        });
        copied.map(|(seconds, ())| seconds)
    }
}

/// Bytes a second from pinned memory to the first device, when so many are copied: the median of five.
///
/// # Errors
/// [`GpuError`].
pub fn bandwidth(bytes: usize) -> Result<f64, GpuError> {
    let mut bus = Bus::new(0, bytes)?;
    let times = (0..5).map(|_| bus.seconds(bytes, 0)).collect::<Result<Vec<_>, _>>()?;
    Ok(bytes as f64 / median(&times))
}

impl Drop for Bus {
    fn drop(&mut self) {
        // SAFETY: nobody else has any of it, and the stream is waited for first. Nobody is left to hear of errors.
        unsafe {
            let _ = result::ctx::set_current(self.context);
            let _ = stream::synchronize(self.stream);
            let _ = stream::destroy(self.stream);
            let _ = result::free_sync(self.inwards.0);
            let _ = result::free_sync(self.out.0);
            let _ = result::primary_ctx::release(self.device);
        }
    }
}
