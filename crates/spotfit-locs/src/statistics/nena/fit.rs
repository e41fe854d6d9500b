//! The distribution of nearest-neighbour distances, fitted to a histogram.

use std::f64::consts::{PI, SQRT_2};

use super::minimum::minimum;

/// The distribution of the distances to nearest neighbours in the next frame, in distances per unit of length: the sum
/// of two or three terms.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct NenaCurve {
    /// σ of the first term, A₁·(r/2σ²)·exp(−r²/4σ²): neighbours of the same molecule.
    pub sigma: f64,
    /// A₁, the number of such neighbours.
    pub same: f64,
    /// The second term, if the counts require one.
    pub second: Option<NenaTerm>,
    /// A₃ of the last term, A₃·r: neighbours at random.
    pub others: f64,
}

/// The second term of a [`NenaCurve`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum NenaTerm {
    /// Neighbours of the same molecule whose localizations have another precision: as the first term.
    Precision {
        /// Their σ, larger than that of the first term.
        sigma: f64,
        /// Their number.
        same: f64,
    },
    /// Molecules side by side: A₂·(2πω²)^(−1/2)·exp(−(r−r_c)²/2ω²).
    Beside {
        /// r_c.
        centre: f64,
        /// ω.
        omega: f64,
        /// A₂.
        amplitude: f64,
    },
}

impl NenaCurve {
    /// Distances per unit of length at distance `r`.
    pub fn density(&self, r: f64) -> f64 {
        let same = |sigma: f64, same: f64| {
            same * r / (2.0 * sigma * sigma) * (-r * r / (4.0 * sigma * sigma)).exp()
        };
        let second = match self.second {
            None => 0.0,
            Some(NenaTerm::Precision { sigma, same: number }) => same(sigma, number),
            Some(NenaTerm::Beside { centre, omega, amplitude }) => {
                let u = (r - centre) / omega;
                amplitude / (omega * (2.0 * PI).sqrt()) * (-0.5 * u * u).exp()
            }
        };
        same(self.sigma, self.same) + second + self.others * r
    }

    /// The root mean square of the precision over all neighbours of the same molecule.
    pub fn precision(&self) -> f64 {
        match self.second {
            Some(NenaTerm::Precision { sigma, same }) if self.same + same > 0.0 => {
                let squares = self.same * self.sigma * self.sigma + same * sigma * sigma;
                (squares / (self.same + same)).sqrt()
            }
            _ => self.sigma,
        }
    }
}

/// Counts in bins of one width from 0 on.
pub(super) struct Histogram {
    pub(super) width: f64,
    pub(super) counts: Vec<f64>,
}

/// The shapes of the terms: their parameters without amplitudes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) sigma: f64,
    pub(super) second: Second,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Second {
    None,
    /// σ of the second precision.
    Precision(f64),
    /// Centre and standard deviation.
    Beside(f64, f64),
}

impl Shape {
    /// That of a curve.
    pub(super) fn of(curve: &NenaCurve) -> Self {
        let second = match curve.second {
            None => Second::None,
            Some(NenaTerm::Precision { sigma, .. }) => Second::Precision(sigma),
            Some(NenaTerm::Beside { centre, omega, .. }) => Second::Beside(centre, omega),
        };
        Self { sigma: curve.sigma, second }
    }

    /// The parameters that are varied.
    fn parameters(&self) -> Vec<f64> {
        match self.second {
            Second::None => vec![self.sigma.ln()],
            Second::Precision(sigma) => vec![self.sigma.ln(), (sigma / self.sigma).ln()],
            Second::Beside(centre, omega) => vec![self.sigma.ln(), centre, omega.ln()],
        }
    }

    /// The number of parameters with the amplitudes.
    pub(super) fn count(&self) -> usize {
        self.parameters().len() + if matches!(self.second, Second::None) { 2 } else { 3 }
    }
}

impl Histogram {
    fn end(&self) -> f64 {
        self.width * self.counts.len() as f64
    }

