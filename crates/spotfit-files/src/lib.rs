#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod archive;
pub mod columns;
mod decimal;
mod encoding;
mod excerpt;
pub mod hdf5;
pub mod movie;
mod no_text;
pub mod npy;
mod number_text;
pub mod output;
mod place;
mod sort;
pub mod yaml;

/// The version of `ndarray` whose arrays frames are.
pub use ndarray;

/// For the crates of Spotfit alone: it promises nothing.
#[doc(hidden)]
pub mod private {
    pub use crate::__with_number as with_number;
    pub use crate::decimal::{MarkEvidence, Reading};
    pub use crate::encoding::{Encoding, text_of_bytes};
    pub use crate::excerpt::excerpt;
    pub use crate::movie::{possible_pixel, raw_frame, read_raw_frame};
    pub use crate::no_text::no_text;
    pub use crate::number_text::{write_double, write_single, write_whole};
    pub use crate::sort::{sort_by, sort_by_key};
}
