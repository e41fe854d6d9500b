//! Sums over rings, and the resolution from them.

use rustfft::num_complex::Complex;

use super::{Frc, FrcError, tile::window};

/// Sums over the frequencies of a ring.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ring {
    product: f64,
    squares: (f64, f64),
    count: f64,
}

impl Ring {
    /// Adds the transforms of both halves at a frequency.
    pub(super) fn add(&mut self, first: Complex<f64>, second: Complex<f64>) {
        self.product += first.re * second.re + first.im * second.im;
        self.squares.0 += first.norm_sqr();
        self.squares.1 += second.norm_sqr();
        self.count += 1.0;
    }

    /// The correlation; 0 where one of the halves is empty.
    fn correlation(&self) -> f64 {
        let power = (self.squares.0 * self.squares.1).sqrt();
        if power > 0.0 { self.product / power } else { 0.0 }
    }
}

/// The rings from frequency 0 to that of two pixels.
pub(super) struct Rings {
    side: usize,
    /// The width of a ring.
    step: f64,
    rings: Vec<Ring>,
}

/// The correlation at which the resolution is read.
const THRESHOLD: f64 = 1.0 / 7.0;

impl Rings {
    pub(super) fn new(side: usize, pixel: f64) -> Self {
        let rings = vec![Ring::default(); side / 2 + 1];
        Self { side, step: 1.0 / (side as f64 * pixel), rings }
    }

    pub(super) fn len(&self) -> usize {
        self.rings.len()
    }

    pub(super) fn add(&mut self, others: &[Ring]) {
        for (ring, other) in self.rings.iter_mut().zip(others) {
            ring.product += other.product;
            ring.squares.0 += other.squares.0;
            ring.squares.1 += other.squares.1;
            ring.count += other.count;
        }
    }

    /// Reads the resolution; what is given describes the images.
    pub(super) fn resolution(
        &self,
        pixel: f64,
        tiles: usize,
        localizations: usize,
    ) -> Result<Frc, FrcError> {
        // Ring 0 is the number of localizations.
        let rings = &self.rings[1..];
        let correlation: Vec<f64> = rings.iter().map(Ring::correlation).collect();
        let counts: Vec<f64> = rings.iter().map(|ring| ring.count).collect();
        let weights: Vec<_> = (0..rings.len()).map(|ring| weights(&counts, ring)).collect();
        let smooth = |(first, weights): &(usize, Vec<f64>)| -> f64 {
            weights.iter().zip(&correlation[*first..]).map(|(weight, value)| weight * value).sum()
        };
        let smoothed: Vec<f64> = weights.iter().map(smooth).collect();
        let frequencies: Vec<f64> = (1..=rings.len()).map(|ring| ring as f64 * self.step).collect();
        if smoothed[0] <= THRESHOLD {
            return Err(FrcError::NotCorrelated { correlation: smoothed[0] });
        }
        let Some(below) = smoothed.iter().position(|&value| value <= THRESHOLD) else {
            return Err(FrcError::NoCrossing { frequency: frequencies[rings.len() - 1] });
        };
        let (high, low) = (smoothed[below - 1], smoothed[below]);
        let frequency = frequencies[below - 1] + self.step * (high - THRESHOLD) / (high - low);
        // The variance of the correlation in a ring of n frequencies, counted on both sides of the origin, is taken as
        // (1 + 2c − c²)(1 − c)²/n. The window makes neighbours depend on each other.
        let independent = self.independent();
        let (first, weights) = &weights[below];
        let variance = |(ring, weight): (usize, &f64)| {
            let (c, n) = (smoothed[first + ring], counts[first + ring] * independent);
            weight * weight * (1.0 + 2.0 * c - c * c) * (1.0 - c) * (1.0 - c) / n
        };
        let variance: f64 = weights.iter().enumerate().map(variance).sum();
        // The slope over the width of the smoothing: between two rings it may be anything.
        let reach = reach(below);
        let (before, after) = (below.saturating_sub(reach), (below + reach).min(rings.len() - 1));
        let slope =
            (smoothed[before] - smoothed[after]) / (frequencies[after] - frequencies[before]);
        let slope = if slope > 0.0 { slope } else { (high - low) / self.step };
        Ok(Frc {
            resolution: 1.0 / frequency,
            standard_error: variance.sqrt() / slope / (frequency * frequency),
            frequencies,
            correlation,
            smoothed,
            pixel,
            side: self.side,
            tiles,
            localizations,
        })
    }

    /// The share of the frequencies that are independent under the window: (Σw²)²/(NΣw⁴) in both directions.
    fn independent(&self) -> f64 {
        let side = self.side as f64;
        let power = |exponent: i32| -> f64 {
            (0..self.side).map(|i| window((i as f64 + 0.5) / side).powi(exponent)).sum()
        };
        (power(2).powi(2) / (side * power(4))).powi(2)
    }
}

/// How many rings on each side a smoothed value depends on: a share of the frequency, so that the size of the pixels does
/// not matter.
fn reach(ring: usize) -> usize {
    (ring / 10).max(3)
}

/// With which weights the values of the rings from the first one on make the smoothed value of a ring: that at this
/// ring of the line through the values within reach, fitted with tricube weights times the rings' numbers of
/// frequencies (Cleveland 1979).
fn weights(counts: &[f64], ring: usize) -> (usize, Vec<f64>) {
    let reach = reach(ring);
    let first = ring.saturating_sub(reach);
    let last = (ring + reach).min(counts.len() - 1);
    let offset = |other: usize| other as f64 - ring as f64;
    let tricube = |other: usize| {
        let u = (offset(other) / (reach + 1) as f64).abs();
        counts[other] * (1.0 - u * u * u).powi(3)
    };
    let moment = |power: i32| -> f64 {
        (first..=last).map(|other| tricube(other) * offset(other).powi(power)).sum()
    };
    let (s0, s1, s2) = (moment(0), moment(1), moment(2));
    let determinant = s0 * s2 - s1 * s1;
    let weight = |other: usize| tricube(other) * (s2 - s1 * offset(other)) / determinant;
    (first, (first..=last).map(weight).collect())
}
