//! What is wrong with a page.

use ::tiff::TiffError;

use super::MovieError;
use crate::excerpt::excerpt;
use crate::movie::error;

/// What is wrong with a page, from 0.
pub(super) fn wrong(page: usize, reason: impl ToString) -> MovieError {
    error::wrong(reason.to_string()).at(|| format!("frame {}: ", page + 1))
}

/// The same in the decoder's words.
pub(super) fn undecodable(page: usize, error: TiffError) -> MovieError {
    wrong(page, said(error))
}

/// The decoder's words, in which it may repeat as much of the file as it likes.
pub(super) fn said(error: TiffError) -> String {
    excerpt(&error.to_string())
}
