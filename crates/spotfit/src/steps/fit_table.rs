//! Outcomes of fits as CSV or NPY.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::outcomes::{OutcomeFormat, STATUS};
use crate::npy::write_header;
use crate::table::Meaning;
use crate::{Background, Errors, Estimator, Fit, Options, Parameter, Shape};

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

/// Writes outcomes in the order of the spots, as CSV or NPY.
#[derive(Debug)]
pub struct FitTable<W> {
    output: W,
    format: OutcomeFormat,
    columns: Vec<Column>,
    errors: Vec<ErrorColumn>,
    /// Whether the backend has only the digits of `f32`, so that text shows no more.
    single: bool,
    spot: usize,
    text: String,
    bytes: Vec<u8>,
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
        let columns = columns(options);
        let errors = if errors { error_columns(options) } else { Vec::new() };
        let mut head = Vec::new();
        match format {
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
        output.write_all(&head)?;
        let (text, bytes) = (String::new(), Vec::new());
        Ok(Self { output, format, columns, errors, single, spot: 0, text, bytes })
    }

    /// Appends the outcomes of the next spots, with their errors if the table has them.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write(&mut self, fits: &[Fit<f64>], errors: &[Errors]) -> io::Result<()> {
        self.rows(fits, |index| errors.get(index).map(StandardErrors::from))
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
        self.rows(fits, |index| errors.get(index).copied())
    }

    fn rows(
        &mut self,
        fits: &[Fit<f64>],
        errors: impl Fn(usize) -> Option<StandardErrors>,
    ) -> io::Result<()> {
        self.text.clear();
        self.bytes.clear();
        let unknown = StandardErrors::from(&Errors::unknown());
        for (index, fit) in fits.iter().enumerate() {
            let wanted = !self.errors.is_empty();
            let errors = wanted.then(|| errors(index)).flatten().unwrap_or(unknown);
            match self.format {
                OutcomeFormat::Csv => self.csv_row(fit, &errors),
                OutcomeFormat::Npy => self.npy_row(fit, &errors),
            }
            self.spot += 1;
        }
        self.output.write_all(self.text.as_bytes())?;
        self.output.write_all(&self.bytes)
    }

    fn csv_row(&mut self, fit: &Fit<f64>, of: &StandardErrors) {
        let Self { text, columns, errors, single, spot, .. } = self;
        let mut write = |of: std::fmt::Arguments<'_>| {
            let written = text.write_fmt(of);
            debug_assert!(written.is_ok(), "writing to a string cannot fail");
        };
        write(format_args!("{spot}"));
        for (_, number) in columns {
            // Debug formatting is the shortest text that reads back as the same number.
            match number(fit) {
                number if *single => write(format_args!(",{:?}", number as f32)),
                number => write(format_args!(",{number:?}")),
            }
        }
        write(format_args!(",{},{}", fit.iterations, fit.status));
        for (_, number) in errors {
            write(format_args!(",{:?}", number(fit, of) as f32));
        }
        write(format_args!("\n"));
    }

    fn npy_row(&mut self, fit: &Fit<f64>, of: &StandardErrors) {
        self.bytes.extend_from_slice(&(self.spot as u64).to_le_bytes());
        for (_, number) in &self.columns {
            self.bytes.extend_from_slice(&number(fit).to_le_bytes());
        }
        self.bytes.extend_from_slice(&fit.iterations.to_le_bytes());
        let name = fit.status.name().chars().chain(std::iter::repeat('\0')).take(STATUS);
        self.bytes.extend(name.flat_map(|symbol| u32::from(symbol).to_le_bytes()));
        for (_, number) in &self.errors {
            self.bytes.extend_from_slice(&number(fit, of).to_le_bytes());
        }
    }

    /// What was written to.
    pub fn into_inner(self) -> W {
        self.output
    }
}
