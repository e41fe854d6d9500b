//! What can go wrong on the command line: which file, and why.

use std::io;

use crate::localize::LocalizeError;
use crate::movie::MovieError;
use crate::npy::NpyError;
use crate::{FitError, OutOfRange};
use fit_sim::SimulationError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("cannot read {file}: {source}")]
    Read { file: String, source: NpyError },
    #[error("cannot write {file}: {source}")]
    Write { file: String, source: io::Error },
    #[error("{file}: {reason}")]
    File { file: String, reason: String },
    #[error(transparent)]
    Fit(#[from] FitError),
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    #[error("cannot read {file}: {source}")]
    Movie { file: String, source: MovieError },
    #[error(transparent)]
    Localize(#[from] LocalizeError),
    #[error(transparent)]
    Option(#[from] OutOfRange),
    #[error("interrupted; no output was written")]
    Interrupted,
}

impl CliError {
    pub(crate) fn write(file: &str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Write { file: file.to_owned(), source }
    }

    pub(crate) fn file(file: &str, reason: impl Into<String>) -> Self {
        Self::File { file: file.to_owned(), reason: reason.into() }
    }

    pub(crate) fn option(name: &'static str, value: &str, range: &str) -> Self {
        OutOfRange { name, value: value.to_owned(), range: range.to_owned() }.into()
    }

    /// Names the movie that could not be read, or localized, to its end.
    pub(crate) fn in_movie(self, file: &str) -> Self {
        match self {
            Self::Localize(LocalizeError::Movie(source)) => {
                Self::Movie { file: file.to_owned(), source }
            }
            Self::Localize(error) => Self::file(file, error.to_string()),
            other => other,
        }
    }

    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Write { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }
}
