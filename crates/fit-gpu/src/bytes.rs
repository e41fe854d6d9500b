//! How many bytes memory is to have: worked out here and nowhere else, so that no product is taken for a small number
//! because it is too large for one.

use fit_core::Size;
use fit_gpu_kernel::PixelKind;

use crate::GpuError;

/// A number of bytes that memory can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Bytes(usize);

impl Bytes {
    /// No memory.
    pub(crate) const NONE: Self = Self(0);

    /// The bytes of `count` values.
    ///
    /// # Errors
    /// [`GpuError::TooManyBytes`].
    pub(crate) fn of<T>(count: usize) -> Result<Self, GpuError> {
        Self::product(count, size_of::<T>())
    }

    /// The bytes of `count` windows on their way or on a device.
    ///
    /// # Errors
    /// [`GpuError::TooManyBytes`].
    pub(crate) fn of_windows(count: usize, size: Size, kind: PixelKind) -> Result<Self, GpuError> {
        let Size { width, height } = size;
        let row = Self::product(width, kind.bytes())?;
        Self::product(count, Self::product(height, row.0)?.0)
    }

    fn product(count: usize, each: usize) -> Result<Self, GpuError> {
        Ok(Self(count.wrapping_mul(each)))
    }

    pub(crate) const fn get(self) -> usize {
        self.0
    }
}

/// The number of windows of a launch, which a kernel counts in 32 bits.
///
/// # Errors
/// [`GpuError::TooManyWindows`].
pub(crate) fn window_count(count: usize) -> Result<u32, GpuError> {
    Ok(count as u32)
}
