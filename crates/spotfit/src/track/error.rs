//! Why nothing can be tracked.

use fit_core::ArgumentError;
use fit_cpu::BatchError;

use super::{Doubt, FrameView};
use crate::OutOfRange;
use crate::backend::FitError;
use crate::detect::DetectError;
use crate::psf::PsfError;

/// Why a tracker cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrackError {
    /// An option is out of its range.
    #[error(transparent)]
    Option(#[from] OutOfRange),
    /// The fit makes no sense, or the machine refuses it.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// Beads cannot be looked for in the reference.
    #[error(transparent)]
    Detect(#[from] DetectError),
    /// The measured PSF does not cover the windows.
    #[error(transparent)]
    Psf(#[from] PsfError),
    /// The reference does not have as many pixels as its sides say.
    #[error("the reference has {pixels} pixels; a frame of {width}×{height} has {}", width.saturating_mul(*height))]
    Pixels {
        /// Pixels of a row.
        width: usize,
        /// Rows.
        height: usize,
        /// The pixels in memory.
        pixels: usize,
    },
    /// The frames are smaller than the windows.
    #[error("frames of {width}×{height} pixels are smaller than windows of {side}×{side}")]
    SmallFrames {
        /// Pixels of a row.
        width: usize,
        /// Rows.
        height: usize,
        /// The side of the windows.
        side: usize,
    },
    /// There is no spot in the reference that can be a bead.
    #[error(
        "there is no bead in the reference: of {candidates} bright places, {near} have a neighbour or no room for a window, and {bad} \
         are no spots that could be fitted"
    )]
    NoBeads {
        /// What stood out.
        candidates: usize,
        /// Those of them with a neighbour, or at the edge.
        near: usize,
        /// Those of them that are no spots.
        bad: usize,
    },
    /// A place that was given has no bead.
    #[error("bead {number} at x = {x}, y = {y}: {}", reason(*.doubt))]
    NoBead {
        /// Its number, from 1.
        number: usize,
        /// The given place in pixels.
        x: f64,
        /// The given place in pixels.
        y: f64,
        /// What is wrong; `None` if there is no room for a window.
        doubt: Option<Doubt>,
    },
}

impl TrackError {
    /// A frame does not have as many pixels as its sides say.
    pub(super) fn pixels(frame: FrameView<'_>) -> Self {
        Self::Pixels { width: frame.width, height: frame.height, pixels: frame.len() }
    }
}

fn reason(doubt: Option<Doubt>) -> &'static str {
    match doubt {
        None => "its window is not within the frame",
        Some(Doubt::Place) => {
            "the spot is not in the middle of its window, or is that of another bead"
        }
        Some(_) => "there is no spot that could be fitted",
    }
}

impl From<BatchError> for TrackError {
    fn from(error: BatchError) -> Self {
        Self::Fit(error.into())
    }
}

impl From<ArgumentError> for TrackError {
    fn from(error: ArgumentError) -> Self {
        BatchError::from(error).into()
    }
}
