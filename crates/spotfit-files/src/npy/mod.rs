//! NPY files, as NumPy writes them, read piece by piece.
//!
//! A stack of a billion pixels need not fit into memory: [`NpyReader::read`] returns as many items of the first axis at
//! a time as requested. It reads either byte order and either memory order. `docs/decisions` explains why no library
//! does this.
//!
//! In Fortran order the first axis is the fastest, so the numbers of an item are spread over the whole file. Up to
//! [`FORTRAN_BYTES`] (256 MiB), or one item, are held in memory. A larger file is read once for each such part. Files
//! that would be read more than 32 times are refused (they are larger than 8 GiB, and an item has more than 126 000
//! numbers), and so are arrays above [`FORTRAN_BYTES`] from a stream that cannot seek ([`NpyError::FortranOrder`]).

mod bytes;
mod fortran;
mod header;
mod number;
mod reader;
mod translated;

use std::{fmt, io};

pub use bytes::{ByteRoom, MaybeFile};
pub use fortran::FORTRAN_BYTES;
pub use header::{NpyHeader, write_header};
pub use number::{NpyNumber, NumberType};
pub(crate) use number::{fill, read_numbers, to_native, with_number};
pub use reader::NpyReader;
pub(crate) use translated::Translated;

/// Errors of reading an NPY file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NpyError {
    /// Reading failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file does not begin like an NPY file, or its header cannot be understood or has numbers that are not supported.
    #[error("{0}")]
    Wrong(String),
    /// The array has the wrong number of dimensions.
    #[error("expected an array of shape {needed}, got {found}")]
    Shape {
        /// The expected dimensions.
        needed: &'static str,
        /// The shape of the array.
        found: String,
    },
    /// The array has more numbers than can be addressed.
    #[error("an array of shape {0} is too large")]
    TooLarge(String),
    /// The array is in Fortran order and too large to be read in that order.
    #[error("the array is in Fortran order, and {0}; save it in C order: numpy.ascontiguousarray")]
    FortranOrder(&'static str),
    /// There are fewer numbers than the header says.
    #[error(
        "the file is truncated: its header promises {promised} bytes of data, but there are {found}"
    )]
    Truncated {
        /// The bytes that the shape requires.
        promised: u64,
        /// The bytes that the file has.
        found: u64,
    },
}

impl NpyError {
    fn header(what: &str) -> Self {
        Self::Wrong(format!("the NPY header cannot be understood: {what}"))
    }

    /// The type of the numbers is not supported.
    fn kind(what: impl fmt::Display) -> Self {
        Self::Wrong(format!(
            "numbers of type '{what}' are not supported (integers of 8 to 64 bits and floating point of 32 or 64 bits are)"
        ))
    }
}
