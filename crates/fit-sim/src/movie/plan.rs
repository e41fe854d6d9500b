//! From the parameters of a movie to its pieces.

use std::ops::Range;

use rayon::prelude::*;

use super::MovieSimulation;
use super::molecule::{Molecule, Places};
use super::own::OwnSpots;
use super::piece::{self, MoviePiece};
use crate::error::SimulationError;
use crate::maps::MOST_FRAME_PIXELS;

/// Bytes of the frames, or of the events, that are made at a time: those of the largest frame.
const PIECE: usize = 2 * MOST_FRAME_PIXELS;
/// The most frames that are made at a time.
const LONGEST_PIECE: usize = 64;

impl MovieSimulation {
    /// Places the molecules. When they glow is decided piece by piece as the movie is made, so that
    /// memory does not grow with the number of frames.
    ///
    /// # Errors
    /// As [`MovieSimulation::validate`].
    pub fn plan(self) -> Result<MoviePlan, SimulationError> {
        self.validate()?;
        let molecules = self.molecules();
        Ok(MoviePlan { simulation: self, molecules, own: OwnSpots::default(), next: 0 })
    }

    /// The molecules before the first frame.
    fn molecules(&self) -> Vec<Molecule> {
        let places = Places::new(self);
        let blink = self.own_spots.is_none() && !places.none();
        let molecules = if blink { self.molecules } else { 0 };
        (0..molecules).into_par_iter().map(|number| Molecule::new(self, number, &places)).collect()
    }
}

/// A movie that is made piece by piece.
///
/// ```
/// use fit_sim::MovieSimulation;
///
/// let mut plan = MovieSimulation::new(64, 48, 100).plan()?;
/// let piece = plan.piece(10..30);
/// assert_eq!(piece.frames().dim(), (20, 48, 64));
/// assert!(piece.truth(10).all(|spot| spot.frame == 10));
/// # Ok::<(), fit_sim::SimulationError>(())
/// ```
#[derive(Clone, Debug)]
pub struct MoviePlan {
    simulation: MovieSimulation,
    molecules: Vec<Molecule>,
    own: OwnSpots,
    /// The frame that the molecules have come to.
    next: usize,
}

impl MoviePlan {
    /// The parameters of the movie.
    pub fn simulation(&self) -> &MovieSimulation {
        &self.simulation
    }

    /// Number of molecules of the movie. Where frames have spots for themselves, these are the molecules, up to the last frame made.
    pub const fn molecules(&self) -> usize {
        match self.simulation.own_spots {
            Some(_) => self.own.so_far(),
            None => self.simulation.molecules,
        }
    }

    /// How many frames to make at a time: 64, or fewer if their pixels or events would take more than 128 MiB.
    pub fn piece_length(&self) -> usize {
        let MovieSimulation { width, height, on_time, off_time, own_spots, .. } = self.simulation;
        // As in `molecules_for`.
        let blinking = self.molecules.len() as f64 * (on_time + 1.0) / (on_time + off_time);
        let spots = blinking + own_spots.unwrap_or(0.0);
        let events = piece::EVENT * spots.ceil() as usize;
        (PIECE / (2 * width * height).max(events)).clamp(1, LONGEST_PIECE)
    }

    /// Decides which molecules are on in some frames. A frame does not depend on the piece it is in. Ask for
    /// frames in their order: to go back, the movie starts from its beginning.
    pub fn piece(&mut self, frames: Range<usize>) -> MoviePiece<'_> {
        if frames.start < self.next {
            self.molecules = self.simulation.molecules();
        }
        self.next = frames.end.max(frames.start);
        let Self { simulation, molecules, own, .. } = self;
        let mut piece = MoviePiece::new(simulation, frames);
        if simulation.own_spots.is_some() {
            piece.add_own(own);
        } else {
            piece.add_blinking(molecules);
        }
        piece
    }
}
