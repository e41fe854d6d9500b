//! The chain of directories, one for each page.

use std::io::{Read, Seek, SeekFrom};
use std::string::FromUtf8Error;

use super::MovieError;
use super::buffered::Buffered;
use super::failure::wrong;
use super::format::Format;
use super::imagej::ImageJ;
use super::ome::is_ome;
use super::page::Places;
use crate::movie::place::{Bytes, View};

/// Bytes that are read at each directory.
const BUFFER: usize = 1 << 12;

/// The longest text of a tag. Of a longer one the decoder would print an error to standard error by itself
/// (tiff 0.11.3 has a `dbg!` there), and panic where that cannot be written.
pub(super) const LONGEST_TEXT: u64 = 1 << 26;

/// What a walk along the directories shows.
pub(super) struct Survey {
    pub(super) pages: Places,
    /// The description of the first page, empty if there is none.
    pub(super) description: String,
    /// The planes of a stack of MetaMorph, which follow each other behind the only directory.
    pub(super) planes: Option<usize>,
    pub(super) greys: Greys,
}

/// Pages whose values are grey, although they are shown in other ways.
#[derive(Debug, Default)]
pub(super) struct Greys {
    /// Where a file says how a page is shown, in rising order: read as 1, it says that 0 is black, and the values are those that
    /// are stored.
    pub(super) ones: Vec<u64>,
    /// Pages of which 0 is shown as white.
    inverted: usize,
    /// Pages with a table of colours.
    coloured: usize,
}

impl Greys {
    /// Looks at an entry, whose value lies at `place`.
    pub(super) fn look(&mut self, format: Format, entry: &[u8], place: u64) {
        const PHOTOMETRIC: u64 = 262;
        const SHORT: u64 = 3;
        const WHITE_IS_ZERO: u64 = 0;
        const PALETTE: u64 = 3;
        let (offset_size, ..) = format.sizes();
        let (tag, kind) = (format.number(&entry[..2]), format.number(&entry[2..4]));
        if tag != PHOTOMETRIC || kind != SHORT {
            return;
        }
        match format.number(&entry[4 + offset_size..][..2]) {
            WHITE_IS_ZERO => self.inverted += 1,
            PALETTE => self.coloured += 1,
            _ => return,
        }
        self.ones.push(place + u64::from(format.big_endian));
    }

    /// What is to be said of it.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.inverted > 0 {
            notes.push("the file shows 0 as white; values are read as they are stored".to_owned());
        }
        if self.coloured > 0 {
            notes.push(
                "the file has a table of colours; its indices are read as grey values".to_owned(),
            );
        }
        notes
    }
}

/// Counts the directories of a TIFF file without reading what they describe, and reads its description.
pub(super) fn survey(bytes: &Bytes) -> Result<Survey, MovieError> {
    let not_tiff = || wrong(0, "this is not a TIFF file");
    let length = bytes.length()?;
    let mut reader = Buffered::new(View::new(bytes.clone(), 0), BUFFER);
    let mut start = [0; 4];
    reader.read_exact(&mut start).map_err(|_| not_tiff())?;
    let format = Format::of(start).ok_or_else(not_tiff)?;
    let (offset_size, count_size, entry_size) = format.sizes();
    if format.big {
        format.read(&mut reader, 4).map_err(|_| not_tiff())?;
    }
    let mut offset = format.read(&mut reader, offset_size).map_err(|_| not_tiff())?;
    let (mut page, mut bytes) = (0, 0);
    let mut places = Vec::new();
    let mut descriptions = Vec::new();
    let (mut planes, mut greys) = (None, Greys::default());
    // A circle comes back to the mark, wherever it begins, as the mark moves on ever more seldom.
    let (mut mark, mut next_mark) = (0, 1);
    while offset != 0 {
        if offset == mark {
            return Err(wrong(page, "the directories of the file run in a circle"));
        }
        if page + 1 == next_mark {
            (mark, next_mark) = (offset, 2 * next_mark);
        }
        let truncated = || wrong(page, "the file is truncated: its directory is missing");
        if offset >= length {
            return Err(truncated());
        }
        reader.seek(SeekFrom::Start(offset))?;
        let entries = format.read(&mut reader, count_size).map_err(|_| truncated())?;
        let size = entries.checked_mul(entry_size as u64).filter(|&size| size < length);
        bytes += size.ok_or_else(truncated)?;
        if bytes > length {
            return Err(wrong(page, "the directories of the file overlap, or run in a circle"));
        }
        for number in 0..entries {
            let mut entry = [0; 20];
            reader.read_exact(&mut entry[..entry_size]).map_err(|_| truncated())?;
            check_text(format, &entry[..entry_size], length).map_err(|e| wrong(page, e))?;
            let place = offset + (count_size as u64) + number * (entry_size as u64);
            greys.look(format, &entry[..entry_size], place + 4 + offset_size as u64);
            planes = planes.or_else(|| metamorph(format, &entry[..entry_size]));
            // Micro-Manager writes two: of OME, and of ImageJ.
            if page == 0 && descriptions.len() < 2 {
                descriptions.extend(Text::described(format, &entry[..entry_size]));
            }
        }
        places.push(offset);
        offset = format.read(&mut reader, offset_size).map_err(|_| truncated())?;
        page += 1;
    }
    let description = description(descriptions, &mut reader, length)?;
    // Directories need not lie in the order of the pages.
    greys.ones.sort_unstable();
    let pages = Places { format, places };
    Ok(Survey { pages, description, planes: planes.filter(|_| page == 1), greys })
}

