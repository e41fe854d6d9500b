//! A few data sets of so many points that threads share them.

use fit_curves::{CurveBatch, CurveFits, Curves, chunks};

use super::CurveSimd;
use crate::curve::Evaluated;
use crate::simd::double;

/// Whether the data sets are so few and so long that lanes would have nothing to do.
pub(super) fn is_long(curves: &Curves<'_>) -> bool {
    curves.count() <= double::FEW && double::is_long(curves.points())
}

impl CurveSimd {
    /// Fits the data sets one after the other, on the threads of the pool that this runs in.
    pub(super) fn fit_long(&self, batch: &CurveBatch<'_, '_, '_>) -> CurveFits {
        let options = batch.options;
        let count = batch.curves.count();
        let mut fits = CurveFits::invalid(count, options.parameters(), options.covariance);
        let mut work = double::work(self.set, batch);
        for (fit, mut chunk) in chunks(&mut fits, 1).into_iter().enumerate() {
            batch.fit(&mut work, fit).put(chunk.place(fit));
        }
        fits
    }
}
