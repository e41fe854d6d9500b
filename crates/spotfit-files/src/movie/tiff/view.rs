//! A file as the decoder of one page sees it.

use std::io::{self, Read, Seek, SeekFrom};

use super::format::Format;
use crate::place::{Bytes, View};

/// A file as if one of its pages were the first: the decoder sees no other.
pub(super) struct PageView {
    file: View,
    header: Vec<u8>,
    at: u64,
}

impl PageView {
    /// The page whose directory lies at `place`.
    pub(super) fn new(file: Bytes, format: Format, place: u64) -> Self {
        Self { file: View::new(file, 0), header: format.header(place), at: 0 }
    }
}

impl Read for PageView {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let header = usize::try_from(self.at).ok().and_then(|at| self.header.get(at..));
        let count = match header {
            Some(mut header) if !header.is_empty() => header.read(buffer)?,
            _ => {
                self.file.seek(SeekFrom::Start(self.at))?;
                self.file.read(buffer)?
            }
        };
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for PageView {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = match to {
            SeekFrom::Start(place) => place,
            SeekFrom::Current(by) => {
                self.at.checked_add_signed(by).ok_or(io::ErrorKind::InvalidInput)?
            }
            SeekFrom::End(_) => self.file.seek(to)?,
        };
        Ok(self.at)
    }
}
