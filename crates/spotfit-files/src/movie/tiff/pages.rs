//! The chain of directories, one for each page.

use std::io::{Read, Seek, SeekFrom};
use std::string::FromUtf8Error;

use super::MovieError;
use super::buffered::Buffered;
use super::cut::{self, keep_whole};
use super::failure::wrong;
use super::format::Format;
use super::imagej::ImageJ;
use super::ome::is_ome;
use super::page::Places;
use crate::place::{Bytes, View};

/// Bytes that are read at each directory.
const BUFFER: usize = 1 << 12;

/// The longest text of a tag. Of a longer one the decoder would print an error to standard error by itself
/// (tiff 0.11.3 has a `dbg!` there), and panic where that cannot be written.
pub(super) const LONGEST_TEXT: u64 = 1 << 26;

/// The most entries of a directory: as many as a TIFF of 32 bits can have.
pub(super) const MOST_ENTRIES: u64 = 1 << 16;

/// What a walk along the directories shows.
pub(super) struct Survey {
    pub(super) pages: Places,
    /// The description of the first page, empty if there is none.
    pub(super) description: String,
    /// The planes of a stack of MetaMorph, which follow each other behind the only directory.
    pub(super) planes: Option<usize>,
    /// The frames that follow each other behind the first directory, where the file is cut off and others are missing.
    pub(super) run: Option<usize>,
    pub(super) greys: Greys,
    /// What is left out; each is the rest of a sentence that begins with the file.
    pub(super) notes: Vec<String>,
    /// What is missing, in the same way.
    pub(super) cut: Option<String>,
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

/// Counts the directories of a TIFF file without reading what they describe, and reads its description. Of a file that is cut off
/// there are the pages that are whole, unless that is `strict`ly refused.
pub(super) fn survey(bytes: &Bytes, strict: bool) -> Result<Survey, MovieError> {
    let file = bytes;
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
    let (mut planes, mut greys, mut reduced) = (None, Greys::default(), Vec::new());
    // A circle comes back to the mark, wherever it begins, as the mark moves on ever more seldom.
    let (mut mark, mut next_mark) = (0, 1);
    while offset != 0 {
        if offset == mark {
            return Err(wrong(page, "the directories of the file run in a circle"));
        }
        if page + 1 == next_mark {
            (mark, next_mark) = (offset, 2 * next_mark);
        }
        let directory = match directory(format, &mut reader, (page, offset), length)? {
            Some(directory) => directory,
            None if page == 0 || strict => {
                return Err(wrong(page, "the file is truncated: its directory is missing"));
            }
            None => break,
        };
        bytes += directory.entries.len() as u64;
        if bytes > length {
            return Err(wrong(page, "the directories of the file overlap, or run in a circle"));
        }
        for (number, entry) in directory.entries.chunks_exact(entry_size).enumerate() {
            check_text(format, entry, length).map_err(|e| wrong(page, e))?;
            let place = offset + (count_size + number * entry_size + 4 + offset_size) as u64;
            greys.look(format, entry, place);
            planes = planes.or_else(|| metamorph(format, entry));
            if is_reduced(format, entry) {
                reduced.push(page);
            }
            // Micro-Manager writes two: of OME, and of ImageJ.
            if page == 0 && descriptions.len() < 2 {
                descriptions.extend(Text::described(format, entry));
            }
        }
        places.push(offset);
        offset = directory.next;
        page += 1;
    }
    let Descriptions { description, shaped } = description(descriptions, &mut reader, length)?;
    // Directories need not lie in the order of the pages.
    greys.ones.sort_unstable();
    let mut pages = Places { format, places };
    let mut notes = Vec::new();
    // OME metadata count all pages.
    if !is_ome(&description) {
        notes.extend(leave_out(&mut pages.places, &reduced));
    }
    let second = pages.places.get(1).copied().unwrap_or(offset);
    let run = if offset != 0 { cut::run(&pages, file, second) } else { None };
    let cut = keep_whole(&mut pages, file, (length, offset != 0, strict), shaped)?;
    let planes = planes.filter(|_| page == 1);
    Ok(Survey { pages, description, planes, run, greys, notes, cut })
}

/// The entries of a directory, and where the next one lies.
struct Directory {
    entries: Vec<u8>,
    next: u64,
}

/// Reads the directory at a place; there is none where the file ends before its end.
fn directory(
    format: Format,
    reader: &mut (impl Read + Seek),
    (page, place): (usize, u64),
    length: u64,
) -> Result<Option<Directory>, MovieError> {
    let (offset_size, count_size, entry_size) = format.sizes();
    let count_end = place.checked_add(count_size as u64).filter(|&end| end <= length);
    let Some(count_end) = count_end else { return Ok(None) };
    reader.seek(SeekFrom::Start(place))?;
    let count = format.read(reader, count_size)?;
    let size = count.checked_mul(entry_size as u64);
    let end = size.and_then(|size| count_end.checked_add(size)?.checked_add(offset_size as u64));
    let (Some(size), true) = (size, end.is_some_and(|end| end <= length)) else { return Ok(None) };
    if count > MOST_ENTRIES {
        return Err(wrong(page, format!("its directory claims {count} entries")));
    }
    let mut entries = Vec::new();
    reader.take(size).read_to_end(&mut entries)?;
    let next = format.read(reader, offset_size)?;
    Ok(Some(Directory { entries, next }))
}

/// What the texts say that describe the first page.
pub(super) struct Descriptions {
    /// The one that is understood; empty if there is none.
    pub(super) description: String,
    /// The pages that tifffile was to write.
    shaped: Option<usize>,
}

pub(super) fn description(
    descriptions: Vec<Text>,
    reader: &mut (impl Read + Seek),
    length: u64,
) -> Result<Descriptions, MovieError> {
    let mut texts = Vec::new();
    for text in descriptions {
        texts.extend(text.read(reader, length)?);
    }
    let known = |text: &String| is_ome(text) || ImageJ::read(text).is_some();
    let shaped = texts.iter().find_map(|text| cut::shaped(text));
    let description = texts.into_iter().find(known).unwrap_or_default();
    Ok(Descriptions { description, shaped })
}

/// The planes of a stack of MetaMorph, if this is the entry that has one item for each.
pub(super) fn metamorph(format: Format, entry: &[u8]) -> Option<usize> {
    const UIC2: u64 = 33629;
    let (offset_size, ..) = format.sizes();
    let count = format.number(&entry[4..4 + offset_size]);
    let planes = (format.number(&entry[..2]) == UIC2).then_some(count)?;
    usize::try_from(planes).ok().filter(|&planes| planes > 1)
}

/// Whether an entry says that a page is a smaller image of another one.
pub(super) fn is_reduced(format: Format, entry: &[u8]) -> bool {
    const NEW_SUBFILE_TYPE: u64 = 254;
    const SUBFILE_TYPE: u64 = 255;
    const REDUCED: u64 = 2;
    let (offset_size, ..) = format.sizes();
    let value = &entry[4 + offset_size..];
    match format.number(&entry[..2]) {
        NEW_SUBFILE_TYPE => format.number(&value[..4]) & 1 == 1,
        SUBFILE_TYPE => format.number(&value[..2]) == REDUCED,
        _ => false,
    }
}

/// Leaves out pages that show others smaller, unless there are no others.
fn leave_out(places: &mut Vec<u64>, reduced: &[usize]) -> Option<String> {
    if reduced.is_empty() || reduced.len() >= places.len() {
        return None;
    }
    let mut page = 0;
    places.retain(|_| {
        page += 1;
        reduced.binary_search(&(page - 1)).is_err()
    });
    let count = reduced.len();
    let are = if count == 1 { "is" } else { "are" };
    Some(format!("has pages that are smaller images of others; {count} {are} left out"))
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
