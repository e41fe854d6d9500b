//! A few threads a fit with some rows each, the pixels in shared memory, by any method.

use fit_core::pass::{Group, Method};
use fit_core::spot::axis::AxisSample;
use fit_core::{Pixel, Size};

use super::memory::{outline, window, write};
use super::side_data::SideOffsets;
use super::window_store::WindowStore;
use crate::shared_rows::{self, RowsTile};
use crate::specialization::{self, Specialization};
use crate::{DeviceF32, Job, PixelKind, device};

/// Threads of a warp.
const WARP: u32 = 32;
/// Pixels that a thread reads at the same time.
const AT_ONCE: u32 = 8;
/// Bytes of a number.
const BYTES: u32 = 4;

/// The threads of a fit, and what they have in shared memory: first the pixels of all fits of the block, then the notes of all, if
/// there are any, then the samples of all, `NUMBERS` of each column.
pub(super) struct RowThreads<const NUMBERS: usize> {
    number: usize,
    constants: Specialization,
    lane: u32,
    members: u32,
    /// Addresses in shared memory, of notes beside that of their pixels.
    pixels: u32,
    notes: Option<u32>,
    samples: u32,
}

impl<const NUMBERS: usize> Group<DeviceF32> for RowThreads<NUMBERS> {
    const LANES: usize = Specialization::MOST_LANES;

    #[inline(always)]
    fn lane(&self) -> DeviceF32 {
        DeviceF32(device::anew(self.lane) as f32)
    }
    #[inline(always)]
    fn first(&self, value: DeviceF32) -> DeviceF32 {
        DeviceF32(device::shuffle(value.0, self.members.trailing_zeros(), self.members))
    }
    #[inline(always)]
    fn exchanged(&self, value: DeviceF32, step: usize) -> DeviceF32 {
        DeviceF32(device::shuffle_xor(value.0, step as u32, self.members))
    }
    #[inline(always)]
    fn neighbour(&self, value: DeviceF32, _: isize) -> DeviceF32 {
        // No pass over rows in shared memory asks for it.
        value
    }
    #[inline(always)]
    fn sum(&self, value: DeviceF32) -> DeviceF32 {
        DeviceF32(specialization::sum(value.0, self.members))
    }
    #[inline(always)]
    fn least(&self, value: DeviceF32) -> DeviceF32 {
        DeviceF32(specialization::least(value.0, self.members))
    }
}

impl<const NUMBERS: usize> RowsTile<DeviceF32> for RowThreads<NUMBERS> {
    type Row = u32;

    #[inline(always)]
    fn size(&self) -> Size {
        Size::new(self.constants.width, self.constants.height)
    }
    #[inline(always)]
    fn lanes(&self) -> usize {
        self.constants.lanes
    }
    #[inline(always)]
    fn is_whole(&self) -> bool {
        self.constants.height.is_multiple_of(self.constants.lanes)
    }
    #[inline(always)]
    fn row(&self, line: usize, step: isize) -> u32 {
        let (lanes, last) = (self.constants.lanes as i32, self.constants.height as i32 - 1);
        let row = (line as i32 * lanes + self.lane as i32 + step as i32).clamp(0, last);
        // The place is in the window.
        self.pixels + row as u32 * self.constants.row as u32 * BYTES
    }
    #[inline(always)]
    fn pixel(&self, row: u32, column: usize) -> DeviceF32 {
        // SAFETY: the place is in the window, for which there is room in shared memory (docs/gpu-safety.md); those of other
        // lanes are read after they have been synchronized only.
        DeviceF32(unsafe { device::read_shared(row + column as u32 * BYTES) })
    }
    #[inline(always)]
    fn note(&self, row: u32, column: usize) -> DeviceF32 {
        // SAFETY: there is room for as many notes as pixels.
        let read = |notes| unsafe { device::read_shared(row + notes + column as u32 * BYTES) };
        DeviceF32(self.notes.map_or(0.0, read))
    }
    #[inline(always)]
    fn set(&mut self, row: u32, column: usize, mask: bool, value: DeviceF32) {
        if mask {
            // SAFETY: the place is in the window, and this lane's own.
            unsafe { device::write_shared(row + column as u32 * BYTES, value.0) }
        }
    }
    #[inline(always)]
    fn put<const SECOND: bool>(&mut self, block: usize, mask: bool, sample: AxisSample<DeviceF32>) {
        let AxisSample { value, by_centre, by_width, second } = sample;
        let numbers = [value, by_centre, by_width, second[0], second[1]];
        let column = (block * self.constants.lanes) as u32 + self.lane;
        let place = self.samples + column * NUMBERS as u32 * BYTES;
        if mask {
            for i in 0..if SECOND { 5 } else { 3 } {
                if i < NUMBERS {
                    // SAFETY: there is room for so many numbers of each column, which is this lane's own.
                    unsafe { device::write_shared(place + i as u32 * BYTES, numbers[i].0) }
                }
            }
        }
    }
    #[inline(always)]
    fn sample<const SECOND: bool>(&self, column: usize) -> AxisSample<DeviceF32> {
        let mut numbers = [DeviceF32(0.0); 5];
        let place = self.samples + (column * NUMBERS) as u32 * BYTES;
        for i in 0..if SECOND { 5 } else { 3 } {
            if i < NUMBERS {
                // SAFETY: as above; lanes have been synchronized since they wrote.
                numbers[i] = DeviceF32(unsafe { device::read_shared(place + i as u32 * BYTES) });
            }
        }
        let [value, by_centre, by_width, second @ ..] = numbers;
        AxisSample { value, by_centre, by_width, second }
    }
    #[inline(always)]
    fn publish(&self) {
        specialization::synchronize(self.members);
    }
}

