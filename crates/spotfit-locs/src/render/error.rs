//! What can go wrong.

use crate::range::OutOfRange;

/// Why no picture was made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// There is nothing to show.
    #[error("there are no localizations to show")]
    Empty,
    /// An option is out of its range.
    #[error(transparent)]
    Option(#[from] OutOfRange),
    /// The picture would be too large.
    #[error(
        "a picture of {width:.0}×{height:.0} pixels is too large (at most {most} in all); make its pixels larger"
    )]
    TooLarge {
        /// Pixels in a row.
        width: f64,
        /// Rows.
        height: f64,
        /// The most pixels allowed.
        most: usize,
    },
    /// There is no memory for the picture.
    #[error("there is no memory for a picture of {width}×{height} pixels; make its pixels larger")]
    Memory {
        /// Pixels in a row.
        width: usize,
        /// Rows.
        height: usize,
    },
}
