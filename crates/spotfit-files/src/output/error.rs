//! Why a file does not appear.

use std::io;

/// An output was not written.
///
/// Where an option is named that would help, its name stands in backticks, as in `` `overwrite` ``.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// It cannot be written.
    #[error("cannot write {file}: {source}")]
    Write {
        /// Its name.
        file: String,
        /// Why not.
        source: io::Error,
    },
    /// It would replace a file that nobody named and that Spotfit did not write.
    #[error("{file}: it is there already, and Spotfit did not write it; `overwrite` replaces it")]
    Stranger {
        /// Its name.
        file: String,
    },
    /// A folder, pipe or device has the name of a file that nobody named.
    #[error("{file}: it would be written too, and is there already as something other than a file")]
    NoFile {
        /// Its name.
        file: String,
    },
    /// The user has ended the work before any file appeared.
    #[error("interrupted; no output was written")]
    Interrupted,
}

impl OutputError {
    pub(super) fn write(file: &str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Write { file: file.to_owned(), source }
    }
}
