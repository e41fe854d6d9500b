//! Fits in double precision from the start, with the points of a data set in lanes.

use fit_curves::{CurveFits, CurveOptions, CurveStart, Curves, Sharing};
use fit_formula::Formula;

use super::CurveSimd;
use crate::curve::SharedFits;
use crate::reference::BatchError;
use crate::simd::double::packed;

impl CurveSimd {
    /// Fits a formula to curves in double precision from the start, as [`CurveReference::fit`] but for the rounding of sums and functions: the
    /// lanes have points of one data set, eight with AVX-512, four with AVX2 and on processors that are not x86-64. With other instruction
    /// sets of these, and for models of more than 16 parameters, it is the same to the last bit.
    ///
    /// # Errors
    /// As [`CurveReference::fit`].
    ///
    /// [`CurveReference::fit`]: crate::CurveReference::fit
    pub fn fit_double(
        &self,
        formula: &Formula,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
    ) -> Result<CurveFits, BatchError> {
        self.reference.fit_with(formula, curves, start, options, &|batch| packed(self.set, batch))
    }

    /// The same for some of the curves: those whose numbers are `left`, in rising order, by another fitter, which was asked for the same.
    ///
    /// # Errors
    /// As [`CurveSimd::fit_double`], and if there are not as many fits as curves.
    pub fn fit_left(
        &self,
        formula: &Formula,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
        left: &[usize],
        fits: &mut CurveFits,
    ) -> Result<(), BatchError> {
        let of = (formula, curves, start, options);
        self.reference.fit_left_with(of, left, fits, &|batch| packed(self.set, batch))
    }

    /// Fits a formula to curves that share parameters, or of whose parameters something is known beforehand, as
    /// [`CurveReference::fit_shared`] but for the rounding of sums and functions, in lanes as [`CurveSimd::fit_double`]. The outcome does
    /// not depend on the number of threads.
    ///
    /// # Errors
    /// As [`CurveReference::fit_shared`].
    ///
    /// [`CurveReference::fit_shared`]: crate::CurveReference::fit_shared
    pub fn fit_shared(
        &self,
        formula: &Formula,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
        sharing: &Sharing,
    ) -> Result<SharedFits, BatchError> {
        let of = (formula, curves, start, options);
        self.reference.fit_shared_with(of, sharing, &|batch| packed(self.set, batch))
    }
}
