//! Errors of variables.

use fit_curves::Values;
use ndarray::Ix3;

/// The standard deviations of the variables of points.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Spread<'a> {
    /// The same everywhere.
    All(f64),
    /// (1, variable, point) for all fits, or (fit, variable, point).
    Each(Values<'a, Ix3>),
}

impl<'a> From<f64> for Spread<'a> {
    fn from(error: f64) -> Self {
        Self::All(error)
    }
}

impl Spread<'_> {
    /// That of a point of a fit.
    pub(super) fn of(&self, fit: usize, variable: usize, point: usize) -> f64 {
        match self {
            Self::All(error) => *error,
            Self::Each(values) => {
                values.get([if values.shape()[0] == 1 { 0 } else { fit }, variable, point])
            }
        }
    }

    /// Those of a fit, one variable after the other.
    pub(super) fn row(&self, fit: usize, variables: usize, points: usize) -> Vec<f64> {
        let all = 0..variables * points;
        all.map(|number| self.of(fit, number / points, number % points)).collect()
    }
}
