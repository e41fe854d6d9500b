//! Localizations as tables.

use std::path::Path;
use std::sync::Arc;

use fit_core::{Shape, Status};
use spotfit_files::private::excerpt;
use spotfit_locs::private::root_mean_square;

use super::{Column, Dimension, Info, Kind, Meaning, Table, TableError, Unit, Written};
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
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Layout {
    /// Size of a pixel in nanometres; without it lengths are in pixels.
    pub pixel_size: Option<f64>,
    /// Whether (0, 0) is the corner of the first pixel, as in ThunderSTORM, instead of its centre.
    pub corner_origin: bool,
    /// The columns for the widths of a spot.
    pub widths: WidthColumns,
    /// Whether there are `z`, `uncertainty_z`, `z_distance` and `z_status`.
    pub depth: bool,
    /// Whether there are `offset_x` and `offset_y`, the slopes of the background.
    pub slopes: bool,
    /// Whether there are the standard errors of photons, background and widths.
    pub errors: bool,
    /// Whether there are `neighbour` (a length), `goodness` and `flags` ([`Flags::bits`]).
    pub checks: bool,
    /// Whether there is `status`.
    pub status: bool,
    /// When frames were taken, for `time`; without it there is no such column.
    pub times: Option<FrameTimes>,
}

impl Layout {
    fit_core::__setters! {
        const with_pixel_size: pixel_size: Option<f64>,
        const with_corner_origin: corner_origin: bool,
        const with_widths: widths: WidthColumns,
        const with_depth: depth: bool,
        const with_slopes: slopes: bool,
        const with_errors: errors: bool,
        const with_checks: checks: bool,
        const with_status: status: bool,
        with_times: times: Option<FrameTimes>,
    }

