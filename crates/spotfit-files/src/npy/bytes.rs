//! The bytes of numbers: read one item after the other, or at any place of a file by several threads at once.

use std::fs::File;
use std::io::{self, Read};

use super::number::{fill, to_native};
use super::{NpyError, NpyNumber, NpyReader, with_number};
use crate::place::fill_at;
use fit_core::Pixel;

/// Readers that may be files, of which any part can be read at any time.
pub trait MaybeFile: Read {
    /// The file, if it is one.
    fn file(&self) -> Option<&File>;
}

impl MaybeFile for File {
    fn file(&self) -> Option<&File> {
        Some(self)
    }
}

/// Memory for bytes that are read.
pub trait ByteRoom {
    /// Memory for so many bytes, with what was in it before.
    ///
    /// # Errors
    /// [`io::ErrorKind::OutOfMemory`].
    fn grow(&mut self, bytes: usize) -> io::Result<&mut [u8]>;
}

/// Bytes for which memory is asked at a time: what a header promises may never come.
const STEP: usize = 1 << 25;

/// Bytes that are converted at a time: whole numbers of any type.
const PIECE: usize = 1 << 15;

/// The order of bytes on this machine.
const BIG_ENDIAN: bool = cfg!(target_endian = "big");

impl<R: Read> NpyReader<R> {
    /// Reads up to `items` items, in C order, as the bytes of their numbers in the order of this machine. Returns how many items there
    /// were; 0 at the end.
    ///
    /// # Errors
    /// As [`NpyReader::read`], except [`NpyError::Wrong`].
    pub fn read_bytes(&mut self, items: usize, room: &mut dyn ByteRoom) -> Result<usize, NpyError> {
        let items = items.min(self.left);
        let (size, big_endian) = (self.header.number.size(), self.header.big_endian);
        let wanted = items * self.item() * size;
        if self.is_reordered() {
            self.check_order()?;
            let bytes = room.grow(wanted)?;
            self.reordered_bytes(items, bytes)?;
            to_native(&mut bytes[..wanted], size, big_endian);
            return Ok(items);
        }
        let mut done = 0;
        while done < wanted {
            let next = wanted.min(done + STEP);
            let got = fill(&mut self.reader, &mut room.grow(next)?[done..next])?;
            done += got;
            if done < next {
                let before = self.header.shape[0] - self.left;
                return Err(self.truncated(before * self.item() * size + done));
            }
        }
        to_native(&mut room.grow(wanted)?[..wanted], size, big_endian);
        self.left -= items;
        Ok(items)
    }

    /// The next items of an array in Fortran order.
    fn reordered_bytes(&mut self, items: usize, bytes: &mut [u8]) -> Result<(), NpyError> {
        let size = self.header.number.size();
        let item = self.item() * size;
        let mut done = 0;
        while done < items {
            let at = self.load()?;
            let Self { slab, header, .. } = self;
            let mut each = |place: usize, run: &[u8]| {
                bytes[done * item + place * size..][..run.len()].copy_from_slice(run);
            };
            let count = slab.ordered(header, at, items - done, &mut each);
            self.left -= count;
            done += count;
        }
        Ok(())
    }
}

impl<R: MaybeFile> NpyReader<R> {
    /// Whether items can be read at any place: from a file whose numbers are in C order.
    pub fn reads_anywhere(&self) -> bool {
        let seeks = self.goto.is_some() && self.reader.file().is_some();
        cfg!(any(unix, windows)) && seeks && !self.is_reordered()
    }

    /// Reads the items from number `first` on, as many as fit into `bytes`, as the bytes of their numbers in the order of this machine.
    /// What [`NpyReader::read`] gives next is the same as without it, and several threads may read at once.
    ///
    /// # Errors
    /// [`NpyError::Truncated`] if the file ends too early, [`NpyError::Io`]; also if it does not [read
    /// anywhere](NpyReader::reads_anywhere), and if there are no such items.
    pub fn read_bytes_at(&self, first: usize, bytes: &mut [u8]) -> Result<(), NpyError> {
        self.fill_at(first.checked_mul(self.item() * self.header.number.size()), bytes)
    }

    /// Appends `items` items from number `first` on to `numbers`, each number rounded to the nearest `f32`. What [`NpyReader::read`] gives
    /// next is the same as without it, and several threads may read at once.
    ///
    /// # Errors
    /// As [`NpyReader::read_bytes_at`].
    pub fn read_f32_at(
        &self,
        first: usize,
        items: usize,
        numbers: &mut Vec<f32>,
    ) -> Result<(), NpyError> {
        with_number!(self.header.number, T => {
            self.read_as_at(first, items, |number: T| number.to_f64() as f32, numbers)
        })
    }

    /// The same with numbers of twice the precision.
    ///
    /// # Errors
    /// As [`NpyReader::read_bytes_at`].
    pub fn read_f64_at(
        &self,
        first: usize,
        items: usize,
        numbers: &mut Vec<f64>,
    ) -> Result<(), NpyError> {
        with_number!(self.header.number, T => {
            self.read_as_at(first, items, <T as Pixel>::to_f64, numbers)
        })
    }

    fn read_as_at<T: NpyNumber, P>(
        &self,
        first: usize,
        items: usize,
        convert: impl Fn(T) -> P,
        numbers: &mut Vec<P>,
    ) -> Result<(), NpyError> {
        let mut bytes = [0; PIECE];
        let item = self.item() * size_of::<T>();
        let mut begin = first.checked_mul(item);
        let mut left =
            items.checked_mul(item).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        while left > 0 {
            let bytes = &mut bytes[..left.min(PIECE)];
            self.fill_at(begin, bytes)?;
            let stored = bytes.chunks_exact(size_of::<T>());
            numbers.extend(stored.map(|bytes| convert(T::from_bytes(bytes, BIG_ENDIAN))));
            left -= bytes.len();
            begin = begin.and_then(|begin| begin.checked_add(bytes.len()));
        }
        Ok(())
    }

    /// Reads the data from a place on.
    fn fill_at(&self, begin: Option<usize>, bytes: &mut [u8]) -> Result<(), NpyError> {
        let inside = begin.filter(|begin| {
            let end = begin.checked_add(bytes.len());
            end.is_some_and(|end| self.header.bytes().is_some_and(|all| end <= all))
        });
        let file = self.reader.file().filter(|_| self.reads_anywhere());
        let (Some(begin), Some(file)) = (inside, file) else {
            return Err(io::Error::from(io::ErrorKind::InvalidInput).into());
        };
        let got = fill_at(file, self.start + begin as u64, bytes)?;
        if got < bytes.len() {
            return Err(self.truncated(begin + got));
        }
        to_native(bytes, self.header.number.size(), self.header.big_endian);
        Ok(())
    }
}
