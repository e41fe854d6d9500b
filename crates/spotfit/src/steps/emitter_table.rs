//! Emitters of windows as CSV or NPY.

use std::io::{self, Write};

use super::outcomes::{Cell, OutcomeColumn, OutcomeFormat, OutcomeRows};
use crate::table::Meaning;
use crate::{EmitterFit, Options, Shape};

/// The columns for fits with these options, with their errors or not.
fn columns(options: &Options, wanted: bool) -> [OutcomeColumn<EmitterFit, ()>; 19] {
    use Cell::{Count, Flag, Number, Short};
    use Meaning as M;
    let two = matches!(options.shape, Shape::FixedSigmas(_));
    let free = wanted && matches!(options.shape, Shape::Circular(_));
    [
        (true, "emitter", Count(|fit| fit.emitter)),
        (true, M::X.name(), Number(|fit| fit.x)),
        (true, M::Y.name(), Number(|fit| fit.y)),
        (two, M::SigmaX.name(), Number(|fit| fit.sigma_x)),
        (two, M::SigmaY.name(), Number(|fit| fit.sigma_y)),
        (!two, M::Sigma.name(), Number(|fit| fit.sigma)),
        (true, "amplitude", Number(|fit| fit.amplitude)),
        (true, M::Background.name(), Number(|fit| fit.background)),
        (true, M::Goodness.name(), Number(|fit| fit.goodness)),
        (true, M::Neighbour.name(), Number(|fit| fit.neighbour)),
        (true, "crowd", Flag(|fit| fit.crowd)),
        (true, M::Status.name(), Cell::Status(|fit| fit.status)),
        (wanted, M::Photons.name(), Short(|fit, ()| fit.photons)),
        (wanted, M::PhotonsError.name(), Short(|fit, ()| fit.errors.photons)),
        (wanted, "x_error", Short(|fit, ()| fit.errors.x)),
        (wanted, "y_error", Short(|fit, ()| fit.errors.y)),
        (free, M::SigmaError.name(), Short(|fit, ()| fit.errors.sigma)),
        (wanted, "amplitude_error", Short(|fit, ()| fit.errors.amplitude)),
        (wanted, M::BackgroundError.name(), Short(|fit, ()| fit.errors.background)),
    ]
}

/// Writes emitters in the order of the spots, as CSV or NPY. An NPY table is held in memory until it is finished: its first bytes say how many
/// rows it has.
#[derive(Debug)]
pub struct EmitterTable<W> {
    output: W,
    rows: OutcomeRows<EmitterFit, ()>,
    count: usize,
    bytes: Vec<u8>,
}

impl<W: Write> EmitterTable<W> {
    /// Begins a table for fits with these options, with errors and photons or not.
    ///
    /// # Errors
    /// Those of writing.
    pub fn create(
        mut output: W,
        format: OutcomeFormat,
        options: &Options,
        errors: bool,
    ) -> io::Result<Self> {
        let rows = OutcomeRows::new(format, columns(options, errors), false);
        if format == OutcomeFormat::Csv {
            output.write_all(&rows.head(0, "")?)?;
        }
        Ok(Self { output, rows, count: 0, bytes: Vec::new() })
    }

    /// Appends the emitters of the next spots.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write(&mut self, fits: &[EmitterFit]) -> io::Result<()> {
        self.count += fits.len();
        fits.iter().for_each(|fit| self.rows.write(fit.spot, fit, &(), &mut self.bytes));
        if self.rows.format == OutcomeFormat::Csv {
            self.output.write_all(&self.bytes)?;
            self.bytes.clear();
        }
        Ok(())
    }

    /// Ends the table and returns what was written to.
    ///
    /// # Errors
    /// Those of writing.
    pub fn finish(mut self) -> io::Result<W> {
        if self.rows.format == OutcomeFormat::Npy {
            self.output.write_all(&self.rows.head(self.count, ", ]")?)?;
            self.output.write_all(&self.bytes)?;
        }
        Ok(self.output)
    }
}
