use fit_core::pass::{Group, Method, RoughFit, Summable};
use fit_core::{Fit, Outline, Pixel, PixelProfile};

use super::memory::{any_start, outline, window, write, write_errors};
use super::side_data::SideOffsets;
use super::threads::Threads;
use super::window_store::WindowStore;
use crate::shared_memory::{self, SharedTile};
use crate::{DeviceF32, Job, PixelKind, device};

/// The threads of a fit, and their pixels in shared memory, followed by the notes if there are any.
pub(super) struct Warp<const LANES: usize> {
    threads: Threads<LANES>,
    number: usize,
    width: usize,
    pixels: *mut f32,
    notes: Option<*mut f32>,
    /// Those of pixels whose notes are variances.
    weights: Option<*mut f32>,
}

impl<const LANES: usize> Warp<LANES> {
    #[inline(always)]
    fn column(&self, block: usize) -> usize {
        block * LANES + self.threads.lane as usize
    }
    /// The place of a pixel, whose column is in the window, or of its note.
    #[inline(always)]
    fn place(&self, of: *mut f32, column: usize, row: usize) -> *mut f32 {
        // SAFETY: the column and the row are in the window, for which there is room in shared memory
        // (docs/gpu-safety.md).
        unsafe { of.add(row * self.width + column) }
    }
    /// A pixel or a note; 0 where there is no such column, so that nobody reads what another writes.
    #[inline(always)]
    fn at(&self, of: *mut f32, column: usize, row: usize) -> DeviceF32 {
        if column >= self.width {
            return DeviceF32(0.0);
        }
        // SAFETY: the place is in the window; those of other lanes are read after they have been
        // synchronized only.
        DeviceF32(unsafe { self.place(of, column, row).read() })
    }
}

impl<const LANES: usize> Group<DeviceF32> for Warp<LANES> {
    const LANES: usize = LANES;

    #[inline(always)]
    fn lane(&self) -> DeviceF32 {
        self.threads.lane()
    }
    #[inline(always)]
    fn first(&self, value: DeviceF32) -> DeviceF32 {
        self.threads.first(value)
    }
    #[inline(always)]
    fn exchanged(&self, value: DeviceF32, step: usize) -> DeviceF32 {
        self.threads.exchanged(value, step)
    }
    #[inline(always)]
    fn neighbour(&self, value: DeviceF32, step: isize) -> DeviceF32 {
        self.threads.neighbour(value, step)
    }
}

impl<const LANES: usize> SharedTile<DeviceF32> for Warp<LANES> {
    #[inline(always)]
    fn pixel(&self, block: usize, row: usize) -> DeviceF32 {
        self.at(self.pixels, self.column(block), row)
    }
    #[inline(always)]
    fn neighbour_pixel(&self, block: usize, row: usize, step: isize) -> DeviceF32 {
        // Before the first column is a number beyond the last.
        self.at(self.pixels, self.column(block).wrapping_add_signed(step), row)
    }
    #[inline(always)]
    fn note(&self, block: usize, row: usize) -> DeviceF32 {
        // Its own columns only: nothing has to be synchronized.
        self.notes.map_or(DeviceF32(0.0), |notes| self.at(notes, self.column(block), row))
    }
    #[inline(always)]
    fn weight(&self, block: usize, row: usize) -> DeviceF32 {
        self.weights.map_or(DeviceF32(1.0), |weights| self.at(weights, self.column(block), row))
    }
    #[inline(always)]
    fn set(&mut self, block: usize, row: usize, mask: bool, value: DeviceF32) {
        if mask {
            // SAFETY: the place is in the window, and this lane's own.
            unsafe { self.place(self.pixels, self.column(block), row).write(value.0) }
        }
    }
    #[inline(always)]
    fn publish(&self) {
        device::synchronize(self.threads.members);
    }
}

/// Rows that are read at the same time: across the bus each read takes long.
const AT_ONCE: usize = 8;

impl<const LANES: usize> Warp<LANES> {
    /// Reads the lane's columns into shared memory.
    ///
    /// # Safety
    /// As for [`window`].
    #[inline(always)]
    unsafe fn load<X: Pixel>(&mut self, job: &Job, number: usize) {
        let size = job.task.size();
        // SAFETY: the caller's promise.
        let (first, stride) = unsafe { window::<X>(job, number) };
        for block in 0..size.width.div_ceil(LANES) {
            let column = self.column(block);
            if column >= size.width {
                continue;
            }
            let mut row = 0;
            while row < size.height {
                let mut pixels = [0.0; AT_ONCE];
                for i in 0..AT_ONCE {
                    // The last row again where there are no more.
                    let row = if row + i < size.height { row + i } else { size.height - 1 };
                    // SAFETY: the pixel is in the window.
                    pixels[i] = unsafe { first.add(row * stride + column).read() }.to_f32();
                }
                for i in 0..AT_ONCE {
                    if row + i < size.height {
                        // SAFETY: the place is in the window, and this lane's own.
                        unsafe { self.place(self.pixels, column, row + i).write(pixels[i]) }
                    }
                }
                row += AT_ONCE;
            }
        }
    }
}

