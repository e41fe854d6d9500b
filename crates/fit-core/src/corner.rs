//! Windows that are cut out of frames.

use crate::error::ArgumentError;
use crate::size::Size;

/// Where a window lies in a stack of frames (n, height, width): its frame and its first pixel, the one with
/// the lowest x and y. The coordinates of an outcome count from that pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Corner {
    /// The number of the frame in the stack, from 0.
    pub frame: u32,
    /// The column of the first pixel.
    pub x: u32,
    /// The row of the first pixel.
    pub y: u32,
}

impl Corner {
    /// Checks that the windows of `size` at all `corners` lie within a stack of `frames` frames of
    /// `frame` pixels.
    ///
    /// # Errors
    /// [`ArgumentError::OutsideFrames`] for the first window that does not.
    pub fn validate(
        corners: &[Self],
        size: Size,
        frames: usize,
        frame: Size,
    ) -> Result<(), ArgumentError> {
        let inside = |corner: &Self| {
            let fits = |start: u32, length: usize, end: usize| {
                usize::try_from(start).is_ok_and(|start| start <= end && length <= end - start)
            };
            usize::try_from(corner.frame).is_ok_and(|number| number < frames)
                && fits(corner.x, size.width, frame.width)
                && fits(corner.y, size.height, frame.height)
        };
        match corners.iter().position(|corner| !inside(corner)) {
            None => Ok(()),
            Some(spot) => {
                let corner = corners[spot];
                Err(ArgumentError::OutsideFrames { spot, corner, size, frames, frame })
            }
        }
    }
}
