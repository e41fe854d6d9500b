//! Localizations as tables.

use std::sync::Arc;

use fit_core::Shape;

use super::{Column, Dimension, Info, Table, Unit};
use crate::localize::{Localization, LocalizedColumn};

/// How wide a spot is, in columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WidthColumns {
    /// `sigma` and `uncertainty`.
    #[default]
    One,
    /// The same, with `uncertainty_x` and `uncertainty_y` after `uncertainty`, which is the root mean square of both.
    Circular,
    /// `sigma_x` and `sigma_y` in its place; after `uncertainty`, which is the root mean square of both,
    /// `uncertainty_x` and `uncertainty_y`.
    Two,
    /// The same, with `angle` after `sigma_y`.
    Turned,
    /// Of fits with a measured PSF: `sigma` without an error, `uncertainty`, `uncertainty_x` and `uncertainty_y`.
    Measured,
}

impl WidthColumns {
    /// Those of a shape.
    pub fn of(shape: Shape) -> Self {
        match shape {
            Shape::Circular(_) | Shape::FixedSigma(_) => Self::One,
            Shape::Rotated(_) => Self::Turned,
            _ => Self::Two,
        }
    }
}

/// When frames were taken, in seconds since the first.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FrameTimes {
    /// One every so many seconds.
    Every(f64),
    /// Each at its own time; those past the last are NaN.
    Each(Arc<[f64]>),
}

impl FrameTimes {
    /// That of a frame, counted from 0.
    pub fn of(&self, frame: usize) -> f64 {
        match self {
            Self::Every(time) => frame as f64 * time,
            Self::Each(times) => times.get(frame).copied().unwrap_or(f64::NAN),
        }
    }
}

fit_core::__options! {
    /// Which columns the table of some localizations has, and in which units.
    ///
    /// ```
    /// use spotfit::localize::Localization;
    /// use spotfit::table::{Info, Layout, Unit};
    ///
    /// let spots = [Localization { x: 2.0, y: 3.5, ..Localization::UNKNOWN }];
    /// let table = Layout::default().with_pixel_size(Some(100.0)).table(&spots, &Info::default());
    /// assert_eq!((table.values("x")?, table.values("y")?), (&[200.0][..], &[350.0][..]));
    /// assert_eq!(table.length_unit()?, Unit::Nanometre);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct Layout {
        /// Size of a pixel in nanometres; without it lengths are in pixels.
        pub pixel_size(const with_pixel_size): Option<f64> = None,
        /// Whether (0, 0) is the corner of the first pixel, as in ThunderSTORM, instead of its centre.
        pub corner_origin(const with_corner_origin): bool = false,
        /// The columns for the widths of a spot.
        pub widths(const with_widths): WidthColumns = WidthColumns::default(),
        /// Whether there are `z`, `uncertainty_z`, `z_distance` and `z_status`.
        pub depth(const with_depth): bool = false,
        /// Whether there are `offset_x` and `offset_y`, the slopes of the background.
        pub slopes(const with_slopes): bool = false,
        /// Whether there are the standard errors of photons, background and widths.
        pub errors(const with_errors): bool = false,
        /// Whether there are `neighbour` (a length), `goodness` and `flags` ([`Flags::bits`](crate::localize::Flags::bits)).
        pub checks(const with_checks): bool = false,
        /// Whether there is `status`.
        pub status(const with_status): bool = false,
        /// When frames were taken, for `time`; without it there is no such column.
        pub times(with_times): Option<FrameTimes> = None,
    }
}

impl Layout {
    /// Whether a spot has two widths.
    pub(crate) fn has_two_widths(&self) -> bool {
        matches!(self.widths, WidthColumns::Two | WidthColumns::Turned)
    }

    /// When a frame was taken.
    pub(crate) fn time(&self, frame: usize) -> f64 {
        self.times.as_ref().map_or(f64::NAN, |times| times.of(frame))
    }

    /// The table of some localizations. Lengths have six decimals in pixels and four in nanometres, or more: see [`Kind::Rounded`](super::Kind::Rounded).
    pub fn table(&self, spots: &[Localization], info: &Info) -> Table {
        let mut info = info.clone();
        info.pixel_size = self.pixel_size.or(info.pixel_size);
        let mut table = Table::new(info);
        let (scale, unit) =
            self.pixel_size.map_or((1.0, Unit::Pixel), |size| (size, Unit::Nanometre));
        for column in Localization::COLUMNS.iter().filter(|column| (column.is_in)(self)) {
            let LocalizedColumn { meaning, number, .. } = *column;
            let scale = if meaning.dimension() == Dimension::Length { scale } else { 1.0 };
            let values = spots.iter().map(|spot| number(spot, self) * scale).collect();
            table.set(Column::of(meaning, unit, values));
        }
        table
    }

    /// Where the centre of the first pixel is, in pixels.
    pub(crate) fn origin(&self) -> f64 {
        if self.corner_origin { 0.5 } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::astigmatism::find::{Depth, DepthStatus};
    use crate::localize::{Checks, Flags, SpotErrors};

    /// Proves that a layout with everything has every column once, with the number of its spot, and none that was not asked for.
    #[test]
    fn columns_are_those_of_the_layout() {
        let checks = Checks { neighbour: 4.25, goodness: 1.125, flags: Flags::from_bits(5) };
        let errors = SpotErrors { photons: 1.0, background: 2.0, sigma_x: 3.0, sigma_y: 4.0 };
        let depth = Depth { z: 7.0, error: 8.0, distance: 9.0, status: DepthStatus::Above };
        let spot = Localization {
            frame: 3,
            x: 2.0,
            checks: Some(checks),
            errors: Some(errors),
            depth: Some(depth),
            ..Localization::UNKNOWN
        };
        let names = |layout: &Layout| {
            let table = layout.table(&[spot], &Info::default());
            let names = table.columns().iter().map(|column| column.name.clone());
            names.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            names(&Layout::default()),
            "id frame x y sigma photons background background_std chi2 uncertainty"
        );
        let all = Layout::default()
            .with_pixel_size(Some(100.0))
            .with_corner_origin(true)
            .with_widths(WidthColumns::Turned)
            .with_depth(true)
            .with_slopes(true)
            .with_errors(true)
            .with_checks(true)
            .with_status(true)
            .with_times(Some(FrameTimes::Every(0.5)));
        let table = all.table(&[spot], &Info::default());
        for (name, value) in [
            ("time", 1.5),
            ("x", 250.0),
            ("z", 7.0),
            ("photons_error", 1.0),
            ("background_error", 2.0),
            ("sigma_x_error", 300.0),
            ("sigma_y_error", 400.0),
            ("uncertainty_z", 8.0),
            ("z_distance", 9.0),
            ("z_status", DepthStatus::Above as usize as f64),
            ("neighbour", 425.0),
            ("goodness", 1.125),
            ("flags", 5.0),
        ] {
            assert_eq!(table.values(name).expect(name), [value], "{name}");
        }
        assert_eq!(
            names(&all),
            "id frame time x y z sigma_x sigma_y angle photons background offset_x offset_y background_std chi2 uncertainty \
             uncertainty_x uncertainty_y uncertainty_z photons_error background_error sigma_x_error sigma_y_error z_distance \
             z_status neighbour goodness flags status"
        );
    }
}
