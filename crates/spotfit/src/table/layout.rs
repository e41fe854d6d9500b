//! Localizations as tables.

use std::path::Path;
use std::sync::Arc;

use fit_core::{Shape, Status};
use spotfit_locs::private::root_mean_square;

use super::{Column, Dimension, Info, Kind, LeftOut, Meaning, Table, TableError, Unit};
use crate::astigmatism::find::{Depth, DepthStatus};
use crate::localize::{Checks, Flags, Localization, SpotErrors};

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
    /// # let folder = std::env::temp_dir().join(format!("spotfit-doc-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # let path = folder.join("locs.csv");
    /// use spotfit::localize::Localization;
    /// use spotfit::table::Layout;
    ///
    /// # let spots: Vec<Localization> = Vec::new();
    /// let layout = Layout::default().with_pixel_size(Some(107.0));
    /// layout.save(&path, &spots)?;
    /// assert_eq!(layout.load(&path)?, spots);
    /// # std::fs::remove_dir_all(&folder)?;
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
        /// Whether there are `neighbour` (a length), `goodness` and `flags` ([`Flags::bits`]).
        pub checks(const with_checks): bool = false,
        /// Whether there is `status`.
        pub status(const with_status): bool = false,
        /// When frames were taken, for `time`; without it there is no such column.
        pub times(with_times): Option<FrameTimes> = None,
    }
}

/// A number of a localization that is a column, and where it is.
type Number = (Meaning, fn(&mut Localization) -> Option<&mut f64>);

/// All of them: the table of a localization is made of it, and a localization of a table, by these lines alone.
const NUMBERS: &[Number] = &[
    (Meaning::X, |spot| Some(&mut spot.x)),
    (Meaning::Y, |spot| Some(&mut spot.y)),
    (Meaning::Sigma, |spot| Some(&mut spot.sigma)),
    (Meaning::SigmaX, |spot| Some(&mut spot.sigma_x)),
    (Meaning::SigmaY, |spot| Some(&mut spot.sigma_y)),
    (Meaning::Angle, |spot| Some(&mut spot.angle)),
    (Meaning::Photons, |spot| Some(&mut spot.intensity)),
    (Meaning::Background, |spot| Some(&mut spot.offset)),
    (Meaning::OffsetX, |spot| Some(&mut spot.offset_x)),
    (Meaning::OffsetY, |spot| Some(&mut spot.offset_y)),
    (Meaning::BackgroundStd, |spot| Some(&mut spot.background_std)),
    (Meaning::Chi2, |spot| Some(&mut spot.chi2)),
    (Meaning::Uncertainty, |spot| Some(&mut spot.uncertainty)),
    (Meaning::UncertaintyX, |spot| Some(&mut spot.uncertainty_x)),
    (Meaning::UncertaintyY, |spot| Some(&mut spot.uncertainty_y)),
    (Meaning::PhotonsError, |spot| Some(&mut spot.errors.as_mut()?.photons)),
    (Meaning::BackgroundError, |spot| Some(&mut spot.errors.as_mut()?.background)),
    (Meaning::SigmaError, |spot| Some(&mut spot.errors.as_mut()?.sigma_x)),
    (Meaning::SigmaXError, |spot| Some(&mut spot.errors.as_mut()?.sigma_x)),
    (Meaning::SigmaYError, |spot| Some(&mut spot.errors.as_mut()?.sigma_y)),
    (Meaning::Z, |spot| Some(&mut spot.depth.as_mut()?.z)),
    (Meaning::UncertaintyZ, |spot| Some(&mut spot.depth.as_mut()?.error)),
    (Meaning::ZDistance, |spot| Some(&mut spot.depth.as_mut()?.distance)),
    (Meaning::Neighbour, |spot| Some(&mut spot.checks.as_mut()?.neighbour)),
    (Meaning::Goodness, |spot| Some(&mut spot.checks.as_mut()?.goodness)),
];

/// The column that stands for one of an axis.
fn both_axes(axis: Meaning) -> Option<Meaning> {
    match axis {
        Meaning::SigmaXError | Meaning::SigmaYError => Some(Meaning::SigmaError),
        axis => axis.of_both_axes(),
    }
}

/// What is known of a height and of checks whose columns are missing.
const NO_DEPTH: Depth =
    Depth { z: f64::NAN, error: f64::NAN, distance: f64::NAN, status: DepthStatus::Found };
const NO_CHECKS: Checks =
    Checks { neighbour: f64::NAN, goodness: f64::NAN, flags: Flags::from_bits(0) };

