//! Tables of localizations: columns of numbers with names and units, read and written in blocks.
//!
//! A table is what a file holds, whatever program wrote it. A column that is known has a [`Meaning`] and one name here, whatever the
//! file calls it. `group` is not `molecule` but another column, such as Picasso's picks.
//!
//! Lengths are in pixels or nanometres, as in the file; [`Table::lengths`] gives them in either. Picasso's are in pixels, and in
//! nanometres from version 1.0 on, which marks its files (`picasso_format`). Other columns keep their
//! names. Frames are counted from 0 here. A CSV table counts them from 1 if a name has a unit, as in `x [nm]`, and
//! otherwise from 0: the first is how localizations are written, the second how positions and truths are. But where the `id` of the
//! first row is 0, frames are counted from 0 in both: so Picasso writes them for ThunderSTORM.

mod column_names;
pub(crate) mod conditions;
mod corners;
mod csv;
mod error;
mod file;
mod meaning;
mod names;
mod number;
mod others;
mod output;
pub(crate) mod picasso;
mod positions;
mod powers;
mod read;
mod version;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use crate::averages::root_mean_square;

pub use column_names::{ColumnNames, ColumnNamesError};
pub use corners::CornerReader;
pub use csv::{CsvReader, CsvWriter, TextOptions};
pub use error::TableError;
pub use file::TableFormat;
pub(crate) use meaning::Merge;
pub use meaning::{Dimension, Meaning};
pub use output::{SaveOptions, TableOutput};
pub use picasso::{LeftOut, PicassoReader, PicassoWriter, is_our_sidecar, sidecar};
pub use read::TableReader;
pub use spotfit_files::columns::DecimalMark;
pub use version::PicassoVersion;

/// The unit of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// None, or not known.
    #[default]
    None,
    /// Pixels of the camera.
    Pixel,
    /// Nanometres.
    Nanometre,
    /// Photons (photo-electrons).
    Photon,
    /// Radians.
    Radian,
    /// Seconds.
    Second,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.names()[1])
    }
}

impl Unit {
    /// As it stands in the name of a column; empty if there is none.
    pub fn symbol(self) -> &'static str {
        self.names()[0]
    }

    /// Its symbol, and its name.
    fn names(self) -> [&'static str; 2] {
        match self {
            Self::None => ["", "no unit"],
            Self::Pixel => ["px", "pixels"],
            Self::Nanometre => ["nm", "nanometres"],
            Self::Photon => ["photon", "photons"],
            Self::Radian => ["rad", "radians"],
            Self::Second => ["s", "seconds"],
        }
    }

    /// How many decimals numbers have that were measured or computed here.
    pub fn decimals(self) -> u8 {
        match self {
            Self::Pixel | Self::Radian | Self::Second => 6,
            _ => 4,
        }
    }
}

/// What the values of a column are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Numbers, written so that they are read back as they were.
    Double,
    /// Numbers that were read in single precision.
    Single,
    /// Numbers that were measured or computed: CSV tables have so many decimals of them, and more where three digits beyond
    /// their error ([`Meaning::errors`]) need more, or six digits of a number whose error is not known.
    Rounded(u8),
    /// Whole numbers.
    Whole,
    /// Words: the values are indices into them.
    Words(Vec<String>),
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name: that of its [`Meaning`], if it is known.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// What its values are.
    pub kind: Kind,
    /// A value for each row.
    pub values: Vec<f64>,
}

impl Column {
    /// A column of numbers.
    pub fn new(name: impl AsRef<str>, unit: Unit, kind: Kind, values: Vec<f64>) -> Self {
        Self { name: name.as_ref().to_owned(), unit, kind, values }
    }

    /// A column that is known, measured or computed here, of a table whose lengths in the plane have this unit.
    pub fn of(meaning: Meaning, lengths: Unit, values: Vec<f64>) -> Self {
        let unit = meaning.dimension().unit(lengths);
        let kind = match (meaning.words(), meaning.dimension()) {
            (Some(words), _) => Kind::Words(words),
            (_, Dimension::Count) => Kind::Whole,
            _ => Kind::Rounded(unit.decimals()),
        };
        Self::new(meaning, unit, kind, values)
    }

    /// What it means, if that is known.
    pub fn meaning(&self) -> Option<Meaning> {
        Meaning::of(&self.name)
    }

    /// Whether its values are lengths in the plane, in pixels or nanometres.
    pub fn is_length(&self) -> bool {
        let meaning = self.meaning().filter(|meaning| meaning.is_used());
        matches!(self.unit, Unit::Pixel | Unit::Nanometre)
            && meaning.is_none_or(|meaning| meaning.dimension() == Dimension::Length)
    }

