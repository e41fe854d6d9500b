//! Some data sets of a batch, each as often as it is needed.

use ndarray::{Array2, Array3};

use crate::model::{CurveLimits, CurveOptions, Curves, Points};

/// Where their points lie.
enum Places {
    Index,
    Grid { width: usize, height: usize },
    Shared(Array2<f64>),
    PerFit(Array3<f64>),
}

/// Copies of data sets.
pub(super) struct Copies {
    data: Array2<f64>,
    places: Places,
    weights: Option<Array2<f64>>,
}

impl Copies {
    /// Those with these numbers, of curves whose model has so many variables.
    pub(super) fn of(curves: &Curves<'_>, variables: usize, rows: &[usize]) -> Self {
        let points = curves.points();
        let mut data = Array2::zeros((rows.len(), points));
        let fill = |into: &mut Array2<f64>, from: &dyn Fn(usize, &mut [f64])| {
            for (row, mut to) in rows.iter().zip(into.rows_mut()) {
                to.as_slice_mut().into_iter().for_each(|to| from(*row, to));
            }
        };
        fill(&mut data, &|row, to| curves.data.row(row, to));
        let weights = curves.weights.map(|weights| {
            let one = weights.shape()[0] == 1;
            let mut copies = Array2::zeros((rows.len(), points));
            fill(&mut copies, &|row, to| weights.row(if one { 0 } else { row }, to));
            copies
        });
        let places = match curves.points {
            Points::PerFit(at) => {
                let size = (rows.len(), variables, points);
                Places::PerFit(Array3::from_shape_fn(size, |(row, k, i)| at.get([rows[row], k, i])))
            }
            Points::Shared(at) => {
                Places::Shared(Array2::from_shape_fn((variables, points), |(k, i)| at.get([k, i])))
            }
            Points::Grid { width, height } => Places::Grid { width, height },
            _ => Places::Index,
        };
        Self { data, places, weights }
    }

    /// The copies as curves.
    pub(super) fn curves(&self) -> Curves<'_> {
        let places = match &self.places {
            Places::PerFit(at) => Points::PerFit(at.view().into()),
            Places::Shared(at) => Points::Shared(at.view().into()),
            &Places::Grid { width, height } => Points::Grid { width, height },
            Places::Index => Points::Index,
        };
        weighted(Curves::new(self.data.view(), places), self.weights.as_ref())
    }
}

/// Curves with these weights in place of theirs, if there are any.
pub(super) fn weighted<'a>(curves: Curves<'a>, weights: Option<&'a Array2<f64>>) -> Curves<'a> {
    match weights {
        Some(weights) => curves.with_weights(weights.view()),
        None => curves,
    }
}

/// Options with the limits of these data sets.
pub(super) fn options_of(options: &CurveOptions, rows: &[usize]) -> CurveOptions {
    match &options.limits {
        CurveLimits::PerFit(_) => {
            let each = 0..options.parameters();
            let own = rows.iter().flat_map(|&row| each.clone().map(move |j| options.limit(row, j)));
            options.clone().with_limits(CurveLimits::PerFit(own.collect()))
        }
        _ => options.clone(),
    }
}

/// Parameters (fit, parameter) as start values of fits with these options: within limits, and numbers.
pub(super) fn within(parameters: &Array2<f64>, options: &CurveOptions) -> Array2<f64> {
    Array2::from_shape_fn(parameters.dim(), |(fit, j)| {
        let [low, high] = options.limit(fit, j);
        let value = parameters[[fit, j]];
        // Those of a fit that was not possible.
        let value = if value.is_finite() { value } else { 1.0 };
        if options.fixed[j] { value } else { value.clamp(low, high) }
    })
}

/// The data and the weights of a data set; points that are left out have none.
pub fn data_and_weights(curves: &Curves<'_>, fit: usize) -> [Vec<f64>; 2] {
    let mut data = vec![0.0; curves.points()];
    curves.data.row(fit, &mut data);
    [data, weights_of(curves, fit)]
}

/// The weights of a data set, 0 for points that are left out.
pub(super) fn weights_of(curves: &Curves<'_>, fit: usize) -> Vec<f64> {
    let mut weights = vec![1.0; curves.points()];
    if let Some(values) = curves.weights {
        values.row(if values.shape()[0] == 1 { 0 } else { fit }, &mut weights);
        fit_curves::clean(&mut weights);
    }
    weights
}