impl Layout {
    /// Whether it has a column of localizations.
    fn has(&self, column: Meaning) -> bool {
        use Meaning as M;
        use WidthColumns::{Circular, Measured, One, Turned, Two};
        match column {
            M::Time => self.times.is_some(),
            M::Sigma => matches!(self.widths, One | Circular | Measured),
            M::SigmaX | M::SigmaY => matches!(self.widths, Two | Turned),
            M::Angle => self.widths == Turned,
            M::OffsetX | M::OffsetY => self.slopes,
            M::UncertaintyX | M::UncertaintyY => self.widths != One,
            M::PhotonsError | M::BackgroundError => self.errors,
            M::SigmaError => self.errors && matches!(self.widths, One | Circular),
            M::SigmaXError | M::SigmaYError => self.errors && self.has(M::SigmaX),
            M::Z | M::UncertaintyZ | M::ZDistance | M::ZStatus => self.depth,
            M::Neighbour | M::Goodness | M::Flags => self.checks,
            M::Status => self.status,
            _ => true,
        }
    }

    /// The table of some localizations. Lengths have six decimals in pixels and four in nanometres, or more: see [`Kind::Rounded`].
    pub fn table(&self, spots: &[Localization], info: &Info) -> Table {
        let mut info = info.clone();
        info.pixel_size = self.pixel_size.or(info.pixel_size);
        let mut table = Table::new(info);
        let (scale, unit) =
            self.pixel_size.map_or((1.0, Unit::Pixel), |size| (size, Unit::Nanometre));
        let numbers = NUMBERS.iter().filter(|(meaning, _)| self.has(*meaning));
        let mut numbers: Vec<_> = numbers
            .map(|&(meaning, number)| {
                let scale = if meaning.dimension() == Dimension::Length { scale } else { 1.0 };
                (meaning, number, scale, Vec::with_capacity(spots.len()))
            })
            .collect();
        for spot in spots {
            let mut spot = *spot;
            spot.x += self.origin();
            spot.y += self.origin();
            for (_, number, scale, values) in &mut numbers {
                values.push(number(&mut spot).map_or(f64::NAN, |number| *number * *scale));
            }
        }
        for (meaning, .., values) in numbers {
            table.set(Column::of(meaning, unit, values));
        }
        let mut add = |meaning: Meaning, of: &dyn Fn(&Localization) -> f64| {
            if self.has(meaning) {
                table.set(Column::of(meaning, unit, spots.iter().map(of).collect()));
            }
        };
        add(Meaning::Id, &|spot| spot.id as f64);
        add(Meaning::Frame, &|spot| spot.frame as f64);
        let time = |frame| self.times.as_ref().map_or(f64::NAN, |times| times.of(frame));
        add(Meaning::Time, &|spot| time(spot.frame));
        let status = |depth: Depth| depth.status;
        let status = |spot: &Localization| spot.depth.map_or(DepthStatus::Invalid, status);
        add(Meaning::ZStatus, &|spot| status(spot) as usize as f64);
        add(Meaning::Flags, &|spot| f64::from(spot.checks.unwrap_or(NO_CHECKS).flags.bits()));
        let place = |status| Status::ALL.iter().position(|one| *one == status).unwrap_or(0);
        add(Meaning::Status, &|spot| place(spot.status) as f64);
        table
    }

    /// Where the centre of the first pixel is, in pixels.
    fn origin(&self) -> f64 {
        if self.corner_origin { 0.5 } else { 0.0 }
    }

