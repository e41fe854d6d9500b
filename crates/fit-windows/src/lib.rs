#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod any;
mod batches;
mod map;
mod side_data;

use std::ops::Deref;

use fit_core::{ArgumentError, Corner, Options, Pixel, Setup, Shape, Size, Start};
use ndarray::{ArrayView2, ArrayView3, Axis};

pub use any::{AnyWindows, Visitor};
pub use map::{CameraMap, MapError};
pub use side_data::{NoteKind, SideData, Weights};

/// For the macro of this crate alone.
#[doc(hidden)]
pub mod private {
    pub use fit_core::{Errors, Fit, Options, Outcomes, Pixel, Scalar, Start};
    pub use ndarray::ArrayView3;
}

/// A stack of windows, or windows cut out of a stack of frames; of any pixel type and memory layout.
///
/// Arguments are checked only by [`WindowShape::validate`] or [`WindowShape::check`].
#[derive(Clone, Copy, Debug)]
pub struct Windows<'a, P> {
    /// (n, height, width): the frames, of which each window of a stack is one.
    frames: ArrayView3<'a, P>,
    /// All pixels, where rows and frames follow each other in memory.
    flat: Option<&'a [P]>,
    shape: WindowShape<'a>,
}

/// What is known of windows whatever the type of their pixels.
#[derive(Clone, Copy, Debug)]
pub struct WindowShape<'a> {
    /// Number, height and width.
    frames: (usize, usize, usize),
    size: Size,
    /// Where the windows are cut; `None` for a stack of windows.
    corners: Option<&'a [Corner]>,
    side_data: SideData<'a>,
}

impl<'a, P> Deref for Windows<'a, P> {
    type Target = WindowShape<'a>;
    #[inline(always)]
    fn deref(&self) -> &WindowShape<'a> {
        &self.shape
    }
}

impl<'a, P: Pixel> Windows<'a, P> {
    /// A stack (n, height, width) of windows.
    pub fn stack(spots: ArrayView3<'a, P>) -> Self {
        let (_, height, width) = spots.dim();
        Self::new(spots, Size::new(width, height), None)
    }

    /// Windows of `size` pixels at `corners` of a stack (n, height, width) of frames. They may overlap.
    pub fn cuts(frames: ArrayView3<'a, P>, size: Size, corners: &'a [Corner]) -> Self {
        Self::new(frames, size, Some(corners))
    }

    fn new(frames: ArrayView3<'a, P>, size: Size, corners: Option<&'a [Corner]>) -> Self {
        let side_data = SideData::default();
        let shape = WindowShape { frames: frames.dim(), size, corners, side_data };
        Self { frames, flat: frames.to_slice(), shape }
    }

    /// The frames (n, height, width); for a stack, the windows.
    pub fn frames(&self) -> ArrayView3<'a, P> {
        self.frames
    }

    /// All pixels of the frames, or of the stack, if rows and frames follow each other in memory.
    #[inline(always)]
    pub fn flat(&self) -> Option<&'a [P]> {
        self.flat
    }

    /// The pixels (height, width) of a window that has been checked.
    ///
    /// # Panics
    /// If the window does not exist, or is not within its frame.
    pub fn window(&self, index: usize) -> ArrayView2<'a, P> {
        let frame = |index| self.frames.index_axis_move(Axis(0), index);
        match self.corners.map(|corners| corners[index]) {
            Some(corner) => cut(frame(corner.frame as usize), corner, self.size),
            None => frame(index),
        }
    }
}

