//! Fits in which data sets share parameters, or in which something is known of parameters beforehand.

mod dense;
mod layout;
mod outcome;
mod part;
mod set;

use fit_core::Status;
use fit_curves::{CurveBatch, CurveFits, CurveOptions, CurveStart, Curves, Sharing};
use fit_formula::Formula;
use ndarray::Array2;

use super::{CurveReference, check_memory};
use crate::BatchError;
use layout::Layout;
use part::Works;

/// A value that data sets share.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SharedValue {
    /// The parameter.
    pub parameter: usize,
    /// The number of its group; 0 without groups.
    pub group: usize,
    /// The value; NaN if no data set with it could be fitted.
    pub value: f64,
    /// Its standard error: 0 at a limit that the data push it against, infinite if the data do not determine it.
    pub error: f64,
    /// The part of the data sets that it belongs to.
    pub part: usize,
}

/// Data sets that depend on each other by what they share, fitted together.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SharedPart {
    /// The data sets that were fitted.
    pub fitted: usize,
    /// Those that were left out: they are invalid, or have too few points, or the model has no value at their start.
    pub left_out: usize,
    /// χ² or the deviance of all of them, with the priors.
    pub chi2: f64,
    /// Points and priors minus all parameters that are neither fixed nor pushed against a limit.
    pub degrees: u64,
    /// Steps of the shared values.
    pub iterations: u32,
    /// How the search ended.
    pub status: Status,
    /// The covariance of its shared values, in their order.
    pub covariance: Array2<f64>,
}

/// The outcomes of fits that share parameters.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SharedFits {
    /// Each data set: its own parameters and the shared ones, errors with all correlations, its own χ², and the degrees of freedom of
    /// its own points beside its own parameters.
    pub fits: CurveFits,
    /// The shared values, by parameter and by group as they appear.
    pub values: Vec<SharedValue>,
    /// Data sets that depend on each other: one part without groups.
    pub parts: Vec<SharedPart>,
}

impl SharedFits {
    /// χ² or the deviance of all parts that were fitted.
    pub fn chi2(&self) -> f64 {
        self.fitted().map(|part| part.chi2).sum()
    }

    /// The degrees of freedom of all parts that were fitted.
    pub fn degrees(&self) -> u64 {
        self.fitted().map(|part| part.degrees).sum()
    }

    /// The data sets that were left out.
    pub fn left_out(&self) -> usize {
        self.parts.iter().map(|part| part.left_out).sum()
    }

    fn fitted(&self) -> impl Iterator<Item = &SharedPart> {
        self.parts.iter().filter(|part| part.status != Status::Invalid)
    }
}

impl CurveReference {
    /// Fits a formula to curves that share parameters, or of whose parameters something is known beforehand. The outcome does not
    /// depend on the number of threads. Where start values of what is shared differ, it begins at their median.
    ///
    /// # Errors
    /// As [`CurveReference::fit`], and if what is shared contradicts the options.
    pub fn fit_shared(
        &self,
        formula: &Formula,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
        sharing: &Sharing,
    ) -> Result<SharedFits, BatchError> {
        let batch = CurveBatch::of_sharing(formula, curves, start, options, sharing)?;
        check_memory(&batch)?;
        let works = Works::new(&batch, &*self.works);
        let run = || -> Result<SharedFits, BatchError> {
            let layout = Layout::new(&batch, &works, sharing)
                .map_err(|error| error.with_names(formula.parameters()))?;
            let found = self.map(layout.parts.len(), |part| layout.fit(part));
            Ok(layout.outcome(found))
        };
        match self.pool() {
            None => run(),
            Some(pool) => pool.install(run),
        }
    }
}
