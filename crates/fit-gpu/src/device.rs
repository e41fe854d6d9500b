use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cudarc::driver::sys::CUdevice_attribute as Attribute;
use fit_core::Size;
use fit_gpu_kernel::{Job, published};
use fit_gpu_ptx::ptx;

use crate::GpuError;
use crate::driver::{self, Context, Device, Kernel, Module, Stream};

/// What a device is.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceInfo {
    /// Its number, from 0.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// Compute capability, major and minor.
    pub capability: (i32, i32),
    /// Multiprocessors.
    pub multiprocessors: usize,
    /// Bytes of memory.
    pub memory: usize,
    /// Bytes of shared memory that a block can have.
    pub shared: usize,
    /// The CUDA version that the driver supports, as 1000·major + 10·minor.
    pub driver: i32,
}

impl DeviceInfo {
    fn new(number: usize) -> Result<Self, GpuError> {
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

    /// Whether the kernels run on it.
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

/// The devices of this machine, also those that are too old.
///
/// # Errors
/// [`GpuError`] where there is none, with the reason.
pub fn devices() -> Result<Vec<DeviceInfo>, GpuError> {
    let count = driver::start()?;
    (0..count).map(DeviceInfo::new).collect()
}

/// Bytes of a device's memory that are free, by its number from 0.
///
/// # Errors
/// [`GpuError`].
pub fn free_memory(device: usize) -> Result<usize, GpuError> {
    Card::get(device)?.context.free_memory()
}

/// A device in use: its context, and the kernels that have been needed so far. There is one for each device,
/// for as long as the process lives.
pub(crate) struct Card {
    pub(crate) info: DeviceInfo,
    pub(crate) context: Arc<Context>,
    kernels: Mutex<HashMap<&'static str, Kernel>>,
}

/// How the fits of a batch are shared out to threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mapping {
    /// Whatever is fastest for the window and the batch.
    #[default]
    Fast,
    /// As the paper has it: a thread a pixel, sums through shared memory, its iteration to the letter
    /// ([`fit_core::published`]), windows of at most 1024 pixels. To compare with.
    Published,
}

/// What to launch for a batch.
pub(crate) struct Launch {
    kernel: Kernel,
    /// Threads of a fit.
    lanes: usize,
    threads: usize,
    /// Bytes of shared memory of a block.
    shared: usize,
}

/// Threads of a block.
const THREADS: usize = 64;
/// Threads of a block of teams.
const TEAM_THREADS: usize = 128;
/// Shared memory that a block has without asking.
const SHARED: usize = 48 * 1024;
/// From this many windows on, as few threads as possible for each of them keep the device busy.
const MANY: usize = 6_000;

impl Card {
    /// The device of that number.
    pub(crate) fn get(number: usize) -> Result<Arc<Self>, GpuError> {
        static CARDS: OnceLock<Mutex<HashMap<usize, Arc<Card>>>> = OnceLock::new();
        let cards = CARDS.get_or_init(Mutex::default);
        let mut cards = cards.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(card) = cards.get(&number) {
            return Ok(Arc::clone(card));
        }
        let count = driver::start()?;
        if number >= count {
            return Err(GpuError::NoSuchDevice { number, count });
        }
        let info = DeviceInfo::new(number)?;
        info.check()?;
        let context = Context::new(Device::new(number)?)?;
        let card = Arc::new(Self { info, context, kernels: Mutex::default() });
        cards.insert(number, Arc::clone(&card));
        Ok(card)
    }

    fn kernel(&self, module: &'static str) -> Result<Kernel, GpuError> {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels.get(module) {
            return Ok(*kernel);
        }
        let text = ptx(module).expect("every module that is asked for is among the files");
        let kernel = Module::load(&self.context, text)?.kernel("fit")?;
        kernels.insert(module, kernel);
        Ok(kernel)
    }

    /// The kernel for windows of a size, in batches of `count`, and how to launch it.
    pub(crate) fn launch(
        &self,
        mapping: Mapping,
        size: Size,
        count: usize,
    ) -> Result<Launch, GpuError> {
        let Size { width, height } = size;
        if mapping == Mapping::Published {
            return self.launch_published(size);
        }
        if let Some((side, quick)) = (width == height).then(|| modules(width)).flatten() {
            let (module, lanes) = if count >= MANY {
                (side, Job::side_lanes(width))
            } else {
                (quick, Job::quick_lanes(width))
            };
            return Ok(Launch { kernel: self.kernel(module)?, lanes, threads: THREADS, shared: 0 });
        }
        let (lanes, module) = match width {
            0..=8 => (8, "team8"),
            9..=16 => (16, "team16"),
            _ => (32, "team32"),
        };
        let kernel = self.kernel(module)?;
        let team = Job::team_pixels(size.pixels(), lanes) * size_of::<f32>();
        // As many teams as have room, but whole warps.
        let most = TEAM_THREADS / lanes;
        let in_warp = 32 / lanes;
        let teams = (SHARED / team / in_warp * in_warp).clamp(in_warp, most);
        let shared = teams * team;
        if shared > self.info.shared {
            let pixels = (self.info.shared / size_of::<f32>() / in_warp).saturating_sub(64);
            return Err(GpuError::WindowTooLarge { size, pixels });
        }
        if shared > SHARED {
            kernel.allow_shared(shared)?;
        }
        Ok(Launch { kernel, lanes, threads: teams * lanes, shared })
    }

    fn launch_published(&self, size: Size) -> Result<Launch, GpuError> {
        let pixels = size.pixels();
        if pixels > published::MOST_PIXELS {
            return Err(GpuError::WindowTooLarge { size, pixels: published::MOST_PIXELS });
        }
        let lanes = published::threads(pixels);
        let large = lanes > published::MOST_THREADS;
        let kernel = self.kernel(if large { "published_large" } else { "published" })?;
        let threads = lanes * published::fits_in_block(pixels);
        Ok(Launch { kernel, lanes, threads, shared: threads * size_of::<f32>() })
    }
}

/// The modules for square windows of that side, many and few.
fn modules(side: usize) -> Option<(&'static str, &'static str)> {
    const FIRST: usize = 4;
    let index = side.checked_sub(FIRST)?;
    let find = |kind| {
        let modules = fit_gpu_ptx::MODULES.iter().filter(|module| module.starts_with(kind));
        modules.copied().nth(index)
    };
    Some((find("side")?, find("quick")?))
}

impl Launch {
    /// Puts the kernel into a stream.
    ///
    /// # Safety
    /// The job is as docs/gpu-safety.md asks, until the stream has got past it, and of the size and the
    /// type of pixels that this was made for.
    pub(crate) unsafe fn run(&self, stream: &Stream, job: &Job) -> Result<(), GpuError> {
        let fits_in_block = self.threads / self.lanes;
        let blocks = (job.count as usize).div_ceil(fits_in_block) as u32;
        if blocks == 0 {
            return Ok(());
        }
        // SAFETY: the caller's promise; the block has the shared memory that its teams take.
        unsafe { self.kernel.launch(stream, blocks, self.threads as u32, self.shared, job) }
    }
}
