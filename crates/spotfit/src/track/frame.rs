//! Frames as a camera leaves them in memory.

use fit_core::{Corner, Pixel, Size};
use fit_windows::{AnyWindows, Windows};
use ndarray::{ArrayView2, ArrayView3};

/// The pixels of a frame, row after row, without gaps.
#[derive(Clone, Copy, Debug)]
pub enum FramePixels<'a> {
    /// 8 bits.
    U8(&'a [u8]),
    /// 16 bits.
    U16(&'a [u16]),
    /// Numbers in single precision. One that is not finite spoils the beads whose windows have it, in this frame.
    F32(&'a [f32]),
}

/// Does the same with pixels of each type.
macro_rules! of_each {
    ($of:expr, $pixels:ident => $does:expr) => {
        match $of {
            FramePixels::U8($pixels) => $does,
            FramePixels::U16($pixels) => $does,
            FramePixels::F32($pixels) => $does,
        }
    };
}

/// A borrowed frame.
///
/// Nothing is checked here: [`Tracker`](super::Tracker) says what it thinks of a frame whose pixels are not as many as its
/// sides say.
#[derive(Clone, Copy, Debug)]
pub struct FrameView<'a> {
    /// Pixels of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// `width`·`height` pixels.
    pub pixels: FramePixels<'a>,
}

impl<'a> FrameView<'a> {
    /// A frame of these pixels.
    pub const fn new(width: usize, height: usize, pixels: FramePixels<'a>) -> Self {
        Self { width, height, pixels }
    }

    /// A frame of 8 bits a pixel.
    pub const fn u8(width: usize, height: usize, pixels: &'a [u8]) -> Self {
        Self::new(width, height, FramePixels::U8(pixels))
    }

    /// A frame of 16 bits a pixel.
    pub const fn u16(width: usize, height: usize, pixels: &'a [u16]) -> Self {
        Self::new(width, height, FramePixels::U16(pixels))
    }

    /// A frame of single-precision pixels.
    pub const fn f32(width: usize, height: usize, pixels: &'a [f32]) -> Self {
        Self::new(width, height, FramePixels::F32(pixels))
    }

    /// How many pixels there are in memory.
    pub fn len(&self) -> usize {
        of_each!(self.pixels, pixels => pixels.len())
    }

    /// Whether there is no pixel.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there are as many pixels as the sides say.
    pub fn is_whole(&self) -> bool {
        self.width.checked_mul(self.height) == Some(self.len())
    }

    /// The windows at these corners; `None` for a frame that is not whole.
    pub(super) fn windows<'w>(self, size: Size, corners: &'w [Corner]) -> Option<AnyWindows<'w>>
    where
        'a: 'w,
    {
        if !self.is_whole() {
            return None;
        }
        let shape = (1, self.height, self.width);
        of_each!(self.pixels, pixels => {
            Some(Windows::cuts(ArrayView3::from_shape(shape, pixels).ok()?, size, corners).into())
        })
    }

    /// Does work with the pixels in their own type; `None` for a frame that is not whole.
    pub(super) fn visit<V: FrameVisitor>(self, visitor: V) -> Option<V::Output> {
        if !self.is_whole() {
            return None;
        }
        let shape = (self.height, self.width);
        of_each!(self.pixels, pixels => {
            Some(visitor.visit(ArrayView2::from_shape(shape, pixels).ok()?))
        })
    }
}

/// Work to do with a frame whose pixel type is known only at run time.
pub(super) trait FrameVisitor {
    /// What the work returns.
    type Output;
    /// Does the work with pixels of one type.
    fn visit<P: Pixel>(self, frame: ArrayView2<'_, P>) -> Self::Output;
}
