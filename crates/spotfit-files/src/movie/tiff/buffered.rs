//! A buffer that survives seeking.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

/// Bytes that are read at first, after a jump: a directory has no more.
const LEAST: usize = 1 << 12;

/// Reads through a buffer that is kept where a seek ends inside it: the decoder seeks before each strip. Reading on, it reads ever
/// more at a time, up to its capacity.
pub(in crate::movie) struct Buffered<R> {
    reader: R,
    /// Where the reader is, if that is known.
    reader_at: Option<u64>,
    buffer: Vec<u8>,
    /// The place of the bytes in the buffer, and how many there are.
    start: u64,
    held: usize,
    /// How many are read next.
    next: usize,
    capacity: usize,
    at: u64,
    /// Places of bytes that are read as 1, in rising order.
    ones: Arc<[u64]>,
}

impl<R: Read + Seek> Buffered<R> {
    /// Begins at the reader's first byte.
    pub(super) fn new(reader: R, capacity: usize) -> Self {
        let next = LEAST.min(capacity);
        let (reader_at, buffer, ones) = (None, Vec::new(), Arc::default());
        Self { reader, reader_at, buffer, start: 0, held: 0, next, capacity, at: 0, ones }
    }

    /// Reads 1 at these places, in rising order, whatever the file has there.
    pub(super) fn with_ones(self, ones: Arc<[u64]>) -> Self {
        Self { ones, ..self }
    }

    /// Reads from the present place on, past the buffer.
    fn read_on(reader: &mut R, at: u64, is_there: bool, room: &mut [u8]) -> io::Result<usize> {
        if !is_there {
            reader.seek(SeekFrom::Start(at))?;
        }
        reader.read(room)
    }

    /// What the buffer has from the present place on; it is filled if it has nothing.
    fn filled(&mut self) -> io::Result<&[u8]> {
        let end = self.start + self.held as u64;
        if !(self.start..end).contains(&self.at) {
            let goes_on = self.held > 0 && self.at == end;
            self.next =
                if goes_on { (4 * self.next).min(self.capacity) } else { LEAST.min(self.capacity) };
            self.held = 0;
            self.buffer.resize(self.next.max(self.buffer.len()), 0);
            let is_there = self.reader_at.take() == Some(self.at);
            let room = &mut self.buffer[..self.next];
            self.held = Self::read_on(&mut self.reader, self.at, is_there, room)?;
            self.start = self.at;
            self.reader_at = Some(self.at + self.held as u64);
        }
        let from = (self.at - self.start) as usize;
        Ok(&self.buffer[from..self.held])
    }
}

impl<R: Read + Seek> Read for Buffered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let begin = self.at;
        let held = (self.start..self.start + self.held as u64).contains(&begin);
        let count = if held || buffer.len() < self.capacity {
            let filled = self.filled()?;
            let count = filled.len().min(buffer.len());
            buffer[..count].copy_from_slice(&filled[..count]);
            count
        } else {
            let is_there = self.reader_at.take() == Some(begin);
            let count = Self::read_on(&mut self.reader, begin, is_there, buffer)?;
            self.reader_at = Some(begin + count as u64);
            count
        };
        self.at += count as u64;
        let first = self.ones.partition_point(|&place| place < begin);
        for place in self.ones[first..].iter().take_while(|&&place| place < self.at) {
            buffer[(place - begin) as usize] = 1;
        }
        Ok(count)
    }
}

impl<R: Read + Seek> Seek for Buffered<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = match to {
            SeekFrom::Start(place) => place,
            SeekFrom::Current(by) => {
                self.at.checked_add_signed(by).ok_or(io::ErrorKind::InvalidInput)?
            }
            SeekFrom::End(_) => {
                let place = self.reader.seek(to)?;
                self.reader_at = Some(place);
                place
            }
        };
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that bytes which are to be 1 are, however they are read, and no others are touched.
    #[test]
    fn ones_are_read_as_such() {
        let bytes = vec![9; 100];
        let ones = [0, 7, 8, 50, 99];
        for step in [1, 3, 16, 100] {
            let mut buffered = Buffered::new(io::Cursor::new(&bytes), 16);
            buffered = buffered.with_ones(Arc::from(ones.map(|place| place as u64)));
            let mut read = vec![0; 100];
            for (number, part) in read.chunks_mut(step).enumerate().rev() {
                buffered.seek(SeekFrom::Start((number * step) as u64)).unwrap();
                buffered.read_exact(part).unwrap();
            }
            for (place, byte) in read.into_iter().enumerate() {
                assert_eq!(byte, if ones.contains(&place) { 1 } else { 9 }, "{place}, {step}");
            }
        }
    }

    /// Proves that seeking, by whatever means, ends where it should, also outside the buffer.
    #[test]
    fn seeks_end_where_they_should() {
        let bytes: Vec<u8> = (0..200).collect();
        let mut plain = io::Cursor::new(bytes.clone());
        let mut buffered = Buffered::new(io::Cursor::new(bytes), 16);
        let seeks = [
            SeekFrom::Start(3),
            SeekFrom::Start(10),
            SeekFrom::Start(5),
            SeekFrom::Current(-4),
            SeekFrom::Current(100),
            SeekFrom::End(-9),
            SeekFrom::Start(0),
            SeekFrom::Current(-1),
            SeekFrom::Start(190),
            SeekFrom::End(50),
            SeekFrom::Start(u64::MAX),
            SeekFrom::Start(7),
        ];
        for to in seeks {
            assert_eq!(buffered.seek(to).ok(), plain.seek(to).ok(), "{to:?}");
            let (mut a, mut b) = ([0; 7], [0; 7]);
            assert_eq!(buffered.read(&mut a).is_ok(), plain.read(&mut b).is_ok());
            assert_eq!(a[..1], b[..1], "{to:?}");
            let place = plain.stream_position().unwrap();
            buffered.seek(SeekFrom::Start(place)).unwrap();
        }
    }
}
