//! The chain of directories, one for each page.

use std::io::{self, Read, Seek, SeekFrom};

use super::buffered::Buffered;
use super::{MovieError, Reader, wrong};

/// Bytes that are read at each directory.
const BUFFER: usize = 1 << 12;

/// Counts the directories of a TIFF file without reading what they describe.
pub(super) fn count(reader: &mut Reader) -> Result<usize, MovieError> {
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
    let number = |reader: &mut Buffered<_>, size: usize| -> io::Result<u64> {
        let mut bytes = [0; 8];
        if big_endian {
            reader.read_exact(&mut bytes[8 - size..])?;
            Ok(u64::from_be_bytes(bytes))
        } else {
            reader.read_exact(&mut bytes[..size])?;
            Ok(u64::from_le_bytes(bytes))
        }
    };
    let (offset_size, count_size, entry_size) = if big { (8, 8, 20) } else { (4, 2, 12) };
    if big {
        number(&mut reader, 4).map_err(|_| not_tiff())?;
    }
    let mut offset = number(&mut reader, offset_size).map_err(|_| not_tiff())?;
    let mut page = 0;
    // A circle comes back to the mark, wherever it begins, as the mark moves on ever more seldom.
    let (mut mark, mut next_mark) = (0, 1);
    while offset != 0 {
        if offset == mark {
            return Err(wrong(page, "the directories of the file run in a circle"));
        }
        if page + 1 == next_mark {
            (mark, next_mark) = (offset, 2 * next_mark);
        }
        let truncated = || wrong(page, "the file is truncated: its directory is not there");
        if offset >= length {
            return Err(truncated());
        }
        reader.seek(SeekFrom::Start(offset))?;
        let entries = number(&mut reader, count_size).map_err(|_| truncated())?;
        let skip = entries.checked_mul(entry_size).filter(|&skip| skip < length);
        let skip = skip.ok_or_else(truncated)?;
        reader.seek(SeekFrom::Current(skip as i64))?;
        offset = number(&mut reader, offset_size).map_err(|_| truncated())?;
        page += 1;
    }
    Ok(page)
}
