//! Frames in memory.

use std::io;

use ndarray::{Array3, Axis};

use super::MovieError;

/// Frames as the camera delivered them. Types other than these three become `f32`.
#[derive(Clone, Debug)]
pub enum Pixels {
    /// 8 bits.
    U8(Array3<u8>),
    /// 16 bits.
    U16(Array3<u16>),
    /// Floating point; all other types are rounded to it.
    F32(Array3<f32>),
}

impl Pixels {
    /// (frames, height, width).
    pub fn dim(&self) -> (usize, usize, usize) {
        match self {
            Self::U8(a) => a.dim(),
            Self::U16(a) => a.dim(),
            Self::F32(a) => a.dim(),
        }
    }

    /// Appends frames of the same type and size.
    pub(super) fn append(&mut self, more: &Self) -> Result<(), MovieError> {
        let appended = match (&mut *self, more) {
            (Self::U8(all), Self::U8(more)) => all.append(Axis(0), more.view()),
            (Self::U16(all), Self::U16(more)) => all.append(Axis(0), more.view()),
            (Self::F32(all), Self::F32(more)) => all.append(Axis(0), more.view()),
            _ => return Err(io::Error::other("frames are of different types").into()),
        };
        appended.map_err(|error| io::Error::other(error).into())
    }

    /// Takes the first frames away.
    pub(super) fn take(&mut self, count: usize) -> Self {
        fn split<P: Clone>(frames: &mut Array3<P>, count: usize) -> Array3<P> {
            let first = frames.slice_axis(Axis(0), (..count).into()).to_owned();
            frames.slice_axis_inplace(Axis(0), (count..).into());
            first
        }
        match self {
            Self::U8(frames) => Self::U8(split(frames, count)),
            Self::U16(frames) => Self::U16(split(frames, count)),
            Self::F32(frames) => Self::F32(split(frames, count)),
        }
    }
}

/// Frames (frame, row, column).
pub(super) fn stack<P>(
    shape: (usize, usize, usize),
    pixels: Vec<P>,
) -> Result<Array3<P>, MovieError> {
    Array3::from_shape_vec(shape, pixels)
        .map_err(|error| MovieError::Io(io::Error::new(io::ErrorKind::UnexpectedEof, error)))
}
