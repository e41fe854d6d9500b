//! How a TIFF file stores its numbers.

use std::io::{self, Read};

/// How numbers are stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    pub(super) big_endian: bool,
    /// Whether this is BigTIFF.
    pub(super) big: bool,
}

impl Format {
    /// The format of a file that begins with these bytes, if it is a TIFF file.
    pub(super) fn of(start: [u8; 4]) -> Option<Self> {
        let (big_endian, big) = match &start {
            b"II*\0" => (false, false),
            b"MM\0*" => (true, false),
            b"II+\0" => (false, true),
            b"MM\0+" => (true, true),
            _ => return None,
        };
        Some(Self { big_endian, big })
    }

    pub(super) fn number(self, bytes: &[u8]) -> u64 {
        let next = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
        if self.big_endian { bytes.iter().fold(0, next) } else { bytes.iter().rev().fold(0, next) }
    }

    pub(super) fn read(self, reader: &mut impl Read, size: usize) -> io::Result<u64> {
        let mut bytes = [0; 8];
        reader.read_exact(&mut bytes[..size])?;
        Ok(self.number(&bytes[..size]))
    }

    /// The bytes of a number.
    pub(super) fn bytes(self, number: u64, size: usize) -> Vec<u8> {
        let mut bytes = number.to_be_bytes()[8 - size..].to_vec();
        if !self.big_endian {
            bytes.reverse();
        }
        bytes
    }

    /// The first bytes of a file whose first directory lies at `place`.
    pub(super) fn header(self, place: u64) -> Vec<u8> {
        let mark = if self.big_endian { *b"MM" } else { *b"II" };
        let rest: &[(u64, usize)] =
            if self.big { &[(43, 2), (8, 2), (0, 2), (place, 8)] } else { &[(42, 2), (place, 4)] };
        let rest = rest.iter().flat_map(|&(number, size)| self.bytes(number, size));
        mark.into_iter().chain(rest).collect()
    }

    /// Bytes of an offset, of the number of entries, and of an entry.
    pub(super) fn sizes(self) -> (usize, usize, usize) {
        if self.big { (8, 8, 20) } else { (4, 2, 12) }
    }
}
