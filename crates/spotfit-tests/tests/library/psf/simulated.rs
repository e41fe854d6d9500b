//! Point-spread functions, beads and spots whose truth is known.

use fit_sim::Random;
use ndarray::{Array2, Array3};
use spotfit::psf::BeadStack;

/// A spot that is an integrated Gaussian, whose widths follow z as behind a cylindrical lens, and a second one beside it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Truth {
    /// The share of the second one.
    pub(super) lobe: f64,
}

pub(super) const ASTIGMATIC: Truth = Truth { lobe: 0.0 };
pub(super) const COMATIC: Truth = Truth { lobe: 0.25 };

impl Truth {
    /// The share of the photons in a pixel that is this far from the spot.
    pub(super) fn at(&self, [x, y, z]: [f64; 3]) -> f64 {
        let width = |focus: f64| 1.25 * (1.0 + ((z - focus) / 420.0).powi(2)).sqrt();
        let [wide, high] = [width(220.0), width(-220.0)];
        let share = |from: f64, width: f64| {
            let edge = |at: f64| libm::erf(at / (width * std::f64::consts::SQRT_2));
            0.5 * (edge(from + 0.5) - edge(from - 0.5))
        };
        let main = share(x, wide) * share(y, high);
        let beside = share(x - 1.6 - 0.0015 * z, 1.2 * wide) * share(y + 0.9, 0.9 * high);
        (1.0 - self.lobe) * main + self.lobe * beside
    }

    /// The mean photons in the pixels of a window, of a spot at (x, y, z) in px from its first pixel and nm.
    pub(super) fn window(
        &self,
        [x, y, z]: [f64; 3],
        photons: f64,
        background: f64,
        side: usize,
    ) -> Array2<f64> {
        Array2::from_shape_fn((side, side), |(row, column)| {
            background + photons * self.at([column as f64 - x, row as f64 - y, z])
        })
    }
}

/// How stacks of beads are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stacks {
    pub(super) truth: Truth,
    pub(super) beads: usize,
    pub(super) side: usize,
    /// The stage goes from minus this to this, in nm.
    pub(super) reach: f64,
    pub(super) step: f64,
    pub(super) photons: f64,
    pub(super) background: f64,
    /// Beads move in x by up to this, in px per µm.
    pub(super) drift: f64,
    pub(super) seed: u64,
}

impl Stacks {
    pub(super) fn new(truth: Truth) -> Self {
        Self {
            truth,
            beads: 12,
            side: 17,
            reach: 700.0,
            step: 40.0,
            photons: 20_000.0,
            background: 10.0,
            drift: 0.0,
            seed: 1,
        }
    }

    /// The beads, and where each is (px from the middle of the box, nm).
    pub(super) fn make(&self) -> (Vec<BeadStack>, Vec<[f64; 3]>) {
        let half = 0.5 * (self.side - 1) as f64;
        let slices = (2.0 * self.reach / self.step) as usize + 1;
        let heights: Vec<f64> = (0..slices).map(|k| k as f64 * self.step - self.reach).collect();
        let of = |bead: usize| {
            let mut random = Random::new(self.seed, bead as u64);
            let place = [
                random.uniform_in(-0.5, 0.5),
                random.uniform_in(-0.5, 0.5),
                random.uniform_in(-100.0, 100.0),
            ];
            let photons = self.photons * random.uniform_in(0.7, 1.3);
            let drift = self.drift * random.uniform_in(-1.0, 1.0);
            let mut stack = Array3::zeros((slices, self.side, self.side));
            for (slice, &stage) in heights.iter().enumerate() {
                let at =
                    [half + place[0] + 0.001 * drift * stage, half + place[1], stage - place[2]];
                let mean = self.truth.window(at, photons, self.background, self.side);
                let noisy = mean.mapv(|mean| random.poisson(mean) as f32);
                stack.index_axis_mut(ndarray::Axis(0), slice).assign(&noisy);
            }
            (BeadStack { stack, heights: heights.clone() }, place)
        };
        (0..self.beads).map(of).unzip()
    }
}

/// Windows of spots at random places and heights: the windows, and for each x, y (px from the first pixel), z, photons and
/// background.
pub(super) fn spots(
    mean: impl Fn([f64; 3], usize) -> Array2<f64>,
    count: usize,
    side: usize,
    heights: [f64; 2],
    [photons, background]: [f64; 2],
    seed: u64,
) -> (Array3<f32>, Array2<f64>) {
    let half = 0.5 * (side - 1) as f64;
    let (mut windows, mut truth) = (Array3::zeros((count, side, side)), Array2::zeros((count, 5)));
    for spot in 0..count {
        let mut random = Random::new(seed, spot as u64);
        let at = [
            half + random.uniform_in(-0.5, 0.5),
            half + random.uniform_in(-0.5, 0.5),
            random.uniform_in(heights[0], heights[1]),
        ];
        let noisy = mean(at, side)
            .mapv(|share| random.poisson((photons * share + background).max(0.0)) as f32);
        windows.index_axis_mut(ndarray::Axis(0), spot).assign(&noisy);
        let all = [at[0], at[1], at[2], photons, background];
        for (j, value) in all.into_iter().enumerate() {
            truth[[spot, j]] = value;
        }
    }
    (windows, truth)
}
