//! The points of data sets.

use ndarray::Array3;
use spotfit::model::{Points, Values};

/// The points of a part of the data.
pub(super) fn places(own: &Option<Array3<f64>>, grid: Option<[usize; 2]>) -> Points<'_> {
    match (own, grid) {
        (Some(at), _) if at.shape()[0] == 1 => {
            Points::Shared(Values::from(at.index_axis(ndarray::Axis(0), 0)))
        }
        (Some(at), _) => Points::PerFit(Values::from(at.view())),
        (None, Some([width, height])) => Points::Grid { width, height },
        (None, None) => Points::Index,
    }
}
