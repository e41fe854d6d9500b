//! Where windows are cut: around detected spots, or given positions.

use std::ops::Range;

use fit_core::{Corner, Pixel, Size};
use fit_windows::{AnyWindows, CameraMap, Visitor, Windows};
use ndarray::{Axis, Slice};

/// A spot that is to be fitted.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) id: u64,
    /// The frame in the block.
    pub(super) frame: usize,
    pub(super) x: f64,
    pub(super) y: f64,
    /// How far away the nearest other one is; 0 if nobody asks.
    pub(super) neighbour: f64,
    /// Whether its window is to be narrow.
    pub(super) crowded: bool,
    /// By how many times the noise it stands out; 0 if it was given.
    pub(super) response: f32,
}

/// Where a window is to be cut, and for whom.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) id: u64,
    pub(super) corner: Corner,
    /// The side of the window.
    pub(super) side: usize,
    pub(super) neighbour: f64,
    /// By how many times the noise it stands out; 0 if no detector has seen it.
    pub(super) response: f32,
}

/// Some of the frames.
pub(crate) struct Part(pub(crate) Range<usize>);

impl<'w> Visitor<'w> for Part {
    type Output = AnyWindows<'w>;

    fn visit<P: Pixel>(self, frames: Windows<'w, P>) -> AnyWindows<'w> {
        let all = frames.frames();
        Windows::stack(all.slice_axis_move(Axis(0), Slice::from(self.0))).into()
    }
}

/// Cuts windows out of frames of any type.
pub(super) struct Cut<'a> {
    pub(super) size: Size,
    pub(super) corners: &'a [Corner],
    pub(super) map: Option<&'a CameraMap>,
}

impl<'a, 'w: 'a> Visitor<'w> for Cut<'a> {
    type Output = AnyWindows<'a>;

    fn visit<P: Pixel>(self, frames: Windows<'w, P>) -> AnyWindows<'a> {
        let windows = Windows::cuts(frames.frames().reborrow(), self.size, self.corners);
        match self.map {
            Some(map) => windows.with_map(map).into(),
            None => windows.into(),
        }
    }
}
