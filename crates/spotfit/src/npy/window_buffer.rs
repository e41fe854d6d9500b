//! Memory for windows, whatever their numbers are.

use std::io;

use bytemuck::{cast_slice, cast_slice_mut};
use fit_core::Size;
use fit_windows::{AnyWindows, Windows};
use ndarray::ArrayView3;
use spotfit_files::npy::{ByteRoom, NpyHeader, NumberType};
use spotfit_files::private::with_number;

/// Windows that were read, as they are fitted.
pub(crate) struct WindowBuffer {
    memory: Memory,
    number: NumberType,
    size: Size,
    /// How many they are.
    pub(super) count: usize,
}

enum Memory {
    /// Aligned for any number.
    Words(Vec<u64>),
    /// What a GPU reads directly.
    #[cfg(feature = "gpu")]
    Pinned(fit_gpu::PinnedBuffer<u8>),
}

impl WindowBuffer {
    /// Room for the windows of a stack with this header, which has three axes.
    pub(crate) fn new(header: &NpyHeader) -> Self {
        let size = Size::new(header.shape[2], header.shape[1]);
        Self { memory: Memory::Words(Vec::new()), number: header.number, size, count: 0 }
    }

    /// The same in memory that a GPU reads directly, if it takes such numbers as they are. It does not grow.
    #[cfg(feature = "gpu")]
    pub(crate) fn pinned(
        header: &NpyHeader,
        make: impl FnOnce() -> Option<fit_gpu::PinnedBuffer<u8>>,
    ) -> Self {
        let mut buffer = Self::new(header);
        if matches!(header.number, NumberType::U8 | NumberType::U16 | NumberType::F32)
            && let Some(memory) = make()
        {
            buffer.memory = Memory::Pinned(memory);
        }
        buffer
    }

    /// The windows.
    pub(crate) fn windows(&self) -> Option<AnyWindows<'_>> {
        let Size { width, height, .. } = self.size;
        let numbers = self.count * self.size.pixels();
        let bytes: &[u8] = match &self.memory {
            Memory::Words(words) => cast_slice(words),
            #[cfg(feature = "gpu")]
            Memory::Pinned(bytes) => bytes,
        };
        with_number!(self.number, T => {
            let numbers = bytemuck::try_cast_slice::<u8, T>(bytes).ok()?.get(..numbers)?;
            let windows = ArrayView3::from_shape((self.count, height, width), numbers).ok()?;
            Some(Windows::stack(windows).into())
        })
    }
}

impl ByteRoom for WindowBuffer {
    fn grow(&mut self, bytes: usize) -> io::Result<&mut [u8]> {
        match &mut self.memory {
            Memory::Words(words) => {
                let needed = bytes.div_ceil(size_of::<u64>());
                if let Some(more) = needed.checked_sub(words.len()) {
                    // The count comes from a file and may be wrong.
                    words.try_reserve_exact(more).map_err(|_| io::ErrorKind::OutOfMemory)?;
                    words.resize(needed, 0);
                }
                Ok(cast_slice_mut(words))
            }
            #[cfg(feature = "gpu")]
            Memory::Pinned(memory) if memory.len() >= bytes => Ok(memory),
            #[cfg(feature = "gpu")]
            Memory::Pinned(_) => Err(io::ErrorKind::OutOfMemory.into()),
        }
    }
}
