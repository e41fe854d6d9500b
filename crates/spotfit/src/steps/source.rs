//! Tables that operations read.

use std::fmt::Display;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::words::go_on;
use super::{Listener, StepError};
use crate::record::{Origin, Record};
use crate::table::{
    ColumnNames, Filter, Info, Table, TableError, TableFormat, TableReader, TextOptions, Unit,
};
use crate::{Length, OutOfRange};

/// The most rows that are held in memory.
pub(crate) const MOST_ROWS: usize = 1 << 28;
/// The most rows kept of a table that can be read only once.
const MOST_KEPT: usize = 1 << 24;

/// A table that may be read several times: in a file, or in memory.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    from: From,
    pixel_size: Option<f64>,
    /// If it was said.
    origin: Option<Origin>,
    /// The option that says it.
    origin_option: &'static str,
    /// By the record beside the file; nothing where that does not know.
    recorded: Option<Origin>,
    first_frame: Option<u32>,
    names: ColumnNames,
    text: TextOptions,
    /// What the beginning of the file says, once it was read with the options above.
    begun: OnceLock<Beginning>,
}

/// A table without rows, and notes about its file.
type Beginning = (Table, Vec<String>);

#[derive(Clone, Debug)]
enum From {
    File(PathBuf),
    /// The rows, and what is to be known of them.
    Memory(Table, Vec<String>),
}

impl Source {
    /// The table in a file: `.csv`, or `.hdf5` with its `.yaml`. It is opened when it is read.
    pub fn file(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        Self::new(path.display().to_string(), From::File(path.to_owned()))
    }

    /// A table in memory.
    pub fn of(table: Table) -> Self {
        Self::new("the table".to_owned(), From::Memory(table, Vec::new()))
    }

    /// The same of a CSV table that can be read only once, such as a pipe: it is read to its end here.
    ///
    /// # Errors
    /// [`StepError::Table`]; [`StepError::Input`] for more rows than are kept in memory.
    pub fn once(self, reader: impl Read + Send + 'static) -> Result<Self, StepError> {
        let wrong = |source| match source {
            TableError::ManyRows { most } => {
                let reason = format!("a pipe may have at most {most} localizations; use a file");
                StepError::input(&self.name, reason)
            }
            source => StepError::Table { name: self.name.clone(), source },
        };
        let reader = TableReader::csv(reader, self.text).and_then(|one| self.said(one, || None));
        let mut reader = reader.map_err(wrong)?;
        let table = reader.read_all(MOST_KEPT).map_err(wrong)?;
        let from = From::Memory(table, reader.notes().to_vec());
        Ok(Self { from, recorded: Some(Origin::Centre), begun: OnceLock::new(), ..self })
    }

    /// A reader that was told what is said of the table. What is said counts before the file, and the file before the record beside it.
    fn said(
        &self,
        reader: TableReader,
        recorded: impl FnOnce() -> Option<f64>,
    ) -> Result<TableReader, TableError> {
        let reader = reader.with_names(&self.names)?.with_info(|info| {
            info.pixel_size = self.pixel_size.or(info.pixel_size).or_else(recorded);
        });
        Ok(match self.first_frame {
            Some(first) => reader.with_first_frame(first),
            None => reader,
        })
    }

    fn new(name: String, from: From) -> Self {
        let recorded = match &from {
            From::File(path) => Record::origin_of(path),
            From::Memory(..) => Some(Origin::Centre),
        };
        Self {
            name,
            from,
            pixel_size: None,
            origin: None,
            origin_option: "origin",
            recorded,
            first_frame: None,
            names: ColumnNames::default(),
            text: TextOptions::default(),
            begun: OnceLock::new(),
        }
    }

    /// The same with another name in errors.
    #[must_use]
    pub fn with_name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// The same with this side of a pixel in nanometres, if one is given. It overrides what the file says.
    ///
    /// # Errors
    /// [`StepError::Option`] for sizes that are not between 10⁻⁶ and 10¹².
    pub fn with_pixel_size(mut self, pixel_size: Option<f64>) -> Result<Self, StepError> {
        check_size(pixel_size)?;
        self.pixel_size = pixel_size.or(self.pixel_size);
        self.begun = OnceLock::new();
        Ok(self)
    }

