//! The steps of the search, and how their work is shared.

use super::job::{Crew, DetectionJob, TILE_NUMBERS};
use super::{lines, tiles, tops};

/// What is done with frames, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetectionStep {
    /// The noise of each tile: a warp for each.
    Noise,
    /// Pixels that are cut above their mean, and lines that are smoothed along themselves: a block for `SEGMENT`×`LINES` pixels.
    Clipped,
    /// The filtered frame: a block for as many.
    Signal,
    /// The noise of each filtered tile: a warp for each.
    Textures,
    /// The places of maxima: a thread for each pixel.
    Tops,
}

impl DetectionJob {
    /// Does a piece of a step's work, the number of which is below [`DetectionJob::pieces`].
    ///
    /// # Safety
    /// The job is as docs/gpu-safety.md asks, the threads have `room` for as many numbers as the step takes, and all of them are here.
    /// `count_up` adds one to a number and returns what it was.
    #[inline(always)]
    pub unsafe fn work(
        &self,
        step: DetectionStep,
        crew: &impl Crew,
        number: u32,
        room: *mut f32,
        count_up: impl Fn(*mut u32) -> u32,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            match step {
                DetectionStep::Noise => tiles::noise(self, crew, number, room.cast()),
                DetectionStep::Clipped => lines::clipped(self, crew, number, room),
                DetectionStep::Signal => lines::signal(self, crew, number, room),
                DetectionStep::Textures => tiles::texture(self, crew, number, room.cast()),
                DetectionStep::Tops => tops::look(self, number, count_up),
            }
        }
    }

    /// The pieces of a step's work.
    #[inline(always)]
    pub fn pieces(&self, step: DetectionStep) -> u32 {
        let of_frame = match step {
            DetectionStep::Noise | DetectionStep::Textures => self.tiles(),
            DetectionStep::Clipped | DetectionStep::Signal => self.segments(),
            DetectionStep::Tops => [self.width, self.height],
        };
        self.count * of_frame[0] * of_frame[1]
    }
}

/// The only thread of a piece of work.
#[cfg(not(target_arch = "nvptx64"))]
struct Alone;

#[cfg(not(target_arch = "nvptx64"))]
impl Crew for Alone {
    fn thread(&self) -> u32 {
        0
    }
    fn threads(&self) -> u32 {
        1
    }
    fn wait(&self) {}
    fn sum(&self, number: u32) -> u32 {
        number
    }
    fn sum_f64(&self, number: f64) -> f64 {
        number
    }
}

impl DetectionStep {
    /// All, in their order.
    pub const ALL: [Self; 5] =
        [Self::Noise, Self::Clipped, Self::Signal, Self::Textures, Self::Tops];

    /// The numbers of shared memory that a piece of the work takes, with means of such a radius.
    pub const fn numbers(self, radius: u32) -> usize {
        match self {
            Self::Noise | Self::Textures => TILE_NUMBERS,
            Self::Clipped | Self::Signal => DetectionJob::mean_numbers(radius),
            Self::Tops => 0,
        }
    }

    /// Does all of it on the host, with `room` for as many numbers as it takes.
    ///
    /// # Safety
    /// The job is as docs/gpu-safety.md asks, with pointers of the host.
    #[cfg(not(target_arch = "nvptx64"))]
    pub unsafe fn on_host(self, job: &DetectionJob, room: &mut [f32]) {
        assert!(room.len() >= self.numbers(job.radius), "the room is too small");
        let count_up = |counter: *mut u32| {
            // SAFETY: the caller's promise; there is no other thread.
            unsafe {
                let before = counter.read();
                counter.write(before + 1);
                before
            }
        };
        for number in 0..job.pieces(self) {
            // SAFETY: the caller's promise.
            unsafe { job.work(self, &Alone, number, room.as_mut_ptr(), count_up) }
        }
    }
}
