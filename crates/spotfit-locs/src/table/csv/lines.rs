//! Whole lines of a text of any length.

use std::borrow::Cow;
use std::io::{self, Read};

use crate::table::TableError;
use crate::table::error::LONGEST_ROW;

/// Bytes read at a time.
const READ: usize = 1 << 16;

/// Reads whole lines.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    /// What was read and not given yet.
    buffer: Vec<u8>,
    /// The lines before it.
    pub(super) lines: u64,
    /// The end of the input was seen.
    ended: bool,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), lines: 0, ended: false }
    }

    /// The first line; what was read beyond it is kept.
    pub(super) fn first(&mut self) -> Result<Vec<u8>, TableError> {
        let mut line = self.read(1)?;
        let end = line.iter().position(|&byte| byte == b'\n').map_or(line.len(), |end| end + 1);
        self.buffer.splice(0..0, line.drain(end..));
        self.lines += 1;
        Ok(line)
    }

    /// The next whole lines: at least so many bytes, as far as there are, and at least one line.
    pub(super) fn read(&mut self, least: usize) -> Result<Vec<u8>, TableError> {
        let last_end =
            |bytes: &[u8]| bytes.iter().rposition(|&byte| byte == b'\n').map(|at| at + 1);
        let mut end = last_end(&self.buffer).unwrap_or(0);
        while !self.ended && (end < least) {
            if self.buffer.len() - end > LONGEST_ROW {
                let before = self.buffer[..end].iter().filter(|&&byte| byte == b'\n').count();
                return Err(TableError::LongRow { line: self.lines + before as u64 + 1 });
            }
            let known = self.buffer.len();
            self.buffer.resize(known + READ, 0);
            let count = loop {
                match self.reader.read(&mut self.buffer[known..]) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    result => break result?,
                }
            };
            self.buffer.truncate(known + count);
            self.ended = count == 0;
            end = last_end(&self.buffer[known..]).map_or(end, |at| known + at);
        }
        if self.ended {
            end = self.buffer.len();
        }
        let rest = self.buffer.split_off(end);
        Ok(std::mem::replace(&mut self.buffer, rest))
    }
}

/// Cuts text into parts that end with a line.
pub(super) fn parts(text: &[u8], count: usize) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut rest = text;
    let size = (text.len() / count.max(1)).max(1 << 14);
    while rest.len() > size {
        let Some(end) = rest[size..].iter().position(|&byte| byte == b'\n') else { break };
        let (part, after) = rest.split_at(size + end + 1);
        parts.push(part);
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    parts
}

/// Whether a byte beside a field is no part of it.
fn is_blank(byte: u8, delimiter: u8) -> bool {
    byte.is_ascii_whitespace() && byte != delimiter
}

/// A line without blanks around it; tabs are none where they delimit fields.
pub(super) fn trim(line: &[u8], delimiter: u8) -> &[u8] {
    trim_end(trim_start(line, delimiter), delimiter)
}

fn trim_start(mut line: &[u8], delimiter: u8) -> &[u8] {
    while let [first, rest @ ..] = line
        && is_blank(*first, delimiter)
    {
        line = rest;
    }
    line
}

fn trim_end(mut line: &[u8], delimiter: u8) -> &[u8] {
    while let [rest @ .., last] = line
        && is_blank(*last, delimiter)
    {
        line = rest;
    }
    line
}

/// A field of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a> {
    /// Without quotes around it; quotes in a quoted field are doubled.
    bytes: &'a [u8],
    quoted: bool,
}

impl<'a> Text<'a> {
    /// As a word: spaces between quotes belong to it.
    pub(super) fn word(self) -> Cow<'a, str> {
        let word = String::from_utf8_lossy(self.bytes);
        if self.quoted && word.contains("\"\"") {
            return Cow::Owned(word.replace("\"\"", "\""));
        }
        word
    }

    /// As a number, without spaces around it.
    pub(super) fn number(self) -> &'a [u8] {
        if self.quoted { self.bytes.trim_ascii() } else { self.bytes }
    }
}

/// The fields of a line, without spaces around them.
pub(super) struct Fields<'a> {
    rest: Option<&'a [u8]>,
    delimiter: u8,
    /// All quotes so far that begin a field also end it.
    pub(super) sound: bool,
}

impl<'a> Fields<'a> {
    pub(super) fn of(line: &'a [u8], delimiter: u8) -> Self {
        Self { rest: Some(line), delimiter, sound: true }
    }

    /// The field that begins with a quote, whose inside and all after it this is; `None` if the quote has no end.
    #[cold]
    fn quoted(&mut self, inside: &'a [u8]) -> Option<Text<'a>> {
        let mut end = 0;
        loop {
            end += inside[end..].iter().position(|&byte| byte == b'"')?;
            if inside.get(end + 1) != Some(&b'"') {
                break;
            }
            end += 2;
        }
        let (bytes, after) = (&inside[..end], &inside[end + 1..]);
        let next = after.iter().position(|&byte| byte == self.delimiter);
        self.sound &= after[..next.unwrap_or(after.len())].trim_ascii().is_empty();
        self.rest = next.map(|place| &after[place + 1..]);
        Some(Text { bytes, quoted: true })
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Text<'a>;

    fn next(&mut self) -> Option<Text<'a>> {
        let delimiter = self.delimiter;
        let line = trim_start(self.rest?, delimiter);
        if let [b'"', inside @ ..] = line {
            // A delimiter may stand between quotes.
            match self.quoted(inside) {
                None => self.sound = false,
                field => return field,
            }
        }
        let place = line.iter().position(|&byte| byte == delimiter);
        self.rest = place.map(|place| &line[place + 1..]);
        let bytes = trim_end(&line[..place.unwrap_or(line.len())], delimiter);
        Some(Text { bytes, quoted: false })
    }
}
