#![doc = include_str!("../README.md")]

mod batch;
mod bus;
mod device;
mod driver;
mod error;
mod pinned;
mod pixels;
mod resident;
mod session;

pub use batch::Gpu;
pub use bus::Bus;
pub use device::{DeviceInfo, Mapping, devices, free_memory};
pub use error::GpuError;
pub use pinned::{Pinnable, PinnedBuffer};
pub use resident::Resident;
pub use session::GpuSession;
