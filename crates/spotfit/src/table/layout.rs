//! Localizations as tables.

use std::path::Path;

use fit_core::{Shape, Status};
use spotfit_files::private::excerpt;
use spotfit_locs::private::root_mean_square;

use super::{Column, Info, Kind, Table, TableError, Unit, Written};
use crate::astigmatism::find::{Depth, DepthStatus};
use crate::localize::{Checks, Flags, Localization, SpotErrors};

/// How wide a spot is, in columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Widths {
    /// `sigma` and `uncertainty`.
    #[default]
    One,
    /// `sigma_x` and `sigma_y` in its place; after `uncertainty`, which is the root mean square of both,
    /// `uncertainty_x` and `uncertainty_y`.
    Two,
    /// The same, with `angle` after `sigma_y`.
    Turned,
    /// Of fits with a measured PSF: `sigma` without an error, `uncertainty`, `uncertainty_x` and `uncertainty_y`.
    Measured,
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
    pub widths: Widths,
    /// Whether there are `z`, `uncertainty_z`, `z_distance` and `z_status`.
    pub depth: bool,
    /// Whether there are the standard errors of photons, background and widths.
    pub errors: bool,
    /// Whether there are `neighbour` (a length), `goodness` and `flags` ([`Flags::bits`]).
    pub checks: bool,
    /// Whether there is `status`.
    pub status: bool,
}

impl Layout {
    fit_core::__setters! {
        const with_pixel_size: pixel_size: Option<f64>,
        const with_corner_origin: corner_origin: bool,
        const with_widths: widths: Widths,
        const with_depth: depth: bool,
        const with_errors: errors: bool,
        const with_checks: checks: bool,
        const with_status: status: bool,
    }

