//! A few data sets of so many points that threads share them.
//!
//! A search begins where the fit of some of the points ended: from there it takes two or three visits to all of them.

use fit_core::Status;
use fit_curves::{CurveBatch, CurveFits, CurveLimits, CurveStart, Curves, Points, Values, chunks};
use fit_formula::Formula;
use ndarray::Array2;

use super::CurveSimd;
use crate::curve::Evaluated;
use crate::reference::BatchError;
use crate::simd::double;

/// Points that are fitted beforehand.
const SOME: usize = 1 << 13;
/// Data sets whose points are shared by threads, if they are long.
const FEW: usize = 4;

/// Whether the data sets are so few and so long that lanes would have nothing to do.
pub(super) fn is_long(curves: &Curves<'_>) -> bool {
    curves.count() <= FEW && double::is_long(curves.points())
}

impl CurveSimd {
    /// Fits the data sets one after the other, on the threads of the pool that this runs in.
    pub(super) fn fit_long(&self, formula: &Formula, batch: &CurveBatch<'_, '_, '_>) -> CurveFits {
        let options = batch.options;
        let count = batch.curves.count();
        let mut fits = CurveFits::invalid(count, options.parameters(), options.covariance);
        let mut work = double::work(self.set, batch);
        for (fit, mut chunk) in chunks(&mut fits, 1).into_iter().enumerate() {
            let place = chunk.place(fit);
            match self.fit_some(formula, batch, fit) {
                Ok(some) if some.statuses[0].is_converged() => {
                    for (to, &from) in place.parameters.iter_mut().zip(&some.parameters) {
                        *to = from;
                    }
                    *place.iterations = some.iterations[0];
                    // Those points are as good as none.
                    *place.evaluations = 0;
                    batch.finish(&mut work, fit, place);
                }
                _ => batch.fit(&mut work, fit).put(place),
            }
            let place = chunk.place(fit);
            if *place.status == Status::NotConverged {
                // Those points may have led astray.
                batch.fit(&mut work, fit).put(place);
            }
        }
        fits
    }

    /// The fit of some points of a data set.
    fn fit_some(
        &self,
        formula: &Formula,
        batch: &CurveBatch<'_, '_, '_>,
        fit: usize,
    ) -> Result<CurveFits, BatchError> {
        let Curves { data, points, weights, .. } = batch.curves;
        let count = batch.curves.points();
        let stride = count / SOME;
        // One of each few, by chance: every so many might always be at the same place of a period.
        let chosen: Vec<usize> = (0..SOME).map(|i| i * stride + scattered(i) % stride).collect();
        let of = |rows: usize, value: &dyn Fn(usize, usize) -> f64| {
            Array2::from_shape_fn((rows, SOME), |(row, column)| value(row, chosen[column]))
        };
        let at = match points {
            Points::Index => of(1, &|_, point| point as f64),
            Points::Grid { width, .. } => of(2, &|variable, point| match variable {
                0 => (point % width) as f64,
                _ => (point / width) as f64,
            }),
            Points::Shared(at) => of(batch.variables, &|variable, point| at.get([variable, point])),
            Points::PerFit(at) => {
                of(batch.variables, &|variable, point| at.get([fit, variable, point]))
            }
            _ => of(batch.variables, &|_, _| f64::NAN),
        };
        let own_data = of(1, &|_, point| data.get([fit, point]));
        let own_weights = weights.map(|weights| {
            let row = if batch.has_own_weights() { fit } else { 0 };
            of(1, &|_, point| weights.get([row, point]))
        });
        let points = Points::Shared(Values::from(at.view()));
        let mut curves = Curves::new(own_data.view(), points);
        curves.weights = own_weights.as_ref().map(|weights| Values::from(weights.view()));
        let parameters = batch.options.parameters();
        let start: Vec<f64> = (0..parameters).map(|j| batch.start(fit, j)).collect();
        let limits = (0..parameters).map(|j| batch.options.limit(fit, j)).collect();
        let limits = CurveLimits::Shared(limits);
        let options = batch.coarse().with_limits(limits).with_covariance(false);
        self.fit(formula, &curves, CurveStart::Shared(&start), &options)
    }
}

/// A number that looks like chance (SplitMix64).
fn scattered(number: usize) -> usize {
    let mut z = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) as usize
}
