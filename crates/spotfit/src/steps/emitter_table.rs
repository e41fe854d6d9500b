//! Emitters of windows as CSV or NPY.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::outcomes::{OutcomeFormat, STATUS};
use crate::npy::write_header;
use crate::table::Meaning;
use crate::{EmitterFit, Options, Shape};

/// A column of numbers: its name, and what it has of an emitter.
type Column = (&'static str, fn(&EmitterFit) -> f64);

/// The columns for fits with these options, between the number of the emitter and its flag.
fn columns(options: &Options) -> Vec<Column> {
    let mut columns: Vec<Column> =
        vec![(Meaning::X.name(), |fit| fit.x), (Meaning::Y.name(), |fit| fit.y)];
    if matches!(options.shape, Shape::FixedSigmas(_)) {
        columns.push((Meaning::SigmaX.name(), |fit| fit.sigma_x));
        columns.push((Meaning::SigmaY.name(), |fit| fit.sigma_y));
    } else {
        columns.push((Meaning::Sigma.name(), |fit| fit.sigma));
    }
    columns.push(("amplitude", |fit| fit.amplitude));
    columns.push((Meaning::Background.name(), |fit| fit.background));
    columns.push((Meaning::Goodness.name(), |fit| fit.goodness));
    columns.push((Meaning::Neighbour.name(), |fit| fit.neighbour));
    columns
}

/// The columns about errors, after all others.
fn error_columns(options: &Options) -> Vec<Column> {
    let mut columns: Vec<Column> = vec![
        (Meaning::Photons.name(), |fit| fit.photons),
        (Meaning::PhotonsError.name(), |fit| fit.errors.photons),
        ("x_error", |fit| fit.errors.x),
        ("y_error", |fit| fit.errors.y),
    ];
    if matches!(options.shape, Shape::Circular(_)) {
        columns.push((Meaning::SigmaError.name(), |fit| fit.errors.sigma));
    }
    columns.push(("amplitude_error", |fit| fit.errors.amplitude));
    columns.push((Meaning::BackgroundError.name(), |fit| fit.errors.background));
    columns
}

/// Writes emitters in the order of the spots, as CSV or NPY. An NPY table is held in memory until it is finished: its first bytes say how many
/// rows it has.
#[derive(Debug)]
pub struct EmitterTable<W> {
    output: W,
    format: OutcomeFormat,
    columns: Vec<Column>,
    errors: Vec<Column>,
    rows: usize,
    text: String,
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
        let columns = columns(options);
        let errors = if errors { error_columns(options) } else { Vec::new() };
        if format == OutcomeFormat::Csv {
            let names = |columns: &[Column]| -> String {
                columns.iter().map(|(name, _)| format!(",{name}")).collect()
            };
            let (own, more) = (names(&columns), names(&errors));
            output.write_all(format!("spot,emitter{own},crowd,status{more}\n").as_bytes())?;
        }
        let (text, bytes) = (String::new(), Vec::new());
        Ok(Self { output, format, columns, errors, rows: 0, text, bytes })
    }

    /// Appends the emitters of the next spots.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write(&mut self, fits: &[EmitterFit]) -> io::Result<()> {
        self.rows += fits.len();
        match self.format {
            OutcomeFormat::Csv => {
                self.text.clear();
                fits.iter().for_each(|fit| self.csv_row(fit));
                self.output.write_all(self.text.as_bytes())
            }
            OutcomeFormat::Npy => {
                fits.iter().for_each(|fit| self.npy_row(fit));
                Ok(())
            }
        }
    }

    fn csv_row(&mut self, fit: &EmitterFit) {
        let Self { text, columns, errors, .. } = self;
        let mut write = |of: std::fmt::Arguments<'_>| {
            let written = text.write_fmt(of);
            debug_assert!(written.is_ok(), "writing to a string cannot fail");
        };
        write(format_args!("{},{}", fit.spot, fit.emitter));
        for (_, number) in columns {
            // Debug formatting is the shortest text that reads back as the same number.
            write(format_args!(",{:?}", number(fit)));
        }
        write(format_args!(",{},{}", u8::from(fit.crowd), fit.status));
        for (_, number) in errors {
            write(format_args!(",{:?}", number(fit) as f32));
        }
        write(format_args!("\n"));
    }

    fn npy_row(&mut self, fit: &EmitterFit) {
        self.bytes.extend_from_slice(&(fit.spot as u64).to_le_bytes());
        self.bytes.extend_from_slice(&fit.emitter.to_le_bytes());
        for (_, number) in &self.columns {
            self.bytes.extend_from_slice(&number(fit).to_le_bytes());
        }
        self.bytes.push(u8::from(fit.crowd));
        let name = fit.status.name().chars().chain(std::iter::repeat('\0')).take(STATUS);
        self.bytes.extend(name.flat_map(|symbol| u32::from(symbol).to_le_bytes()));
        for (_, number) in &self.errors {
            self.bytes.extend_from_slice(&number(fit).to_le_bytes());
        }
    }

    /// Ends the table and returns what was written to.
    ///
    /// # Errors
    /// Those of writing.
    pub fn finish(mut self) -> io::Result<W> {
        if self.format == OutcomeFormat::Npy {
            let numbers = |columns: &[Column]| -> String {
                columns.iter().map(|(name, _)| format!("('{name}', '<f8'), ")).collect()
            };
            let descr = format!(
                "[('spot', '<u8'), ('emitter', '<u4'), {}('crowd', '|b1'), ('status', '<U{STATUS}'), {}]",
                numbers(&self.columns),
                numbers(&self.errors)
            );
            let mut head = Vec::new();
            write_header(&mut head, &descr, &[self.rows])?;
            self.output.write_all(&head)?;
            self.output.write_all(&self.bytes)?;
        }
        Ok(self.output)
    }
}
