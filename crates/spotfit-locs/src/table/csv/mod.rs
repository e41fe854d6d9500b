//! CSV tables.

mod header;
mod lines;
mod rows;
mod write;

use std::borrow::Cow;
use std::fmt;
use std::io::Read;

use spotfit_files::columns::DecimalMark;
use spotfit_files::private::excerpt;

use super::read::{RowSource, Sayings, TableField, TableHead, TableReader};
use super::{Dimension, Growing, Info, Kind, Meaning, Table, TableError, Unit, names};
use crate::parallel::of_all;
use lines::{Lines, parts};
use rows::RowStyle;

pub use write::CsvWriter;
pub(super) use write::title;

/// Bytes of a block.
const BLOCK: usize = 1 << 22;

fit_core::__options! {
    /// What the text of a table does not say.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct TextOptions {
        /// So many lines above the names are not looked at.
        pub skip_lines(const with_skip_lines): usize = 0,
        /// The mark before decimals, where the numbers do not tell.
        pub decimal(const with_decimal): Option<DecimalMark> = None,
    }
}

/// Reads a CSV table block by block: memory does not grow with the table, and all processors read the numbers. It is UTF-8, UTF-16 or
/// Latin-1, with the ends of lines of any system.
///
/// The first line has the names of the columns; every other line is a row. Up to three more lines of names and units may be below the
/// first, as in TrackMate's tables. Empty lines are skipped. A column with a value in its
/// first hundred rows that is no number has words; an empty field is NaN.
///
/// Fields are separated by commas, semicolons or tabs, whichever gives the first line the most names that are known, or else the most
/// names; a line `sep=;` before it says which. The decimal mark may be a point or a comma, and the other may group digits: the
/// numbers of the first 4 MiB tell which ([`DecimalMark`]); where `1,000` may be 1 or 1000, the table is refused. Lengths that are not in the
/// unit of x are converted to it, if the size of a pixel is known.
pub type CsvReader<R> = TableReader<CsvRows<R>>;

/// The rows of a CSV table.
pub struct CsvRows<R> {
    lines: Box<Lines<R>>,
    style: RowStyle,
    /// The kinds of the columns are known.
    settled: bool,
}

impl<R> fmt::Debug for CsvRows<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CsvRows").field("style", &self.style).finish_non_exhaustive()
    }
}

impl<R: Read> CsvReader<R> {
    /// Reads the names of the columns.
    ///
    /// # Errors
    /// [`TableError::Header`], [`TableError::TwoColumns`], [`TableError::Unreadable`], [`TableError::LongRow`], [`TableError::Io`].
    pub fn new(reader: R) -> Result<Self, TableError> {
        Self::with_options(reader, TextOptions::default())
    }

    /// The same with what the text does not say.
    ///
    /// # Errors
    /// As [`CsvReader::new`].
    pub fn with_options(reader: R, options: TextOptions) -> Result<Self, TableError> {
        let mut lines = Box::new(Lines::new(reader));
        for _ in 0..options.skip_lines {
            if lines.first()?.is_empty() {
                break;
            }
        }
        let mut line = lines.first()?;
        let said = line.strip_prefix(b"sep=").and_then(|rest| match rest {
            [delimiter @ (b',' | b';' | b'\t'), rest @ ..] if rest.trim_ascii().is_empty() => {
                Some(*delimiter)
            }
            _ => None,
        });
        if said.is_some() {
            line = lines.first()?;
        }
        let text = std::str::from_utf8(&line).ok();
        let described = text.and_then(names::of_rapidstorm);
        if described.is_some() && text.is_some_and(names::has_tracks) {
            let reason = "this is rapidSTORM's file of tracks, whose rows have all localizations of a track each: let rapidSTORM write a \
                          table of localizations, and link these";
            return Err(TableError::Unreadable(reason.to_owned()));
        }
        // rapidSTORM counts frames from 0, although its lengths have units.
        let counts_from_0 = described.is_some();
        let (mut headers, delimiter) = match described {
            Some(names) => (names, b' '),
            None => header::headers(&line, said)?,
        };
        // Units on a line of their own are of another program, which counts frames from 0.
        let counts_from_1 = !counts_from_0 && headers.iter().any(|header| has_unit(header));
        let mut notes = Vec::new();
        let more = header::more_names(&mut lines, &mut headers, delimiter)?;
        if more > 0 {
            let lines = if more == 1 { "1 line is" } else { &format!("{more} lines are") };
            notes.push(format!("{lines} taken for more names and units of the columns"));
        }
        let (mut fields, others) = fields(&headers)?;
        if !others.is_empty() {
            notes.push(format!("columns of another program: {}", others.join(", ")));
        }
        let frames = fields.iter_mut().filter(|field| field.is(Meaning::Frame) && counts_from_1);
        frames.for_each(|field| field.offset = 1.0);
        let head = TableHead::new(fields, Info::default(), notes, Sayings::Text);
        let style = RowStyle { delimiter, mark: options.decimal };
        Ok(Self::of(head, CsvRows { lines, style, settled: false }))
    }
}

