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
    /// Those of a fit, one variable after the other.
    pub(super) fn row(&self, fit: usize, variables: usize, points: usize) -> Vec<f64> {
        let of = |number: usize| match self {
            Self::All(error) => *error,
            Self::Each(values) => {
                let fit = if values.shape()[0] == 1 { 0 } else { fit };
                values.get([fit, number / points, number % points])
            }
        };
        (0..variables * points).map(of).collect()
    }
}
