//! Frames one after the other in a file, read at any place of it.

use std::io;

use bytemuck::{bytes_of, cast_slice_mut};
use rayon::ThreadPool;

use super::number::FrameNumber;
use super::room::{FrameType, Room, SpareBlocks, rooms};
use super::threads::try_each;
use super::{MovieError, Pixels};
use crate::npy::{NpyError, NpyNumber, NumberType, with_number};
use crate::place::{Bytes, fill_at};

/// Bytes that are read at a time.
const PIECE: usize = 1 << 20;

/// Frames one after the other in a file, with nothing between them.
#[derive(Clone)]
pub(super) struct RawSource {
    bytes: Bytes,
    /// Where the first of them lies.
    start: u64,
    number: NumberType,
    big_endian: bool,
    frame_bytes: u64,
    next: usize,
    /// The bytes that the header of an array promises.
    promised: Option<u64>,
    adjust: Option<Adjust>,
}

/// What is done with the numbers of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Adjust {
    /// Signed numbers of 16 bits, to which 2¹⁵ is added.
    Upper,
    /// They are multiplied, then something is added; what is blank is NaN.
    Scaled { scale: f64, zero: f64, blank: Option<i64> },
}

/// Why numbers cannot be read.
enum Missing {
    /// There are only so many bytes of them.
    Short(usize),
    Io(io::Error),
}

impl RawSource {
    /// Frames of `pixels` numbers from a place on.
    pub(super) fn new(
        bytes: Bytes,
        start: u64,
        number: NumberType,
        big_endian: bool,
        pixels: u64,
    ) -> Self {
        let frame_bytes = pixels.saturating_mul(number.size() as u64);
        Self {
            bytes,
            start,
            number,
            big_endian,
            frame_bytes,
            next: 0,
            promised: None,
            adjust: None,
        }
    }

    /// The same as the data of an array, whose header promises so many bytes.
    pub(super) fn promising(self, bytes: u64) -> Self {
        Self { promised: Some(bytes), ..self }
    }

    /// Adjusts the numbers.
    pub(super) fn adjust(&mut self, adjust: Option<Adjust>) {
        self.adjust = adjust;
    }

    pub(super) fn skip(&mut self, frames: usize) {
        self.next = self.next.saturating_add(frames);
    }

    #[cfg(feature = "tiff")]
    pub(super) fn go_to(&mut self, frame: usize) {
        self.next = frame;
    }

    /// The type of frames that the numbers make.
    pub(super) fn kind(&self) -> FrameType {
        match self.adjust {
            Some(Adjust::Scaled { .. }) => FrameType::F32,
            _ => with_number!(self.number, T => T::KIND),
        }
    }

    pub(super) fn read(
        &mut self,
        shape: (usize, usize, usize),
        pool: Option<&ThreadPool>,
        spare: &SpareBlocks,
    ) -> Result<Pixels, MovieError> {
        let mut frames = self.kind().any_frames(shape, spare)?;
        let (start, size) = (self.place(self.next), self.number.size());
        let numbers = PIECE / size;
        let read = |number: usize, room| {
            self.fill(start.saturating_add((number * numbers * size) as u64), room)
        };
        let done = try_each(pool, rooms(&mut frames, numbers), read);
        done.map_err(|(number, missing)| match missing {
            Missing::Short(got) => Missing::Short(number * numbers * size + got),
            error => error,
        })
        .map_err(|missing| self.failed(self.next, missing))?;
        self.next += shape.0;
        Ok(frames)
    }

    /// One frame, wherever others are read.
    #[cfg(feature = "tiff")]
    pub(super) fn frame(&self, frame: usize, room: Room<'_>) -> Result<(), MovieError> {
        self.fill(self.place(frame), room).map_err(|missing| self.failed(frame, missing))
    }

    fn place(&self, frame: usize) -> u64 {
        self.start.saturating_add((frame as u64).saturating_mul(self.frame_bytes))
    }

