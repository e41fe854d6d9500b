//! Spots that each frame has for itself.

use std::ops::Range;

use super::{MovieSimulation, molecule::Places};
use crate::random::Random;

/// How many spots frames have for themselves. Those of a later frame have greater numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OwnSpots {
    /// A frame, and the number of spots before it.
    come_to: (usize, usize),
}

impl OwnSpots {
    /// The number of spots in the frames that it has come to.
    pub(super) const fn so_far(self) -> usize {
        self.come_to.1
    }

    /// The number of the first spot of each of some frames.
    pub(super) fn first_of(
        &mut self,
        simulation: &MovieSimulation,
        frames: Range<usize>,
    ) -> Vec<usize> {
        if frames.start < self.come_to.0 {
            self.come_to = (0, 0);
        }
        let (mut frame, mut before) = self.come_to;
        let mut firsts = Vec::with_capacity(frames.len());
        while frame < frames.end {
            if frame >= frames.start {
                firsts.push(before);
            }
            before += begin(simulation, frame).1;
            frame += 1;
        }
        self.come_to = (frame, before);
        firsts
    }
}

/// The places and heights of a frame's spots.
pub(super) fn draw(
    simulation: &MovieSimulation,
    frame: usize,
) -> impl Iterator<Item = ([f64; 2], f64)> {
    let places = Places::new(simulation);
    let (mut random, count) = begin(simulation, frame);
    (0..count).map(move |_| places.draw(&mut random))
}

/// The number of a frame's spots, and the stream that tells their places.
fn begin(simulation: &MovieSimulation, frame: usize) -> (Random, usize) {
    // It is none of the streams of noise, of molecules and of their looks.
    let mut random = Random::new(simulation.seed, (4 << 32) + frame as u64);
    let none = frame >= simulation.frames || Places::new(simulation).none();
    let mean = if none { 0.0 } else { simulation.own_spots.unwrap_or(0.0) };
    let count = random.poisson(mean) as usize;
    (random, count)
}
