//! The outcomes of fits.

use fit_core::Status;
use ndarray::{Array2, Array3, Axis};

use crate::{CurveError, CurveOptions, check};

/// The outcomes of fits, in their order.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CurveFits {
    /// (fit, parameter).
    pub parameters: Array2<f64>,
    /// Their standard errors: (fit, parameter); 0 for fixed parameters and for those that the data push against a limit. The errors
    /// of the others are then those of a fit with this parameter fixed at the limit. Errors are infinite for parameters
    /// that the data do not determine, alone or with others (for instance a and b, if only a·b is determined).
    pub errors: Array2<f64>,
    /// Their covariance: (fit, parameter, parameter); empty if it was not requested.
    pub covariance: Array3<f64>,
    /// χ² = Σw(f − d)², or the deviance 2Σ[f − d + d·ln(d/f)] of maximum likelihood.
    pub chi2: Vec<f64>,
    /// Degrees of freedom: points minus parameters that are neither fixed nor at a limit.
    pub degrees: Vec<u32>,
    /// Steps taken, with those that looked at some of the points alone.
    pub iterations: Vec<u32>,
    /// Visits to all points.
    pub evaluations: Vec<u32>,
    /// How each fit ended.
    pub statuses: Vec<Status>,
}

impl CurveFits {
    /// Room for this number of fits, all invalid, with or without their covariance.
    pub fn invalid(count: usize, parameters: usize, covariance: bool) -> Self {
        let mut fits = Self::room(count, parameters, covariance);
        fits.parameters.fill(f64::NAN);
        fits.errors.fill(f64::NAN);
        fits.covariance.fill(f64::NAN);
        fits.chi2.fill(f64::NAN);
        fits
    }

    /// The same with zeros in place of what is not known, which the system makes when they are first touched: for who
    /// writes all of them.
    pub fn room(count: usize, parameters: usize, covariance: bool) -> Self {
        let squares = if covariance { count } else { 0 };
        Self {
            parameters: Array2::zeros((count, parameters)),
            errors: Array2::zeros((count, parameters)),
            covariance: Array3::zeros((squares, parameters, parameters)),
            chi2: vec![0.0; count],
            degrees: vec![0; count],
            iterations: vec![0; count],
            evaluations: vec![0; count],
            statuses: vec![Status::Invalid; count],
        }
    }

    /// Checks that there is room for the outcomes of so many fits with these options.
    ///
    /// # Errors
    /// What there is room for.
    pub fn check_room(&self, count: usize, options: &CurveOptions) -> Result<(), CurveError> {
        let parameters = options.parameters();
        let squares = if options.covariance { count } else { 0 };
        let check = |found: &[usize], wanted: &[usize]| check("room for outcomes", found, wanted);
        check(self.parameters.shape(), &[count, parameters])?;
        check(self.errors.shape(), &[count, parameters])?;
        check(self.covariance.shape(), &[squares, parameters, parameters])?;
        let ordered = self.parameters.is_standard_layout()
            && self.errors.is_standard_layout()
            && self.covariance.is_standard_layout();
        if !ordered {
            return Err(CurveError::Order { what: "room for outcomes" });
        }
        let lengths = [
            self.chi2.len(),
            self.degrees.len(),
            self.iterations.len(),
            self.evaluations.len(),
            self.statuses.len(),
        ];
        lengths.into_iter().try_for_each(|length| check(&[length], &[count]))
    }

    /// Whether a fit was found: it converged, or ended at a limit that was set.
    ///
    /// # Panics
    /// If the fit does not exist.
    pub fn is_found(&self, fit: usize) -> bool {
        let status = self.statuses[fit];
        status.is_converged() || status == Status::AtLimit
    }

    /// Takes those of other fits of the same data that are better: found where these were not, or with a smaller χ² or deviance.
    ///
    /// # Panics
    /// If there are not as many, of as many parameters, with or without covariance as these.
    pub fn keep_better(&mut self, others: &Self) {
        for fit in 0..others.len() {
            let found = [self.is_found(fit), others.is_found(fit)];
            let lower = others.chi2[fit] < self.chi2[fit] || self.chi2[fit].is_nan();
            let is_better = if found[0] == found[1] { lower } else { found[1] };
            if !is_better {
                continue;
            }
            self.take(fit, others, fit);
        }
    }

    /// Replaces the outcome of a fit by that of one among others.
    ///
    /// # Panics
    /// If there is no such fit, or if others have not as many parameters, with or without covariance.
    pub fn take(&mut self, fit: usize, others: &Self, other: usize) {
        self.parameters.row_mut(fit).assign(&others.parameters.row(other));
        self.errors.row_mut(fit).assign(&others.errors.row(other));
        if !self.covariance.is_empty() {
            let own = others.covariance.index_axis(Axis(0), other);
            self.covariance.index_axis_mut(Axis(0), fit).assign(&own);
        }
        self.chi2[fit] = others.chi2[other];
        self.degrees[fit] = others.degrees[other];
        self.iterations[fit] = others.iterations[other];
        self.evaluations[fit] = others.evaluations[other];
        self.statuses[fit] = others.statuses[other];
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.statuses.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.statuses.is_empty()
    }
}
