use fit_core::pass::Group;
use fit_core::spot::shape::Circular;
use fit_core::{Fit, PixelProfile, Size};

use super::memory::{read, write};
use super::threads::Threads;
use crate::published::{self, Pixels};
use crate::{DeviceF32, ExactF32, Job, PixelKind, device};

/// The threads of a fit that has one for each pixel.
struct PixelThreads {
    /// The number of the fit in its block.
    fit: u32,
    /// The number of the thread in its fit.
    thread: u32,
    size: Size,
    column: u32,
    row: u32,
    pixel: f32,
    /// Room for a number of each thread.
    shared: *mut f32,
}

impl PixelThreads {
    fn count(&self) -> u32 {
        published::threads(self.size.width * self.size.height) as u32
    }

    /// Waits for all threads of the fit.
    #[inline(always)]
    fn wait(&self) {
        device::wait_for(self.fit + 1, self.count());
    }

    /// This thread's lane in a warp of its own.
    #[inline(always)]
    fn warp(&self) -> Threads<32> {
        Threads { lane: self.thread % 32, members: u32::MAX }
    }
}

impl Group<ExactF32> for PixelThreads {
    const LANES: usize = 32;

    #[inline(always)]
    fn lane(&self) -> ExactF32 {
        ExactF32(self.warp().lane().0)
    }
    #[inline(always)]
    fn first(&self, value: ExactF32) -> ExactF32 {
        ExactF32(self.warp().first(DeviceF32(value.0)).0)
    }
    #[inline(always)]
    fn exchanged(&self, value: ExactF32, step: usize) -> ExactF32 {
        ExactF32(self.warp().exchanged(DeviceF32(value.0), step).0)
    }
    #[inline(always)]
    fn neighbour(&self, value: ExactF32, step: isize) -> ExactF32 {
        ExactF32(self.warp().neighbour(DeviceF32(value.0), step).0)
    }
}

impl Pixels<ExactF32> for PixelThreads {
    #[inline(always)]
    fn pixel(&self) -> ExactF32 {
        ExactF32(self.pixel)
    }
    #[inline(always)]
    fn place(&self) -> (ExactF32, ExactF32, bool) {
        let there = self.thread < (self.size.width * self.size.height) as u32;
        (ExactF32(self.column as f32), ExactF32(self.row as f32), there)
    }
    #[inline(always)]
    fn warps(&self) -> usize {
        self.count() as usize / 32
    }
    #[inline(always)]
    fn gather<const K: usize>(&mut self, mut values: [ExactF32; K]) -> [ExactF32; K] {
        let (warps, warp, lane) = (self.warps(), self.thread as usize / 32, self.thread % 32);
        let from = if (lane as usize) < warps { lane as usize } else { 0 };
        if lane == 0 {
            for k in 0..K {
                // SAFETY: K ≤ 32, and there is room for 32 numbers of each warp; this one is the warp's own.
                unsafe { self.shared.add(k * warps + warp).write(values[k].0) }
            }
        }
        self.wait();
        for k in 0..K {
            // SAFETY: every warp has written its numbers before the threads waited for each other.
            values[k] = ExactF32(unsafe { self.shared.add(k * warps + from).read() });
        }
        // Nobody writes the next before all have read these.
        self.wait();
        values
    }
}

/// [`fit_pixel`], with the number of its line in the table: the launch and the build see to it, and the code is the same
/// for any.
///
/// # Safety
/// As for [`fit_pixel`].
#[inline(always)]
pub(super) unsafe fn fit<S, const P: usize, const THREADS: usize>(job: &Job) {
    // SAFETY: the caller's promise.
    unsafe { fit_pixel(job) }
}

/// # Safety
/// The job is as docs/gpu-safety.md asks, and has start values.
#[inline(always)]
unsafe fn fit_pixel(job: &Job) {
    let size = job.task.size();
    let (thread, block, threads) = device::place();
    let of_fit = published::threads((size.width * size.height).max(1)) as u32;
    let width = size.width.max(1) as u32;
    let fit = thread / of_fit;
    let number = (block * (threads / of_fit) + fit) as usize;
    // Whole fits leave together.
    if number >= job.count as usize || job.starts.is_null() {
        return;
    }
    let thread = thread % of_fit;
    // The last pixel again in threads that have none.
    let last = (size.width * size.height) as u32 - 1;
    let pixel = if thread < last { thread } else { last };
    let (column, row) = (pixel % width, pixel / width);
    // SAFETY: the number is below the count, and the pixel in the window.
    let pixel = unsafe {
        match job.kind {
            PixelKind::F32 => read::<f32>(job, number, column as usize, row as usize),
            PixelKind::U16 => read::<u16>(job, number, column as usize, row as usize),
            PixelKind::U8 => read::<u8>(job, number, column as usize, row as usize),
        }
    };
    // SAFETY: the launch gives the block shared memory for a number of each thread.
    let shared = unsafe { device::shared_memory().add((fit * of_fit) as usize) };
    let mut window = PixelThreads { fit, thread, size, column, row, pixel, shared };
    // SAFETY: the number is below the count.
    let start = unsafe { job.starts.add(number).read() }.map(ExactF32);
    let Some(setup) = job.task.setup::<ExactF32, Circular, 3>(PixelProfile::Sampled) else {
        return;
    };
    let found = published::fit(&setup, &mut window, start);
    if thread == 0 {
        // SAFETY: the number is below the count, and one thread writes this outcome.
        unsafe { write(job, number, Fit::from(found.map(|number| number.0))) }
    }
}
