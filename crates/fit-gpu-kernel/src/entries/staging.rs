//! Staging: the threads of a block read its windows together into shared memory.

use super::memory::window;
use crate::{DeviceF32, Job, PixelKind, device};

use fit_core::Pixel;

/// Pixels that a thread reads at the same time.
const AT_ONCE: u32 = 8;

/// Reads the windows of this block, one for each of its threads, into shared memory, one after the other. Threads beside
/// each other read pixels beside each other, where a thread that reads a window of its own touches another line of the
/// cache than all the rest with each pixel.
///
/// # Safety
/// The job is as docs/gpu-safety.md asks, without corners, and its windows have `pixels` pixels; the block has room for
/// them in shared memory, `stride` numbers each; all of its threads come here.
#[inline(always)]
unsafe fn contiguous<X: Pixel>(job: &Job, pixels: u32, stride: u32) {
    let (thread, block, threads) = device::place();
    let first = block * threads;
    let end = job.count.saturating_sub(first).min(threads) * pixels;
    let from = job.pixels.cast::<X>().wrapping_add(first as usize * pixels as usize);
    // Where the windows leave no gaps a pixel has the same place in all of them.
    let to = |place: u32| {
        let gaps = if stride == pixels { 0 } else { place / pixels * (stride - pixels) };
        device::shared_memory().wrapping_add((place + gaps) as usize)
    };
    let mut next = thread;
    while next + (AT_ONCE - 1) * threads < end {
        let mut pixels = [0.0; AT_ONCE as usize];
        for i in 0..AT_ONCE {
            // SAFETY: the pixel is in one of the windows.
            let pixel = unsafe { from.add((next + i * threads) as usize).read() };
            pixels[i as usize] = pixel.to_f32();
        }
        for i in 0..AT_ONCE {
            // SAFETY: there is room for the windows, and no other thread writes this pixel.
            unsafe { to(next + i * threads).write(pixels[i as usize]) }
        }
        next += AT_ONCE * threads;
    }
    while next < end {
        // SAFETY: as above.
        unsafe { to(next).write(from.add(next as usize).read().to_f32()) }
        next += threads;
    }
    device::wait_for(1, threads);
}

/// Reads a window, row after row.
///
/// # Safety
/// The job is as docs/gpu-safety.md asks; `to` has room for the window, and `number` is below the count.
#[inline(always)]
unsafe fn cut<X: Pixel, const SIDE: usize>(job: &Job, number: usize, to: *mut f32) {
    // SAFETY: the caller's promise.
    let (first, stride) = unsafe { window::<X>(job, number) };
    let rows = job.task.size().height;
    for row in 0..rows {
        for column in 0..SIDE {
            // SAFETY: the pixel is in the window.
            unsafe {
                to.add(row * SIDE + column).write(first.add(row * stride + column).read().to_f32());
            }
        }
    }
}

/// The pixels of this thread's window in shared memory, where each thread has `stride` numbers, and the window's number;
/// `None` if there is no such window. Windows are square.
///
/// # Safety
/// The job is as docs/gpu-safety.md asks; all threads of the block come here.
#[inline(always)]
pub(super) unsafe fn read<const SIDE: usize>(
    job: &Job,
    stride: usize,
) -> Option<(*mut DeviceF32, usize)> {
    let (thread, block, threads) = device::place();
    let number = block as usize * threads as usize + thread as usize;
    let own = device::shared_memory().wrapping_add(thread as usize * stride);
    let together = job.corners.is_null() && !job.is_noted();
    let pixels = (SIDE * SIDE) as u32;
    // SAFETY: the caller's promise; a block has a window at least.
    unsafe {
        if together {
            match job.kind {
                PixelKind::F32 => contiguous::<f32>(job, pixels, stride as u32),
                PixelKind::U16 => contiguous::<u16>(job, pixels, stride as u32),
                PixelKind::U8 => contiguous::<u8>(job, pixels, stride as u32),
            }
        }
        if number >= job.count as usize {
            return None;
        }
        if !together {
            match job.kind {
                PixelKind::F32 => cut::<f32, SIDE>(job, number, own),
                PixelKind::U16 => cut::<u16, SIDE>(job, number, own),
                PixelKind::U8 => cut::<u8, SIDE>(job, number, own),
            }
        }
    }
    Some((own.cast(), number))
}
