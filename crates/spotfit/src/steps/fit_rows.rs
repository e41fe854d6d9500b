//! Outcomes of fits as rows of CSV or NPY.

use std::io;

use spotfit_files::private::{write_double, write_single, write_whole};

use super::outcomes::{OutcomeFormat, STATUS};
use crate::npy::write_header;
use crate::table::Meaning;
use crate::{Background, Errors, Estimator, Fit, Options, Parameter, Shape, Status};

/// A column of numbers: its name, and what it has of a fit.
type Column = (&'static str, fn(&Fit<f64>) -> f64);

/// The columns for fits with these options, between the number of the spot and its iterations.
fn columns(options: &Options) -> Vec<Column> {
    let circular = matches!(options.shape, Shape::Circular(_) | Shape::FixedSigma(_));
    let mut columns: Vec<Column> =
        vec![(Meaning::X.name(), |fit| fit.x), (Meaning::Y.name(), |fit| fit.y)];
    if circular {
        columns.push((Meaning::Sigma.name(), |fit| fit.sigma));
    } else {
        columns.push((Meaning::SigmaX.name(), |fit| fit.sigma_x));
        columns.push((Meaning::SigmaY.name(), |fit| fit.sigma_y));
    }
    if matches!(options.shape, Shape::Rotated(_)) {
        columns.push((Meaning::Angle.name(), |fit| fit.angle));
    }
    columns.push(("amplitude", |fit| fit.amplitude));
    columns.push((Meaning::Background.name(), |fit| fit.background));
    if options.background == Background::Plane {
        columns.push((Meaning::OffsetX.name(), |fit| fit.offset_x));
        columns.push((Meaning::OffsetY.name(), |fit| fit.offset_y));
    }
    let cost = match options.estimator {
        Estimator::MaximumLikelihood => "deviance",
        _ => Meaning::Chi2.name(),
    };
    columns.push((cost, |fit| fit.chi2));
    columns
}

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
const PARAMETERS: usize = 7;

impl StandardErrors {
    fn of(&self, parameter: Parameter) -> f64 {
        self.parameters[parameter as usize].into()
    }
}

impl From<&Errors> for StandardErrors {
    fn from(errors: &Errors) -> Self {
        let parameters = [
            Parameter::X,
            Parameter::Y,
            Parameter::SigmaX,
            Parameter::SigmaY,
            Parameter::Angle,
            Parameter::Amplitude,
            Parameter::Background,
        ];
        Self {
            parameters: parameters.map(|parameter| errors.of(parameter)),
            photons: errors.photons,
            goodness: errors.goodness,
        }
    }
}

/// A column about errors: its name, and what it has of a fit and its errors.
type ErrorColumn = (&'static str, fn(&Fit<f64>, &StandardErrors) -> f64);

/// The columns about errors for fits with these options, after all others.
fn error_columns(options: &Options) -> Vec<ErrorColumn> {
    let mut columns: Vec<ErrorColumn> = vec![
        (Meaning::Photons.name(), |fit, _| fit.signal()),
        (Meaning::PhotonsError.name(), |_, errors| errors.photons.into()),
        ("x_error", |_, errors| errors.of(Parameter::X)),
        ("y_error", |_, errors| errors.of(Parameter::Y)),
    ];
    match options.shape {
        Shape::Circular(_) => {
            columns.push((Meaning::SigmaError.name(), |_, errors| errors.of(Parameter::SigmaX)));
        }
        Shape::Elliptical(_) | Shape::Rotated(_) => {
            columns.push((Meaning::SigmaXError.name(), |_, errors| errors.of(Parameter::SigmaX)));
            columns.push((Meaning::SigmaYError.name(), |_, errors| errors.of(Parameter::SigmaY)));
        }
        _ => {}
    }
    if matches!(options.shape, Shape::Rotated(_)) {
        columns.push(("angle_error", |_, errors| errors.of(Parameter::Angle)));
    }
    columns.push(("amplitude_error", |_, errors| errors.of(Parameter::Amplitude)));
    columns.push((Meaning::BackgroundError.name(), |_, errors| errors.of(Parameter::Background)));
    columns.push((Meaning::Goodness.name(), |_, errors| errors.goodness.into()));
    columns
}

/// What rows of a table look like. Several threads can make them.
#[derive(Debug)]
pub(super) struct FitRows {
    format: OutcomeFormat,
    columns: Vec<Column>,
    errors: Vec<ErrorColumn>,
    /// Whether the backend has only the digits of `f32`, so that text shows no more.
    single: bool,
    /// The names of all statuses as NPY files have them.
    statuses: Vec<[u8; 4 * STATUS]>,
}

impl FitRows {
    /// Rows for fits with these options, with their errors or not. With `single`, numbers have the digits of single precision.
    pub(super) fn new(
        format: OutcomeFormat,
        options: &Options,
        single: bool,
        errors: bool,
    ) -> Self {
        let errors = if errors { error_columns(options) } else { Vec::new() };
        let statuses = Status::ALL.map(|status| {
            let mut name = [0; 4 * STATUS];
            let (places, _) = name.as_chunks_mut();
            for (place, symbol) in places.iter_mut().zip(status.name().chars()) {
                *place = u32::from(symbol).to_le_bytes();
            }
            name
        });
        Self { format, columns: columns(options), errors, single, statuses: statuses.into() }
    }

    /// What comes before `count` rows.
    pub(super) fn head(&self, count: usize) -> io::Result<Vec<u8>> {
        let Self { columns, errors, .. } = self;
        let mut head = Vec::new();
        match self.format {
            OutcomeFormat::Csv => {
                let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
                let more = errors.iter().map(|(name, _)| format!(",{name}")).collect::<String>();
                let line = format!("spot,{},iterations,status{more}\n", names.join(","));
                head.extend_from_slice(line.as_bytes());
            }
            OutcomeFormat::Npy => {
                let numbers = columns.iter().map(|(name, _)| format!("('{name}', '<f8'), "));
                let more = errors.iter().map(|(name, _)| format!(", ('{name}', '<f8')"));
                let descr = format!(
                    "[('spot', '<u8'), {}('iterations', '<u4'), ('status', '<U{STATUS}'){}]",
                    numbers.collect::<String>(),
                    more.collect::<String>()
                );
                write_header(&mut head, &descr, &[count])?;
            }
        }
        Ok(head)
    }

    /// The bytes of a row, if all have as many.
    pub(super) fn row_bytes(&self) -> Option<usize> {
        (self.format == OutcomeFormat::Npy).then(|| self.npy_bytes())
    }

    /// The bytes of a row of NPY: numbers, iterations and status.
    fn npy_bytes(&self) -> usize {
        8 * (1 + self.columns.len() + self.errors.len()) + 4 + 4 * STATUS
    }

    /// Appends the rows of fits, of which the first is of the spot `first`, with their errors if the table has them.
    pub(super) fn write(
        &self,
        first: usize,
        fits: &[Fit<f64>],
        errors: impl Fn(usize) -> Option<StandardErrors>,
        bytes: &mut Vec<u8>,
    ) {
        let unknown = StandardErrors::from(&Errors::unknown());
        for (index, fit) in fits.iter().enumerate() {
            let wanted = !self.errors.is_empty();
            let errors = wanted.then(|| errors(index)).flatten().unwrap_or(unknown);
            match self.format {
                OutcomeFormat::Csv => self.csv_row(first + index, fit, &errors, bytes),
                OutcomeFormat::Npy => self.npy_row(first + index, fit, &errors, bytes),
            }
        }
    }

    fn csv_row(&self, spot: usize, fit: &Fit<f64>, of: &StandardErrors, text: &mut Vec<u8>) {
        write_whole(spot, text);
        // The shortest text that reads back as the same number.
        for (_, number) in &self.columns {
            text.push(b',');
            match number(fit) {
                number if self.single => write_single(number as f32, text),
                number => write_double(number, text),
            }
        }
        text.push(b',');
        write_whole(fit.iterations as usize, text);
        text.push(b',');
        text.extend_from_slice(fit.status.name().as_bytes());
        for (_, number) in &self.errors {
            text.push(b',');
            write_single(number(fit, of) as f32, text);
        }
        text.push(b'\n');
    }

    fn npy_row(&self, spot: usize, fit: &Fit<f64>, of: &StandardErrors, bytes: &mut Vec<u8>) {
        let from = bytes.len();
        bytes.resize(from + self.npy_bytes(), 0);
        let (numbers, rest) = bytes[from..].split_at_mut(8 * (1 + self.columns.len()));
        let (numbers, _) = numbers.as_chunks_mut();
        numbers[0] = (spot as u64).to_le_bytes();
        for (to, (_, number)) in numbers[1..].iter_mut().zip(&self.columns) {
            *to = number(fit).to_le_bytes();
        }
        let (iterations, rest) = rest.split_at_mut(4);
        iterations.copy_from_slice(&fit.iterations.to_le_bytes());
        let (status, rest) = rest.split_at_mut(4 * STATUS);
        status.copy_from_slice(&self.statuses[fit.status as usize - 1]);
        for (to, (_, number)) in rest.as_chunks_mut().0.iter_mut().zip(&self.errors) {
            *to = number(fit, of).to_le_bytes();
        }
    }
}
