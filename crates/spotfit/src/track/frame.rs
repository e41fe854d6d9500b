//! Frames as a camera leaves them in memory.

use fit_core::{Corner, Size};
use fit_windows::{AnyWindows, Windows};
use ndarray::ArrayView3;

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
            $crate::track::FramePixels::U8($pixels) => $does,
            $crate::track::FramePixels::U16($pixels) => $does,
            $crate::track::FramePixels::F32($pixels) => $does,
        }
    };
}
pub(super) use of_each;

/// Does work with the pixels of a frame in their own type; `None` for a frame that is not whole.
macro_rules! with_frame {
    ($frame:expr, $view:ident => $does:expr) => {{
        let frame: $crate::track::FrameView<'_> = $frame;
        let shape = (frame.height, frame.width);
        $crate::track::frame::of_each!(frame.pixels, pixels => {
            let view = ndarray::ArrayView2::from_shape(shape, pixels).ok();
            view.filter(|_| frame.is_whole()).map(|$view| $does)
        })
    }};
}
pub(super) use with_frame;

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
    pub(super) fn len(&self) -> usize {
        of_each!(self.pixels, pixels => pixels.len())
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
}