    /// Whether it is known as one of such numbers.
    pub fn is_of(&self, dimension: Dimension) -> bool {
        self.meaning().is_some_and(|meaning| meaning.dimension() == dimension)
    }

    /// The same without its values.
    fn empty(&self) -> Self {
        Self::new(&self.name, self.unit, self.kind.clone(), Vec::new())
    }
}

/// A table to which blocks are appended, with the places of its words.
#[derive(Default)]
pub(crate) struct Growing {
    pub(crate) table: Table,
    /// For each column.
    places: Vec<HashMap<String, usize>>,
}

impl Growing {
    fn of(table: Table) -> Self {
        let places = table.columns.iter().map(|column| match &column.kind {
            Kind::Words(words) => {
                words.iter().enumerate().map(|(place, word)| (word.clone(), place)).collect()
            }
            _ => HashMap::new(),
        });
        Self { places: places.collect(), table }
    }

    /// Appends the rows of a block.
    ///
    /// # Errors
    /// [`TableError::Parts`] if it has other columns.
    pub(crate) fn append(&mut self, other: Cow<'_, Table>) -> Result<(), TableError> {
        if self.table.columns.is_empty() {
            *self = Self::of(other.into_owned());
            return Ok(());
        }
        let Self { table, places } = self;
        let same = |(mine, its): (&Column, &Column)| mine.name == its.name && mine.unit == its.unit;
        let all = table.columns.len() == other.columns.len();
        if let Some((mine, its)) =
            table.columns.iter().zip(&other.columns).find(|pair| !same(*pair))
        {
            return Err(TableError::Parts(format!("{} and {}", mine.name, its.name)));
        }
        if !all {
            let (mine, its) = (table.columns.len(), other.columns.len());
            return Err(TableError::Parts(format!("{mine} and {its} of them")));
        }
        for ((mine, its), places) in table.columns.iter_mut().zip(&other.columns).zip(places) {
            match (&mut mine.kind, &its.kind) {
                (Kind::Words(words), Kind::Words(others)) => {
                    let mut place = |word: &String| {
                        *places.entry(word.clone()).or_insert_with(|| {
                            words.push(word.clone());
                            words.len() - 1
                        }) as f64
                    };
                    let theirs: Vec<f64> = others.iter().map(&mut place).collect();
                    mine.values.extend(its.values.iter().map(|&index| theirs[index as usize]));
                }
                (kind, other) if kind == other => mine.values.extend_from_slice(&its.values),
                _ => return Err(TableError::Parts(mine.name.clone())),
            }
        }
        Ok(())
    }
}

/// What is known of the movie that a table is of.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Info {
    /// Side of a pixel in nanometres.
    pub pixel_size: Option<f64>,
    /// Width of the frames in pixels.
    pub width: Option<usize>,
    /// Height of the frames in pixels.
    pub height: Option<usize>,
    /// The number of frames.
    pub frames: Option<usize>,
    /// All that Picasso's YAML says, a document for each step that the table went through.
    pub documents: Vec<spotfit_files::yaml::Value>,
}

impl Info {
    /// The same for a movie of so many frames of this width and height.
    #[must_use]
    pub fn with_movie(mut self, pixel_size: Option<f64>, size: [usize; 2], frames: usize) -> Self {
        (self.pixel_size, self.frames) = (pixel_size, Some(frames));
        [self.width, self.height] = size.map(Some);
        self
    }

    /// The side of a pixel in a unit of length, if it is known.
    pub fn pixel_in(&self, unit: Unit) -> Option<f64> {
        match unit {
            Unit::Nanometre => self.pixel_size,
            _ => Some(1.0),
        }
    }

    /// A unit of length in nanometres, if that is known.
    pub fn nanometres_in(&self, unit: Unit) -> Option<f64> {
        match unit {
            Unit::Nanometre => Some(1.0),
            _ => self.pixel_size,
        }
    }
}

/// A table, or a block of its rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
    /// What is known of the movie.
    pub info: Info,
}

