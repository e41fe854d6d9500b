//! The names of columns, and what is between fields.

use std::borrow::Cow;
use std::io::Read;

use spotfit_files::private::text_of_bytes;

use super::lines::{Fields, Lines, plain, trim, word};
use crate::table::{TableError, names};

/// What may be between fields.
const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];
/// The most lines of names and units below the first.
const MORE_NAMES: usize = 3;

/// The names in the first line, and what is between them if that was not said.
pub(super) fn headers(line: &[u8], said: Option<u8>) -> Result<(Vec<String>, u8), TableError> {
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
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// Reads on below the names: the lines in which columns of numbers have names or units. A column gets the unit that is in brackets
/// below its name. Gives how many there were.
pub(super) fn more_names<R: Read>(
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
