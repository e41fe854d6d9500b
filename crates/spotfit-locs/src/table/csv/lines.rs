//! Whole lines of a text of any length. A line of a zero ends it.

use std::borrow::Cow;
use std::io::{self, Read};

use spotfit_files::private::{Encoding, no_text, text_of_bytes};

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
    encoding: Option<Encoding>,
    /// What was read of a sign that has another half.
    half: Vec<u8>,
    /// Whether lines end with a carriage return alone, once one has ended.
    returns: Option<bool>,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        let (buffer, half) = Default::default();
        Self { reader, buffer, lines: 0, ended: false, encoding: None, half, returns: None }
    }

    /// The first line; what was read beyond it is kept.
    pub(super) fn first(&mut self) -> Result<Vec<u8>, TableError> {
        let mut line = self.read(1)?;
        let end = line.iter().position(|&byte| byte == b'\n').map_or(line.len(), |end| end + 1);
        self.buffer.splice(0..0, line.drain(end..));
        self.lines += 1;
        Ok(line)
    }

    /// Gives a line back that was the last to be given.
    pub(super) fn unread(&mut self, line: Vec<u8>) {
        self.lines -= 1;
        self.buffer.splice(0..0, line);
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
            self.fill()?;
            // Elyra writes what it knows of the movie below its table, after a line of a zero.
            let from = known.saturating_sub(1);
            let zero = self.buffer[from..].iter().position(|&byte| byte == 0);
            let is_line = |&at: &usize| {
                let begins = if at == 0 { self.lines > 0 } else { self.buffer[at - 1] == b'\n' };
                begins && matches!(self.buffer.get(at + 1), Some(b'\r' | b'\n'))
            };
            if let Some(at) = zero.map(|at| from + at).filter(is_line) {
                self.buffer.truncate(at);
                self.ended = true;
            }
            // Before the first end of a line no line is known to end.
            let known = if end == 0 { 0 } else { known.min(self.buffer.len()) };
            end = last_end(&self.buffer[known..]).map_or(end, |at| known + at);
        }
        if self.ended {
            end = self.buffer.len();
        }
        let rest = self.buffer.split_off(end);
        Ok(std::mem::replace(&mut self.buffer, rest))
    }

    /// Reads on, as UTF-8 whose lines end with a line feed.
    fn fill(&mut self) -> Result<(), TableError> {
        let known = self.buffer.len();
        let mut count = 0;
        // The mark of an encoding has up to three bytes.
        loop {
            self.buffer.resize(known + count + READ, 0);
            let more = loop {
                match self.reader.read(&mut self.buffer[known + count..]) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    result => break result?,
                }
            };
            count += more;
            self.ended = more == 0;
            if self.ended || count >= 4 || self.encoding.is_some() {
                break;
            }
        }
        self.buffer.truncate(known + count);
        if self.encoding.is_none() {
            if let Some(what) = no_text(&self.buffer) {
                return Err(TableError::Header(what));
            }
            let (encoding, mark) = Encoding::of(&self.buffer);
            self.encoding = Some(encoding);
            self.buffer.drain(..mark);
        }
        if let Some(encoding @ Encoding::Wide { .. }) = self.encoding {
            self.half.extend(self.buffer.drain(known..));
            encoding.decode(&mut self.half, &mut self.buffer);
        }
        if self.returns.is_none() {
            let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
            let end = self.buffer.iter().position(is_end).map(|end| &self.buffer[end..]);
            self.returns = match end {
                Some([b'\n', ..] | [b'\r', b'\n', ..]) => Some(false),
                Some([b'\r', _, ..]) => Some(true),
                Some(_) if self.ended => Some(true),
                _ => None,
            };
            if self.returns == Some(true) {
                self.feed(0);
            }
        } else if self.returns == Some(true) {
            self.feed(known);
        }
        Ok(())
    }

    /// Ends lines as others do.
    fn feed(&mut self, from: usize) {
        let returns = self.buffer[from..].iter_mut().filter(|byte| **byte == b'\r');
        returns.for_each(|byte| *byte = b'\n');
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

/// What is between the quotes of a field; quotes in it are doubled.
fn between_quotes(field: &[u8]) -> Option<&[u8]> {
    field.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

/// A field as a word: spaces between quotes belong to it.
pub(super) fn word(field: &[u8]) -> Cow<'_, str> {
    match between_quotes(field) {
        None => text_of_bytes(field),
        Some(inside) => text_of_bytes(inside).replace("\"\"", "\"").into(),
    }
}

/// A field without quotes and without spaces between them, as a number may have them.
pub(super) fn plain(field: &[u8]) -> &[u8] {
    between_quotes(field).map_or(field, <[u8]>::trim_ascii)
}

/// The fields of a line, without spaces around them, but with their quotes.
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

    /// The field at the beginning of a line that begins with a quote; `None` if the quote has no end.
    #[cold]
    fn quoted(&mut self, line: &'a [u8]) -> Option<&'a [u8]> {
        let mut end = 1;
        loop {
            end += line[end..].iter().position(|&byte| byte == b'"')?;
            if line.get(end + 1) != Some(&b'"') {
                break;
            }
            end += 2;
        }
        // A delimiter may stand between quotes.
        let (field, after) = line.split_at(end + 1);
        let next = after.iter().position(|&byte| byte == self.delimiter);
        self.sound &= after[..next.unwrap_or(after.len())].trim_ascii().is_empty();
        self.rest = next.map(|place| &after[place + 1..]);
        Some(field)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let delimiter = self.delimiter;
        let line = trim_start(self.rest?, delimiter);
        if line.first() == Some(&b'"') {
            match self.quoted(line) {
                None => self.sound = false,
                field => return field,
            }
        }
        match line.iter().position(|&byte| byte == delimiter) {
            Some(place) => {
                self.rest = Some(&line[place + 1..]);
                Some(trim_end(&line[..place], delimiter))
            }
            None => {
                self.rest = None;
                Some(trim_end(line, delimiter))
            }
        }
    }
}
