//! Memory for what a fitter finds, and for what it reads.

use crate::fitter::{Fitter, Work};

impl Fitter {
    /// Memory that all threads have filled with a value: the system hands it out page by page, which takes one thread as long as it takes
    /// all to fit.
    pub(crate) fn filled<T: Copy + Send + Sync>(&self, value: T, count: usize) -> Vec<T> {
        match self.usual() {
            Work::Reference(reference) => reference.filled(value, count),
            Work::Simd(simd) => simd.filled(value, count),
            #[cfg(feature = "gpu")]
            Work::Gpu(gpu) => gpu.filled(value, count),
        }
    }

    /// Memory of so many bytes that the GPU reads directly, if that is where this fits and there is such memory.
    #[cfg(feature = "gpu")]
    pub(crate) fn pinned(&self, bytes: usize) -> Option<fit_gpu::PinnedBuffer<u8>> {
        match self.usual() {
            Work::Gpu(gpu) => gpu.pinned(bytes).ok(),
            _ => None,
        }
    }
}
