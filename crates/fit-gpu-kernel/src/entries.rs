//! The kernels, for the device only. A module has one, `fit`; which, is said by `--cfg module="…"`:
//! - `side4` to `side32`: as few threads a fit as the pixels have room in: for large batches;
//! - `quick4` to `quick32`: a thread a row: for small ones;
//! - `team8`, `team16`, `team32`: the pixels in shared memory, for windows of any shape and size;
//! - `published`, and `published_large` for blocks of more than 512 threads: a thread a pixel, as the paper
//!   has it.
//!
//! What a launch must guarantee is in docs/gpu-safety.md.

use fit_core::{Corner, Fit, Pixel, Setup, Shape, Size};

use crate::group::Group;
use crate::published::{self, Pixels};
use crate::team::{self, Team};
use crate::{Exact, Job, PixelKind, Single, device, rows};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: it ends the kernel with a fault, which the host reports.
    unsafe { core::arch::nvptx::trap() }
}

/// The first pixel of a window, and the pixels from one row to the next.
///
/// # Safety
/// The job is as docs/gpu-safety.md asks, and `window` is below its count.
#[inline(always)]
unsafe fn window<X>(job: &Job, window: usize) -> (*const X, usize) {
    let size = job.setup.size;
    let pixels = job.pixels.cast::<X>();
    // SAFETY: docs/gpu-safety.md: there are `count` windows or corners, and the corners' windows lie within
    // the frames.
    unsafe {
        if job.corners.is_null() {
            (pixels.add(window * size.pixels()), size.width)
        } else {
            let Corner { frame, x, y } = job.corners.add(window).read();
            let (width, height) = (job.frame_width as usize, job.frame_height as usize);
            let first = (frame as usize * height + y as usize) * width + x as usize;
            (pixels.add(first), width)
        }
    }
}

/// Where a fit starts, if that is given.
///
/// # Safety
/// As for [`window`].
#[inline(always)]
unsafe fn start(job: &Job, window: usize) -> Option<Shape<Single>> {
    if job.starts.is_null() {
        return None;
    }
    // SAFETY: docs/gpu-safety.md: there is a start for each window.
    let [x, y, sigma] = unsafe { job.starts.add(window).read() };
    Some(Shape::new(Single(x), Single(y), Single(sigma)))
}

/// Writes an outcome, and zeros where it has no bytes of its own: what travels has been written.
///
/// # Safety
/// As for [`window`].
#[inline(always)]
unsafe fn write(job: &Job, number: usize, fit: Fit<f32>) {
    const WORDS: usize = size_of::<Fit<f32>>() / 4;
    let Fit { x, y, sigma, amplitude, background, chi2, iterations, evaluations, status } = fit;
    let words: [u32; WORDS] = [
        x.to_bits(),
        y.to_bits(),
        sigma.to_bits(),
        amplitude.to_bits(),
        background.to_bits(),
        chi2.to_bits(),
        iterations,
        evaluations,
        u32::from(status as u8),
    ];
    // SAFETY: there is room for `count` outcomes, of nine words in this order: the status is the lowest
    // byte of the last, on a device and a host whose lowest byte comes first.
    // Volatile, so that a host that watches its memory sees them soon.
    unsafe {
        let to = job.fits.add(number).cast::<u32>();
        for i in 0..WORDS {
            to.add(i).write_volatile(words[i]);
        }
    }
}

/// The threads of a warp that have a fit in common.
struct Threads<const LANES: usize> {
    lane: u32,
    members: u32,
}

impl<const LANES: usize> Threads<LANES> {
    /// This thread's group, and the number of its fit.
    #[inline(always)]
    fn new() -> (Self, usize) {
        let (thread, block, threads) = device::place();
        let lane = thread % LANES as u32;
        let all = if LANES == 32 { u32::MAX } else { (1 << LANES) - 1 };
        let members = all << (thread % 32 - lane);
        let number = (block as usize * threads as usize + thread as usize) / LANES;
        (Self { lane, members }, number)
    }
}

impl<const LANES: usize> Group<Single> for Threads<LANES> {
    const LANES: usize = LANES;

    #[inline(always)]
    fn lane(&self) -> Single {
        if LANES == 1 { Single(0.0) } else { Single(device::anew(self.lane) as f32) }
    }
    #[inline(always)]
    fn first(&self, value: Single) -> Single {
        if LANES == 1 {
            return value;
        }
        Single(device::shuffle(value.0, self.members.trailing_zeros(), self.members))
    }
    #[inline(always)]
    fn exchanged(&self, value: Single, step: usize) -> Single {
        Single(device::shuffle_xor(value.0, step as u32, self.members))
    }
    #[inline(always)]
    fn neighbour(&self, value: Single, step: isize) -> Single {
        if LANES == 1 {
            return value;
        }
        let lane = self.lane.saturating_add_signed(step as i32);
        let lane = if lane < LANES as u32 { lane } else { LANES as u32 - 1 };
        Single(device::shuffle(value.0, self.members.trailing_zeros() + lane, self.members))
    }
}

