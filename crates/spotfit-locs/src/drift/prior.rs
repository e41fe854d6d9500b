//! How smooth a drift is, before anything is measured: steps from bin to bin, or changes of steps, are normally distributed. The
//! data decide how large their variance is.

use super::matrix::Band;

/// The logarithm of Student's density at 0 with 3 degrees of freedom over that of the normal distribution.
const STUDENT: f64 = -0.081_95;

/// How much further than asked a variance goes.
const FURTHER: f64 = 1.9;

/// A drift whose steps (order 1: a random walk) or changes of steps (order 2: a smooth curve) have the given variances.
#[derive(Clone, Debug)]
pub(super) struct Prior {
    pub(super) order: usize,
    /// The variance of all, in units of which each has its own.
    pub(super) variance: f64,
    /// The variance of each in that unit.
    pub(super) own: Vec<f64>,
    /// The variance of the first step, if the order is 2: the slope of a line.
    pub(super) slope: f64,
    count: usize,
}

impl Prior {
    pub(super) fn new(order: usize, variance: f64, count: usize, slope: f64) -> Self {
        Self { order, variance, own: vec![1.0; count.saturating_sub(order)], slope, count }
    }

    /// The same for a number of bins so many times as large.
    pub(super) fn finer(&self, count: usize) -> Self {
        let times = count as f64 / self.count as f64;
        let power = if self.order == 1 { 1 } else { 3 };
        let mut new = Self::new(
            self.order,
            self.variance / times.powi(power),
            count,
            self.slope / (times * times),
        );
        let old = self.own.len();
        for (k, own) in new.own.iter_mut().enumerate().filter(|_| old > 0) {
            // The mean over what one of the others covers.
            let first = (k as f64 / times) as usize;
            let last = ((k + 1) as f64 / times).ceil() as usize;
            let range = first.min(old - 1)..last.clamp(first.min(old - 1) + 1, old);
            *own = self.own[range.clone()].iter().sum::<f64>() / range.len() as f64;
        }
        new
    }

    /// The differences that are distributed: of which bin the first is, its factors, and the weight.
    fn terms(&self) -> impl Iterator<Item = (usize, [f64; 3], f64)> + '_ {
        let factors = if self.order == 1 { [-1.0, 1.0, 0.0] } else { [1.0, -2.0, 1.0] };
        let slope = (self.order == 2).then_some((0, [-1.0, 1.0, 0.0], 1.0 / self.slope));
        let own = self.own.iter().enumerate();
        own.map(move |(k, own)| (k, factors, 1.0 / (own * self.variance))).chain(slope)
    }

    /// Adds it to a banded matrix.
    pub(super) fn add_to(&self, band: &mut Band) {
        for (first, factors, weight) in self.terms() {
            for (i, p) in factors.iter().enumerate().filter(|(_, p)| **p != 0.0) {
                for (j, q) in factors.iter().enumerate().skip(i).filter(|(_, q)| **q != 0.0) {
                    band.rows[first + i][j - i] += weight * p * q;
                }
            }
        }
    }

    /// The product with a curve.
    pub(super) fn force(&self, curve: &[f64]) -> Vec<f64> {
        let mut force = vec![0.0; curve.len()];
        for (first, factors, weight) in self.terms() {
            let value: f64 = factors.iter().zip(&curve[first..]).map(|(p, value)| p * value).sum();
            factors.iter().zip(&mut force[first..]).for_each(|(p, f)| *f += weight * p * value);
        }
        force
    }

    /// The logarithm of the determinant, but for the mean, which is free.
    pub(super) fn log_determinant(&self) -> f64 {
        self.terms().map(|(_, _, weight)| weight.ln()).sum()
    }

    /// Takes the variances that squares of the differences ask for, if they follow Student's distribution with some degrees of
    /// freedom.
    pub(super) fn heed(&mut self, squares: &[f64], freedom: f64) {
        let own = |square: &f64| (freedom + square / self.variance) / (freedom + 1.0);
        self.own = squares.iter().map(own).collect();
        let sum: f64 = squares.iter().zip(&self.own).map(|(square, own)| square / own).sum();
        let variance = sum / squares.len().max(1) as f64;
        // Steps of this kind are short: nearly twice as far is never too far.
        self.variance *= (variance / self.variance).powf(FURTHER).clamp(0.05, 20.0);
    }

    /// The logarithm of Student's density of a curve, but for the part that depends on nothing.
    pub(super) fn heavy(&self, curve: &[f64], freedom: f64) -> f64 {
        let mut sum = 0.0;
        for (first, factors, weight) in self.terms() {
            let value: f64 = factors.iter().zip(&curve[first..]).map(|(p, value)| p * value).sum();
            sum += match self.order == 2 && factors[2] == 0.0 {
                true => 0.5 * weight.ln() - 0.5 * weight * value * value,
                false => {
                    let square = value * value / (freedom * self.variance);
                    STUDENT - 0.5 * self.variance.ln() - 0.5 * (freedom + 1.0) * square.ln_1p()
                }
            };
        }
        sum
    }

    /// How much a curve varies, for each bin, around the lines between the middles of bins: a random walk by a sixth of a
    /// step's variance on average.
    pub(super) fn between(&self) -> Vec<f64> {
        let share = if self.order == 1 { 1.0 / 6.0 } else { 0.0 };
        let step = |bin: usize| {
            let near = bin.saturating_sub(1)..(bin + 1).min(self.own.len());
            let sum: f64 = near.clone().map(|k| self.own[k]).sum();
            share * self.variance * sum / near.len().max(1) as f64
        };
        (0..self.count).map(step).collect()
    }

    /// Squares of the differences of a curve, with what its covariance (the diagonal and the two beside it) adds.
    pub(super) fn squares(&self, curve: &[f64], covariance: &[[f64; 3]]) -> Vec<f64> {
        let factors: &[f64] = if self.order == 1 { &[-1.0, 1.0] } else { &[1.0, -2.0, 1.0] };
        let square = |first: usize| {
            let mut value = 0.0;
            let mut spread = 0.0;
            for (i, p) in factors.iter().enumerate() {
                value += p * curve[first + i];
                for (j, q) in factors.iter().enumerate().skip(i) {
                    let twice = if i == j { 1.0 } else { 2.0 };
                    spread += twice * p * q * covariance[first + i][j - i];
                }
            }
            value * value + spread
        };
        (0..self.own.len()).map(square).collect()
    }
}
