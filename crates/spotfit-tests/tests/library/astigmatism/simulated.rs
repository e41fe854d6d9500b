//! Simulated stacks of beads.

use fit_sim::Random;
use spotfit::astigmatism::calibrate::Slice;

pub(super) use super::huang::{CURVES, Huang};

impl Huang {
    /// Where the widths are equal.
    pub(super) fn crossing(&self) -> f64 {
        let sign = |z: f64| self.widths(z)[0] > self.widths(z)[1];
        let (mut low, mut high) = (-200.0, 200.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if sign(middle) == sign(low) { low = middle } else { high = middle }
        }
        low
    }
}

/// Stacks of beads and what is wrong with them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stack {
    pub(super) curve: Huang,
    pub(super) beads: u32,
    /// In nm.
    pub(super) step: f64,
    /// The stage goes from minus this to this, in nm.
    pub(super) reach: f64,
    /// Standard error over width.
    pub(super) noise: f64,
    /// The beads' heights are uniform between minus this and this, in nm.
    pub(super) offsets: f64,
    /// How much the beads' height changes with x, and their x and y with z.
    pub(super) tilt: f64,
    /// The share of slices with widths off by any factor.
    pub(super) wrong: f64,
}

impl Stack {
    pub(super) fn new(curve: Huang) -> Self {
        Self {
            curve,
            beads: 15,
            step: 20.0,
            reach: 700.0,
            noise: 0.01,
            offsets: 0.0,
            tilt: 0.0,
            wrong: 0.0,
        }
    }

    /// The slices, and where the stage is when each bead is where its widths cross.
    pub(super) fn slices(&self, seed: u64) -> (Vec<Slice>, Vec<f64>) {
        let mut slices = vec![];
        let mut offsets = vec![];
        for bead in 0..self.beads {
            let mut random = Random::new(seed, u64::from(bead));
            let (x, y) = (random.uniform_in(0.0, 200.0), random.uniform_in(0.0, 200.0));
            let height =
                random.uniform_in(-self.offsets, self.offsets) + self.tilt * 100.0 * (x - 100.0);
            offsets.push(height + self.curve.crossing());
            let mut z = -self.reach;
            while z <= self.reach {
                let mut sigma = self.curve.widths(z - height);
                if random.uniform() < self.wrong {
                    sigma = sigma.map(|sigma| sigma * random.uniform_in(0.3, 3.0));
                }
                let errors = sigma.map(|sigma| sigma * self.noise);
                let [sigma_x, sigma_y] =
                    [0, 1].map(|axis| sigma[axis] + errors[axis] * random.normal());
                let moved = self.tilt * z / 100.0;
                slices.push(Slice {
                    bead,
                    z,
                    x: x + moved + 0.005 * random.normal(),
                    y: y - 2.0 * moved + 0.005 * random.normal(),
                    sigma_x,
                    sigma_y,
                    error_x: errors[0],
                    error_y: errors[1],
                });
                z += self.step;
            }
        }
        (slices, offsets)
    }
}
