//! Errors.

use std::io;

use super::NumberKind;

/// Errors of reading or writing an HDF5 file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum H5Error {
    /// The file cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is not an HDF5 file.
    #[error("this is not an HDF5 file: it does not begin with the signature of one")]
    Signature,
    /// A part of the file contradicts itself or another part, or lies beyond the end of the file.
    #[error("the HDF5 file is damaged: {part} at byte {address}")]
    Damaged {
        /// Which part.
        part: &'static str,
        /// Where it begins, in bytes from the start of the file.
        address: u64,
    },
    /// The file uses a feature of HDF5 that this reader does not support.
    #[error("'{name}' cannot be read: {what} is not supported")]
    Unsupported {
        /// The object at the root; "/" for the root itself.
        name: String,
        /// What it uses.
        what: String,
    },
    /// There is no such object at the root.
    #[error("the HDF5 file has no '{name}'; it has: {present}")]
    Missing {
        /// The requested name.
        name: String,
        /// The existing names; only the first ones, if there are many.
        present: String,
    },
    /// The object has another type than the requested one.
    #[error("'{name}' is not {needed}")]
    Sort {
        /// The object.
        name: String,
        /// The requested type.
        needed: &'static str,
    },
    /// The object is larger than the limit.
    #[error("'{name}' has {count} {unit}; at most {most} are read")]
    Large {
        /// The object.
        name: String,
        /// Its size.
        count: u64,
        /// What is counted.
        unit: &'static str,
        /// The limit.
        most: u64,
    },
    /// An integer has no exact value as `f64`.
    #[error("'{name}', row {row}: {member} is an integer beyond 2^53")]
    Integer {
        /// The dataset.
        name: String,
        /// The member of the record; the dataset's name, where the elements are plain numbers.
        member: String,
        /// The row, or element, from 0.
        row: u64,
    },
    /// A value cannot be stored in its member.
    #[error("row {row}: {member} = {value} cannot be stored as {kind}")]
    Value {
        /// The member of the record.
        member: String,
        /// The row, from 0, counted from the first row of the file.
        row: u64,
        /// The value.
        value: f64,
        /// The member's type.
        kind: NumberKind,
    },
    /// The columns do not match the members.
    #[error("there are {given} columns for {needed} members")]
    Columns {
        /// The number of columns given.
        given: usize,
        /// The number of members.
        needed: usize,
    },
    /// The columns have different lengths.
    #[error("the column of {member} has {given} rows, the first one has {needed}")]
    Lengths {
        /// The member of the record.
        member: String,
        /// The length of its column.
        given: usize,
        /// The length of the first column.
        needed: usize,
    },
    /// A name or a list of members cannot be written.
    #[error("{0}")]
    Unwritable(String),
}
