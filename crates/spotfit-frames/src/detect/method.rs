//! How frames are searched, and what is found.

use std::ops::Range;

use super::false_rate::Thresholds;
use super::sharp::Sharp;

/// A position where a spot may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Column of the brightest pixel of the filtered frame.
    pub x: usize,
    /// Row of that pixel.
    pub y: usize,
    /// Its height above the background, in units of the local noise.
    pub significance: f32,
    /// Whether it stands in a crowd, and another candidate is nearer than the side of a window.
    pub crowded: bool,
}

/// A maximum of the filtered frame, which may be a candidate or not, for those who want to see how the threshold divides them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// Column of the maximum.
    pub x: usize,
    /// Row of the maximum.
    pub y: usize,
    /// Its height, in units of the local noise.
    pub significance: f32,
    /// What a candidate must exceed here.
    pub threshold: f32,
}

/// How frames of one size are searched.
#[derive(Clone, Debug)]
pub(super) struct Method {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) box_size: usize,
    pub(super) threshold: Threshold,
    /// Half of the symmetric smoothing kernel, from its centre.
    pub(super) kernel: Vec<f32>,
    /// Standard deviation of the filtered frame for white noise of 1.
    pub(super) gain: f32,
    /// What tells spots apart in crowds.
    pub(super) sharp: Sharp,
    /// The variance that light adds, for each unit of a pixel; 0 if the camera is not known.
    pub(super) light: f32,
    /// The share of the threshold from which on maxima are told of; 1 if nobody listens.
    pub(super) heard_from: f32,
}

/// How far a candidate must stand out, in units of the local noise.
#[derive(Clone, Debug)]
pub(super) enum Threshold {
    Fixed(f32),
    /// It depends on how the light is distributed.
    OfNoise(Thresholds),
}

/// Rows of a frame that are searched together.
pub(super) struct Strip {
    /// All that is looked at.
    pub(super) rows: Range<usize>,
    /// The rows whose candidates are wanted.
    pub(super) own: Range<usize>,
    /// Rows of the frame.
    pub(super) frame: usize,
}
