//! Outcomes of fits as CSV or NPY.

use std::io::{self, Write};

use rayon::prelude::*;

use super::fit_rows::FitRows;
use super::outcomes::OutcomeFormat;
use crate::{Errors, Fit, Options};

pub use super::fit_rows::StandardErrors;

/// Rows that a thread makes at a time.
pub(super) const PIECE: usize = 1 << 12;

/// Rows that are in memory at a time.
const BLOCK: usize = 1 << 17;

/// Writes outcomes in the order of the spots, as CSV or NPY. All threads make rows.
#[derive(Debug)]
pub struct FitTable<W> {
    pub(super) output: W,
    pub(super) rows: FitRows,
    /// The first spot that is not written.
    pub(super) spot: usize,
}

impl<W: Write> FitTable<W> {
    /// Begins a table of `count` rows for fits with these options, with their errors or not. With `single`, numbers have
    /// the digits of single precision.
    ///
    /// # Errors
    /// Those of writing.
    pub fn create(
        mut output: W,
        format: OutcomeFormat,
        count: usize,
        options: &Options,
        single: bool,
        errors: bool,
    ) -> io::Result<Self> {
        let rows = FitRows::new(format, options, single, errors);
        output.write_all(&rows.head(count)?)?;
        Ok(Self { output, rows, spot: 0 })
    }

    /// Appends the outcomes of the next spots, with their errors if the table has them.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write(&mut self, fits: &[Fit<f64>], errors: &[Errors]) -> io::Result<()> {
        self.write_rows(fits, |index| errors.get(index).map(StandardErrors::from))
    }

    /// The same with errors that others have taken from [`Errors`].
    ///
    /// # Errors
    /// Those of writing.
    pub fn write_numbers(
        &mut self,
        fits: &[Fit<f64>],
        errors: &[StandardErrors],
    ) -> io::Result<()> {
        self.write_rows(fits, |index| errors.get(index).copied())
    }

    fn write_rows(
        &mut self,
        fits: &[Fit<f64>],
        errors: impl Fn(usize) -> Option<StandardErrors> + Sync,
    ) -> io::Result<()> {
        let Self { output, rows, spot } = self;
        for (block, fits) in fits.chunks(BLOCK).enumerate() {
            for piece in pieces(rows, *spot, block * BLOCK, fits, &errors) {
                output.write_all(&piece)?;
            }
            *spot += fits.len();
        }
        Ok(())
    }

    /// What was written to.
    pub fn into_inner(self) -> W {
        self.output
    }
}

/// The rows of fits, made by all threads: of the spots from `spot` on, whose errors have numbers from `first` on.
pub(super) fn pieces(
    rows: &FitRows,
    spot: usize,
    first: usize,
    fits: &[Fit<f64>],
    errors: &(impl Fn(usize) -> Option<StandardErrors> + Sync),
) -> Vec<Vec<u8>> {
    let piece = |(piece, fits): (usize, &[Fit<f64>])| {
        let (mut bytes, begin) = (Vec::new(), piece * PIECE);
        rows.write(spot + begin, fits, |index| errors(first + begin + index), &mut bytes);
        bytes
    };
    if fits.len() <= PIECE {
        return vec![piece((0, fits))];
    }
    fits.par_chunks(PIECE).enumerate().map(piece).collect()
}
