//! Sums of Gauss peaks: models of as many parameters as one likes.

use fit_core::Estimator;
use fit_curves::{CurveOptions, Linear};
use fit_formula::Formula;
use ndarray::Array2;

/// A sum of peaks over a background.
#[derive(Clone, Debug)]
pub struct Peaks {
    /// With the parameters `b`, and `a0`, `x0`, `s0` and so on of each peak.
    pub formula: Formula,
    /// The parameters of simulated data.
    pub truth: Vec<f64>,
    points: usize,
}

impl Peaks {
    /// So many of them, spread over so many points.
    ///
    /// # Panics
    /// If there are more parameters than a formula may have.
    pub fn new(count: usize, points: usize) -> Self {
        let distance = points as f64 / count as f64;
        let (mut text, mut names, mut truth) = (String::new(), vec!["b".to_owned()], vec![20.0]);
        for peak in 0..count {
            text += &format!("a{peak}*exp(-(x - x{peak})^2/(2*s{peak}^2)) + ");
            names.extend(["a", "x", "s"].map(|name| format!("{name}{peak}")));
            let width = distance * (0.18 + 0.002 * peak as f64);
            truth.extend([40.0 + 7.0 * peak as f64, distance * (peak as f64 + 0.5), width]);
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let formula = Formula::new(&(text + "b"), &["x"], &names).expect("a formula");
        Self { formula, truth, points }
    }

    /// Start values near the truth.
    pub fn start(&self) -> Vec<f64> {
        let share = |j: usize| 1.0 + 0.01 * [1.0, -2.0, 1.5, -1.0][j % 4];
        self.truth.iter().enumerate().map(|(j, value)| value * share(j)).collect()
    }

    /// Their sum at a point.
    pub fn value(parameters: &[f64], x: usize) -> f64 {
        let peaks = parameters[1..].chunks_exact(3);
        let peak = |p: &[f64]| p[0] * (-(x as f64 - p[1]).powi(2) / (2.0 * p[2] * p[2])).exp();
        parameters[0] + peaks.map(peak).sum::<f64>()
    }

    /// Weights of so many data sets, each of which has a point of none.
    pub fn weights(&self, count: usize) -> Array2<f64> {
        Array2::from_shape_fn((count, self.points), |(fit, x)| match (3 + fit) % self.points {
            hidden if hidden == x => [0.0, f64::NAN][fit % 2],
            _ => 0.1 * (1 + (fit + x) % 4) as f64,
        })
    }

    /// The ways to fit them, and whether with weights.
    pub fn ways(&self) -> [(bool, CurveOptions); 7] {
        let plain = CurveOptions::new(self.truth.len());
        let searched = plain.clone().with_linear(Linear::Searched);
        let likely = plain.clone().with_estimator(Estimator::MaximumLikelihood);
        let limited = plain.clone().with_upper(1, 40.5).with_lower(3, 0.9895 * self.truth[3]);
        let held = plain.clone().with_fixed(2);
        [
            (false, plain.clone()),
            (false, searched),
            (false, likely.clone()),
            (true, likely),
            (false, limited),
            (false, held),
            (true, plain),
        ]
    }

    /// Counts with noise that is the same on every machine, for so many data sets.
    pub fn data(&self, count: usize) -> Array2<f64> {
        let mut state = 7_u64;
        let values: Vec<f64> = (0..self.points).map(|x| Self::value(&self.truth, x)).collect();
        Array2::from_shape_fn((count, self.points), |(_, x)| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let noise = (state >> 40) as f64 / (1_u64 << 24) as f64 - 0.5;
            (values[x] + 3.0 * values[x].sqrt() * noise).max(0.0).round()
        })
    }
}
