//! Where the outcomes of a batch go, cut into pieces for threads.

use std::ops::Range;

use fit_core::Status;

use crate::CurveFits;

/// Consecutive fits of a batch, with room for what is found of them.
#[derive(Debug)]
pub struct Piece<R> {
    first: usize,
    length: usize,
    /// Parameters of a fit.
    pub(crate) count: usize,
    /// Room for what is found.
    pub room: R,
    /// Fits that are left for another fitter.
    left: Vec<usize>,
}

/// Consecutive fits of a batch, with room for their outcomes.
pub type Chunk<'a> = Piece<CurveBuffers<'a>>;

/// Room for the outcomes of fits, which is cut into pieces.
pub trait FitBuffers: Sized {
    /// Cuts off the room for the first so many fits, of `count` parameters.
    #[must_use]
    fn cut(&mut self, fits: usize, count: usize) -> Self;
}

/// The first numbers of an array, which it has no longer; none if there are not as many.
pub(crate) fn cut<'a, T>(array: &mut &'a mut [T], length: usize) -> &'a mut [T] {
    array.split_off_mut(..length).unwrap_or_default()
}

/// Room for so many fits, of `count` parameters, in pieces of `length` fits.
pub fn pieces<R: FitBuffers>(
    mut room: R,
    fits: usize,
    count: usize,
    length: usize,
) -> Vec<Piece<R>> {
    let of = |first: usize| {
        let length = length.min(fits - first);
        Piece { first, length, count, room: room.cut(length, count), left: Vec::new() }
    };
    (0..fits).step_by(length).map(of).collect()
}

impl<R> Piece<R> {
    /// The numbers of its fits.
    #[inline]
    pub fn fits(&self) -> Range<usize> {
        self.first..self.first + self.length
    }

    /// Where a fit lies in it.
    #[inline]
    pub(crate) fn at(&self, fit: usize) -> usize {
        fit - self.first
    }

    /// Leaves a fit for another fitter.
    #[inline]
    pub fn leave(&mut self, fit: usize) {
        self.left.push(fit);
    }

    /// Those that were left.
    pub fn take_left(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.left)
    }
}

/// Room for the outcomes of fits.
#[derive(Debug)]
pub struct CurveBuffers<'a> {
    pub(crate) parameters: &'a mut [f64],
    pub(crate) errors: &'a mut [f64],
    /// Empty if it is not to be kept.
    pub(crate) covariance: &'a mut [f64],
    pub(crate) chi2: &'a mut [f64],
    pub(crate) degrees: &'a mut [u32],
    pub(crate) iterations: &'a mut [u32],
    pub(crate) evaluations: &'a mut [u32],
    pub(crate) statuses: &'a mut [Status],
}

impl FitBuffers for CurveBuffers<'_> {
    fn cut(&mut self, fits: usize, count: usize) -> Self {
        Self {
            parameters: cut(&mut self.parameters, fits * count),
            errors: cut(&mut self.errors, fits * count),
            covariance: cut(&mut self.covariance, fits * count * count),
            chi2: cut(&mut self.chi2, fits),
            degrees: cut(&mut self.degrees, fits),
            iterations: cut(&mut self.iterations, fits),
            evaluations: cut(&mut self.evaluations, fits),
            statuses: cut(&mut self.statuses, fits),
        }
    }
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
    let (all, count) = (fits.len(), fits.parameters.ncols());
    let whole = "the arrays are in standard order";
    let room = CurveBuffers {
        parameters: fits.parameters.as_slice_mut().expect(whole),
        errors: fits.errors.as_slice_mut().expect(whole),
        covariance: fits.covariance.as_slice_mut().expect(whole),
        chi2: &mut fits.chi2,
        degrees: &mut fits.degrees,
        iterations: &mut fits.iterations,
        evaluations: &mut fits.evaluations,
        statuses: &mut fits.statuses,
    };
    pieces(room, all, count, length)
}

impl Chunk<'_> {
    /// Room for the outcome of a fit.
    #[inline]
    pub fn place(&mut self, fit: usize) -> Place<'_> {
        let (at, count, room) = (self.at(fit), self.count, &mut self.room);
        let squares = if room.covariance.is_empty() { 0 } else { count * count };
        Place {
            parameters: &mut room.parameters[at * count..][..count],
            errors: &mut room.errors[at * count..][..count],
            covariance: &mut room.covariance[at * squares..][..squares],
            chi2: &mut room.chi2[at],
            degrees: &mut room.degrees[at],
            iterations: &mut room.iterations[at],
            evaluations: &mut room.evaluations[at],
            status: &mut room.statuses[at],
        }
    }

    /// Leaves a fit whose place may have another outcome for another fitter: it becomes invalid.
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
}
