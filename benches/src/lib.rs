//! What the benches share: the spots that are fitted, the check that the answer is right, fitters of others, and
//! the suite that reproduces the papers.

pub mod bus;
pub mod drift_cases;
pub mod library;
pub mod peers;
pub mod report;
pub mod sets;
pub mod suite;

use fit_core::{Fit, Scalar, Size, Status};
use fit_sim::{GpufitBenchmark, SimulatedSpots, SpotSimulation, Truth};
use fit_tests::explicit::ExplicitStart;
use rayon::prelude::*;
use report::median;

/// What a fitter of amplitude, x, y, σ and background found in so many iterations and evaluations.
fn outcome(
    [amplitude, x, y, sigma, background]: [f64; 5],
    chi2: f64,
    [iterations, evaluations]: [u32; 2],
    status: Status,
) -> Fit<f64> {
    // Such models know σ² only, and a fit may well end at −σ.
    let sigma = sigma.abs();
    let none = Fit::invalid();
    Fit { x, y, sigma, amplitude, background, chi2, iterations, evaluations, status, ..none }
}

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
        Self::simulated(&SpotSimulation::new(Size::new(side, side)), count)
    }

    /// `count` windows of a simulation, and start values from the paper's estimate.
    ///
    /// # Panics
    /// If the simulation makes no sense.
    pub fn simulated(simulation: &SpotSimulation, count: usize) -> Self {
        let spots = simulation.generate(0..count).expect("a window to fit");
        let mut work = Self { spots, starts: Vec::new(), initial: Vec::new() };
        work.estimate();
        work
    }

    /// Begins with the paper's estimate.
    pub fn estimate(&mut self) {
        let size = self.size();
        let estimate = |window: &[f32]| {
            let ExplicitStart { shape, amplitude, background } =
                ExplicitStart::estimate(window, size, None);
            [amplitude, shape.x, shape.y, shape.sigma, background]
        };
        let windows = self.pixels().par_chunks_exact(size.pixels());
        self.begin(windows.map(estimate).collect());
    }

    fn begin(&mut self, initial: Vec<[f32; 5]>) {
        self.starts = initial.iter().map(|&[_, x, y, sigma, _]| [x, y, sigma]).collect();
        self.initial = initial;
    }

    /// `count` windows of the benchmark published with Gpufit, and its start values.
    ///
    /// # Panics
    /// If the simulation makes no sense.
    pub fn gpufit(simulation: &GpufitBenchmark, count: usize) -> Self {
        let (spots, initial) = simulation.generate(0..count).expect("a window to fit");
        let mut work = Self { spots, starts: Vec::new(), initial: Vec::new() };
        work.begin(initial.iter().map(|start| start.map(|value| value as f32)).collect());
        work
    }

    /// The pixels of all windows.
    ///
    /// # Panics
    /// If they are not in standard layout, as simulations are.
    pub fn pixels(&self) -> &[f32] {
        self.spots.pixels.as_slice().expect("standard layout")
    }

    /// The pixels of so many windows, which begin anew where there are no more, as another type.
    pub fn repeated<P>(&self, count: usize, of: impl Fn(f32) -> P) -> impl Iterator<Item = P> {
        self.pixels().iter().cycle().take(count * self.size().pixels()).map(move |&p| of(p))
    }

    /// As many start values.
    pub fn repeated_starts(&self, count: usize) -> impl Iterator<Item = [f32; 3]> {
        self.starts.iter().copied().cycle().take(count)
    }

    /// The size of the windows.
    pub fn size(&self) -> Size {
        let (_, height, width) = self.spots.pixels.dim();
        Size::new(width, height)
    }

    /// The median error of the centre in units of σ, if it is more than photon noise explains, which for windows
    /// of 5 pixels or less is more than for larger ones. Fewer than 100 fits tell nothing.
    pub fn off<T: Scalar>(&self, fits: &[Fit<T>]) -> Option<String> {
        let error = |fit: &Fit<T>, truth: &Truth| {
            (fit.x.to_f64() - truth.shape.x).abs() / truth.shape.sigma
        };
        let pairs = fits.iter().zip(&self.spots.truth);
        let median = median(&pairs.map(|(fit, truth)| error(fit, truth)).collect::<Vec<_>>());
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