/// The window of an image at a corner.
fn cut<P>(mut image: ArrayView2<'_, P>, corner: Corner, size: Size) -> ArrayView2<'_, P> {
    let (x, y) = (corner.x as usize, corner.y as usize);
    image.slice_axis_inplace(Axis(0), (y..y + size.height).into());
    image.slice_axis_inplace(Axis(1), (x..x + size.width).into());
    image
}

impl<'a> WindowShape<'a> {
    /// Checks a batch of these windows: their size and the options, then as [`WindowShape::check`].
    ///
    /// # Errors
    /// [`ArgumentError`].
    pub fn validate(
        &self,
        options: &Options,
        start: Start<'_>,
        outcomes: usize,
    ) -> Result<(), ArgumentError> {
        // The size comes first, for all else counts on it.
        Setup::<f32>::new(self.size, options)?;
        self.check(options, start, outcomes)
    }

    /// Checks a batch of these windows for the computation of errors: their size, the options, that all windows lie
    /// within their frames, their side data, and that each has an outcome and room for its errors.
    ///
    /// # Errors
    /// [`ArgumentError`].
    pub fn validate_errors(
        &self,
        options: &Options,
        fits: usize,
        errors: usize,
    ) -> Result<(), ArgumentError> {
        Setup::<f32>::new(self.size, options)?;
        self.check_places()?;
        self.check_side_data(options)?;
        Start::Estimate.validate_batch(self.count(), fits)?;
        Start::Estimate.validate_batch(self.count(), errors)
    }

    /// Checks that all windows lie within their frames.
    fn check_places(&self) -> Result<(), ArgumentError> {
        match self.corners {
            Some(corners) => {
                let (count, height, width) = self.frames;
                Corner::validate(corners, self.size, count, Size::new(width, height))
            }
            None => Ok(()),
        }
    }

    /// Checks that all windows lie within their frames, that each has a start and room for an outcome, and their
    /// side data.
    ///
    /// # Errors
    /// [`ArgumentError::OutsideFrames`] for the first window outside its frame, [`ArgumentError::StartCount`],
    /// [`ArgumentError::OutputCount`], and those about camera maps and weights.
    pub fn check(
        &self,
        options: &Options,
        start: Start<'_>,
        outcomes: usize,
    ) -> Result<(), ArgumentError> {
        self.check_places()?;
        self.check_side_data(options)?;
        if matches!(options.shape, Shape::GivenSigma(_)) && start == Start::Estimate {
            return Err(ArgumentError::StartCount { spots: self.count(), given: 0 });
        }
        start.validate_batch(self.count(), outcomes)
    }

    /// The number of windows.
    pub fn count(&self) -> usize {
        self.corners.map_or(self.frames.0, <[Corner]>::len)
    }

    /// The size of each window.
    #[inline(always)]
    pub fn size(&self) -> Size {
        self.size
    }

    /// The number of pixels of all windows, or `usize::MAX` if it overflows.
    pub fn pixels(&self) -> usize {
        self.count().saturating_mul(self.size.width).saturating_mul(self.size.height)
    }

    /// Number, height and width of the frames; for a stack, of the windows.
    pub fn frames(&self) -> (usize, usize, usize) {
        self.frames
    }

    /// Where the windows are cut; `None` for a stack of windows.
    #[inline(always)]
    pub fn corners(&self) -> Option<&'a [Corner]> {
        self.corners
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array3;

    /// Proves that a window has the pixels of its place, stacked or cut, in any memory order.
    #[test]
    fn windows_are_where_they_are() {
        let frames = Array3::from_shape_fn((2, 20, 30), |(f, y, x)| (1000 * f + 30 * y + x) as u16);
        let size = Size::new(5, 4);
        let corners = [Corner { frame: 1, x: 25, y: 16 }, Corner { frame: 0, x: 3, y: 2 }];
        let turned = frames.t().as_standard_layout().into_owned();
        for view in [frames.view(), turned.t()] {
            let windows = Windows::cuts(view, size, &corners);
            windows.validate(&Options::default(), Start::Estimate, 2).unwrap();
            assert_eq!((windows.count(), windows.size(), windows.pixels()), (2, size, 40));
            for (index, corner) in corners.iter().enumerate() {
                let (x, y) = (corner.x as usize, corner.y as usize);
                for ((row, column), &pixel) in windows.window(index).indexed_iter() {
                    assert_eq!(pixel, frames[(corner.frame as usize, y + row, x + column)]);
                }
            }
        }
        assert!(Windows::stack(frames.view()).flat().is_some());
        assert!(Windows::stack(turned.t()).flat().is_none());
        assert_eq!(Windows::stack(frames.view()).window(1), frames.index_axis(Axis(0), 1));
    }

    /// Proves that a size is checked before it is multiplied or compared with a frame, and corners after it.
    #[test]
    fn a_huge_size_is_an_argument_error() {
        let frames = Array3::<u16>::zeros((1, 20, 20));
        let options = Options::default();
        let half = 1 << (usize::BITS / 2);
        for (width, height) in [(half, half), (usize::MAX, usize::MAX), (usize::MAX, 3)] {
            let size = Size::new(width, height);
            for corners in [&[][..], &[Corner::default()]] {
                let windows = Windows::cuts(frames.view(), size, corners);
                let result = windows.validate(&options, Start::Estimate, corners.len());
                assert_eq!(result, Err(ArgumentError::WindowTooLarge(size)));
            }
        }
        let corners = [Corner { frame: 0, x: 12, y: 11 }];
        let windows = Windows::cuts(frames.view(), Size::new(9, 9), &corners);
        let result = windows.validate(&options, Start::Estimate, 1);
        assert!(matches!(result, Err(ArgumentError::OutsideFrames { spot: 0, .. })), "{result:?}");
    }
}
