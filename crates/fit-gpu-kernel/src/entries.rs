//! The kernels, for the device only. A module has one, `fit`; which, is said by `--cfg module="…"`: `side4` to
//! `side32` (one thread a fit), `team8`, `team16` or `team32` (as many threads a fit).
//!
//! What a launch must guarantee is in docs/gpu-safety.md.

use fit_core::{Corner, Pixel, Shape};

use crate::team::{self, Team};
use crate::{Job, PixelKind, Single, alone, device};

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

/// Reads the pixels of a window into registers.
///
/// # Safety
/// As for [`window`].
#[inline(always)]
unsafe fn load<X: Pixel, const SIDE: usize, const N: usize>(
    job: &Job,
    number: usize,
    pixels: &mut [Single; N],
) {
    // SAFETY: the caller's promise.
    let (first, stride) = unsafe { window::<X>(job, number) };
    for row in 0..SIDE {
        for column in 0..SIDE {
            // SAFETY: the pixel is in the window.
            let pixel = unsafe { first.add(row * stride + column).read() };
            pixels[row * SIDE + column] = Single(pixel.to_f32());
        }
    }
}

/// # Safety
/// The job is as docs/gpu-safety.md asks.
#[inline(always)]
unsafe fn fit_alone<const SIDE: usize, const N: usize>(job: &Job) {
    let (thread, block, threads) = device::place();
    let number = block as usize * threads as usize + thread as usize;
    if number >= job.count as usize {
        return;
    }
    let mut pixels = [Single(0.0); N];
    // SAFETY: the number is below the count.
    unsafe {
        match job.kind {
            PixelKind::F32 => load::<f32, SIDE, N>(job, number, &mut pixels),
            PixelKind::U16 => load::<u16, SIDE, N>(job, number, &mut pixels),
            PixelKind::U8 => load::<u8, SIDE, N>(job, number, &mut pixels),
        }
        let fit = alone::fit::<SIDE, N>(&job.setup, &mut pixels, start(job, number));
        job.fits.add(number).write(fit);
    }
}

/// The team that this thread belongs to, one of those of its warp. The pixels lie in shared memory.
struct Warp<const LANES: usize> {
    lane: u32,
    members: u32,
    width: usize,
    pixels: *mut f32,
}

impl<const LANES: usize> Warp<LANES> {
    #[inline(always)]
    fn column(&self, block: usize) -> usize {
        block * LANES + self.lane as usize
    }
    /// The place of a pixel; the window's last column where there is no such column.
    #[inline(always)]
    fn place(&self, column: usize, row: usize) -> *mut f32 {
        let column = if column < self.width { column } else { self.width - 1 };
        // SAFETY: the column and the row are in the window, for which there is room in shared memory
        // (docs/gpu-safety.md).
        unsafe { self.pixels.add(row * self.width + column) }
    }
}

impl<const LANES: usize> Team<Single> for Warp<LANES> {
    const LANES: usize = LANES;

    #[inline(always)]
    fn lane(&self) -> Single {
        Single(self.lane as f32)
    }
    #[inline(always)]
    fn pixel(&self, block: usize, row: usize) -> Single {
        // SAFETY: the place is in the window.
        Single(unsafe { self.place(self.column(block), row).read() })
    }
    #[inline(always)]
    fn beside(&self, block: usize, row: usize, step: isize) -> Single {
        let column = self.column(block).saturating_add_signed(step);
        // SAFETY: the place is in the window; the team has been synchronized since it was written.
        Single(unsafe { self.place(column, row).read() })
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
        device::synchronize(self.members);
    }
    #[inline(always)]
    fn first(&self, value: Single) -> Single {
        Single(device::shuffle(value.0, self.members.trailing_zeros(), self.members))
    }
    #[inline(always)]
    fn exchanged(&self, value: Single, step: usize) -> Single {
        Single(device::shuffle_xor(value.0, step as u32, self.members))
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
    let (thread, block, threads) = device::place();
    let (team_in_block, lane) = (thread as usize / LANES, thread % LANES as u32);
    let number = block as usize * (threads as usize / LANES) + team_in_block;
    // Whole teams leave together.
    if number >= job.count as usize {
        return;
    }
    let size = job.setup.size;
    let all = if LANES == 32 { u32::MAX } else { (1 << LANES) - 1 };
    let members = all << (thread % 32 - lane);
    let room = Job::team_pixels(size.pixels(), LANES);
    // SAFETY: the launch gives the block shared memory for all of its teams (docs/gpu-safety.md).
    let pixels = unsafe { device::shared_memory().add(team_in_block * room) };
    let mut team = Warp::<LANES> { lane, members, width: size.width, pixels };
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
        let fit = Job::outcome(outcome);
        // SAFETY: there is room for `count` outcomes, and one lane writes this one.
        unsafe { job.fits.add(number).write(fit) }
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
    "side4": fit_alone::<4, 16>;
    "side5": fit_alone::<5, 25>;
    "side6": fit_alone::<6, 36>;
    "side7": fit_alone::<7, 49>;
    "side8": fit_alone::<8, 64>;
    "side9": fit_alone::<9, 81>;
    "side10": fit_alone::<10, 100>;
    "side11": fit_alone::<11, 121>;
    "side12": fit_alone::<12, 144>;
    "side13": fit_alone::<13, 169>;
    "side14": fit_alone::<14, 196>;
    "side15": fit_alone::<15, 225>;
    "side16": fit_alone::<16, 256>;
    "side17": fit_alone::<17, 289>;
    "side18": fit_alone::<18, 324>;
    "side19": fit_alone::<19, 361>;
    "side20": fit_alone::<20, 400>;
    "side21": fit_alone::<21, 441>;
    "side22": fit_alone::<22, 484>;
    "side23": fit_alone::<23, 529>;
    "side24": fit_alone::<24, 576>;
    "side25": fit_alone::<25, 625>;
    "side26": fit_alone::<26, 676>;
    "side27": fit_alone::<27, 729>;
    "side28": fit_alone::<28, 784>;
    "side29": fit_alone::<29, 841>;
    "side30": fit_alone::<30, 900>;
    "side31": fit_alone::<31, 961>;
    "side32": fit_alone::<32, 1024>;
    "team8": fit_in_team::<8>;
    "team16": fit_in_team::<16>;
    "team32": fit_in_team::<32>;
}
