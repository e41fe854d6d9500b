//! From a rate of false spots to a threshold.
//!
//! In a filtered frame of pure noise, the pixels that are higher than their neighbours are the false spots. If the
//! pixels of the filtered frame were normally distributed, the number of false spots would follow from the correlation
//! ρ of neighbours ([`maxima`]). But the distribution of dim light is skewed, and its filtered frame exceeds a high
//! threshold many times as often. The threshold is therefore the level that the light of a pixel exceeds as rarely as a
//! normal distribution exceeds its own threshold ([`Light::threshold`]).

use std::f64::consts::{PI, TAU};

use fit_core::Camera;

/// The noise of a tile is the larger of two estimates, and so a little too large: there are fewer false spots than the
/// threshold would have in units of the true noise, by this share in simulated frames of 0.5 to 20 000 photons.
const FEWER: f64 = 0.85;

/// The thresholds for the noise of a pixel, which says how many photons there are.
#[derive(Clone, Debug)]
pub(super) struct Thresholds {
    /// The logarithm of the noise at the first threshold, in the unit of the pixels.
    first: f64,
    thresholds: Vec<f32>,
}

/// The logarithm of the noise in photons of the first threshold; from one to the next, and their number.
const FIRST: f64 = -3.0;
const STEP: f64 = 0.25;
const COUNT: usize = 44;

impl Thresholds {
    /// The thresholds for `rate` false spots in a million pixels, of a filter whose half is `kernel` from its centre.
    pub(super) fn new(rate: f64, kernel: &[f64], camera: &Camera) -> Self {
        let square: f64 = convolve(kernel, 0);
        let correlation = convolve(kernel, 1) / square;
        let height = level(rate * 1e-6 / FEWER, correlation);
        let light = Light::new(kernel, camera);
        let noise = |i: usize| (FIRST + STEP * i as f64).exp();
        let thresholds = (0..COUNT).map(|i| light.threshold(height, noise(i)) as f32).collect();
        Self { first: FIRST - camera.photons_per_adu().ln(), thresholds }
    }

    /// The lowest threshold.
    pub(super) fn least(&self) -> f32 {
        self.thresholds.iter().copied().fold(f32::INFINITY, f32::min)
    }

    /// The logarithm of the noise at the first threshold, from one to the next, and the thresholds.
    #[cfg(feature = "gpu")]
    pub(super) fn parts(&self) -> (f64, f64, &[f32]) {
        (self.first, STEP, &self.thresholds)
    }

    /// The threshold where the noise of a pixel is so large. The logarithm is the same on every machine, GPUs included.
    pub(super) fn at(&self, noise: f32) -> f32 {
        let place = (libm::log(f64::from(noise)) - self.first) / STEP;
        // What is not a number becomes 0.
        let place = place.clamp(0.0, (COUNT - 1) as f64) as f32;
        let before = (place as usize).min(COUNT - 2);
        let [low, high] = [self.thresholds[before], self.thresholds[before + 1]];
        low + (place - before as f32) * (high - low)
    }
}

/// Σ of a symmetric kernel times itself moved by so many places, from its half.
fn convolve(half: &[f64], by: usize) -> f64 {
    let radius = half.len() as isize - 1;
    let at = |i: isize| half.get(i.unsigned_abs()).copied().unwrap_or(0.0);
    (-radius..=radius).map(|i| at(i) * at(i + by as isize)).sum()
}

/// The level above which a pixel of normally distributed noise is higher than its neighbours with this probability.
fn level(probability: f64, correlation: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        let more = maxima(middle, correlation) > probability;
        (low, high) = if more { (middle, high) } else { (low, middle) };
    }
    0.5 * (low + high)
}

/// How likely a pixel is higher than its four neighbours and above a level, where noise is normally distributed with
/// this correlation of neighbours along each axis: ∫Q(u)²φ(u)du from the level on, Worsley, NeuroImage 28, 1056 (2005).
fn maxima(level: f64, correlation: f64) -> f64 {
    let h = ((1.0 - correlation) / (1.0 + correlation)).sqrt();
    let angle = ((1.0 - correlation * correlation) / 2.0).sqrt().asin();
    let share = |u: f64| {
        let arc = |theta: f64| (-0.5 * (h * u / theta.sin()).powi(2)).exp();
        let ring = integral(1e-6, angle, 32, arc) / PI;
        1.0 - 2.0 * tail(h * u) + ring
    };
    let density = |u: f64| share(u).powi(2) * (-0.5 * u * u).exp() / TAU.sqrt();
    integral(level, level + 8.0 / level.max(1.0), 64, density)
}

