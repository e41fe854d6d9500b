//! Outcomes of fits as CSV or NPY.

use std::io::{self, Write};

use rayon::prelude::*;

use super::outcomes::{Cell, OutcomeColumn, OutcomeFormat, OutcomeRows};
use crate::table::Meaning;
use crate::{Background, Errors, Estimator, Fit, Options, Parameter, Shape};

/// The standard errors of a fit, as a table has them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StandardErrors {
    /// Those of the parameters, in the order of [`Parameter`].
    pub parameters: [f32; PARAMETERS],
    /// That of the photons.
    pub photons: f32,
    /// χ² per degree of freedom.
    pub goodness: f32,
}

/// The parameters of a fit.
const PARAMETERS: usize = Parameter::ALL.len();

impl StandardErrors {
    /// Those of fits of which none is known: see [`Errors::unknown`].
    const UNKNOWN: Self = Self {
        parameters: [f32::INFINITY; PARAMETERS],
        photons: f32::INFINITY,
        goodness: f32::INFINITY,
    };

    /// Those of one of some fits, if errors are known.
    pub(super) fn at(errors: &[Errors], index: usize) -> Self {
        errors.get(index).map_or(Self::UNKNOWN, Self::from)
    }

    fn of(&self, parameter: Parameter) -> f64 {
        self.parameters[parameter as usize].into()
    }
}

impl From<&Errors> for StandardErrors {
    fn from(errors: &Errors) -> Self {
        Self {
            parameters: Parameter::ALL.map(|parameter| errors.of(parameter)),
            photons: errors.photons,
            goodness: errors.goodness,
        }
    }
}

/// The columns for fits with these options, with their errors or not.
fn columns(options: &Options, wanted: bool) -> [OutcomeColumn<Fit<f64>, StandardErrors>; 24] {
    use Cell::{Count, Number, Short};
    use Meaning as M;
    use Shape::{Circular, Elliptical, FixedSigma, Rotated};
    let circular = matches!(options.shape, Circular(_) | FixedSigma(_));
    let turned = matches!(options.shape, Rotated(_));
    let plane = options.background == Background::Plane;
    let one = wanted && matches!(options.shape, Circular(_));
    let two = wanted && matches!(options.shape, Elliptical(_) | Rotated(_));
    let cost = match options.estimator {
        Estimator::MaximumLikelihood => "deviance",
        _ => M::Chi2.name(),
    };
    [
        (true, M::X.name(), Number(|fit| fit.x)),
        (true, M::Y.name(), Number(|fit| fit.y)),
        (circular, M::Sigma.name(), Number(|fit| fit.sigma)),
        (!circular, M::SigmaX.name(), Number(|fit| fit.sigma_x)),
        (!circular, M::SigmaY.name(), Number(|fit| fit.sigma_y)),
        (turned, M::Angle.name(), Number(|fit| fit.angle)),
        (true, "amplitude", Number(|fit| fit.amplitude)),
        (true, M::Background.name(), Number(|fit| fit.background)),
        (plane, M::OffsetX.name(), Number(|fit| fit.offset_x)),
        (plane, M::OffsetY.name(), Number(|fit| fit.offset_y)),
        (true, cost, Number(|fit| fit.chi2)),
        (true, M::Iterations.name(), Count(|fit| fit.iterations)),
        (true, M::Status.name(), Cell::Status(|fit| fit.status)),
        (wanted, M::Photons.name(), Short(|fit, _| fit.signal())),
        (wanted, M::PhotonsError.name(), Short(|_, errors| errors.photons.into())),
        (wanted, "x_error", Short(|_, errors| errors.of(Parameter::X))),
        (wanted, "y_error", Short(|_, errors| errors.of(Parameter::Y))),
        (one, M::SigmaError.name(), Short(|_, errors| errors.of(Parameter::SigmaX))),
        (two, M::SigmaXError.name(), Short(|_, errors| errors.of(Parameter::SigmaX))),
        (two, M::SigmaYError.name(), Short(|_, errors| errors.of(Parameter::SigmaY))),
        (wanted && turned, "angle_error", Short(|_, errors| errors.of(Parameter::Angle))),
        (wanted, "amplitude_error", Short(|_, errors| errors.of(Parameter::Amplitude))),
        (wanted, M::BackgroundError.name(), Short(|_, errors| errors.of(Parameter::Background))),
        (wanted, M::Goodness.name(), Short(|_, errors| errors.goodness.into())),
    ]
}

/// What rows of a table of fits look like.
pub(super) type FitRows = OutcomeRows<Fit<f64>, StandardErrors>;

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
        let rows = FitRows::new(format, columns(options, errors), single);
        output.write_all(&rows.head(count, "]")?)?;
        Ok(Self { output, rows, spot: 0 })
    }

    /// Appends the outcomes of the next spots, with their errors if the table has them.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write(&mut self, fits: &[Fit<f64>], errors: &[StandardErrors]) -> io::Result<()> {
        let Self { output, rows, spot } = self;
        let of = |index: usize| errors.get(index).copied().unwrap_or(StandardErrors::UNKNOWN);
        for (block, fits) in fits.chunks(BLOCK).enumerate() {
            for piece in pieces(rows, *spot, fits, &|index| of(block * BLOCK + index)) {
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

/// Appends the rows of fits, of which the first is of the spot `first`.
pub(super) fn write_rows(
    rows: &FitRows,
    first: usize,
    fits: &[Fit<f64>],
    errors: impl Fn(usize) -> StandardErrors,
    bytes: &mut Vec<u8>,
) {
    for (index, fit) in fits.iter().enumerate() {
        rows.write(first + index, fit, &errors(index), bytes);
    }
}

/// The rows of fits, made by all threads: of the spots from `first` on.
pub(super) fn pieces(
    rows: &FitRows,
    first: usize,
    fits: &[Fit<f64>],
    errors: &(impl Fn(usize) -> StandardErrors + Sync),
) -> Vec<Vec<u8>> {
    let piece = |(piece, fits): (usize, &[Fit<f64>])| {
        let (mut bytes, begin) = (Vec::new(), piece * PIECE);
        write_rows(rows, first + begin, fits, |index| errors(begin + index), &mut bytes);
        bytes
    };
    if fits.len() <= PIECE {
        return vec![piece((0, fits))];
    }
    fits.par_chunks(PIECE).enumerate().map(piece).collect()
}
