//! HDF5 files with tables, arrays and text, as h5py, PyTables and MATLAB write them.
//!
//! [`H5Reader`] reads one-dimensional datasets of records (a compound of numbers, or of such records) and columns of numbers
//! some rows at a time, arrays of up to four dimensions, and text and numbers in attributes. [`H5Writer`] writes one dataset of records as a stream of
//! rows, and one text after it; [`write_arrays`] writes some arrays, and a text as an attribute of the root.
//!
//! Implemented from the HDF5 File Format Specification, version 3.0, of The HDF Group. Files of every version of the
//! superblock are read, with chunks that are compressed by deflate (gzip), shuffled, or protected by Fletcher's
//! checksum. Not read, with an error that says so: sizes of lengths and offsets other than 8 bytes, links and attributes in fractal heaps (a root of a file of the newer format with more than eight
//! of them), committed data types, other filters (LZF, szip), virtual and external storage, and chunks that were never
//! written. Objects in groups have paths, `group/name`; soft and external links are passed over. The checksums of metadata in
//! the newer format are not checked.

mod array_writer;
mod arrays;
mod chunks;
mod dataset;
mod datatype;
mod error;
mod fields;
mod filters;
mod header;
mod member;
mod reader;
mod root;
mod text;
mod writer;
mod writer_parts;

pub use array_writer::{H5Array, write_arrays};
pub use error::H5Error;
pub use member::{Member, NumberKind};
pub use reader::{H5Reader, Rows};
pub use writer::H5Writer;

/// The address that stands for "nowhere".
const NOWHERE: u64 = u64::MAX;
/// What every HDF5 file begins with.
const SIGNATURE: &[u8; 8] = b"\x89HDF\r\n\x1a\n";
/// The longest text that is read or written, in bytes.
const LONGEST_TEXT: usize = 64 << 20;
