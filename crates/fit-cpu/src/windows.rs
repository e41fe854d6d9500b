//! Windows in memory, as every backend takes them.

use fit_core::{ArgumentError, Corner, Pixel, Scalar, Size};
use ndarray::{ArrayView2, ArrayView3, Axis, s};

/// A stack of windows, or windows cut out of a stack of frames; of any pixel type and memory layout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows<'a, P> {
    /// (n, height, width): the frames, of which each window of a stack is one.
    frames: ArrayView3<'a, P>,
    /// All pixels, where rows and frames follow each other in memory.
    flat: Option<&'a [P]>,
    size: Size,
    /// Where windows are cut; `None` for a stack of windows.
    corners: Option<&'a [Corner]>,
}

impl<'a, P: Pixel> Windows<'a, P> {
    /// A stack (n, height, width) of windows.
    pub(crate) fn stack(spots: ArrayView3<'a, P>) -> Self {
        let (_, height, width) = spots.dim();
        let size = Size::new(width, height);
        Self { frames: spots, flat: spots.to_slice(), size, corners: None }
    }

    /// Windows of `size` pixels at `corners` of a stack (n, height, width) of frames.
    ///
    /// # Errors
    /// [`ArgumentError::OutsideFrames`] for the first that is not within its frame.
    pub(crate) fn cut(
        frames: ArrayView3<'a, P>,
        size: Size,
        corners: &'a [Corner],
    ) -> Result<Self, ArgumentError> {
        let (count, height, width) = frames.dim();
        Corner::validate(corners, size, count, Size::new(width, height))?;
        Ok(Self { frames, flat: frames.to_slice(), size, corners: Some(corners) })
    }

    pub(crate) fn count(&self) -> usize {
        self.corners.map_or(self.frames.dim().0, <[Corner]>::len)
    }

    pub(crate) fn size(&self) -> Size {
        self.size
    }

    /// The pixels of a window.
    pub(crate) fn window(&self, index: usize) -> ArrayView2<'a, P> {
        let Some(corners) = self.corners else {
            return self.frames.index_axis_move(Axis(0), index);
        };
        let Corner { frame, x, y } = corners[index];
        let (x, y) = (x as usize, y as usize);
        let Size { width, height } = self.size;
        let frame = self.frames.index_axis_move(Axis(0), frame as usize);
        frame.slice_move(s![y..y + height, x..x + width])
    }

    /// Writes the pixels of a window, row after row, to the first of `numbers`.
    pub(crate) fn read<R: Scalar>(&self, index: usize, numbers: &mut [R]) {
        let window = self.window(index);
        if let Some(pixels) = window.to_slice() {
            for (number, &pixel) in numbers.iter_mut().zip(pixels) {
                *number = R::from_pixel(pixel);
            }
        } else {
            for (number, &pixel) in numbers.iter_mut().zip(window) {
                *number = R::from_pixel(pixel);
            }
        }
    }

    /// All pixels, if every window of a stack follows the one before in memory.
    #[inline(always)]
    pub(crate) fn flat_stack(&self) -> Option<&'a [P]> {
        if self.corners.is_none() { self.flat } else { None }
    }

    /// Where windows are cut from frames whose rows all follow each other in memory.
    #[inline(always)]
    pub(crate) fn flat_cuts(&self) -> Option<FlatCuts<'a, P>> {
        let (_, rows, columns) = self.frames.dim();
        Some(FlatCuts { pixels: self.flat?, rows, columns, corners: self.corners? })
    }
}

/// Frames whose rows all follow each other in memory, and where windows are cut from them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlatCuts<'a, P> {
    pub(crate) pixels: &'a [P],
    rows: usize,
    /// Pixels from one row to the next.
    pub(crate) columns: usize,
    pub(crate) corners: &'a [Corner],
}

impl<P> FlatCuts<'_, P> {
    /// The first pixel of the window at a corner.
    #[inline(always)]
    pub(crate) fn first(&self, corner: Corner) -> usize {
        let (x, y) = (corner.x as usize, corner.y as usize);
        (corner.frame as usize * self.rows + y) * self.columns + x
    }
}
