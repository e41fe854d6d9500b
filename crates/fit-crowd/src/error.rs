//! What can be wrong with the arguments.

use thiserror::Error;

/// What is wrong with a frame or with the options.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum CrowdError {
    /// There are not as many numbers as pixels.
    #[error("a frame of {width} × {height} pixels cannot have {found} {what}")]
    Count {
        /// What the numbers are.
        what: &'static str,
        /// Pixels in a row.
        width: usize,
        /// Rows.
        height: usize,
        /// Numbers given.
        found: usize,
    },
    /// A read variance is negative, not finite or above 10⁹.
    #[error("the read variance at ({x}, {y}) is {variance}, not 0 to 1e9")]
    Variance {
        /// Column.
        x: usize,
        /// Row.
        y: usize,
        /// The variance.
        variance: f32,
    },
    /// A frame has another size than the finder was made for.
    #[error("the frame has {width} × {height} pixels, not {expected_width} × {expected_height}")]
    Size {
        /// Its width.
        width: usize,
        /// Its height.
        height: usize,
        /// The finder's width.
        expected_width: usize,
        /// The finder's height.
        expected_height: usize,
    },
    /// A frame of no pixels, or of more than 2³⁰.
    #[error(
        "frames of {width} × {height} pixels: each side must be at least 1, and both together 2^30 at most"
    )]
    FrameSize {
        /// Pixels in a row.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// An option is out of its range.
    #[error("{name} is {value}, not {range}")]
    Option {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
}

impl CrowdError {
    /// Refuses an option unless it is good.
    pub(crate) fn check(
        name: &'static str,
        value: f64,
        good: bool,
        range: &'static str,
    ) -> Result<(), Self> {
        if good { Ok(()) } else { Err(Self::Option { name, value, range }) }
    }
}
