//! The chain of directories, one for each page.

use std::io::{self, Read, Seek, SeekFrom};
use std::string::FromUtf8Error;

use super::buffered::Buffered;
use super::failure::wrong;
use super::imagej::ImageJ;
use super::ome::is_ome;
use super::{MovieError, Reader};

/// Bytes that are read at each directory.
const BUFFER: usize = 1 << 12;

/// The longest text of a tag. Of a longer one the decoder would print an error to standard error by itself
/// (tiff 0.11.3 has a `dbg!` there), and panic where that cannot be written.
pub(super) const LONGEST_TEXT: u64 = 1 << 26;

/// What a walk along the directories shows.
pub(super) struct Survey {
    /// The number of directories.
    pub(super) pages: usize,
    /// The description of the first page, empty if there is none.
    pub(super) description: String,
}

/// How numbers are stored.
#[derive(Clone, Copy)]
struct Format {
    big_endian: bool,
    /// Whether this is BigTIFF.
    big: bool,
}

impl Format {
    fn number(self, bytes: &[u8]) -> u64 {
        let next = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
        if self.big_endian { bytes.iter().fold(0, next) } else { bytes.iter().rev().fold(0, next) }
    }

    fn read(self, reader: &mut impl Read, size: usize) -> io::Result<u64> {
        let mut bytes = [0; 8];
        reader.read_exact(&mut bytes[..size])?;
        Ok(self.number(&bytes[..size]))
    }

    /// Bytes of an offset, of the number of entries, and of an entry.
    fn sizes(self) -> (usize, usize, usize) {
        if self.big { (8, 8, 20) } else { (4, 2, 12) }
    }
}

/// Counts the directories of a TIFF file without reading what they describe, and reads its description.
pub(super) fn survey(reader: &mut Reader) -> Result<Survey, MovieError> {
    let not_tiff = || wrong(0, "this is not a TIFF file");
    let length = reader.seek(SeekFrom::End(0))?;
    let mut reader = Buffered::new(reader, BUFFER)?;
    let mut start = [0; 4];
    reader.read_exact(&mut start).map_err(|_| not_tiff())?;
    let (big_endian, big) = match &start {
        b"II*\0" => (false, false),
        b"MM\0*" => (true, false),
        b"II+\0" => (false, true),
        b"MM\0+" => (true, true),
        _ => return Err(not_tiff()),
    };
    let format = Format { big_endian, big };
    let (offset_size, count_size, entry_size) = format.sizes();
    if big {
        format.read(&mut reader, 4).map_err(|_| not_tiff())?;
    }
    let mut offset = format.read(&mut reader, offset_size).map_err(|_| not_tiff())?;
    let (mut page, mut bytes) = (0, 0);
    let mut descriptions = Vec::new();
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
        for _ in 0..entries {
            let mut entry = [0; 20];
            reader.read_exact(&mut entry[..entry_size]).map_err(|_| truncated())?;
            check_text(format, &entry[..entry_size], length).map_err(|e| wrong(page, e))?;
            // Micro-Manager writes two: of OME, and of ImageJ.
            if page == 0 && descriptions.len() < 2 {
                descriptions.extend(Text::described(format, &entry[..entry_size]));
            }
        }
        offset = format.read(&mut reader, offset_size).map_err(|_| truncated())?;
        page += 1;
    }
    let mut texts = Vec::new();
    for text in descriptions {
        texts.extend(text.read(&mut reader, length)?);
    }
    let known = |text: &String| is_ome(text) || ImageJ::read(text).is_some();
    let description = texts.into_iter().find(known).unwrap_or_default();
    Ok(Survey { pages: page, description })
}

/// Where the text of a tag is.
struct Text {
    count: u64,
    /// The text itself, if it is short.
    inside: Option<Vec<u8>>,
    offset: u64,
}

impl Text {
    /// The text of an entry, if it is the description of an image.
    fn described(format: Format, entry: &[u8]) -> Option<Self> {
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
fn check_text(format: Format, entry: &[u8], length: u64) -> Result<(), String> {
    const TEXT: u64 = 2;
    let (offset_size, ..) = format.sizes();
    let (tag, kind) = (format.number(&entry[..2]), format.number(&entry[2..4]));
    let count = format.number(&entry[4..4 + offset_size]);
    if kind == TEXT && count > LONGEST_TEXT.min(length) {
        return Err(format!("its tag {tag} claims a text of {count} bytes"));
    }
    Ok(())
}
