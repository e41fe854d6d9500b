//! The chain of directories of a file that grows: one page after the other, each when all of it is there.

use ::tiff::decoder::Decoder;

use super::super::buffered::Buffered;
use super::super::failure::{undecodable, wrong};
use super::super::format::Format;
use super::super::page::{Pages, decoding_limits};
use super::super::pages::{self, LONGEST_TEXT, MOST_ENTRIES, Text};
use super::super::view::PageView;
use super::MovieError;
use super::directory::{Directory, Entry, STRIP_LENGTHS, STRIPS, TILE_LENGTHS, TILES};
use crate::movie::follow::watched::Watched;

/// Bytes that a decoder reads at a time where it reads few.
const BUFFER: usize = 1 << 12;

/// Bytes that are read of a directory at first.
const START: usize = 1 << 10;

/// Tags from here on are private: no page needs them.
const PRIVATE: u64 = 1 << 15;

/// A file of pages, read from its first one on.
pub(super) struct Chain {
    pub(super) file: Watched,
    /// Nothing until there is a header.
    format: Option<Format>,
    /// Where the place of the next directory stands.
    pointer: u64,
    /// Pages that were taken.
    pub(super) pages: usize,
    /// These, and those that were left out.
    passed: usize,
    /// A circle comes back to the mark, which moves on ever more seldom.
    mark: (u64, usize),
    /// The length of a file that has zeros where its next page will be.
    hollow: Option<u64>,
    /// Whether the writer has gone on to another file.
    pub(super) is_left: bool,
}

/// What there is of the next page.
pub(super) enum Next {
    /// All of it.
    Page(Directory),
    /// Nothing.
    Nothing,
    /// This is still missing.
    Part(String),
}

impl Chain {
    pub(super) fn new(file: Watched) -> Self {
        let (mark, hollow) = ((0, 1), None);
        Self { file, format: None, pointer: 0, pages: 0, passed: 0, mark, hollow, is_left: false }
    }

    /// A number of so many bytes; nothing if the file ends before it.
    fn number(
        &self,
        format: Format,
        at: u64,
        size: usize,
        frame: usize,
    ) -> Result<Option<u64>, MovieError> {
        let mut bytes = [0; 8];
        let bytes = &mut bytes[..size];
        let whole = self.file.read_at(at, bytes, frame)? == size;
        Ok(whole.then(|| format.number(bytes)))
    }

    /// The format, if there is a header already.
    fn format(&mut self, frame: usize) -> Result<Option<Format>, MovieError> {
        if self.format.is_none() {
            let mut start = [0; 4];
            if self.file.read_at(0, &mut start, frame)? < 4 || start == [0; 4] {
                return Ok(None);
            }
            let format =
                Format::of(start).ok_or_else(|| wrong(frame, "this is not a TIFF file"))?;
            self.pointer = if format.big { 8 } else { 4 };
            self.format = Some(format);
        }
        Ok(self.format)
    }

    /// Whether there is a directory that was not taken yet, whole or not.
    pub(super) fn has_begun(&mut self, frame: usize) -> Result<bool, MovieError> {
        Ok(!matches!(self.next(frame)?, Next::Nothing))
    }

    /// Whether no other directory follows those that were taken.
    pub(super) fn ends_here(&self, frame: usize) -> Result<bool, MovieError> {
        let Some(format) = self.format else { return Ok(false) };
        let (offset_size, ..) = format.sizes();
        Ok(self.number(format, self.pointer, offset_size, frame)? == Some(0))
    }

    /// The next page, for a frame from 0. It stays the next one until it is taken.
    pub(super) fn next(&mut self, frame: usize) -> Result<Next, MovieError> {
        let Some(format) = self.format(frame)? else { return Ok(Next::Nothing) };
        let (offset_size, count_size, entry_size) = format.sizes();
        let place = match self.number(format, self.pointer, offset_size, frame)? {
            Some(place) if place > 0 => place,
            _ => return Ok(Next::Nothing),
        };
        if place == self.mark.0 {
            return Err(wrong(frame, "the directories of the file run in a circle"));
        }
        let mut bytes = vec![0; START];
        let got = self.file.read_at(place, &mut bytes, frame)?;
        let count = bytes.get(..count_size).filter(|_| got >= count_size);
        let count = match count.map(|count| format.number(count)) {
            Some(count) if count > 0 => count,
            // The writer has said where it will be.
            _ => return Ok(Next::Nothing),
        };
        if count > MOST_ENTRIES {
            return Err(wrong(frame, format!("its directory claims {count} entries")));
        }
        let size = count_size + count as usize * entry_size + offset_size;
        bytes.truncate(got);
        if size > got {
            bytes.resize(size, 0);
            let got = got + self.file.read_at(place + got as u64, &mut bytes[got..], frame)?;
            if got < size {
                return Ok(Next::Part("the end of its directory".to_owned()));
            }
        }
        let next = format.number(&bytes[size - offset_size..size]);
        bytes.truncate(size - offset_size);
        bytes.drain(..count_size);
        let mut directory = Directory { format, place, entries: bytes, end: place + size as u64 };
        match self.missing(&mut directory, frame)? {
            Some(missing) => Ok(Next::Part(missing)),
            None if self.may_be_hollow(next, format, frame)? => {
                let missing = "perhaps its pixels: the file has its length already, and zeros where the next page will be";
                Ok(Next::Part(missing.to_owned()))
            }
            None => Ok(Next::Page(directory)),
        }
    }

