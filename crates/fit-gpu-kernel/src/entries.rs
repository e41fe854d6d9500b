//! The kernels, for the device only. Which of them a module has is said by `--cfg module="…"`: `side4` to
//! `side11`, or `team`.
//!
//! What a launch must guarantee is in docs/gpu-safety.md.

use fit_core::{Corner, Pixel, Shape};

use crate::team::{self, Team};
use crate::{Job, Single, alone, device};

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

/// # Safety
/// The job is as docs/gpu-safety.md asks.
#[inline(always)]
unsafe fn fit_alone<X: Pixel, const SIDE: usize, const N: usize>(job: &Job) {
    let (thread, block, threads) = device::place();
    let number = block as usize * threads as usize + thread as usize;
    if number >= job.count as usize {
        return;
    }
    // SAFETY: the number is below the count.
    let (first, stride) = unsafe { window::<X>(job, number) };
    let mut pixels = [Single(0.0); N];
    for row in 0..SIDE {
        for column in 0..SIDE {
            // SAFETY: the pixel is in the window.
            let pixel = unsafe { first.add(row * stride + column).read() };
            pixels[row * SIDE + column] = Single(pixel.to_f32());
        }
    }
    // SAFETY: the number is below the count.
    unsafe {
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

/// # Safety
/// The job is as docs/gpu-safety.md asks.
#[inline(always)]
unsafe fn fit_in_team<X: Pixel, const LANES: usize>(job: &Job) {
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
    let (first, stride) = unsafe { window::<X>(job, number) };
    for column_block in 0..size.width.div_ceil(LANES) {
        let column = team.column(column_block);
        if column < size.width {
            for row in 0..size.height {
                // SAFETY: the pixel is in the window, and its place this lane's own.
                unsafe {
                    let pixel = first.add(row * stride + column).read();
                    team.place(column, row).write(pixel.to_f32());
                }
            }
        }
    }
    // SAFETY: the number is below the count.
    let start = unsafe { start(job, number) };
    let outcome = team::fit(&job.setup, &mut team, start);
    if lane == 0 {
        let fit = Job::outcome(outcome);
        // SAFETY: there is room for `count` outcomes, and one lane writes this one.
        unsafe { job.fits.add(number).write(fit) }
    }
}

macro_rules! alone {
    ($module:literal, $side:literal) => {
        #[cfg(module = $module)]
        mod alone_entries {
            use super::*;
            const N: usize = $side * $side;

            /// # Safety
            /// See docs/gpu-safety.md.
            #[unsafe(no_mangle)]
            pub unsafe extern "ptx-kernel" fn alone_f32(job: Job) {
                // SAFETY: the caller's promise.
                unsafe { fit_alone::<f32, $side, N>(&job) }
            }
            /// # Safety
            /// See docs/gpu-safety.md.
            #[unsafe(no_mangle)]
            pub unsafe extern "ptx-kernel" fn alone_u16(job: Job) {
                // SAFETY: the caller's promise.
                unsafe { fit_alone::<u16, $side, N>(&job) }
            }
            /// # Safety
            /// See docs/gpu-safety.md.
            #[unsafe(no_mangle)]
            pub unsafe extern "ptx-kernel" fn alone_u8(job: Job) {
                // SAFETY: the caller's promise.
                unsafe { fit_alone::<u8, $side, N>(&job) }
            }
        }
    };
}
alone!("side4", 4);
alone!("side5", 5);
alone!("side6", 6);
alone!("side7", 7);
alone!("side8", 8);
alone!("side9", 9);
alone!("side10", 10);
alone!("side11", 11);

macro_rules! team {
    ($($name:ident: $pixel:ty, $lanes:literal;)*) => {
        #[cfg(module = "team")]
        mod team_entries {
            use super::*;
            $(
                /// # Safety
                /// See docs/gpu-safety.md.
                #[unsafe(no_mangle)]
                pub unsafe extern "ptx-kernel" fn $name(job: Job) {
                    // SAFETY: the caller's promise.
                    unsafe { fit_in_team::<$pixel, $lanes>(&job) }
                }
            )*
        }
    };
}
team! {
    team8_f32: f32, 8;
    team8_u16: u16, 8;
    team8_u8: u8, 8;
    team16_f32: f32, 16;
    team16_u16: u16, 16;
    team16_u8: u8, 16;
    team32_f32: f32, 32;
    team32_u16: u16, 32;
    team32_u8: u8, 32;
}
