//! A file as the decoder of one page sees it.

use std::io::{self, Read, Seek, SeekFrom};

use super::super::pages::Format;
use super::directory::Directory;
use crate::movie::follow::watched::View;

/// A file as if one of its pages were the first: the decoder sees no other.
pub(super) struct PageView {
    file: View,
    header: Vec<u8>,
    at: u64,
}

impl PageView {
    pub(super) fn new(file: View, directory: &Directory) -> Self {
        let Directory { format: Format { big_endian, big }, place, .. } = *directory;
        let number = |number: u64, size: usize| {
            let bytes = number.to_be_bytes();
            let mut bytes = bytes[8 - size..].to_vec();
            if !big_endian {
                bytes.reverse();
            }
            bytes
        };
        let mut header = if big_endian { b"MM".to_vec() } else { b"II".to_vec() };
        if big {
            header.extend([number(43, 2), number(8, 2), number(0, 2), number(place, 8)].concat());
        } else {
            header.extend([number(42, 2), number(place, 4)].concat());
        }
        Self { file, header, at: 0 }
    }
}

impl Read for PageView {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = match self.header.get(self.at as usize..) {
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