    /// What is missing of a page, if something is.
    fn missing(
        &mut self,
        directory: &mut Directory,
        frame: usize,
    ) -> Result<Option<String>, MovieError> {
        let format = directory.format;
        let (offset_size, _, entry_size) = format.sizes();
        let (mut strips, mut lengths) = (Vec::new(), Vec::new());
        for entry in directory.entries.chunks_exact(entry_size) {
            let entry = Entry::of(format, entry);
            if entry.tag == 0 {
                return Ok(Some("an entry of its directory".to_owned()));
            }
            if entry.is_text() && entry.count > LONGEST_TEXT {
                let Entry { tag, count, .. } = entry;
                return Err(wrong(frame, format!("its tag {tag} claims a text of {count} bytes")));
            }
            if entry.tag >= PRIVATE {
                continue;
            }
            let Some(bytes) = entry.bytes() else { continue };
            if bytes > offset_size as u64 {
                let end = entry.value(format).checked_add(bytes);
                let end = end.ok_or_else(|| wrong(frame, "its directory points nowhere"))?;
                if !self.file.reaches(end, frame)? {
                    return Ok(Some(format!("the value of its tag {}", entry.tag)));
                }
                directory.end = directory.end.max(end);
            }
            match entry.tag {
                STRIPS | TILES => strips = self.numbers(format, &entry, frame)?,
                STRIP_LENGTHS | TILE_LENGTHS => lengths = self.numbers(format, &entry, frame)?,
                _ => {}
            }
        }
        for (number, (&strip, &length)) in strips.iter().zip(&lengths).enumerate() {
            let end = strip.checked_add(length);
            let end = end.ok_or_else(|| wrong(frame, "its strips lie nowhere"))?;
            // Zeros stand for what is not known yet.
            if strip == 0 || length == 0 || !self.file.reaches(end, frame)? {
                return Ok(Some(format!("strip {} of {}", number + 1, strips.len())));
            }
            directory.end = directory.end.max(end);
        }
        Ok(None)
    }

    /// The numbers of an entry, which are there.
    fn numbers(
        &self,
        format: Format,
        entry: &Entry<'_>,
        frame: usize,
    ) -> Result<Vec<u64>, MovieError> {
        let (offset_size, ..) = format.sizes();
        let (Some(bytes), Some(size)) = (entry.bytes(), entry.size()) else {
            return Ok(Vec::new());
        };
        if !matches!(size, 2 | 4 | 8) {
            return Ok(Vec::new());
        }
        let mut values = vec![0; bytes as usize];
        if bytes <= offset_size as u64 {
            values.copy_from_slice(&entry.value[..bytes as usize]);
        } else {
            let got = self.file.read_at(entry.value(format), &mut values, frame)?;
            values.truncate(got);
        }
        Ok(values.chunks_exact(size as usize).map(|value| format.number(value)).collect())
    }

    /// Whether a file may have its length before it has its pixels: its writer has made room, and there are zeros where the next
    /// page will be.
    fn may_be_hollow(
        &mut self,
        next: u64,
        format: Format,
        frame: usize,
    ) -> Result<bool, MovieError> {
        if self.is_left {
            return Ok(false);
        }
        if next == 0 {
            // The writer cuts off at the end what it did not need.
            let Some(length) = self.hollow else { return Ok(false) };
            return Ok(self.file.measure(frame)? == length);
        }
        let (_, count_size, _) = format.sizes();
        let begun = match self.number(format, next, count_size, frame)? {
            // The file goes on there as far as it is written.
            None => return Ok(false),
            Some(count) => count > 0,
        };
        if !begun {
            self.hollow = Some(self.file.measure(frame)?);
        }
        Ok(!begun)
    }

    /// Goes on to the page after this one.
    pub(super) fn take(&mut self, directory: &Directory) {
        self.pages += 1;
        self.leave(directory);
    }

    /// The same, if this one is none of the pages that are counted.
    pub(super) fn leave(&mut self, directory: &Directory) {
        let (offset_size, count_size, _) = directory.format.sizes();
        self.passed += 1;
        if self.passed == self.mark.1 {
            self.mark = (directory.place, 2 * self.mark.1);
        }
        self.pointer = directory.place + (count_size + directory.entries.len()) as u64;
        self.file.use_to(directory.end.max(self.pointer + offset_size as u64));
    }

    /// What decodes a page.
    pub(super) fn decoder(&self, directory: &Directory, frame: usize) -> Result<Pages, MovieError> {
        let view = PageView::new(self.file.bytes(), directory.format, directory.place);
        let greys = directory.greys();
        let buffered = Buffered::new(view, BUFFER).with_ones(greys.ones.into());
        Decoder::new(buffered).map_err(|error| undecodable(frame, error))
    }

    /// The description of a page that is understood; empty if there is none.
    pub(super) fn description(&self, directory: &Directory) -> Result<String, MovieError> {
        let (format, mut reader) = (directory.format, self.file.view(0));
        let texts = directory.entries().filter_map(|entry| Text::described(format, entry));
        let texts = texts.take(2).collect();
        Ok(pages::description(texts, &mut reader, self.file.length())?.description)
    }
}

/// The limits of the decoder for a page of so many pixels.
pub(super) fn limited(decoder: Pages, pixels: usize) -> Pages {
    decoder.with_limits(decoding_limits(pixels))
}
