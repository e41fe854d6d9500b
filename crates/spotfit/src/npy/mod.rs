//! NPY files, as NumPy writes them, read piece by piece.
//!
//! A stack of a billion pixels need not fit into memory: [`NpyReader::read`] gives as many items of
//! the first axis at a time as asked for. Either byte order and either memory order are understood
//! (an array in Fortran order is read whole, for its first axis is the fastest). Why this is not
//! left to a library is written in `docs/decisions`.

mod header;
mod number;

use std::io::{self, Read};

pub use header::{NpyHeader, write_header};
pub(crate) use number::with_number;
pub use number::{Number, NumberType};

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NpyError {
    /// Reading failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It does not begin like an NPY file.
    #[error("this is not an NPY file (it does not begin with \\x93NUMPY)")]
    Magic,
    /// The version is not known.
    #[error("NPY version {0}.{1} is not known (1.0, 2.0 and 3.0 are)")]
    Version(u8, u8),
    /// The header cannot be understood.
    #[error("the NPY header cannot be understood: {0}")]
    Header(&'static str),
    /// The numbers are of a type that is not supported.
    #[error(
        "numbers of type '{0}' are not supported \
         (integers of 8 to 64 bits and floating point of 32 or 64 bits are)"
    )]
    Type(String),
    /// The array has more numbers than can be addressed.
    #[error("an array of shape {0} is too large")]
    TooLarge(String),
    /// There are fewer numbers than the header says.
    #[error(
        "the file is truncated: its header promises {promised} bytes of data, there are {found}"
    )]
    Truncated {
        /// Bytes that the shape asks for.
        promised: u64,
        /// Bytes that there are.
        found: u64,
    },
}

/// Reads the items along the first axis of an array, some at a time, in C order.
pub struct NpyReader<R> {
    reader: R,
    header: NpyHeader,
    /// Items not read yet.
    left: usize,
    /// The whole array in C order, as bytes, if the file has it in Fortran order.
    reordered: Option<io::Cursor<Vec<u8>>>,
    bytes: Vec<u8>,
}

impl<R: Read> NpyReader<R> {
    /// Reads the header. `file_length` is the length of the whole file in bytes if it is known:
    /// then a truncated file is found out before any of it is used.
    ///
    /// # Errors
    /// [`NpyError`].
    pub fn new(mut reader: R, file_length: Option<u64>) -> Result<Self, NpyError> {
        let mut counted = Counted { reader: &mut reader, count: 0 };
        let header = NpyHeader::read(&mut counted)?;
        let found = file_length.map(|length| length.saturating_sub(counted.count));
        let promised = header.bytes().unwrap_or(usize::MAX) as u64;
        if let Some(found) = found.filter(|&found| found < promised) {
            return Err(NpyError::Truncated { promised, found });
        }
        let left = header.shape.first().copied().unwrap_or(0);
        Ok(Self { reader, header, left, reordered: None, bytes: Vec::new() })
    }

    /// What the header says.
    pub fn header(&self) -> &NpyHeader {
        &self.header
    }

    /// Takes the array to have another shape with as many numbers. Nothing must have been read yet.
    pub(crate) fn set_shape(&mut self, shape: Vec<usize>) {
        debug_assert_eq!(shape.iter().product::<usize>(), self.header.shape.iter().product());
        // In Fortran order the axes are permuted: a leading axis of one changes nothing.
        self.left = shape.first().copied().unwrap_or(0);
        self.header.shape = shape;
    }

    /// Appends up to `items` items of the first axis to `numbers`, in C order, and returns how many
    /// there were; 0 at the end.
    ///
    /// # Errors
    /// [`NpyError::Type`] if the file has other numbers than `T`, [`NpyError::Truncated`] if it ends
    /// too early, [`NpyError::Io`].
    pub fn read<T: Number>(
        &mut self,
        items: usize,
        numbers: &mut Vec<T>,
    ) -> Result<usize, NpyError> {
        let NpyHeader { number, big_endian, fortran_order, .. } = self.header;
        if number != T::TYPE {
            return Err(NpyError::Type(format!("{number:?} (read as {:?})", T::TYPE)));
        }
        let items = items.min(self.left);
        let item: usize = self.header.shape.iter().skip(1).product::<usize>() * number.size();
        if fortran_order && self.reordered.is_none() {
            self.reordered = Some(io::Cursor::new(self.reorder()?));
        }
        let wanted = items * item;
        self.bytes.clear();
        let got = match &mut self.reordered {
            Some(whole) => whole.take(wanted as u64).read_to_end(&mut self.bytes)?,
            None => self.reader.by_ref().take(wanted as u64).read_to_end(&mut self.bytes)?,
        };
        if got < wanted {
            let promised = self.header.bytes().unwrap_or(usize::MAX) as u64;
            let found = promised - (self.left * item - got) as u64;
            return Err(NpyError::Truncated { promised, found });
        }
        self.left -= items;
        let chunks = self.bytes.chunks_exact(number.size());
        numbers.extend(chunks.map(|bytes| T::from_bytes(bytes, big_endian)));
        Ok(items)
    }

    /// Reads an array in Fortran order whole and puts it in C order.
    fn reorder(&mut self) -> Result<Vec<u8>, NpyError> {
        let promised = self.header.bytes().unwrap_or(usize::MAX);
        let mut stored = Vec::new();
        let found = self.reader.by_ref().take(promised as u64).read_to_end(&mut stored)?;
        if found < promised {
            return Err(NpyError::Truncated { promised: promised as u64, found: found as u64 });
        }
        let size = self.header.number.size();
        let shape = &self.header.shape;
        let mut strides = vec![size; shape.len()];
        for axis in 1..shape.len() {
            strides[axis] = strides[axis - 1] * shape[axis - 1];
        }
        let mut ordered = Vec::with_capacity(promised);
        let mut index = vec![0; shape.len()];
        while ordered.len() < promised {
            let at: usize = index.iter().zip(&strides).map(|(i, stride)| i * stride).sum();
            ordered.extend_from_slice(&stored[at..at + size]);
            for (i, &length) in index.iter_mut().zip(shape).rev() {
                *i += 1;
                if *i < length {
                    break;
                }
                *i = 0;
            }
        }
        Ok(ordered)
    }
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