/// The text that is understood, of those that describe the first page; empty if there is none.
pub(super) fn description(
    descriptions: Vec<Text>,
    reader: &mut (impl Read + Seek),
    length: u64,
) -> Result<String, MovieError> {
    let mut texts = Vec::new();
    for text in descriptions {
        texts.extend(text.read(reader, length)?);
    }
    let known = |text: &String| is_ome(text) || ImageJ::read(text).is_some();
    Ok(texts.into_iter().find(known).unwrap_or_default())
}

/// The planes of a stack of MetaMorph, if this is the entry that has one item for each.
pub(super) fn metamorph(format: Format, entry: &[u8]) -> Option<usize> {
    const UIC2: u64 = 33629;
    let (offset_size, ..) = format.sizes();
    let count = format.number(&entry[4..4 + offset_size]);
    let planes = (format.number(&entry[..2]) == UIC2).then_some(count)?;
    usize::try_from(planes).ok().filter(|&planes| planes > 1)
}

/// Where the text of a tag is.
pub(super) struct Text {
    count: u64,
    /// The text itself, if it is short.
    inside: Option<Vec<u8>>,
    offset: u64,
}

impl Text {
    /// The text of an entry, if it is the description of an image.
    pub(super) fn described(format: Format, entry: &[u8]) -> Option<Self> {
        const DESCRIPTION: u64 = 270;
        const OF_BYTES: [u64; 3] = [1, 2, 7];
        let (offset_size, ..) = format.sizes();
        let (tag, kind) = (format.number(&entry[..2]), format.number(&entry[2..4]));
        if tag != DESCRIPTION || !OF_BYTES.contains(&kind) {
            return None;
        }
        let (count, value) = entry[4..].split_at(offset_size);
        let (count, offset) = (format.number(count), format.number(value));
        let inside = value.get(..count as usize).map(<[u8]>::to_vec);
        Some(Self { count, inside, offset })
    }

    /// The text; nothing if the file ends before it.
    fn read(
        self,
        reader: &mut (impl Read + Seek),
        length: u64,
    ) -> Result<Option<String>, MovieError> {
        let mut bytes = match self.inside {
            Some(bytes) => bytes,
            None => {
                let end = self.offset.checked_add(self.count);
                if self.count > LONGEST_TEXT || end.is_none_or(|end| end > length) {
                    return Ok(None);
                }
                reader.seek(SeekFrom::Start(self.offset))?;
                let mut bytes = Vec::with_capacity(self.count as usize);
                reader.take(self.count).read_to_end(&mut bytes)?;
                bytes
            }
        };
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
        bytes.truncate(end);
        // Older programs write µ in Latin-1.
        let latin = |error: FromUtf8Error| error.as_bytes().iter().map(|&b| b as char).collect();
        Ok(Some(String::from_utf8(bytes).unwrap_or_else(latin)))
    }
}

/// Refuses an entry that claims a text which is not there, or absurd.
pub(super) fn check_text(format: Format, entry: &[u8], length: u64) -> Result<(), String> {
    const TEXT: u64 = 2;
    let (offset_size, ..) = format.sizes();
    let (tag, kind) = (format.number(&entry[..2]), format.number(&entry[2..4]));
    let count = format.number(&entry[4..4 + offset_size]);
    if kind == TEXT && count > LONGEST_TEXT.min(length) {
        return Err(format!("its tag {tag} claims a text of {count} bytes"));
    }
    Ok(())
}