/// Simpson's rule with an even number of intervals.
fn integral(from: f64, to: f64, intervals: usize, of: impl Fn(f64) -> f64) -> f64 {
    let step = (to - from) / intervals as f64;
    let weight = |i: usize| match i {
        0 => 1.0,
        i if i == intervals => 1.0,
        i => 2.0 + 2.0 * (i % 2) as f64,
    };
    (0..=intervals).map(|i| weight(i) * of(from + step * i as f64)).sum::<f64>() * step / 3.0
}

/// The probability that a standard normal variate exceeds a value ≥ 0.
fn tail(value: f64) -> f64 {
    0.5 * libm::erfc(value / 2f64.sqrt())
}

/// Filtered light.
struct Light {
    /// The weights of the filter, and how many pixels have each.
    weights: Vec<(f64, f64)>,
    /// The variance of the read noise in photons².
    variance: f64,
    multiplied: bool,
}

impl Light {
    fn new(kernel: &[f64], camera: &Camera) -> Self {
        let twice = |i: usize| if i == 0 { 1.0 } else { 2.0 };
        let all = (0..kernel.len()).flat_map(|j| (0..=j).map(move |i| (i, j)));
        let weights = all.map(|(i, j)| {
            let mirrored = if i == j { 1.0 } else { 2.0 };
            (kernel[i] * kernel[j], mirrored * twice(i) * twice(j))
        });
        let read_noise = camera.read_noise / camera.em_gain.unwrap_or(1.0);
        Self {
            weights: weights.collect(),
            variance: read_noise * read_noise,
            multiplied: camera.em_gain.is_some(),
        }
    }

    /// The threshold, in units of its noise, that filtered light exceeds as rarely as a normal variate exceeds
    /// `height`, where a pixel has so much noise in photons.
    ///
    /// By Lugannani and Rice's formula for the tail of a sum, which needs its cumulant generating function alone.
    fn threshold(&self, height: f64, noise: f64) -> f64 {
        let excess = if self.multiplied { 2.0 } else { 1.0 };
        let photons = (noise * noise - self.variance).max(0.0) / excess;
        let variance = noise * noise - excess * photons;
        let most = self.weights.iter().fold(0.0, |most: f64, &(weight, _)| most.max(weight));
        let (mut low, mut high) = (0.0, if self.multiplied { 1.0 / most } else { 1e3 / most });
        let mut threshold = height;
        for _ in 0..80 {
            let t = 0.5 * (low + high);
            let [generating, first, second] = self.cumulants(t, photons, variance);
            let r = (2.0 * (t * first - generating)).sqrt();
            let u = t * second.sqrt();
            let reached = r + (u / r).ln() / r;
            // Far out it is not a number.
            (low, high) = if reached < height { (t, high) } else { (low, t) };
            threshold = first / self.cumulants(0.0, photons, variance)[2].sqrt();
        }
        threshold
    }

    /// The cumulant generating function of the filtered light about its mean, and its derivatives.
    fn cumulants(&self, t: f64, photons: f64, variance: f64) -> [f64; 3] {
        let mut sum = [0.0; 3];
        for &(weight, pixels) in &self.weights {
            let at = weight * t;
            // Of one photon: of a Poisson distributed number of them, or of exponentially distributed ones.
            let [value, first, second] = if self.multiplied {
                let inverse = 1.0 / (1.0 - at);
                [at * at * inverse, inverse * inverse - 1.0, 2.0 * inverse.powi(3)]
            } else {
                let rest = at.exp_m1();
                [rest - at, rest, rest + 1.0]
            };
            sum[0] += pixels * (photons * value + 0.5 * variance * at * at);
            sum[1] += pixels * weight * (photons * first + variance * at);
            sum[2] += pixels * weight * weight * (photons * second + variance);
        }
        sum
    }
}
