//! Tables of outcomes: what those of windows and of curves have in common.

use std::fmt::Display;
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

/// The description of a structured array of NPY with fields of these names and types, such as `<f8`.
pub(super) fn npy_fields(fields: impl IntoIterator<Item = (impl Display, impl Display)>) -> String {
    let fields = fields.into_iter().map(|(name, kind)| format!("('{name}', '{kind}')"));
    format!("[{}]", fields.collect::<Vec<_>>().join(", "))
}

/// Appends a word as an NPY file has it, of so many letters.
pub(super) fn put_word(bytes: &mut Vec<u8>, word: &str, width: usize) {
    let letters = word.chars().chain(std::iter::repeat('\0')).take(width);
    bytes.extend(letters.flat_map(|letter| u32::from(letter).to_le_bytes()));
}
