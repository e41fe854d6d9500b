//! Molecules that blink.

use std::ops::Range;

use super::{Heights, MovieSimulation, SimulatedPsf, Structure};
use crate::random::Random;
use crate::shape::{Outline, SpotShape};

/// A molecule at some time of the movie.
#[derive(Clone, Debug)]
pub(super) struct Molecule {
    /// x and y in pixels.
    pub(super) place: [f64; 2],
    /// The height that its structure has there, as a share of the range of z: −1 to 1.
    pub(super) height: f64,
    random: Random,
    /// When it glows next, or has begun to, and until when, in frames.
    on: f64,
    off: f64,
}

impl MovieSimulation {
    /// The number of the first bead: beads follow after the molecules that blink, and the spots of frames after them.
    pub(super) const fn first_bead(&self) -> usize {
        if self.own_spots.is_some() { 0 } else { self.molecules }
    }

    /// How bright a molecule is beside the mean, by its number.
    pub(super) fn brightness(&self, number: usize) -> f64 {
        let spread = self.signal_spread;
        if spread == 0.0 {
            return 1.0;
        }
        // A stream of its own, too.
        let mut random = Random::new(self.seed, (6 << 32) + number as u64);
        libm::exp(spread * random.normal() - 0.5 * spread * spread)
    }

    /// What a molecule looks like in a frame, or a bead, by its number. Beads are on no
    /// structure, so that they have no height of it.
    pub(super) fn outline(
        &self,
        number: usize,
        of_structure: Option<f64>,
        frame: usize,
    ) -> Outline {
        let z_range = match (&self.psf, &self.shape) {
            (Some(psf), _) => Some(psf.z_range),
            (None, SpotShape::Defocused(defocus)) => Some(defocus.z_range),
            (None, _) => None,
        };
        let structure = match self.heights {
            Heights::Structure => of_structure.zip(z_range).map(|(share, range)| share * range),
            Heights::Random => None,
        };
        let moved = self.stage + self.drift_z * frame as f64;
        let half = self.sigma_spread * self.sigma;
        // A stream of its own: molecules blink alike whatever they look like.
        let mut random = Random::new(self.seed, (2 << 32) + number as u64);
        if let Some(SimulatedPsf { psf, z_range }) = &self.psf {
            let z = structure.unwrap_or_else(|| random.uniform_in(-z_range, *z_range)) + moved;
            return Outline { sigma: [psf.sigma(); 2], z, ..Outline::default() };
        }
        let sigma = self.sigma - half..self.sigma + half;
        self.shape.draw(&sigma, &mut random, |drawn| structure.unwrap_or(drawn) + moved)
    }
}

/// Where molecules may be.
#[derive(Clone, Debug)]
pub(super) struct Places<'a> {
    simulation: &'a MovieSimulation,
    /// The length of all structures.
    total: f64,
}

impl<'a> Places<'a> {
    pub(super) fn new(simulation: &'a MovieSimulation) -> Self {
        let total = simulation.structures.iter().map(Structure::length).sum();
        Self { simulation, total }
    }

    /// Whether there is no place for a molecule.
    pub(super) fn none(&self) -> bool {
        !(self.simulation.uniform || self.total > 0.0)
    }

    /// A place, and the height that its structure has there as a share of the range of z.
    pub(super) fn draw(&self, random: &mut Random) -> ([f64; 2], f64) {
        let MovieSimulation { width, height, uniform, ref structures, .. } = *self.simulation;
        if uniform {
            let mut within = |side: usize| random.uniform() * side as f64 - 0.5;
            return ([within(width), within(height)], 0.0);
        }
        let mut along = random.uniform() * self.total;
        for structure in structures {
            let length = Structure::length(structure);
            if along <= length {
                return (structure.place(along / length), structure.height(along / length));
            }
            along -= length;
        }
        ([0.0; 2], 0.0)
    }
}

fn exponential(random: &mut Random, mean: f64) -> f64 {
    -mean * libm::log(1.0 - random.uniform())
}

impl Molecule {
    /// A molecule before the first frame.
    pub(super) fn new(simulation: &MovieSimulation, number: usize, places: &Places<'_>) -> Self {
        // Streams above 2³² are those of molecules, below of frames.
        let mut random = Random::new(simulation.seed, (1 << 32) + number as u64);
        let (place, height) = places.draw(&mut random);
        // The movie begins while the blinking has been going on.
        let on = exponential(&mut random, simulation.off_time) - simulation.on_time;
        let off = on + exponential(&mut random, simulation.on_time);
        Self { place, height, random, on, off }
    }

    /// Advances to the end of some frames, all of them still ahead, and returns each frame in which the molecule
    /// glows, with its share of the frame's time.
    pub(super) fn glow(
        &mut self,
        simulation: &MovieSimulation,
        frames: Range<usize>,
        mut event: impl FnMut(usize, f64),
    ) {
        let end = frames.end as f64;
        while self.on < end {
            let mut frame = (self.on.max(0.0) as usize).max(frames.start);
            while frame < frames.end && (frame as f64) < self.off {
                event(frame, self.off.min(frame as f64 + 1.0) - self.on.max(frame as f64));
                frame += 1;
            }
            if self.off > end {
                break;
            }
            self.on = self.off + exponential(&mut self.random, simulation.off_time);
            self.off = self.on + exponential(&mut self.random, simulation.on_time);
        }
    }
}
