//! Errors.

use std::io;

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
    /// The object has another type than the requested one.
    #[error("'{name}' is not {needed}")]
    Sort {
        /// The object.
        name: String,
        /// The requested type.
        needed: &'static str,
    },
    /// An object is not there or too large, or a number, a name or a text cannot be read or written, in words.
    #[error("{0}")]
    Wrong(String),
}

impl H5Error {
    pub(super) fn wrong(what: impl Into<String>) -> Self {
        Self::Wrong(what.into())
    }

    pub(super) fn sort(name: &str, needed: &'static str) -> Self {
        Self::Sort { name: name.to_owned(), needed }
    }

    pub(super) fn unsupported(name: &str, what: impl Into<String>) -> Self {
        Self::Unsupported { name: name.to_owned(), what: what.into() }
    }

    /// What an element or a member beyond 2⁵³ is, by the number of its row among those of a block that begins at `first`.
    pub(super) fn integer(name: &str, member: &str, first: u64) -> impl FnOnce(usize) -> Self {
        move |row| {
            let row = first + row as u64;
            Self::Wrong(format!("'{name}', row {row}: {member} is an integer beyond 2^53"))
        }
    }

    /// An error if there is more than may be read.
    pub(super) fn limit(name: &str, count: u64, unit: &str, most: u64) -> Result<(), Self> {
        match count <= most {
            true => Ok(()),
            false => {
                Err(Self::Wrong(format!("'{name}' has {count} {unit}; at most {most} are read")))
            }
        }
    }

    /// The value of a column that cannot be stored.
    pub(super) fn value(member: &str, row: u64, value: f64, kind: impl std::fmt::Display) -> Self {
        Self::Wrong(format!("row {row}: {member} = {value} cannot be stored as {kind}"))
    }

    /// An error unless there is a column for each member.
    pub(super) fn columns(given: usize, needed: usize) -> Result<(), Self> {
        match given == needed {
            true => Ok(()),
            false => Err(Self::Wrong(format!("there are {given} columns for {needed} members"))),
        }
    }
}
