//! Room for frames that are still to be read.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use ndarray::Array3;

use super::MovieError;
use super::pixels::{Pixels, stack};

/// The type of the pixels of frames; of raw ones the lowest byte is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameType {
    /// 8 bits.
    U8,
    /// 16 bits.
    U16,
    /// Floating point of 32 bits.
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

/// Memory of blocks that nobody needs any more. Blocks that are read later lie there again, since a system takes about as long to make
/// memory as to read a file that it has at hand.
#[derive(Clone, Debug, Default)]
pub struct SpareBlocks(Arc<Mutex<Spares>>);

#[derive(Debug, Default)]
struct Spares {
    blocks: Vec<Pixels>,
    /// Blocks that were read into memory of ours or new one, and not left: of a movie that is read in other ways nothing is kept.
    out: usize,
}

/// More blocks are never kept.
const MOST_SPARES: usize = 32;

impl SpareBlocks {
    /// Leaves the memory of frames to blocks that are read later.
    pub fn leave(&self, pixels: Pixels) {
        let mut spares = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if spares.out > 0 && spares.blocks.len() < MOST_SPARES {
            spares.blocks.push(pixels);
        }
        spares.out = spares.out.saturating_sub(1);
    }

    fn take(&self) -> Option<Pixels> {
        let mut spares = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        spares.out += 1;
        spares.blocks.pop()
    }
}

/// Frames in the memory of others, if they were as large at least. What they show is not defined.
fn again<P>(spare: Array3<P>, shape: (usize, usize, usize)) -> Option<Array3<P>> {
    let (mut pixels, offset) = spare.into_raw_vec_and_offset();
    let count = shape.0 * shape.1 * shape.2;
    if offset.unwrap_or(0) != 0 || pixels.len() < count {
        return None;
    }
    pixels.truncate(count);
    stack(shape, pixels).ok()
}

impl FrameType {
    /// The bytes of a pixel.
    pub(super) fn size(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::F32 => 4,
        }
    }

    /// Frames (count, height, width) without light.
    pub(super) fn frames(self, shape: (usize, usize, usize)) -> Result<Pixels, MovieError> {
        Ok(match self {
            Self::U8 => Pixels::U8(zeros(shape)?),
            Self::U16 => Pixels::U16(zeros(shape)?),
            Self::F32 => Pixels::F32(zeros(shape)?),
        })
    }

    /// Frames whose pixels are all written before anybody sees them, in memory that was left if there is some.
    pub(super) fn any_frames(
        self,
        shape: (usize, usize, usize),
        spare: &SpareBlocks,
    ) -> Result<Pixels, MovieError> {
        let again = match (self, spare.take()) {
            (Self::U8, Some(Pixels::U8(spare))) => again(spare, shape).map(Pixels::U8),
            (Self::U16, Some(Pixels::U16(spare))) => again(spare, shape).map(Pixels::U16),
            (Self::F32, Some(Pixels::F32(spare))) => again(spare, shape).map(Pixels::F32),
            _ => None,
        };
        again.map_or_else(|| self.frames(shape), Ok)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that memory is used again for blocks that are as large at most and of the same type, and that of blocks which were not read
    /// into it none is kept.
    #[test]
    fn memory_is_used_again_and_does_not_grow() {
        let spare = SpareBlocks::default();
        let kept = || spare.0.lock().expect("sound").blocks.len();
        for _ in 0..100 {
            spare.leave(Pixels::U16(Array3::zeros((2, 3, 4))));
        }
        assert_eq!(kept(), 0);
        let whole = FrameType::U16.any_frames((2, 3, 4), &spare).expect("memory");
        spare.leave(whole);
        assert_eq!(kept(), 1);
        let last = FrameType::U16.any_frames((1, 3, 4), &spare).expect("memory");
        assert_eq!((last.dim(), kept()), ((1, 3, 4), 0));
        spare.leave(last);
        // It has become too small, or has another type: then it goes.
        let more = FrameType::U16.any_frames((2, 3, 4), &spare).expect("memory");
        assert_eq!((more.dim(), kept()), ((2, 3, 4), 0));
        spare.leave(more);
        let other = FrameType::F32.any_frames((2, 3, 4), &spare).expect("memory");
        assert!(matches!(other, Pixels::F32(_)) && kept() == 0);
    }
}
