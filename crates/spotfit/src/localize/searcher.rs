//! What finds and fits the spots of frames. It stays the same from frame to frame, so that blocks are searched side by side, and knows
//! nothing of what was found before.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fit_core::{Corner, Errors, Fit};
use fit_windows::AnyWindows;
use spotfit_locs::OutOfRange;

use super::crowd::Crowd;
use super::found::Found;
use super::measured::Measured;
use super::on_gpu::{OnGpu, Sent};
use super::options::{LocalizeOptions, Roi};
use super::outcome::LocalizeError;
use super::places::{Place, Wanted};
use super::temporal::Lit;
use crate::detect::{DetectError, Detector};
use crate::fitter::Fitter;

/// What a localizer searches frames with.
#[derive(Debug)]
pub(super) struct Searcher {
    /// Width and height of the frames.
    pub(super) size: (usize, usize),
    pub(super) options: LocalizeOptions,
    pub(super) detector: Detector,
    pub(super) roi: Roi,
    /// The side of windows in crowds.
    pub(super) narrow: usize,
    pub(super) fitter: Fitter,
    /// What finds spots in the place of the detector, if a GPU can.
    pub(super) on_gpu: Option<OnGpu>,
    /// What finds the errors of fits in photons; a measured PSF has its own.
    pub(super) judge: Option<Fitter>,
    /// What fits in its place with a measured PSF.
    pub(super) measured: Option<Measured>,
    /// What finds and fits in its place where spots may overlap.
    pub(super) crowd: Option<Crowd>,
    /// The threads that find spots, and read the frames of a movie.
    pub(super) pool: Arc<rayon::ThreadPool>,
    /// What they keep from part to part.
    pub(super) rooms: Rooms,
}

/// Fits that nobody has decided about, in the order of their places.
#[derive(Default)]
pub(super) struct Fitted {
    pub(super) places: Vec<Place>,
    pub(super) found: Vec<Found>,
    /// Candidates, with those at an edge.
    pub(super) candidates: usize,
    /// Candidates whose windows would cross an edge.
    pub(super) at_edge: Vec<Wanted>,
    /// How long it took.
    pub(super) detecting: Duration,
    pub(super) fitting: Duration,
}

/// Memory for the windows of a part and their outcomes.
#[derive(Debug, Default)]
pub(super) struct Room {
    pub(super) corners: Vec<Corner>,
    pub(super) fits: Vec<Fit<f64>>,
    pub(super) errors: Vec<Errors>,
}

/// Rooms that nobody is in.
#[derive(Debug, Default)]
pub(super) struct Rooms(Mutex<Vec<Room>>);

impl Rooms {
    pub(super) fn enter(&self) -> Room {
        let room = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Room { mut corners, mut fits, mut errors } = room.unwrap_or_default();
        corners.clear();
        fits.clear();
        errors.clear();
        Room { corners, fits, errors }
    }

    pub(super) fn leave(&self, room: Room) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(room);
    }
}

impl Searcher {
    /// Refuses frames of another size, and numbers that do not exist.
    pub(super) fn check(&self, first: usize, frames: AnyWindows<'_>) -> Result<(), LocalizeError> {
        let (count, height, width) = frames.frames();
        let (expected, found) = (self.size, (width, height));
        if found != expected {
            return Err(DetectError::FrameSize { expected, found }.into());
        }
        let most = usize::MAX - count;
        OutOfRange::check("first", first, first <= most, format!("0 to {most}"))?;
        let few = u32::try_from(count).is_ok();
        Ok(OutOfRange::check("frames", count, few, format!("0 to {} in a block", u32::MAX))?)
    }

    /// Finds and fits the spots of frames, of which the first has this number, while so many such blocks are searched in all.
    pub(super) fn search<'a>(
        &self,
        first: usize,
        frames: AnyWindows<'a>,
        lit: Option<&Lit<'a>>,
        mut sent: Option<Sent>,
        at_a_time: usize,
    ) -> Result<Fitted, LocalizeError> {
        let begin = Instant::now();
        let known = !self.options.lacks_aperture_correction();
        let range = "given with `aperture` for single blocks: `look_ahead` finds it";
        OutOfRange::check("aperture_correction", "none", known, range)?;
        if let Some(crowd) = &self.crowd {
            let found = crowd.find(frames, self.options.map.as_deref(), lit, &self.pool)?;
            let candidates = found.len();
            let (places, found) = found.into_iter().unzip();
            return Ok(Fitted {
                places,
                found,
                candidates,
                fitting: begin.elapsed(),
                ..Fitted::default()
            });
        }
        let range = "given with `emitters` auto for single blocks, unless the width is fixed";
        OutOfRange::check("usual_sigma", "none", self.options.knows_sigma(), range)?;
        let wanted = self.wanted(first, frames, lit.map(Lit::known), sent.as_mut(), at_a_time)?;
        let candidates = wanted.len();
        let (places, at_edge) = self.places(wanted);
        let detecting = begin.elapsed();
        let found = self.found(frames, lit, &places, sent.as_ref())?;
        let fitting = begin.elapsed().saturating_sub(detecting);
        Ok(Fitted { places, found, candidates, at_edge, detecting, fitting })
    }
}
