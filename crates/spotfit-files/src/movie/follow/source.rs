//! What all formats of files that grow have in common.

use std::path::PathBuf;

use crate::movie::{MovieAxes, MovieError, Pixels};

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

/// What is known of a movie that grows.
pub(in crate::movie) struct Growth {
    /// The file that is followed: of several, the first one.
    pub(in crate::movie) path: PathBuf,
    /// Width and height.
    pub(in crate::movie) size: (usize, usize),
    pub(in crate::movie) axes: MovieAxes,
    /// The number of frames, if the metadata say it.
    pub(in crate::movie) promised: Option<usize>,
    /// The number of frames that were read.
    pub(in crate::movie) next: usize,
    /// The files from which frames were read.
    pub(in crate::movie) files: Vec<PathBuf>,
    pub(in crate::movie) progress: Progress,
    /// Whether the writer adds metadata when it ends.
    pub(in crate::movie) ends_with_metadata: bool,
    pub(in crate::movie) notes: Vec<String>,
}

/// The frames of a movie, as they come.
pub(in crate::movie) trait Grows: Send {
    fn growth(&self) -> &Growth;

    fn growth_mut(&mut self) -> &mut Growth;

    /// How long the file is that is read, and its number; an error if it is no longer what it was.
    fn look(&mut self) -> Result<(usize, u64), MovieError>;

    /// The frames that are there by now, up to a number of them; nothing if there is none.
    fn read(&mut self, most: usize) -> Result<Option<Pixels>, MovieError>;
}
