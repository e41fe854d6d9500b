use fit_core::pass::Group;
use fit_core::pass::RoughFit;
use fit_core::spot::shape::Separable;
use fit_core::{Outline, Pixel};

use super::threads::Threads;
use super::{start, window, write};
use crate::team::{self, Team};
use crate::{Job, PixelKind, Single, device};

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
    fn note(&self, _: usize, _: usize) -> Single {
        Single(0.0)
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
pub(super) unsafe fn fit<S: Separable<P>, const P: usize, const LANES: usize>(job: &Job) {
    let (threads, number) = Threads::<LANES>::new();
    // Whole teams leave together.
    if number >= job.count as usize {
        return;
    }
    let size = job.task.size();
    let lane = threads.lane;
    let room = Job::team_pixels(size.width * size.height, LANES);
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
    let Some(setup) = job.task.setup::<Single, S, P>() else { return };
    let method = RoughFit(setup);
    let start = start.map(Outline::from);
    let found = team::fit(&method, &mut team, start);
    if lane == 0 {
        // SAFETY: the number is below the count, and one lane writes this outcome.
        unsafe { write(job, number, Job::outcome(&found)) }
    }
}
