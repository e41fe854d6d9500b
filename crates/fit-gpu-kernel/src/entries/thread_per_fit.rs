//! A thread a fit, with its pixels in shared memory, by any method.

use fit_core::pass::{self, Finish, Method};

use super::memory::{outline, write};
use super::side_data::SideOffsets;
use super::staging;
use crate::thread_per_fit::{Cells, Window};
use crate::{DeviceF32, Job, device};

/// Bytes of a number.
const BYTES: u32 = 4;

/// A window in shared memory, rows of `SIDE` numbers one after the other.
#[derive(Clone, Copy)]
struct SharedCells<const SIDE: usize> {
    address: u32,
    rows: u32,
}

impl<const SIDE: usize> SharedCells<SIDE> {
    #[inline(always)]
    fn place(&self, row: usize, column: usize) -> u32 {
        self.address + (row as u32 * SIDE as u32 + column as u32) * BYTES
    }
}

impl<const SIDE: usize> Cells<DeviceF32> for SharedCells<SIDE> {
    #[inline(always)]
    fn rows(&self) -> usize {
        self.rows as usize
    }
    #[inline(always)]
    fn at(&self, row: usize, column: usize) -> DeviceF32 {
        // SAFETY: the place is in the window, for which there is room in shared memory (docs/gpu-safety.md).
        DeviceF32(unsafe { device::read_shared(self.place(row, column)) })
    }
    #[inline(always)]
    fn put(&mut self, row: usize, column: usize, value: DeviceF32) {
        // SAFETY: as above; no other thread uses this one's window.
        unsafe { device::write_shared(self.place(row, column), value.0) }
    }
}

/// The window of a thread and its notes.
struct Own<const SIDE: usize> {
    number: usize,
    pixels: SharedCells<SIDE>,
    /// The same pixels.
    memory: *mut [DeviceF32; SIDE],
    notes: &'static mut [[DeviceF32; SIDE]],
}

impl<const SIDE: usize> Own<SIDE> {
    /// The pixels of this thread's window, and room for notes if there are any; `None` if there is no such window.
    ///
    /// # Safety
    /// The job is as docs/gpu-safety.md asks.
    #[inline(always)]
    unsafe fn new(job: &Job) -> Option<Self> {
        let noted = job.is_noted();
        let stride = Job::thread_per_fit_numbers(SIDE, noted);
        // SAFETY: the caller's promise.
        let (pixels, number) = unsafe { staging::read::<SIDE>(job, stride)? };
        // As many as `SIDE`, which is not said so that loops over rows stay loops.
        let rows = job.task.size().height;
        let (thread, ..) = device::place();
        let address = device::shared_address() + thread * stride as u32 * BYTES;
        let memory = pixels.cast::<[DeviceF32; SIDE]>();
        // SAFETY: the launch gives the block shared memory for all of its threads (docs/gpu-safety.md), and no other
        // thread uses this one's from here on.
        let notes = unsafe {
            let notes = memory.add(if noted { SIDE } else { 0 });
            core::slice::from_raw_parts_mut(notes, if noted { rows } else { 0 })
        };
        let pixels = SharedCells { address, rows: rows as u32 };
        Some(Self { number, pixels, memory, notes })
    }

    /// Converts the pixels by the camera's map and takes the notes: variances if `VARIANCES`, else weights.
    ///
    /// # Safety
    /// The job is as docs/gpu-safety.md asks.
    #[inline(always)]
    unsafe fn convert<const VARIANCES: bool>(&mut self, job: &Job) {
        // SAFETY: the number is below the count.
        let side = unsafe { SideOffsets::new(job, self.number) };
        for (row, notes) in self.notes.iter_mut().enumerate() {
            for column in 0..SIDE {
                let pixel = self.pixels.at(row, column);
                // SAFETY: the column and the row are in the window.
                let (pixel, note) = unsafe { side.convert::<VARIANCES>(job, pixel.0, column, row) };
                self.pixels.put(row, column, DeviceF32(pixel));
                notes[column] = DeviceF32(note);
            }
        }
    }

    /// Fits the window, and writes the outcome.
    ///
    /// # Safety
    /// The job is as docs/gpu-safety.md asks.
    #[inline(always)]
    unsafe fn run<M: Method<DeviceF32>>(self, method: &M, job: &Job) {
        // SAFETY: the caller's promise.
        unsafe { run_in::<_, _, SIDE>(self.pixels, self.notes, method, job, self.number) }
    }

