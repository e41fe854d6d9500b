//! Errors of movies.

use std::io;

use super::formats::Foreign;
use crate::excerpt::excerpt;
use crate::npy::NpyError;

/// Errors of reading a movie.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MovieError {
    /// Reading failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The ending of the file's name is not that of a movie.
    #[error(
        "this is not a movie that can be read (.tif, .npy, .nd2, .czi, .sif, .spe, .fits, .raw with .yaml, .dax with .inf)"
    )]
    UnknownFormat,
    /// The file has a format of another program and must be converted.
    #[error("{0} must be converted first: {way}", way = .0.way())]
    Foreign(Foreign),
    /// The NPY file is wrong.
    #[error(transparent)]
    Npy(#[from] NpyError),
    /// The TIFF file is wrong.
    #[error("frame {frame}: {reason}")]
    Tiff {
        /// The frame, from 1.
        frame: usize,
        /// What is wrong.
        reason: String,
    },
    /// The header of the file is wrong, or of a kind that is not read.
    #[error("this {format} file cannot be read: {reason}")]
    Header {
        /// The name of the format.
        format: &'static str,
        /// The problem, as a sentence without a full stop.
        reason: String,
    },
    /// A file that was read while it grew is no longer what it was.
    #[error("frame {frame}: the file {} {reason}", excerpt(.file))]
    Growing {
        /// The frame that was to come, from 1.
        frame: usize,
        /// The name of the file.
        file: String,
        /// What has become of it, as the rest of a sentence.
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
    /// A folder does not hold one movie of TIFF files.
    #[error("{0}")]
    Folder(String),
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
    /// The file beside the movie is missing.
    #[error("the file {0} that describes this movie cannot be read: {1}")]
    Sidecar(String, io::Error),
    /// The file beside the movie is incomplete, or contradicts the movie.
    #[error("the file {file} that describes this movie: {reason}")]
    Description {
        /// Its name.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// A stream is not what it should be.
    #[error("{0}")]
    Stream(String),
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
