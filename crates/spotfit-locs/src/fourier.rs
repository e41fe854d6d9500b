//! Fourier transforms.

use std::sync::Arc;

use rustfft::{Fft, FftPlanner};

/// The forward transform of so many numbers. It is compiled here for all crates, for speed.
pub fn fourier(count: usize) -> Arc<dyn Fft<f64>> {
    FftPlanner::new().plan_fft_forward(count)
}
