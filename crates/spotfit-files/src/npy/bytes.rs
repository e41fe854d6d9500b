//! The bytes of numbers: read one item after the other, or at any place of a file by several threads at once.

use std::fs::File;
use std::io::{self, Read};

use super::number::{fill, to_native};
use super::{NpyError, NpyNumber, NpyReader, with_number};
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
    /// As [`NpyReader::read`], except [`NpyError::Type`].
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
        let mut done = 0;
        while done < bytes.len() {
            match read_at(file, &mut bytes[done..], self.start + (begin + done) as u64) {
                Ok(0) => return Err(self.truncated(begin + done)),
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        to_native(bytes, self.header.number.size(), self.header.big_endian);
        Ok(())
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], place: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, place)
}

#[cfg(windows)]
fn read_at(file: &File, bytes: &mut [u8], place: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, place)
}

#[cfg(not(any(unix, windows)))]
fn read_at(_: &File, _: &mut [u8], _: u64) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::npy::write_header;

    struct Room(Vec<u8>);

    impl ByteRoom for Room {
        fn grow(&mut self, bytes: usize) -> io::Result<&mut [u8]> {
            if self.0.len() < bytes {
                self.0.resize(bytes, 7);
            }
            Ok(&mut self.0)
        }
    }

    /// Files of 5 items of 3 numbers 0, 1, 2, … each, in every byte and memory order.
    fn files() -> Vec<Vec<u8>> {
        let mut files = Vec::new();
        for (order, big_endian) in [('<', false), ('>', true)] {
            let mut file = Vec::new();
            write_header(&mut file, &format!("'{order}u4'"), &[5, 3]).unwrap();
            let head = file.len();
            let bytes =
                |number: u32| if big_endian { number.to_be_bytes() } else { number.to_le_bytes() };
            file.extend((0..15).flat_map(bytes));
            files.push(file.clone());
            let text = String::from_utf8_lossy(&file[10..head]).replace("False", "True ");
            file.truncate(10);
            file.extend(text.into_bytes());
            file.extend(
                (0..3).flat_map(|column| (0..5).map(move |row| 3 * row + column)).flat_map(bytes),
            );
            files.push(file);
        }
        files
    }

    fn numbers(bytes: &[u8]) -> Vec<u32> {
        bytes.chunks_exact(4).map(|bytes| u32::from_bytes(bytes, BIG_ENDIAN)).collect()
    }

    /// Proves that bytes are those of the numbers in the order of this machine, however they are stored, and whether they are read in turn
    /// or anywhere.
    #[test]
    fn bytes_are_those_of_numbers() {
        for content in files() {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&content).unwrap();
            io::Seek::rewind(&mut file).unwrap();
            let mut reader = NpyReader::seekable(file, Some(content.len() as u64)).unwrap();
            let mut room = Room(Vec::new());
            let mut found = Vec::new();
            loop {
                let count = reader.read_bytes(2, &mut room).unwrap();
                if count == 0 {
                    break;
                }
                found.extend(numbers(&room.0[..12 * count]));
                if reader.reads_anywhere() {
                    let mut bytes = [0; 24];
                    reader.read_bytes_at(1, &mut bytes).unwrap();
                    assert_eq!(numbers(&bytes), [3, 4, 5, 6, 7, 8]);
                    assert!(reader.read_bytes_at(4, &mut bytes).is_err(), "beyond the last");
                    assert!(reader.read_bytes_at(usize::MAX / 4, &mut bytes).is_err());
                    let (mut single, mut double) = (vec![0.5], vec![0.5]);
                    reader.read_f32_at(1, 2, &mut single).unwrap();
                    assert_eq!(single, [0.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
                    reader.read_f64_at(4, 1, &mut double).unwrap();
                    assert_eq!(double, [0.5, 12.0, 13.0, 14.0]);
                    assert!(reader.read_f32_at(4, 2, &mut single).is_err(), "beyond the last");
                    assert!(reader.read_f64_at(1, usize::MAX / 2, &mut double).is_err());
                }
            }
            assert_eq!(found, (0..15).collect::<Vec<u32>>());
            assert_eq!(reader.reads_anywhere(), !reader.header().fortran_order);
        }
    }

    /// Proves that numbers that are converted in several pieces are those that are read in turn.
    #[test]
    fn numbers_anywhere_are_those_in_turn() {
        for kind in ["<u1", ">i2", "<f4", ">f8"] {
            let size: usize = kind[2..].parse().unwrap();
            let mut content = Vec::new();
            write_header(&mut content, &format!("'{kind}'"), &[7, 1000]).unwrap();
            content.extend((0..7000 * size).map(|i| (i * 31 % 60) as u8));
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&content).unwrap();
            io::Seek::rewind(&mut file).unwrap();
            let mut reader = NpyReader::seekable(file, Some(content.len() as u64)).unwrap();
            let (mut single, mut double) = (Vec::new(), Vec::new());
            reader.read_f32_at(1, 6, &mut single).unwrap();
            reader.read_f64_at(1, 6, &mut double).unwrap();
            reader.skip(1).unwrap();
            assert_eq!(reader.left(), 6);
            let (mut turn, mut all) = (Vec::new(), Vec::new());
            reader.read_f64(6, &mut turn).unwrap();
            assert_eq!(double, turn, "{kind}");
            all.extend(turn.iter().map(|&number| number as f32));
            assert_eq!(single, all, "{kind}");
        }
    }

    /// Proves that a file that shrinks after it was opened is found out with what is left of it, and that what a header promises takes no
    /// memory before it comes.
    #[test]
    fn files_that_shrink_are_found_out() {
        let content = &files()[0];
        let data = content.len() as u64 - 60;
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        io::Seek::rewind(&mut file).unwrap();
        let reader = NpyReader::seekable(file, Some(content.len() as u64)).unwrap();
        reader.reader.set_len(data + 30).unwrap();
        let mut bytes = [0; 36];
        for first in 0..3 {
            match reader.read_bytes_at(first, &mut bytes) {
                Err(NpyError::Truncated { promised: 60, found: 30 }) => {}
                other => panic!("{first}: {other:?}"),
            }
        }

        let mut head = Vec::new();
        write_header(&mut head, "'<u4'", &[1, 1 << 40]).unwrap();
        head.extend([1; 40]);
        let mut room = Room(Vec::new());
        let mut reader = NpyReader::new(&head[..], None).unwrap();
        let found = reader.read_bytes(1, &mut room);
        assert!(matches!(found, Err(NpyError::Truncated { found: 40, .. })), "{found:?}");
        assert!(room.0.len() <= STEP);
    }
}
