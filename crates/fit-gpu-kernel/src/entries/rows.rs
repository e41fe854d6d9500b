use fit_core::pass::RoughFit;
use fit_core::spot::shape::Separable;
use fit_core::{Outline, Pixel, PixelProfile};

use super::threads::Threads;
use super::{start, window, write};
use crate::{Job, PixelKind, Single, rows};

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
pub(super) unsafe fn fit<
    S: Separable<P>,
    const P: usize,
    const LANES: usize,
    const SIDE: usize,
    const ROWS: usize,
    const N: usize,
>(
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
        let Some(setup) = job.task.setup::<Single, S, P>(PixelProfile::Sampled) else { return };
        let method = RoughFit(setup);
        let start = start(job, number).map(Outline::from);
        let found = rows::fit::<_, _, _, SIDE, ROWS, N>(&method, &group, &mut pixels, start);
        if lane == 0 {
            write(job, number, Job::outcome(&found));
        }
    }
}
