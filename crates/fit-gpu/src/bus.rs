use std::sync::Arc;
use std::time::Instant;

use crate::GpuError;
use crate::device::Card;
use crate::driver::{DeviceMemory, HostMemory, Stream};

/// The bus between pinned host memory and a device, by itself: what no backend can be faster than.
pub struct Bus {
    // First, for fields go in this order: it waits for what is in it before the memory goes.
    stream: Stream,
    card: Arc<Card>,
    memory: [(DeviceMemory, HostMemory); 2],
}

impl std::fmt::Debug for Bus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Bus {{ device {} }}", self.card.info.number)
    }
}

impl Bus {
    /// The bus of a device, to be measured with up to `bytes` in either direction.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(device: usize, bytes: usize) -> Result<Self, GpuError> {
        let card = Card::get(device)?;
        let both = || {
            let device = DeviceMemory::new(&card.context, bytes)?;
            Ok::<_, GpuError>((device, HostMemory::new(&card.context, bytes)?))
        };
        Ok(Self { memory: [both()?, both()?], stream: Stream::new(&card.context)?, card })
    }

    /// Seconds for copying so many bytes to the device, then so many back, and waiting for that.
    ///
    /// # Errors
    /// [`GpuError`].
    ///
    /// # Panics
    /// If there are more bytes than it was made for.
    pub fn seconds(&self, bytes_in: usize, bytes_out: usize) -> Result<f64, GpuError> {
        self.card.context.enter()?;
        let [(device_in, host_in), (device_out, host_out)] = &self.memory;
        assert!(bytes_in.max(bytes_out) <= host_in.bytes(), "more bytes than there is memory");
        let begin = Instant::now();
        // SAFETY: the memory lives as long as `self`, nobody else uses it, and the stream is waited for.
        unsafe {
            if bytes_in > 0 {
                let from = std::slice::from_raw_parts(host_in.pointer::<u8>(), bytes_in);
                self.stream.copy_in(device_in, from)?;
            }
            if bytes_out > 0 {
                let to = std::ptr::slice_from_raw_parts_mut(host_out.pointer::<u8>(), bytes_out);
                self.stream.copy_out(to, device_out)?;
            }
        }
        self.stream.wait()?;
        Ok(begin.elapsed().as_secs_f64())
    }
}
