//! Tables of outcomes: what those of windows and of curves have in common.

use std::path::Path;

/// How a table of outcomes is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeFormat {
    /// Text, a row for each fit.
    Csv,
    /// A structured array.
    Npy,
}

impl OutcomeFormat {
    /// The format by the ending of a file's name.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_ascii_lowercase();
        match ending.to_str()? {
            "csv" => Some(Self::Csv),
            "npy" => Some(Self::Npy),
            _ => None,
        }
    }
}

/// Width of the status in an NPY file, in characters: that of the longest one.
pub(super) const STATUS: usize = 14;