impl Table {
    /// A table without columns.
    pub fn new(info: Info) -> Self {
        Self { columns: Vec::new(), info }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column with this name, or this [`Meaning`].
    pub fn column(&self, name: impl AsRef<str>) -> Option<&Column> {
        let name = name.as_ref();
        self.columns.iter().find(|column| column.name == name)
    }

    /// The column with this name, which may also be its name in files of ThunderSTORM or Picasso: `photons`, `intensity` and
    /// `intensity [photon]` are one column.
    pub fn called(&self, name: &str) -> Option<&Column> {
        let other = || {
            let mut columns = self.columns.iter();
            columns.find(|column| conditions::other_names(column).iter().any(|other| other == name))
        };
        self.column(name).or_else(other)
    }

    /// The columns whose meaning is not known, each with a known name that resembles its own, such as `intensity` for `Photons`. Only
    /// conditions and copies use them.
    pub fn unknown(&self) -> Vec<(&str, Option<&'static str>)> {
        let unknown = self.columns.iter().filter(|column| column.meaning().is_none());
        unknown.map(|column| (column.name.as_str(), names::similar(&column.name))).collect()
    }

    /// The values of the column with this name, or this [`Meaning`].
    ///
    /// # Errors
    /// [`TableError::Column`].
    pub fn values(&self, name: impl AsRef<str>) -> Result<&[f64], TableError> {
        let name = name.as_ref();
        let column = self.column(name).ok_or_else(|| TableError::Column(name.to_owned()))?;
        Ok(&column.values)
    }

    /// Sets a column: it replaces the one with its name. A new one takes its place in the order of the known columns; unknown ones are
    /// last.
    ///
    /// # Panics
    /// If it has not as many values as there are rows, unless it is the first.
    pub fn set(&mut self, column: Column) {
        let rows = column.values.len();
        assert!(self.columns.is_empty() || self.rows() == rows, "a value for each row");
        if let Some(old) = self.columns.iter_mut().find(|old| old.name == column.name) {
            *old = column;
            return;
        }
        let place = names::used(&column.name).and_then(|mine| {
            let later = |other: &Column| names::used(&other.name).is_some_and(|its| its > mine);
            self.columns.iter().position(later)
        });
        self.columns.insert(place.unwrap_or(self.columns.len()), column);
    }

    /// Takes a column out.
    pub fn remove(&mut self, name: impl AsRef<str>) -> Option<Column> {
        let name = name.as_ref();
        let place = self.columns.iter().position(|column| column.name == name)?;
        Some(self.columns.remove(place))
    }

    /// These columns only, as far as they are there.
    #[must_use]
    pub fn only(&self, names: &[&str]) -> Self {
        let wanted = self.columns.iter().filter(|column| names.contains(&column.name.as_str()));
        Self { columns: wanted.cloned().collect(), info: self.info.clone() }
    }

    /// The same columns without rows.
    pub fn emptied(&self) -> Self {
        let columns = self.columns.iter().map(Column::empty).collect();
        Self { columns, info: self.info.clone() }
    }

    /// Appends the rows of another block of this table.
    ///
    /// # Errors
    /// [`TableError::Parts`] if it has other columns.
    pub fn append(&mut self, other: &Self) -> Result<(), TableError> {
        let mut growing = Growing::of(std::mem::take(self));
        let result = growing.append(Cow::Borrowed(other));
        *self = growing.table;
        result
    }

    /// Keeps the rows for which it holds.
    ///
    /// # Panics
    /// If there is not one answer for each row.
    pub fn retain(&mut self, keep: &[bool]) {
        assert_eq!(keep.len(), self.rows(), "an answer for each row");
        if !keep.contains(&false) {
            return;
        }
        for column in &mut self.columns {
            let mut answers = keep.iter();
            column.values.retain(|_| answers.next().is_some_and(|&keep| keep));
        }
    }

    /// The same columns with these rows, in this order.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn select(&self, rows: impl Iterator<Item = usize> + Clone) -> Self {
        let columns = self.columns.iter().map(|column| {
            let values = rows.clone().map(|row| column.values[row]).collect();
            Column { values, ..column.empty() }
        });
        Self { columns: columns.collect(), info: self.info.clone() }
    }