    /// The shape with these parameters, kept where the histogram says something about them. Precisions differ by a
    /// factor of 2.5 at most and molecules side by side are farther apart than one is wide: otherwise either term could
    /// stand for neighbours at random.
    fn shape(&self, p: &[f64]) -> Shape {
        let sigma = p[0].exp().clamp(self.width / 3.0, self.end() / 2.0);
        let second = match *p {
            [_, ratio] => Second::Precision(sigma * ratio.clamp(0.0, 2.5f64.ln()).exp()),
            [_, centre, omega] => {
                let centre = centre.clamp(3.0 * sigma, self.end().max(3.0 * sigma));
                Second::Beside(centre, omega.exp().clamp(0.7 * sigma, self.end()))
            }
            _ => Second::None,
        };
        Shape { sigma, second }
    }

    /// The shares of the terms in each bin; each term sums to 1 over the histogram. With them, which share of a whole
    /// term the histogram covers.
    fn shares(&self, shape: Shape) -> [(Vec<f64>, f64); 3] {
        let bins = self.counts.len();
        let steps = |integral: &dyn Fn(f64) -> f64| {
            let values: Vec<f64> = (0..=bins).map(|i| integral(self.width * i as f64)).collect();
            let whole = values[bins] - values[0];
            let share = |pair: &[f64]| if whole > 0.0 { (pair[1] - pair[0]) / whole } else { 0.0 };
            (values.windows(2).map(share).collect(), whole)
        };
        let same = |sigma: f64| steps(&|r| -libm::expm1(-r * r / (4.0 * sigma * sigma)));
        let second = match shape.second {
            Second::None => (vec![0.0; bins], 1.0),
            Second::Precision(sigma) => same(sigma),
            Second::Beside(centre, omega) => {
                steps(&|r| 0.5 * libm::erf((r - centre) / (omega * SQRT_2)))
            }
        };
        [same(shape.sigma), second, steps(&|r| 0.5 * r * r)]
    }

    /// The numbers of distances of the terms that make the counts most likely, and minus the logarithm of that
    /// likelihood.
    fn numbers(&self, shares: &[(Vec<f64>, f64); 3], three: bool) -> ([f64; 3], f64) {
        let total: f64 = self.counts.iter().sum();
        let start = if three { [0.4, 0.2, 0.4] } else { [0.5, 0.0, 0.5] };
        let mut numbers = start.map(|weight| weight * total);
        let expected = |numbers: &[f64; 3], bin: usize| -> f64 {
            let sum: f64 = (0..3).map(|term| numbers[term] * shares[term].0[bin]).sum();
            sum.max(f64::MIN_POSITIVE)
        };
        // Expectation and maximization: each term takes its part of the counts of each bin.
        for _ in 0..300 {
            let mut next = [0.0; 3];
            for (bin, &count) in self.counts.iter().enumerate() {
                let scale = count / expected(&numbers, bin);
                for term in 0..3 {
                    next[term] += scale * numbers[term] * shares[term].0[bin];
                }
            }
            let change = (0..3).map(|term| (next[term] - numbers[term]).abs()).sum::<f64>();
            numbers = next;
            if change < 1e-9 * total {
                break;
            }
        }
        let logarithm =
            |(bin, count): (usize, &f64)| -count * (expected(&numbers, bin) / total).ln();
        (numbers, self.counts.iter().enumerate().map(logarithm).sum())
    }

    /// The most likely curve with the terms of `start`, found from there, and minus the logarithm of its likelihood.
    pub(super) fn fit(&self, start: Shape) -> (NenaCurve, f64) {
        let three = !matches!(start.second, Second::None);
        let evaluate = |shape: Shape| self.numbers(&self.shares(shape), three);
        let steps = [0.2, if start.count() > 5 { start.sigma } else { -0.2 }, 0.3];
        let start = start.parameters();
        let best = minimum(&start, &steps[..start.len()], |p| evaluate(self.shape(p)).1);
        let shape = self.shape(&best);
        let (numbers, value) = evaluate(shape);
        let shares = self.shares(shape);
        // From numbers within the histogram to the amplitudes of whole terms.
        let amplitude = |term: usize| {
            let (number, share) = (numbers[term], shares[term].1);
            if number > 0.0 && share > 0.0 { number / share } else { 0.0 }
        };
        let second = match shape.second {
            Second::None => None,
            Second::Precision(sigma) => Some(NenaTerm::Precision { sigma, same: amplitude(1) }),
            Second::Beside(centre, omega) => {
                Some(NenaTerm::Beside { centre, omega, amplitude: amplitude(1) })
            }
        };
        let curve =
            NenaCurve { sigma: shape.sigma, same: amplitude(0), second, others: amplitude(2) };
        (curve, value)
    }
}
