//! Files that appear under their name only when they are complete, with the errors of the command.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use clap::Args;
use spotfit::output;
use spotfit::output::paths::descriptor;

use crate::error::CliError;
use crate::interrupt;
use crate::say::hearer::hearer;
use crate::words::written::was_checked;
use spotfit::table::{PicassoVersion, SaveOptions};

/// How tables are written.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Writing {
    /// Replace files that Spotfit did not write: the output itself, and what is not named here, such as the .yaml beside a .hdf5 file.
    /// Without this option such a file is not changed, and nothing is written.
    #[arg(help_heading = "Output", long)]
    pub(crate) overwrite: bool,
    /// Write no record beside the table; that of a table that is replaced goes with it. Otherwise LOCS.spotfit.json says how it was made: version, options, the files that were
    /// read, camera, calibration and origin.
    #[arg(help_heading = "Output", long)]
    pub(crate) no_record: bool,
    /// Which Picasso a .hdf5 table is for: 0, with lengths in pixels, which every version reads; or 1, in nanometres, for version 1.0 and
    /// later.
    #[arg(help_heading = "Output", long, value_name = "0|1", default_value_t)]
    pub(crate) picasso: PicassoVersion,
}

impl From<Writing> for SaveOptions {
    fn from(Writing { overwrite, picasso, .. }: Writing) -> Self {
        Self::default().with_overwrite(overwrite).with_picasso(picasso)
    }
}

/// Refuses to replace a file that nobody named, unless it is one of ours or may be replaced all the same.
pub(crate) fn refuse_stranger(
    path: &Path,
    is_ours: impl FnOnce(&Path) -> bool,
    overwrite: bool,
) -> Result<(), CliError> {
    Ok(output::refuse_stranger(path, is_ours, overwrite)?)
}

/// A file being written, or standard output for `-`.
#[derive(Debug)]
pub(crate) struct Output(output::Output);

impl Output {
    /// Begins to write a file. Without a call to [`Output::finish`], nothing is left behind and an existing
    /// file stays as it was.
    pub(crate) fn create(path: &Path) -> Result<Self, CliError> {
        debug_assert!(
            was_checked(path),
            "no option of a type of `written` names {}",
            path.display()
        );
        let name = path.display().to_string();
        if path == Path::new("-") {
            return Ok(Self(output::Output::stream(&name, io::stdout())));
        }
        Ok(Self(match descriptor(path) {
            Some(number) => {
                let stream = duplicate(number).map_err(CliError::write(&name))?;
                output::Output::stream(&name, stream)
            }
            None => {
                let seen = hearer().and_then(|hearer| hearer.seen(path));
                output::Output::create(path)?.over(seen)
            }
        }))
    }

    pub(crate) fn name(&self) -> &str {
        self.0.name()
    }

    /// What the file is written through.
    pub(crate) fn writer(&mut self) -> &mut dyn Write {
        &mut self.0
    }

    /// The file for writing out of order, if it is a regular file.
    pub(crate) fn seekable(&mut self) -> Option<&mut (impl Write + Seek + use<>)> {
        self.0.seekable()
    }

    pub(crate) fn write_all(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        let written = self.0.write_all(bytes);
        written.map_err(CliError::write(self.0.name()))
    }

    /// Completes the file: from now on it is there under its name.
    pub(crate) fn finish(self) -> Result<(), CliError> {
        self.finish_with([])
    }

    /// Completes several files in this order, or none of them if any cannot be written.
    pub(crate) fn finish_with(
        self,
        others: impl IntoIterator<Item = Self>,
    ) -> Result<(), CliError> {
        complete(std::iter::once(self).chain(others))
    }
}

/// Completes files in this order, or none of them if any cannot be written.
pub(crate) fn complete(outputs: impl IntoIterator<Item = Output>) -> Result<(), CliError> {
    let outputs = outputs.into_iter().map(|output| output.0);
    Ok(output::Output::finish_all(outputs, &mut |_| interrupt::check().is_ok())?)
}

/// The same after the user has ended the work, which had no other end.
pub(crate) fn complete_ended(outputs: impl IntoIterator<Item = Output>) -> Result<(), CliError> {
    let outputs = outputs.into_iter().map(|output| output.0);
    Ok(output::Output::finish_all(outputs, &mut |_| true)?)
}

impl From<output::Output> for Output {
    fn from(output: output::Output) -> Self {
        Self(output)
    }
}

impl From<Output> for output::Output {
    fn from(output: Output) -> Self {
        output.0
    }
}

/// For writers that take what they write through. Errors name no file.
impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Only files can be written out of order.
impl Seek for Output {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

/// The stream of a descriptor, with its place in what is behind it.
#[cfg(unix)]
#[expect(
    unsafe_code,
    reason = "the standard library duplicates descriptors only where somebody owns them"
)]
fn duplicate(number: i32) -> io::Result<File> {
    use std::os::fd::BorrowedFd;
    // SAFETY: the number is not -1, since `descriptor` gives none below 0. The descriptor is borrowed for the one call that
    // duplicates it: if it is not open, that is the call's error.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    borrowed.try_clone_to_owned().map(File::from)
}

#[cfg(not(unix))]
fn duplicate(_: i32) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}
