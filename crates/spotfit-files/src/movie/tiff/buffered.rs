//! A buffer that survives seeking.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// Reads through a buffer that is kept where a seek ends inside it. `BufReader` discards it at every
/// seek, unless it is told by how much, and the decoder seeks before each strip.
pub(in crate::movie) struct Buffered<R> {
    reader: BufReader<R>,
    at: u64,
    /// Places of bytes that are read as 1, in rising order.
    ones: Vec<u64>,
}

impl<R: Read + Seek> Buffered<R> {
    /// Begins at the reader's first byte.
    pub(super) fn new(mut reader: R, capacity: usize) -> io::Result<Self> {
        reader.rewind()?;
        Ok(Self { reader: BufReader::with_capacity(capacity, reader), at: 0, ones: Vec::new() })
    }

    /// Reads 1 at these places, in rising order, whatever the file has there.
    pub(super) fn with_ones(self, ones: Vec<u64>) -> Self {
        Self { ones, ..self }
    }
}

impl<R: Read> Read for Buffered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (count, begin) = (self.reader.read(buffer)?, self.at);
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
        let target = match to {
            SeekFrom::Start(target) => Some(target),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(_) => None,
        };
        let by = target.map(|target| i128::from(target) - i128::from(self.at));
        match (target, by.and_then(|by| i64::try_from(by).ok())) {
            (Some(target), Some(by)) => {
                self.reader.seek_relative(by)?;
                self.at = target;
            }
            _ => self.at = self.reader.seek(to)?,
        }
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
            let mut buffered = Buffered::new(io::Cursor::new(&bytes), 16).unwrap();
            buffered = buffered.with_ones(ones.map(|place| place as u64).to_vec());
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
        let mut buffered = Buffered::new(io::Cursor::new(bytes), 16).unwrap();
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
