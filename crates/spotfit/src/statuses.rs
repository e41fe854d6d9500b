//! Counting how fits ended.

use std::fmt;

use fit_core::{Fit, Status};

/// How many fits ended in which way. Displayed as `7 min_delta, 1 invalid`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StatusCounts([usize; Status::ALL.len()]);

impl StatusCounts {
    /// Counts more fits.
    pub fn add<T>(&mut self, fits: &[Fit<T>]) {
        fits.iter().for_each(|fit| self.count(fit.status));
    }

    /// Counts one more.
    pub fn count(&mut self, status: Status) {
        self.0[status as usize - 1] += 1;
    }

    /// Counts those that others have counted.
    pub fn join(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, its)| *mine += its);
    }

    /// Every status in the order of [`Status::ALL`], with the number of fits that ended with it.
    pub fn iter(&self) -> impl Iterator<Item = (Status, usize)> + '_ {
        Status::ALL.into_iter().zip(self.0)
    }

    /// The number of all fits.
    pub fn total(&self) -> usize {
        self.0.iter().sum()
    }

    /// The number of fits that converged.
    pub fn converged(&self) -> usize {
        self.iter().filter(|(status, _)| status.is_converged()).map(|(_, count)| count).sum()
    }
}

impl fmt::Display for StatusCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (status, count) in self.iter().filter(|&(_, count)| count > 0) {
            write!(f, "{separator}{count} {status}")?;
            separator = ", ";
        }
        Ok(())
    }
}
