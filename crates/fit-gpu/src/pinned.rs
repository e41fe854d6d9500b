use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use fit_core::{Errors, Fit};

use crate::GpuError;
use crate::bytes::Bytes;
use crate::card::Card;
use crate::driver::HostMemory;

/// Host memory that a GPU reads and writes directly, at the full speed of the bus: pixels, start values or
/// outcomes in it are not copied on the way. It is a slice like any other.
///
/// All GPUs of the machine can use it. Allocate it sparingly: the system cannot swap it out.
pub struct PinnedBuffer<T> {
    memory: HostMemory,
    length: usize,
    values: PhantomData<T>,
}

mod sealed {
    /// What is known about types that the memory of a driver is right for.
    pub trait Sealed {
        /// What the buffer is filled with at first.
        fn blank() -> Self;
    }
}
use sealed::Sealed;

/// Values that may lie in a [`PinnedBuffer`]: pixels, start values, outcomes and errors. There are no others:
///
/// ```compile_fail
/// #[derive(Clone, Copy)]
/// #[repr(align(65536))]
/// struct Page(u8);
///
/// impl fit_gpu::Pinnable for Page {
///     fn blank() -> Self {
///         Self(0)
///     }
/// }
/// ```
pub trait Pinnable: Copy + Send + Sync + 'static + Sealed {}

macro_rules! pinnable {
    ($($type:ty: $blank:expr),*) => {$(
        impl Pinnable for $type {}
        impl Sealed for $type {
            fn blank() -> Self {
                $blank
            }
        }
    )*};
}
pinnable!(
    u8: 0,
    u16: 0,
    f32: 0.0,
    [f32; 3]: [0.0; 3],
    Fit<f32>: Self::invalid(),
    Errors: Self::unknown()
);

impl<T: Pinnable> PinnedBuffer<T> {
    /// Room for `length` values: pixels and start values are 0, outcomes invalid, errors unknown.
    ///
    /// # Errors
    /// [`GpuError`] if there is no GPU or no such memory.
    pub fn new(length: usize) -> Result<Self, GpuError> {
        // What has no address is an error where there is no GPU too.
        Bytes::of::<T>(length)?;
        let card = Card::get(0)?;
        Self::on(&card, length)
    }

    /// The same, made by the driver for this device.
    pub(crate) fn on(card: &Card, length: usize) -> Result<Self, GpuError> {
        let memory = HostMemory::new(&card.context, Bytes::of::<T>(length)?)?;
        let first = memory.pointer::<T>();
        for i in 0..length {
            // SAFETY: there is room for `length` values, aligned to pages.
            unsafe { first.add(i).write(T::blank()) };
        }
        Ok(Self { memory, length, values: PhantomData })
    }

    /// Where devices see it.
    pub(crate) fn device_address(&self) -> *mut T {
        self.memory.device_address()
    }
}

impl<T> Deref for PinnedBuffer<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        // SAFETY: `length` values were written when it was made.
        unsafe { std::slice::from_raw_parts(self.memory.pointer(), self.length) }
    }
}

impl<T> DerefMut for PinnedBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: `length` values were written when it was made, and nobody else has them.
        unsafe { std::slice::from_raw_parts_mut(self.memory.pointer(), self.length) }
    }
}

impl<T> std::fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PinnedBuffer {{ {} values }}", self.length)
    }
}
