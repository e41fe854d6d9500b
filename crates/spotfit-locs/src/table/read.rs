//! Reading tables block by block: what all formats have in common. Each has a [`RowSource`] of rows.

use std::borrow::Cow;
use std::fmt;

use spotfit_files::private::excerpt;

use super::{
    Column, ColumnNames, Dimension, Growing, Info, Kind, Meaning, Table, TableError, Unit, names,
};

/// A column of a file.
#[derive(Clone, Debug)]
pub(super) struct TableField {
    /// Its name in the file.
    pub(super) header: String,
    pub(super) column: Column,
    /// What is subtracted, and what is multiplied by then.
    pub(super) offset: f64,
    pub(super) scale: f64,
    pub(super) wanted: bool,
}

impl TableField {
    /// A column whose numbers are as they stand in the file.
    pub(super) fn new(header: &str, column: Column) -> Self {
        Self { header: header.to_owned(), column, offset: 0.0, scale: 1.0, wanted: true }
    }

    /// One that is only copied.
    pub(super) fn copied(header: &str, kind: Kind) -> Self {
        Self::new(header, Column::new(header, Unit::None, kind, Vec::new()))
    }

    pub(super) fn is(&self, meaning: Meaning) -> bool {
        self.column.name == meaning.name()
    }

    /// Gives it another name and, if that is known, its unit.
    pub(super) fn rename(&mut self, name: &str, known: Option<(Meaning, Unit, f64)>) {
        let was_frame = self.is(Meaning::Frame);
        let kind = self.column.kind.clone();
        (self.column, self.scale) = match known {
            None => (Column::new(name, Unit::None, kind, Vec::new()), 1.0),
            Some((meaning, unit, scale)) => {
                let kind = match (meaning.dimension(), kind) {
                    (Dimension::Count, _) => Kind::Whole,
                    // Neither single precision nor a whole number holds the product.
                    (_, Kind::Single | Kind::Whole) if scale != 1.0 => Kind::Double,
                    (_, kind) => kind,
                };
                (Column::new(meaning, unit, kind, Vec::new()), scale)
            }
        };
        // What is subtracted is the number of the first frame.
        if !(was_frame && self.is(Meaning::Frame)) {
            self.offset = 0.0;
        }
    }

    /// Lengths in pixels become these.
    pub(super) fn stretch(&mut self, unit: Unit, scale: f64) {
        (self.column.unit, self.scale) = (unit, scale);
        if scale != 1.0 {
            self.column.kind = Kind::Double;
        }
    }

    /// The column of these numbers of the file.
    fn column(&self, mut values: Vec<f64>) -> Column {
        if (self.offset, self.scale) != (0.0, 1.0) {
            values.iter_mut().for_each(|value| *value = (*value - self.offset) * self.scale);
        }
        Column { values, ..self.column.clone() }
    }
}

/// What whoever reads a table may say of its columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Sayings {
    /// All; the frames of a column that gets a name are counted from 0.
    Text,
    /// All; their first number stays what it was. Columns have their usual order, whatever that in the file.
    Binary,
    /// Nothing: the names tell.
    Fixed,
}

/// What is known of a table besides its rows.
#[derive(Clone, Debug)]
pub struct TableHead {
    pub(super) fields: Vec<TableField>,
    pub(super) info: Info,
    /// What the reader of the table should know.
    pub(super) notes: Vec<String>,
    pub(super) sayings: Sayings,
    /// Where frames are counted from was said.
    pub(super) told: bool,
}

impl TableHead {
    pub(super) fn new(
        fields: Vec<TableField>,
        info: Info,
        notes: Vec<String>,
        sayings: Sayings,
    ) -> Self {
        Self { fields, info, notes, sayings, told: false }
    }

    /// The unit of a column, if it is there.
    pub(super) fn unit(&self, meaning: Meaning) -> Option<Unit> {
        self.fields.iter().find(|field| field.is(meaning)).map(|field| field.column.unit)
    }

    /// An error if two columns have one name.
    pub(super) fn check_names(&self) -> Result<(), TableError> {
        let name = |number: usize| &self.fields[number].column.name;
        let twice = |&number: &usize| (0..number).any(|other| name(other) == name(number));
        let twice = (0..self.fields.len()).find(twice);
        twice.map_or(Ok(()), |number| Err(TableError::TwoColumns(excerpt(name(number)))))
    }

    /// The wanted columns, of numbers of the file.
    pub(super) fn table(&self, values: Vec<Vec<f64>>) -> Table {
        let mut table = Table::new(self.info.clone());
        for (field, values) in self.fields.iter().zip(values).filter(|(field, _)| field.wanted) {
            match (self.sayings, field.column(values)) {
                (Sayings::Binary, column) => table.set(column),
                (_, column) => table.columns.push(column),
            }
        }
        table
    }

    /// No numbers for any column yet.
    pub(super) fn no_values(&self) -> Vec<Vec<f64>> {
        vec![Vec::new(); self.fields.len()]
    }

    /// The next rows of a source that appends numbers to the wanted columns and gives how many rows it has read; none at the end.
    pub(super) fn rows(
        &self,
        read: impl FnOnce(&[bool], &mut [Vec<f64>]) -> Result<usize, TableError>,
    ) -> Result<Option<Table>, TableError> {
        let wanted: Vec<bool> = self.fields.iter().map(|field| field.wanted).collect();
        let mut values = self.no_values();
        let count = read(&wanted, &mut values)?;
        Ok((count > 0).then(|| self.table(values)))
    }
}

