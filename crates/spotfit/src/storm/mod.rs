//! Tables of localizations, as ThunderSTORM writes them and Picasso and others read them, and tables
//! of positions to fit.
//!
//! [`StormFormat::save`] and [`StormFormat::load`] write and read a whole table in one call.
//! [`StormFormat::header`] and [`StormFormat::row`] write a table piece by piece, [`CornerReader`] reads where windows lie.
//! [`table`](crate::table) reads and writes tables of any columns and any length.

mod columns;
mod corners;
mod read;
mod table;

use std::fmt::Write as _;

use fit_core::Shape;

use crate::localize::{Checks, Flags, Localization};

pub use columns::TableError;
pub use corners::CornerReader;
pub use read::{MOST_POSITIONS, read_positions};

/// How wide a spot is, in columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Widths {
    /// `sigma` and `uncertainty_xy`.
    #[default]
    One,
    /// `sigma1` (along x) and `sigma2` in its place; after `uncertainty_xy`, which is the root mean square of both,
    /// `uncertainty_x` and `uncertainty_y`.
    Two,
    /// The same, with `angle` in radians after `sigma2`.
    Turned,
}

impl Widths {
    /// Those of a shape.
    pub fn of(shape: Shape) -> Self {
        match shape {
            Shape::Circular(_) | Shape::FixedSigma(_) => Self::One,
            Shape::Rotated(_) => Self::Turned,
            _ => Self::Two,
        }
    }
}

/// How localizations are written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StormFormat {
    /// Size of a pixel in nanometres; without it lengths are in pixels.
    pub pixel_size: Option<f64>,
    /// Whether (0, 0) is the corner of the first pixel, as in ThunderSTORM, instead of its centre.
    pub corner_origin: bool,
    /// The columns for the widths of a spot.
    pub widths: Widths,
    /// Whether there are columns `neighbour` (a length), `goodness` and `flags`
    /// ([`Flags::bits`](crate::localize::Flags::bits)).
    pub checks: bool,
    /// Whether there is a column `status`.
    pub status: bool,
}

impl StormFormat {
    fit_core::__setters! {
        const with_pixel_size: pixel_size: Option<f64>,
        const with_corner_origin: corner_origin: bool,
        const with_widths: widths: Widths,
        const with_checks: checks: bool,
        const with_status: status: bool,
    }

    /// The line with the names of the columns.
    pub fn header(&self) -> String {
        let unit = if self.pixel_size.is_some() { "nm" } else { "px" };
        let when = |there: bool, columns: &str| match there {
            true => columns.replace("[u]", &format!("[{unit}]")),
            false => String::new(),
        };
        let one = self.widths == Widths::One;
        [
            when(true, "\"id\",\"frame\",\"x [u]\",\"y [u]\""),
            when(one, ",\"sigma [u]\""),
            when(!one, ",\"sigma1 [u]\",\"sigma2 [u]\""),
            when(self.widths == Widths::Turned, ",\"angle [rad]\""),
            when(true, ",\"intensity [photon]\",\"offset [photon]\",\"bkgstd [photon]\",\"chi2\""),
            when(true, ",\"uncertainty_xy [u]\""),
            when(!one, ",\"uncertainty_x [u]\",\"uncertainty_y [u]\""),
            when(self.checks, ",\"neighbour [u]\",\"goodness\",\"flags\""),
            when(self.status, ",\"status\""),
            "\n".to_owned(),
        ]
        .concat()
    }

    /// Appends one line. Lengths have six decimals in pixels, four in nanometres.
    pub fn row(&self, spot: &Localization, text: &mut String) {
        let written = self.write_row(spot, text);
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }

    fn write_row(&self, spot: &Localization, text: &mut String) -> std::fmt::Result {
        let (scale, decimals) = self.pixel_size.map_or((1.0, 6), |size| (size, 4));
        let origin = if self.corner_origin { 0.5 } else { 0.0 };
        let Localization { id, frame, intensity, offset, background_std, chi2, .. } = spot;
        // The last frame that can be numbered from 0 is one more than fits from 1.
        write!(text, "{id},{}", *frame as u128 + 1)?;
        let lengths = |text: &mut String, lengths: &[f64]| {
            lengths.iter().try_for_each(|length| write!(text, ",{:.decimals$}", length * scale))
        };
        lengths(text, &[spot.x + origin, spot.y + origin])?;
        match self.widths {
            Widths::One => lengths(text, &[spot.sigma])?,
            _ => lengths(text, &[spot.sigma_x, spot.sigma_y])?,
        }
        if self.widths == Widths::Turned {
            write!(text, ",{:.6}", spot.angle)?;
        }
        write!(text, ",{intensity:.4},{offset:.4},{background_std:.4},{chi2:.4}")?;
        lengths(text, &[spot.uncertainty])?;
        if self.widths != Widths::One {
            lengths(text, &[spot.uncertainty_x, spot.uncertainty_y])?;
        }
        if self.checks {
            match &spot.checks {
                // Every language reads this word.
                Some(Checks { neighbour: f64::INFINITY, .. }) => text.push_str(",Infinity"),
                Some(checks) => lengths(text, &[checks.neighbour])?,
                None => text.push_str(",NaN"),
            }
            let goodness = spot.checks.map_or(f64::NAN, |checks| checks.goodness);
            let flags = spot.checks.map_or(Flags::default(), |checks| checks.flags);
            write!(text, ",{goodness:.4},{}", flags.bits())?;
        }
        if self.status {
            write!(text, ",{}", spot.status.name())?;
        }
        text.push('\n');
        Ok(())
    }
}
