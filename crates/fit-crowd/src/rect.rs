//! Parts of a frame.

use core::ops::Range;

/// The pixels from `origin` to `origin` + `size`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rect {
    pub(crate) origin: [usize; 2],
    pub(crate) size: [usize; 2],
}

impl Rect {
    /// Those not farther than `reach` from a pixel, along x and along y, as far as they are in a frame.
    pub(crate) fn around(at: [i32; 2], reach: usize, frame: [usize; 2]) -> Self {
        let along = |at: i32, size: usize| {
            let last = size as i32 - 1;
            let low = (at - reach as i32).clamp(0, last);
            let high = (at + reach as i32).clamp(0, last);
            (low as usize, (high - low + 1) as usize)
        };
        let [x, y] = [along(at[0], frame[0]), along(at[1], frame[1])];
        Self { origin: [x.0, y.0], size: [x.1, y.1] }
    }

    /// As many as 2·`reach` + 1 along x and along y: those of [`Rect::around`], and further ones where the frame ends.
    pub(crate) fn whole_around(at: [i32; 2], reach: usize, frame: [usize; 2]) -> Self {
        let along = |at: i32, size: usize| {
            let length = (2 * reach + 1).min(size);
            let low = (at - reach as i32).clamp(0, (size - length) as i32);
            (low as usize, length)
        };
        let [x, y] = [along(at[0], frame[0]), along(at[1], frame[1])];
        Self { origin: [x.0, y.0], size: [x.1, y.1] }
    }

    /// The rows.
    pub(crate) fn rows(self) -> Range<usize> {
        self.origin[1]..self.origin[1] + self.size[1]
    }

    /// The first pixel along an axis that is beyond.
    pub(crate) fn end(self, axis: usize) -> usize {
        self.origin[axis] + self.size[axis]
    }

    pub(crate) fn area(self) -> usize {
        self.size[0] * self.size[1]
    }

    /// The least that holds both.
    pub(crate) fn with(self, other: Self) -> Self {
        let origin = [0, 1].map(|axis| self.origin[axis].min(other.origin[axis]));
        let size = [0, 1].map(|axis| self.end(axis).max(other.end(axis)) - origin[axis]);
        Self { origin, size }
    }

    /// What is in both, if that is anything.
    pub(crate) fn within(self, other: Self) -> Option<Self> {
        let origin = [0, 1].map(|axis| self.origin[axis].max(other.origin[axis]));
        let end = [0, 1].map(|axis| self.end(axis).min(other.end(axis)));
        let size = [0, 1].map(|axis| end[axis].saturating_sub(origin[axis]));
        (size[0] > 0 && size[1] > 0).then_some(Self { origin, size })
    }

    /// Whether a pixel is one of these.
    pub(crate) fn has(self, x: i32, y: i32) -> bool {
        let within =
            |at: i32, axis: usize| at >= self.origin[axis] as i32 && at < self.end(axis) as i32;
        within(x, 0) && within(y, 1)
    }
}