    /// The same as a table of this movie, with its size of a pixel.
    #[must_use]
    pub(crate) fn of_movie(mut self, info: &Info) -> Self {
        self.pixel_size = info.pixel_size;
        self.begun = OnceLock::new();
        self
    }

    /// The same with (0, 0) at the corner of the first pixel, and not at its centre. It has no effect on Picasso's files.
    #[must_use]
    pub fn with_corner_origin(mut self, corner: bool) -> Self {
        self.origin = Some(Origin::corner(corner));
        self
    }

    /// The same with this place of (0, 0), if one is given. It overrides what the record beside the file says.
    #[must_use]
    pub fn with_origin(mut self, origin: Option<Origin>) -> Self {
        self.origin = origin.or(self.origin);
        self
    }

    /// The same with the name of the option that sets the place of (0, 0), for errors; it is `origin` otherwise.
    #[must_use]
    pub fn with_origin_option(mut self, option: &'static str) -> Self {
        self.origin_option = option;
        self
    }

    /// The same with the number of the first frame in the file, 0 or 1, for files in which the names of the columns do not tell it.
    #[must_use]
    pub fn with_first_frame(mut self, first: Option<u32>) -> Self {
        self.first_frame = first;
        self.begun = OnceLock::new();
        self
    }

    /// The same with names for the columns of a CSV file whose own do not tell what they are.
    #[must_use]
    pub fn with_column_names(mut self, names: ColumnNames) -> Self {
        self.names = names;
        self.begun = OnceLock::new();
        self
    }

    /// The same with what the text of a CSV file does not say.
    #[must_use]
    pub fn with_text(mut self, text: TextOptions) -> Self {
        self.text = text;
        self.begun = OnceLock::new();
        self
    }

    /// Whether (0, 0) is the corner of the first pixel: as was set, or else as the record beside the file says.
    pub fn has_corner_origin(&self) -> bool {
        self.origin.or(self.recorded) == Some(Origin::Corner)
    }

    /// What the table is called in errors.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file that it is in.
    pub fn path(&self) -> Option<&Path> {
        match &self.from {
            From::File(path) => Some(path),
            From::Memory(..) => None,
        }
    }

    /// Whether it is in a file of Picasso.
    pub fn is_picasso(&self) -> bool {
        self.path().and_then(TableFormat::of) == Some(TableFormat::Picasso)
    }

    /// Where the centre of the first pixel is, in pixels: 0, or 0.5 with the origin at its corner.
    pub fn origin(&self) -> f64 {
        if self.has_corner_origin() && !self.is_picasso() { 0.5 } else { 0.0 }
    }

    /// An error of this table.
    pub(crate) fn wrong(&self) -> impl Fn(TableError) -> StepError + use<> {
        let name = self.name.clone();
        move |source| StepError::Table { name: name.clone(), source }
    }

    /// This table cannot be used for a reason.
    pub(crate) fn refused<E: Display>(&self) -> impl Fn(E) -> StepError + use<E> {
        let name = self.name.clone();
        move |reason| StepError::input(&name, reason.to_string())
    }

    /// The table had other rows when it was read before.
    pub(crate) fn changed(&self) -> StepError {
        StepError::input(&self.name, "it changed while it was read")
    }

    fn reader(&self, path: &Path, columns: Option<&[&str]>) -> Result<TableReader, StepError> {
        if self.origin.or(self.recorded).is_none() {
            let reason = format!(
                "its record says that a process was killed while it replaced this table by one with another origin; give `{}`",
                self.origin_option
            );
            return Err(StepError::input(&self.name, reason));
        }
        let recorded = || Record::pixel_size_of(path);
        let reader =
            TableReader::open_with(path, self.text).and_then(|one| self.said(one, recorded));
        let reader = reader.map_err(self.wrong())?;
        Ok(match columns {
            Some(columns) => reader.with_columns(columns),
            None => reader,
        })
    }

    fn informed(&self, mut table: Table) -> Table {
        table.info.pixel_size = self.pixel_size.or(table.info.pixel_size);
        table
    }

