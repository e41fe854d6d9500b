use fit_core::pass::{RoughFit, Summable};
use fit_core::{Pixel, PixelProfile};

use super::memory::{any_start, window, write};
use super::threads::Threads;
use crate::{DeviceF32, Job, PixelKind, register_tile};

/// Reads some rows of a window into registers.
///
/// # Safety
/// As for [`window`].
#[inline(always)]
unsafe fn load<X: Pixel, const SIDE: usize, const ROWS: usize, const N: usize>(
    job: &Job,
    number: usize,
    lane: usize,
    pixels: &mut [DeviceF32; N],
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
            pixels[row * SIDE + column] = DeviceF32(pixel.to_f32());
        }
    }
}

/// The threads of a fit and the number of its window, with its pixels; `None` if there is no such window.
///
/// # Safety
/// The job is as docs/gpu-safety.md asks.
#[inline(always)]
unsafe fn begin<const LANES: usize, const SIDE: usize, const ROWS: usize, const N: usize>(
    job: &Job,
) -> Option<(Threads<LANES>, usize, usize, [DeviceF32; N])> {
    let (group, number) = Threads::<LANES>::new();
    let mut pixels = [DeviceF32(0.0); N];
    // Whole groups leave together.
    if number >= job.count as usize {
        return None;
    }
    let lane = if LANES == 1 { 0 } else { group.lane as usize };
    // SAFETY: the number is below the count.
    unsafe {
        match job.kind {
            PixelKind::F32 => load::<f32, SIDE, ROWS, N>(job, number, lane, &mut pixels),
            PixelKind::U16 => load::<u16, SIDE, ROWS, N>(job, number, lane, &mut pixels),
            PixelKind::U8 => load::<u8, SIDE, ROWS, N>(job, number, lane, &mut pixels),
        }
    }
    Some((group, number, lane, pixels))
}

/// # Safety
/// The job is as docs/gpu-safety.md asks.
#[inline(always)]
pub(super) unsafe fn fit<
    S: Summable<P>,
    const P: usize,
    const LANES: usize,
    const SIDE: usize,
    const ROWS: usize,
    const N: usize,
>(
    job: &Job,
) {
    // SAFETY: the caller's promise; the number is below the count.
    unsafe {
        let Some((group, number, lane, mut pixels)) = begin::<LANES, SIDE, ROWS, N>(job) else {
            return;
        };
        let Some(setup) = job.task.setup::<DeviceF32, S, P>(PixelProfile::Sampled) else { return };
        let method = RoughFit(setup);
        let start = any_start::<P>(job, number);
        let found =
            register_tile::fit::<_, _, _, SIDE, ROWS, N>(&method, &group, &mut pixels, start);
        if lane == 0 {
            write(job, number, Job::outcome(&found));
        }
    }
}
