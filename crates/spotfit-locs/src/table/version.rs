//! Which Picasso a table is written for.

use std::fmt;
use std::str::FromStr;

use super::Unit;
use crate::OutOfRange;

/// The version of Picasso for which a table is written: `0` or `1`. Readers recognize tables of both.
///
/// ```
/// use spotfit_locs::table::{PicassoVersion, Unit};
///
/// assert_eq!(PicassoVersion::default().length_unit(), Unit::Pixel);
/// assert_eq!("1".parse::<PicassoVersion>()?.length_unit(), Unit::Nanometre);
/// # Ok::<(), spotfit_locs::OutOfRange>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PicassoVersion {
    /// Every version: lengths are in pixels. Picasso 1.0 converts such a table when it opens it.
    #[default]
    Zero,
    /// Version 1.0 and later: lengths are in nanometres, and the table is marked (`picasso_format`). Earlier versions do not look at the mark
    /// and take the lengths for pixels.
    One,
}

impl PicassoVersion {
    /// The unit of lengths in the plane.
    pub const fn length_unit(self) -> Unit {
        match self {
            Self::Zero => Unit::Pixel,
            Self::One => Unit::Nanometre,
        }
    }
}

impl fmt::Display for PicassoVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Zero => "0",
            Self::One => "1",
        })
    }
}

impl FromStr for PicassoVersion {
    type Err = OutOfRange;

    fn from_str(text: &str) -> Result<Self, OutOfRange> {
        let known = [Self::Zero, Self::One].into_iter().find(|known| known.to_string() == text);
        let wrong =
            || OutOfRange { name: "picasso", value: text.to_owned(), range: "0 or 1".to_owned() };
        known.ok_or_else(wrong)
    }
}