/// Where the rows of a table come from.
pub trait RowSource {
    /// What whoever reads the table says of it was said: before the first rows.
    ///
    /// # Errors
    /// [`TableError`] if it cannot be read so.
    fn begin(&self, head: &mut TableHead) -> Result<(), TableError> {
        let _ = head;
        Ok(())
    }

    /// The next rows of the columns that are wanted; `None` at the end.
    ///
    /// # Errors
    /// [`TableError`].
    fn read(&mut self, head: &mut TableHead) -> Result<Option<Table>, TableError>;
}

impl<S: RowSource + ?Sized> RowSource for Box<S> {
    fn begin(&self, head: &mut TableHead) -> Result<(), TableError> {
        (**self).begin(head)
    }

    fn read(&mut self, head: &mut TableHead) -> Result<Option<Table>, TableError> {
        (**self).read(head)
    }
}

/// Reads a table block by block. Without its parameter the format is any: see [`TableReader::open`].
pub struct TableReader<S = Box<dyn RowSource + Send>> {
    pub(super) head: TableHead,
    pub(super) source: S,
    begun: bool,
}

impl<S> fmt::Debug for TableReader<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableReader").field("fields", &self.head.fields).finish_non_exhaustive()
    }
}

impl<S: RowSource + Send + 'static> TableReader<S> {
    /// The same as one of any format.
    pub(super) fn of_any(self) -> TableReader {
        TableReader { head: self.head, source: Box::new(self.source), begun: self.begun }
    }
}

impl<S: RowSource> TableReader<S> {
    pub(super) fn of(head: TableHead, source: S) -> Self {
        Self { head, source, begun: false }
    }

    /// Changes what is known of the movie.
    #[must_use]
    pub fn with_info(mut self, change: impl FnOnce(&mut Info)) -> Self {
        change(&mut self.head.info);
        self
    }

    /// What is known of the movie.
    pub fn info(&self) -> &Info {
        &self.head.info
    }

    /// Says whether a table of CSV or of another program counts frames from 0 or 1, whatever its names suggest.
    #[must_use]
    pub fn with_first_frame(mut self, first: u32) -> Self {
        if self.head.sayings != Sayings::Fixed {
            let frames = self.head.fields.iter_mut().filter(|field| field.is(Meaning::Frame));
            frames.for_each(|field| field.offset = f64::from(first));
            self.head.told = true;
        }
        self
    }

    /// Says what columns are whose names do not tell; those of Picasso's do. In CSV tables their frames are counted from 0 unless somebody
    /// says otherwise.
    ///
    /// # Errors
    /// [`TableError::Column`] for a name that is not in the file, [`TableError::TwoColumns`].
    pub fn with_names(mut self, given: &ColumnNames) -> Result<Self, TableError> {
        if self.head.sayings == Sayings::Fixed {
            return Ok(self);
        }
        let fields = &mut self.head.fields;
        for (file, here) in given.pairs() {
            // A unit may have been below the name.
            let without_unit = |field: &TableField| {
                let parts = field.header.rsplit_once(' ');
                parts.is_some_and(|(name, unit)| name == file && unit.starts_with(['(', '[']))
            };
            let named = fields.iter().position(|field| field.header.trim() == file);
            let named = named.or_else(|| fields.iter().position(without_unit));
            let named = &mut fields[named.ok_or_else(|| TableError::Column(excerpt(file)))?];
            if self.head.sayings == Sayings::Text {
                *named = TableField::copied(&named.header, Kind::Double);
            }
            named.rename(here, names::from_csv(here));
        }
        self.head.check_names()?;
        Ok(self)
    }

    /// Reads only these columns, as far as the table has them; others may hold anything.
    #[must_use]
    pub fn with_columns(mut self, names: &[&str]) -> Self {
        for field in &mut self.head.fields {
            field.wanted = names.contains(&field.column.name.as_str());
        }
        self
    }

    /// Notes that the reader of the table should know: the program that wrote it, which columns were understood and what was left out, a size
    /// of pixels that no microscope has, or that frames are counted from 0 although the names of the columns suggest 1. They are
    /// complete once the first block was read.
    pub fn notes(&self) -> &[String] {
        &self.head.notes
    }

    /// The columns that are read, without rows.
    pub fn layout(&self) -> Table {
        let mut head = self.head.clone();
        // Whoever reads rows is told what is wrong.
        let _ = self.source.begin(&mut head);
        head.table(head.no_values())
    }

    /// The next rows; the first block is there even if it has none. `None` at the end.
    ///
    /// # Errors
    /// [`TableError`], with the line and the column where there are lines.
    pub fn read(&mut self) -> Result<Option<Table>, TableError> {
        let first = !self.begun;
        if first {
            self.source.begin(&mut self.head)?;
            self.begun = true;
        }
        let head = &mut self.head;
        let rows = self.source.read(head)?;
        Ok(rows.or_else(|| first.then(|| head.table(head.no_values()))))
    }

    /// All rows that are left, up to a number of them.
    ///
    /// # Errors
    /// [`TableError`]; [`TableError::ManyRows`].
    pub fn read_all(&mut self, most: usize) -> Result<Table, TableError> {
        let mut all = Growing::default();
        while let Some(block) = self.read()? {
            if all.table.rows() + block.rows() > most {
                return Err(TableError::ManyRows { most });
            }
            all.append(Cow::Owned(block))?;
        }
        Ok(all.table)
    }
}
