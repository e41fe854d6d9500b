//! Sizes of memory in bytes. They are computed here and nowhere else, with checks, so that no product overflows into a
//! small number.

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

    /// The bytes of `count` values of so many bytes.
    ///
    /// # Errors
    /// [`GpuError::TooManyBytes`].
    pub(crate) fn product(count: usize, each: usize) -> Result<Self, GpuError> {
        // No slice is larger than this, and no address could tell more bytes apart.
        let most = isize::MAX as usize;
        match count.checked_mul(each) {
            Some(bytes) if bytes <= most => Ok(Self(bytes)),
            _ => Err(GpuError::TooManyBytes { count, each }),
        }
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
    u32::try_from(count).map_err(|_| GpuError::TooManyWindows(count))
}

#[cfg(test)]
mod tests {
    use fit_core::Fit;

    use super::*;

    /// Proves that what is no number of bytes is an error, and not a small number.
    #[test]
    fn no_product_wraps_around() {
        assert_eq!(Bytes::of::<Fit<f32>>(1000).expect("few").get(), 56_000);
        assert_eq!(Bytes::of::<u8>(0).expect("none"), Bytes::NONE);
        let error = Bytes::of::<Fit<f32>>((1 << 62) + 1);
        assert!(matches!(error, Err(GpuError::TooManyBytes { each: 56, .. })), "{error:?}");
        assert!(Bytes::of::<u8>(usize::MAX).is_err());
        let size = Size::new(9, 9);
        assert_eq!(Bytes::of_windows(10, size, PixelKind::U16).expect("few").get(), 1620);
        // 2⁶⁴/324 windows of 324 bytes each, and one more.
        assert!(Bytes::of_windows(usize::MAX / 324 + 1, size, PixelKind::F32).is_err());
        for size in
            [Size::new(1 << 33, 1 << 33), Size::new(usize::MAX, 1), Size::new(1, usize::MAX)]
        {
            assert!(Bytes::of_windows(1, size, PixelKind::F32).is_err(), "{size:?}");
        }
    }

    /// Proves that a kernel is not told of fewer windows than there are.
    #[test]
    fn no_count_is_cut_off() {
        assert_eq!(window_count(7).expect("few"), 7);
        let error = window_count((1 << 32) + 1);
        assert!(matches!(error, Err(GpuError::TooManyWindows { .. })), "{error:?}");
    }
}
