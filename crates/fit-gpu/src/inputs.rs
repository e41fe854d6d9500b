//! What windows come with besides their pixels, sent to a device.

use std::ops::Range;
use std::sync::Arc;

use fit_core::Start;
use fit_gpu_kernel::Job;
use fit_windows::AnyWindows;

use crate::GpuError;
use crate::bytes::Bytes;
use crate::driver::{Context, DeviceMemory, Mirror, Stream};
use crate::pixels::gather_starts;
use crate::side_data::SideInputs;

/// Memory for corners, weights, and start values or fits, which one job after the other uses.
pub(crate) struct Inputs {
    corners: DeviceMemory,
    weights: DeviceMemory,
    pub(crate) given: Mirror,
}

// SAFETY, for all copies: what they read is memory of the inputs, or the caller's, who promises that it stays as it is until the
// stream has been waited for.

impl Inputs {
    pub(crate) fn new(context: &Arc<Context>) -> Result<Self, GpuError> {
        let memory = || DeviceMemory::new(context, Bytes::NONE);
        Ok(Self { corners: memory()?, weights: memory()?, given: Mirror::new(context)? })
    }

    /// Sends the corners of some windows, and their weights if each has its own, and tells the job where they will be.
    ///
    /// # Safety
    /// All stays as it is until the stream has been waited for, which happens before the next.
    pub(crate) unsafe fn send_known(
        &mut self,
        stream: &Stream,
        windows: &AnyWindows<'_>,
        side: Option<&SideInputs<'_>>,
        these: Range<usize>,
        job: &mut Job,
    ) -> Result<(), GpuError> {
        let on_device = job.frame_width > 0;
        if let Some(corners) = windows.places().filter(|_| on_device || side.is_some()) {
            // SAFETY: see above.
            job.places = unsafe { self.corners.receive(stream, &corners[these.clone()])? };
            if on_device {
                job.corners = job.places;
            }
        }
        if let Some(weights) = side.and_then(SideInputs::of_windows) {
            let pixels = windows.size().pixels();
            let weights = &weights[these.start * pixels..these.end * pixels];
            // SAFETY: see above.
            job.weights = unsafe { self.weights.receive(stream, weights)? };
        }
        Ok(())
    }

    /// Sends start values in the form that a kernel takes, and tells the job where they will be.
    ///
    /// # Safety
    /// As for [`Inputs::send_known`].
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
