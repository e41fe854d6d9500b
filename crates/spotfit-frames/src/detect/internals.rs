//! What the crate's own tests see of its inside. It promises nothing.

use fit_core::Pixel;
use ndarray::ArrayView2;

use super::ground::Ground;
use super::map::Frame;
use super::method::{Candidate, Threshold};
use super::noise::Column;
use super::sweep::sweep;
use super::{Detector, peaks};

/// The side of a tile.
pub const TILE: usize = super::noise::TILE;

/// The memory of sweeps.
#[derive(Debug, Default)]
pub struct Room(super::sweep::Room);

/// What a sweep of a whole frame leaves, without crowds.
#[derive(Debug)]
pub struct Swept {
    /// The noise of the pixels, by tiles.
    pub noise: Vec<f32>,
    /// The filtered frame.
    pub signal: Vec<f32>,
    /// The noise of the filtered frame, by tiles.
    pub filtered: Vec<f32>,
    /// What was found.
    pub candidates: Vec<Candidate>,
}

/// Sweeps a frame of the detector's size.
pub fn swept(detector: &Detector, frame: ArrayView2<'_, f32>, room: &mut Room) -> Swept {
    let source = Frame { pixels: frame, converter: None, known: None };
    let ground = Ground::of(&source, detector.method.width, detector.method.height);
    let (parts, _) = detector.parts(usize::MAX, 1);
    let Room(room) = room;
    sweep(&detector.method, &source, &ground, &parts[0].strip, room);
    let tops = if room.noise.is_zero() { &[] } else { room.tops() };
    let candidates = of_equals(tops, peaks::radius(detector.method.box_size), detector);
    let (noise, filtered) = (room.noise.levels.clone(), room.filtered.levels.clone());
    Swept { noise, signal: room.signal.clone(), filtered, candidates }
}

/// The candidates of a frame that is searched in strips of about so many pixels by so many threads.
pub fn in_strips<P: Pixel>(
    detector: &Detector,
    frame: ArrayView2<'_, P>,
    pixels: usize,
    threads: usize,
) -> Vec<Candidate> {
    detector.detect_in_strips(frame, None, pixels, threads)
}

/// How many strips of about so many pixels a frame has for so many threads.
pub fn strips(detector: &Detector, pixels: usize, threads: usize) -> usize {
    detector.parts(pixels, threads).0.len()
}

/// One of each group of equals within so many pixels.
pub fn of_equals(tops: &[Candidate], radius: usize, detector: &Detector) -> Vec<Candidate> {
    peaks::of_equals(tops, radius, &detector.method)
}

/// The rows of tiles around a row of a frame, and how far it is from the one to the other.
pub fn between(height: usize, y: usize) -> (usize, usize, f32) {
    Column::new(height, 0, height).between(y)
}

/// The side of a window.
pub fn box_size(detector: &Detector) -> usize {
    detector.method.box_size
}

/// Half of the filter, from its centre.
pub fn kernel(detector: &Detector) -> &[f32] {
    &detector.method.kernel
}

/// What the filter leaves of white noise of 1.
pub fn gain(detector: &Detector) -> f32 {
    detector.method.gain
}

/// Whether the threshold is the same wherever there is noise.
pub fn is_fixed(detector: &Detector) -> bool {
    matches!(detector.method.threshold, Threshold::Fixed(_))
}
