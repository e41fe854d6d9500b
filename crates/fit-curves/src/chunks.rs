//! Where the outcomes of a batch go, cut into pieces for threads.

use std::ops::Range;

use fit_core::Status;

use crate::CurveFits;

/// Room for the outcomes of consecutive fits.
#[derive(Debug)]
pub struct Chunk<'a> {
    first: usize,
    /// Parameters of a fit.
    count: usize,
    pub(crate) parameters: &'a mut [f64],
    pub(crate) errors: &'a mut [f64],
    /// Empty if it is not to be kept.
    pub(crate) covariance: &'a mut [f64],
    pub(crate) chi2: &'a mut [f64],
    pub(crate) degrees: &'a mut [u32],
    pub(crate) iterations: &'a mut [u32],
    pub(crate) evaluations: &'a mut [u32],
    pub(crate) statuses: &'a mut [Status],
    /// Fits that are left for another fitter.
    left: Vec<usize>,
}

/// Room for the outcome of a fit.
#[derive(Debug)]
pub struct Place<'a> {
    /// The parameters.
    pub parameters: &'a mut [f64],
    /// Their standard errors.
    pub errors: &'a mut [f64],
    /// Row after row; empty if it is not to be kept.
    pub covariance: &'a mut [f64],
    /// χ² or the deviance.
    pub chi2: &'a mut f64,
    /// Degrees of freedom: points minus free parameters.
    pub degrees: &'a mut u32,
    /// Steps taken.
    pub iterations: &'a mut u32,
    /// Visits to the points.
    pub evaluations: &'a mut u32,
    /// How it ended.
    pub status: &'a mut Status,
}

/// The outcomes of a batch in pieces of so many fits.
pub fn chunks(fits: &mut CurveFits, length: usize) -> Vec<Chunk<'_>> {
    let count = fits.parameters.ncols();
    let whole = "the arrays are in standard order";
    // A model without parameters has outcomes too.
    let numbers = (length * count).max(1);
    let mut parameters = fits.parameters.as_slice_mut().expect(whole).chunks_mut(numbers);
    let mut errors = fits.errors.as_slice_mut().expect(whole).chunks_mut(numbers);
    let squares = (length * count * count).max(1);
    let mut covariance = fits.covariance.as_slice_mut().expect(whole).chunks_mut(squares);
    let mut chi2 = fits.chi2.chunks_mut(length);
    let mut degrees = fits.degrees.chunks_mut(length);
    let mut iterations = fits.iterations.chunks_mut(length);
    let mut evaluations = fits.evaluations.chunks_mut(length);
    let of = |(number, statuses)| Chunk {
        first: number * length,
        count,
        parameters: parameters.next().unwrap_or_default(),
        errors: errors.next().unwrap_or_default(),
        covariance: covariance.next().unwrap_or_default(),
        chi2: chi2.next().unwrap_or_default(),
        degrees: degrees.next().unwrap_or_default(),
        iterations: iterations.next().unwrap_or_default(),
        evaluations: evaluations.next().unwrap_or_default(),
        statuses,
        left: Vec::new(),
    };
    fits.statuses.chunks_mut(length).enumerate().map(of).collect()
}

impl Chunk<'_> {
    /// The numbers of its fits.
    #[inline]
    pub fn fits(&self) -> Range<usize> {
        self.first..self.first + self.statuses.len()
    }

    /// Room for the outcome of a fit.
    #[inline]
    pub fn place(&mut self, fit: usize) -> Place<'_> {
        let at = fit - self.first;
        let count = self.count;
        let squares = if self.covariance.is_empty() { 0 } else { count * count };
        Place {
            parameters: &mut self.parameters[at * count..][..count],
            errors: &mut self.errors[at * count..][..count],
            covariance: &mut self.covariance[at * squares..][..squares],
            chi2: &mut self.chi2[at],
            degrees: &mut self.degrees[at],
            iterations: &mut self.iterations[at],
            evaluations: &mut self.evaluations[at],
            status: &mut self.statuses[at],
        }
    }

    /// Leaves a fit for another fitter.
    #[inline]
    pub fn leave(&mut self, fit: usize) {
        self.left.push(fit);
    }

    /// The same of one whose place may have another outcome: it becomes invalid.
    pub fn leave_invalid(&mut self, fit: usize) {
        let place = self.place(fit);
        place.parameters.fill(f64::NAN);
        place.errors.fill(f64::NAN);
        place.covariance.fill(f64::NAN);
        *place.chi2 = f64::NAN;
        *place.degrees = 0;
        *place.iterations = 0;
        *place.evaluations = 0;
        *place.status = Status::Invalid;
        self.leave(fit);
    }

    /// Those that were left.
    pub fn take_left(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.left)
    }
}
