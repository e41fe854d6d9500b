//! Some of the points of a long data set, whose fit is a start for that of all.

use ndarray::Array2;

use crate::{CurveBatch, CurveLimits, Curves, Points, Values};

/// Some of the points of a data set, by chance, and where its search begins.
#[derive(Clone, Debug)]
pub struct CurveSample {
    data: Array2<f64>,
    places: Array2<f64>,
    weights: Option<Array2<f64>>,
    start: Vec<f64>,
    limits: CurveLimits,
}

impl CurveSample {
    /// The points, as one data set.
    pub fn curves(&self) -> Curves<'_> {
        let points = Points::Shared(Values::from(self.places.view()));
        let curves = Curves::new(self.data.view(), points);
        match &self.weights {
            Some(weights) => curves.with_weights(weights.view()),
            None => curves,
        }
    }

    /// The start values of the data set.
    pub fn start(&self) -> &[f64] {
        &self.start
    }

    /// Its limits.
    pub fn limits(&self) -> &CurveLimits {
        &self.limits
    }
}

impl CurveBatch<'_, '_, '_> {
    /// So many points of a data set that has more: one of each few, by chance, for every so manieth might always be at the same place of
    /// a period.
    pub fn sample(&self, fit: usize, count: usize) -> CurveSample {
        let Curves { data, points, weights } = self.curves;
        let first = |number: usize| {
            (number as u128 * self.curves.points() as u128 / count as u128) as usize
        };
        let chosen: Vec<usize> = (0..count)
            .map(|number| {
                let among = (first(number + 1) - first(number)).max(1);
                first(number) + (scattered(number) % among as u64) as usize
            })
            .collect();
        let of = |rows: usize, value: &dyn Fn(usize, usize) -> f64| {
            Array2::from_shape_fn((rows, count), |(row, column)| value(row, chosen[column]))
        };
        let places = of(self.variables, &|variable, point| points.at(fit, variable, point));
        let row = if self.has_own_weights() { fit } else { 0 };
        let parameters = 0..self.options.parameters();
        CurveSample {
            data: of(1, &|_, point| data.get([fit, point])),
            places,
            weights: weights.map(|weights| of(1, &|_, point| weights.get([row, point]))),
            start: parameters.clone().map(|j| self.start(fit, j)).collect(),
            limits: CurveLimits::Shared(parameters.map(|j| self.limit(fit, j)).collect()),
        }
    }
}

impl Points<'_> {
    /// The value of a variable at a point of a data set.
    pub fn at(&self, fit: usize, variable: usize, point: usize) -> f64 {
        match self {
            Self::Shared(at) => at.get([variable, point]),
            Self::PerFit(at) => at.get([fit, variable, point]),
            Self::Grid { width, .. } if variable == 0 => (point % width) as f64,
            Self::Grid { width, .. } => (point / width) as f64,
            Self::Index => point as f64,
        }
    }
}

/// A number that looks random (SplitMix64: Steele, Lea and Flood 2014).
fn scattered(number: usize) -> u64 {
    let number = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