    /// Reads numbers from a place on.
    fn fill(&self, place: u64, mut room: Room<'_>) -> Result<(), Missing> {
        match (self.adjust, &mut room) {
            (None, _) => self.fill_plain(place, room),
            (Some(Adjust::Upper), Room::U16(pixels)) => {
                self.fill_plain(place, Room::U16(pixels))?;
                pixels.iter_mut().for_each(|pixel| *pixel ^= 1 << 15);
                Ok(())
            }
            (Some(Adjust::Scaled { scale, zero, blank }), Room::F32(pixels)) => {
                // Double precision does not have all whole numbers of 64 bits.
                let is_whole = scale == 1.0 && zero.fract() == 0.0 && zero.abs() <= 2f64.powi(64);
                let exact = self.number == NumberType::I64 && is_whole;
                if exact {
                    let zero = zero as i128;
                    self.fill_scaled(place, pixels, |_, whole| (whole + zero) as f32, blank)
                } else {
                    let value = |value, _| (scale * value + zero) as f32;
                    self.fill_scaled(place, pixels, value, blank)
                }
            }
            _ => Err(Missing::Io(io::ErrorKind::InvalidInput.into())),
        }
    }

    /// The same for numbers that become others.
    fn fill_scaled(
        &self,
        place: u64,
        pixels: &mut [f32],
        value: impl Fn(f64, i128) -> f32,
        blank: Option<i64>,
    ) -> Result<(), Missing> {
        let Self { bytes, big_endian, number, .. } = self;
        let mut stored = vec![0; pixels.len() * number.size()];
        let got = fill_at(&**bytes, place, &mut stored).map_err(Missing::Io)?;
        if got < stored.len() {
            return Err(Missing::Short(got));
        }
        let blank = blank.map(i128::from);
        with_number!(*number, T => {
            for (pixel, bytes) in pixels.iter_mut().zip(stored.chunks_exact(size_of::<T>())) {
                let stored = T::from_bytes(bytes, *big_endian);
                // Only whole numbers have one that is blank.
                let whole = stored as i128;
                #[allow(clippy::unnecessary_cast)] // One of the types is this.
                let number = value(stored as f64, whole);
                *pixel = if blank == Some(whole) { f32::NAN } else { number };
            }
        });
        Ok(())
    }

    /// Reads numbers as they are.
    fn fill_plain(&self, place: u64, room: Room<'_>) -> Result<(), Missing> {
        let Self { bytes, big_endian, .. } = self;
        with_number!(self.number, T => {
            let Some(room) = T::room(room) else {
                return Err(Missing::Io(io::ErrorKind::InvalidInput.into()));
            };
            // In the file they may be larger than in the room.
            #[allow(clippy::manual_slice_size_calculation)]
            let wanted = room.len() * size_of::<T>();
            let got = if T::IS_PIXEL {
                let got = fill_at(&**bytes, place, cast_slice_mut(room)).map_err(Missing::Io)?;
                if *big_endian != cfg!(target_endian = "big") {
                    for pixel in &mut *room {
                        *pixel = T::from_bytes(bytes_of(pixel), *big_endian).pixel();
                    }
                }
                got
            } else {
                let mut stored = vec![0; wanted];
                let got = fill_at(&**bytes, place, &mut stored).map_err(Missing::Io)?;
                let stored = stored.chunks_exact(size_of::<T>());
                for (pixel, bytes) in room.iter_mut().zip(stored) {
                    *pixel = T::from_bytes(bytes, *big_endian).pixel();
                }
                got
            };
            if got < wanted { Err(Missing::Short(got)) } else { Ok(()) }
        })
    }

    /// What is wrong with numbers from a frame on.
    fn failed(&self, frame: usize, missing: Missing) -> MovieError {
        match (missing, self.promised) {
            (Missing::Short(got), Some(promised)) => {
                let found = (frame as u64).saturating_mul(self.frame_bytes) + got as u64;
                NpyError::Truncated { promised, found }.into()
            }
            (Missing::Short(_), None) => {
                let reason = "the movie ends before its last frame";
                io::Error::new(io::ErrorKind::UnexpectedEof, reason).into()
            }
            (Missing::Io(error), Some(_)) => NpyError::Io(error).into(),
            (Missing::Io(error), None) => error.into(),
        }
    }
}
