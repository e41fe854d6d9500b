//! Tables of outcomes: what those of windows and of curves have in common, and the rows of those of windows.

use std::fmt::Display;
use std::io;
use std::path::Path;

use spotfit_files::private::{write_double, write_single, write_whole};

use crate::Status;
use crate::npy::write_header;

/// How a table of outcomes is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeFormat {
    /// Text, a row for each fit.
    Csv,
    /// A structured array.
    Npy,
}

impl OutcomeFormat {
    /// The format by the ending of a file's name.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_ascii_lowercase();
        match ending.to_str()? {
            "csv" => Some(Self::Csv),
            "npy" => Some(Self::Npy),
            _ => None,
        }
    }
}

/// Width of the status in an NPY file, in characters: that of the longest one.
pub(super) const STATUS: usize = 14;

/// What a column has of a fit of type `F` and its errors of type `E`.
#[derive(Debug)]
pub(super) enum Cell<F, E> {
    Count(fn(&F) -> u32),
    Flag(fn(&F) -> bool),
    Status(fn(&F) -> Status),
    /// A number, in text with the digits that the backend has.
    Number(fn(&F) -> f64),
    /// A number that has the digits of single precision in text.
    Short(fn(&F, &E) -> f64),
}

impl<F, E> Cell<F, E> {
    /// Its type in NPY files, and its bytes.
    fn kind(&self) -> (String, usize) {
        match self {
            Self::Count(_) => ("<u4".to_owned(), 4),
            Self::Flag(_) => ("|b1".to_owned(), 1),
            Self::Status(_) => (format!("<U{STATUS}"), 4 * STATUS),
            Self::Number(_) | Self::Short(_) => ("<f8".to_owned(), 8),
        }
    }
}

/// A column that may be wanted, its name, and what it has of a fit.
pub(super) type OutcomeColumn<F, E> = (bool, &'static str, Cell<F, E>);

/// What rows of a table look like, after the number of the spot. Several threads can make them.
#[derive(Debug)]
pub(super) struct OutcomeRows<F, E> {
    pub(super) format: OutcomeFormat,
    columns: Vec<(&'static str, Cell<F, E>)>,
    /// Whether the backend has only the digits of `f32`, so that text shows no more.
    single: bool,
    /// The bytes of a row in an NPY file.
    bytes: usize,
    /// The names of all statuses as NPY files have them.
    statuses: Vec<[u8; 4 * STATUS]>,
}

impl<F, E> OutcomeRows<F, E> {
    /// Rows of those of these columns that are wanted. With `single`, numbers have the digits of single precision.
    pub(super) fn new(
        format: OutcomeFormat,
        columns: impl IntoIterator<Item = OutcomeColumn<F, E>>,
        single: bool,
    ) -> Self {
        let wanted = columns.into_iter().filter(|(wanted, ..)| *wanted);
        let columns: Vec<_> = wanted.map(|(_, name, cell)| (name, cell)).collect();
        let bytes = 8 + columns.iter().map(|(_, cell)| cell.kind().1).sum::<usize>();
        let statuses = Status::ALL.map(|status| {
            let mut name = [0; 4 * STATUS];
            let (places, _) = name.as_chunks_mut();
            for (place, symbol) in places.iter_mut().zip(status.name().chars()) {
                *place = u32::from(symbol).to_le_bytes();
            }
            name
        });
        Self { format, columns, single, bytes, statuses: statuses.into() }
    }

    /// What comes before `count` rows. The list of the columns of an NPY file ends so.
    pub(super) fn head(&self, count: usize, end: &str) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        match self.format {
            OutcomeFormat::Csv => {
                let names = self.columns.iter().map(|(name, _)| format!(",{name}"));
                head.extend(format!("spot{}\n", names.collect::<String>()).into_bytes());
            }
            OutcomeFormat::Npy => {
                let columns = self.columns.iter();
                let kinds =
                    columns.map(|(name, cell)| format!(", ('{name}', '{}')", cell.kind().0));
                let descr = format!("[('spot', '<u8'){}{end}", kinds.collect::<String>());
                write_header(&mut head, &descr, &[count])?;
            }
        }
        Ok(head)
    }

    /// The bytes of a row, if all have as many.
    pub(super) fn row_bytes(&self) -> Option<usize> {
        (self.format == OutcomeFormat::Npy).then_some(self.bytes)
    }

    /// Appends the row of a fit of a spot.
    pub(super) fn write(&self, spot: usize, fit: &F, errors: &E, bytes: &mut Vec<u8>) {
        match self.format {
            OutcomeFormat::Csv => self.csv_row(spot, fit, errors, bytes),
            OutcomeFormat::Npy => self.npy_row(spot, fit, errors, bytes),
        }
    }

    fn csv_row(&self, spot: usize, fit: &F, errors: &E, text: &mut Vec<u8>) {
        write_whole(spot, text);
        for (_, cell) in &self.columns {
            text.push(b',');
            // The shortest text that reads back as the same number.
            match cell {
                Cell::Count(of) => write_whole(of(fit) as usize, text),
                Cell::Flag(of) => write_whole(of(fit).into(), text),
                Cell::Status(of) => text.extend_from_slice(of(fit).name().as_bytes()),
                Cell::Number(of) if self.single => write_single(of(fit) as f32, text),
                Cell::Number(of) => write_double(of(fit), text),
                Cell::Short(of) => write_single(of(fit, errors) as f32, text),
            }
        }
        text.push(b'\n');
    }

    fn npy_row(&self, spot: usize, fit: &F, errors: &E, bytes: &mut Vec<u8>) {
        let from = bytes.len();
        bytes.resize(from + self.bytes, 0);
        let room = &mut &mut bytes[from..];
        put(room, (spot as u64).to_le_bytes());
        for (_, cell) in &self.columns {
            match cell {
                Cell::Count(of) => put(room, of(fit).to_le_bytes()),
                Cell::Flag(of) => put(room, [of(fit).into()]),
                Cell::Status(of) => put(room, self.statuses[of(fit) as usize - 1]),
                Cell::Number(of) => put(room, of(fit).to_le_bytes()),
                Cell::Short(of) => put(room, of(fit, errors).to_le_bytes()),
            }
        }
    }
}

/// Writes to the beginning of some room, of which the rest is left.
#[inline(always)]
fn put<const N: usize>(room: &mut &mut [u8], bytes: [u8; N]) {
    if let Some((to, rest)) = std::mem::take(room).split_first_chunk_mut() {
        *to = bytes;
        *room = rest;
    }
}

/// The description of a structured array of NPY with fields of these names and types, such as `<f8`.
pub(super) fn npy_fields(fields: impl IntoIterator<Item = (impl Display, impl Display)>) -> String {
    let fields = fields.into_iter().map(|(name, kind)| format!("('{name}', '{kind}')"));
    format!("[{}]", fields.collect::<Vec<_>>().join(", "))
}

/// Appends a word as an NPY file has it, of so many letters.
pub(super) fn put_word(bytes: &mut Vec<u8>, word: &str, width: usize) {
    let letters = word.chars().chain(std::iter::repeat('\0')).take(width);
    bytes.extend(letters.flat_map(|letter| u32::from(letter).to_le_bytes()));
}