    /// Visits the table block by block: all columns, or these as far as they are there.
    ///
    /// # Errors
    /// [`StepError`], of reading, of the visitor, or [`StepError::Cancelled`].
    pub fn blocks(
        &self,
        columns: Option<&[&str]>,
        listener: &dyn Listener,
        mut visit: impl FnMut(Table) -> Result<(), StepError>,
    ) -> Result<(), StepError> {
        let path = match &self.from {
            From::File(path) => path,
            From::Memory(table, _) => {
                let table = match columns {
                    Some(columns) => table.only(columns),
                    None => table.clone(),
                };
                return visit(self.informed(table));
            }
        };
        let mut reader = self.reader(path, columns)?;
        while let Some(block) = reader.read().map_err(self.wrong())? {
            go_on(listener)?;
            visit(block)?;
        }
        Ok(())
    }

    /// The same with the columns of a condition, if there is one, and for each row whether it is fulfilled.
    pub(crate) fn judged(
        &self,
        columns: Option<&[&str]>,
        filter: Option<&Filter>,
        listener: &dyn Listener,
        mut visit: impl FnMut(Table, Vec<bool>) -> Result<(), StepError>,
    ) -> Result<(), StepError> {
        let of_filter = filter.into_iter().flat_map(Filter::columns);
        let columns: Option<Vec<&str>> =
            columns.map(|own| own.iter().copied().chain(of_filter).collect());
        self.blocks(columns.as_deref(), listener, |block| {
            let keep = match filter {
                Some(filter) => filter.keep(&block).map_err(self.wrong())?,
                None => vec![true; block.rows()],
            };
            visit(block, keep)
        })
    }

    /// The whole table: all columns, or these as far as they are there.
    ///
    /// # Errors
    /// [`StepError`].
    pub fn load(
        &self,
        columns: Option<&[&str]>,
        listener: &dyn Listener,
    ) -> Result<Table, StepError> {
        let mut table = Table::default();
        self.blocks(columns, listener, |block| {
            if table.rows() + block.rows() > MOST_ROWS {
                return Err(self.wrong()(TableError::ManyRows { most: MOST_ROWS }));
            }
            table.append(&block).map_err(self.wrong())
        })?;
        Ok(table)
    }

    /// A table with the columns and what is known of the movie, but no rows. The beginning of a file is read once, however often
    /// somebody asks.
    ///
    /// # Errors
    /// [`StepError::Table`].
    pub fn layout(&self) -> Result<Table, StepError> {
        Ok(self.begin()?.0.clone())
    }

    /// Notes about the file that its reader should know, such as from which number it counts frames.
    ///
    /// # Errors
    /// [`StepError::Table`].
    pub fn notes(&self) -> Result<Vec<String>, StepError> {
        Ok(self.begin()?.1.clone())
    }

    fn begin(&self) -> Result<&Beginning, StepError> {
        if let Some(begun) = self.begun.get() {
            return Ok(begun);
        }
        let begun = match &self.from {
            From::File(path) => {
                let mut reader = self.reader(path, None)?;
                let first = reader.read().map_err(self.wrong())?;
                (first.unwrap_or_default().emptied(), reader.notes().to_vec())
            }
            From::Memory(table, notes) => (self.informed(table.emptied()), notes.clone()),
        };
        Ok(self.begun.get_or_init(|| begun))
    }

    /// A length of an option in the unit of this table, of which `info` is known. Without a unit it is in nanometres.
    ///
    /// # Errors
    /// [`StepError::Input`] where the size of a pixel is needed and not known.
    pub(crate) fn length(
        &self,
        option: &'static str,
        length: Length,
        unit: Unit,
        info: &Info,
    ) -> Result<f64, StepError> {
        length.or(Unit::Nanometre).within(unit, info.pixel_size).ok_or_else(|| {
            let (given, other) = match unit {
                Unit::Nanometre => ("pixels", "50nm"),
                _ => ("nanometres", "0.5px"),
            };
            let reason = format!(
                "`{option}` = {length} is in {given}, the table in {unit}, and the size of a pixel is not known; write \
                 {other}, or give `pixel_size`"
            );
            StepError::input(&self.name, reason)
        })
    }
}

fn check_size(pixel_size: Option<f64>) -> Result<(), StepError> {
    let Some(size) = pixel_size else { return Ok(()) };
    let good = (1e-6..=1e12).contains(&size);
    Ok(OutOfRange::check("pixel_size", size, good, "1e-6 to 1e12 nanometres")?)
}
