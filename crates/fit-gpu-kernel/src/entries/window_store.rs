//! What holds the pixels of a window, wherever they are.

use fit_core::pass::Method;

use crate::{DeviceF32, Job};

/// The threads of a fit, with its pixels and room for notes if there are any.
pub(super) trait WindowStore: Sized {
    /// With the pixels of a window; `None` if there is none for these threads.
    ///
    /// # Safety
    /// The job is as docs/gpu-safety.md asks; all threads of the block come here.
    unsafe fn new(job: &Job) -> Option<Self>;
    /// Converts the pixels by the camera's map and takes the notes: weights if `WEIGHTS`, else variances.
    ///
    /// # Safety
    /// The job is as docs/gpu-safety.md asks.
    unsafe fn convert<const WEIGHTS: bool>(&mut self, job: &Job);
    /// Fits the window, and writes the outcome.
    ///
    /// # Safety
    /// The job is as docs/gpu-safety.md asks.
    unsafe fn run<M: Method<DeviceF32>>(self, method: &M, job: &Job);
    /// The same by a method with many sums.
    ///
    /// # Safety
    /// The job is as docs/gpu-safety.md asks.
    #[inline(always)]
    unsafe fn run_large<M: Method<DeviceF32>>(self, method: &M, job: &Job) {
        // SAFETY: the caller's promise.
        unsafe { self.run(method, job) }
    }
}
