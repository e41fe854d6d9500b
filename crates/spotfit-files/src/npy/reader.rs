//! Reads the data after the header.

use std::convert::identity;
use std::io::{self, Read, Seek, SeekFrom};

use super::fortran::{FORTRAN_BYTES, Slab};
use super::{NpyError, NpyHeader, NpyNumber, read_numbers, with_number};
use fit_core::Pixel;

/// Goes to a place in a reader that can seek.
pub(super) type Goto<R> = fn(&mut R, u64) -> io::Result<()>;

/// Reads the items along the first axis of an array, some at a time, in C order.
///
/// It reads a mebibyte at a time: a buffer around the reader only helps with the header, and slows down a reader that
/// seeks.
pub struct NpyReader<R> {
    pub(super) reader: R,
    pub(super) header: NpyHeader,
    /// Items not read yet.
    pub(super) left: usize,
    /// How to get to a place, counted from the first byte of the data, which lie at `start`.
    pub(super) goto: Option<Goto<R>>,
    pub(super) start: u64,
    /// Items of an array in Fortran order.
    pub(super) slab: Slab,
    bytes: Vec<u8>,
}

impl<R: Read> NpyReader<R> {
    /// Reads the header. `file_length` is the length of the whole file in bytes, if it is known; with it, a truncated
    /// file gives an error immediately.
    ///
    /// # Errors
    /// [`NpyError`].
    pub fn new(reader: R, file_length: Option<u64>) -> Result<Self, NpyError> {
        Self::with_header(reader, file_length, |counted| NpyHeader::read(counted))
    }

    /// The same for an array that may be of booleans, as masks are: they are read as bytes of 0 and 1.
    ///
    /// # Errors
    /// [`NpyError`].
    pub fn of_booleans(reader: R, file_length: Option<u64>) -> Result<Self, NpyError> {
        Self::with_header(reader, file_length, |counted| NpyHeader::read_booleans(counted))
    }

    fn with_header(
        mut reader: R,
        file_length: Option<u64>,
        read: impl FnOnce(&mut Counted<&mut R>) -> Result<NpyHeader, NpyError>,
    ) -> Result<Self, NpyError> {
        let mut counted = Counted { reader: &mut reader, count: 0 };
        let header = read(&mut counted)?;
        let start = counted.count;
        let found = file_length.map(|length| length.saturating_sub(start));
        let promised = header.bytes().unwrap_or(usize::MAX) as u64;
        if let Some(found) = found.filter(|&found| found < promised) {
            return Err(NpyError::Truncated { promised, found });
        }
        let left = header.shape.first().copied().unwrap_or(0);
        let (slab, bytes) = (Slab::new(FORTRAN_BYTES), Vec::new());
        Ok(Self { reader, header, left, goto: None, start, slab, bytes })
    }

    /// The header.
    pub fn header(&self) -> &NpyHeader {
        &self.header
    }

    /// How many items were neither read nor skipped.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Reinterprets the array as another shape with the same number of elements, before anything has been read.
    pub(crate) fn set_shape(&mut self, shape: Vec<usize>) {
        debug_assert_eq!(
            shape.iter().product::<usize>(),
            self.header.shape.iter().product::<usize>()
        );
        // In Fortran order the axes are permuted: a leading axis of one changes nothing.
        self.left = shape.first().copied().unwrap_or(0);
        self.header.shape = shape;
    }

    /// Where the data begin, if the reader can seek and its numbers are stored in the order in which they are returned.
    pub(crate) fn start(&self) -> Option<u64> {
        (self.goto.is_some() && !self.is_reordered()).then_some(self.start)
    }

    /// Numbers of an item.
    pub(super) fn item(&self) -> usize {
        self.header.shape.iter().skip(1).product()
    }

    /// Whether the numbers are stored in another order than the one in which they are returned.
    pub(super) fn is_reordered(&self) -> bool {
        let Self { header, .. } = self;
        header.fortran_order && header.shape.len() > 1 && header.bytes() != Some(0)
    }

    /// Finds out whether the array can be read in the order in which it is stored.
    pub(crate) fn check_order(&self) -> Result<(), NpyError> {
        if !self.is_reordered() {
            return Ok(());
        }
        self.slab.check(&self.header, self.goto.is_some())
    }

    /// Appends up to `items` items of the first axis to `numbers`, in C order, and returns their number; 0 at the end.
    ///
    /// # Errors
    /// [`NpyError::Wrong`] if the file has other numbers than `T`, [`NpyError::Truncated`] if it ends
    /// too early, [`NpyError::FortranOrder`], [`NpyError::Io`].
    pub fn read<T: NpyNumber>(
        &mut self,
        items: usize,
        numbers: &mut Vec<T>,
    ) -> Result<usize, NpyError> {
        self.read_as(items, identity::<T>, numbers)
    }

