#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod averages;
mod depth;
pub mod drift;
mod fourier;
mod length;
pub mod link;
mod near;
pub mod pairs;
mod parallel;
pub mod positions;
mod range;
#[cfg(feature = "render")]
pub mod render;
#[cfg(feature = "report")]
pub mod report;
mod short;
pub mod statistics;
pub mod table;

pub use depth::DepthStatus;
/// Where a window lies, as [`table::CornerReader`] reads it.
pub use fit_core::Corner;
pub use length::{Length, LengthError};
pub use range::OutOfRange;

/// For the crates of Spotfit alone: it promises nothing.
#[doc(hidden)]
pub mod private {
    pub use crate::averages::{ends, median, root_mean_square};
    pub use crate::fourier::fourier;
    pub use crate::parallel::{change_each, change_parts, of_all, of_each};
    pub use crate::short::short;
    pub use crate::table::conditions::{Operand, operands, words};
    pub use crate::table::picasso::{in_nanometres, pixel_size};
}
