//! Lines of text as rows of numbers and words.

use std::collections::HashMap;

use spotfit_files::columns::DecimalMark;
use spotfit_files::private::{MarkEvidence, Reading, excerpt};

use super::lines::{Fields, plain, trim, word};
use crate::table::error::LONGEST_ROW;
use crate::table::read::{TableField, TableHead};
use crate::table::{Kind, Meaning, Table, TableError, names};

/// So many rows say which columns have words.
const SETTLING: usize = 100;
/// The largest whole number up to which all are exact.
const LARGEST: f64 = (1u64 << 53) as f64;

/// How rows are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowStyle {
    /// What is between fields.
    pub(super) delimiter: u8,
    /// The decimal mark, once it is known.
    pub(super) mark: Option<DecimalMark>,
}

impl RowStyle {
    /// The number that a field is.
    fn number(self, text: &[u8]) -> Option<f64> {
        self.mark.unwrap_or(DecimalMark::Point).number(text)
    }

    /// The lines of some rows that are not empty.
    fn lines(self, rows: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
        let lines = rows.split(|&byte| byte == b'\n').map(move |line| trim(line, self.delimiter));
        lines.filter(|line| !line.is_empty())
    }

    /// Finds the decimal mark, if these rows have one.
    pub(super) fn find_mark(
        &mut self,
        fields: &[TableField],
        rows: &[u8],
    ) -> Result<(), TableError> {
        let has_mark =
            |&byte: &u8| byte == b'.' || byte == b',' && self.delimiter != b',' || byte == b'"';
        if self.mark.is_some() || !rows.iter().any(has_mark) {
            return Ok(());
        }
        let mut evidence = MarkEvidence::default();
        'all: for line in self.lines(rows) {
            let all = Fields::of(line, self.delimiter).enumerate();
            for (index, text) in
                all.filter(|&(index, _)| fields.get(index).is_some_and(|field| field.wanted))
            {
                if let Reading::With(..) = evidence.see(index, plain(text)) {
                    break 'all;
                }
            }
        }
        self.mark = evidence.mark().or_else(|(cell, readings)| {
            // Nobody groups digits by points between commas or spaces.
            let is_usual = matches!(self.delimiter, b',' | b' ') && !cell.contains(',');
            if is_usual {
                return Ok(Some(DecimalMark::Point));
            }
            let (cell, [point, comma]) = (excerpt(&cell), readings);
            Err(TableError::Unreadable(format!(
                "'{cell}' is {point} with a decimal point and {comma} with a decimal comma, and nothing tells which is meant: say what the decimal mark is"
            )))
        })?;
        Ok(())
    }

    /// Finds among the first rows which columns have words, and where frames are counted from; false if there is no row yet.
    pub(super) fn settle(self, head: &mut TableHead, rows: &[u8]) -> Result<bool, TableError> {
        let mut lines = self.lines(rows).peekable();
        let Some(first) = lines.peek().copied() else { return Ok(false) };
        let mut is_words = vec![false; head.fields.len()];
        for line in lines.take(SETTLING) {
            for (is_words, text) in is_words.iter_mut().zip(Fields::of(line, self.delimiter)) {
                let value = plain(text);
                *is_words |= !value.is_empty() && self.number(value).is_none();
            }
        }
        for (field, is_words) in head.fields.iter_mut().zip(is_words) {
            let of_numbers =
                names::used(&field.column.name).is_some_and(|one| one.words().is_none());
            if is_words && !of_numbers {
                field.column.kind = Kind::Words(Vec::new());
            }
        }
        if let [field] = &head.fields[..]
            && matches!(field.column.kind, Kind::Words(_))
            && names::used(&field.column.name).is_none()
        {
            return Err(TableError::Unreadable(format!(
                "the table would be one column, '{}', without numbers; columns are separated by commas, semicolons or tabs",
                excerpt(&field.header)
            )));
        }
        self.find_first_frame(head, first);
        Ok(true)
    }

    /// ThunderSTORM counts both rows and frames from 1. Programs that count rows from 0, such as Picasso where it exports for
    /// ThunderSTORM, count frames so too.
    fn find_first_frame(self, head: &mut TableHead, first: &[u8]) {
        let id = head.fields.iter().position(|field| field.is(Meaning::Id));
        let Some(id) = id.filter(|_| !head.told) else { return };
        let value =
            Fields::of(first, self.delimiter).nth(id).and_then(|text| self.number(plain(text)));
        let frames = head.fields.iter_mut().find(|field| field.is(Meaning::Frame));
        let Some(frames) = frames.filter(|field| field.offset == 1.0) else { return };
        if value == Some(0.0) {
            frames.offset = 0.0;
            let note = "id begins with 0, so frames are taken to be counted from 0, too";
            head.notes.push(note.to_owned());
        } else if let Some(first) = value.filter(|&first| first > 1.0) {
            head.notes.push(format!(
                "id begins with {first}, and the row that would tell whether frames are counted from 0 or 1 is not there: they are taken to be counted from 1"
            ));
        }
    }

    /// Reads some lines; an error has the line among these.
    pub(super) fn part(self, head: &TableHead, text: &[u8]) -> Result<(Table, u64), TableError> {
        let most = text.len() / (2 * head.fields.len()).max(1) + 1;
        let room = most.min(text.len() / 16 + 1);
        let mut values = head.no_values();
        let mut words: Vec<Words> = head.fields.iter().map(|_| Words::default()).collect();
        for (values, _) in values.iter_mut().zip(&head.fields).filter(|(_, field)| field.wanted) {
            values.reserve(room);
        }
        let mut line = 0;
        for text in text.split_inclusive(|&byte| byte == b'\n') {
            line += 1;
            self.row(&head.fields, text, line, &mut values, &mut words)?;
        }
        let mut table = head.table(values);
        let wanted = words.into_iter().zip(&head.fields).filter(|(_, field)| field.wanted);
        for (column, (words, _)) in table.columns.iter_mut().zip(wanted) {
            if let Kind::Words(all) = &mut column.kind {
                *all = words.all;
            }
        }
        Ok((table, line))
    }

    /// Reads a line of this number.
    fn row(
        self,
        fields: &[TableField],
        text: &[u8],
        line: u64,
        values: &mut [Vec<f64>],
        words: &mut [Words],
    ) -> Result<(), TableError> {
        if text.len() > LONGEST_ROW {
            return Err(TableError::LongRow { line });
        }
        let text = trim(text, self.delimiter);
        if text.is_empty() {
            return Ok(());
        }
        let mut found = 0;
        for text in Fields::of(text, self.delimiter) {
            let index = found;
            found += 1;
            let Some(field) = fields.get(index).filter(|field| field.wanted) else { continue };
            values[index].push(match &field.column.kind {
                Kind::Words(_) => words[index].place(&word(text)) as f64,
                kind => {
                    let number = self.value(field, kind, text);
                    number.map_err(|needed| wrong(line, field, text, needed))?
                }
            });
        }
        if found != fields.len() {
            // What was read of the row is dropped with the part.
            return Err(TableError::Fields { line, found, columns: fields.len() });
        }
        Ok(())
    }

    /// The number that a field of a column is, or what it should be.
    #[inline]
    fn value(self, field: &TableField, kind: &Kind, text: &[u8]) -> Result<f64, &'static str> {
        let read = |text: &[u8]| match text.is_empty() && *kind != Kind::Whole {
            true => Some(f64::NAN),
            false => self.number(text),
        };
        let value = read(text).or_else(|| read(plain(text))).ok_or("a number")?;
        if *kind == Kind::Whole {
            let fits = value.fract() == 0.0 && value.abs() < LARGEST;
            let counts = value >= field.offset || !field.is(Meaning::Frame);
            if !(fits && counts) {
                return Err(match field.offset {
                    _ if !field.is(Meaning::Frame) => "a whole number",
                    1.0 => "the number of a frame, from 1",
                    0.0 => "the number of a frame, from 0",
                    _ => "the number of a frame, from the first",
                });
            }
        }
        Ok(value)
    }
}

#[cold]
fn wrong(line: u64, field: &TableField, text: &[u8], needed: &'static str) -> TableError {
    let value = excerpt(&String::from_utf8_lossy(plain(text)));
    TableError::Value { line, column: excerpt(&field.header), value, needed }
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