    /// [`NpyReader::read`] for numbers of any type, each rounded to the nearest `f64`.
    ///
    /// # Errors
    /// As [`NpyReader::read`], except [`NpyError::Wrong`].
    pub fn read_f64(&mut self, items: usize, numbers: &mut Vec<f64>) -> Result<usize, NpyError> {
        with_number!(self.header.number, T => self.read_as(items, <T as Pixel>::to_f64, numbers))
    }

    /// [`NpyReader::read`] for numbers of any type, each rounded to the nearest `f32`.
    ///
    /// # Errors
    /// As [`NpyReader::read`], except [`NpyError::Wrong`].
    pub fn read_f32(&mut self, items: usize, numbers: &mut Vec<f32>) -> Result<usize, NpyError> {
        with_number!(self.header.number, T => self.read_as(items, to_f32::<T>, numbers))
    }

    /// [`NpyReader::read`] with the numbers converted.
    pub(crate) fn read_as<T: NpyNumber, P: Copy + Default>(
        &mut self,
        items: usize,
        convert: impl Fn(T) -> P,
        numbers: &mut Vec<P>,
    ) -> Result<usize, NpyError> {
        if self.header.number != T::TYPE {
            let kinds = format!("{:?} (read as {:?})", self.header.number, T::TYPE);
            return Err(NpyError::kind(kinds));
        }
        let items = items.min(self.left);
        if self.is_reordered() {
            return self.read_reordered(items, convert, numbers);
        }
        let count = items * self.item();
        let big_endian = self.header.big_endian;
        let Self { reader, bytes, .. } = self;
        let got = read_numbers(reader, big_endian, count, convert, bytes, numbers)?;
        if got < count * size_of::<T>() {
            let before = self.header.shape[0] - self.left;
            return Err(self.truncated(before * self.item() * size_of::<T>() + got));
        }
        self.left -= items;
        Ok(items)
    }

    /// Sees to it that the slab has the next item, and returns its number.
    pub(super) fn load(&mut self) -> Result<usize, NpyError> {
        let at = self.header.shape[0] - self.left;
        if !self.slab.holds(at) {
            let goto = self.goto.map(|goto| (goto, self.start));
            let found = self.slab.load(&mut self.reader, goto, &self.header, at)?;
            if let Some(found) = found {
                return Err(self.truncated(found));
            }
        }
        Ok(at)
    }

    fn read_reordered<T: NpyNumber, P: Copy + Default>(
        &mut self,
        items: usize,
        convert: impl Fn(T) -> P,
        numbers: &mut Vec<P>,
    ) -> Result<usize, NpyError> {
        self.check_order()?;
        let room = items * self.item();
        numbers.try_reserve_exact(room).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let mut done = 0;
        while done < items {
            let at = self.load()?;
            let (left, begin) = (items - done, numbers.len());
            numbers.resize(begin + self.slab.count(at, left) * self.item(), P::default());
            let Self { slab, header, .. } = self;
            let mut each = |place: usize, bytes: &[u8]| {
                let numbers = &mut numbers[begin + place..];
                for (number, bytes) in numbers.iter_mut().zip(bytes.chunks_exact(size_of::<T>())) {
                    *number = convert(T::from_bytes(bytes, header.big_endian));
                }
            };
            let count = slab.ordered(header, at, left, &mut each);
            self.left -= count;
            done += count;
        }
        Ok(done)
    }

    /// Passes over up to `items` items.
    ///
    /// # Errors
    /// [`NpyError::Truncated`] if a stream ends too early, [`NpyError::Io`].
    pub fn skip(&mut self, items: usize) -> Result<(), NpyError> {
        let items = items.min(self.left);
        self.left -= items;
        if items == 0 || self.is_reordered() {
            return Ok(());
        }
        let item = self.item() * self.header.number.size();
        let place = self.header.shape[0] - self.left;
        if let Some(goto) = self.goto {
            goto(&mut self.reader, self.start + (place * item) as u64)?;
            return Ok(());
        }
        let wanted = (items * item) as u64;
        let got = io::copy(&mut self.reader.by_ref().take(wanted), &mut io::sink())?;
        if got < wanted {
            return Err(self.truncated(place * item - (wanted - got) as usize));
        }
        Ok(())
    }

    /// The error that there are only so many bytes of data.
    pub(super) fn truncated(&self, found: usize) -> NpyError {
        let promised = self.header.bytes().unwrap_or(usize::MAX) as u64;
        NpyError::Truncated { promised, found: found as u64 }
    }
}