/// Reads some rows of a window into registers.
///
/// # Safety
/// As for [`window`].
#[inline(always)]
unsafe fn load<X: Pixel, const SIDE: usize, const ROWS: usize, const N: usize>(
    job: &Job,
    number: usize,
    lane: usize,
    pixels: &mut [Single; N],
) {
    // SAFETY: the caller's promise.
    let (first, stride) = unsafe { window::<X>(job, number) };
    for row in 0..ROWS {
        // The last row again where there are no more.
        let from = lane * ROWS + row;
        let from = if from < SIDE { from } else { SIDE - 1 };
        for column in 0..SIDE {
            // SAFETY: the pixel is in the window.
            let pixel = unsafe { first.add(from * stride + column).read() };
            pixels[row * SIDE + column] = Single(pixel.to_f32());
        }
    }
}

/// # Safety
/// The job is as docs/gpu-safety.md asks.
#[inline(always)]
unsafe fn fit_rows<const LANES: usize, const SIDE: usize, const ROWS: usize, const N: usize>(
    job: &Job,
) {
    let (group, number) = Threads::<LANES>::new();
    // Whole groups leave together.
    if number >= job.count as usize {
        return;
    }
    let lane = if LANES == 1 { 0 } else { group.lane as usize };
    let mut pixels = [Single(0.0); N];
    // SAFETY: the number is below the count.
    unsafe {
        match job.kind {
            PixelKind::F32 => load::<f32, SIDE, ROWS, N>(job, number, lane, &mut pixels),
            PixelKind::U16 => load::<u16, SIDE, ROWS, N>(job, number, lane, &mut pixels),
            PixelKind::U8 => load::<u8, SIDE, ROWS, N>(job, number, lane, &mut pixels),
        }
        let start = start(job, number);
        let outcome = rows::fit::<Single, Threads<LANES>, SIDE, ROWS, N>(
            &job.setup,
            &group,
            &mut pixels,
            start,
        );
        if lane == 0 {
            write(job, number, Job::outcome(outcome));
        }
    }
}

/// The threads of a team, and their pixels in shared memory.
struct Warp<const LANES: usize> {
    threads: Threads<LANES>,
    width: usize,
    pixels: *mut f32,
}

impl<const LANES: usize> Warp<LANES> {
    #[inline(always)]
    fn column(&self, block: usize) -> usize {
        block * LANES + self.threads.lane as usize
    }
    /// The place of a pixel, whose column is in the window.
    #[inline(always)]
    fn place(&self, column: usize, row: usize) -> *mut f32 {
        // SAFETY: the column and the row are in the window, for which there is room in shared memory
        // (docs/gpu-safety.md).
        unsafe { self.pixels.add(row * self.width + column) }
    }
}

impl<const LANES: usize> Warp<LANES> {
    /// A pixel; 0 where there is no such column, so that nobody reads what another writes.
    #[inline(always)]
    fn at(&self, column: usize, row: usize) -> Single {
        if column >= self.width {
            return Single(0.0);
        }
        // SAFETY: the place is in the window; those of other lanes are read after the team has been
        // synchronized only.
        Single(unsafe { self.place(column, row).read() })
    }
}

impl<const LANES: usize> Group<Single> for Warp<LANES> {
    const LANES: usize = LANES;

    #[inline(always)]
    fn lane(&self) -> Single {
        self.threads.lane()
    }
    #[inline(always)]
    fn first(&self, value: Single) -> Single {
        self.threads.first(value)
    }
    #[inline(always)]
    fn exchanged(&self, value: Single, step: usize) -> Single {
        self.threads.exchanged(value, step)
    }
    #[inline(always)]
    fn neighbour(&self, value: Single, step: isize) -> Single {
        self.threads.neighbour(value, step)
    }
}

impl<const LANES: usize> Team<Single> for Warp<LANES> {
    #[inline(always)]
    fn pixel(&self, block: usize, row: usize) -> Single {
        self.at(self.column(block), row)
    }
    #[inline(always)]
    fn beside(&self, block: usize, row: usize, step: isize) -> Single {
        // Before the first column is a number beyond the last.
        self.at(self.column(block).wrapping_add_signed(step), row)
    }
    #[inline(always)]
    fn set(&mut self, block: usize, row: usize, mask: bool, value: Single) {
        if mask {
            // SAFETY: the place is in the window, and this lane's own.
            unsafe { self.place(self.column(block), row).write(value.0) }
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
        let size = job.setup.size;
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
                        unsafe { self.place(column, row + i).write(pixels[i]) }
                    }
                }
                row += AT_ONCE;
            }
        }
    }
}

