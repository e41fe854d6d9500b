//! Outcomes as CSV or NPY.

use std::fmt::Write as _;
use std::path::Path;

use fit_core::{Fit, Scalar};

use super::error::CliError;
use super::output::Output;
use spotfit::npy::write_header;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Csv,
    Npy,
}

impl Format {
    /// The format, by the ending of the file's name; CSV on standard output.
    pub(crate) fn of(path: &Path) -> Result<Self, CliError> {
        let extension = path.extension().map(std::ffi::OsStr::to_ascii_lowercase);
        match extension.as_ref().and_then(|extension| extension.to_str()) {
            _ if path == Path::new("-") => Ok(Self::Csv),
            Some("csv") => Ok(Self::Csv),
            Some("npy") => Ok(Self::Npy),
            _ => {
                let reason = "the output's name must end in .csv or .npy";
                Err(CliError::file(&path.display().to_string(), reason))
            }
        }
    }
}

/// Width of the status in an NPY file, in characters: that of the longest one.
const STATUS: usize = 14;

/// Writes outcomes in the order of the spots.
pub(crate) struct FitTable {
    output: Output,
    format: Format,
    /// Whether the backend has only the digits of `f32`, so that text shows no more.
    single: bool,
    spot: usize,
    text: String,
    bytes: Vec<u8>,
}

impl FitTable {
    /// Begins a table of `count` rows.
    pub(crate) fn create(
        path: &Path,
        format: Format,
        count: usize,
        single: bool,
    ) -> Result<Self, CliError> {
        let mut output = Output::create(path)?;
        let mut head = Vec::new();
        match format {
            Format::Csv => head
                .extend_from_slice(b"spot,x,y,sigma,amplitude,background,chi2,iterations,status\n"),
            Format::Npy => {
                let descr = format!(
                    "[('spot', '<u8'), ('x', '<f8'), ('y', '<f8'), ('sigma', '<f8'), \
                     ('amplitude', '<f8'), ('background', '<f8'), ('chi2', '<f8'), \
                     ('iterations', '<u4'), ('status', '<U{STATUS}')]"
                );
                let name = output.name().to_owned();
                write_header(&mut head, &descr, &[count]).map_err(CliError::write(&name))?;
            }
        }
        output.write_all(&head)?;
        Ok(Self { output, format, single, spot: 0, text: String::new(), bytes: Vec::new() })
    }

    /// Appends the outcomes of the next spots.
    pub(crate) fn write(&mut self, fits: &[Fit<f64>]) -> Result<(), CliError> {
        self.text.clear();
        self.bytes.clear();
        for fit in fits {
            match self.format {
                Format::Csv if self.single => self.csv_row::<f32>(&fit.cast()),
                Format::Csv => self.csv_row(fit),
                Format::Npy => self.npy_row(fit),
            }
            self.spot += 1;
        }
        self.output.write_all(self.text.as_bytes())?;
        self.output.write_all(&self.bytes)
    }

    fn csv_row<T: Scalar>(&mut self, fit: &Fit<T>) {
        let Fit { x, y, sigma, amplitude, background, chi2, iterations, status, .. } = fit;
        // Debug formatting is the shortest text that reads back as the same number.
        let written = writeln!(
            self.text,
            "{},{x:?},{y:?},{sigma:?},{amplitude:?},{background:?},{chi2:?},{iterations},{status}",
            self.spot
        );
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }

    fn npy_row(&mut self, fit: &Fit<f64>) {
        self.bytes.extend_from_slice(&(self.spot as u64).to_le_bytes());
        for number in [fit.x, fit.y, fit.sigma, fit.amplitude, fit.background, fit.chi2] {
            self.bytes.extend_from_slice(&number.to_le_bytes());
        }
        self.bytes.extend_from_slice(&fit.iterations.to_le_bytes());
        let name = fit.status.name().chars().chain(std::iter::repeat('\0')).take(STATUS);
        self.bytes.extend(name.flat_map(|symbol| u32::from(symbol).to_le_bytes()));
    }

    /// Completes the file.
    pub(crate) fn finish(self) -> Result<(), CliError> {
        self.output.finish()
    }
}
