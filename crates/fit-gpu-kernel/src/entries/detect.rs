//! The steps of finding spots: work is shared among warps, blocks or threads.

use crate::detect::{Crew, DetectionJob, DetectionStep};
use crate::device;

/// The threads of a warp.
struct Warp;

impl Crew for Warp {
    #[inline(always)]
    fn thread(&self) -> u32 {
        device::place().0 % 32
    }
    #[inline(always)]
    fn threads(&self) -> u32 {
        32
    }
    #[inline(always)]
    fn wait(&self) {
        device::synchronize(u32::MAX);
    }
    #[inline(always)]
    fn sum(&self, mut number: u32) -> u32 {
        for step in [16, 8, 4, 2, 1] {
            let other = device::shuffle_xor(f32::from_bits(number), step, u32::MAX);
            number += other.to_bits();
        }
        number
    }
    #[inline(always)]
    fn sum_f64(&self, mut number: f64) -> f64 {
        for step in [16, 8, 4, 2, 1] {
            let bits = number.to_bits();
            let exchanged = |half: u64| {
                let half = f32::from_bits(half as u32);
                u64::from(device::shuffle_xor(half, step, u32::MAX).to_bits())
            };
            number += f64::from_bits(exchanged(bits) | exchanged(bits >> 32) << 32);
        }
        number
    }
}

/// The threads of a block.
struct Together(u32, u32);

impl Crew for Together {
    #[inline(always)]
    fn thread(&self) -> u32 {
        self.0
    }
    #[inline(always)]
    fn threads(&self) -> u32 {
        self.1
    }
    #[inline(always)]
    fn wait(&self) {
        device::wait_for(1, self.1);
    }
    #[inline(always)]
    fn sum(&self, number: u32) -> u32 {
        number
    }
    #[inline(always)]
    fn sum_f64(&self, number: f64) -> f64 {
        number
    }
}

/// # Safety
/// The job is as docs/gpu-safety.md asks.
#[inline(always)]
pub(super) unsafe fn find<const STEP: u8>(job: &DetectionJob) {
    let (thread, block, threads) = device::place();
    let step = DetectionStep::ALL[STEP as usize];
    let room = device::shared_memory();
    // SAFETY: the caller's promise; whole crews leave together, and the block has shared memory for each of them.
    unsafe {
        let count_up = |counter| device::count_up(counter);
        match step {
            DetectionStep::Noise | DetectionStep::Textures => {
                let warp = thread / 32;
                let number = block * (threads / 32) + warp;
                let room = room.add(warp as usize * crate::detect::TILE_NUMBERS);
                if number < job.pieces(step) {
                    job.work(step, &Warp, number, room, count_up);
                }
            }
            DetectionStep::Clipped | DetectionStep::Signal => {
                job.work(step, &Together(thread, threads), block, room, count_up);
            }
            DetectionStep::Tops => {
                let number = block * threads + thread;
                if number < job.pieces(step) {
                    job.work(step, &Together(thread, threads), number, room, count_up);
                }
            }
        }
    }
}