impl<const LANES: usize> Warp<LANES> {
    /// The threads of a fit with their pixels; `None` if there is none. `PLANES` is how many there may be: pixels, notes, weights.
    ///
    /// # Safety
    /// The job is as docs/gpu-safety.md asks.
    #[inline(always)]
    pub(super) unsafe fn with<const PLANES: usize>(job: &Job) -> Option<Self> {
        let (threads, number) = Threads::<LANES>::new();
        // All threads of a fit leave together.
        if number >= job.count as usize {
            return None;
        }
        let size = job.task.size();
        let room = Job::shared_memory_pixels(size.width * size.height, LANES);
        let noted = PLANES > 1 && job.is_noted();
        let group_in_block = device::place().0 as usize / LANES;
        let before = group_in_block * if noted { PLANES * room } else { room };
        // SAFETY: the launch gives the block shared memory for all of its fits (docs/gpu-safety.md).
        let (pixels, notes, weights) = unsafe {
            let pixels = device::shared_memory().add(before);
            let notes = if noted { Some(pixels.add(room)) } else { None };
            (pixels, notes, if noted && PLANES > 2 { Some(pixels.add(2 * room)) } else { None })
        };
        let mut warp = Self { threads, number, width: size.width, pixels, notes, weights };
        // SAFETY: the number is below the count.
        unsafe {
            match job.kind {
                PixelKind::F32 => warp.load::<f32>(job, number),
                PixelKind::U16 => warp.load::<u16>(job, number),
                PixelKind::U8 => warp.load::<u8>(job, number),
            }
        }
        Some(warp)
    }

    /// Fits the window, and writes the outcome.
    ///
    /// # Safety
    /// The job is as docs/gpu-safety.md asks.
    #[inline(always)]
    unsafe fn run_from<M: Method<DeviceF32>>(
        mut self,
        method: &M,
        job: &Job,
        start: Option<Outline<DeviceF32>>,
    ) {
        let found = shared_memory::fit(method, &mut self, start);
        if self.threads.lane == 0 {
            // SAFETY: the number is below the count, and one lane writes this outcome.
            unsafe { write(job, self.number, Job::outcome(&found)) }
        }
    }
}

impl<const LANES: usize> WindowStore for Warp<LANES> {
    const ALWAYS_NOTED: bool = true;

    #[inline(always)]
    unsafe fn new(job: &Job) -> Option<Self> {
        // SAFETY: the caller's promise.
        unsafe { Self::with::<2>(job) }
    }
    /// Takes weights beside variances if there is room for both.
    #[inline(always)]
    unsafe fn convert<const WEIGHTS: bool>(&mut self, job: &Job) {
        let Some(notes) = self.notes else { return };
        let size = job.task.size();
        // SAFETY: the number is below the count.
        let side = unsafe { SideOffsets::new(job, self.number) };
        for block in 0..size.width.div_ceil(LANES) {
            let column = self.column(block);
            if column >= size.width {
                continue;
            }
            for row in 0..size.height {
                let place = self.place(self.pixels, column, row);
                // SAFETY: the place is in the window, and this lane's own.
                unsafe {
                    let counts = place.read();
                    let (pixel, note) = side.convert::<WEIGHTS>(job, counts, column, row);
                    place.write(pixel);
                    self.place(notes, column, row).write(note);
                    if let Some(weights) = self.weights {
                        let (_, weight) = side.convert::<true>(job, counts, column, row);
                        self.place(weights, column, row).write(weight);
                    }
                }
            }
        }
    }
    #[inline(always)]
    unsafe fn run<M: Method<DeviceF32>>(self, method: &M, job: &Job) {
        // SAFETY: the number is below the count.
        unsafe {
            let start = outline(job, self.number);
            self.run_from(method, job, start);
        }
    }
}

impl<const LANES: usize> Warp<LANES> {
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
        let estimate = shared_memory::errors(&covariance, &mut self, outline, linear, slopes);
        if self.threads.lane == 0 {
            // SAFETY: the number is below the count, and one lane writes these errors.
            unsafe { write_errors(job, number, &Job::errors(&estimate, &fit, Q)) }
        }
    }
}

/// # Safety
/// The job is as docs/gpu-safety.md asks.
#[inline(always)]
pub(super) unsafe fn fit<S: Summable<P>, const P: usize, const LANES: usize>(job: &Job) {
    // SAFETY: the caller's promise; the number is below the count.
    unsafe {
        let Some(warp) = Warp::<LANES>::with::<1>(job) else { return };
        let setup = job.task.finishing::<DeviceF32, S, P>(PixelProfile::Sampled);
        let Some(setup) = setup else { return };
        let start = any_start::<P>(job, warp.number);
        warp.run_from::<RoughFit<_, _, P>>(&setup.by(), job, start);
    }
}
