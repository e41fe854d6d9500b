//! What the benches share: the spots that are fitted, and the check that the answer is right.

pub mod library;
pub mod peers;

use fit_core::{Fit, Scalar, Size, Start};
use fit_cpu::explicit::ExplicitStart;
use fit_sim::{SpotSimulation, Spots};

/// The paper's windows, 400:40 counts with Poisson noise, and start values from its estimate.
pub struct Workload {
    /// The windows and their truth.
    pub spots: Spots,
    /// x, y and σ to start from.
    pub starts: Vec<[f32; 3]>,
}

impl Workload {
    /// `count` windows of `side`×`side` pixels.
    ///
    /// # Panics
    /// If the windows are too small to fit.
    pub fn new(side: usize, count: usize) -> Self {
        Self::of_size(Size::new(side, side), count)
    }

    /// `count` windows of any size.
    ///
    /// # Panics
    /// If the windows are too small to fit.
    pub fn of_size(size: Size, count: usize) -> Self {
        let spots = SpotSimulation::new(size).generate(0..count).expect("a window to fit");
        let starts = spots
            .pixels
            .outer_iter()
            .map(|window| {
                let pixels: Vec<f32> = window.iter().copied().collect();
                let shape = ExplicitStart::estimate(&pixels, size, None).shape;
                [shape.x, shape.y, shape.sigma]
            })
            .collect();
        Self { spots, starts }
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

    /// Checks that fits are right: the median error of the centre is what photon noise allows, which for
    /// windows of 5 pixels or less is more than for larger ones.
    ///
    /// # Panics
    /// If it is not: what was measured is worth nothing then.
    pub fn check<T: Scalar>(&self, fits: &[Fit<T>]) {
        let mut errors: Vec<f64> = fits
            .iter()
            .zip(&self.spots.truth)
            .map(|(fit, truth)| (fit.x.to_f64() - truth.shape.x).abs() / truth.shape.sigma)
            .collect();
        errors.sort_by(f64::total_cmp);
        let median = errors[errors.len() / 2];
        assert!(
            fits.len() < 100 || median < if self.size().width < 7 { 0.14 } else { 0.07 },
            "median error {median} σ"
        );
    }
}
