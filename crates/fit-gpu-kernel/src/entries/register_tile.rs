use fit_core::pass::{ExactFit, Method, OneLane, RawFit, RoughFit, Store, Summable};
use fit_core::{Pixel, PixelProfile};

use super::memory::{any_start, window, write};
use super::persistent::WarpWindows;
use super::threads::Threads;
use crate::persistent::{PersistentThreads, fit_persistently};
use crate::square_tile::{self, SquareTile, is_exact, is_in_turn};
use crate::{DeviceF32, Job, PixelKind};

/// Threads that are free when windows are taken: all others wait while these prepare theirs.
const ENOUGH: u32 = 16;

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

/// Reads some rows of a window, whatever the type of its pixels.
///
/// # Safety
/// As for [`window`].
#[inline(always)]
unsafe fn load_any<const SIDE: usize, const ROWS: usize, const N: usize>(
    job: &Job,
    number: usize,
    lane: usize,
    pixels: &mut [DeviceF32; N],
) {
    // SAFETY: the caller's promise.
    unsafe {
        match job.kind {
            PixelKind::F32 => load::<f32, SIDE, ROWS, N>(job, number, lane, pixels),
            PixelKind::U16 => load::<u16, SIDE, ROWS, N>(job, number, lane, pixels),
            PixelKind::U8 => load::<u8, SIDE, ROWS, N>(job, number, lane, pixels),
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
    unsafe { load_any::<SIDE, ROWS, N>(job, number, lane, &mut pixels) };
    Some((group, number, lane, pixels))
}

/// The windows of a warp, each prepared when it is taken.
struct RegisterWindows<'a, const P: usize, const SIDE: usize, const N: usize> {
    job: &'a Job,
    windows: WarpWindows,
}

impl<T: Store<DeviceF32>, M: Method<DeviceF32>, const P: usize, const SIDE: usize, const N: usize>
    PersistentThreads<DeviceF32, T, M> for RegisterWindows<'_, P, SIDE, N>
{
    #[inline(always)]
    fn is_time(&self, free: bool) -> bool {
        self.windows.is_time(free, ENOUGH)
    }
    #[inline(always)]
    fn next(&mut self, free: bool) {
        self.windows.next(free);
    }
    #[inline(always)]
    fn has(&self) -> bool {
        self.windows.own.is_some()
    }
    #[inline(always)]
    fn is_over(&self) -> bool {
        self.windows.is_over()
    }
    #[inline(always)]
    fn begin(&mut self, method: &M, tile: &mut T) -> (M::Seed, bool) {
        let number = self.windows.own.unwrap_or(0) as usize;
        let mut pixels = [DeviceF32(0.0); N];
        // SAFETY: the number is below the count.
        let start = unsafe {
            load_any::<SIDE, SIDE, N>(self.job, number, 0, &mut pixels);
            any_start::<P>(self.job, number)
        };
        for row in 0..SIDE {
            for column in 0..SIDE {
                tile.set(row, column, true, pixels[row * SIDE + column]);
            }
        }
        method.prepare(tile, start)
    }
    #[inline(always)]
    fn end(&mut self, found: RawFit<DeviceF32>) {
        if let Some(number) = self.windows.own {
            // SAFETY: the number is below the count, and this thread alone writes its outcome.
            unsafe { write(self.job, number as usize, Job::outcome(&found)) }
        }
    }
}

/// # Safety
/// The job is as docs/gpu-safety.md asks.
#[inline(always)]
unsafe fn fit_by<
    M: Method<DeviceF32>,
    const P: usize,
    const LANES: usize,
    const SIDE: usize,
    const ROWS: usize,
    const N: usize,
>(
    job: &Job,
    method: &M,
) {
    if is_in_turn(P, LANES, SIDE) {
        let Some(windows) = WarpWindows::new(job) else { return };
        let mut pixels = [DeviceF32(0.0); N];
        let mut tile = SquareTile::<_, _, _, SIDE>::new(&OneLane, &mut pixels, &[]);
        let mut turns = RegisterWindows::<P, SIDE, N> { job, windows };
        fit_persistently(method, &mut tile, &mut turns);
        return;
    }
    // SAFETY: the caller's promise; the number is below the count.
    unsafe {
        let Some((group, number, lane, mut pixels)) = begin::<LANES, SIDE, ROWS, N>(job) else {
            return;
        };
        let start = any_start::<P>(job, number);
        let found = square_tile::fit::<_, _, _, _, SIDE>(method, &group, &mut pixels, &[], start);
        if lane == 0 {
            write(job, number, Job::outcome(&found));
        }
    }
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
    // SAFETY: the caller's promise.
    unsafe {
        if is_exact(P, LANES, SIDE) {
            let setup = job.task.exact::<DeviceF32, S, P>(PixelProfile::Sampled);
            let Some(setup) = setup else { return };
            fit_by::<ExactFit<_, _, P>, P, LANES, SIDE, ROWS, N>(job, &setup.by());
        } else {
            let setup = job.task.finishing::<DeviceF32, S, P>(PixelProfile::Sampled);
            let Some(setup) = setup else { return };
            fit_by::<RoughFit<_, _, P>, P, LANES, SIDE, ROWS, N>(job, &setup.by());
        }
    }
}