    /// The table of some localizations. Lengths have six decimals in pixels and four in nanometres, or more: see [`Kind::Rounded`].
    pub fn table(&self, spots: &[Localization], info: &Info) -> Table {
        let mut info = info.clone();
        info.pixel_size = self.pixel_size.or(info.pixel_size);
        let mut table = Table::new(info);
        let (scale, unit) =
            self.pixel_size.map_or((1.0, Unit::Pixel), |size| (size, Unit::Nanometre));
        let origin = if self.corner_origin { 0.5 } else { 0.0 };
        let mut add = |meaning: Meaning, of: &dyn Fn(&Localization) -> f64| {
            let scale = if meaning.dimension() == Dimension::Length { scale } else { 1.0 };
            let values = spots.iter().map(|spot| of(spot) * scale).collect();
            table.set(Column::of(meaning, unit, values));
        };
        add(Meaning::Id, &|spot| spot.id as f64);
        add(Meaning::Frame, &|spot| spot.frame as f64);
        if let Some(times) = &self.times {
            add(Meaning::Time, &|spot| times.of(spot.frame));
        }
        add(Meaning::X, &|spot| spot.x + origin);
        add(Meaning::Y, &|spot| spot.y + origin);
        match self.widths {
            WidthColumns::One | WidthColumns::Circular | WidthColumns::Measured => {
                add(Meaning::Sigma, &|spot| spot.sigma);
            }
            WidthColumns::Two | WidthColumns::Turned => {
                add(Meaning::SigmaX, &|spot| spot.sigma_x);
                add(Meaning::SigmaY, &|spot| spot.sigma_y);
            }
        }
        if self.widths == WidthColumns::Turned {
            add(Meaning::Angle, &|spot| spot.angle);
        }
        add(Meaning::Photons, &|spot| spot.intensity);
        add(Meaning::Background, &|spot| spot.offset);
        if self.slopes {
            add(Meaning::OffsetX, &|spot| spot.offset_x);
            add(Meaning::OffsetY, &|spot| spot.offset_y);
        }
        add(Meaning::BackgroundStd, &|spot| spot.background_std);
        add(Meaning::Chi2, &|spot| spot.chi2);
        add(Meaning::Uncertainty, &|spot| spot.uncertainty);
        if self.widths != WidthColumns::One {
            add(Meaning::UncertaintyX, &|spot| spot.uncertainty_x);
            add(Meaning::UncertaintyY, &|spot| spot.uncertainty_y);
        }
        if self.errors {
            let error = |of: fn(&SpotErrors) -> f64| {
                move |spot: &Localization| spot.errors.as_ref().map_or(f64::NAN, of)
            };
            add(Meaning::PhotonsError, &error(|errors| errors.photons));
            add(Meaning::BackgroundError, &error(|errors| errors.background));
            match self.widths {
                WidthColumns::One | WidthColumns::Circular => {
                    add(Meaning::SigmaError, &error(|errors| errors.sigma_x));
                }
                WidthColumns::Measured => {}
                WidthColumns::Two | WidthColumns::Turned => {
                    add(Meaning::SigmaXError, &error(|errors| errors.sigma_x));
                    add(Meaning::SigmaYError, &error(|errors| errors.sigma_y));
                }
            }
        }
        if self.depth {
            let depth = |of: fn(&Depth) -> f64| {
                move |spot: &Localization| spot.depth.as_ref().map_or(f64::NAN, of)
            };
            add(Meaning::Z, &depth(|depth| depth.z));
            add(Meaning::UncertaintyZ, &depth(|depth| depth.error));
            add(Meaning::ZDistance, &depth(|depth| depth.distance));
            let status = |spot: &Localization| {
                spot.depth.as_ref().map_or(DepthStatus::Invalid, |depth| depth.status)
            };
            add(Meaning::ZStatus, &|spot| status(spot) as usize as f64);
        }
        if self.checks {
            let checks = |of: fn(&Checks) -> f64| {
                move |spot: &Localization| spot.checks.as_ref().map_or(f64::NAN, of)
            };
            add(Meaning::Neighbour, &checks(|checks| checks.neighbour));
            add(Meaning::Goodness, &checks(|checks| checks.goodness));
            let flags =
                |spot: &Localization| spot.checks.map_or(Flags::default(), |checks| checks.flags);
            add(Meaning::Flags, &|spot| f64::from(flags(spot).bits()));
        }
        if self.status {
            let place = |status| Status::ALL.iter().position(|one| *one == status).unwrap_or(0);
            add(Meaning::Status, &|spot| place(spot.status) as f64);
        }
        table
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
        let mut info = table.info.clone();
        info.pixel_size = self.pixel_size.or(info.pixel_size);
        let scale = |column: &Column| match column.unit {
            Unit::Nanometre => {
                info.pixel_size.map(f64::recip).ok_or_else(|| TableError::PixelSize {
                    column: column.name.clone(),
                    found: Unit::Nanometre,
                    needed: Unit::Pixel,
                })
            }
            _ => Ok(1.0),
        };
        let rows = table.rows();
        let missing = || vec![f64::NAN; rows];
        let length = |meaning: Meaning| -> Result<Option<Vec<f64>>, TableError> {
            let Some(column) = table.column(meaning) else { return Ok(None) };
            // A division gives back what was multiplied more often than the product with the reciprocal.
            let size = scale(column)?.recip();
            Ok(Some(column.values.iter().map(|value| value / size).collect()))
        };
        let needed = |one: Meaning| length(one)?.ok_or_else(|| TableError::Column(one.to_string()));
        let number = |one: Meaning| table.values(one).map_or_else(|_| missing(), <[f64]>::to_vec);
        table.values(Meaning::Frame)?;
        let (x, y) = (needed(Meaning::X)?, needed(Meaning::Y)?);
        let sigma = length(Meaning::Sigma)?;
        let either = |one: Meaning, both: &Option<Vec<f64>>| -> Result<Vec<f64>, TableError> {
            Ok(length(one)?.or_else(|| both.clone()).unwrap_or_else(missing))
        };
        let sigmas = [either(Meaning::SigmaX, &sigma)?, either(Meaning::SigmaY, &sigma)?];
        let both = length(Meaning::Uncertainty)?;
        let uncertainties =
            [either(Meaning::UncertaintyX, &both)?, either(Meaning::UncertaintyY, &both)?];
        let angle = table.values(Meaning::Angle).map_or_else(|_| vec![0.0; rows], <[f64]>::to_vec);
        let [intensity, offset] = [Meaning::Photons, Meaning::Background].map(number);
        let [background_std, chi2, goodness] =
            [Meaning::BackgroundStd, Meaning::Chi2, Meaning::Goodness].map(number);
        let [offset_x, offset_y] = [Meaning::OffsetX, Meaning::OffsetY]
            .map(|slope| table.values(slope).map_or_else(|_| vec![0.0; rows], <[f64]>::to_vec));
        let (neighbour, flags) = (length(Meaning::Neighbour)?, table.values(Meaning::Flags).ok());
        let ids = table.values(Meaning::Id).ok();
        let statuses = Self::statuses(table)?;
        let depth = Self::depths(table)?;
        let errors = table.column(Meaning::PhotonsError).is_some();
        let sigma_error = length(Meaning::SigmaError)?;
        let sigma_errors = [
            either(Meaning::SigmaXError, &sigma_error)?,
            either(Meaning::SigmaYError, &sigma_error)?,
        ];
        let [photons_error, background_error] =
            [Meaning::PhotonsError, Meaning::BackgroundError].map(number);
        let origin = if self.corner_origin { 0.5 } else { 0.0 };
        let wrong = |row: usize, column: Meaning, value: f64, needed: &'static str| {
            TableError::Row { row: row as u64 + 1, column: column.to_string(), value, needed }
        };
        let spot = |row: usize| -> Result<Localization, TableError> {
            let [sigma_x, sigma_y] = [sigmas[0][row], sigmas[1][row]];
            let [uncertainty_x, uncertainty_y] = [uncertainties[0][row], uncertainties[1][row]];
            let checks = match (&neighbour, flags) {
                (Some(neighbour), Some(flags)) => Some(Checks {
                    neighbour: neighbour[row],
                    goodness: goodness[row],
                    flags: match flags[row] {
                        bits if (0.0..=255.0).contains(&bits) => Flags::from_bits(bits as u8),
                        bits => {
                            return Err(wrong(
                                row,
                                Meaning::Flags,
                                bits,
                                "a sum of 1, 2, 4, 8 and 16",
                            ));
                        }
                    },
                }),
                _ => None,
            };
            let frame = table.values(Meaning::Frame)?[row];
            if !(frame >= 0.0 && frame < 2f64.powi(53)) {
                return Err(wrong(row, Meaning::Frame, frame, "the number of a frame"));
            }
            Ok(Localization {
                id: match ids.map(|ids| ids[row]) {
                    Some(id) if id >= 0.0 => id as u64,
                    Some(id) => return Err(wrong(row, Meaning::Id, id, "a number from 0")),
                    None => row as u64 + 1,
                },
                frame: frame as usize,
                x: x[row] - origin,
                y: y[row] - origin,
                sigma: match &sigma {
                    Some(sigma) => sigma[row],
                    None if sigma_x == sigma_y => sigma_x,
                    None => (sigma_x * sigma_y).sqrt(),
                },
                sigma_x,
                sigma_y,
                angle: angle[row],
                intensity: intensity[row],
                offset: offset[row],
                offset_x: offset_x[row],
                offset_y: offset_y[row],
                background_std: background_std[row],
                chi2: chi2[row],
                uncertainty: match &both {
                    Some(both) => both[row],
                    None => root_mean_square(uncertainty_x, uncertainty_y),
                },
                uncertainty_x,
                uncertainty_y,
                depth: depth.get(row).copied(),
                errors: errors.then(|| SpotErrors {
                    photons: photons_error[row],
                    background: background_error[row],
                    sigma_x: sigma_errors[0][row],
                    sigma_y: sigma_errors[1][row],
                }),
                checks,
                status: statuses.get(row).copied().unwrap_or(Status::MinStep),
            })
        };
        (0..rows).map(spot).collect()
    }

    /// The statuses in a table; none if it has no such column.
    fn statuses(table: &Table) -> Result<Vec<Status>, TableError> {
        words(table, Meaning::Status, |word| word.parse().ok(), "a status")
    }

    /// The heights in a table; none if it has no such column.
    fn depths(table: &Table) -> Result<Vec<Depth>, TableError> {
        let Ok(z) = table.values(Meaning::Z) else { return Ok(Vec::new()) };
        let of = |meaning: Meaning| table.values(meaning).ok();
        let (error, distance) = (of(Meaning::UncertaintyZ), of(Meaning::ZDistance));
        let parse = |word: &str| DepthStatus::ALL.into_iter().find(|status| status.name() == word);
        let statuses = words(table, Meaning::ZStatus, parse, "the status of a height")?;
        let depth = |(row, &z): (usize, &f64)| Depth {
            z,
            error: error.map_or(f64::NAN, |error| error[row]),
            distance: distance.map_or(f64::NAN, |distance| distance[row]),
            status: statuses.get(row).copied().unwrap_or(DepthStatus::Found),
        };
        Ok(z.iter().enumerate().map(depth).collect())
    }

    /// Writes localizations to a file: see [`Table::save`].
    ///
    /// # Errors
    /// [`TableError`].
    pub fn save(
        &self,
        path: impl AsRef<Path>,
        spots: &[Localization],
    ) -> Result<Written, TableError> {
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
    let wrong = |row: usize, value: String| TableError::Word {
        row: row as u64 + 1,
        column: meaning.to_string(),
        value,
        needed,
    };
    let Kind::Words(all) = &column.kind else {
        let value = column.values.first().map_or_else(String::new, f64::to_string);
        return if column.values.is_empty() { Ok(Vec::new()) } else { Err(wrong(0, value)) };
    };
    let meanings: Vec<Option<T>> = all.iter().map(|word| parse(word)).collect();
    let meaning = |(row, &value): (usize, &f64)| {
        let place = value as usize;
        meanings[place].ok_or_else(|| wrong(row, excerpt(&all[place])))
    };
    column.values.iter().enumerate().map(meaning).collect()
}
