use cudarc::driver::sys::CUdevice_attribute as Attribute;

use crate::GpuError;
use crate::card::Card;
use crate::driver::{self, Device};

/// The properties of a device.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Its number, from 0.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// Compute capability, major and minor.
    pub capability: (i32, i32),
    /// The number of multiprocessors.
    pub multiprocessors: usize,
    /// Bytes of memory.
    pub memory: usize,
    /// Bytes of shared memory that a block can have.
    pub shared: usize,
    /// The CUDA version that the driver supports, as 1000·major + 10·minor.
    pub driver: i32,
}

impl DeviceInfo {
    pub(crate) fn new(number: usize) -> Result<Self, GpuError> {
        let device = Device::new(number)?;
        let attribute = |attribute| device.attribute(attribute);
        Ok(Self {
            number,
            name: device.name()?,
            capability: (
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?
                as usize,
            memory: device.memory()?,
            shared: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?
                as usize,
            driver: driver::version()?,
        })
    }

    /// Checks that the kernels run on it.
    ///
    /// # Errors
    /// [`GpuError::DeviceTooOld`].
    pub fn check(&self) -> Result<(), GpuError> {
        if self.capability >= (7, 5) {
            Ok(())
        } else {
            Err(GpuError::DeviceTooOld { name: self.name.clone(), capability: self.capability })
        }
    }
}

/// The devices of this machine, including those that are too old.
///
/// # Errors
/// [`GpuError`] if there is none, with the reason.
pub fn devices() -> Result<Vec<DeviceInfo>, GpuError> {
    let count = driver::start()?;
    (0..count).map(DeviceInfo::new).collect()
}

/// The free bytes of a device's memory; the device is given by its number, from 0.
///
/// # Errors
/// [`GpuError`].
pub fn free_memory(device: usize) -> Result<usize, GpuError> {
    Card::get(device)?.context.free_memory()
}

/// Something on each of these devices.
pub(crate) fn on_each<T>(
    devices: &[usize],
    new: impl Fn(usize) -> Result<T, GpuError>,
) -> Result<Vec<T>, GpuError> {
    if devices.is_empty() {
        return Err(GpuError::NoDevice(": the list of devices is empty".to_owned()));
    }
    devices.iter().map(|&number| new(number)).collect()
}
