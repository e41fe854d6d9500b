//! What windows come with besides their pixels, sent to a device.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;

use fit_core::{Corner, Start};
use fit_gpu_kernel::Job;

use crate::GpuError;
use crate::bytes::Bytes;
use crate::driver::{Context, DeviceMemory, Mirror, Stream};
use crate::pixels::gather_starts;

/// Memory for corners, weights, and start values or fits, which one job after the other uses.
pub(crate) struct Inputs {
    corners: DeviceMemory,
    weights: DeviceMemory,
    given: Mirror,
}

// SAFETY, for all copies: what they read is memory of the inputs, or the caller's, who promises that it stays as it is until the
// stream has been waited for.

impl Inputs {
    pub(crate) fn new(context: &Arc<Context>) -> Result<Self, GpuError> {
        let memory = || DeviceMemory::new(context, Bytes::NONE);
        Ok(Self { corners: memory()?, weights: memory()?, given: Mirror::new(context)? })
    }

    /// Sends corners. Returns where they will be.
    ///
    /// # Safety
    /// They stay as they are until the stream has been waited for, which happens before the next.
    pub(crate) unsafe fn send_corners(
        &mut self,
        stream: &Stream,
        corners: &[Corner],
    ) -> Result<*const Corner, GpuError> {
        // SAFETY: see above.
        unsafe { sent(&mut self.corners, stream, corners) }
    }

    /// Sends the weights of windows, one window after the other. Returns where they will be.
    ///
    /// # Safety
    /// As for [`Inputs::send_corners`].
    pub(crate) unsafe fn send_weights(
        &mut self,
        stream: &Stream,
        weights: &[f32],
    ) -> Result<*const f32, GpuError> {
        // SAFETY: see above.
        unsafe { sent(&mut self.weights, stream, weights) }
    }

    /// Sends start values or fits from memory that the device sees. Returns where they will be.
    ///
    /// # Safety
    /// As for [`Inputs::send_corners`].
    pub(crate) unsafe fn send_given<T: Copy>(
        &mut self,
        stream: &Stream,
        given: &[T],
    ) -> Result<*const T, GpuError> {
        // SAFETY: see above.
        unsafe { sent(&mut self.given.there, stream, given) }
    }

    /// Sends `count` start values or fits that are gathered first. Returns where they will be.
    ///
    /// # Safety
    /// As for [`Inputs::send_corners`].
    pub(crate) unsafe fn send_gathered<T: Copy>(
        &mut self,
        stream: &Stream,
        count: usize,
        gather: impl FnOnce(&mut [MaybeUninit<T>]),
    ) -> Result<*const T, GpuError> {
        // SAFETY: the caller's promise.
        unsafe { self.given.send_filled(stream, count, gather) }
    }

    /// Sends start values in the form that a kernel takes, and tells the job where they will be.
    ///
    /// # Safety
    /// As for [`Inputs::send_corners`].
    pub(crate) unsafe fn send_starts(
        &mut self,
        stream: &Stream,
        start: Start<'_>,
        these: Range<usize>,
        outlines: bool,
        job: &mut Job,
    ) -> Result<(), GpuError> {
        if start == Start::Estimate {
            return Ok(());
        }
        // SAFETY: see above.
        unsafe {
            if outlines {
                let gather = |to: &mut [_]| gather_starts(start, these.clone(), to);
                job.outlines = self.given.send_filled(stream, these.len(), gather)?;
            } else {
                let gather = |to: &mut [_]| gather_starts(start, these.clone(), to);
                job.starts = self.given.send_filled(stream, these.len(), gather)?;
            }
        }
        Ok(())
    }
}

/// Copies to the device. Returns where.
///
/// # Safety
/// As for [`Stream::copy_in`].
unsafe fn sent<T: Copy>(
    memory: &mut DeviceMemory,
    stream: &Stream,
    from: &[T],
) -> Result<*const T, GpuError> {
    memory.reserve(Bytes::of::<T>(from.len())?)?;
    // SAFETY: the caller's promise.
    unsafe { stream.copy_in(memory, from)? };
    Ok(memory.address::<T>().cast_const())
}