impl<R: Read + Seek> NpyReader<R> {
    /// As [`NpyReader::new`], for a reader that can seek, such as a file: it can also read large arrays in
    /// Fortran order. A reader that turns out not to seek (a pipe) is read as a stream.
    ///
    /// # Errors
    /// [`NpyError`].
    pub fn seekable(mut reader: R, file_length: Option<u64>) -> Result<Self, NpyError> {
        let begin = reader.stream_position();
        let mut opened = Self::new(reader, file_length)?;
        if let Ok(begin) = begin {
            opened.start += begin;
            opened.goto = Some(|reader: &mut R, at| reader.seek(SeekFrom::Start(at)).map(drop));
        }
        Ok(opened)
    }
}

fn to_f32<T: Pixel>(number: T) -> f32 {
    number.to_f64() as f32
}

struct Counted<R> {
    reader: R,
    count: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        self.count += n as u64;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with the numbers 0, 1, 2, … as they come out in C order, and its shape.
    fn fortran(descr: &str, size: usize, shape: &[usize]) -> Vec<u8> {
        let text = format!("{{'descr': '{descr}', 'fortran_order': True, 'shape': {shape:?}}}\n")
            .replace('[', "(")
            .replace(']', ")");
        let mut file = b"\x93NUMPY\x01\0".to_vec();
        file.extend((text.len() as u16).to_le_bytes());
        file.extend(text.as_bytes());
        let begin = file.len();
        let count: usize = shape.iter().product();
        file.resize(begin + count * size, 0);
        for number in 0..count {
            let (mut rest, mut at, mut stride) = (number, 0, count);
            for &length in shape.iter().rev() {
                stride /= length;
                at += rest % length * stride;
                rest /= length;
            }
            let bytes = (number as u64).to_le_bytes();
            file[begin + at * size..][..size].copy_from_slice(&bytes[..size]);
        }
        file
    }

    /// Reads a file of this shape with at most so many bytes held.
    fn check<T: NpyNumber + PartialEq + TryFrom<usize>>(
        descr: &str,
        shape: &[usize],
        budgets: &[usize],
    ) {
        let file = fortran(descr, size_of::<T>(), shape);
        let length = Some(file.len() as u64);
        for &budget in budgets {
            // The data begin somewhere in the reader.
            let mut reader = io::Cursor::new([&[9; 5], &file[..]].concat());
            reader.set_position(5);
            let mut reader = NpyReader::seekable(reader, length).unwrap();
            reader.slab = Slab::new(budget);
            let mut numbers = Vec::<T>::new();
            let per = shape[0] / 3 + 1;
            while reader.read(per, &mut numbers).unwrap() > 0 {}
            assert_eq!(numbers.len(), shape.iter().product::<usize>());
            let right = |(i, &n): (usize, &T)| T::try_from(i).is_ok_and(|i| i == n);
            assert!(numbers.iter().enumerate().all(right), "{descr} {shape:?} {budget}");
        }
    }

    /// Proves that arrays in Fortran order come out in C order, however little of them is held at a
    /// time, and however the file must be read for that.
    #[test]
    fn fortran_order_is_read_by_blocks() {
        check::<u16>("<u2", &[7, 5, 6], &[1 << 20, 7 * 60, 6 * 60, 61, 1]);
        check::<i32>("<i4", &[40, 3, 50], &[5000, 1300]);
        check::<u64>("<u8", &[100, 33, 35], &[1 << 18, 40_000]);
        check::<u16>("<u2", &[300, 70], &[4321]);
        // Runs too far apart to be read as one.
        check::<u32>("<u4", &[70_001, 2, 3], &[400_000, 80_000]);
    }

    /// Proves that what ends too early, after its length was taken, is found out with what there was.
    #[test]
    fn fortran_order_that_ends_early_is_found_out() {
        let file = fortran("<u2", 2, &[7, 5, 6]);
        let data = 2 * 7 * 5 * 6;
        for missing in [2, 100, 400] {
            for budget in [1 << 20, 60] {
                let cut = io::Cursor::new(&file[..file.len() - missing]);
                let mut reader = NpyReader::seekable(cut, None).unwrap();
                reader.slab = Slab::new(budget);
                let error = reader.read(7, &mut Vec::<u16>::new()).unwrap_err();
                match error {
                    NpyError::Truncated { promised, found } if budget > 60 => {
                        assert_eq!((promised, found), (data, data - missing as u64));
                    }
                    NpyError::Truncated { .. } => {}
                    other => panic!("{other}"),
                }
            }
        }
    }
}
