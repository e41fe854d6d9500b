//! CSV tables.

mod lines;
mod write;

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read;

use spotfit_files::columns::DecimalMark;
use spotfit_files::private::{MarkEvidence, Reading, excerpt, text_of_bytes};

use super::error::LONGEST_ROW;
use super::{
    Column, ColumnNames, Dimension, Growing, Info, Kind, Meaning, Table, TableError, Unit, names,
};
use crate::parallel::of_all;
use lines::{Fields, Lines, parts, plain, trim, word};

pub use write::CsvWriter;
pub(super) use write::title;

/// What may be between fields.
const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];
/// Bytes of a block.
const BLOCK: usize = 1 << 22;
/// So many rows say which columns have words.
const SETTLING: usize = 100;
/// The most lines of names and units below the first.
const MORE_NAMES: usize = 3;
/// The largest whole number up to which all are exact.
const LARGEST: f64 = (1u64 << 53) as f64;

/// What the text of a table does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextOptions {
    /// So many lines above the names are not looked at.
    pub skip_lines: usize,
    /// The mark before decimals, where the numbers do not tell.
    pub decimal: Option<DecimalMark>,
}

impl TextOptions {
    fit_core::__setters! {
        const with_skip_lines: skip_lines: usize,
        const with_decimal: decimal: Option<DecimalMark>,
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
#[derive(Debug)]
pub struct CsvReader<R> {
    lines: Box<Lines<R>>,
    layout: Layout,
    /// The kinds of the columns are known.
    settled: bool,
}

/// What the rows are.
#[derive(Clone, Debug)]
struct Layout {
    columns: Vec<Field>,
    info: Info,
    /// What is between fields.
    delimiter: u8,
    /// The decimal mark, once it is known.
    mark: Option<DecimalMark>,
    /// Where frames are counted from was said.
    told: bool,
    /// What the reader of the table should know.
    notes: Vec<String>,
}

/// A column of the file.
#[derive(Clone, Debug)]
struct Field {
    /// Its name in the file.
    header: String,
    column: Column,
    /// What is subtracted, and what is multiplied by then.
    offset: f64,
    scale: f64,
    /// Whether it is wanted.
    read: bool,
}

impl Field {
    /// A column that is only copied.
    fn copied(header: String) -> Self {
        let name = header.clone();
        let column = Column { name, unit: Unit::None, kind: Kind::Double, values: Vec::new() };
        Self { header, column, offset: 0.0, scale: 1.0, read: true }
    }

    fn is(&self, meaning: Meaning) -> bool {
        self.column.name == meaning.name()
    }
}

impl<R: Read> CsvReader<R> {
    /// Reads the names of the columns.
    ///
    /// # Errors
    /// [`TableError::Header`], [`TableError::TwoColumns`], [`TableError::Tracks`], [`TableError::LongRow`], [`TableError::Io`].
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
            return Err(TableError::Tracks);
        }
        // rapidSTORM counts frames from 0, although its lengths have units.
        let counts_from_0 = described.is_some();
        let (mut headers, delimiter) = match described {
            Some(names) => (names, b' '),
            None => headers(&line, said)?,
        };
        let units = !counts_from_0
            && headers.iter().any(|header| {
                names::known(header).is_some_and(|(known, unit, _)| {
                    known.dimension() == Dimension::Length
                        && header.trim_end().ends_with(']')
                        && unit != Unit::None
                })
            });
        // Units on a line of their own are of another program, which counts frames from 0.
        let mut notes = Vec::new();
        let more = more_names(&mut lines, &mut headers, delimiter)?;
        if more > 0 {
            let lines = if more == 1 { "1 line is" } else { &format!("{more} lines are") };
            notes.push(format!("{lines} taken for more names and units of the columns"));
        }
        let own: Vec<Meaning> =
            headers.iter().filter_map(|header| Some(names::from_csv(header)?.0)).collect();
        let mut columns: Vec<Field> = Vec::new();
        let mut others = Vec::new();
        for header in headers {
            let mut field = field(header, units);
            let is_there = |columns: &[Field], field: &Field| {
                columns.iter().any(|other| other.column.name == field.column.name)
            };
            if let (None, Some((meaning, ..))) =
                (names::from_csv(&field.header), names::from_others(&field.header))
            {
                // Another column has the name that is used here.
                if own.contains(&meaning) || is_there(&columns, &field) {
                    field = Field::copied(field.header);
                } else {
                    others.push(format!("'{}' is read as {meaning}", excerpt(&field.header)));
                }
            }
            if is_there(&columns, &field) {
                return Err(TableError::TwoColumns(excerpt(&field.header)));
            }
            columns.push(field);
        }
        if !others.is_empty() {
            notes.push(format!("columns of another program: {}", others.join(", ")));
        }
        let (info, mark) = (Info::default(), options.decimal);
        let layout = Layout { columns, info, delimiter, mark, told: false, notes };
        Ok(Self { lines, layout, settled: false })
    }

