//! A few data sets of so many points that threads share them.
//!
//! A search begins where the fit of some of the points ended: from there it takes two or three visits to all of them.

use fit_core::Status;
use fit_curves::{CurveBatch, CurveFits, CurveStart, Curves, chunks};
use fit_formula::Formula;

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
        let some = batch.sample(fit, SOME);
        let options = batch.coarse().with_limits(some.limits().clone()).with_covariance(false);
        self.fit(formula, &some.curves(), CurveStart::Shared(some.start()), &options)
    }
}