/// # Safety
/// The job is as docs/gpu-safety.md asks.
#[inline(always)]
unsafe fn fit_in_team<const LANES: usize>(job: &Job) {
    let (threads, number) = Threads::<LANES>::new();
    // Whole teams leave together.
    if number >= job.count as usize {
        return;
    }
    let size = job.setup.size;
    let lane = threads.lane;
    let room = Job::team_pixels(size.pixels(), LANES);
    let team_in_block = device::place().0 as usize / LANES;
    // SAFETY: the launch gives the block shared memory for all of its teams (docs/gpu-safety.md).
    let pixels = unsafe { device::shared_memory().add(team_in_block * room) };
    let mut team = Warp::<LANES> { threads, width: size.width, pixels };
    // SAFETY: the number is below the count.
    let start = unsafe { start(job, number) };
    // SAFETY: the number is below the count.
    unsafe {
        match job.kind {
            PixelKind::F32 => team.load::<f32>(job, number),
            PixelKind::U16 => team.load::<u16>(job, number),
            PixelKind::U8 => team.load::<u8>(job, number),
        }
    }
    let outcome = team::fit(&job.setup, &mut team, start);
    if lane == 0 {
        // SAFETY: the number is below the count, and one lane writes this outcome.
        unsafe { write(job, number, Job::outcome(outcome)) }
    }
}

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
        published::threads(self.size.pixels()) as u32
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

impl Group<Exact> for PixelThreads {
    const LANES: usize = 32;

    #[inline(always)]
    fn lane(&self) -> Exact {
        Exact(self.warp().lane().0)
    }
    #[inline(always)]
    fn first(&self, value: Exact) -> Exact {
        Exact(self.warp().first(Single(value.0)).0)
    }
    #[inline(always)]
    fn exchanged(&self, value: Exact, step: usize) -> Exact {
        Exact(self.warp().exchanged(Single(value.0), step).0)
    }
    #[inline(always)]
    fn neighbour(&self, value: Exact, step: isize) -> Exact {
        Exact(self.warp().neighbour(Single(value.0), step).0)
    }
}

impl Pixels<Exact> for PixelThreads {
    #[inline(always)]
    fn pixel(&self) -> Exact {
        Exact(self.pixel)
    }
    #[inline(always)]
    fn place(&self) -> (Exact, Exact, bool) {
        let there = self.thread < self.size.pixels() as u32;
        (Exact(self.column as f32), Exact(self.row as f32), there)
    }
    #[inline(always)]
    fn warps(&self) -> usize {
        self.count() as usize / 32
    }
    #[inline(always)]
    fn gather<const K: usize>(&mut self, mut values: [Exact; K]) -> [Exact; K] {
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
            values[k] = Exact(unsafe { self.shared.add(k * warps + from).read() });
        }
        // Nobody writes the next before all have read these.
        self.wait();
        values
    }
}

/// # Safety
/// The job is as docs/gpu-safety.md asks, and has start values.
#[inline(always)]
unsafe fn fit_as_published(job: &Job) {
    let size = job.setup.size;
    let (thread, block, threads) = device::place();
    let of_fit = published::threads(size.pixels().max(1)) as u32;
    let width = size.width.max(1) as u32;
    let fit = thread / of_fit;
    let number = (block * (threads / of_fit) + fit) as usize;
    // Whole fits leave together.
    if number >= job.count as usize || job.starts.is_null() {
        return;
    }
    let thread = thread % of_fit;
    // The last pixel again in threads that have none.
    let last = size.pixels() as u32 - 1;
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
    // SAFETY: the number is below the count; both are numbers in single precision and nothing else.
    let (start, setup) = unsafe {
        let [x, y, sigma] = job.starts.add(number).read();
        let setup = &*(&raw const job.setup).cast::<Setup<Exact>>();
        (Shape::new(Exact(x), Exact(y), Exact(sigma)), setup)
    };
    let outcome = published::fit(setup, &mut window, start);
    if thread == 0 {
        // SAFETY: the number is below the count, and one thread writes this outcome.
        unsafe { write(job, number, Fit::from_numbers(outcome).cast()) }
    }
}