    /// Changes what is known of the movie.
    #[must_use]
    pub fn with_info(mut self, change: impl FnOnce(&mut Info)) -> Self {
        change(&mut self.layout.info);
        self
    }

    /// Says what columns are whose names do not tell. Their frames are counted from 0 unless somebody says otherwise.
    ///
    /// # Errors
    /// [`TableError::Column`] for a name that is not in the file, [`TableError::TwoColumns`].
    pub fn with_names(mut self, names: &ColumnNames) -> Result<Self, TableError> {
        let columns = &mut self.layout.columns;
        for (file, here) in names.pairs() {
            // A unit may have been below the name.
            let without_unit = |field: &Field| {
                let parts = field.header.rsplit_once(' ');
                parts.is_some_and(|(name, unit)| name == file && unit.starts_with(['(', '[']))
            };
            let named = columns.iter().position(|field| field.header.trim() == file);
            let named = named.or_else(|| columns.iter().position(without_unit));
            let named = named.ok_or_else(|| TableError::Column(excerpt(file)))?;
            let named = &mut columns[named];
            *named = Field { header: named.header.clone(), ..field(here.to_owned(), false) };
        }
        for (number, field) in columns.iter().enumerate() {
            if columns[..number].iter().any(|other| other.column.name == field.column.name) {
                return Err(TableError::TwoColumns(excerpt(&field.column.name)));
            }
        }
        Ok(self)
    }

    /// Sets whether frames are counted from 0 or 1, whatever the names of the columns suggest.
    #[must_use]
    pub fn with_first_frame(mut self, first: u32) -> Self {
        let frames = self.layout.columns.iter_mut().filter(|field| field.is(Meaning::Frame));
        frames.for_each(|field| field.offset = f64::from(first));
        self.layout.told = true;
        self
    }

    /// Reads only these columns, as far as the table has them; others may hold anything.
    #[must_use]
    pub fn with_columns(mut self, names: &[&str]) -> Self {
        for field in &mut self.layout.columns {
            field.read = names.contains(&field.column.name.as_str());
        }
        self
    }

    /// The columns that are read, without rows.
    pub fn layout(&self) -> Table {
        let mut layout = self.layout.clone();
        // Whoever reads rows is told what is wrong.
        let _ = layout.unify();
        layout.table(layout.columns.iter().map(|_| Vec::new()))
    }

    /// Notes that the reader of the table should know: that frames are counted from 0 although the names of the columns suggest 1. They
    /// are complete once the first block was read.
    pub fn notes(&self) -> &[String] {
        &self.layout.notes
    }

