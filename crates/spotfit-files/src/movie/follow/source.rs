//! What all formats of files that grow have in common.

use crate::movie::MovieError;

/// Why a movie cannot be opened.
pub(in crate::movie) enum Attempt {
    /// Not yet: its writer may still make it good.
    NotYet(MovieError),
    /// It never will.
    Failed(MovieError),
}

impl Attempt {
    pub(in crate::movie) fn not_yet(error: impl Into<MovieError>) -> Self {
        Self::NotYet(error.into())
    }
}

impl From<MovieError> for Attempt {
    fn from(error: MovieError) -> Self {
        Self::Failed(error)
    }
}

/// How far a movie is when no frame comes.
#[derive(Clone, Debug, Default)]
pub(in crate::movie) struct Progress {
    /// What is missing of the next frame, if there is a part of it.
    pub(in crate::movie) missing: Option<String>,
    /// Whether all frames were read that the metadata promise.
    pub(in crate::movie) is_done: bool,
}