/// Whether a name is that of a length with its unit.
fn has_unit(header: &str) -> bool {
    header.trim_end().ends_with(']')
        && names::known(header).is_some_and(|(known, unit, _)| {
            known.dimension() == Dimension::Length && unit != Unit::None
        })
}

/// The columns with these names, and what is to be said of those that have the names of another program.
fn fields(headers: &[String]) -> Result<(Vec<TableField>, Vec<String>), TableError> {
    let own: Vec<Meaning> =
        headers.iter().filter_map(|header| Some(names::from_csv(header)?.0)).collect();
    let (mut fields, mut others): (Vec<TableField>, Vec<String>) = Default::default();
    for header in headers {
        let taken = |name: &str| fields.iter().any(|other| other.column.name == name);
        let mut known = names::from_csv(header);
        if let (None, Some(found)) = (known, names::from_others(header)) {
            // Another column may have the name that is used here.
            if !own.contains(&found.0) && !taken(found.0.name()) {
                others.push(format!("'{}' is read as {}", excerpt(header), found.0));
                known = Some(found);
            }
        }
        let mut field = TableField::copied(header, Kind::Double);
        if known.is_some() {
            field.rename(header, known);
        }
        if taken(&field.column.name) {
            return Err(TableError::TwoColumns(excerpt(header)));
        }
        fields.push(field);
    }
    Ok((fields, others))
}

impl<R: Read> RowSource for CsvRows<R> {
    /// Brings all lengths to the unit of x. Without the size of a pixel other columns may have another unit, which
    /// [`Table::lengths`] heeds, but y may not.
    fn begin(&self, head: &mut TableHead) -> Result<(), TableError> {
        let (x, y) = (head.unit(Meaning::X), head.unit(Meaning::Y));
        let Some(needed) = x.or(y) else { return Ok(()) };
        let Some(size) = head.info.pixel_size else {
            return match y {
                Some(y) if y != needed => Err(TableError::MixedUnits { x: needed, y }),
                _ => Ok(()),
            };
        };
        for field in &mut head.fields {
            if !field.column.is_of(Dimension::Length) {
                continue;
            }
            match (field.column.unit, needed) {
                (Unit::Pixel, Unit::Nanometre) => field.scale *= size,
                (Unit::Nanometre, Unit::Pixel) => field.scale /= size,
                _ => continue,
            }
            field.column.unit = needed;
        }
        Ok(())
    }

    fn read(&mut self, head: &mut TableHead) -> Result<Option<Table>, TableError> {
        loop {
            let rows = self.lines.read(BLOCK)?;
            if rows.is_empty() {
                return Ok(None);
            }
            self.style.find_mark(&head.fields, &rows)?;
            if !self.settled {
                self.settled = self.style.settle(head, &rows)?;
            }
            let (style, head) = (self.style, &*head);
            let parts = parts(&rows, rayon::current_num_threads());
            let mut table = Growing::default();
            for part in of_all(&parts, |part| style.part(head, part)) {
                let before = self.lines.lines;
                let (part, lines) = part.map_err(|error| error.after(before))?;
                self.lines.lines += lines;
                table.append(Cow::Owned(part))?;
            }
            if table.table.rows() > 0 {
                return Ok(Some(table.table));
            }
        }
    }
}
