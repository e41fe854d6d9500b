//! Tables of localizations, as ThunderSTORM writes them and Picasso and others read them, and tables
//! of positions to fit.
//!
//! [`StormFormat::save`] and [`StormFormat::load`] write and read a whole table in one call.
//! [`StormFormat::header`] and [`StormFormat::row`] write a table piece by piece. [`PointReader`] reads what a
//! picture needs from a table of any length; [`CornerReader`] reads where windows lie.

mod columns;
mod corners;
mod read;
mod table;

use std::fmt::Write as _;

use crate::localize::Localization;

pub use columns::TableError;
pub use corners::CornerReader;
pub use read::{MOST_POSITIONS, Point, PointReader, read_positions};

/// How localizations are written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StormFormat {
    /// Size of a pixel in nanometres; without it lengths are in pixels.
    pub pixel_size: Option<f64>,
    /// Whether (0, 0) is the corner of the first pixel, as in ThunderSTORM, instead of its centre.
    pub corner_origin: bool,
    /// Whether there is a column `status`.
    pub status: bool,
}

impl StormFormat {
    fit_core::__setters! {
        const with_pixel_size: pixel_size: Option<f64>,
        const with_corner_origin: corner_origin: bool,
        const with_status: status: bool,
    }

    /// The line with the names of the columns.
    pub fn header(&self) -> String {
        let unit = if self.pixel_size.is_some() { "nm" } else { "px" };
        let status = if self.status { ",\"status\"" } else { "" };
        format!(
            "\"id\",\"frame\",\"x [{unit}]\",\"y [{unit}]\",\"sigma [{unit}]\",\
             \"intensity [photon]\",\"offset [photon]\",\"bkgstd [photon]\",\"chi2\",\
             \"uncertainty_xy [{unit}]\"{status}\n"
        )
    }

    /// Appends one line. Lengths have six decimals in pixels, four in nanometres.
    pub fn row(&self, spot: &Localization, text: &mut String) {
        let (scale, decimals) = self.pixel_size.map_or((1.0, 6), |size| (size, 4));
        let origin = if self.corner_origin { 0.5 } else { 0.0 };
        let Localization { id, frame, intensity, offset, background_std, chi2, .. } = spot;
        let x = (spot.x + origin) * scale;
        let y = (spot.y + origin) * scale;
        let (sigma, uncertainty) = (spot.sigma * scale, spot.uncertainty * scale);
        let written = write!(
            text,
            "{id},{frame},{x:.decimals$},{y:.decimals$},{sigma:.decimals$},{intensity:.4},\
             {offset:.4},{background_std:.4},{chi2:.4},{uncertainty:.decimals$}",
            // The last frame that can be numbered from 0 is one more than fits from 1.
            frame = *frame as u128 + 1
        );
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
        if self.status {
            text.push(',');
            text.push_str(spot.status.name());
        }
        text.push('\n');
    }
}