    /// The next rows; `None` at the end.
    ///
    /// # Errors
    /// [`TableError`] with the line and the column; [`TableError::MixedUnits`], [`TableError::OneColumn`].
    pub fn read(&mut self) -> Result<Option<Table>, TableError> {
        if !self.settled {
            self.layout.unify()?;
        }
        loop {
            let rows = self.lines.read(BLOCK)?;
            if rows.is_empty() {
                // A table without rows has columns all the same.
                let first = !std::mem::replace(&mut self.settled, true);
                let layout = &self.layout;
                return Ok(first.then(|| layout.table(layout.columns.iter().map(|_| Vec::new()))));
            }
            self.layout.find_mark(&rows)?;
            if !self.settled {
                self.settled = self.layout.settle(&rows)?;
            }
            let layout = &self.layout;
            let parts = parts(&rows, rayon::current_num_threads());
            let done = of_all(&parts, |part| layout.part(part));
            let mut done = done.into_iter();
            let mut table = Growing::default();
            for part in done.by_ref() {
                if let Some(error) = part.error {
                    return Err(error.at(self.lines.lines));
                }
                self.lines.lines += part.lines;
                table.append(Cow::Owned(part.table))?;
            }
            if table.table.rows() > 0 {
                return Ok(Some(table.table));
            }
        }
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

impl Layout {
    /// Brings all lengths to the unit of x. Without the size of a pixel other columns may have another unit, which
    /// [`Table::lengths`] heeds, but y may not.
    fn unify(&mut self) -> Result<(), TableError> {
        let unit = |meaning| {
            let field = self.columns.iter().find(|field| field.is(meaning));
            field.map(|field| field.column.unit)
        };
        let (x, y) = (unit(Meaning::X), unit(Meaning::Y));
        let Some(needed) = x.or(y) else { return Ok(()) };
        let Some(size) = self.info.pixel_size else {
            return match y {
                Some(y) if y != needed => Err(TableError::MixedUnits { x: needed, y }),
                _ => Ok(()),
            };
        };
        for field in &mut self.columns {
            if field.column.meaning().is_none_or(|one| one.dimension() != Dimension::Length) {
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

    /// The number that a field is.
    fn number(&self, text: &[u8]) -> Option<f64> {
        self.mark.unwrap_or(DecimalMark::Point).number(text)
    }

    /// The lines of some rows that are not empty.
    fn lines<'a>(&self, rows: &'a [u8]) -> impl Iterator<Item = &'a [u8]> + Clone + use<'a> {
        let delimiter = self.delimiter;
        let lines = rows.split(|&byte| byte == b'\n').map(move |line| trim(line, delimiter));
        lines.filter(|line| !line.is_empty())
    }

    /// Finds the decimal mark, if these rows have one.
    fn find_mark(&mut self, rows: &[u8]) -> Result<(), TableError> {
        let has_mark =
            |&byte: &u8| byte == b'.' || byte == b',' && self.delimiter != b',' || byte == b'"';
        if self.mark.is_some() || !rows.iter().any(has_mark) {
            return Ok(());
        }
        let mut evidence = MarkEvidence::default();
        let lines = self.lines(rows);
        'all: for line in lines {
            let fields = Fields::of(line, self.delimiter).enumerate();
            for (index, text) in
                fields.filter(|&(index, _)| self.columns.get(index).is_some_and(|field| field.read))
            {
                if let Reading::With(..) = evidence.see(index, plain(text)) {
                    break 'all;
                }
            }
        }
        self.mark = evidence.mark().or_else(|(cell, readings)| {
            // Nobody groups digits by points between commas or spaces.
            let is_usual = matches!(self.delimiter, b',' | b' ') && !cell.contains(',');
            let wrong = || TableError::Marks { cell: excerpt(&cell), readings };
            if is_usual { Ok(Some(DecimalMark::Point)) } else { Err(wrong()) }
        })?;
        Ok(())
    }

    /// Finds among the first rows which columns have words, and where frames are counted from; false if there is no row yet.
    fn settle(&mut self, rows: &[u8]) -> Result<bool, TableError> {
        let delimiter = self.delimiter;
        let mut lines = self.lines(rows).peekable();
        let Some(first) = lines.peek().copied() else { return Ok(false) };
        let mut is_words = vec![false; self.columns.len()];
        for line in lines.take(SETTLING) {
            for (is_words, text) in is_words.iter_mut().zip(Fields::of(line, delimiter)) {
                let value = plain(text);
                *is_words |= !value.is_empty() && self.number(value).is_none();
            }
        }
        for (field, is_words) in self.columns.iter_mut().zip(is_words) {
            let of_numbers =
                names::used(&field.column.name).is_some_and(|one| one.words().is_none());
            if is_words && !of_numbers {
                field.column.kind = Kind::Words(Vec::new());
            }
        }
        if let [field] = &self.columns[..]
            && matches!(field.column.kind, Kind::Words(_))
            && names::used(&field.column.name).is_none()
        {
            return Err(TableError::OneColumn(excerpt(&field.header)));
        }
        self.find_first_frame(first);
        Ok(true)
    }

    /// ThunderSTORM counts both rows and frames from 1. Programs that count rows from 0, such as Picasso where it exports for
    /// ThunderSTORM, count frames so too.
    fn find_first_frame(&mut self, first: &[u8]) {
        let id = self.columns.iter().position(|field| field.is(Meaning::Id));
        let Some(id) = id.filter(|_| !self.told) else { return };
        let value =
            Fields::of(first, self.delimiter).nth(id).and_then(|text| self.number(plain(text)));
        let frames = self.columns.iter_mut().find(|field| field.is(Meaning::Frame));
        let Some(frames) = frames.filter(|field| field.offset == 1.0) else { return };
        if value == Some(0.0) {
            frames.offset = 0.0;
            let note = "id begins with 0, so frames are taken to be counted from 0, too";
            self.notes.push(note.to_owned());
        } else if let Some(first) = value.filter(|&first| first > 1.0) {
            self.notes.push(format!(
                "id begins with {first}, and the row that would tell whether frames are counted from 0 or 1 is not there: they are taken to be counted from 1"
            ));
        }
    }

    /// Reads some lines.
    fn part(&self, text: &[u8]) -> Part {
        let most = text.len() / (2 * self.columns.len()).max(1) + 1;
        let room = most.min(text.len() / 16 + 1);
        let mut values: Vec<Vec<f64>> = self.columns.iter().map(|_| Vec::new()).collect();
        let mut words: Vec<Words> = self.columns.iter().map(|_| Words::default()).collect();
        for (values, field) in values.iter_mut().zip(&self.columns) {
            values.reserve(if field.read { room } else { 0 });
        }
        let mut lines = 0;
        let mut error = None;
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            lines += 1;
            if let Err(wrong) = self.row(line, &mut values, &mut words) {
                error = Some(Wrong { line: lines, ..wrong });
                break;
            }
        }
        let mut table = self.table(values.into_iter());
        let columns = table.columns.iter_mut();
        let words = words.into_iter().zip(&self.columns).filter(|(_, field)| field.read);
        for (column, (words, _)) in columns.zip(words) {
            if let Kind::Words(all) = &mut column.kind {
                *all = words.all;
            }
        }
        Part { table, lines, error }
    }

    /// Reads a line.
    fn row(&self, line: &[u8], values: &mut [Vec<f64>], words: &mut [Words]) -> Result<(), Wrong> {
        if line.len() > LONGEST_ROW {
            return Err(Wrong::new(What::Long));
        }
        let line = trim(line, self.delimiter);
        if line.is_empty() {
            return Ok(());
        }
        let mut found = 0;
        for text in Fields::of(line, self.delimiter) {
            let index = found;
            found += 1;
            let Some(field) = self.columns.get(index).filter(|field| field.read) else { continue };
            let value = match &field.column.kind {
                Kind::Words(_) => words[index].place(&word(text)) as f64,
                kind => {
                    let wrong = |needed| Wrong::new(What::value(field, text, needed));
                    let read = |text: &[u8]| match text.is_empty() && *kind != Kind::Whole {
                        true => Some(f64::NAN),
                        false => self.number(text),
                    };
                    let value = read(text).or_else(|| read(plain(text)));
                    let value = value.ok_or_else(|| wrong("a number"))?;
                    if *kind == Kind::Whole {
                        let fits = value.fract() == 0.0 && value.abs() < LARGEST;
                        let counts = value >= field.offset || !field.is(Meaning::Frame);
                        if !(fits && counts) {
                            return Err(wrong(match field.offset {
                                _ if !field.is(Meaning::Frame) => "a whole number",
                                1.0 => "the number of a frame, from 1",
                                0.0 => "the number of a frame, from 0",
                                _ => "the number of a frame, from the first",
                            }));
                        }
                    }
                    (value - field.offset) * field.scale
                }
            };
            values[index].push(value);
        }
        if found != self.columns.len() {
            // What was read of the row is dropped with the part.
            return Err(Wrong::new(What::Fields(found, self.columns.len())));
        }
        Ok(())
    }

    /// A block with these values for the columns.
    fn table(&self, values: impl Iterator<Item = Vec<f64>>) -> Table {
        let columns = self.columns.iter().zip(values).filter(|(field, _)| field.read);
        let columns = columns.map(|(field, values)| Column { values, ..field.column.clone() });
        Table { columns: columns.collect(), info: self.info.clone() }
    }
}

/// Reads on below the names: the lines in which columns of numbers have names or units. A column gets the unit that is in brackets
/// below its name. Gives how many there were.
fn more_names<R: Read>(
    lines: &mut Lines<R>,
    headers: &mut [String],
    delimiter: u8,
) -> Result<usize, TableError> {
    let is_number =
        |header: &String| names::known(header).is_some_and(|(known, ..)| known.words().is_none());
    let numbers: Vec<bool> = headers.iter().map(is_number).collect();
    for count in 0..MORE_NAMES {
        let line = lines.first()?;
        let fields: Vec<&[u8]> = Fields::of(trim(&line, delimiter), delimiter).map(plain).collect();
        let known = fields.iter().zip(&numbers).filter(|(_, is_number)| **is_number);
        let mut cells = known.map(|(cell, _)| *cell).filter(|cell| !cell.is_empty()).peekable();
        // Words that stand for numbers are none.
        let is_word = |cell: &[u8]| {
            let none: [&[u8]; 8] =
                [b"nan", b"na", b"n/a", b"null", b"none", b"inf", b"-inf", b"infinity"];
            cell.iter().any(u8::is_ascii_alphabetic)
                && !cell.iter().any(u8::is_ascii_digit)
                && !none.iter().any(|none| cell.eq_ignore_ascii_case(none))
        };
        let is_head = fields.len() == headers.len() && cells.peek().is_some() && cells.all(is_word);
        if !is_head {
            lines.unread(line);
            return Ok(count);
        }
        let known = headers.iter_mut().zip(&numbers).zip(fields).filter(|((_, known), _)| **known);
        for ((header, _), cell) in known {
            let unit = text_of_bytes(cell);
            let is_unit = unit.starts_with(['(', '[']) && unit.ends_with([')', ']']);
            if is_unit && !header.ends_with([')', ']']) {
                *header = format!("{header} {unit}");
            }
        }
    }
    Ok(MORE_NAMES)
}

/// The names in the first line, and what is between them if that was not said.
fn headers(line: &[u8], said: Option<u8>) -> Result<(Vec<String>, u8), TableError> {
    let line = line.trim_ascii_end();
    let names = |line: &[u8], delimiter: u8| -> (Vec<String>, bool) {
        let mut fields = Fields::of(trim(line, delimiter), delimiter);
        let names = fields.by_ref().map(|field| word(field).into_owned()).collect();
        (names, fields.sound)
    };
    // A name may have quotes, too.
    let several = |line: &Vec<u8>| DELIMITERS.iter().any(|&one| names(line, one).0.len() > 1);
    let line = match once_quoted(line).filter(several) {
        Some(plain) => Cow::Owned(plain),
        None => Cow::Borrowed(line),
    };
    if std::str::from_utf8(&line).is_err() && line.iter().any(|&byte| byte < b'\t') {
        return Err(TableError::Header("it is not text".to_owned()));
    }
    if line.trim_ascii().is_empty() {
        return Err(TableError::Header("it is empty".to_owned()));
    }
    if let Some(delimiter) = said {
        return Ok((names(&line, delimiter).0, delimiter));
    }
    // The first of equal ones counts.
    let mut best: Option<(_, Vec<String>, u8)> = None;
    for delimiter in DELIMITERS {
        let (names, sound) = names(&line, delimiter);
        let known = names.iter().filter(|name| names::known(name).is_some()).count();
        let score = (sound && names.len() > 1, known, names.len());
        if best.as_ref().is_none_or(|(other, ..)| score > *other) {
            best = Some((score, names, delimiter));
        }
    }
    Ok(best.map_or((Vec::new(), b','), |(_, names, delimiter)| (names, delimiter)))
}

/// What is in a line that is one field in quotes, with the quotes in it doubled, as programs write that quote the fields of a table
/// whose names have quotes; `None` for any other line.
fn once_quoted(line: &[u8]) -> Option<Vec<u8>> {
    let inner = line.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let mut plain = Vec::with_capacity(inner.len());
    let mut bytes = inner.iter();
    while let Some(&byte) = bytes.next() {
        if byte == b'"' && bytes.next() != Some(&b'"') {
            return None;
        }
        plain.push(byte);
    }
    (plain.len() < inner.len()).then_some(plain)
}

/// A text in quotes, which are doubled in it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// The column with this name. Where names have units, frames are counted from 1.
fn field(header: String, units: bool) -> Field {
    let Some((known, unit, scale)) = names::known(&header) else { return Field::copied(header) };
    let kind = match known.dimension() {
        Dimension::Count => Kind::Whole,
        _ => Kind::Double,
    };
    let offset = if known == Meaning::Frame && units { 1.0 } else { 0.0 };
    let column = Column { name: known.name().to_owned(), unit, kind, values: Vec::new() };
    Field { header, column, offset, scale, read: true }
}

/// The words of a column in the order in which they first come.
#[derive(Default)]
struct Words {
    all: Vec<String>,
    places: HashMap<String, usize>,
    /// The place of the last one: it often comes again.
    last: usize,
}

impl Words {
    fn place(&mut self, word: &str) -> usize {
        /// So many are found faster one by one.
        const FEW: usize = 8;
        if self.all.get(self.last).is_some_and(|last| last == word) {
            return self.last;
        }
        let known = match self.all.len() {
            0..=FEW => self.all.iter().position(|known| known == word),
            _ => self.places.get(word).copied(),
        };
        self.last = known.unwrap_or_else(|| {
            self.places.insert(word.to_owned(), self.all.len());
            self.all.push(word.to_owned());
            self.all.len() - 1
        });
        self.last
    }
}

/// Some lines as they were read.
struct Part {
    table: Table,
    lines: u64,
    error: Option<Wrong>,
}

/// What is wrong in a line.
struct Wrong {
    /// The line of the part, from 1.
    line: u64,
    what: What,
}

enum What {
    Long,
    Fields(usize, usize),
    Value(String, String, &'static str),
}

impl What {
    fn value(field: &Field, text: &[u8], needed: &'static str) -> Self {
        let value = excerpt(&String::from_utf8_lossy(plain(text)));
        Self::Value(excerpt(&field.header), value, needed)
    }
}

impl Wrong {
    fn new(what: What) -> Self {
        Self { line: 0, what }
    }

    /// As an error, after so many lines.
    fn at(self, before: u64) -> TableError {
        let line = before + self.line;
        match self.what {
            What::Long => TableError::LongRow { line },
            What::Fields(found, columns) => TableError::Fields { line, found, columns },
            What::Value(column, value, needed) => TableError::Value { line, column, value, needed },
        }
    }
}
