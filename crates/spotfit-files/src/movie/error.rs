//! Errors of movies.

use std::io;

use super::foreign::Foreign;
use crate::excerpt::excerpt;
use crate::npy::NpyError;

/// Errors of reading a movie.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MovieError {
    /// Reading failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The ending of the file's name is not that of a movie: these are.
    #[error("this is not a movie that can be read ({0})")]
    UnknownFormat(String),
    /// The file has a format of another program and must be converted.
    #[error("{0}")]
    Foreign(&'static Foreign),
    /// The NPY file is wrong.
    #[error(transparent)]
    Npy(#[from] NpyError),
    /// A file, a frame, or what describes them is wrong, or of a kind that is not read.
    #[error("{place}{reason}")]
    Wrong {
        /// Where it is wrong: the begin of a sentence, empty where the reason is a whole one.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// A file of a movie of several files is missing or wrong; or movies were to follow each other that do not.
    #[error("the file {} of this movie {reason}", excerpt(.file))]
    Part {
        /// Its name.
        file: String,
        /// The problem, as the rest of a sentence.
        reason: String,
    },
    /// The movie has several channels, and none was chosen.
    #[error("the movie has {0} channels; one must be chosen")]
    Channels(usize),
    /// The movie has several positions of the stage, with these names, and none was chosen.
    #[error("the movie has {} positions; one must be chosen: {}", .0.len(), named(.0))]
    Positions(Vec<String>),
    /// There is no such position among those with these names.
    #[error("there is no position {}: the movie has {}", excerpt(.0), named(.1))]
    NoPosition(String, Vec<String>),
    /// The channel or slice that was chosen does not exist.
    #[error("there is no {axis} {number}: the movie has {count}")]
    NoSuch {
        /// The choice: `channel` or `slice`.
        axis: &'static str,
        /// Its number, from 1.
        number: usize,
        /// How many there are.
        count: usize,
    },
    /// The movie is not a file (for instance a pipe), and its format cannot be read sequentially.
    #[error(
        "this must be a file: only an NPY array, and raw frames whose format is given, can be read from a pipe or a device"
    )]
    NotAFile,
    /// The array is not a movie.
    #[error("expected an array (frames, height, width), got {}", excerpt(&format!("{0:?}", .0)))]
    Shape(Vec<usize>),
    /// The frames are larger than [`super::MovieLimits::frame_pixels`].
    #[error("frames of {width}×{height} pixels are larger than the limit of {limit} pixels")]
    FrameSize {
        /// Width in pixels.
        width: usize,
        /// Height in pixels.
        height: usize,
        /// The largest allowed number of pixels of a frame.
        limit: usize,
    },
    /// There are no frames.
    #[error("the movie has no frames")]
    Empty,
}

/// What is wrong, as a sentence without a full stop; [`MovieError::at`] says where.
pub(super) fn wrong(reason: impl Into<String>) -> MovieError {
    MovieError::Wrong { place: String::new(), reason: reason.into() }
}

/// The place of what is wrong with a file of a format of this name.
pub(super) fn of_file(format: &str) -> String {
    format!("this {format} file cannot be read: ")
}

impl MovieError {
    /// The same at a place, for what was found [`wrong`] without one.
    pub(super) fn at(self, begin: impl FnOnce() -> String) -> Self {
        match self {
            Self::Wrong { place, reason } if place.is_empty() => {
                Self::Wrong { place: begin(), reason }
            }
            other => other,
        }
    }
}

/// Names of positions in an error: numbers alone are as good as how many there are.
fn named(names: &[String]) -> String {
    const MOST: usize = 8;
    let counted =
        names.iter().zip(1..).all(|(name, number): (_, usize)| *name == number.to_string());
    match names.len() {
        0 | 1 => "one".to_owned(),
        count if counted => format!("1 to {count}"),
        count => {
            let first: Vec<String> = names.iter().take(MOST).map(|name| excerpt(name)).collect();
            let more = if count > MOST { " and others" } else { "" };
            format!("{}{more}", first.join(", "))
        }
    }
}
