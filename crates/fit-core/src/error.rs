//! Errors of requests.

use core::fmt;

use crate::corner::Corner;
use crate::size::Size;

/// Why a request cannot be carried out. A fit that fails is not an error; its [`crate::Status`] says
/// how it ended.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ArgumentError {
    /// The window is too small: both sides must be at least 3 and N at least 6.
    WindowTooSmall(Size),
    /// The window is too large: N must not exceed 2²⁴.
    WindowTooLarge(Size),
    /// The number of pixels given is not width × height.
    PixelCount {
        /// The size of the window.
        size: Size,
        /// How many pixels were given.
        pixels: usize,
    },
    /// Too little scratch memory was given.
    Scratch {
        /// How many numbers are needed.
        needed: usize,
        /// How many were given.
        given: usize,
    },
    /// The number of start values is not the number of windows.
    StartCount {
        /// The windows given.
        spots: usize,
        /// The start values given.
        given: usize,
    },
    /// The number of outcomes there is room for is not the number of windows.
    OutputCount {
        /// The windows given.
        spots: usize,
        /// The number of outcomes there is room for.
        given: usize,
    },
    /// A window crosses the edge of its frame, or there is no such frame.
    OutsideFrames {
        /// The number of the window, from 0.
        spot: usize,
        /// Its frame and first pixel.
        corner: Corner,
        /// Its size.
        size: Size,
        /// The number of frames.
        frames: usize,
        /// The size of a frame.
        frame: Size,
    },
    /// Weights were given for maximum likelihood, which has its own.
    WeightedLikelihood,
    /// The weights do not have one number for each pixel.
    WeightsShape {
        /// Number, height and width of the weights.
        given: (usize, usize, usize),
        /// Those of the windows.
        expected: (usize, usize, usize),
    },
    /// A weight is negative or infinite.
    Weight {
        /// The number of the window; 0 for an image of weights.
        spot: usize,
        /// The column.
        x: usize,
        /// The row.
        y: usize,
        /// The weight.
        weight: f32,
    },
    /// A map of the frame is not of the frame's size.
    MapSize {
        /// What it is.
        what: &'static str,
        /// Its size.
        given: Size,
        /// That of a frame.
        frame: Size,
    },
    /// There is a map of the frame, but the positions of the windows are unknown.
    NoCorners {
        /// What it is.
        what: &'static str,
    },
    /// The number of corners is not the number of windows.
    CornerCount {
        /// The windows given.
        spots: usize,
        /// The corners given.
        given: usize,
    },
    /// A window is not within the camera map or the image of weights.
    OutsideMap {
        /// The number of the window, from 0.
        spot: usize,
        /// Its first pixel.
        corner: Corner,
        /// Its size.
        size: Size,
        /// The size of the map.
        map: Size,
    },
    /// An option is out of its range.
    Option {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The allowed values, in words.
        range: &'static str,
    },
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WindowTooSmall(Size { width, height }) => write!(
                f,
                "a window of {width}×{height} pixels (width×height) is too small to fit: \
                 both sides must be at least 3 pixels"
            ),
            Self::WindowTooLarge(Size { width, height }) => write!(
                f,
                "a window of {width}×{height} pixels (width×height) is too large: \
                 at most {} pixels can be fitted",
                Size::MAX_PIXELS
            ),
            Self::PixelCount { size: Size { width, height }, pixels } => {
                write!(f, "a window of {width}×{height} needs {} pixels", width * height)?;
                write!(f, ", {pixels} given")
            }
            Self::Scratch { needed, given } => {
                write!(f, "expected scratch memory for {needed} numbers, got {given}")
            }
            Self::StartCount { spots, given } => {
                write!(f, "expected start values for {spots} spots, got {given}")
            }
            Self::OutputCount { spots, given } => {
                write!(f, "expected room for {spots} outcomes, got {given}")
            }
            Self::OutsideFrames { spot, corner, size, frames, frame } => {
                let Corner { frame: number, x, y } = corner;
                let Size { width, height } = size;
                let (columns, rows) = (frame.width, frame.height);
                write!(
                    f,
                    "the window {spot} of {width}x{height} pixels at column {x}, row {y} of frame \
                     {number} is not within {frames} frames of {columns}x{rows} pixels"
                )
            }
            Self::WeightedLikelihood => f.write_str(
                "weights are for least squares: maximum likelihood weighs the pixels by itself",
            ),
            Self::WeightsShape { given, expected } => write!(
                f,
                "expected weights of the shape {expected:?} (windows, rows, columns), got {given:?}"
            ),
            Self::Weight { spot, x, y, weight } => write!(
                f,
                "the weight {weight} of window {spot} at column {x}, row {y} is not a finite number ≥ 0"
            ),
            Self::MapSize { what, given, frame } => write!(
                f,
                "the {what} has {}x{} pixels, a frame {}x{}",
                given.width, given.height, frame.width, frame.height
            ),
            Self::NoCorners { what } => {
                write!(f, "with a {what} the corners of the windows must be given")
            }
            Self::CornerCount { spots, given } => {
                write!(f, "expected corners of {spots} windows, got {given}")
            }
            Self::OutsideMap { spot, corner, size, map } => write!(
                f,
                "the window {spot} of {}x{} pixels at column {}, row {} is not within the map of {}x{} \
                 pixels",
                size.width, size.height, corner.x, corner.y, map.width, map.height
            ),
            Self::Option { name, value, range } => {
                write!(f, "{name} = {value} is out of its range ({range})")
            }
        }
    }
}

impl core::error::Error for ArgumentError {}

/// Checks that a value is within its range.
pub(crate) fn check(
    name: &'static str,
    value: f64,
    min: f64,
    max: f64,
    range: &'static str,
) -> Result<(), ArgumentError> {
    if value >= min && value <= max {
        Ok(())
    } else {
        Err(ArgumentError::Option { name, value, range })
    }
}
