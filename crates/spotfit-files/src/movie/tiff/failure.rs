//! What is wrong with a page.

use ::tiff::TiffError;

use super::MovieError;
use crate::excerpt::excerpt;

/// What is wrong with a page, from 0.
pub(super) fn wrong(page: usize, reason: impl ToString) -> MovieError {
    MovieError::Tiff { frame: page + 1, reason: reason.to_string() }
}

/// The same in the decoder's words, in which it may repeat as much of the file as it likes.
pub(super) fn undecodable(page: usize, error: TiffError) -> MovieError {
    wrong(page, excerpt(&error.to_string()))
}