    /// The table of some localizations. Lengths have six decimals in pixels, four in nanometres.
    pub fn table(&self, spots: &[Localization], info: &Info) -> Table {
        let mut info = info.clone();
        info.pixel_size = self.pixel_size.or(info.pixel_size);
        let mut table = Table::new(info);
        let (scale, unit, decimals) = match self.pixel_size {
            Some(size) => (size, Unit::Nanometre, 4),
            None => (1.0, Unit::Pixel, 6),
        };
        let origin = if self.corner_origin { 0.5 } else { 0.0 };
        let mut add = |name: &str, unit: Unit, kind: Kind, of: &dyn Fn(&Localization) -> f64| {
            table.set(Column::new(name, unit, kind, spots.iter().map(of).collect()));
        };
        macro_rules! lengths {
            ($($name:literal: $of:expr),* $(,)?) => {{
                $(add($name, unit, Kind::Rounded(decimals), &|spot| $of(spot) * scale);)*
            }};
        }
        macro_rules! numbers {
            ($unit:expr, $($name:literal: $of:expr),* $(,)?) => {{
                $(add($name, $unit, Kind::Rounded(4), &$of);)*
            }};
        }
        add("id", Unit::None, Kind::Whole, &|spot| spot.id as f64);
        add("frame", Unit::None, Kind::Whole, &|spot| spot.frame as f64);
        lengths!("x": |s: &Localization| s.x + origin, "y": |s: &Localization| s.y + origin);
        let depth =
            |of: fn(&Depth) -> f64| move |s: &Localization| s.depth.as_ref().map_or(f64::NAN, of);
        if self.depth {
            numbers!(Unit::Nanometre, "z": depth(|depth| depth.z));
        }
        match self.widths {
            Widths::One | Widths::Measured => lengths!("sigma": |s: &Localization| s.sigma),
            _ => {
                lengths!("sigma_x": |s: &Localization| s.sigma_x, "sigma_y": |s: &Localization| s.sigma_y);
            }
        }
        if self.widths == Widths::Turned {
            add("angle", Unit::Radian, Kind::Rounded(6), &|spot| spot.angle);
        }
        numbers!(Unit::Photon, "photons": |s| s.intensity, "background": |s| s.offset, "background_std": |s| s.background_std);
        numbers!(Unit::None, "chi2": |s| s.chi2);
        lengths!("uncertainty": |s: &Localization| s.uncertainty);
        if self.widths != Widths::One {
            lengths!("uncertainty_x": |s: &Localization| s.uncertainty_x, "uncertainty_y": |s: &Localization| s.uncertainty_y);
        }
        if self.depth {
            numbers!(Unit::Nanometre, "uncertainty_z": depth(|depth| depth.error));
        }
        if self.errors {
            let error = |of: fn(&SpotErrors) -> f64| {
                move |s: &Localization| s.errors.as_ref().map_or(f64::NAN, of)
            };
            numbers!(Unit::Photon, "photons_error": error(|e| e.photons), "background_error": error(|e| e.background));
            match self.widths {
                Widths::One => lengths!("sigma_error": error(|e| e.sigma_x)),
                Widths::Measured => {}
                _ => {
                    lengths!("sigma_x_error": error(|e| e.sigma_x), "sigma_y_error": error(|e| e.sigma_y));
                }
            }
        }
        if self.depth {
            numbers!(Unit::None, "z_distance": depth(|depth| depth.distance));
            let words = DepthStatus::ALL.map(|status| status.name().to_owned()).to_vec();
            let status = depth(|depth| depth.status as usize as f64);
            let none = DepthStatus::Invalid as usize as f64;
            let status = move |s: &Localization| if s.depth.is_some() { status(s) } else { none };
            add("z_status", Unit::None, Kind::Words(words), &status);
        }
        if self.checks {
            let checks = |of: fn(&Checks) -> f64| {
                move |s: &Localization| s.checks.as_ref().map_or(f64::NAN, of)
            };
            lengths!("neighbour": checks(|checks| checks.neighbour));
            numbers!(Unit::None, "goodness": checks(|checks| checks.goodness));
            let flags = |s: &Localization| s.checks.map_or(Flags::default(), |checks| checks.flags);
            add("flags", Unit::None, Kind::Whole, &|spot| f64::from(flags(spot).bits()));
        }
        if self.status {
            let words = Status::ALL.map(|status| status.name().to_owned()).to_vec();
            let place = |status| Status::ALL.iter().position(|one| *one == status).unwrap_or(0);
            add("status", Unit::None, Kind::Words(words), &|spot| place(spot.status) as f64);
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
        let length = |name: &str| -> Result<Option<Vec<f64>>, TableError> {
            let Some(column) = table.column(name) else { return Ok(None) };
            // A division gives back what was multiplied more often than the product with the reciprocal.
            let size = scale(column)?.recip();
            Ok(Some(column.values.iter().map(|value| value / size).collect()))
        };
        let needed = |name: &str| length(name)?.ok_or_else(|| TableError::Column(name.to_owned()));
        let number = |name: &str| table.values(name).map_or_else(|_| missing(), <[f64]>::to_vec);
        table.values("frame")?;
        let (x, y) = (needed("x")?, needed("y")?);
        let sigma = length("sigma")?;
        let either = |name: &str, both: &Option<Vec<f64>>| -> Result<Vec<f64>, TableError> {
            Ok(length(name)?.or_else(|| both.clone()).unwrap_or_else(missing))
        };
        let sigmas = [either("sigma_x", &sigma)?, either("sigma_y", &sigma)?];
        let both = length("uncertainty")?;
        let uncertainties = [either("uncertainty_x", &both)?, either("uncertainty_y", &both)?];
        let angle = table.values("angle").map_or_else(|_| vec![0.0; rows], <[f64]>::to_vec);
        let [intensity, offset] = ["photons", "background"].map(number);
        let [background_std, chi2, goodness] = ["background_std", "chi2", "goodness"].map(number);
        let (neighbour, flags) = (length("neighbour")?, table.values("flags").ok());
        let ids = table.values("id").ok();
        let statuses = Self::statuses(table)?;
        let depth = Self::depths(table)?;
        let errors = table.column("photons_error").is_some();
        let sigma_error = length("sigma_error")?;
        let sigma_errors =
            [either("sigma_x_error", &sigma_error)?, either("sigma_y_error", &sigma_error)?];
        let [photons_error, background_error] = ["photons_error", "background_error"].map(number);
        let origin = if self.corner_origin { 0.5 } else { 0.0 };
        let wrong = |row: usize, column: &str, value: f64, needed: &'static str| TableError::Row {
            row: row as u64 + 1,
            column: column.to_owned(),
            value,
            needed,
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
                        bits => return Err(wrong(row, "flags", bits, "a sum of 1, 2, 4 and 8")),
                    },
                }),
                _ => None,
            };
            let frame = table.values("frame")?[row];
            if !(frame >= 0.0 && frame < 2f64.powi(53)) {
                return Err(wrong(row, "frame", frame, "the number of a frame"));
            }
            Ok(Localization {
                id: match ids.map(|ids| ids[row]) {
                    Some(id) if id >= 0.0 => id as u64,
                    Some(id) => return Err(wrong(row, "id", id, "a number from 0")),
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
        words(table, "status", |word| word.parse().ok(), "a status")
    }

    /// The heights in a table; none if it has no such column.
    fn depths(table: &Table) -> Result<Vec<Depth>, TableError> {
        let Ok(z) = table.values("z") else { return Ok(Vec::new()) };
        let of = |name: &str| table.values(name).ok();
        let (error, distance) = (of("uncertainty_z"), of("z_distance"));
        let parse = |word: &str| DepthStatus::ALL.into_iter().find(|status| status.name() == word);
        let statuses = words(table, "z_status", parse, "the status of a height")?;
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
    name: &str,
    parse: impl Fn(&str) -> Option<T>,
    needed: &'static str,
) -> Result<Vec<T>, TableError> {
    let Some(column) = table.column(name) else { return Ok(Vec::new()) };
    let wrong = |row: usize, value: String| TableError::Word {
        row: row as u64 + 1,
        column: name.to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{CsvReader, CsvWriter};
    use std::fs;

    fn written(layout: &Layout, spots: &[Localization]) -> Vec<u8> {
        let mut writer = CsvWriter::new(Vec::new());
        writer.write(&layout.table(spots, &Info::default())).unwrap();
        writer.finish().unwrap()
    }

    fn read(layout: &Layout, text: &[u8]) -> Result<Vec<Localization>, TableError> {
        layout.localizations(&CsvReader::new(text)?.read_all(1 << 20)?)
    }

    fn spots() -> Vec<Localization> {
        let spot = |i: u64| Localization {
            id: 3 * i + 1,
            frame: i as usize / 3,
            x: 10.25 + i as f64,
            y: 7.125,
            sigma: 1.3125,
            sigma_x: 1.3125,
            sigma_y: 1.3125,
            angle: 0.0,
            intensity: 812.5,
            offset: 3.25,
            background_std: 2.5,
            chi2: 130.75,
            uncertainty: 0.0625,
            uncertainty_x: 0.0625,
            uncertainty_y: 0.0625,
            depth: None,
            errors: None,
            checks: None,
            status: if i == 2 { Status::AtLimit } else { Status::MinStep },
        };
        (0..10_000).map(spot).collect()
    }

    /// Proves that a table is read as it was written, in either unit, with either origin.
    #[test]
    fn tables_come_back() {
        let formats = [
            Layout::default().with_status(true),
            Layout::default().with_status(true).with_pixel_size(Some(128.0)),
            Layout::default().with_status(true).with_corner_origin(true),
        ];
        for format in formats {
            assert_eq!(read(&format, &written(&format, &spots())).unwrap(), spots());
        }
    }

    /// Proves that two widths, an angle and what was checked come back, and that ThunderSTORM's columns are there.
    #[test]
    fn other_columns_come_back() {
        let checked = |i: u8, spot: Localization| {
            let neighbour = if i == 0 { f64::INFINITY } else { 4.25 };
            let checks = Checks { neighbour, goodness: 1.125, flags: Flags::from_bits(i) };
            Localization { checks: Some(checks), ..spot }
        };
        let spots: Vec<Localization> =
            (0..16).zip(spots()).map(|(i, spot)| checked(i, spot)).collect();
        let wide = |spot: &Localization| Localization {
            sigma: 1.5,
            sigma_x: 1.125,
            sigma_y: 2.0,
            uncertainty: (0.25f64 * 0.25 + 0.75 * 0.75).sqrt() / 2f64.sqrt(),
            uncertainty_x: 0.25,
            uncertainty_y: 0.75,
            ..*spot
        };
        let wide: Vec<Localization> = spots.iter().map(wide).collect();
        let turned: Vec<Localization> =
            wide.iter().map(|spot| Localization { angle: -0.625, ..*spot }).collect();
        let format = Layout::default().with_pixel_size(Some(100.0)).with_checks(true);
        let format = format.with_status(true);
        for (widths, spots) in
            [(Widths::One, &spots), (Widths::Two, &wide), (Widths::Turned, &turned)]
        {
            let format = format.clone().with_widths(widths);
            let file = written(&format, spots);
            let header =
                String::from_utf8_lossy(&file[..file.iter().position(|b| *b == b'\n').unwrap()])
                    .into_owned();
            let two = "\"sigma1 [nm]\",\"sigma2 [nm]\"";
            assert_eq!(header.contains(two), widths != Widths::One, "{header}");
            assert!(header.contains("\"uncertainty_xy [nm]\""), "{header}");
            let mut back = read(&format, &file).unwrap();
            for (read, spot) in back.iter_mut().zip(spots) {
                // It has four decimals.
                assert!((read.uncertainty - spot.uncertainty).abs() < 1e-6);
                read.uncertainty = spot.uncertainty;
            }
            assert_eq!(&back, spots);
        }
        let wrong = "frame,x,y,neighbour,flags\n1,2,3,4,-1\n";
        let said = read(&Layout::default(), wrong.as_bytes()).unwrap_err().to_string();
        assert_eq!(said, "row 1: flags = -1 is not a sum of 1, 2, 4 and 8");
    }

    /// Proves that a table of ThunderSTORM's is read, and that what is wrong is named.
    #[test]
    fn foreign_tables_are_read() {
        let table = "\"frame\",\"x [nm]\",\"y [nm]\",\"uncertainty [nm]\"\n2,1000,500.5,12\n";
        let format = Layout::default().with_pixel_size(Some(100.0));
        let spots = read(&format, table.as_bytes()).unwrap();
        let Localization { id, frame, x, y, sigma, uncertainty, .. } = spots[0];
        assert_eq!((id, frame, x, y, uncertainty), (1, 1, 10.0, 5.005, 0.12));
        assert!(sigma.is_nan());
        for (table, said) in [
            (table.replace("2,", "0,"), "line 2: frame = '0' is not the number of a frame, from 1"),
            (table.replace("500.5", "high"), "line 2: y [nm] = 'high' is not a number"),
            (table.replace("y [nm]", "z [nm]"), "there is no column 'y'"),
        ] {
            assert_eq!(read(&format, table.as_bytes()).unwrap_err().to_string(), said);
        }
        let error = read(&Layout::default(), table.as_bytes()).unwrap_err();
        assert!(matches!(error, TableError::PixelSize { .. }));
    }

    /// Proves that a table that cannot be written leaves nothing behind.
    #[test]
    fn a_failed_table_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        // A folder has the name already.
        let path = folder.path().join("locs.csv");
        fs::create_dir(&path).unwrap();
        assert!(Layout::default().save(&path, &spots()).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let path = folder.path().join("others.csv");
        Layout::default().save(&path, &spots()).unwrap();
        assert_eq!(Layout::default().load(&path).unwrap().len(), 10_000);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
