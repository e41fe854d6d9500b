//! What windows of a stack come with.

use std::io;

use crate::npy::NpyError;
use crate::{AnyWindows, FitError, Start};

/// What windows come with besides their pixels: start values, weights, and where they lie.
///
/// Windows are fitted in parts. What belongs to a part is taken in the order of the windows, by one thread at a time; what can be read
/// anywhere is better only noted then, and loaded by all threads at once.
pub trait Beside: Sync {
    /// What belongs to a part of the windows. It is used again for later parts.
    type Part: Default + Send;
    /// Why there is none.
    type Error: Send;

    /// Takes what belongs to the next `count` windows.
    ///
    /// # Errors
    /// If it is not there, or wrong.
    fn next(&self, count: usize, part: &mut Self::Part) -> Result<(), Self::Error>;

    /// Loads what was only noted of a part.
    ///
    /// # Errors
    /// If it cannot be read, or is wrong.
    fn load(&self, part: &mut Self::Part) -> Result<(), Self::Error> {
        let _ = part;
        Ok(())
    }

    /// Windows with what belongs to them, and where their fits start.
    fn give<'a>(
        &'a self,
        part: &'a Self::Part,
        windows: AnyWindows<'a>,
    ) -> (AnyWindows<'a>, Start<'a>);
}

/// Nothing.
impl Beside for () {
    type Part = ();
    type Error = std::convert::Infallible;

    fn next(&self, _: usize, (): &mut ()) -> Result<(), Self::Error> {
        Ok(())
    }

    fn give<'a>(&'a self, (): &'a (), windows: AnyWindows<'a>) -> (AnyWindows<'a>, Start<'a>) {
        (windows, Start::Estimate)
    }
}

/// Why the windows of a stack were not fitted and written. What is told is what comes first in the order of the windows.
#[derive(Debug)]
#[non_exhaustive]
pub enum FitStackError<E> {
    /// They cannot be read.
    Read(NpyError),
    /// What they come with cannot be had.
    Beside(E),
    /// They cannot be fitted.
    Fit(FitError),
    /// Their outcomes cannot be written.
    Write(io::Error),
    /// The user has ended the work.
    Cancelled,
}
