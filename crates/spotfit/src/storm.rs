//! Tables of localizations, as ThunderSTORM writes them and Picasso and others read them, and tables
//! of positions to fit.

use std::fmt::Write as _;
use std::io::Read;

use crate::localize::{Localization, Positions};

/// How localizations are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StormFormat {
    /// Size of a pixel in nanometres; without it lengths are in pixels.
    pub pixel_size: Option<f64>,
    /// Whether (0, 0) is the corner of the first pixel, as in ThunderSTORM, not its centre.
    pub corner_origin: bool,
    /// Whether there is a column `status`.
    pub status: bool,
}

impl StormFormat {
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

/// What is wrong with a table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// It is not CSV.
    #[error(transparent)]
    Csv(#[from] csv::Error),
    /// A column is missing.
    #[error("there is no column '{0}'")]
    Column(String),
    /// A value is not what it should be.
    #[error("line {line}: {column} = '{value}' is not {needed}")]
    Value {
        /// The line, from 1.
        line: u64,
        /// The column's name.
        column: String,
        /// What is there.
        value: String,
        /// What should be.
        needed: &'static str,
    },
}

/// Columns of a CSV file found by name.
struct Columns<R> {
    reader: csv::Reader<R>,
    header: csv::StringRecord,
}

impl<R: Read> Columns<R> {
    fn new(reader: R) -> Result<Self, TableError> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(reader);
        let header = reader.headers()?.clone();
        Ok(Self { reader, header })
    }

    fn find(&self, names: &[&str]) -> Result<usize, TableError> {
        let matches = |column: &str| names.contains(&column.trim_start_matches('\u{feff}'));
        let found = self.header.iter().position(matches);
        found.ok_or_else(|| TableError::Column(names[0].to_owned()))
    }

    fn value(&self, record: &csv::StringRecord, column: usize, needed: &'static str) -> TableError {
        TableError::Value {
            line: record.position().map_or(0, csv::Position::line),
            column: self.header.get(column).unwrap_or_default().to_owned(),
            value: record.get(column).unwrap_or_default().to_owned(),
            needed,
        }
    }

    fn number(&self, record: &csv::StringRecord, column: usize) -> Result<f64, TableError> {
        let value = record.get(column).and_then(|value| value.parse::<f64>().ok());
        value
            .filter(|value| value.is_finite())
            .ok_or_else(|| self.value(record, column, "a finite number"))
    }
}

/// Reads positions to fit: columns named `frame` (from 0), `x` and `y` (pixels), others ignored.
///
/// # Errors
/// [`TableError`] with the line and the column.
pub fn read_positions(reader: impl Read) -> Result<Positions, TableError> {
    let mut columns = Columns::new(reader)?;
    let (frame, x, y) = (columns.find(&["frame"])?, columns.find(&["x"])?, columns.find(&["y"])?);
    let mut positions = Positions::default();
    let mut record = csv::StringRecord::new();
    while columns.reader.read_record(&mut record)? {
        let at = columns.number(&record, frame)?;
        if at < 0.0 || at.fract() != 0.0 || at > 2f64.powi(52) {
            return Err(columns.value(&record, frame, "the number of a frame, from 0"));
        }
        let (x, y) = (columns.number(&record, x)?, columns.number(&record, y)?);
        positions.push(at as usize, x, y);
    }
    Ok(positions)
}

/// What a picture needs of a localization, in the unit of its table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Centre.
    pub x: f64,
    /// Centre.
    pub y: f64,
    /// Uncertainty of x and y; 0 where it is not known.
    pub uncertainty: f64,
}

/// A table of localizations as it was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Points {
    /// The localizations.
    pub points: Vec<Point>,
    /// Whether lengths are in nanometres, not pixels.
    pub nanometres: bool,
    /// Lines left out because a number in them is not finite (fits that failed).
    pub left_out: usize,
}

/// Reads localizations from a table such as [`StormFormat`] writes.
///
/// # Errors
/// [`TableError`] with the line and the column.
pub fn read_points(reader: impl Read) -> Result<Points, TableError> {
    let mut columns = Columns::new(reader)?;
    let nanometres = columns.find(&["x [nm]"]).is_ok();
    let (x, y) = if nanometres {
        (columns.find(&["x [nm]"])?, columns.find(&["y [nm]"])?)
    } else {
        (columns.find(&["x [px]", "x"])?, columns.find(&["y [px]", "y"])?)
    };
    let names = if nanometres { ["uncertainty_xy [nm]"] } else { ["uncertainty_xy [px]"] };
    let uncertainty = columns.find(&names).ok();
    let mut read = Points { nanometres, ..Points::default() };
    let mut record = csv::StringRecord::new();
    while columns.reader.read_record(&mut record)? {
        let number = |column: usize| -> Result<f64, TableError> {
            let value = record.get(column).and_then(|value| value.parse().ok());
            value.ok_or_else(|| columns.value(&record, column, "a number"))
        };
        let point = Point {
            x: number(x)?,
            y: number(y)?,
            uncertainty: uncertainty.map_or(Ok(0.0), number)?,
        };
        if point.x.is_finite() && point.y.is_finite() && point.uncertainty.is_finite() {
            read.points.push(point);
        } else {
            read.left_out += 1;
        }
    }
    Ok(read)
}