    /// A column in the unit that is asked for: lengths in pixels become nanometres, or the reverse.
    ///
    /// If there is no `sigma`, it is √(σxσy); if there is no `uncertainty`, it is the root mean square of those of x and y. If
    /// there is no `sigma_x`, `sigma_y`, `uncertainty_x` or `uncertainty_y`, it is `sigma` or `uncertainty`.
    ///
    /// # Errors
    /// [`TableError::Column`], [`TableError::PixelSize`].
    pub fn lengths(&self, name: impl AsRef<str>, unit: Unit) -> Result<Cow<'_, [f64]>, TableError> {
        let name = name.as_ref();
        let scaled = |column: &Column| {
            let size = self.info.pixel_size;
            let scale = match (column.unit, unit) {
                (found, needed) if found == needed => Some(1.0),
                (Unit::Pixel, Unit::Nanometre) => size,
                (Unit::Nanometre, Unit::Pixel) => size.map(f64::recip),
                _ => None,
            };
            scale.ok_or_else(|| TableError::no_pixel_size(column, unit))
        };
        if let Some(column) = self.column(name) {
            let scale = scaled(column)?;
            return Ok(match scale {
                1.0 => Cow::Borrowed(&column.values),
                scale => column.values.iter().map(|value| value * scale).collect(),
            });
        }
        let missing = || TableError::Column(name.to_owned());
        let meaning = Meaning::of(name).ok_or_else(missing)?;
        if let Some(both) = meaning.of_both_axes() {
            return match self.column(both) {
                Some(_) => self.lengths(both, unit),
                None => Err(missing()),
            };
        }
        let [a, b] = meaning.axes().ok_or_else(missing)?.map(|axis| self.column(axis));
        let (Some(a), Some(b)) = (a, b) else { return Err(missing()) };
        let mean = match meaning {
            Meaning::Uncertainty => root_mean_square,
            _ => |x: f64, y: f64| if x == y { x } else { (x * y).sqrt() },
        };
        let scales = [scaled(a)?, scaled(b)?];
        let pairs = a.values.iter().zip(&b.values);
        Ok(pairs.map(|(a, b)| mean(a * scales[0], b * scales[1])).collect())
    }

    /// The unit of x and y.
    ///
    /// # Errors
    /// [`TableError::Column`] if there is no x, [`TableError::MixedUnits`] if y has another unit.
    pub fn length_unit(&self) -> Result<Unit, TableError> {
        let x = self.column(Meaning::X);
        let x = x.ok_or_else(|| TableError::Column(Meaning::X.to_string()))?;
        match self.column(Meaning::Y) {
            Some(y) if y.unit != x.unit => Err(TableError::MixedUnits { x: x.unit, y: y.unit }),
            _ => Ok(x.unit),
        }
    }

    /// The same table with all lengths of the plane in pixels or in nanometres. Those along the axis stay in nanometres.
    ///
    /// # Errors
    /// [`TableError::PixelSize`] if a length is in another unit and the size of a pixel is not known, [`TableError::NoLength`] if
    /// this is no unit of lengths.
    ///
    /// ```
    /// use spotfit_locs::table::{CsvReader, Unit};
    ///
    /// let reader = CsvReader::new("frame,x [nm],y [nm]\n1,200,50\n".as_bytes())?;
    /// let table = reader.with_info(|info| info.pixel_size = Some(100.0)).read_all(10)?;
    /// let table = table.in_unit(Unit::Pixel)?;
    /// assert_eq!((table.values("x")?, table.length_unit()?), (&[2.0][..], Unit::Pixel));
    /// # Ok::<(), spotfit_locs::table::TableError>(())
    /// ```
    pub fn in_unit(mut self, unit: Unit) -> Result<Self, TableError> {
        if !matches!(unit, Unit::Pixel | Unit::Nanometre) {
            return Err(TableError::NoLength(unit));
        }
        let size = self.info.pixel_size;
        for column in &mut self.columns {
            if column.unit == unit || !(column.is_of(Dimension::Length) || column.is_length()) {
                continue;
            }
            // What has no unit cannot be converted either.
            let size = size.filter(|_| column.is_length());
            let size = size.ok_or_else(|| TableError::no_pixel_size(column, unit))?;
            match unit {
                // A division gives back what was multiplied more often than the product with the reciprocal.
                Unit::Pixel => column.values.iter_mut().for_each(|value| *value /= size),
                _ => column.values.iter_mut().for_each(|value| *value *= size),
            }
            (column.unit, column.kind) = (unit, Kind::Rounded(unit.decimals()));
        }
        Ok(self)
    }

    /// The frames, from 0.
    ///
    /// # Errors
    /// [`TableError::Column`]; [`TableError::Row`] for a value that is not the number of a frame, or is 2³² or more.
    pub fn frames(&self) -> Result<Vec<u32>, TableError> {
        let whole = |(row, &value): (usize, &f64)| {
            let frame = value as u32;
            let wrong = || TableError::row(row, Meaning::Frame, value, "the number of a frame");
            if f64::from(frame) == value { Ok(frame) } else { Err(wrong()) }
        };
        self.values(Meaning::Frame)?.iter().enumerate().map(whole).collect()
    }
}
