//! A thread a fit, with its pixels in shared memory, by any method.

use fit_core::pass::{Method, OneLane};

use super::memory::{outline, write};
use super::side_data::SideOffsets;
use super::staging;
use super::window_store::WindowStore;
use crate::square_tile::{self, Cells};
use crate::{DeviceF32, Job, Specialization, device};

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

impl<const SIDE: usize> Cells<DeviceF32, SIDE> for SharedCells<SIDE> {
    const ROWS: usize = SIDE;

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
pub(super) struct Own<const SIDE: usize> {
    number: usize,
    pixels: SharedCells<SIDE>,
    /// The same pixels.
    memory: *mut [DeviceF32; SIDE],
    notes: &'static mut [[DeviceF32; SIDE]],
}

impl<const SIDE: usize> WindowStore for Own<SIDE> {
    #[inline(always)]
    unsafe fn new(job: &Job) -> Option<Self> {
        let noted = job.is_noted();
        let fit = Job::thread_per_fit_numbers(SIDE, noted);
        let constants = Specialization { width: SIDE, height: SIDE, lanes: 1, row: SIDE, fit };
        // SAFETY: the caller's promise.
        unsafe { staging::read(job, &constants, 0) };
        let (thread, block, threads) = device::place();
        let number = block * threads + thread;
        if number >= job.count {
            return None;
        }
        let number = number as usize;
        // As many as `SIDE`, which is not said so that loops over rows stay loops.
        let rows = job.task.size().height;
        let address = device::shared_address() + thread * fit as u32 * BYTES;
        let memory = device::shared_memory().wrapping_add(thread as usize * fit);
        let memory = memory.cast::<[DeviceF32; SIDE]>();
        // SAFETY: the launch gives the block shared memory for all of its threads (docs/gpu-safety.md), and no other
        // thread uses this one's from here on.
        let notes = unsafe {
            let notes = memory.add(if noted { SIDE } else { 0 });
            core::slice::from_raw_parts_mut(notes, if noted { rows } else { 0 })
        };
        let pixels = SharedCells { address, rows: rows as u32 };
        Some(Self { number, pixels, memory, notes })
    }
    #[inline(always)]
    unsafe fn convert<const WEIGHTS: bool>(&mut self, job: &Job) {
        // SAFETY: the number is below the count.
        let side = unsafe { SideOffsets::new(job, self.number) };
        for (row, notes) in self.notes.iter_mut().enumerate() {
            for column in 0..SIDE {
                let pixel = self.pixels.at(row, column);
                // SAFETY: the column and the row are in the window.
                let (pixel, note) = unsafe { side.convert::<WEIGHTS>(job, pixel.0, column, row) };
                self.pixels.put(row, column, DeviceF32(pixel));
                notes[column] = DeviceF32(note);
            }
        }
    }
    #[inline(always)]
    unsafe fn run<M: Method<DeviceF32>>(self, method: &M, job: &Job) {
        // SAFETY: the caller's promise.
        unsafe { run_in(self.pixels, self.notes, method, job, self.number) }
    }
    /// Through ordinary pointers: sums that leave no register free are slower with addresses of shared memory.
    #[inline(always)]
    unsafe fn run_large<M: Method<DeviceF32>>(self, method: &M, job: &Job) {
        let Self { number, pixels, memory, notes } = self;
        // SAFETY: the window is there, and this thread's own; its pixels are used by no other way from here on.
        unsafe {
            let rows = core::slice::from_raw_parts_mut(memory, pixels.rows as usize);
            run_in(rows, notes, method, job, number);
        }
    }
}

/// Fits a window, and writes the outcome.
///
/// # Safety
/// The job is as docs/gpu-safety.md asks, and `number` is below its count.
#[inline(always)]
unsafe fn run_in<C: Cells<DeviceF32, SIDE>, M: Method<DeviceF32>, const SIDE: usize>(
    cells: C,
    notes: &[[DeviceF32; SIDE]],
    method: &M,
    job: &Job,
    number: usize,
) {
    // SAFETY: the number is below the count, and this thread alone writes its outcome.
    unsafe {
        let start = outline(job, number);
        let found = square_tile::fit(method, &OneLane, cells, notes, start);
        write(job, number, Job::outcome(&found));
    }
}
