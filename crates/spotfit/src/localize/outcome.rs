//! The fate of the candidates, and the errors of localizing.

use fit_crowd::CrowdError;
use spotfit_locs::OutOfRange;

use super::reason::DropReason;
use crate::backend::FitError;
use crate::detect::DetectError;
use crate::movie::MovieError;
use crate::psf::PsfError;
use crate::statuses::StatusCounts;

/// Why localizing failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LocalizeError {
    /// An option, or the number of a frame, is out of its range.
    #[error(transparent)]
    Option(#[from] OutOfRange),
    /// The frames cannot be searched.
    #[error(transparent)]
    Detect(#[from] DetectError),
    /// The fit was refused.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The frames do not have the size of the localizer.
    #[error("expected frames of {expected:?} pixels (width, height), got {found:?}")]
    FrameSize {
        /// Width and height for which the localizer was made.
        expected: (usize, usize),
        /// Width and height of the frames.
        found: (usize, usize),
    },
    /// The frames are smaller than the box, so no window fits into them.
    #[error(
        "frames of {width}×{height} pixels are smaller than the box of {box_size}×{box_size} pixels: \
         no window fits into them"
    )]
    SmallFrames {
        /// Width of the frames in pixels.
        width: usize,
        /// Height of the frames in pixels.
        height: usize,
        /// Side of the box in pixels.
        box_size: usize,
    },
    /// Frames cannot be searched for spots that overlap.
    #[error(transparent)]
    Crowd(#[from] CrowdError),
    /// The light within the aperture is not known ([`super::LocalizeOptions::aperture`]).
    #[error(
        "`aperture`: of the first {frames} frames {spots} spots are alone, unsaturated and an aperture from the edge, {}: begin with frames that have \
         more of them, or take a smaller aperture; defective pixels and a few bright spots that are always there tell little",
        match error {
            Some(error) => format!("which tell the light within it to ± {:.1} %, and 5 % is needed", 100.0 * error),
            None if *spots < 20 => "and 20 are needed to tell the light within it".to_owned(),
            None => "which do not tell the light within it, as they are too few places or too dim".to_owned(),
        }
    )]
    Aperture {
        /// So many spots were of use.
        spots: usize,
        /// Of so many frames.
        frames: usize,
        /// The relative standard error of the light, if it is known.
        error: Option<f64>,
    },
    /// The measured PSF cannot be used.
    #[error(transparent)]
    Psf(#[from] PsfError),
    /// The movie cannot be read.
    #[error(transparent)]
    Movie(#[from] MovieError),
    /// The threads could not be started.
    #[error("the worker threads could not be started: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// A thread for reading or localizing could not be started.
    #[error("a thread could not be started: {0}")]
    Spawn(std::io::Error),
}

/// Why candidates and fits became no localizations: how many for which reason. Fits that did not converge are not among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[non_exhaustive]
pub struct Dropped {
    /// The window would cross the frame's edge.
    pub at_edge: usize,
    /// A position is in a frame that was not processed.
    pub no_frame: usize,
    /// The amplitude is not positive.
    pub not_bright: usize,
    /// The centre moved more than 0.3 of the box away from the detected position: it is on a neighbour, which has a window of
    /// its own.
    pub wandered: usize,
    /// A number in photons is not finite.
    pub not_finite: usize,
    /// The expected standard deviation of x or y is infinite, though all other numbers are finite: the window does not
    /// determine the position of the spot.
    pub undetermined: usize,
    /// A pixel of the window is saturated ([`super::LocalizeOptions::drop`]).
    pub saturated: usize,
    /// There is a neighbour.
    pub neighbour: usize,
    /// The residuals are larger than the noise.
    pub residual: usize,
    /// The spot is wider or narrower than the others.
    pub width: usize,
    /// There may be more emitters than could be told apart.
    #[cfg_attr(feature = "serde", serde(default))]
    pub crowd: usize,
}

impl Dropped {
    /// Counts one more. Fits that failed are counted by their status, and what a condition drops by who has it.
    pub(super) fn count(&mut self, reason: DropReason) {
        let count = match reason {
            DropReason::AtEdge => &mut self.at_edge,
            DropReason::NotBright => &mut self.not_bright,
            DropReason::Wandered => &mut self.wandered,
            DropReason::NotFinite => &mut self.not_finite,
            DropReason::Undetermined => &mut self.undetermined,
            DropReason::Saturated => &mut self.saturated,
            DropReason::Neighbour => &mut self.neighbour,
            DropReason::Residual => &mut self.residual,
            DropReason::Crowd => &mut self.crowd,
            DropReason::Width => &mut self.width,
            DropReason::Failed(_) | DropReason::Filter => return,
        };
        *count += 1;
    }
}

/// What became of the candidates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Counts {
    /// Frames processed.
    pub frames: usize,
    /// Candidates found, or positions given.
    pub candidates: usize,
    /// Of the spots that are fitted, those whose nearest other one is known: all with checks or [`Emitters::Auto`](super::Emitters::Auto), else those
    /// of every 32nd frame.
    #[cfg_attr(feature = "serde", serde(default))]
    pub beside_others: usize,
    /// How many of these have another one within a box. If they are many, fits of all of a frame tell them apart better.
    #[cfg_attr(feature = "serde", serde(default))]
    pub neighbours: usize,
    /// Candidates and converged fits that were dropped.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub dropped: Dropped,
    /// Fits made, by how they ended.
    pub by_status: StatusCounts,
    /// Localizations kept.
    pub kept: usize,
    /// Fits with a measured PSF that ended at an end of its range of z, and at no other limit: the spot is there or
    /// beyond. Their status is [`fit_core::Status::AtLimit`], and they are kept or dropped like fits that converged.
    pub at_end: usize,
}
