//! Staging: the threads of a warp read its windows together into shared memory.

use fit_core::Pixel;

use super::memory::window;
use crate::{Job, PixelKind, Specialization, device};

/// Threads of a warp.
const WARP: u32 = 32;
/// Pixels that a thread reads at the same time.
const AT_ONCE: u32 = 8;
/// Bytes of a number.
const BYTES: u32 = 4;

/// Reads the windows of a warp, each of which has so many threads as `shift` says, a power of two, into shared memory: where the
/// `constants` say, those of all fits of the block one after the other. Threads beside each other read pixels beside each other, where a
/// thread that reads a window of its own touches another line of the cache than all the rest with each pixel.
///
/// # Safety
/// The job is as docs/gpu-safety.md asks, and the block has room for its windows; all threads of the warp come here.
#[inline(always)]
pub(super) unsafe fn read(job: &Job, constants: &Specialization, shift: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        match job.kind {
            PixelKind::F32 => read_any::<f32>(job, constants, shift),
            PixelKind::U16 => read_any::<u16>(job, constants, shift),
            PixelKind::U8 => read_any::<u8>(job, constants, shift),
        }
    }
    device::synchronize(u32::MAX);
}

/// # Safety
/// As for [`read`].
#[inline(always)]
unsafe fn read_any<X: Pixel>(job: &Job, constants: &Specialization, shift: u32) {
    let (thread, block, threads) = device::place();
    let (lane, fits) = (thread % WARP, WARP >> shift);
    let first = (block * threads + thread - lane) >> shift;
    let (width, area) = (constants.width as u32, (constants.width * constants.height) as u32);
    let end = job.count.saturating_sub(first).min(fits) * area;
    let (fit, row) = (constants.fit as u32, constants.row as u32);
    let to = device::shared_address() + ((thread - lane) >> shift) * fit * BYTES;
    let put = |place: u32, pixel: f32| {
        let gaps = place / area * (fit - row * (area / width)) + place / width * (row - width);
        // SAFETY: there is room for the windows, and no other thread writes this pixel.
        unsafe { device::write_shared(to + (place + gaps) * BYTES, pixel) }
    };
    let mut next = lane;
    if job.corners.is_null() {
        let from = job.pixels.cast::<X>().wrapping_add(first as usize * area as usize);
        // SAFETY: the pixel is in one of the windows.
        let pixel = |place: u32| unsafe { from.add(place as usize).read().to_f32() };
        while next + (AT_ONCE - 1) * WARP < end {
            let mut pixels = [0.0; AT_ONCE as usize];
            for i in 0..AT_ONCE {
                pixels[i as usize] = pixel(next + i * WARP);
            }
            for i in 0..AT_ONCE {
                put(next + i * WARP, pixels[i as usize]);
            }
            next += AT_ONCE * WARP;
        }
        while next < end {
            put(next, pixel(next));
            next += WARP;
        }
        return;
    }
    while next < end {
        let mut pixels = [0.0; AT_ONCE as usize];
        for i in 0..AT_ONCE {
            // The last again where there are no more.
            let place = (next + i * WARP).min(end - 1);
            let (row, column) = ((place % area / width) as usize, (place % width) as usize);
            // SAFETY: the number is below the count, and the pixel is in the window.
            unsafe {
                let (from, stride) = window::<X>(job, (first + place / area) as usize);
                pixels[i as usize] = from.add(row * stride + column).read().to_f32();
            }
        }
        for i in 0..AT_ONCE {
            if next + i * WARP < end {
                put(next + i * WARP, pixels[i as usize]);
            }
        }
        next += AT_ONCE * WARP;
    }
}
