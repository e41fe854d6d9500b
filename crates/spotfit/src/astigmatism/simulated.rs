//! Simulated stacks of beads.

use fit_sim::Random;

use super::calibrate::Slice;
use super::curve::Astigmatism;
use super::polynomial::{Normal, unscaled};

/// The curve of Huang et al. 2008: σ = 1.3·√(1 + t² + cubic·t³ + quartic·t⁴) px with t = (z ∓ focus)/400 nm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Huang {
    pub(crate) focus: f64,
    pub(crate) cubic: f64,
    pub(crate) quartic: f64,
}

/// Curves of different strength and asymmetry.
pub(crate) const CURVES: [Huang; 5] = [
    Huang { focus: 200.0, cubic: 0.0, quartic: 0.0 },
    Huang { focus: 250.0, cubic: 0.0, quartic: 0.0 },
    Huang { focus: 300.0, cubic: 0.0, quartic: 0.0 },
    Huang { focus: -250.0, cubic: 0.1, quartic: 0.05 },
    Huang { focus: 230.0, cubic: -0.1, quartic: 0.1 },
];

impl Huang {
    pub(crate) fn widths(&self, z: f64) -> [f64; 2] {
        [self.focus, -self.focus].map(|focus| {
            let t = (z - focus) / 400.0;
            1.3 * (1.0 + t * t * (1.0 + t * (self.cubic + t * self.quartic))).sqrt()
        })
    }

    /// Where the widths are equal.
    pub(crate) fn crossing(&self) -> f64 {
        let sign = |z: f64| self.widths(z)[0] > self.widths(z)[1];
        let (mut low, mut high) = (-200.0, 200.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if sign(middle) == sign(low) { low = middle } else { high = middle }
        }
        low
    }

    /// The polynomials nearest to this curve within a range.
    pub(crate) fn polynomials(&self, [low, high]: [f64; 2]) -> Astigmatism {
        let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
        let mut sums = [Normal::default(), Normal::default()];
        for i in 0..=1000 {
            let t = -1.0 + 0.002 * f64::from(i);
            for (sums, width) in sums.iter_mut().zip(self.widths(middle + half * t)) {
                sums.add(t, width, 1.0);
            }
        }
        let [x, y] = sums.map(|sums| unscaled(&sums.solve().unwrap(), middle, half));
        Astigmatism::from_coefficients(x, y, [low, high], 1.0).unwrap()
    }
}

/// Stacks of beads and what is wrong with them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stack {
    pub(crate) curve: Huang,
    pub(crate) beads: u32,
    /// In nm.
    pub(crate) step: f64,
    /// The stage goes from minus this to this, in nm.
    pub(crate) reach: f64,
    /// Standard error over width.
    pub(crate) noise: f64,
    /// The beads' heights are uniform between minus this and this, in nm.
    pub(crate) offsets: f64,
    /// How much the beads' height changes with x, and their x and y with z.
    pub(crate) tilt: f64,
    /// The share of slices with widths off by any factor.
    pub(crate) wrong: f64,
}

impl Stack {
    pub(crate) fn new(curve: Huang) -> Self {
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
    pub(crate) fn slices(&self, seed: u64) -> (Vec<Slice>, Vec<f64>) {
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