    /// The localizations of a table that Spotfit, ThunderSTORM or Picasso wrote.
    ///
    /// Lengths become pixels, by [`Layout::pixel_size`] or what the table knows; the origin is where
    /// [`Layout::corner_origin`] says. The columns `frame`, `x` and `y` must be there. Without `id`, localizations are
    /// counted from 1; without `status`, they are taken to have converged (`min_step`); other numbers whose column is
    /// missing are NaN.
    ///
    /// # Errors
    /// [`TableError`]; [`TableError::PixelSize`] for nanometres without a pixel's size.
    pub fn localizations(&self, table: &Table) -> Result<Vec<Localization>, TableError> {
        let frames = table.values(Meaning::Frame)?;
        for needed in [Meaning::X, Meaning::Y] {
            table.values(needed)?;
        }
        let has = |meaning: Meaning| table.column(meaning).is_some();
        let spot = Localization {
            angle: 0.0,
            offset_x: 0.0,
            offset_y: 0.0,
            depth: has(Meaning::Z).then_some(NO_DEPTH),
            errors: has(Meaning::PhotonsError).then_some(SpotErrors::UNKNOWN),
            checks: (has(Meaning::Neighbour) && has(Meaning::Flags)).then_some(NO_CHECKS),
            status: Status::MinStep,
            ..Localization::UNKNOWN
        };
        let mut spots = vec![spot; table.rows()];
        for &(meaning, number) in NUMBERS {
            // One for both axes stands for that of each.
            let both = || both_axes(meaning).and_then(|both| table.column(both));
            let Some(column) = table.column(meaning).or_else(both) else { continue };
            let size = self.pixel(table, column)?;
            for (spot, value) in spots.iter_mut().zip(&column.values) {
                // A division gives back what was multiplied more often than the product with the reciprocal.
                if let Some(number) = number(spot) {
                    *number = value / size;
                }
            }
        }
        let (has_sigma, has_uncertainty) = (has(Meaning::Sigma), has(Meaning::Uncertainty));
        let ids = table.values(Meaning::Id).ok();
        let statuses = words(table, Meaning::Status, |word| word.parse().ok(), "a status")?;
        let depth = |word: &str| DepthStatus::ALL.into_iter().find(|status| status.name() == word);
        let depths = words(table, Meaning::ZStatus, depth, "the status of a height")?;
        let flags = table.values(Meaning::Flags).ok();
        for (row, spot) in spots.iter_mut().enumerate() {
            let wrong = |column: Meaning, value: f64, needed: &'static str| {
                Err(TableError::row(row, column, value, needed))
            };
            if !(frames[row] >= 0.0 && frames[row] < 2f64.powi(53)) {
                return wrong(Meaning::Frame, frames[row], "the number of a frame");
            }
            spot.frame = frames[row] as usize;
            spot.id = match ids.map(|ids| ids[row]) {
                Some(id) if id >= 0.0 => id as u64,
                Some(id) => return wrong(Meaning::Id, id, "a number from 0"),
                None => row as u64 + 1,
            };
            spot.x -= self.origin();
            spot.y -= self.origin();
            if !has_sigma {
                let Localization { sigma_x: x, sigma_y: y, .. } = *spot;
                spot.sigma = if x == y { x } else { (x * y).sqrt() };
            }
            if !has_uncertainty {
                spot.uncertainty = root_mean_square(spot.uncertainty_x, spot.uncertainty_y);
            }
            spot.status = statuses.get(row).copied().unwrap_or(spot.status);
            if let (Some(depth), Some(status)) = (&mut spot.depth, depths.get(row)) {
                depth.status = *status;
            }
            if let (Some(checks), Some(flags)) = (&mut spot.checks, flags) {
                if !(0.0..=255.0).contains(&flags[row]) {
                    return wrong(Meaning::Flags, flags[row], "a sum of 1, 2, 4, 8 and 16");
                }
                checks.flags = Flags::from_bits(flags[row] as u8);
            }
        }
        Ok(spots)
    }

    /// What the numbers of a column are divided by to be those of a localization.
    fn pixel(&self, table: &Table, column: &Column) -> Result<f64, TableError> {
        if !(column.is_of(Dimension::Length) && column.unit == Unit::Nanometre) {
            return Ok(1.0);
        }
        let size = self.pixel_size.or(table.info.pixel_size);
        size.ok_or_else(|| TableError::no_pixel_size(column, Unit::Pixel))
    }

    /// Writes localizations to a file: see [`Table::save`].
    ///
    /// # Errors
    /// [`TableError`].
    pub fn save(
        &self,
        path: impl AsRef<Path>,
        spots: &[Localization],
    ) -> Result<LeftOut, TableError> {
        self.table(spots, &Info::default()).save(path)
    }

    /// Reads localizations from a file: see [`Layout::localizations`].
    ///
    /// # Errors
    /// [`TableError`].
    pub fn load(&self, path: impl AsRef<Path>) -> Result<Vec<Localization>, TableError> {
        self.localizations(&Table::load(path)?)
    }
}

/// What the words of a column mean; nothing if there is no such column.
fn words<T: Copy>(
    table: &Table,
    meaning: Meaning,
    parse: impl Fn(&str) -> Option<T>,
    needed: &'static str,
) -> Result<Vec<T>, TableError> {
    let Some(column) = table.column(meaning) else { return Ok(Vec::new()) };
    let wrong = |row: usize, value: &str| TableError::word(row, meaning, value, needed);
    let Kind::Words(all) = &column.kind else {
        let first = column.values.first();
        return first.map_or(Ok(Vec::new()), |value| Err(wrong(0, &value.to_string())));
    };
    let meanings: Vec<Option<T>> = all.iter().map(|word| parse(word)).collect();
    let meaning = |(row, &value): (usize, &f64)| {
        let place = value as usize;
        meanings[place].ok_or_else(|| wrong(row, &all[place]))
    };
    column.values.iter().enumerate().map(meaning).collect()
}
