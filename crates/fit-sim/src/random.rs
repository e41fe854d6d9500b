//! Random numbers that are the same on every machine.

use rand_core::Rng;
use rand_pcg::Pcg64;

/// A stream of random numbers: PCG64, and transcendental functions from `libm` only, so that the
/// same seed gives the same bits with every compiler, system and processor.
#[derive(Clone, Debug)]
pub struct Random(Pcg64);

impl Random {
    /// Stream number `stream` of the given seed. Streams are independent of each other, so spots or
    /// frames with a stream of their own can be made in any order, or at the same time.
    pub fn new(seed: u64, stream: u64) -> Self {
        // Neighbouring seeds and streams must not give neighbouring states: SplitMix64 spreads them.
        let state = (u128::from(spread(seed)) << 64) | u128::from(spread(!seed));
        Self(Pcg64::new(state, u128::from(spread(stream)) << 32 | u128::from(stream)))
    }

    /// Uniform in [0, 1), 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in [low, high).
    pub fn uniform_in(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Normal with mean 0 and standard deviation 1 (Box & Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        radius * libm::cos(core::f64::consts::TAU * self.uniform())
    }

    /// Poisson with the given mean: exact, by multiplication of uniforms for small means and by the
    /// transformed rejection PTRS of Hörmann 1993 from 10 on. A mean ≤ 0 gives 0; an infinite mean or NaN is
    /// returned as it is.
    pub fn poisson(&mut self, mean: f64) -> f64 {
        if mean < 10.0 {
            self.poisson_by_multiplication(mean)
        } else if !mean.is_finite() {
            mean
        } else {
            self.poisson_by_rejection(mean)
        }
    }

    /// Gamma with the given shape and scale 1 (Marsaglia & Tsang 2000). A shape ≤ 0 gives 0; an infinite shape or
    /// NaN is returned as it is.
    pub fn gamma(&mut self, shape: f64) -> f64 {
        if shape <= 0.0 {
            return 0.0;
        }
        if !shape.is_finite() {
            return shape;
        }
        if shape < 1.0 {
            let larger = self.gamma(shape + 1.0);
            return larger * libm::pow(1.0 - self.uniform(), 1.0 / shape);
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / libm::sqrt(9.0 * d);
        loop {
            let normal = self.normal();
            let root = 1.0 + c * normal;
            if root <= 0.0 {
                continue;
            }
            let v = root * root * root;
            let (u, square) = (1.0 - self.uniform(), normal * normal);
            let surely = u < 1.0 - 0.0331 * square * square;
            if surely || libm::log(u) < 0.5 * square + d * (1.0 - v + libm::log(v)) {
                return d * v;
            }
        }
    }

    fn poisson_by_multiplication(&mut self, mean: f64) -> f64 {
        let end = libm::exp(-mean);
        let mut product = self.uniform();
        let mut count = 0.0;
        while product > end {
            product *= self.uniform();
            count += 1.0;
        }
        count
    }

    fn poisson_by_rejection(&mut self, mean: f64) -> f64 {
        let log_mean = libm::log(mean);
        let b = 0.931 + 2.53 * libm::sqrt(mean);
        let a = -0.059 + 0.02483 * b;
        let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
        let squeeze = 0.9277 - 3.6224 / (b - 2.0);
        loop {
            let u = self.uniform() - 0.5;
            let v = 1.0 - self.uniform();
            let us = 0.5 - u.abs();
            let k = libm::floor((2.0 * a / us + b) * u + mean + 0.43);
            if us >= 0.07 && v <= squeeze {
                return k;
            }
            if k < 0.0 || (us < 0.013 && v > us) {
                continue;
            }
            let log_v = libm::log(v * inverse_alpha / (a / (us * us) + b));
            if log_v <= k * log_mean - mean - libm::lgamma(k + 1.0) {
                return k;
            }
        }
    }
}

fn spread(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(mut sample: impl FnMut() -> f64) -> (f64, f64) {
        let n = 200_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            let x = sample();
            sum += x;
            squares += x * x;
        }
        let mean = sum / f64::from(n);
        (mean, squares / f64::from(n) - mean * mean)
    }

    /// Proves mean and variance of the Poisson samples in both of its methods, and at their border.
    #[test]
    fn poisson_has_its_mean_and_variance() {
        for (stream, mean) in
            [0.01, 0.5, 3.0, 9.99, 10.0, 47.0, 1000.0, 1e6].into_iter().enumerate()
        {
            let mut random = Random::new(3, stream as u64);
            let (m, v) = moments(|| random.poisson(mean));
            let error = 5.0 * (mean / 200_000.0f64).sqrt();
            assert!((m - mean).abs() < error, "mean {mean}: {m}");
            assert!((v / mean - 1.0).abs() < 0.02 + 0.02 / mean.sqrt(), "variance {mean}: {v}");
        }
        assert_eq!(Random::new(1, 1).poisson(0.0), 0.0);
        assert_eq!(Random::new(1, 1).poisson(-1.0), 0.0);
        assert_eq!(Random::new(1, 1).poisson(f64::INFINITY), f64::INFINITY);
        assert!(Random::new(1, 1).poisson(f64::NAN).is_nan());
    }

    /// Proves the probabilities of single counts against the Poisson distribution.
    #[test]
    fn poisson_has_its_probabilities() {
        for mean in [2.0, 12.0] {
            let mut random = Random::new(5, 0);
            let n = 400_000;
            let mut histogram = [0u32; 64];
            for _ in 0..n {
                histogram[(random.poisson(mean) as usize).min(63)] += 1;
            }
            let mut probability = (-mean).exp();
            for (k, &count) in histogram.iter().enumerate().take(40) {
                let expected = probability * f64::from(n);
                let sd = expected.sqrt() + 1.0;
                assert!((f64::from(count) - expected).abs() < 5.0 * sd, "P({k}|{mean}): {count}");
                probability *= mean / (k + 1) as f64;
            }
        }
    }

    /// Proves mean and variance of the gamma samples, which both are the shape, and for shape 2 the distribution.
    #[test]
    fn gamma_has_its_moments_and_distribution() {
        for (stream, shape) in [0.2, 1.0, 2.0, 7.5, 300.0, 1e6].into_iter().enumerate() {
            let mut random = Random::new(9, stream as u64);
            let (m, v) = moments(|| random.gamma(shape));
            let error = 5.0 * (shape / 200_000.0f64).sqrt();
            assert!((m - shape).abs() < error, "mean {shape}: {m}");
            // The variance of a sample variance is that of a normal one times 1 + 3/shape.
            let spread = 5.0 * (2.0 * (1.0 + 3.0 / shape) / 200_000.0f64).sqrt();
            assert!((v / shape - 1.0).abs() < spread, "variance {shape}: {v}");
        }
        let mut random = Random::new(9, 99);
        let samples: Vec<f64> = (0..200_000).map(|_| random.gamma(2.0)).collect();
        for x in [0.1f64, 0.5, 1.0, 2.0, 4.0, 8.0] {
            let expected = 1.0 - (-x).exp() * (1.0 + x);
            let below = samples.iter().filter(|&&s| s < x).count() as f64 / 200_000.0;
            let sd = (expected * (1.0 - expected) / 200_000.0).sqrt();
            assert!((below - expected).abs() < 5.0 * sd, "P(< {x}): {below}, not {expected}");
        }
        assert_eq!(random.gamma(0.0), 0.0);
        assert_eq!(random.gamma(-1.0), 0.0);
        assert_eq!(random.gamma(f64::INFINITY), f64::INFINITY);
        assert!(random.gamma(f64::NAN).is_nan());
    }

    /// Proves the moments of the normal and uniform samples, and that streams differ.
    #[test]
    fn normal_and_uniform_have_their_moments() {
        let mut random = Random::new(7, 0);
        let (m, v) = moments(|| random.normal());
        assert!(m.abs() < 0.012 && (v - 1.0).abs() < 0.02, "{m} {v}");
        let (m, v) = moments(|| random.uniform_in(1.0, 2.0));
        assert!((m - 1.5).abs() < 0.004 && (v - 1.0 / 12.0).abs() < 0.002, "{m} {v}");
        assert_ne!(Random::new(7, 0).uniform(), Random::new(7, 1).uniform());
        assert_ne!(Random::new(7, 0).uniform(), Random::new(8, 0).uniform());
    }
}
