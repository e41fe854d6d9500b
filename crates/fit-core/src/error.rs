//! What can be wrong with a request.

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
            Self::Option { name, value, range } => {
                write!(f, "{name} = {value} is out of its range ({range})")
            }
        }
    }
}

impl core::error::Error for ArgumentError {}