/// A pixel of a window.
///
/// # Safety
/// As for [`window`]; the column and the row are in the window.
#[inline(always)]
unsafe fn read<X: Pixel>(job: &Job, number: usize, column: usize, row: usize) -> f32 {
    // SAFETY: the caller's promise.
    unsafe {
        let (first, stride) = window::<X>(job, number);
        first.add(row * stride + column).read().to_f32()
    }
}

macro_rules! entry {
    ($($module:literal: $function:expr;)*) => {$(
        #[cfg(module = $module)]
        mod entry {
            use super::*;

            /// # Safety
            /// See docs/gpu-safety.md.
            #[unsafe(no_mangle)]
            unsafe extern "ptx-kernel" fn fit(job: Job) {
                // SAFETY: the caller's promise.
                unsafe { $function(&job) }
            }
        }
    )*};
}
entry! {
    "side4": fit_rows::<1, 4, 4, 16>;
    "side5": fit_rows::<1, 5, 5, 25>;
    "side6": fit_rows::<1, 6, 6, 36>;
    "side7": fit_rows::<1, 7, 7, 49>;
    "side8": fit_rows::<1, 8, 8, 64>;
    "side9": fit_rows::<1, 9, 9, 81>;
    "side10": fit_rows::<1, 10, 10, 100>;
    "side11": fit_rows::<1, 11, 11, 121>;
    "side12": fit_rows::<1, 12, 12, 144>;
    "side13": fit_rows::<2, 13, 7, 91>;
    "side14": fit_rows::<2, 14, 7, 98>;
    "side15": fit_rows::<4, 15, 4, 60>;
    "side16": fit_rows::<2, 16, 8, 128>;
    "side17": fit_rows::<4, 17, 5, 85>;
    "side18": fit_rows::<4, 18, 5, 90>;
    "side19": fit_rows::<4, 19, 5, 95>;
    "side20": fit_rows::<4, 20, 5, 100>;
    "side21": fit_rows::<8, 21, 3, 63>;
    "side22": fit_rows::<8, 22, 3, 66>;
    "side23": fit_rows::<8, 23, 3, 69>;
    "side24": fit_rows::<8, 24, 3, 72>;
    "side25": fit_rows::<8, 25, 4, 100>;
    "side26": fit_rows::<16, 26, 2, 52>;
    "side27": fit_rows::<16, 27, 2, 54>;
    "side28": fit_rows::<16, 28, 2, 56>;
    "side29": fit_rows::<16, 29, 2, 58>;
    "side30": fit_rows::<16, 30, 2, 60>;
    "side31": fit_rows::<16, 31, 2, 62>;
    "side32": fit_rows::<16, 32, 2, 64>;
    "quick4": fit_rows::<8, 4, 1, 4>;
    "quick5": fit_rows::<8, 5, 1, 5>;
    "quick6": fit_rows::<8, 6, 1, 6>;
    "quick7": fit_rows::<8, 7, 1, 7>;
    "quick8": fit_rows::<8, 8, 1, 8>;
    "quick9": fit_rows::<16, 9, 1, 9>;
    "quick10": fit_rows::<16, 10, 1, 10>;
    "quick11": fit_rows::<16, 11, 1, 11>;
    "quick12": fit_rows::<16, 12, 1, 12>;
    "quick13": fit_rows::<16, 13, 1, 13>;
    "quick14": fit_rows::<16, 14, 1, 14>;
    "quick15": fit_rows::<16, 15, 1, 15>;
    "quick16": fit_rows::<16, 16, 1, 16>;
    "quick17": fit_rows::<32, 17, 1, 17>;
    "quick18": fit_rows::<32, 18, 1, 18>;
    "quick19": fit_rows::<32, 19, 1, 19>;
    "quick20": fit_rows::<32, 20, 1, 20>;
    "quick21": fit_rows::<32, 21, 1, 21>;
    "quick22": fit_rows::<32, 22, 1, 22>;
    "quick23": fit_rows::<32, 23, 1, 23>;
    "quick24": fit_rows::<32, 24, 1, 24>;
    "quick25": fit_rows::<32, 25, 1, 25>;
    "quick26": fit_rows::<32, 26, 1, 26>;
    "quick27": fit_rows::<32, 27, 1, 27>;
    "quick28": fit_rows::<32, 28, 1, 28>;
    "quick29": fit_rows::<32, 29, 1, 29>;
    "quick30": fit_rows::<32, 30, 1, 30>;
    "quick31": fit_rows::<32, 31, 1, 31>;
    "quick32": fit_rows::<32, 32, 1, 32>;
    "team8": fit_in_team::<8>;
    "team16": fit_in_team::<16>;
    "team32": fit_in_team::<32>;
    "published": fit_as_published;
    "published_large": fit_as_published;
}
