//! A directory of a file that grows, and its entries.

use super::super::format::Format;
use super::super::pages::{self, Greys};

/// The directory of a page.
pub(super) struct Directory {
    pub(super) format: Format,
    pub(super) place: u64,
    /// Its entries, one after the other.
    pub(super) entries: Vec<u8>,
    /// Where the page ends, with all that belongs to it.
    pub(super) end: u64,
}

impl Directory {
    pub(super) fn entries(&self) -> impl Iterator<Item = &[u8]> {
        let (_, _, entry_size) = self.format.sizes();
        self.entries.chunks_exact(entry_size)
    }

    /// Whether its values are grey, although they are shown in other ways.
    pub(super) fn greys(&self) -> Greys {
        let (offset_size, count_size, entry_size) = self.format.sizes();
        let mut greys = Greys::default();
        for (number, entry) in self.entries().enumerate() {
            let place = self.place + (count_size + number * entry_size + 4 + offset_size) as u64;
            greys.look(self.format, entry, place);
        }
        greys
    }

    /// Whether it is a smaller image of another page.
    pub(super) fn is_reduced(&self) -> bool {
        self.entries().any(|entry| pages::is_reduced(self.format, entry))
    }

    pub(super) fn is_little_endian(&self) -> bool {
        !self.format.big_endian
    }

    /// The planes of a stack of MetaMorph, which follow each other behind the only directory.
    pub(super) fn planes(&self) -> Option<usize> {
        self.entries().find_map(|entry| pages::metamorph(self.format, entry))
    }
}

pub(super) const STRIPS: u64 = 273;
pub(super) const STRIP_LENGTHS: u64 = 279;
pub(super) const TILES: u64 = 324;
pub(super) const TILE_LENGTHS: u64 = 325;

/// An entry of a directory.
pub(super) struct Entry<'a> {
    pub(super) tag: u64,
    kind: u64,
    pub(super) count: u64,
    pub(super) value: &'a [u8],
}

impl<'a> Entry<'a> {
    pub(super) fn of(format: Format, bytes: &'a [u8]) -> Self {
        let (offset_size, ..) = format.sizes();
        let (tag, kind) = (format.number(&bytes[..2]), format.number(&bytes[2..4]));
        let (count, value) = bytes[4..].split_at(offset_size);
        Self { tag, kind, count: format.number(count), value }
    }

    /// The place of its value, or the value itself.
    pub(super) fn value(&self, format: Format) -> u64 {
        format.number(self.value)
    }

    pub(super) fn is_text(&self) -> bool {
        self.kind == 2
    }

    /// Bytes of one of its numbers; nothing for a type that is not known.
    pub(super) fn size(&self) -> Option<u64> {
        Some(match self.kind {
            1 | 2 | 6 | 7 => 1,
            3 | 8 => 2,
            4 | 9 | 11 | 13 => 4,
            5 | 10 | 12 | 16..=18 => 8,
            _ => return None,
        })
    }

    pub(super) fn bytes(&self) -> Option<u64> {
        self.size()?.checked_mul(self.count)
    }
}