    /// The same through ordinary pointers: sums that leave no register free are slower with addresses of shared memory.
    ///
    /// # Safety
    /// The job is as docs/gpu-safety.md asks.
    #[inline(always)]
    unsafe fn run_by_pointers<M: Method<DeviceF32>>(self, method: &M, job: &Job) {
        let Self { number, pixels, memory, notes } = self;
        // SAFETY: the window is there, and this thread's own; its pixels are used by no other way from here on.
        unsafe {
            let rows = core::slice::from_raw_parts_mut(memory, pixels.rows as usize);
            run_in::<_, _, SIDE>(rows, notes, method, job, number);
        }
    }
}

/// Fits a window, and writes the outcome.
///
/// # Safety
/// The job is as docs/gpu-safety.md asks, and `number` is below its count.
#[inline(always)]
unsafe fn run_in<C: Cells<DeviceF32>, M: Method<DeviceF32>, const SIDE: usize>(
    cells: C,
    notes: &[[DeviceF32; SIDE]],
    method: &M,
    job: &Job,
    number: usize,
) {
    let mut tile = Window::<_, _, SIDE>::new(cells, notes);
    // SAFETY: the number is below the count, and this thread alone writes its outcome.
    unsafe {
        let start = outline(job, number);
        let found = pass::fit(method, &mut tile, start, Finish::WhereSumsCancel);
        write(job, number, Job::outcome(&found));
    }
}

/// Least squares.
pub(super) mod least_thread_per_fit {
    use fit_core::pass::{RoughFit, Summable};

    use super::*;

    /// # Safety
    /// The job is as docs/gpu-safety.md asks.
    #[inline(always)]
    pub(in super::super) unsafe fn fit<S: Summable<P>, const P: usize, const SIDE: usize>(
        job: &Job,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let Some(mut own) = Own::<SIDE>::new(job) else { return };
            own.convert::<true>(job);
            let setup = job.task.finishing::<DeviceF32, S, P>(job.task.profile());
            let Some(setup) = setup else { return };
            own.run(&RoughFit(setup), job);
        }
    }
}

/// Weighted least squares.
pub(super) mod weighted_thread_per_fit {
    use fit_core::pass::{Summable, WeightedFit};

    use super::*;

    /// # Safety
    /// The job is as docs/gpu-safety.md asks, and has weights or a camera map.
    #[inline(always)]
    pub(in super::super) unsafe fn fit<S: Summable<P>, const P: usize, const SIDE: usize>(
        job: &Job,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let Some(mut own) = Own::<SIDE>::new(job) else { return };
            own.convert::<false>(job);
            let Some(setup) = job.task.setup::<DeviceF32, S, P>(job.task.profile()) else { return };
            own.run(&WeightedFit::from_setup(setup), job);
        }
    }
}

/// Maximum likelihood. Q is P + 2.
pub(super) mod likelihood_thread_per_fit {
    use fit_core::pass::Summable;

    use super::*;

    /// # Safety
    /// The job is as docs/gpu-safety.md asks.
    #[inline(always)]
    unsafe fn fit_noted<
        S: Summable<P>,
        const P: usize,
        const Q: usize,
        const SIDE: usize,
        const NOTED: bool,
    >(
        own: Own<SIDE>,
        job: &Job,
    ) {
        let mapped = !job.maps.is_null();
        let profile = job.task.profile();
        let method = job.task.likelihood::<DeviceF32, S, P, Q, NOTED>(profile, mapped);
        let Some(method) = method else { return };
        // SAFETY: the caller's promise.
        unsafe { own.run_by_pointers(&method, job) }
    }

    /// # Safety
    /// The job is as docs/gpu-safety.md asks.
    #[inline(always)]
    pub(in super::super) unsafe fn fit<
        S: Summable<P>,
        const P: usize,
        const Q: usize,
        const SIDE: usize,
    >(
        job: &Job,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let Some(mut own) = Own::<SIDE>::new(job) else { return };
            if job.is_noted() {
                own.convert::<true>(job);
                fit_noted::<S, P, Q, SIDE, true>(own, job);
            } else {
                fit_noted::<S, P, Q, SIDE, false>(own, job);
            }
        }
    }
}
