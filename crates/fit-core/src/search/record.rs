//! The outcome of a search.

/// The outcome of a fit with P parameters and L linear parameters: of one fit, or of one in each lane of a pack.
/// Counts and status are numbers like all others, one in each lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record<R, const P: usize, const L: usize> {
    /// The parameters that the fit searched for.
    pub parameters: [R; P],
    /// The linear parameters: amplitude and background.
    pub linear: [R; L],
    /// χ².
    pub cost: R,
    /// Passes of the outer loop.
    pub iterations: R,
    /// Visits to the pixels while searching.
    pub evaluations: R,
    /// The code of a [`crate::Status`], 0 while searching.
    pub status: R,
}

impl<R, const P: usize, const L: usize> Record<R, P, L> {
    /// The same record with every number converted, for instance to the number of one lane.
    #[inline(always)]
    pub fn map<U>(&self, mut number: impl FnMut(&R) -> U) -> Record<U, P, L> {
        Record {
            parameters: self.parameters.each_ref().map(&mut number),
            linear: self.linear.each_ref().map(&mut number),
            cost: number(&self.cost),
            iterations: number(&self.iterations),
            evaluations: number(&self.evaluations),
            status: number(&self.status),
        }
    }
}
