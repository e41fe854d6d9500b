//! Frames that are searched together.

use std::ops::Range;

/// Frames of as many pixels are best sent together; a movie is read in blocks of these.
const TOGETHER: usize = 1 << 22;

/// How many frames of so many pixels these are.
pub(super) fn together(pixels: usize) -> usize {
    (TOGETHER / pixels.max(1)).max(1)
}

/// Numbers of frames that are best sent together, of frames of so many pixels.
pub(super) fn parts(frames: usize, pixels: usize) -> impl Iterator<Item = Range<usize>> {
    let each = together(pixels);
    (0..frames).step_by(each).map(move |first| first..(first + each).min(frames))
}
