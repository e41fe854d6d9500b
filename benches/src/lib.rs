//! What the benches share: the spots that are fitted, the check that the answer is right, fitters of others, and
//! the suite that reproduces the papers.

pub mod bus;
pub mod drift_cases;
pub mod library;
pub mod peers;
pub mod suite;

use fit_core::{Circle, Fit, Scalar, Size, Start};
use fit_sim::{GpufitBenchmark, SimulatedSpots, SpotSimulation};
use fit_tests::explicit::ExplicitStart;
use ndarray::Axis;
use rayon::prelude::*;

/// Windows, and start values for them.
pub struct Workload {
    /// The windows and their truth.
    pub spots: SimulatedSpots,
    /// x, y and σ to start from.
    pub starts: Vec<[f32; 3]>,
    /// Amplitude, x, y, σ and background to start from, for fitters that want all of them.
    pub initial: Vec<[f32; 5]>,
}

impl Workload {
    /// `count` windows of `side`×`side` pixels of the paper, 400:40 counts with Poisson noise, and start values
    /// from its estimate.
    ///
    /// # Panics
    /// If the windows are too small to fit.
    pub fn new(side: usize, count: usize) -> Self {
        Self::of_size(Size::new(side, side), count)
    }

    /// [`Workload::new`] for windows of any size.
    ///
    /// # Panics
    /// If the windows are too small to fit.
    pub fn of_size(size: Size, count: usize) -> Self {
        Self::simulated(&SpotSimulation::new(size), count)
    }

    /// `count` windows of a simulation, and start values from the paper's estimate.
    ///
    /// # Panics
    /// If the simulation makes no sense.
    pub fn simulated(simulation: &SpotSimulation, count: usize) -> Self {
        let size = simulation.size;
        let spots = simulation.generate(0..count).expect("a window to fit");
        let estimate = |number| {
            let window = spots.pixels.index_axis(Axis(0), number);
            let pixels: Vec<f32> = window.iter().copied().collect();
            let start = ExplicitStart::estimate(&pixels, size, None);
            let Circle { x, y, sigma } = start.shape;
            [start.amplitude, x, y, sigma, start.background]
        };
        let initial: Vec<[f32; 5]> = (0..count).into_par_iter().map(estimate).collect();
        let starts = initial.iter().map(|&[_, x, y, sigma, _]| [x, y, sigma]).collect();
        Self { spots, starts, initial }
    }

    /// `count` windows of the benchmark published with Gpufit, and its start values.
    ///
    /// # Panics
    /// If the simulation makes no sense.
    pub fn gpufit(simulation: &GpufitBenchmark, count: usize) -> Self {
        let (spots, initial) = simulation.generate(0..count).expect("a window to fit");
        let initial: Vec<[f32; 5]> =
            initial.iter().map(|start| start.map(|value| value as f32)).collect();
        let starts = initial.iter().map(|&[_, x, y, sigma, _]| [x, y, sigma]).collect();
        Self { spots, starts, initial }
    }

    /// The size of the windows.
    pub fn size(&self) -> Size {
        let (_, height, width) = self.spots.pixels.dim();
        Size::new(width, height)
    }

    /// The start values as fitters take them.
    pub fn start(&self) -> Start<'_> {
        Start::F32(&self.starts)
    }

    /// The median error of the centre in units of σ, if it is more than photon noise explains, which for windows
    /// of 5 pixels or less is more than for larger ones. Fewer than 100 fits tell nothing.
    pub fn off<T: Scalar>(&self, fits: &[Fit<T>]) -> Option<String> {
        let mut errors: Vec<f64> = fits
            .iter()
            .zip(&self.spots.truth)
            .map(|(fit, truth)| (fit.x.to_f64() - truth.shape.x).abs() / truth.shape.sigma)
            .collect();
        errors.sort_by(f64::total_cmp);
        let median = errors.get(errors.len() / 2).copied().unwrap_or(0.0);
        let most = if self.size().width < 7 { 0.14 } else { 0.07 };
        // A number that is none is not below it either.
        let right = fits.len() < 100 || median < most;
        (!right).then(|| format!("the median error of the centre is {median} σ"))
    }

    /// Checks that fits are right, by [`Workload::off`].
    ///
    /// # Panics
    /// If they are not: what was measured is worth nothing then.
    pub fn check<T: Scalar>(&self, fits: &[Fit<T>]) {
        if let Some(off) = self.off(fits) {
            panic!("{off}");
        }
    }
}
