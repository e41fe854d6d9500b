//! Room for frames that are still to be read.

use std::io;

use ndarray::Array3;

use super::MovieError;
use super::pixels::{Pixels, stack};

/// The type of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    U8,
    U16,
    F32,
}

/// Room for a frame.
pub(super) enum Room<'a> {
    U8(&'a mut [u8]),
    U16(&'a mut [u16]),
    F32(&'a mut [f32]),
}

/// Zeros, or an error where there is no memory for them: the count comes from a file.
pub(super) fn zeros<P: Copy + Default>(
    shape: (usize, usize, usize),
) -> Result<Array3<P>, MovieError> {
    let count = shape.0 * shape.1 * shape.2;
    let mut probe = Vec::<P>::new();
    probe.try_reserve_exact(count).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    drop(probe);
    // Memory that comes as zeros is touched first by whoever fills it.
    stack(shape, vec![P::default(); count])
}

impl Kind {
    /// Frames (count, height, width) without light.
    pub(super) fn frames(self, shape: (usize, usize, usize)) -> Result<Pixels, MovieError> {
        Ok(match self {
            Self::U8 => Pixels::U8(zeros(shape)?),
            Self::U16 => Pixels::U16(zeros(shape)?),
            Self::F32 => Pixels::F32(zeros(shape)?),
        })
    }
}

/// The room of so many pixels each, one after the other; of as many as a frame has, that of each frame.
pub(super) fn rooms(frames: &mut Pixels, pixels: usize) -> Vec<Room<'_>> {
    fn parts<P>(frames: &mut Array3<P>, pixels: usize) -> impl Iterator<Item = &mut [P]> {
        frames.as_slice_mut().unwrap_or_default().chunks_mut(pixels.max(1))
    }
    match frames {
        Pixels::U8(frames) => parts(frames, pixels).map(Room::U8).collect(),
        Pixels::U16(frames) => parts(frames, pixels).map(Room::U16).collect(),
        Pixels::F32(frames) => parts(frames, pixels).map(Room::F32).collect(),
    }
}
