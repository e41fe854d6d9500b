//! Fitted curves as CSV or NPY.

use std::fmt::Write as _;
use std::path::Path;

use spotfit::Estimator;
use spotfit::model::CurveFits;
use spotfit::npy::write_header;

use crate::error::CliError;
use crate::words::output::Output;
use crate::words::table::{Format, STATUS};

/// Writes fits in their order.
pub(crate) struct CurveTable {
    output: Output,
    format: Format,
    fit: usize,
    bytes: Vec<u8>,
}

impl CurveTable {
    /// Begins a table of `count` rows for a model with these parameters.
    pub(crate) fn create(
        path: &Path,
        format: Format,
        count: usize,
        parameters: &[String],
        estimator: Estimator,
    ) -> Result<Self, CliError> {
        let cost = if estimator == Estimator::MaximumLikelihood { "deviance" } else { "chi2" };
        let names: Vec<String> = parameters
            .iter()
            .cloned()
            .chain(parameters.iter().map(|name| format!("{name}_error")))
            .chain([cost.to_owned()])
            .collect();
        let mut output = Output::create(path)?;
        let mut head = Vec::new();
        match format {
            Format::Csv => {
                let line = format!("fit,{},degrees,iterations,status\n", names.join(","));
                head.extend_from_slice(line.as_bytes());
            }
            Format::Npy => {
                let numbers: String =
                    names.iter().map(|name| format!("('{name}', '<f8'), ")).collect();
                let descr = format!(
                    "[('fit', '<u8'), {numbers}('degrees', '<u4'), ('iterations', '<u4'), ('status', '<U{STATUS}')]"
                );
                let name = output.name().to_owned();
                write_header(&mut head, &descr, &[count]).map_err(CliError::write(&name))?;
            }
        }
        output.write_all(&head)?;
        Ok(Self { output, format, fit: 0, bytes: Vec::new() })
    }

    /// Appends the next fits.
    pub(crate) fn write(&mut self, fits: &CurveFits) -> Result<(), CliError> {
        self.bytes.clear();
        let mut text = String::new();
        for row in 0..fits.len() {
            let parameters = fits.parameters.row(row);
            let errors = fits.errors.row(row);
            let numbers = parameters.iter().chain(&errors).chain([&fits.chi2[row]]);
            match self.format {
                Format::Csv => {
                    text.clear();
                    let mut write = |of: std::fmt::Arguments<'_>| {
                        let written = text.write_fmt(of);
                        debug_assert!(written.is_ok(), "writing to a string cannot fail");
                    };
                    write(format_args!("{}", self.fit));
                    // Debug formatting is the shortest text that reads back as the same number.
                    numbers.for_each(|number| write(format_args!(",{number:?}")));
                    let (degrees, iterations) = (fits.degrees[row], fits.iterations[row]);
                    write(format_args!(",{degrees},{iterations},{}\n", fits.statuses[row]));
                    self.bytes.extend_from_slice(text.as_bytes());
                }
                Format::Npy => {
                    self.bytes.extend_from_slice(&(self.fit as u64).to_le_bytes());
                    numbers.for_each(|number| self.bytes.extend_from_slice(&number.to_le_bytes()));
                    self.bytes.extend_from_slice(&fits.degrees[row].to_le_bytes());
                    self.bytes.extend_from_slice(&fits.iterations[row].to_le_bytes());
                    let name = fits.statuses[row].name().chars();
                    let name = name.chain(std::iter::repeat('\0')).take(STATUS);
                    self.bytes.extend(name.flat_map(|symbol| u32::from(symbol).to_le_bytes()));
                }
            }
            self.fit += 1;
        }
        self.output.write_all(&self.bytes)
    }

    /// Completes the file, and others with it.
    pub(crate) fn finish(self, others: Option<Output>) -> Result<(), CliError> {
        self.output.finish_with(others)
    }
}
