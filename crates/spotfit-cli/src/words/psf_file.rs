//! Files of measured PSFs.

use std::path::Path;

use crate::error::CliError;
use crate::words::output::Output;
use spotfit::hdf5::H5Error;
use spotfit::psf::{self, Psf, PsfError};

/// A measured PSF that is to be there.
pub(crate) fn write_psf(
    path: &Path,
    psf: &Psf,
    pixel_size: Option<f64>,
) -> Result<Output, CliError> {
    let output = Output::create(path)?;
    let name = output.name().to_owned();
    psf::write(output, psf, pixel_size).map_err(|error| match error {
        PsfError::Hdf5(H5Error::Io(source)) => CliError::write(&name)(source),
        PsfError::Hdf5(error) => CliError::file(&name, error.to_string()),
        error => CliError::Other(error.to_string()),
    })
}
