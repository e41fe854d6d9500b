//! A few threads a fit with some rows each, the pixels in shared memory, by any method.

use fit_core::pass::{Group, Method, Summable};
use fit_core::spot::axis::AxisSample;
use fit_core::{Fit, Outline, Size};

use super::memory::{outline, write, write_errors};
use super::side_data::SideOffsets;
use super::staging;
use super::window_store::WindowStore;
use crate::shared_rows::{self, RowsTile};
use crate::specialization::{self, Specialization};
use crate::{DeviceF32, Job, device};

/// Threads of a warp.
const WARP: u32 = 32;
/// Bytes of a number.
const BYTES: u32 = 4;

/// The threads of a fit, and what they have in shared memory: first the pixels of all fits of the block, then, if there are any, the
/// notes of all, and of three `PLANES` the weights of all, then the samples of all, `NUMBERS` of each column.
pub(super) struct RowThreads<const NUMBERS: usize, const PLANES: usize = 2> {
    number: usize,
    constants: Specialization,
    lane: u32,
    members: u32,
    /// Addresses in shared memory, of notes beside that of their pixels, and of weights as far beside that of their notes.
    pixels: u32,
    notes: Option<u32>,
    samples: u32,
}

impl<const NUMBERS: usize, const PLANES: usize> Group<DeviceF32> for RowThreads<NUMBERS, PLANES> {
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

impl<const NUMBERS: usize, const PLANES: usize> RowsTile<DeviceF32>
    for RowThreads<NUMBERS, PLANES>
{
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
    fn weight(&self, row: u32, column: usize) -> DeviceF32 {
        // SAFETY: of three planes there is room for as many weights.
        let read = |notes| unsafe { device::read_shared(row + 2 * notes + column as u32 * BYTES) };
        DeviceF32(if PLANES > 2 { self.notes.map_or(1.0, read) } else { 1.0 })
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

impl<const NUMBERS: usize, const PLANES: usize> WindowStore for RowThreads<NUMBERS, PLANES> {
    #[inline(always)]
    unsafe fn new(job: &Job) -> Option<Self> {
        let (constants, shift) = (Specialization::here(), Specialization::shift());
        let (thread, block, threads) = device::place();
        // SAFETY: the caller's promise.
        unsafe { staging::read(job, &constants, shift) };
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
        let before = if notes.is_some() { PLANES as u32 * all } else { all };
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
        let [width, height, step] =
            [self.constants.width, self.constants.height, self.constants.row]
                .map(|number| number as u32);
        let mut next = self.lane;
        while next < width * height {
            let (row, column) = (next / width, next % width);
            let place = self.pixels + (row * step + column) * BYTES;
            let (row, column) = (row as usize, column as usize);
            // SAFETY: the place is in the window, and no other thread of the fit uses it before they are synchronized.
            unsafe {
                let counts = device::read_shared(place);
                let (pixel, note) = side.convert::<WEIGHTS>(job, counts, column, row);
                device::write_shared(place, pixel);
                device::write_shared(place + notes, note);
                if PLANES > 2 {
                    let (_, weight) = side.convert::<true>(job, counts, column, row);
                    device::write_shared(place + 2 * notes, weight);
                }
            }
            next += self.constants.lanes as u32;
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

impl<const NUMBERS: usize, const PLANES: usize> RowThreads<NUMBERS, PLANES> {
    /// Finds the errors of the fit of the window, and writes them. Q is P + 2, or P + 4 of spots on a plane.
    ///
    /// # Safety
    /// The job is as docs/gpu-safety.md asks of one that finds errors.
    #[inline(always)]
    pub(super) unsafe fn errors<S: Summable<P>, const P: usize, const Q: usize>(
        mut self,
        job: &Job,
    ) {
        let number = self.number;
        let covariance = job.task.covariance_estimator::<DeviceF32, S, P, Q>(job.is_noted());
        // SAFETY: there is an outcome for each window.
        let fit = unsafe { job.fits.add(number).read() };
        let Fit { x, y, sigma_x, sigma_y, angle, amplitude, background, .. } = fit;
        let [x, y, sigma_x, sigma_y, angle] = [x, y, sigma_x, sigma_y, angle].map(DeviceF32);
        let outline = Outline { x, y, sigma_x, sigma_y, angle };
        let linear = [amplitude, background].map(DeviceF32);
        let slopes = [fit.offset_x, fit.offset_y].map(DeviceF32);
        let estimate = shared_rows::errors(&covariance, &mut self, outline, linear, slopes);
        if self.lane == 0 {
            // SAFETY: the number is below the count, and one lane writes these errors.
            unsafe { write_errors(job, number, &Job::errors(&estimate, &fit, Q)) }
        }
    }
}
