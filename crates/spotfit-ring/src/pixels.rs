//! Frames as slices.

use crate::{PixelType, RingError, RingLayout};

/// The pixels of a frame, row by row.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum RingPixels<'a> {
    /// 8 bits.
    U8(&'a [u8]),
    /// 16 bits.
    U16(&'a [u16]),
    /// Floating point of 32 bits.
    F32(&'a [f32]),
    /// Floating point of 64 bits.
    F64(&'a [f64]),
}

impl<'a> RingPixels<'a> {
    fn kind(&self) -> (PixelType, usize) {
        match self {
            Self::U8(pixels) => (PixelType::U8, pixels.len()),
            Self::U16(pixels) => (PixelType::U16, pixels.len()),
            Self::F32(pixels) => (PixelType::F32, pixels.len()),
            Self::F64(pixels) => (PixelType::F64, pixels.len()),
        }
    }

    /// The bytes of pixels that are those of a ring.
    pub(crate) fn bytes_for(self, layout: &RingLayout) -> Result<&'a [u8], RingError> {
        let (kind, count) = self.kind();
        if (kind, count) != (layout.pixel_type(), layout.frame_pixels()) {
            return Err(RingError::Pixels {
                given: format!("{count} pixels ({kind})"),
                needed: format!("{} of {layout}", layout.frame_pixels()),
            });
        }
        Ok(match self {
            Self::U8(pixels) => pixels,
            Self::U16(pixels) => bytemuck::cast_slice(pixels),
            Self::F32(pixels) => bytemuck::cast_slice(pixels),
            Self::F64(pixels) => bytemuck::cast_slice(pixels),
        })
    }
}

/// Room for a frame of a ring.
#[derive(Debug)]
pub(crate) enum Buffer {
    U8(Vec<u8>),
    U16(Vec<u16>),
    F32(Vec<f32>),
    F64(Vec<f64>),
}

impl Buffer {
    pub(crate) fn of(layout: &RingLayout) -> Self {
        let pixels = layout.frame_pixels();
        match layout.pixel_type() {
            PixelType::U8 => Self::U8(vec![0; pixels]),
            PixelType::U16 => Self::U16(vec![0; pixels]),
            PixelType::F32 => Self::F32(vec![0.0; pixels]),
            PixelType::F64 => Self::F64(vec![0.0; pixels]),
        }
    }

    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        match self {
            Self::U8(pixels) => pixels,
            Self::U16(pixels) => bytemuck::cast_slice_mut(pixels),
            Self::F32(pixels) => bytemuck::cast_slice_mut(pixels),
            Self::F64(pixels) => bytemuck::cast_slice_mut(pixels),
        }
    }

    pub(crate) fn pixels(&self) -> RingPixels<'_> {
        match self {
            Self::U8(pixels) => RingPixels::U8(pixels),
            Self::U16(pixels) => RingPixels::U16(pixels),
            Self::F32(pixels) => RingPixels::F32(pixels),
            Self::F64(pixels) => RingPixels::F64(pixels),
        }
    }
}
