//! Windows cut out of frames.

/// The position of a window in a stack of frames (n, height, width): its frame and its first pixel, the one with the
/// lowest x and y. The coordinates of an outcome are relative to this pixel.
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
