//! Whole tables, written and read in one call.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::Path;

use fit_core::Status;

use super::StormFormat;
use super::columns::{Columns, TableError};
use crate::localize::spot::root_mean_square;
use crate::localize::{Checks, Flags, Localization};

/// The largest frame number that an `f64` counts to.
const LAST_FRAME: f64 = (1u64 << 53) as f64;

impl StormFormat {
    /// Writes a table to a file. The file appears under its name only when it is complete.
    ///
    /// ```
    /// # let folder = std::env::temp_dir().join(format!("spotfit-doc-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # let path = folder.join("locs.csv");
    /// use spotfit::localize::Localization;
    /// use spotfit::storm::StormFormat;
    ///
    /// # let spots: Vec<Localization> = Vec::new();
    /// let format = StormFormat::default().with_pixel_size(Some(107.0));
    /// format.save(&path, &spots)?;
    /// assert_eq!(format.load(&path)?, spots);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`TableError::Io`].
    pub fn save(&self, path: impl AsRef<Path>, spots: &[Localization]) -> Result<(), TableError> {
        let path = path.as_ref();
        let mut name = std::ffi::OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".{}.part", std::process::id()));
        let part = path.with_file_name(name);
        let written = File::create(&part).and_then(|file| {
            let mut writer = BufWriter::new(file);
            self.write(&mut writer, spots)?;
            writer.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
            fs::rename(&part, path)
        });
        if written.is_err() {
            // It may not even be there.
            let _ = fs::remove_file(&part);
        }
        Ok(written?)
    }

    /// Writes a table.
    ///
    /// # Errors
    /// As the writer.
    pub fn write(&self, mut writer: impl Write, spots: &[Localization]) -> std::io::Result<()> {
        writer.write_all(self.header().as_bytes())?;
        let mut text = String::new();
        for spots in spots.chunks(1 << 12) {
            text.clear();
            spots.iter().for_each(|spot| self.row(spot, &mut text));
            writer.write_all(text.as_bytes())?;
        }
        writer.flush()
    }

    /// Reads a table from a file: see [`StormFormat::read`].
    ///
    /// # Errors
    /// [`TableError`].
    pub fn load(&self, path: impl AsRef<Path>) -> Result<Vec<Localization>, TableError> {
        self.read(File::open(path)?)
    }

    /// Reads a table with all of its columns, as Spotfit or ThunderSTORM wrote it.
    ///
    /// Lengths become pixels: those in nanometres are divided by [`StormFormat::pixel_size`], and the origin is where
    /// [`StormFormat::corner_origin`] says. The columns `frame`, `x` and `y` must be there. Without a column `id`,
    /// localizations are counted from 1; without `status`, they are taken to have converged (`min_step`); other
    /// numbers whose column is missing are NaN.
    ///
    /// # Errors
    /// [`TableError`] with the line and the column; [`TableError::PixelSize`] for nanometres without a pixel's size.
    pub fn read(&self, reader: impl Read) -> Result<Vec<Localization>, TableError> {
        let mut columns = Columns::new(reader)?;
        let nanometres = columns.find(&["x [nm]"]).is_ok();
        let scale = match (nanometres, self.pixel_size) {
            (false, _) => 1.0,
            (true, Some(size)) => size,
            (true, None) => return Err(TableError::PixelSize),
        };
        let unit = if nanometres { "nm" } else { "px" };
        let with_unit = |name: &str| format!("{name} [{unit}]");
        let length = |columns: &Columns<_>, name: &str| columns.find(&[&with_unit(name), name]);
        let frame = columns.find(&["frame"])?;
        let (x, y) = (length(&columns, "x")?, length(&columns, "y")?);
        let either = |a: Result<_, TableError>, b: Result<_, _>| a.or(b).ok();
        let sigma = length(&columns, "sigma").ok();
        let sigmas = ["sigma1", "sigma2"].map(|name| length(&columns, name).ok().or(sigma));
        let both = either(length(&columns, "uncertainty_xy"), length(&columns, "uncertainty"));
        let uncertainties =
            ["uncertainty_x", "uncertainty_y"].map(|name| length(&columns, name).ok().or(both));
        let angle = columns.find(&["angle [rad]"]).ok();
        let neighbour = length(&columns, "neighbour").ok();
        let optional = |name: &str| columns.find(&[name]).ok();
        let (id, status, chi2) = (optional("id"), optional("status"), optional("chi2"));
        let intensity = optional("intensity [photon]");
        let (goodness, flags) = (optional("goodness"), optional("flags"));
        let (offset, spread) = (optional("offset [photon]"), optional("bkgstd [photon]"));
        let origin = if self.corner_origin { 0.5 } else { 0.0 };

        let mut spots = Vec::new();
        while columns.advance()? {
            let number = |column: Option<usize>| {
                column.map_or(Ok(f64::NAN), |column| columns.any_number(column))
            };
            let at = columns.number(frame)?;
            if !(1.0..=LAST_FRAME).contains(&at) || at.fract() != 0.0 {
                return Err(columns.wrong(frame, "the number of a frame, from 1"));
            }
            let [sigma_x, sigma_y] = [number(sigmas[0])? / scale, number(sigmas[1])? / scale];
            let [uncertainty_x, uncertainty_y] =
                [number(uncertainties[0])? / scale, number(uncertainties[1])? / scale];
            let checks = match (neighbour, flags) {
                (Some(neighbour), Some(flags)) => Some(Checks {
                    neighbour: columns.any_number(neighbour)? / scale,
                    goodness: number(goodness)?,
                    flags: match columns.any_number(flags)? {
                        bits if (0.0..=255.0).contains(&bits) => Flags::from_bits(bits as u8),
                        _ => return Err(columns.wrong(flags, "a sum of 1, 2, 4 and 8")),
                    },
                }),
                _ => None,
            };
            spots.push(Localization {
                id: match id {
                    Some(id) => match columns.number(id)? {
                        number if (0.0..=LAST_FRAME).contains(&number) => number as u64,
                        _ => return Err(columns.wrong(id, "a number from 0")),
                    },
                    None => spots.len() as u64 + 1,
                },
                frame: at as usize - 1,
                x: columns.any_number(x)? / scale - origin,
                y: columns.any_number(y)? / scale - origin,
                sigma: if sigma_x == sigma_y { sigma_x } else { (sigma_x * sigma_y).sqrt() },
                sigma_x,
                sigma_y,
                angle: angle.map_or(Ok(0.0), |angle| columns.any_number(angle))?,
                intensity: number(intensity)?,
                offset: number(offset)?,
                background_std: number(spread)?,
                chi2: number(chi2)?,
                uncertainty: match both {
                    Some(both) => columns.any_number(both)? / scale,
                    None => root_mean_square(uncertainty_x, uncertainty_y),
                },
                uncertainty_x,
                uncertainty_y,
                checks,
                status: match status.map(|column| (column, columns.text(column))) {
                    Some((column, word)) => word
                        .and_then(|word| word.parse().ok())
                        .ok_or_else(|| columns.wrong(column, "a status"))?,
                    None => Status::MinStep,
                },
            });
        }
        Ok(spots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storm::Widths;

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
            checks: None,
            status: if i == 2 { Status::AtLimit } else { Status::MinStep },
        };
        (0..10_000).map(spot).collect()
    }

    /// Proves that a table is read as it was written, in either unit, with either origin.
    #[test]
    fn tables_come_back() {
        let formats = [
            StormFormat::default().with_status(true),
            StormFormat::default().with_status(true).with_pixel_size(Some(128.0)),
            StormFormat::default().with_status(true).with_corner_origin(true),
        ];
        for format in formats {
            let mut file = Vec::new();
            format.write(&mut file, &spots()).unwrap();
            assert_eq!(format.read(&file[..]).unwrap(), spots());
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
        let format = StormFormat::default().with_pixel_size(Some(100.0)).with_checks(true);
        let format = format.with_status(true);
        for (widths, spots) in
            [(Widths::One, &spots), (Widths::Two, &wide), (Widths::Turned, &turned)]
        {
            let format = format.with_widths(widths);
            let mut file = Vec::new();
            format.write(&mut file, spots).unwrap();
            let header = format.header();
            let two = "\"sigma1 [nm]\",\"sigma2 [nm]\"";
            assert_eq!(header.contains(two), widths != Widths::One, "{header}");
            assert!(header.contains("\"uncertainty_xy [nm]\""), "{header}");
            let mut read = format.read(&file[..]).unwrap();
            for (read, spot) in read.iter_mut().zip(spots) {
                // It has four decimals.
                assert!((read.uncertainty - spot.uncertainty).abs() < 1e-6);
                read.uncertainty = spot.uncertainty;
            }
            assert_eq!(&read, spots);
        }
        let wrong = "frame,x,y,neighbour,flags\n1,2,3,4,-1\n";
        let said = StormFormat::default().read(wrong.as_bytes()).unwrap_err().to_string();
        assert_eq!(said, "line 2: flags = '-1' is not a sum of 1, 2, 4 and 8");
    }

    /// Proves that a table of ThunderSTORM's is read, and that what is wrong is named.
    #[test]
    fn foreign_tables_are_read() {
        let table = "\"frame\",\"x [nm]\",\"y [nm]\",\"uncertainty [nm]\"\n2,1000,500.5,12\n";
        let format = StormFormat::default().with_pixel_size(Some(100.0));
        let read = format.read(table.as_bytes()).unwrap();
        let Localization { id, frame, x, y, sigma, uncertainty, .. } = read[0];
        assert_eq!((id, frame, x, y, uncertainty), (1, 1, 10.0, 5.005, 0.12));
        assert!(sigma.is_nan());
        for (table, said) in [
            (table.replace("2,", "0,"), "line 2: frame = '0' is not the number of a frame, from 1"),
            (table.replace("500.5", "high"), "line 2: y [nm] = 'high' is not a number"),
            (table.replace("y [nm]", "z [nm]"), "there is no column 'y [nm]'"),
        ] {
            assert_eq!(format.read(table.as_bytes()).unwrap_err().to_string(), said);
        }
        let error = StormFormat::default().read(table.as_bytes()).unwrap_err();
        assert!(matches!(error, TableError::PixelSize));
    }

    /// Proves that a table that cannot be written leaves nothing behind.
    #[test]
    fn a_failed_table_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        // A folder has the name already.
        let path = folder.path().join("locs.csv");
        fs::create_dir(&path).unwrap();
        assert!(StormFormat::default().save(&path, &spots()).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let path = folder.path().join("others.csv");
        StormFormat::default().save(&path, &spots()).unwrap();
        assert_eq!(StormFormat::default().load(&path).unwrap().len(), 10_000);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