impl<const NUMBERS: usize> WindowStore for RowThreads<NUMBERS> {
    #[inline(always)]
    unsafe fn new(job: &Job) -> Option<Self> {
        let (constants, shift) = (Specialization::here(), Specialization::shift());
        let (thread, block, threads) = device::place();
        // SAFETY: the caller's promise.
        unsafe {
            match job.kind {
                PixelKind::F32 => read::<f32>(job, &constants, shift),
                PixelKind::U16 => read::<u16>(job, &constants, shift),
                PixelKind::U8 => read::<u8>(job, &constants, shift),
            }
        }
        let number = (block * threads + thread) >> shift;
        // All threads of a fit leave together.
        if number >= job.count {
            return None;
        }
        let lane = thread & ((1 << shift) - 1);
        let members = u32::MAX >> (WARP - (1 << shift)) << (thread % WARP - lane);
        let (group, groups) = (thread >> shift, threads >> shift);
        let (shared, fit) = (device::shared_address(), constants.fit as u32 * BYTES);
        let all = groups * fit;
        let notes = if job.is_noted() { Some(all) } else { None };
        let before = if notes.is_some() { 2 * all } else { all };
        let of_samples = Job::sample_numbers(constants.width, NUMBERS) as u32 * BYTES;
        let samples = shared + before + group * of_samples;
        let pixels = shared + group * fit;
        let number = number as usize;
        Some(Self { number, constants, lane, members, pixels, notes, samples })
    }

    #[inline(always)]
    unsafe fn convert<const WEIGHTS: bool>(&mut self, job: &Job) {
        let Some(notes) = self.notes else { return };
        // SAFETY: the number is below the count.
        let side = unsafe { SideOffsets::new(job, self.number) };
        let mut row = self.lane as usize;
        while row < self.constants.height {
            for column in 0..self.constants.width {
                // SAFETY: the column and the row are in the window, and this lane's own.
                unsafe {
                    let place = self.pixels + (row * self.constants.row + column) as u32 * BYTES;
                    let counts = device::read_shared(place);
                    let (pixel, note) = side.convert::<WEIGHTS>(job, counts, column, row);
                    device::write_shared(place, pixel);
                    device::write_shared(place + notes, note);
                }
            }
            row += self.constants.lanes;
        }
        self.publish();
    }

    #[inline(always)]
    unsafe fn run<M: Method<DeviceF32>>(mut self, method: &M, job: &Job) {
        let number = self.number;
        // SAFETY: the number is below the count.
        let start = unsafe { outline(job, number) };
        let found = shared_rows::fit(method, &mut self, start);
        if self.lane == 0 {
            // SAFETY: one lane writes this outcome.
            unsafe { write(job, number, Job::outcome(&found)) }
        }
    }
}

/// Reads the windows of a warp into shared memory: threads beside each other read pixels beside each other.
///
/// # Safety
/// The job is as docs/gpu-safety.md asks; all threads of the warp come here.
#[inline(always)]
unsafe fn read<X: Pixel>(job: &Job, constants: &Specialization, shift: u32) {
    let (thread, block, threads) = device::place();
    let (lane, fits) = (thread % WARP, WARP >> shift);
    let first = (block * threads + thread - lane) >> shift;
    let count = job.count.saturating_sub(first).min(fits);
    let (width, area) = (constants.width as u32, (constants.width * constants.height) as u32);
    let (fit, row) = (constants.fit as u32, constants.row as u32);
    let to = device::shared_address() + ((thread - lane) >> shift) * fit * BYTES;
    // Where a pixel of all windows goes.
    let place = |next: u32| {
        let number =
            next + next / area * (fit - row * (area / width)) + next / width * (row - width);
        to + number * BYTES
    };
    let mut next = lane;
    if job.corners.is_null() {
        let end = count * area;
        let from = job.pixels.cast::<X>().wrapping_add(first as usize * area as usize);
        while next + (AT_ONCE - 1) * WARP < end {
            let mut pixels = [0.0; AT_ONCE as usize];
            for i in 0..AT_ONCE {
                // SAFETY: the pixel is in one of the windows.
                let pixel = unsafe { from.add((next + i * WARP) as usize).read() };
                pixels[i as usize] = pixel.to_f32();
            }
            for i in 0..AT_ONCE {
                // SAFETY: there is room for the windows, and no other thread writes this pixel.
                unsafe { device::write_shared(place(next + i * WARP), pixels[i as usize]) }
            }
            next += AT_ONCE * WARP;
        }
        while next < end {
            // SAFETY: as above.
            unsafe { device::write_shared(place(next), from.add(next as usize).read().to_f32()) }
            next += WARP;
        }
    } else {
        for number in 0..count {
            // SAFETY: the number is below the count.
            let (from, stride) = unsafe { window::<X>(job, (first + number) as usize) };
            let mut next = lane;
            while next < area {
                let (row, column) = ((next / width) as usize, (next % width) as usize);
                // SAFETY: the pixel is in the window, and no other thread writes it.
                unsafe {
                    let pixel = from.add(row * stride + column).read().to_f32();
                    device::write_shared(place(number * area + next), pixel);
                }
                next += WARP;
            }
        }
    }
    device::synchronize(u32::MAX);
}
